package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"
)

// Key names an entry.
type Key [sha256.Size]byte

// Store is a directory of entries.
type Store struct{ dir string }

// Open returns the store in dir, which is made if there is none.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &Store{dir}, nil
}

// used is how old an entry's time of last use may get while it is in use.
const used = time.Hour

// Get returns the entry of key, nil if there is none. A spoiled one is removed.
func (s *Store) Get(key Key) *Entry {
	name := s.name(key)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	entry := decode(data)
	if entry == nil {
		os.Remove(name)
		return nil
	}
	now := time.Now()
	if info, err := os.Stat(name); err == nil && now.Sub(info.ModTime()) > used {
		os.Chtimes(name, now, now)
	}
	return entry
}

// Put keeps entry under key. Now and then it also removes entries that have not been used for long.
func (s *Store) Put(key Key, entry *Entry) error {
	name := s.name(key)
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(name)+".*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(entry.encode())
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return s.trim(time.Now())
}

// First says whether it is called for the first time, in the life of the store, with this name.
func (s *Store) First(name string) bool {
	f, err := os.OpenFile(filepath.Join(s.dir, "first-"+name), os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// name returns the name of the file of an entry.
func (s *Store) name(key Key) string {
	text := hex.EncodeToString(key[:])
	return filepath.Join(s.dir, text[:2], text)
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
