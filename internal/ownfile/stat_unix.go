//go:build unix

package ownfile

import (
	"io/fs"
	"syscall"
)

// Of returns what the system says of a file, if it says it.
func Of(info fs.FileInfo) (Stat, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Stat{}, false
	}
	return Stat{Mode: uint32(s.Mode), Owner: s.Uid, Links: uint64(s.Nlink)}, true
}
