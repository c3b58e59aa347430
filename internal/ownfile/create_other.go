//go:build !linux && !darwin

package ownfile

import (
	"os"
	"path/filepath"
)

func open(name string, access int) (*os.File, error) {
	return os.OpenFile(name, os.O_CREATE|access, 0o600)
}

func replace(name string) (*Replacement, error) {
	if at, err := filepath.EvalSymlinks(name); err == nil {
		name = at
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		f, err := open(name, os.O_WRONLY)
		return &Replacement{File: f}, err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".*")
	if err != nil {
		return nil, err
	}
	temp := f.Name()
	return &Replacement{f, func() error { return os.Rename(temp, name) }, func() { os.Remove(temp) }}, nil
}
