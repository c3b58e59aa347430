//go:build linux

package live

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// TestOtherVersion finds a program of another version, here this one itself, and says so.
func TestOtherVersion(t *testing.T) {
	fd, err := unix.MemfdCreate("ftrace", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "memory")
	defer file.Close()
	h := format.Head{Magic: format.MemoryMagic, Version: format.MemoryVersion + 1, Size: 100, PID: uint64(os.Getpid())}
	if _, err := file.WriteAt(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h)), 0); err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(format.HeadSize); err != nil {
		t.Fatal(err)
	}
	list := List()
	i := slices.IndexFunc(list, func(f Found) bool { return f.PID == os.Getpid() })
	if i < 0 {
		t.Fatalf("it is not among %v", list)
	}
	f := list[i]
	if self, _ := os.Executable(); f.Executable != self || len(f.Args) == 0 {
		t.Errorf("found %+v, want the executable %s and its arguments", f, self)
	}
	if want := fmt.Sprintf("version %d (100 bytes), and this ftrace reads version %d", format.MemoryVersion+1, format.MemoryVersion); f.Err == nil || !strings.Contains(f.Err.Error(), want) {
		t.Errorf("the error is %v", f.Err)
	}
}
