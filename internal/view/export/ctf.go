package export

import (
	"errors"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// exportCTF writes what the filters leave to a directory that is a recording again: ftrace reads
// it, and what reads the Common Trace Format. Of a compact recording it is the form that programs
// write.
func exportCTF(from walk.Source, dir string) error {
	w := walk.New[struct{}, struct{}](from)
	out, err := w.Recording.NewWriter(dir)
	if err != nil {
		return err
	}
	var e recording.Event // what is written, for a call: of what comes in, by which the goroutine's first record is written before
	x := ctf{w: w, out: out, starts: map[uint64]recording.Event{}, begun: map[uint64]bool{}}
	w.Begin = func(st *stack, c *frame, in *recording.Event) {
		e = *in
		e.Depth = depthOf(c)
		if c.Data.Clause.Detail < rule.Args {
			e.Kind = recording.Entry
		}
		x.write(st, &e)
	}
	w.End = func(st *stack, c *frame, in *recording.Event) {
		if in == nil {
			return
		}
		e = *in
		if c != nil {
			e.Depth = depthOf(c)
			if c.Data.Clause.Detail < rule.Args {
				e.Layout, e.Data = 0, nil
				if e.Kind == recording.ExitResults {
					e.Kind = recording.Exit
				}
			}
			x.remarks(st, c, &e)
		}
		x.write(st, &e)
	}
	w.After = func(st *stack, c *frame, in *recording.Event) {
		if e = *in; c.Data.Clause.Detail >= rule.Args {
			e.Depth = depthOf(c)
			x.write(st, &e)
		}
	}
	w.More = func(st *stack, c *frame, in *recording.Event) {
		e = *in
		switch {
		case e.Kind == recording.GoroutineStart:
			x.starts[e.Goroutine] = e
			return
		case e.Kind == recording.Recovered:
			e.Depth = depthOf(c)
			if c.Data.Clause.Detail < rule.Args {
				e.Layout, e.Data = 0, nil
			}
		case (e.Kind == recording.Line || e.Kind == recording.Probe) && w.Ruled():
			e.Depth = uint16(min(st.Data.Shown, 65535))
		}
		x.write(st, &e)
	}
	w.Wait = func(st *stack, in *recording.Event) {
		e = *in
		if w.Ruled() {
			e.Depth = uint16(min(st.Data.Shown, 65535))
		}
		x.write(st, &e)
	}
	w.Blocked = w.Wait
	s := w.Events()
	defer s.Close()
	for in := s.Next(); x.err == nil && in != nil; in = s.Next() {
		w.Event(in)
		if in.Kind == recording.GoroutineEnd && x.begun[in.Goroutine] {
			x.write(nil, in)
			delete(x.begun, in.Goroutine)
		}
	}
	return errors.Join(x.err, s.Err(), out.Close())
}

// ctf is a recording that is being written.
type ctf struct {
	w      *walker
	out    *recording.Writer
	starts map[uint64]recording.Event // of goroutines of which nothing was written yet
	begun  map[uint64]bool
	err    error
}

// depthOf returns the depth of a call among those that are shown.
func depthOf(c *frame) uint16 { return uint16(min(c.Data.Shown, 65535)) }

// write writes an event of a goroutine, in front of the first one what started the goroutine.
func (x *ctf) write(st *stack, e *recording.Event) {
	if start, ok := x.starts[e.Goroutine]; ok && e.Kind != recording.Lost {
		delete(x.starts, e.Goroutine)
		x.begun[e.Goroutine] = true
		start.Ticks, start.Processor = e.Ticks, e.Processor // within a file time never goes back
		if x.w.Ruled() {
			start.Function, start.Call = st.Data.Inherited.Function, st.Data.Inherited.Number
		}
		x.put(&start)
	}
	x.put(e)
}

func (x *ctf) put(e *recording.Event) {
	if x.err == nil {
		x.err = x.out.Write(e)
	}
}

// remarks writes what was said of a call before its end, e.
func (x *ctf) remarks(st *stack, c *frame, e *recording.Event) {
	of := recording.Event{Ticks: e.Ticks, Goroutine: e.Goroutine, Function: e.Function, Depth: e.Depth, Processor: e.Processor}
	if c.Note != "" {
		const most = 1900 // a record has some 2000 bytes
		of.Kind, of.Data = recording.Note, []byte(c.Note[:min(len(c.Note), most)])
		x.write(st, &of)
	}
	if c.Mock {
		of.Kind, of.Data = recording.Mock, nil
		x.write(st, &of)
	}
}
