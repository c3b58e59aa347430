//go:build !linux

package ownfile

import "os"

func open(name string, access int) (*os.File, error) {
	return os.OpenFile(name, os.O_CREATE|access, 0o600)
}
