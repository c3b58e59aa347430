package walk

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A Member is one of the recordings that are shown as one, in the order of the time of day.
type Member[G, C any] struct {
	*Walker[G, C]
	Label string        // what it is told apart by, see [Labels]
	Later time.Duration // its recording began so long after the first
	s     *Stream
	e     *recording.Event
	clock recording.Converter
	at    time.Time // of e
}

// Members returns walkers of recordings. The window of the first, in time since its start, goes for
// all.
func Members[G, C any](family []Source, from, to time.Duration) []*Member[G, C] {
	var list []*Member[G, C]
	first := family[0].Recording.Converter()
	start, _ := family[0].Recording.Clocks()
	labels := Labels(family)
	for i, s := range family {
		if i > 0 {
			s.Progress = nil // one is enough
		}
		m := &Member[G, C]{Label: labels[i], clock: s.Recording.Converter()}
		own, _ := s.Recording.Clocks()
		m.Later = m.clock.Wall(own.Ticks).Sub(first.Wall(start.Ticks))
		s.Window = recording.Window{}
		if from > 0 && from > m.Later {
			s.Window.From = m.clock.Ticks(from - m.Later)
		}
		if to > 0 {
			if to < m.Later {
				continue
			}
			s.Window.To = m.clock.Ticks(to - m.Later)
		}
		m.Walker = New[G, C](s)
		list = append(list, m)
	}
	return list
}

// Labels returns what the recordings are told apart by: the numbers of their processes, or, where
// these are the same, as those of several machines can be, the names of the recordings.
func Labels(family []Source) []string {
	n := map[int]int{}
	for _, s := range family {
		n[s.Recording.Env.PID]++
	}
	var labels []string
	for _, s := range family {
		if pid := s.Recording.Env.PID; n[pid] > 1 {
			labels = append(labels, filepath.Base(s.Recording.Dir))
		} else {
			labels = append(labels, strconv.Itoa(pid))
		}
	}
	return labels
}

// Together gives the events of all members to their walkers, until more returns false.
func Together[G, C any](members []*Member[G, C], more func() bool) error {
	next := func(m *Member[G, C]) bool {
		if m.e = m.s.Next(); m.e == nil {
			return false
		}
		m.at = m.clock.Wall(m.e.Ticks)
		return true
	}
	var live []*Member[G, C]
	for _, m := range members {
		m.s = m.Events()
		if next(m) {
			live = append(live, m)
		}
	}
	for len(live) > 0 && more() {
		m := slices.MinFunc(live, func(a, b *Member[G, C]) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
		m.Event(m.e)
		if !next(m) {
			live = slices.DeleteFunc(live, func(l *Member[G, C]) bool { return l == m })
		}
	}
	var failed error
	for _, m := range members {
		m.s.Close()
		failed = errors.Join(failed, m.s.Err())
	}
	return failed
}
