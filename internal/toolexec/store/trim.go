package store

import (
	"io/fs"
	"path"
	"strings"
	"time"
)

const (
	unused       = 5 * 24 * time.Hour // what is not used for so long is removed
	trimInterval = 24 * time.Hour
)

// trim removes the entries that have not been used for long, and what remains of failed writes, if
// that has not been done in the last day. It looks at the times of files and opens none. Files that
// are not ours stay: the directory may have been one for other things before.
func (s *Store) trim(now time.Time) error {
	const done = "trimmed"
	if info, err := s.dir.Stat(done); err == nil && now.Sub(info.ModTime()) < trimInterval {
		return nil
	}
	if err := s.dir.WriteFile(done, []byte("the time of this file is when unused entries were last removed\n"), 0o600); err != nil {
		return err
	}
	files, err := fs.Glob(s.dir.FS(), "[0-9a-f][0-9a-f]/*")
	if err != nil {
		return err
	}
	for _, file := range files {
		dir, name := path.Split(file)
		if !strings.HasPrefix(name, strings.TrimSuffix(dir, "/")) || len(name) < 2*len(Key{}) {
			continue
		}
		if info, err := s.dir.Stat(file); err == nil && now.Sub(info.ModTime()) > unused {
			s.dir.Remove(file)
		}
	}
	return nil
}
