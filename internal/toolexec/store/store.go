package store

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
)

// Key names an entry.
type Key [sha256.Size]byte

// Store is a directory of entries. It is held open, so that it stays the one that was looked at.
type Store struct{ dir *os.Root }

// A RefusedError says why a directory is no place for a store: what is in it becomes part of
// programs, so nobody else may write to it.
type RefusedError struct {
	Dir    string
	Reason ownfile.Refusal
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s can't hold compiled packages: %v", e.Dir, e.Reason)
}

// Open returns the store in dir, which is made if there is none. The error is a [*RefusedError] if
// others may write to it.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if stat, ok := ownfile.Of(info); ok {
		if r := stat.Refusal(uint32(os.Geteuid()), 0, false); r != ownfile.None {
			root.Close()
			return nil, &RefusedError{dir, r}
		}
	}
	return &Store{root}, nil
}

// used is how old an entry's time of last use may get while it is in use.
const used = time.Hour

// Get returns the entry of key, nil if there is none. A spoiled one is removed.
func (s *Store) Get(key Key) *Entry {
	name := s.name(key)
	data, err := s.dir.ReadFile(name)
	if err != nil {
		return nil
	}
	entry := decode(data)
	if entry == nil {
		s.dir.Remove(name)
		return nil
	}
	now := time.Now()
	if info, err := s.dir.Stat(name); err == nil && now.Sub(info.ModTime()) > used {
		s.dir.Chtimes(name, now, now)
	}
	return entry
}

// Put keeps entry under key. Now and then it also removes entries that have not been used for long.
func (s *Store) Put(key Key, entry *Entry) error {
	name := s.name(key)
	if err := s.dir.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	temp := name + "." + rand.Text()
	f, err := s.dir.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(entry.encode())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = s.dir.Rename(temp, name)
	}
	if err != nil {
		s.dir.Remove(temp)
		return err
	}
	return s.trim(time.Now())
}

// First reports whether it is called for the first time, in the life of the store, with this name.
func (s *Store) First(name string) bool {
	f, err := s.dir.OpenFile("first-"+name, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// Count returns how many entries there are.
func (s *Store) Count() (n int) {
	dirs, _ := fs.ReadDir(s.dir.FS(), ".")
	for _, dir := range dirs {
		if dir.IsDir() {
			entries, _ := fs.ReadDir(s.dir.FS(), dir.Name())
			n += len(entries)
		}
	}
	return n
}

// name returns the name of the file of an entry, in the store.
func (s *Store) name(key Key) string {
	text := hex.EncodeToString(key[:])
	return filepath.Join(text[:2], text)
}

// Entry is what a compile step made.
type Entry struct {
	BuildID   string // by which the object calls itself
	Object    []byte
	AsmHeader []byte // -asmhdr
}

// encode returns the content of the entry's file: a checksum, and three texts with their lengths.
func (e *Entry) encode() []byte {
	data := make([]byte, sha256.Size, sha256.Size+3*binary.MaxVarintLen64+len(e.BuildID)+len(e.Object)+len(e.AsmHeader))
	for _, part := range [][]byte{[]byte(e.BuildID), e.AsmHeader, e.Object} {
		data = binary.AppendUvarint(data, uint64(len(part)))
		data = append(data, part...)
	}
	sum := sha256.Sum256(data[sha256.Size:])
	copy(data, sum[:])
	return data
}

// decode undoes encode. It returns nil if the data is not as it was written.
func decode(data []byte) *Entry {
	if len(data) < sha256.Size {
		return nil
	}
	sum, rest := data[:sha256.Size], data[sha256.Size:]
	if got := sha256.Sum256(rest); !bytes.Equal(got[:], sum) {
		return nil
	}
	next := func() []byte {
		size, n := binary.Uvarint(rest)
		part := rest[n : n+int(size)]
		rest = rest[n+int(size):]
		return part
	}
	return &Entry{BuildID: string(next()), AsmHeader: next(), Object: next()}
}
