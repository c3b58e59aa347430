// Package graph shows what calls a function and what it calls.
//
// It takes the calls that package walk puts together, of one recording or of several processes,
// counts those at the functions that are named, with their times, and writes a table or an object
// of JSON for each. cmd/ftrace calls it. It keeps counts, and of calls only the requests that one
// process made and another served.
package graph

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

type (
	stack = walk.Stack[underWay, struct{}]
	frame = walk.Frame[struct{}]
)

// underWay is how many shown calls of each function are.
type underWay map[uint32]int

// An edge is the calls from one function to another.
type edge struct {
	Name  string
	Calls uint64
	Total time.Duration
}

// neighbours is what calls a function, and what it calls.
type neighbours struct {
	name          string
	calls, open   uint64
	total, self   time.Duration
	callers, down map[string]*edge
}

// A Graph is what calls some functions, and what these call.
type Graph struct {
	glob      string
	functions []*neighbours
	byName    map[string]*neighbours
	passings  []passing
}

// A passing is a request that one process made and another served. Of one that is not shown the
// name is "".
type passing struct {
	made, served string // names of the stages
	by           int    // whose recording has the one that served it
	ticks        uint64 // how long that took
}

// Find goes through recordings and counts the calls around the functions that a GLOB of rules
// names. A request that is served within no other call is called by the one that another process
// made, as traces, which may be nil, have it.
func Find(family []walk.Source, traces *walk.Traces, glob string) (*Graph, error) {
	g := &Graph{glob: glob, byName: map[string]*neighbours{}}
	var unknown error
	for _, from := range family {
		wanted, err := walk.Named(from.Recording, glob)
		unknown = cmp.Or(unknown, err)
		for _, f := range wanted {
			name := f.FullName()
			if g.byName[name] == nil {
				n := &neighbours{name: name, callers: map[string]*edge{}, down: map[string]*edge{}}
				g.byName[name] = n
				g.functions = append(g.functions, n)
			}
		}
	}
	if len(g.functions) == 0 {
		return nil, unknown
	}
	sides := make([]sides, len(family))
	if traces != nil {
		for _, p := range traces.Passings() {
			sides[p.Made.Recording].made.add(p.Made, len(g.passings))
			sides[p.Served.Recording].served.add(p.Served, len(g.passings))
			g.passings = append(g.passings, passing{by: p.Served.Recording})
		}
	}
	for i, from := range family {
		if i > 0 {
			from.Progress = nil // one is enough
		}
		if err := g.count(from, sides[i]); err != nil {
			return g, err
		}
	}
	alike := map[passing]*counts{} // without their times
	for _, p := range g.passings {
		ticks := p.ticks
		if p.ticks = 0; alike[p] == nil {
			alike[p] = &counts{}
		}
		alike[p].calls++
		alike[p].total += ticks
	}
	for p, c := range alike {
		if p.served != "" {
			clock := family[p.by].Recording.Converter()
			g.add(p.made, p.served, c.calls, time.Duration(clock.Between(0, c.total)))
		}
	}
	return g, nil
}

// Write writes a table for each function that was called, or an object of JSON.
func (g *Graph) Write(out io.Writer, asJSON bool) error {
	b := bufio.NewWriter(out)
	written := 0
	for _, n := range g.functions {
		if n.calls+n.open == 0 && len(g.functions) > 1 {
			continue
		}
		if written++; written > 1 && !asJSON {
			fmt.Fprintln(b)
		}
		n.write(b, asJSON)
	}
	if written == 0 {
		fmt.Fprintf(b, "no function that %s names was called\n", g.glob)
	}
	return b.Flush()
}

// sides are the requests of a recording that went to or came from another process: the indexes of
// their passings.
type sides struct{ made, served places }

// places has indexes of passings by where the calls began.
type places map[place]int

type place struct {
	goroutine, ticks uint64
	depth            int
}

func (p *places) add(at walk.Passed, passing int) {
	if *p == nil {
		*p = places{}
	}
	(*p)[place{at.Goroutine, at.Ticks, at.Depth}] = passing
}

// of returns the index of the passing that a call is a side of, -1 if there is none.
func (p places) of(st *stack, c *frame) int {
	if len(p) > 0 {
		if i, ok := p[place{st.Goroutine, c.Start, int(c.Depth)}]; ok {
			return i
		}
	}
	return -1
}

// counts are of a function's calls, or of those from one function to another. Times are in ticks.
type counts struct{ calls, open, total, self uint64 }

// An arc is from a function to another, by their keys. 0: the call was an outermost one.
type arc struct{ caller, function uint32 }

