//go:build unix

package waits

import (
	"io"
	"os"
	"syscall"
	"testing"
)

// BenchmarkCall is system calls that the system answers at once.
func BenchmarkCall(b *testing.B) {
	fd, err := syscall.Open(os.Args[0], syscall.O_RDONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer syscall.Close(fd)
	b.ReportAllocs()
	for b.Loop() {
		for range times {
			if _, err := syscall.Seek(fd, 0, io.SeekStart); err != nil {
				b.Fatal(err)
			}
		}
	}
}
