//go:build linux || darwin

package live

import (
	"fmt"
	"syscall"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// mapHead maps the head of the file.
func (m *shared) mapHead() ([]byte, error) {
	if size, err := m.size(); err != nil || size < format.HeadSize {
		return nil, errStarting
	}
	mem, err := syscall.Mmap(int(m.file.Fd()), 0, format.HeadSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("its memory file can't be mapped: %v", err)
	}
	return mem, nil
}

func (m *shared) unmapHead(mem []byte) { syscall.Munmap(mem) }

func (m *shared) size() (uint64, error) {
	info, err := m.file.Stat()
	if err != nil {
		return 0, err
	}
	return uint64(info.Size()), nil
}

// readAt reads from a place in the file, whose head was checked.
func (m *shared) readAt(_ *format.Head, b []byte, at uint64) (int, error) {
	return m.file.ReadAt(b, int64(at))
}
