package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// processes are what the recordings have in common as processes: one clock, and the requests that
// went from one to another. The requests are read when the page first asks for them, until stop is
// called.
type processes struct {
	ctx    context.Context
	stop   func()
	begins sync.Once
	ended  chan struct{}   // closed when the requests have been read
	mu     sync.Mutex      // guards what follows
	starts []time.Time     // when each recording began
	delays []time.Duration // how long that is after the first of its run; nil until it is known
	passed []passing       // not all yet, unless read
	read   bool
	said   string // of clocks that differ
	err    error
}

// A passing is a request that one process made and another served. Times are in ns since the
// recording of that side began.
type passing struct {
	Made   passed `json:"made"`
	Served passed `json:"served"`
}

type passed struct {
	R     int    `json:"r"`
	G     uint64 `json:"g"`
	Depth int    `json:"depth"`
	At    int64  `json:"at"`
}

// apartMax is how far apart recordings begin at most that are on one timeline: the page counts ns
// without rounding them.
const apartMax = 100 * 24 * time.Hour

// atOnce reports whether processes ran at the same time, by their own clocks. Copies of a recording
// are of the same process.
func atOnce(list []*shown) bool {
	for i, a := range list {
		for _, b := range list[:i] {
			if a.first.Env.UUID == b.first.Env.UUID {
				continue
			}
			began, ended := a.first.Lifetime()
			otherBegan, otherEnded := b.first.Lifetime()
			if began.Before(otherEnded) && otherBegan.Before(ended) {
				return true
			}
		}
	}
	return false
}

// begin has the requests read, unless that has begun before.
func (p *processes) begin(list []*shown) {
	p.begins.Do(func() {
		for _, s := range list {
			began, _ := s.first.Lifetime()
			p.starts = append(p.starts, began)
		}
		p.ended = make(chan struct{})
		go func() {
			defer close(p.ended)
			var all []*recording.Recording
			for _, s := range list {
				r, err := recording.Open(s.dir)
				if err != nil {
					p.mu.Lock()
					p.read, p.err = true, err
					p.mu.Unlock()
					return
				}
				all = append(all, r)
			}
			p.align(list, all)
		}()
	})
}

// align reads the requests, and corrects the times when the recordings began.
// The recordings are those of the list, opened anew.
func (p *processes) align(list []*shown, all []*recording.Recording) {
	var said strings.Builder
	traces, err := walk.NewTraces(p.ctx, all)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read, p.err = true, err
	if err != nil {
		return
	}
	traces.Align(&said)
	p.said, p.delays = said.String(), traces.Delays()
	for i, r := range all {
		p.starts[i], _ = r.Lifetime()
	}
	side := func(of walk.Passed) passed {
		return passed{of.Recording, of.Goroutine, of.Depth, int64(list[of.Recording].index.clock.Since(of.Ticks))}
	}
	for _, one := range traces.Passings() {
		p.passed = append(p.passed, passing{side(one.Made), side(one.Served)})
	}
}

// delay returns how long after the first of its run a recording began. It waits until the requests
// have been read. If that failed it returns 0: the page says so.
func (s *Server) delay(i int) time.Duration {
	if len(s.shown) < 2 {
		return 0
	}
	p := &s.together
	p.begin(s.shown)
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.delays == nil {
		return 0
	}
	return p.delays[i]
}

// A processAnswer is what the page knows of a process besides its status.
type processAnswer struct {
	Name string `json:"name"` // of the program, the process's number, and the recording
	At   int64  `json:"at"`   // when its recording began, in ns since the first one did
}

// processes returns which processes the recordings are of, and when they began. That is corrected
// once the requests have been read.
func (s *Server) processes(w http.ResponseWriter, _ *http.Request) {
	p := &s.together
	p.begin(s.shown)
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []processAnswer{}
	err := p.err
	for i, of := range s.shown {
		at := p.starts[i].Sub(p.starts[0])
		if at.Abs() > apartMax {
			err = fmt.Errorf("%s and %s began more than 100 days apart: they are on no timeline together", s.shown[0].name(), of.name())
		}
		env := of.first.Env
		list = append(list, processAnswer{fmt.Sprintf("%s %d (%s)", filepath.Base(env.Executable), env.PID, of.name()), int64(at)})
	}
	if err != nil {
		refuse(w, err)
		return
	}
	reply(w, map[string]any{"processes": list, "reading": !p.read, "notes": p.said})
}

// passings returns the requests that went from one process to another in a stretch of time, which
// is that of the recording asked about, and may begin before it.
func (s *Server) passings(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	of, err := s.asked(r)
	from, to := moment(q, "from", &err), moment(q, "to", &err)
	if err != nil {
		refuse(w, err)
		return
	}
	p := &s.together
	p.begin(s.shown)
	p.mu.Lock()
	defer p.mu.Unlock()
	var zero time.Time
	for i, one := range s.shown {
		if one == of {
			zero = p.starts[i]
		}
	}
	at := func(one passed) int64 { return int64(p.starts[one.R].Sub(zero)) + one.At }
	list, more := []passing{}, false
	for _, one := range p.passed {
		if at(one.Made) > to && at(one.Served) > to || at(one.Made) < from && at(one.Served) < from {
			continue
		}
		if len(list) == arrowsMax {
			more = true
			break
		}
		list = append(list, one)
	}
	reply(w, map[string]any{"passings": list, "more": more})
}

// moment reads a time of a question, which may be before the recording began. What is missing is 0.
func moment(q url.Values, name string, err *error) int64 {
	text := q.Get(name)
	if text == "" {
		return 0
	}
	n, wrong := strconv.ParseInt(text, 10, 64)
	if wrong != nil {
		*err = fmt.Errorf("%s=%q is no time", name, text)
	}
	return n
}
