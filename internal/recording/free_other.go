//go:build !linux

package recording

import "os"

// free does nothing: parts of a file are given back on Linux alone.
func free(*os.File, int64, int64) {}

func openToFree(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDWR, 0) }

func firstData(*os.File) int64 { return 0 }
