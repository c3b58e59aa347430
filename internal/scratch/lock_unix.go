//go:build unix && !solaris && !illumos && !aix

package scratch

import (
	"os"
	"syscall"
)

// lock locks a directory until unlock is called or the process ends. It is not ok if another
// process has it locked, or this one may not.
func lock(dir string) (unlock func(), ok bool) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return func() {}, false
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return func() {}, false
	}
	return func() { f.Close() }, true
}
