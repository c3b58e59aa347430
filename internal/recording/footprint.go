package recording

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const footprintHead = 4096 // bytes of each file

// A Footprint tells recordings apart, and what a recording was from what it is.
type Footprint [sha256.Size]byte

// FootprintOf returns the footprint of the recording in a directory, of its files' names, sizes,
// times and beginnings, and its size.
func FootprintOf(dir string) (p Footprint, size int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return p, 0, err
	}
	h := sha256.New()
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !e.Type().IsRegular() {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return p, 0, err
		}
		stat, err := f.Stat()
		if err == nil {
			fmt.Fprintf(h, "%q %d %d\n", e.Name(), stat.Size(), stat.ModTime().UnixNano())
			size += stat.Size()
			_, err = io.CopyN(h, f, footprintHead)
		}
		f.Close()
		if err != nil && err != io.EOF {
			return p, 0, err
		}
	}
	return Footprint(h.Sum(nil)), size, nil
}
