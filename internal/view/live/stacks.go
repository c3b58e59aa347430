package live

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
)

// showStacks writes each goroutine's last calls, those that it is in, and what it does. Who began
// first comes first: goroutines' numbers do not say that. Those that have called no armed function
// follow, with the calls that are on their stacks.
func showStacks(p *live.Process, f text.Format, out, warn io.Writer) error {
	s, err := p.Snapshot(0)
	if err != nil {
		return err
	}
	now, who, err := whoWaits(p, s)
	if err != nil {
		return err
	}
	if len(s.Goroutines) == 0 {
		fmt.Fprintln(warn, "ftrace: attach: no goroutine has called an armed function, so no parameters are known: ftrace attach -arm arms functions")
	}
	w := bufio.NewWriter(out)
	v := &stackView{p: p, s: s, printer: s.Program.Printer(f.Values), out: w, who: who, now: now}
	slices.SortStableFunc(s.Goroutines, func(a, b live.Goroutine) int { return cmp.Compare(earliest(&a), earliest(&b)) })
	shown := map[uint64]bool{}
	for i := range s.Goroutines {
		if g := &s.Goroutines[i]; len(g.Stack)+len(g.History) > 0 {
			v.goroutine(g)
			shown[g.ID] = true
		}
	}
	for i := range who.states {
		if g := &who.states[i]; !shown[g.ID] {
			v.state(g)
		}
	}
	return w.Flush()
}

// earliest returns the ticks when a goroutine's first call that is shown began.
func earliest(g *live.Goroutine) uint64 {
	ticks := uint64(math.MaxUint64)
	for i := range g.History {
		ticks = min(ticks, g.History[i].Start)
	}
	for _, c := range g.Stack {
		ticks = min(ticks, c.Start)
	}
	return ticks
}

// stackView writes goroutines.
type stackView struct {
	p       *live.Process
	s       *live.Snapshot
	printer *recording.Printer
	out     *bufio.Writer
	b       []byte
	who     *waiters
	now     uint64 // ticks of the list of goroutines
}

// state writes a goroutine that has called no armed function.
func (v *stackView) state(g *live.State) {
	fmt.Fprintf(v.out, "G%d", g.ID)
	if g.Parent != 0 {
		fmt.Fprintf(v.out, ", started by G%d in %s", g.Parent, funcname.Short(g.Creator))
	}
	fmt.Fprintf(v.out, ", %s\n", v.does(g))
	left := stateCalls
	for _, c := range g.Calls {
		if pkg, name := funcname.Split(c.Function); name != "" && pkg != "runtime" && left > 0 {
			left--
			fmt.Fprintf(v.out, "    %s %s:%d\n", funcname.Short(c.Function), path.Base(c.File), c.Line)
		}
	}
}

// stateCalls is how many calls are shown of a goroutine that has called no armed function.
const stateCalls = 8

// does says what a goroutine does, and for how long it has waited.
func (v *stackView) does(g *live.State) string {
	what := v.who.does(g)
	if g.Since != 0 {
		what += " for " + v.lasted(g.Since, max(g.Since, v.now)) // it may have stopped since the list was begun
	} else if g.Least != 0 {
		what += " for more than " + string(recording.AppendDuration(nil, int64(g.Least)))
	}
	return what
}

func (v *stackView) goroutine(g *live.Goroutine) {
	fmt.Fprintf(v.out, "G%d", g.ID)
	if g.Parent != 0 {
		fmt.Fprintf(v.out, ", started by G%d in %s #%d", g.Parent, v.s.Program.Function(g.ParentFn).ShortName(), g.ParentCall)
	}
	if state := v.who.goroutine(g.ID); state != nil {
		fmt.Fprintf(v.out, ", %s", v.does(state))
	}
	fmt.Fprintln(v.out)
	for i := range g.History {
		c := &g.History[i]
		v.indent(c.Depth)
		v.call(c.Function, c.Count, c.Entry)
		fmt.Fprintf(v.out, "}%s // %s\n", v.outcome(c), v.lasted(c.Start, c.End))
	}
	for i, c := range g.Stack {
		if v.s.Program.Function(c.Function).Wait {
			continue // the first line says so
		}
		v.indent(i)
		v.call(c.Function, c.Count, c.Entry)
		fmt.Fprintf(v.out, " // for %s\n", recording.AppendDuration(nil, int64(v.s.Clock.Between(c.Start, v.s.Latest))))
	}
}

func (v *stackView) indent(depth int) {
	fmt.Fprintf(v.out, "%*s+ ", 2+2*depth, "")
}

// call writes a call's name, parameters if they are still in the rings, and number.
func (v *stackView) call(key uint32, count uint64, entry live.Place) {
	f := v.s.Program.Function(key)
	values := "..."
	var e recording.Event
	if v.p.Event(entry, key, &e) && e.Enters() {
		values = ""
		if e.Kind == recording.EntryArgs {
			v.b = v.printer.Append(v.b[:0], 0, &e, f.Params)
			values = string(v.b)
		}
	}
	fmt.Fprintf(v.out, "%s(%s) #%d {", f.ShortName(), values, count)
}

// outcome says how a call ended.
func (v *stackView) outcome(c *live.Call) string {
	var e recording.Event
	switch {
	case c.Goexit:
		return " Goexit"
	case c.Panicked && v.p.Event(c.Exit, c.Function, &e) && e.Kind == recording.ExitPanic:
		return string(v.printer.AppendPanic([]byte(" panic "), 0, &e))
	case c.Panicked:
		return " panic"
	case v.p.Event(c.Exit, c.Function, &e) && e.Kind == recording.ExitResults:
		return string(v.printer.Append([]byte(" = "), 0, &e, v.s.Program.Function(c.Function).Results))
	case c.Failed:
		return " error"
	}
	return ""
}

func (v *stackView) lasted(start, end uint64) string {
	if start == 0 {
		return "untimed"
	}
	return string(recording.AppendDuration(nil, int64(v.s.Clock.Between(start, end))))
}
