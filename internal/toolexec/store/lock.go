package store

import (
	"os"
	"path/filepath"
	"time"
)

// How long Lock waits, and how often it looks. Whoever holds a lock may have been stopped, so
// nobody waits forever.
const (
	lockWait = time.Minute
	lockPoll = 10 * time.Millisecond
)

// Lock lets one process at a time make the entry of key, so that the others find it when their turn
// comes. It saves work and promises nothing: after a minute, and where files cannot be locked, it
// returns all the same. The lock ends with the process that has it.
func (s *Store) Lock(key Key) (unlock func()) {
	return s.lock(key, lockWait)
}

func (s *Store) lock(key Key, wait time.Duration) (unlock func()) {
	name := s.name(key) + ".lock"
	if s.dir.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return func() {}
	}
	f, err := s.dir.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(wait); !tryLock(f); time.Sleep(lockPoll) {
		if !time.Now().Before(end) {
			f.Close()
			return func() {}
		}
	}
	return func() {
		s.dir.Remove(name) // who waits has it open; who comes later finds the entry
		f.Close()
	}
}
