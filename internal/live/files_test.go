//go:build linux

package live

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFiles: descriptors of this process are what they were opened as.
func TestFiles(t *testing.T) {
	descriptor := func(c syscall.Conn) (fd uint64) {
		t.Helper()
		raw, err := c.SyscallConn()
		if err == nil {
			err = raw.Control(func(n uintptr) { fd = uint64(n) })
		}
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	path := filepath.Join(t.TempDir(), "file")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	want := map[uint64]string{uint64(file.Fd()): path, uint64(r.Fd()): "pipe:[", 1 << 30: ""}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Log(err)
			continue
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		want[descriptor(l.(*net.TCPListener))] = l.Addr().String()
		want[descriptor(c.(*net.TCPConn))] = c.LocalAddr().String() + "->" + l.Addr().String()
	}
	socket := filepath.Join(t.TempDir(), "s")
	u, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	want[descriptor(u.(*net.UnixListener))] = socket

	name := filesOf(os.Getpid())
	for fd, want := range want {
		if got := name(fd); got != want && !(want == "pipe:[" && strings.HasPrefix(got, want)) {
			t.Errorf("descriptor %d is %q, not %q", fd, got, want)
		}
	}
}
