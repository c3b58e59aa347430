//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

import "os"

// tryLock locks nothing: entries are made several times at once, as they would be without locks.
func tryLock(*os.File) bool { return true }
