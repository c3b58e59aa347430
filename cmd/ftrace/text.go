package main

import (
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// text writes the tree of calls as a program under FTRACE does: what internal/guest/text/text.go says of lines that are held back, folded and so on
// goes for this too.
type text struct {
	r       *recording.Recording
	w       *walker
	format  format
	clock   recording.Converter
	printer *recording.Printer
	names   []functionText // by key
	line    uint64         // lines written, for seq
	out     lineWriter
	now     uint64 // ticks of the event
	b       []byte // the line that is being made

	goroutine uint64 // of the last line
	name      []byte // what it is called there
}

// A lineWriter takes whole lines, of one goroutine or none (0).
type lineWriter interface {
	lines(goroutine uint64, b []byte)
}

// functionText is a function's name in lines.
type functionText struct {
	f     *recording.Function
	entry string // "+ main.f("
	exit  string // " // main.f"
}

// goroutineText is the held lines of a goroutine.
type goroutineText struct {
	held      []byte
	text      uint32 // which it is: how often what was held has been printed
	repeats   *repeatsOf
	recovered []byte // " recovered VALUE" for the exit that follows
}

// The flags of a call.
const (
	printed  = 1 << iota // its entry line was printed
	heldLost             // its entry line is still to be shown, but did not fit into the held text
)

const heldMax = 64 << 10

func newText(w *walker, f format, out lineWriter) *text {
	t := &text{r: w.r, w: w, format: f, clock: w.r.Converter(), printer: w.r.Printer(f.values), out: out}
	w.begin, w.end, w.more = t.begin, t.end, t.more
	return t
}

// function returns a function's name in lines.
func (t *text) function(key uint32) *functionText {
	if int(key) < len(t.names) && t.names[key].f != nil {
		return &t.names[key]
	}
	f := t.r.Function(key)
	name := f.ShortName()
	if t.format.paths {
		name = f.FullName()
	}
	text := functionText{f: f, entry: "+ " + name + "(", exit: " // " + name}
	if int(key) >= t.r.Keys() {
		return &text
	}
	for len(t.names) <= int(key) {
		t.names = append(t.names, functionText{})
	}
	t.names[key] = text
	return &t.names[key]
}

const spaces = "                                                                "

// indentMax is how many levels lines are indented, as in internal/guest/text/text.go: of calls that are millions deep the lines would be all spaces.
const indentMax = 1000

// prefix begins a line of a goroutine at the given depth.
func (t *text) prefix(b []byte, goroutine uint64, depth int32) []byte {
	f := &t.format
	if f.seq {
		t.line++
		b = appendPadded(b, 7, func(b []byte) []byte { return strconv.AppendUint(b, t.line, 10) })
	}
	if f.wall {
		b = append(t.clock.Wall(t.now).AppendFormat(b, "15:04:05.000000Z"), ' ')
	}
	if f.elapsed {
		b = appendPadded(b, 11, func(b []byte) []byte { return appendSeconds(b, int64(t.clock.Since(t.now))) })
	}
	if goroutine != t.goroutine || len(t.name) == 0 {
		t.goroutine, t.name = goroutine, f.goroutine(t.name[:0], goroutine)
	}
	b = append(b, t.name...)
	n := 2 * min(int(depth), indentMax)
	for n > len(spaces) {
		b = append(b, spaces...)
		n -= len(spaces)
	}
	return append(b, spaces[:n]...)
}

// goroutine appends what a goroutine is called in front of a line, with spaces behind it.
func (f *format) goroutine(b []byte, goroutine uint64) []byte {
	if f.colour {
		b = append(b, "\x1b["...)
		b = strconv.AppendUint(b, 31+goroutine%6, 10)
		b = append(b, 'm')
	}
	at := len(b)
	b = strconv.AppendUint(append(b, 'G'), goroutine, 10)
	n := len(b) - at
	if f.colour {
		b = append(b, "\x1b[0m"...)
	}
	return append(b, spaces[:max(0, 4-n)+1]...)
}

// appendPadded appends what f does, and spaces up to n bytes, and another.
func appendPadded(b []byte, n int, f func([]byte) []byte) []byte {
	at := len(b)
	b = f(b)
	for len(b) < at+n {
		b = append(b, ' ')
	}
	return append(b, ' ')
}

// appendSeconds appends ns as seconds with six decimals.
func appendSeconds(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	us := ns / 1e3
	b = strconv.AppendInt(b, us/1e6, 10)
	b = append(b, '.')
	for scale := int64(1e5); scale > 0; scale /= 10 {
		b = append(b, byte('0'+us/scale%10))
	}
	return b
}

// begin shows that a call begins.
func (t *text) begin(st *stack, c *frame, e *recording.Event) {
	b, brace := t.entry(st, c, e)
	t.entryLine(st, &c.Data, b, brace)
}

// entry makes the line of a call's beginning, whose comment begins at brace.
func (t *text) entry(st *stack, c *frame, e *recording.Event) (line []byte, brace int) {
	t.now = e.Ticks
	name := t.function(c.Function)
	d := &c.Data
	b := t.prefix(t.b[:0], st.Goroutine, d.shown)
	b = append(b, name.entry...)
	if e.Kind == recording.EntryArgs && d.clause.Detail >= rule.Args {
		b = t.printer.Append(b, 0, e, name.f.Params)
	}
	b = append(b, ") {"...)
	brace = len(b)
	b = t.colour(b, "\x1b[2m")
	b = append(b, " // #"...)
	b = strconv.AppendUint(b, c.Number, 10)
	if from := &st.Data.inherited; from.function != 0 {
		b = append(b, " from G"...)
		b = strconv.AppendUint(b, st.Data.parent, 10)
		b = append(b, t.function(from.function).exit[len(" //"):]...)
		b = append(b, " #"...)
		b = strconv.AppendUint(b, from.number, 10)
		from.function = 0
	}
	if t.w.rules != nil {
		if f := t.w.rules.function(c.Function); f.suppressed != 0 {
			b = append(b, " ("...)
			b = strconv.AppendUint(b, uint64(f.suppressed), 10)
			b = append(b, " calls not shown: rate=)"...)
			f.suppressed = 0
		}
	}
	if t.format.pos {
		b = append(b, ' ')
		b = append(b, name.f.File...)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(name.f.Line), 10)
	}
	b = t.colour(b, "\x1b[0m")
	b = append(b, '\n')
	t.b = b
	return b, brace
}

