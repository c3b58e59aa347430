package text

import (
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// end shows that a call ends: the innermost, or one whose entry was not seen (c is nil); by e, or
// unseen before the event that is walked.
func (t *tree) end(st *Stack, c *Frame, e *recording.Event) {
	if t.now = t.w.Now; c == nil {
		t.stray(st, e)
		return
	}
	d := &c.Data
	g := st.Data.View
	held := g != nil && g.holds(d)
	lasted := int64(t.clock.Between(c.Start, t.now))
	if d.View.flags&printed == 0 && d.Clause.Min > lasted {
		if held {
			g.held = g.held[:d.View.held-1]
		}
		return
	}
	var b []byte
	name := t.function(c.Function)
	comment := ""
	if held && t.format.Fold {
		// "+ f() {" of the held line, the results, then the held comment.
		start := int(d.View.held) - 1
		line := append(t.b[:0], g.held[start:d.View.heldAt]...)
		comment = string(g.held[d.View.heldAt : len(g.held)-1])
		g.held = g.held[:start]
		t.release(st)
		b = line
	} else {
		if held || d.View.flags&heldLost != 0 {
			t.release(st)
			if d.View.flags&heldLost != 0 {
				b = append(t.prefix(t.b[:0], st.Goroutine, d.Shown), name.entry...)
				b = append(b, "...) { // #"...)
				t.put(st.Goroutine, append(strconv.AppendUint(b, c.Number, 10), '\n'))
			}
		}
		if e == nil && c.Note == "" && !t.format.Fold {
			return // as a program shows it that ended within the call
		}
		b = t.prefix(t.b[:0], st.Goroutine, d.Shown+1)
	}
	b = t.ending(b, st, d.Clause.Detail, name.f, e)
	if comment != "" {
		b = append(b, comment...)
	} else {
		b = t.comment(b, name)
	}
	t.put(st.Goroutine, append(t.remarks(b, c, lasted), '\n'))
}

// comment appends what follows an ending.
func (t *tree) comment(b []byte, name *functionText) []byte {
	b = t.colour(b, "\x1b[2m")
	b = append(b, name.exit...)
	return t.colour(b, "\x1b[0m")
}

// remarks appends what else there is to say of a call that has ended.
func (t *tree) remarks(b []byte, c *Frame, lasted int64) []byte {
	if c.Mock {
		b = append(b, " mock"...)
	}
	if t.format.duration && c.BeginKnown() {
		b = append(b, ' ')
		b = recording.AppendDuration(b, lasted)
	}
	if c.Note != "" {
		b = append(b, ": "...)
		b = escape.Append(b, c.Note)
	}
	return b
}

// stray shows the end of a call whose entry was not seen.
func (t *tree) stray(st *Stack, e *recording.Event) {
	name := t.function(e.Function)
	b := t.prefix(t.b[:0], st.Goroutine, int32(e.Depth)+1)
	b = t.ending(b, st, rule.Args, name.f, e)
	b = append(b, name.exit...)
	t.put(st.Goroutine, append(b, '\n'))
}

// appendLine appends a line of the program's, which is to stay on its line: tabs are left, and if
// there are colours its own, which end with it.
func (t *tree) appendLine(b []byte, s string) []byte {
	painted := false
	for s != "" {
		n := escape.Plain(s)
		b = append(b, s[:n]...)
		if s = s[n:]; s == "" {
			break
		}
		if n = escape.Colour(s); n > 0 && t.format.Colour {
			b = append(b, s[:n]...)
			painted = true
		} else if n = 1; s[0] == '\t' {
			b = append(b, '\t')
		} else {
			n, _ = escape.Next(s)
			b = escape.Append(b, s[:n])
		}
		s = s[n:]
	}
	if painted {
		b = append(b, "\x1b[0m"...)
	}
	return b
}

// ending appends how a call ended: the brace, then results or panic.
func (t *tree) ending(b []byte, st *Stack, detail rule.Detail, f *recording.Function, e *recording.Event) []byte {
	b = append(b, '}')
	switch {
	case e == nil:
		return b
	case e.Kind == recording.ExitGoexit:
		return append(b, " Goexit"...)
	case e.Kind == recording.ExitPanic:
		return t.panicked(b, " panic", detail, e)
	case e.Kind == recording.ExitResults && detail >= rule.Args:
		b = append(b, " = "...)
		b = t.printer.Append(b, 0, e, f.Results)
	}
	if g := st.Data.View; g != nil && len(g.recovered) > 0 {
		b = append(b, g.recovered...)
		g.recovered = g.recovered[:0]
	}
	return b
}

// panicked appends a panic's value, or only its type if no values are wanted. If none were wanted
// when it was recorded there is neither.
func (t *tree) panicked(b []byte, what string, detail rule.Detail, e *recording.Event) []byte {
	b = append(b, what...)
	switch {
	case e.Layout == 0:
		return b
	case detail < rule.Args:
		return t.printer.AppendPanicType(append(b, ' '), e)
	}
	return t.printer.AppendPanic(append(b, ' '), 0, e)
}

// more shows what is no call: what a call recovered, lines that the program printed, and that
// records were lost.
func (t *tree) more(st *Stack, c *Frame, e *recording.Event) {
	t.now = e.Ticks
	switch e.Kind {
	case recording.Recovered:
		if st.Data.View == nil {
			st.Data.View = &Goroutine{}
		}
		g := st.Data.View
		g.recovered = t.panicked(g.recovered[:0], " recovered", c.Data.Clause.Detail, e)
	case recording.GoroutineStart:
		if parent := t.w.Stacks.Lookup(e.Parent); parent != nil && !parent.Data.Hidden {
			t.releaseLong(parent) // its lines follow that of the call that started it
		}
	case recording.Line, recording.Probe:
		t.release(st)
		depth := int32(e.Depth)
		if t.w.Ruled() {
			depth = st.Data.Shown
		}
		b := append(t.prefix(t.b[:0], st.Goroutine, depth), "- "...)
		if e.Kind == recording.Line {
			b = t.appendLine(b, string(e.Data))
		} else {
			f := t.r.Function(e.Function)
			b = append(append(b, f.FullName()...), '(')
			if e.Layout != 0 {
				b = t.printer.Append(b, 0, e, f.Params)
			}
			b = append(b, ')')
		}
		t.put(st.Goroutine, append(b, '\n'))
	case recording.Off, recording.On:
		b := append(t.prefix(t.b[:0], st.Goroutine, 0), "# ftrace: "...)
		b = append(b, t.r.Function(e.Function).ShortName()...)
		if e.Kind == recording.Off {
			b = append(b, ": calls are left out from here on\n"...)
		} else {
			b = append(b, ": "...)
			calls := e.Call - min(e.Call, e.Noted)
			switch {
			case e.Uncounted && calls == 0:
				b = append(b, "uncounted calls"...)
			case e.Uncounted:
				b = append(strconv.AppendUint(b, calls, 10), " calls and more"...)
			default:
				b = append(strconv.AppendUint(b, calls, 10), " calls"...)
			}
			b = append(b, " were left out"...)
			if e.Failed > 0 {
				b = append(strconv.AppendUint(append(b, ", of which "...), e.Failed, 10), " failed,"...)
			}
			b = append(b, " for "...)
			b = append(recording.AppendDuration(b, int64(t.clock.Between(e.Parent, e.Ticks))), '\n')
		}
		t.put(st.Goroutine, b)
	case recording.Lost:
		b := append(t.b[:0], "# ftrace: "...)
		b = strconv.AppendUint(b, e.Call, 10)
		t.put(0, append(b, " records were lost here\n"...))
	}
}

// finish shows what is still held back of calls that were under way at the end.
func (t *tree) finish() {
	for _, st := range t.w.Stacks.Every() {
		t.releaseLong(st)
	}
	if !t.w.Ruled() {
		return
	}
	for key := range uint32(t.r.Keys()) {
		if n := t.w.Suppressed(key); n != 0 {
			b := append(t.b[:0], "# ftrace: "...)
			b = append(b, t.function(key).exit[len(" // "):]...)
			b = append(b, ": "...)
			b = strconv.AppendUint(b, uint64(n), 10)
			b = append(b, " calls not shown: rate=\n"...)
			t.out.Add(0, b)
		}
	}
}
