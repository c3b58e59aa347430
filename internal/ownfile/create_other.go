//go:build !linux

package ownfile

import "os"

func create(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
}
