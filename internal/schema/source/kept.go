package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
)

// What a pass through a large recording has found out is kept in a file in its directory, so that
// the next run need not read it. The file is hidden: readers of CTF pass such files over. It has a
// key, a checksum, and a keptPass. What is not as it should be in the file is as if there were
// none.

const (
	keptFile  = ".sql-index"
	keptLeast = 100 << 20 // smaller recordings are read in a moment
	keptPart  = 20        // the file has at most the recording's size divided by that
)

// A keptPass is a Snapshot of a recording with what its functions return. Package gob passes over
// the functions.
type keptPass struct {
	Snapshot                       *Snapshot
	Valued                         []bool   // which of the calls have values, as calls has them
	Values                         []Values // of those
	Args                           []Text   // of the probes that fired
	ByThread, ByCaller, ByInstance []Summary
	Statements                     Statements
	Holders                        []Holder
	Names                          recording.Names // of objects
}

// calls calls f for all calls of a snapshot.
func (s *Snapshot) calls(f func(*Call)) {
	each := func(list []Call) {
		for i := range list {
			f(&list[i])
		}
	}
	each(s.Long)
	for i := range s.Threads {
		each(s.Threads[i].Current)
		each(s.Threads[i].History)
	}
}

// pass returns the recording's snapshot: what was kept of it, or what reading it gives.
func (s *recorded) pass() (*Snapshot, error) {
	if !s.options.Keep {
		return s.read()
	}
	key, size, err := s.key()
	name := filepath.Join(s.r.Dir, keptFile)
	if err != nil || size < keptLeast {
		return s.read()
	}
	if snap, err := s.restore(name, key, size/keptPart); err == nil {
		return snap, nil
	}
	p, err := passThrough(s.r, s.options)
	if err != nil {
		return nil, err
	}
	snap := p.snapshot()
	if again, _, err := s.key(); err == nil && again == key {
		p.keep(snap, name, key, size/keptPart) // who can't write there only waits longer the next time
	}
	return snap, nil
}

// read returns what reading the recording gives.
func (s *recorded) read() (*Snapshot, error) {
	p, err := passThrough(s.r, s.options)
	if err != nil {
		return nil, err
	}
	return p.snapshot(), nil
}

// key tells what a file that is kept was made of: the recording, the options, and this program. It
// returns the size of the recording too.
func (s *recorded) key() (key [sha256.Size]byte, size int64, err error) {
	of, size, err := recording.FootprintOf(s.r.Dir)
	if err != nil {
		return key, 0, err
	}
	program, err := os.Executable()
	if err != nil {
		return key, 0, err
	}
	stat, err := os.Stat(program)
	if err != nil {
		return key, 0, err
	}
	options := s.options
	options.Later = nil
	return sha256.Sum256(fmt.Appendf(of[:], "%+v %d %d %d", options, s.options.later(), stat.Size(), stat.ModTime().UnixNano())), size, nil
}

var errLarge = errors.New("it is too large a part of the recording")

// keep writes what the pass found out to a file, which has at most so many bytes.
func (p *pass) keep(snap *Snapshot, name string, key [sha256.Size]byte, most int64) error {
	k := keptPass{Snapshot: snap, ByThread: snap.ByThread(), ByCaller: snap.ByCaller(), ByInstance: snap.ByInstance(), Names: p.objects.Names()}
	snap.calls(func(c *Call) {
		k.Valued = append(k.Valued, c.Values != nil)
		if c.Values != nil {
			k.Values = append(k.Values, *c.Values())
		}
	})
	for i := range snap.Fired {
		k.Args = append(k.Args, snap.Fired[i].Args())
	}
	var err error
	if k.Statements, err = snap.Statements(); err != nil {
		return err
	}
	if k.Holders, err = snap.Held(); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&k); err != nil {
		return err
	}
	if int64(b.Len()) > most {
		return errLarge
	}
	f, err := ownfile.Replace(name)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.Sum256(b.Bytes())
	if _, err := f.Write(slices.Concat(key[:], sum[:], b.Bytes())); err != nil {
		return err
	}
	return f.Commit()
}

// restore returns the snapshot that was kept in a file of at most so many bytes.
func (s *recorded) restore(name string, key [sha256.Size]byte, most int64) (*Snapshot, error) {
	f, err := ownfile.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const head = 2 * sha256.Size
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if stat.Size() < head || stat.Size() > head+most {
		return nil, errLarge
	}
	b := make([]byte, stat.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, err
	}
	if [sha256.Size]byte(b) != key || [sha256.Size]byte(b[len(key):]) != sha256.Sum256(b[head:]) {
		return nil, errors.New("it is of something else")
	}
	var k keptPass
	if err := gob.NewDecoder(bytes.NewReader(b[head:])).Decode(&k); err != nil {
		return nil, err
	}
	return k.snapshot(s.r)
}

// snapshot returns the snapshot with its functions.
func (k *keptPass) snapshot(r *recording.Recording) (*Snapshot, error) {
	s := k.Snapshot
	if s == nil || len(k.Args) != len(s.Fired) {
		return nil, errors.New("it is not whole")
	}
	valued, values := k.Valued, k.Values
	whole := true
	s.calls(func(c *Call) {
		if whole = whole && len(valued) > 0 && (!valued[0] || len(values) > 0); !whole {
			return
		}
		if valued[0] {
			v := &values[0]
			c.Values, values = func() *Values { return v }, values[1:]
		}
		valued = valued[1:]
	})
	if !whole || len(valued) > 0 || len(values) > 0 {
		return nil, errors.New("it is not whole")
	}
	for i := range s.Fired {
		s.Fired[i].Args = func() Text { return k.Args[i] }
	}
	objects := r.Objects()
	objects.SetNames(k.Names)
	s.known(r, objects, k.Statements, k.Holders)
	s.ByThread, s.ByCaller, s.ByInstance = func() []Summary { return k.ByThread }, func() []Summary { return k.ByCaller }, func() []Summary { return k.ByInstance }
	return s, nil
}

// known gives the snapshot of a recording what its functions return, but for the summaries.
func (s *Snapshot) known(r *recording.Recording, objects *recording.Objects, statements Statements, holders []Holder) {
	s.Statements = func() (Statements, error) { return statements, nil }
	variables := symbols.OfExecutable(r.Process.Executable, r.Process.Start)
	s.Name = func(address uint64) string { return objects.Name(address, variables.Variable) }
	s.FileName = r.File
	s.Locks = func() (Locks, error) { return Locks{Holders: holders}, nil }
	s.Held = func() ([]Holder, error) { return holders, nil }
}
