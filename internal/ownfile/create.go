package ownfile

import (
	"io/fs"
	"os"
)

// Create opens a file to be written anew, and makes it for its user only if there is none. In a
// directory that others may write to it follows no symbolic link, and what is there must be the
// user's own, see [Stat.Refusal]. What is not used is left as it was.
func Create(name string) (*os.File, error) {
	f, err := Open(name, os.O_WRONLY)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = f.Truncate(0)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Open is like [Create], but what is in the file stays. access is O_WRONLY or O_RDWR.
func Open(name string, access int) (*os.File, error) {
	f, err := open(name, access)
	if err != nil {
		return nil, &fs.PathError{Op: "can't write to", Path: name, Err: err}
	}
	return f, nil
}

func (r Refusal) Error() string { return r.String() }
