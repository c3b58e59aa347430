// Package paths has what several commands do to names of files, and the standard library does not.
// It reads no files.
package paths

import (
	"os"
	"path/filepath"
)

// Within reports whether path is dir or below it.
func Within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Short returns the shortest name of a file for a reader: relative to the working directory if it
// is below that.
func Short(name string) string {
	dir, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return name
}
