package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A member is one of the recordings that are shown as one, in the order of the time of day: -children.
type member struct {
	w     *walker
	s     *stream
	e     *recording.Event
	clock recording.Converter
	at    time.Time // of e
}

// members begins to read recordings. The options' window is from the start of the first.
func (o *options) members(family []*recording.Recording) ([]*member, error) {
	var list []*member
	first := family[0].Converter()
	start, _ := family[0].Clocks()
	for i, r := range family {
		w, err := o.walker(r)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			w.verb = "" // one bar is enough
		}
		m := &member{w: w, clock: r.Converter()}
		own, _ := r.Clocks()
		later := m.clock.Wall(own.Ticks).Sub(first.Wall(start.Ticks))
		var window recording.Window
		if o.from > 0 && o.from > later {
			window.From = m.clock.Ticks(o.from - later)
		}
		if o.to > 0 {
			if o.to < later {
				continue
			}
			window.To = m.clock.Ticks(o.to - later)
		}
		m.s = w.events(window)
		list = append(list, m)
	}
	return list, nil
}

// together gives the events of all members to their walkers, until stop says so.
func together(members []*member, stop func() bool) {
	next := func(m *member) bool {
		if m.e = m.s.Next(); m.e == nil {
			return false
		}
		m.at = m.clock.Wall(m.e.Ticks)
		return true
	}
	var live []*member
	for _, m := range members {
		if next(m) {
			live = append(live, m)
		}
	}
	for len(live) > 0 && !stop() {
		m := slices.MinFunc(live, func(a, b *member) int { return cmp.Compare(a.at.UnixNano(), b.at.UnixNano()) })
		m.w.event(m.e)
		if !next(m) {
			live = slices.DeleteFunc(live, func(l *member) bool { return l == m })
		}
	}
	for _, m := range members {
		m.s.Close()
		complain(m.w.r, m.s.Stream)
	}
}

// ofProcess puts the number of a process in front of its lines.
type ofProcess struct {
	out    lineWriter
	prefix []byte
	group  uint64 // added to goroutines, so that those of processes are not the same
	b      []byte
}

func (p *ofProcess) lines(goroutine uint64, b []byte) {
	p.b = p.b[:0]
	for line := range bytes.Lines(b) {
		p.b = append(append(p.b, p.prefix...), line...)
	}
	p.out.lines(goroutine+p.group, p.b)
}

// replayFamily writes the text of several recordings as one.
func replayFamily(o *options, family []*recording.Recording, f format, repeats, group bool, out io.Writer) error {
	members, err := o.members(family)
	if err != nil {
		return err
	}
	lines := newLines(out, group)
	var finish []func()
	for i, m := range members {
		prefix := strconv.AppendInt(nil, int64(m.w.r.Env.PID), 10)
		t := newText(m.w, f, &ofProcess{out: lines, prefix: append(prefix, ' '), group: uint64(i) << 48})
		if repeats {
			finish = append(finish, newRepeats(t).finish)
		} else {
			finish = append(finish, t.finish)
		}
	}
	together(members, func() bool { return lines.err != nil })
	for _, f := range finish {
		f()
	}
	return lines.close()
}

// replayFamilyJSON writes a line of JSON for each event of several recordings. Times are since the start of the first.
func replayFamilyJSON(o *options, family []*recording.Recording, out io.Writer) error {
	members, err := o.members(family)
	if err != nil {
		return err
	}
	var failed error
	start, _ := family[0].Clocks()
	for _, m := range members {
		own, _ := m.w.r.Clocks()
		writeJSON(m.w, out, &failed, m.w.r.Env.PID, own.Wall-start.Wall)
	}
	together(members, func() bool { return failed != nil })
	return failed
}

// add takes the stats of another recording in, or of parts of the same. -by goroutine keeps processes apart.
func (s *summary) add(other *summary) {
	byName := map[string]*stat{}
	for _, t := range s.stats {
		byName[t.name] = t
	}
	for _, t := range other.stats {
		if s.by == "goroutine" {
			t.name = fmt.Sprintf("%d %s", other.r.Env.PID, t.name)
		}
		if known := byName[t.name]; known != nil {
			known.add(t)
		} else {
			s.stats = append(s.stats, t)
		}
	}
}

// add takes other calls in. They are of the same machine, whose ticks are the same.
func (t *stat) add(o *stat) {
	switch {
	case o.calls == 0:
	case t.calls == 0:
		t.least, t.most = o.least, o.most
	default:
		t.least, t.most = min(t.least, o.least), max(t.most, o.most)
	}
	t.calls += o.calls
	t.open += o.open
	t.total += o.total
	t.self += o.self
	t.sum += o.sum
	t.errors += o.errors
	t.panics += o.panics
	all := t.lengths.counts()
	for i, n := range o.lengths.counts() {
		all[i] += n
	}
	t.lengths = histogram{all: all}
}
