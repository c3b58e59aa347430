//go:build ftrace_core && darwin

// This file is added to package syscall on Darwin, where package runtime has no fstat.

package syscall

import _ "unsafe" // for go:linkname

//go:linkname ftraceStatCall runtime.ftraceStatCall
var ftraceStatCall func(fd int) (dev, ino, rdev uint64, regular, ok bool)

func init() {
	ftraceStatCall = func(fd int) (dev, ino, rdev uint64, regular, ok bool) {
		var stat Stat_t
		err := Fstat(fd, &stat)
		return uint64(stat.Dev), stat.Ino, uint64(stat.Rdev), stat.Mode&S_IFMT == S_IFREG, err == nil
	}
}
