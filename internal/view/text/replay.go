package text

import (
	"bytes"
	"cmp"
	"io"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Options are how a trace is written.
type Options struct {
	Format   Format
	Repeats  bool          // calls that repeat themselves are folded
	Group    bool          // goroutine by goroutine, not by time
	From, To time.Duration // of several recordings: since the first began; 0: all
}

// Replay writes the text of a recording.
func Replay(s walk.Source, o Options, out io.Writer) error {
	if !o.Repeats {
		if done, err := replayParts(s, o, out); done {
			return err
		}
	}
	v := NewView(s, o, out)
	err := v.w.Walk(func() bool { return v.lines.err == nil })
	return cmp.Or(v.Close(), err)
}

// A View writes the text of events that it is given, as they come.
type View struct {
	w      *Walker
	tree   *tree
	lines  *Lines
	finish func()
}

// NewView returns what writes a source's text.
func NewView(s walk.Source, o Options, out io.Writer) *View {
	v := &View{w: walk.New[*Goroutine, Call](s), lines: NewLines(out, o.Group)}
	v.tree, v.finish = treeOf(v.w, o, v.lines)
	return v
}

// treeOf lets a walker write to out, and returns what writes what is still held back at the end.
func treeOf(w *Walker, o Options, out lineWriter) (t *tree, finish func()) {
	t = newTree(w, o.Format, out)
	if o.Repeats {
		return t, newRepeats(t).finish
	}
	return t, t.finish
}

// Event takes in an event. It returns the error of any write.
func (v *View) Event(e *recording.Event) error {
	v.w.Event(e)
	return v.lines.err
}

// Refresh takes in that the recording, which is being written, has other tables.
func (v *View) Refresh() { v.tree.clock = v.w.Recording.Converter() }

// Flush writes what waits to be written. It returns the error of any write.
func (v *View) Flush() error {
	v.lines.flush()
	return v.lines.err
}

// Close writes what is left. It returns the error of any write.
func (v *View) Close() error {
	v.finish()
	return v.lines.Close()
}

// partLines has what is written of a part.
type partLines struct {
	b   []byte
	out *Lines
}

func (l *partLines) Add(_ uint64, b []byte) { l.b = append(l.b, b...) }
func (l *partLines) Len() int               { return len(l.b) }
func (l *partLines) Reset()                 { l.b = l.b[:0] }
func (l *partLines) Pass(from, to int) bool {
	l.out.many(l.b[from:to])
	return l.out.err == nil
}

// replayParts writes the text of a recording, made in parts. It returns false if it did nothing:
// what is folded, grouped or numbered has to do with more than one call, and so has a trace.
func replayParts(s walk.Source, o Options, out io.Writer) (bool, error) {
	if o.Format.Fold || o.Format.seq || o.Group || s.Stretches != nil {
		return false, nil
	}
	v := NewView(s, o, out)
	done, err := v.w.InParts(4, func(p *Walker) walk.PartWriter {
		written := &partLines{out: v.lines}
		newTree(p, o.Format, written)
		return written
	})
	if !done {
		return false, nil
	}
	return true, cmp.Or(v.Close(), err)
}

// ofProcess puts in front of a process's lines what they are told apart by.
type ofProcess struct {
	out    lineWriter
	prefix []byte
	group  uint64 // added to goroutines, so that those of processes are not the same
	b      []byte
}

func (p *ofProcess) Add(goroutine uint64, b []byte) {
	p.b = p.b[:0]
	for line := range bytes.Lines(b) {
		p.b = append(append(p.b, p.prefix...), line...)
	}
	p.out.Add(goroutine+p.group, p.b)
}

// ReplayFamily writes the text of several recordings as one.
func ReplayFamily(family []walk.Source, o Options, out io.Writer) error {
	members := walk.Members[*Goroutine, Call](family, o.From, o.To)
	lines := NewLines(out, o.Group)
	var finish []func()
	for i, m := range members {
		_, f := treeOf(m.Walker, o, &ofProcess{out: lines, prefix: []byte(m.Label + " "), group: uint64(i) << 48})
		finish = append(finish, f)
	}
	err := walk.Together(members, func() bool { return lines.err == nil })
	for _, f := range finish {
		f()
	}
	return cmp.Or(lines.Close(), err)
}

// noLines takes lines that no one wants, such as that records were lost.
type noLines struct{}

func (noLines) Add(uint64, []byte) {}

// Bare lets a walker call event with the line of each entry and exit that is shown, as a trace has
// it but for the goroutine, times and the comment with the call's number: what is the same in
// another run.
func Bare(w *Walker, event func(st *Stack, e *recording.Event, line []byte)) {
	t := newTree(w, Format{Values: recording.DefaultFormat}, noLines{})
	var line []byte
	w.Begin = func(st *Stack, c *Frame, e *recording.Event) {
		name := t.function(c.Function)
		line = indent(line[:0], c.Data.Shown)
		from := len(line)
		line = append(line, name.entry...)
		if e.Kind == recording.EntryArgs {
			line = t.printer.Append(line, from, e, name.f.Params)
		}
		line = append(line, ") {"...)
		event(st, e, line)
	}
	w.End = func(st *Stack, c *Frame, e *recording.Event) {
		if c == nil || e == nil {
			return
		}
		name := t.function(c.Function)
		line = indent(line[:0], c.Data.Shown+1)
		line = t.ending(line, st, c.Data.Clause.Detail, name.f, e)
		line = append(line, name.exit...)
		event(st, e, line)
	}
}