// count goes through a recording.
func (g *Graph) count(from walk.Source, requests sides) error {
	r := from.Recording
	clock := r.Converter()
	lasted := func(ticks uint64) time.Duration { return time.Duration(clock.Between(0, ticks)) }
	wanted, _ := walk.Named(r, g.glob) // none: another recording has them
	functions, arcs := map[uint32]*counts{}, map[arc]*counts{}
	for _, f := range wanted {
		functions[f.Key] = &counts{}
	}
	w := walk.New[underWay, struct{}](from)
	w.Divide = true
	w.Begin = func(st *stack, c *frame, _ *recording.Event) {
		if st.Data.View == nil {
			st.Data.View = underWay{}
		}
		st.Data.View[c.Function]++
		if i := requests.made.of(st, c); i >= 0 {
			g.passings[i].made = r.Function(c.Function).FullName()
		}
	}
	w.More = func(*stack, *frame, *recording.Event) {}
	w.End = func(st *stack, c *frame, e *recording.Event) {
		if c == nil {
			return
		}
		took := uint64(0)
		if e != nil {
			took = e.Ticks - c.Start
		}
		// Of calls within others of the same function only the outer ones have time: what is within
		// is in that.
		total := took
		if st.Data.View[c.Function]--; st.Data.View[c.Function] > 0 {
			total = 0
		} else {
			delete(st.Data.View, c.Function)
		}
		f := functions[c.Function]
		if f != nil {
			if e == nil {
				f.open++
			} else {
				f.calls++
			}
			f.self += took - min(took, c.Data.Inner)
			f.total += total
		}
		at := arc{function: c.Function}
		if caller := walk.ShownCaller(st); caller != nil {
			at.caller = caller.Function
		} else if i := requests.served.of(st, c); i >= 0 {
			g.passings[i].served, g.passings[i].ticks = r.Function(c.Function).FullName(), total
			return
		}
		if f == nil && functions[at.caller] == nil {
			return
		}
		if arcs[at] == nil {
			arcs[at] = &counts{}
		}
		arcs[at].calls++
		arcs[at].total += total
	}
	err := w.Run(nil) // what was under way at the end counts, but for time
	for key, c := range functions {
		n := g.byName[r.Function(key).FullName()]
		n.calls += c.calls
		n.open += c.open
		n.total += lasted(c.total)
		n.self += lasted(c.self)
	}
	for at, c := range arcs {
		caller := ""
		if at.caller != 0 {
			caller = r.Function(at.caller).FullName()
		}
		g.add(caller, r.Function(at.function).FullName(), c.calls, lasted(c.total))
	}
	return err
}

// add adds calls from a function, "" if they were outermost ones, to another.
func (g *Graph) add(caller, function string, calls uint64, total time.Duration) {
	if n := g.byName[function]; n != nil {
		add(n.callers, cmp.Or(caller, "(outermost)"), calls, total)
	}
	if n := g.byName[caller]; n != nil {
		add(n.down, function, calls, total)
	}
}

func add(edges map[string]*edge, name string, calls uint64, total time.Duration) {
	if edges[name] == nil {
		edges[name] = &edge{Name: name}
	}
	edges[name].Calls += calls
	edges[name].Total += total
}

// sorted returns the edges with the most time first.
func sorted(edges map[string]*edge) []*edge {
	var list []*edge
	for _, e := range edges {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *edge) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// write writes the callers, the function, and its callees.
func (n *neighbours) write(out io.Writer, asJSON bool) {
	if asJSON {
		type jsonEdge struct {
			Function string        `json:"function"`
			Calls    uint64        `json:"calls"`
			Total    time.Duration `json:"total"`
		}
		list := func(edges map[string]*edge) []jsonEdge {
			l := []jsonEdge{}
			for _, e := range sorted(edges) {
				l = append(l, jsonEdge{e.Name, e.Calls, e.Total})
			}
			return l
		}
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		enc.Encode(map[string]any{"function": n.name, "calls": n.calls + n.open, "unfinished": n.open, "total": n.total, "self": n.self,
			"callers": list(n.callers), "callees": list(n.down)})
		return
	}
	lasted := func(d time.Duration) string { return string(recording.AppendDuration(nil, int64(d))) }
	table := [][]string{{"calls", "total", "called by"}}
	for _, e := range sorted(n.callers) {
		table = append(table, []string{fmt.Sprint(e.Calls), lasted(e.Total), "  " + e.Name})
	}
	table = append(table, []string{fmt.Sprint(n.calls + n.open), lasted(n.total), n.name + ", itself " + lasted(n.self)})
	for _, e := range sorted(n.down) {
		table = append(table, []string{fmt.Sprint(e.Calls), lasted(e.Total), "    " + e.Name})
	}
	text.Table(out, table)
}
