// Package text makes the lines of a trace from a recording.
//
// It takes the calls that package walk puts together and writes the tree of calls ([Replay],
// [View]) or lines of JSON ([JSON]) to a writer that it is given. cmd/ftrace calls it for replay,
// the live views for what comes while a program runs, diff for lines to compare, and export for
// JSON. The tables of report, graph and diff are written by it too ([Table]). It does not choose
// among calls: that is done by package walk.
package text

import (
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/decimal"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

type (
	// A Walker goes through what is shown as lines.
	Walker = walk.Walker[*Goroutine, Call]
	// A Stack is a goroutine's calls under way.
	Stack = walk.Stack[*Goroutine, Call]
	// A Frame is a call under way.
	Frame = walk.Frame[Call]
)

// tree writes the tree of calls as a program under FTRACE does: what internal/guest/text/text.go
// says of lines that are held back, folded and so on goes for this too.
type tree struct {
	r       *recording.Recording
	w       *Walker
	format  Format
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
	Add(goroutine uint64, b []byte)
}

// functionText is a function's name in lines.
type functionText struct {
	f     *recording.Function
	entry string // "+ main.f("
	exit  string // " // main.f"
}

// Goroutine is the held lines of a goroutine, nil if there never were any.
type Goroutine struct {
	held      []byte
	text      uint32 // which it is: how often what was held has been printed
	repeats   *repeatsOf
	recovered []byte // " recovered VALUE" for the exit that follows
}

// Call keeps where the line of a call under way is.
type Call struct {
	held   int32  // 1 + where its entry line begins in the goroutine's held text, 0 if it is not held
	heldAt int32  // where the part after the brace begins
	heldIn uint32 // which of the goroutine's held texts that is
	flags  uint8
}

// The flags of a call.
const (
	printed  = 1 << iota // its entry line was printed
	heldLost             // its entry line is still to be shown, but did not fit into the held text
)

const heldMax = 64 << 10

func newTree(w *Walker, f Format, out lineWriter) *tree {
	t := &tree{r: w.Recording, w: w, format: f, clock: w.Recording.Converter(), printer: w.Recording.Printer(f.Values), out: out}
	w.Begin, w.End, w.More, w.Wait = t.begin, t.end, t.more, t.wait
	w.Aside = func(st *Stack, end bool) any {
		if !end || st.Data.View == nil {
			return nil
		}
		return st.Data.View
	}
	w.Taken = func(st *Stack, said any) { st.Data.View = said.(*Goroutine) }
	return t
}

// function returns a function's name in lines.
func (t *tree) function(key uint32) *functionText {
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

// indentMax is how many levels lines are indented, as in internal/guest/text/text.go: of calls that
// are millions deep the lines would be all spaces.
const indentMax = 1000

// prefix begins a line of a goroutine at the given depth.
func (t *tree) prefix(b []byte, goroutine uint64, depth int32) []byte {
	f := &t.format
	if f.seq {
		t.line++
		b = appendPadded(b, 7, func(b []byte) []byte { return strconv.AppendUint(b, t.line, 10) })
	}
	if f.wall {
		b = append(t.clock.Wall(t.now).AppendFormat(b, "15:04:05.000000Z"), ' ')
	}
	if f.elapsed {
		b = appendPadded(b, 11, func(b []byte) []byte {
			var text decimal.Text
			return append(b, text.Fixed(int64(t.clock.Since(t.now))/1e3, 6)...)
		})
	}
	if goroutine != t.goroutine || len(t.name) == 0 {
		t.goroutine, t.name = goroutine, f.goroutine(t.name[:0], goroutine)
	}
	b = append(b, t.name...)
	return indent(b, depth)
}

// indent appends the spaces in front of a line at a depth.
func indent(b []byte, depth int32) []byte {
	n := 2 * min(int(depth), indentMax)
	for n > len(spaces) {
		b = append(b, spaces...)
		n -= len(spaces)
	}
	return append(b, spaces[:n]...)
}

// goroutine appends what a goroutine is called in front of a line, with spaces behind it.
func (f *Format) goroutine(b []byte, goroutine uint64) []byte {
	if f.Colour {
		b = append(b, "\x1b["...)
		b = strconv.AppendUint(b, 31+goroutine%6, 10)
		b = append(b, 'm')
	}
	at := len(b)
	b = strconv.AppendUint(append(b, 'G'), goroutine, 10)
	n := len(b) - at
	if f.Colour {
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

// begin shows that a call begins.
func (t *tree) begin(st *Stack, c *Frame, e *recording.Event) {
	b, brace := t.entry(st, c, e)
	t.entryLine(st, &c.Data, b, brace)
}

// entry makes the line of a call's beginning, whose comment begins at brace.
func (t *tree) entry(st *Stack, c *Frame, e *recording.Event) (line []byte, brace int) {
	t.now = e.Ticks
	name := t.function(c.Function)
	d := &c.Data
	b := t.prefix(t.b[:0], st.Goroutine, d.Shown)
	b = append(b, name.entry...)
	if e.Kind == recording.EntryArgs && d.Clause.Detail >= rule.Args {
		b = t.printer.Append(b, 0, e, name.f.Params)
	} else if c.AtEnd && len(name.f.Params) > 0 && d.Clause.Detail >= rule.Args {
		b = append(b, "..."...)
	}
	b = append(b, ") {"...)
	brace = len(b)
	b = t.colour(b, "\x1b[2m")
	b = append(b, " // #"...)
	b = strconv.AppendUint(b, c.Number, 10)
	if c.AtEnd {
		b = append(b, " at its end"...)
	}
	if from := &st.Data.Inherited; from.Function != 0 {
		b = append(b, " from G"...)
		b = strconv.AppendUint(b, st.Data.Parent, 10)
		b = append(b, t.function(from.Function).exit[len(" //"):]...)
		b = append(b, " #"...)
		b = strconv.AppendUint(b, from.Number, 10)
		from.Function = 0
	}
	if t.w.Ruled() {
		if n := t.w.Suppressed(c.Function); n != 0 {
			b = append(b, " ("...)
			b = strconv.AppendUint(b, uint64(n), 10)
			b = append(b, " calls not shown: rate=)"...)
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

// put writes a line, in the buffer for the next.
func (t *tree) put(goroutine uint64, line []byte) {
	t.b = line
	t.out.Add(goroutine, line)
}

func (t *tree) colour(b []byte, code string) []byte {
	if t.format.Colour {
		return append(b, code...)
	}
	return b
}

// entryLine prints or holds an entry line.
func (t *tree) entryLine(st *Stack, d *walk.Call[Call], b []byte, brace int) {
	if d.Clause.Min == 0 {
		t.release(st)
		if !t.format.Fold {
			t.out.Add(st.Goroutine, b)
			d.View.flags |= printed
			return
		}
	}
	g := st.Data.View
	if g == nil {
		g = &Goroutine{}
		st.Data.View = g
	}
	if len(g.held)+len(b) > heldMax {
		d.View.flags |= heldLost
		return
	}
	d.View.heldIn = g.text
	d.View.held = int32(len(g.held)) + 1
	d.View.heldAt = int32(len(g.held) + brace)
	g.held = append(g.held, b...)
}

// release prints the held entry lines. The calls that they belong to find that out by holds.
func (t *tree) release(st *Stack) {
	g := st.Data.View
	if g == nil || len(g.held) == 0 {
		return
	}
	t.out.Add(st.Goroutine, g.held)
	g.held = g.held[:0]
	g.text++
}

// holds reports whether the entry line of a call is held. If what is held has been printed since,
// it is not.
func (g *Goroutine) holds(d *walk.Call[Call]) bool {
	if d.View.held != 0 && d.View.heldIn != g.text {
		d.View.held = 0
		d.View.flags |= printed
	}
	return d.View.held != 0
}

// releaseLong prints the held entry lines of those calls that already last as long as min= asks
// for.
func (t *tree) releaseLong(st *Stack) {
	g := st.Data.View
	if g == nil || len(g.held) == 0 {
		return
	}
	if st.Outer() > 0 {
		t.release(st) // some of the lines are of calls that are set aside
		return
	}
	for i := range st.Calls {
		d := &st.Calls[i].Data
		if g.holds(d) && d.Clause.Min > int64(t.clock.Between(st.Calls[i].Start, t.now)) {
			from := int(d.View.held) - 1
			kept := append([]byte(nil), g.held[from:]...)
			g.held = g.held[:from]
			t.release(st)
			g.held = append(g.held[:0], kept...)
			for j := i; j < len(st.Calls); j++ {
				if d := &st.Calls[j].Data; d.View.held != 0 {
					d.View.heldIn = g.text
					d.View.held -= int32(from)
					d.View.heldAt -= int32(from)
				}
			}
			return
		}
	}
	t.release(st)
}
