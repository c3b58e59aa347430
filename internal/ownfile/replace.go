package ownfile

import (
	"errors"
	"io/fs"
	"os"
)

// A Replacement is a file that takes the place of another once it is complete. Devices, FIFOs and
// the like are written to as they are.
type Replacement struct {
	*os.File
	commit func() error // puts the file in its place; nil: it is there
	remove func()
}

// Replace opens a file that takes the place of name by [Replacement.Commit]. Until then what is
// there stays. What [Create] would not write to is refused.
func Replace(name string) (*Replacement, error) {
	r, err := replace(name)
	if err != nil {
		return nil, &fs.PathError{Op: "can't write to", Path: name, Err: err}
	}
	return r, nil
}

// Commit puts the file in its place. It fails if not all that was written is in it.
func (r *Replacement) Commit() error {
	err := r.File.Close()
	if r.commit == nil {
		return err
	}
	if err == nil {
		err = r.commit()
	}
	if err != nil {
		r.remove()
	}
	r.commit, r.remove = nil, nil
	return err
}

// Close gives the file up, unless Commit has put it in its place.
func (r *Replacement) Close() error {
	err := r.File.Close()
	if r.remove != nil {
		r.remove()
		r.commit, r.remove = nil, nil
	}
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
