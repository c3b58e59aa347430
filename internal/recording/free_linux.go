package recording

import (
	"os"
	"syscall"
)

// free gives the space of a part of a file back, which reads as zeros from then on. File systems
// that can't do so keep it.
func free(f *os.File, offset, size int64) {
	const keepSize, punchHole = 1, 2 // of linux/falloc.h
	syscall.Fallocate(int(f.Fd()), keepSize|punchHole, offset, size)
}