func (t *text) colour(b []byte, code string) []byte {
	if t.format.colour {
		return append(b, code...)
	}
	return b
}

// entryLine prints or holds an entry line.
func (t *text) entryLine(st *stack, d *call, b []byte, brace int) {
	if d.clause.Min == 0 {
		t.release(st, len(st.Calls)-1)
		if !t.format.fold {
			t.out.lines(st.Goroutine, b)
			d.flags |= printed
			return
		}
	}
	g := st.Data.text
	if g == nil {
		g = &goroutineText{}
		st.Data.text = g
	}
	if len(g.held)+len(b) > heldMax {
		d.flags |= heldLost
		return
	}
	d.heldIn = g.text
	d.held = int32(len(g.held)) + 1
	d.heldAt = int32(len(g.held) + brace)
	g.held = append(g.held, b...)
}

// release prints the held entry lines of the calls below number depth.
func (t *text) release(st *stack, depth int) {
	g := st.Data.text
	if g == nil || len(g.held) == 0 {
		return
	}
	for i := depth - 1; i >= 0; i-- {
		d := &st.Calls[i].Data
		if d.flags&printed != 0 {
			break
		}
		if d.held != 0 {
			d.held = 0
			d.flags |= printed
		}
	}
	t.out.lines(st.Goroutine, g.held)
	g.held = g.held[:0]
	g.text++
}

// holds reports whether the entry line of a call is held. Of one that was set aside meanwhile it was printed.
func (g *goroutineText) holds(d *call) bool {
	if d.held != 0 && d.heldIn != g.text {
		d.held = 0
		d.flags |= printed
	}
	return d.held != 0
}

// releaseLong prints the held entry lines of those calls that already last as long as min= asks for.
func (t *text) releaseLong(st *stack) {
	g := st.Data.text
	if g == nil || len(g.held) == 0 {
		return
	}
	if st.Outer() > 0 {
		t.release(st, len(st.Calls)) // some of the lines are of calls that are set aside
		return
	}
	for i := range st.Calls {
		d := &st.Calls[i].Data
		if d.held != 0 && d.clause.Min > int64(t.clock.Between(st.Calls[i].Start, t.now)) {
			from := int(d.held) - 1
			kept := append([]byte(nil), g.held[from:]...)
			g.held = g.held[:from]
			t.release(st, i)
			g.held = append(g.held[:0], kept...)
			for j := i; j < len(st.Calls); j++ {
				if d := &st.Calls[j].Data; d.held != 0 {
					d.heldIn = g.text
					d.held -= int32(from)
					d.heldAt -= int32(from)
				}
			}
			return
		}
	}
	t.release(st, len(st.Calls))
}
