package recording

import (
	"os"
	"syscall"
)

// openToFree opens a file of which parts are to be freed. It does not follow a symbolic link: root
// may read the recording of another user.
func openToFree(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
}

// free gives the space of a part of a file back, which reads as zeros from then on. File systems
// that can't do so keep it.
func free(f *os.File, offset, size int64) {
	const keepSize, punchHole = 1, 2 // of linux/falloc.h
	syscall.Fallocate(int(f.Fd()), keepSize|punchHole, offset, size)
}

// firstData returns where the first part of a file begins that has not been given back.
func firstData(f *os.File) int64 {
	const seekData = 3
	at, err := f.Seek(0, seekData)
	if err != nil {
		return 0 // there is none, or the file system can't tell
	}
	return at
}
