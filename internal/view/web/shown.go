package web

import (
	"path/filepath"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A shown recording is one of those of a server.
type shown struct {
	o       Options
	all     []string // the names of all recordings
	dir     string
	readers chan *recording.Recording
	first   *recording.Recording // whose tables name functions
	index   *index
	made    cache

	programs chan bool // a D program runs
	profiles profiles
}

// readersMax is how many questions may read the recording at once.
const readersMax = 3

func newShown(dir string, o Options) (*shown, error) {
	s := &shown{o: o, dir: dir, readers: make(chan *recording.Recording, readersMax), programs: make(chan bool, 1)}
	s.all = []string{s.name()}
	for range readersMax {
		r, err := recording.Open(dir)
		if err != nil {
			return nil, err
		}
		s.readers <- r
	}
	r, err := recording.Open(dir)
	if err != nil {
		return nil, err
	}
	s.index = newIndex(r)
	s.first, err = recording.Open(dir)
	return s, err
}

func (s *shown) name() string { return filepath.Base(filepath.Clean(s.dir)) }
