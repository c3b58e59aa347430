package live

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unsafe"
)

//go:cgo_import_dynamic libc_proc_pidfdinfo proc_pidfdinfo "/usr/lib/libSystem.B.dylib"

// procPidfdinfo is where the function is, see directory_darwin.s.
var procPidfdinfo uintptr

//go:linkname systemCall6 syscall.syscall6
func systemCall6(function, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err syscall.Errno)

// A descriptorPath is struct vnode_fdinfowithpath.
type descriptorPath struct {
	_    [24 + 152]byte // struct proc_fileinfo, struct vnode_info
	path [1024]byte
}

// directory returns the directory that a descriptor of the process is of, or "".
func (m *shared) directory(descriptor int32) string {
	const pathInfo = 2 // PROC_PIDFDVNODEPATHINFO
	var info descriptorPath
	n, _, err := systemCall6(procPidfdinfo, uintptr(m.pid), uintptr(descriptor), pathInfo, uintptr(unsafe.Pointer(&info)), unsafe.Sizeof(info), 0)
	if err != 0 || n != unsafe.Sizeof(info) {
		return ""
	}
	path, _, _ := bytes.Cut(info.path[:], []byte{0})
	return string(path)
}

func (m *shared) statDirectory(descriptor int32) (os.FileInfo, error) {
	dir := m.directory(descriptor)
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	return os.Stat(dir)
}

// openIn opens a file in that directory.
func (m *shared) openIn(descriptor int32, name string) (*os.File, error) {
	dir := m.directory(descriptor)
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	return os.Open(filepath.Join(dir, name))
}
