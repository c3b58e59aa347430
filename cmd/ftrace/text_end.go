package main

import (
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// end shows that a call ends: the innermost, or one whose entry was not seen (c is nil); by e, or unseen before the event that is walked.
func (t *text) end(st *stack, c *frame, e *recording.Event) {
	if t.now = t.w.now; c == nil {
		t.stray(st, e)
		return
	}
	d := &c.Data
	g := st.Data.text
	held := g != nil && g.holds(d)
	lasted := int64(t.clock.Between(c.Start, t.now))
	if d.flags&printed == 0 && d.clause.Min > lasted {
		if held {
			g.held = g.held[:d.held-1]
		}
		return
	}
	var b []byte
	name := t.function(c.Function)
	comment := ""
	if held && t.format.fold {
		// "+ f() {" of the held line, the results, then the held comment.
		start := int(d.held) - 1
		line := append(t.b[:0], g.held[start:d.heldAt]...)
		comment = string(g.held[d.heldAt : len(g.held)-1])
		g.held = g.held[:start]
		t.release(st, len(st.Calls)-1)
		b = line
	} else {
		if held || d.flags&heldLost != 0 {
			t.release(st, len(st.Calls))
			if d.flags&heldLost != 0 {
				b = append(t.prefix(t.b[:0], st.Goroutine, d.shown), name.entry...)
				b = append(b, "...) { // #"...)
				b = append(strconv.AppendUint(b, c.Number, 10), '\n')
				t.b = b
				t.out.lines(st.Goroutine, b)
			}
		}
		if e == nil && c.Note == "" && !t.format.fold {
			return // as a program shows it that ended within the call
		}
		b = t.prefix(t.b[:0], st.Goroutine, d.shown+1)
	}
	b = t.ending(b, st, d.clause.Detail, name.f, e)
	if comment != "" {
		b = append(b, comment...)
	} else {
		b = t.comment(b, name)
	}
	b = append(t.remarks(b, c, lasted), '\n')
	t.b = b
	t.out.lines(st.Goroutine, b)
}

// comment appends what stands behind an ending.
func (t *text) comment(b []byte, name *functionText) []byte {
	b = t.colour(b, "\x1b[2m")
	b = append(b, name.exit...)
	return t.colour(b, "\x1b[0m")
}

// remarks appends what else there is to say of a call that has ended.
func (t *text) remarks(b []byte, c *frame, lasted int64) []byte {
	if c.Mock {
		b = append(b, " mock"...)
	}
	if t.format.duration {
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
func (t *text) stray(st *stack, e *recording.Event) {
	name := t.function(e.Function)
	b := t.prefix(t.b[:0], st.Goroutine, int32(e.Depth)+1)
	b = t.ending(b, st, rule.Args, name.f, e)
	b = append(b, name.exit...)
	b = append(b, '\n')
	t.b = b
	t.out.lines(st.Goroutine, b)
}

// appendLine appends a line of the program's, which is to stay on its line: tabs are left, and if there are colours its own, which end with it.
func (t *text) appendLine(b []byte, s string) []byte {
	painted := false
	for s != "" {
		n := escape.Plain(s)
		b = append(b, s[:n]...)
		if s = s[n:]; s == "" {
			break
		}
		if n = escape.Colour(s); n > 0 && t.format.colour {
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
func (t *text) ending(b []byte, st *stack, detail rule.Detail, f *recording.Function, e *recording.Event) []byte {
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
	if g := st.Data.text; g != nil && len(g.recovered) > 0 {
		b = append(b, g.recovered...)
		g.recovered = g.recovered[:0]
	}
	return b
}

// panicked appends a panic's value, or only its type if no values are wanted. If none were wanted when it was recorded there is neither.
func (t *text) panicked(b []byte, what string, detail rule.Detail, e *recording.Event) []byte {
	b = append(b, what...)
	switch {
	case e.Layout == 0:
		return b
	case detail < rule.Args:
		return t.printer.AppendPanicType(append(b, ' '), e)
	}
	return t.printer.AppendPanic(append(b, ' '), 0, e)
}

// more shows what is no call: what a call recovered, lines that the program printed, and that records were lost.
func (t *text) more(st *stack, c *frame, e *recording.Event) {
	t.now = e.Ticks
	switch e.Kind {
	case recording.Recovered:
		if st.Data.text == nil {
			st.Data.text = &goroutineText{}
		}
		g := st.Data.text
		g.recovered = t.panicked(g.recovered[:0], " recovered", c.Data.clause.Detail, e)
	case recording.GoroutineStart:
		if parent := t.w.stacks.Lookup(e.Parent); parent != nil && !parent.Data.hidden {
			t.releaseLong(parent) // its lines come behind that of the call that started it
		}
	case recording.Line:
		t.release(st, len(st.Calls))
		depth := int32(e.Depth)
		if t.w.rules != nil {
			depth = st.Data.shown
		}
		b := append(t.prefix(t.b[:0], st.Goroutine, depth), "- "...)
		b = append(t.appendLine(b, string(e.Data)), '\n')
		t.b = b
		t.out.lines(st.Goroutine, b)
	case recording.Probe:
		t.release(st, len(st.Calls))
		depth := int32(e.Depth)
		if t.w.rules != nil {
			depth = st.Data.shown
		}
		f := t.r.Function(e.Function)
		b := append(t.prefix(t.b[:0], st.Goroutine, depth), "- "...)
		b = append(append(b, f.FullName()...), '(')
		if e.Layout != 0 {
			b = t.printer.Append(b, 0, e, f.Params)
		}
		b = append(b, ")\n"...)
		t.b = b
		t.out.lines(st.Goroutine, b)
	case recording.Lost:
		b := append(t.b[:0], "# ftrace: "...)
		b = strconv.AppendUint(b, e.Call, 10)
		b = append(b, " records were lost here\n"...)
		t.b = b
		t.out.lines(0, b)
	}
}

// finish shows what is still held back of calls that were under way at the end.
func (t *text) finish() {
	for _, st := range t.w.stacks.Every() {
		t.releaseLong(st)
	}
	if t.w.rules == nil {
		return
	}
	for key := range t.w.rules.functions {
		if f := &t.w.rules.functions[key]; f.suppressed != 0 {
			b := append(t.b[:0], "# ftrace: "...)
			b = append(b, t.function(uint32(key)).exit[len(" // "):]...)
			b = append(b, ": "...)
			b = strconv.AppendUint(b, uint64(f.suppressed), 10)
			b = append(b, " calls not shown: rate=\n"...)
			t.out.lines(0, b)
		}
	}
}
