package web

import (
	"path/filepath"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A shown recording is one of those of a server.
type shown struct {
	o       Options
	all     []string // the names of all recordings
	atOnce  bool     // these are of processes that ran at the same time
	dir     string
	readers chan *recording.Recording
	first   *recording.Recording // whose tables name functions
	index   *index
	made    cache
	live    *following // the process that records it; nil: it is whole
	settled bool       // first has all that the process has recorded

	programs chan bool // a D program runs
	profiles profiles
}

// readersMax is how many questions may read the recording at once. A picture is read by two readers
// if one is free.
const readersMax = 3

func newShown(dir string, o Options) (*shown, error) {
	first, err := recording.Open(dir)
	if err != nil {
		return nil, err
	}
	s := &shown{o: o, dir: dir, readers: make(chan *recording.Recording, readersMax), first: first, programs: make(chan bool, 1)}
	s.all = []string{s.name()}
	another := func() (*recording.Recording, error) {
		r, err := recording.Open(dir)
		if err == nil {
			r.HoldClock(first.Converter())
		}
		return r, err
	}
	for range readersMax {
		r, err := another()
		if err != nil {
			return nil, err
		}
		s.readers <- r
	}
	r, err := another()
	if err != nil {
		return nil, err
	}
	s.index = newIndex(r)
	return s, nil
}

func (s *shown) name() string {
	if s.live != nil {
		return s.live.name
	}
	return filepath.Base(filepath.Clean(s.dir))
}
