package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/dtrace"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// What a D program on the page may do. D has no loops, and no actions on other programs.
const (
	dTime    = time.Minute
	dText    = 1 << 20 // bytes that it prints
	dErrors  = 16 << 10
	dKept    = 20_000  // values in its maps and arrays
	dEntries = 1000    // of a map, in an answer
	dKey     = 4 << 10 // bytes of a key or a value that is text
	dProbes  = 20_000  // that can be completed
)

// A dAnswer is what a D program printed, and its maps.
type dAnswer struct {
	Text    string       `json:"text"`
	Maps    []dtrace.Map `json:"maps"`
	Errors  string       `json:"errors"`          // of values
	Error   string       `json:"error,omitempty"` // of the program
	Stopped string       `json:"stopped"`         // why it was not run over all
	Left    int          `json:"left"`            // entries of maps that are left out
	Events  int          `json:"events"`
	Took    int64        `json:"took"` // ns
}

// A limited buffer has the first bytes of what is written.
type limited struct {
	bytes.Buffer
	most int
	full bool
}

func (l *limited) Write(b []byte) (int, error) {
	if room := l.most - l.Len(); len(b) > room {
		l.full = true
		b = b[:room]
	}
	l.Buffer.Write(b)
	return len(b), nil
}

func (l *limited) text() string { return strings.ToValidUTF8(l.String(), "\ufffd") }

// runD runs a program over a recording, or a stretch of time of it.
func runD(ctx context.Context, r *recording.Recording, window recording.Window, source string) (a dAnswer) {
	began := time.Now()
	a.Maps = []dtrace.Map{}
	defer func() { a.Took = int64(time.Since(began)) }()
	program, err := dtrace.Compile(source)
	if err == nil {
		err = program.Check(r.Functions())
	}
	if err != nil {
		a.Error = strings.TrimPrefix(err.Error(), "ftrace: ")
		return a
	}
	ctx, stop := context.WithTimeout(ctx, dTime)
	defer stop()
	out, wrong := &limited{most: dText}, &limited{most: dErrors}
	m := dtrace.NewMachine(program, r, out, wrong)
	s := r.Events(window)
	defer s.Close()
	var e recording.Event
	more := s.Next(&e)
	first, _ := r.Clocks()
	if more {
		first.Ticks = e.Ticks
	}
	m.Start(first.Ticks)
	m.Begin()
	for more && !m.Done() && a.Stopped == "" {
		m.Event(&e)
		m.Flush()
		a.Events++
		switch {
		case out.full:
			a.Stopped = "it printed more than 1 MB"
		case a.Events%4096 != 0:
		case m.Kept() > dKept:
			a.Stopped = fmt.Sprintf("its maps have more than %d entries", dKept)
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			a.Stopped = "it took more than a minute"
		case ctx.Err() != nil:
			a.Stopped = "nobody waits for it"
		}
		more = s.Next(&e)
	}
	m.End()
	m.Flush()
	if out.full && a.Stopped == "" {
		a.Stopped = "it printed more than 1 MB"
	}
	a.shown(m.Maps())
	a.Text, a.Errors = out.text(), strings.TrimSpace(wrong.text())
	if m.LacksWaits() {
		a.Errors = strings.TrimSpace(a.Errors + "\nthe recording has no waits, which vtimestamp, offcpu and runnable need: FTRACE='...; wait/*' records them")
	}
	if err := s.Err(); err != nil {
		a.Error = err.Error()
	}
	return a
}

// shown takes in maps as far as an answer may have them.
func (a *dAnswer) shown(list []dtrace.Map) {
	cut := func(v any) any {
		if text, ok := v.(string); ok && len(text) > dKey {
			return strings.ToValidUTF8(text[:dKey], "") + "…"
		}
		return v
	}
	for _, m := range list {
		if n := len(m.Entries) - dEntries; n > 0 { // they go up by their values
			a.Left += n
			m.Entries = m.Entries[n:]
		}
		for i := range m.Entries {
			e := &m.Entries[i]
			for k := range e.Key {
				e.Key[k] = cut(e.Key[k])
			}
			e.Value = cut(e.Value)
		}
		a.Maps = append(a.Maps, m)
	}
}

// d runs a D program.
func (s *shown) d(w http.ResponseWriter, r *http.Request) {
	var err error
	q := r.URL.Query()
	from, to := number(q, "from", &err), number(q, "to", &err)
	source := q.Get("q")
	if err == nil && strings.TrimSpace(source) == "" {
		err = errors.New("there is no program")
	}
	select {
	case s.programs <- true:
		defer func() { <-s.programs }()
	case <-r.Context().Done():
		return
	}
	s.reading(w, r, err, func(reader *recording.Recording) { reply(w, runD(r.Context(), reader, s.window(from, to), source)) })
}

// probes returns what can be completed in a D program.
func (s *shown) probes(w http.ResponseWriter, r *http.Request) {
	s.reading(w, r, nil, func(reader *recording.Recording) {
		list, err := dtrace.List("", reader.Functions())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		names := []string{}
		for _, p := range list[:min(len(list), dProbes)] {
			names = append(names, p.Provider+":"+p.Module+":"+p.Function+":"+p.Name)
		}
		variables, functions, actions, aggregations := dtrace.Words()
		reply(w, map[string]any{"probes": names, "variable": variables, "function": functions, "action": actions, "aggregation": aggregations})
	})
}
