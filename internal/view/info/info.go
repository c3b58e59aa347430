// Package info says what a recording is of, how large it is, and what is missing.
//
// It takes a recording, with those within it if the caller wants them, reads all of its events, and
// writes a list or an object of JSON for each. cmd/ftrace calls it. It counts events; calls are
// package walk's.
package info

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// info is what there is to say of a recording.
type info struct {
	Dir        string            `json:"dir"`
	Executable string            `json:"executable"`
	Args       []string          `json:"args"`
	PID        int               `json:"pid"`
	Go         string            `json:"go"`
	System     string            `json:"system"`
	Start      time.Time         `json:"start"`
	First      time.Time         `json:"first"` // when the first event was
	Span       int64             `json:"span"`  // ns between the first and the last event
	Ended      bool              `json:"ended"`
	Functions  int               `json:"functions"`
	Called     int               `json:"called"`
	Goroutines int               `json:"goroutines"`
	Events     uint64            `json:"events"`
	Kinds      map[string]uint64 `json:"kinds"`
	Calls      uint64            `json:"calls"`
	Size       int64             `json:"size"`
	Files      int               `json:"files"`
	Compact    bool              `json:"compact"`
	Lost       uint64            `json:"lost"`
	Damage     []string          `json:"damage"`
	Children   []string          `json:"children"`
}

// Write writes what there is to say of recordings, as text or as an object of JSON for each.
func Write(family []walk.Source, asJSON bool, out io.Writer) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for n, from := range family {
		i, err := gather(from)
		if err != nil {
			return err
		}
		if asJSON {
			err = enc.Encode(i)
		} else {
			if n > 0 {
				fmt.Fprintln(out)
			}
			err = i.write(out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gather goes through a recording.
func gather(from walk.Source) (*info, error) {
	r := from.Recording
	i := &info{Dir: r.Dir, Executable: r.Env.Executable, Args: r.Process.Args, PID: r.Env.PID, Go: r.Env.Release, System: r.Process.GOOS + "/" + r.Process.GOARCH,
		Start: r.Process.Start, Compact: r.IsCompact(), Kinds: map[string]uint64{}}
	first, last := r.Clocks()
	i.Ended = last.Ticks > first.Ticks
	var kinds [256]uint64
	called := make([]bool, r.Keys())
	goroutines := map[uint64]bool{}
	var begun, to, previous uint64
	s := from.Events()
	for e := s.Next(); e != nil; e = s.Next() {
		if i.Events == 0 {
			begun = e.Ticks
		}
		to = e.Ticks
		if e.Kind == recording.Lost {
			i.Lost += e.Call
			continue
		}
		i.Events++
		kinds[e.Kind]++
		if e.Enters() && int(e.Function) < len(called) {
			called[e.Function] = true
		}
		if e.Goroutine != previous {
			goroutines[e.Goroutine] = true
			previous = e.Goroutine
		}
	}
	s.Close()
	for kind, n := range kinds {
		if n > 0 {
			i.Kinds[recording.Kind(kind).String()] += n
		}
	}
	for _, f := range r.Functions() {
		if !f.Probe && !f.Wait && !f.Span {
			i.Functions++
		}
	}
	for _, c := range called {
		if c {
			i.Called++
		}
	}
	i.Goroutines = len(goroutines)
	i.Calls = kinds[recording.Entry] + kinds[recording.EntryArgs]
	c := r.Converter()
	i.First, i.Span = c.Wall(begun), int64(c.Between(begun, to))
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue // ftrace web or ftrace sql has put it there
		}
		if stat, err := entry.Info(); err == nil && stat.Mode().IsRegular() {
			i.Size += stat.Size()
			i.Files++
		}
	}
	for _, d := range r.Damage() {
		i.Damage = append(i.Damage, d.String())
	}
	i.Children, err = r.Children()
	if s.Err() != nil {
		err = s.Err()
	}
	return i, err
}

func (i *info) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 1, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	row("recording", "%s", i.Dir)
	row("program", "%s", i.Executable)
	row("arguments", "%s", strings.Join(i.Args[min(1, len(i.Args)):], " "))
	row("process", "%d, %s, %s", i.PID, i.Go, i.System)
	const clock = "2006-01-02 15:04:05.000000Z07:00"
	row("started", "%s", i.Start.Local().Format(clock))
	ended := ""
	if !i.Ended {
		ended = "; the program still runs, or was killed"
	}
	row("recorded", "from %s on", i.First.Local().Format(clock))
	row("lasted", "%s from the first event to the last%s", recording.AppendDuration(nil, i.Span), ended)
	row("functions", "%d, of which %d were called", i.Functions, i.Called)
	row("goroutines", "%d", i.Goroutines)
	row("calls", "%d", i.Calls)
	var kinds []string
	for k := recording.Entry; k <= recording.Blocked; k++ {
		if n := i.Kinds[k.String()]; n > 0 && k.String() != (k-1).String() {
			kinds = append(kinds, fmt.Sprintf("%d %s", n, k))
		}
	}
	row("events", "%d: %s", i.Events, strings.Join(kinds, ", "))
	form := ""
	if i.Compact {
		form = ", compact"
	}
	row("size", "%d bytes in %d files%s", i.Size, i.Files, form)
	row("lost", "%d records", i.Lost)
	if len(i.Damage) == 0 {
		row("damage", "none")
	}
	for _, d := range i.Damage {
		row("damage", "%s", d)
	}
	for _, dir := range i.Children {
		name, _ := filepath.Rel(i.Dir, dir)
		row("within", "%s: another process (-children)", name)
	}
	return w.Flush()
}
