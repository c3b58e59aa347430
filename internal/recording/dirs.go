package recording

import (
	"fmt"
	"os"
	"path/filepath"
)

// Dirs returns the directories of a recording and of those of child processes in it; or of those in
// a directory of recordings.
func Dirs(dir string) ([]string, error) {
	dirs := []string{dir}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the recording: %v", err)
	}
	for _, e := range entries {
		if inner := filepath.Join(dir, e.Name()); e.IsDir() && Is(inner) {
			dirs = append(dirs, inner)
		}
	}
	if len(dirs) > 1 && !Is(dir) {
		dirs = dirs[1:]
	}
	return dirs, nil
}
