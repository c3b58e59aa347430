// Package graph shows what calls a function and what it calls.
//
// It takes the calls that package walk puts together and counts those at the functions that are
// named, with their times, and writes a table or an object of JSON for each. cmd/ftrace calls it.
// It keeps counts, no calls.
package graph

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

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

// An edge is the calls from one function to another. Times are in ticks.
type edge struct {
	Name  string
	Calls uint64
	Total uint64
}

// neighbours is what calls a function, and what it calls.
type neighbours struct {
	calls, open   uint64
	total, self   uint64
	callers, down map[uint32]*edge
	clock         recording.Converter
}

// A Graph is what calls some functions, and what these call.
type Graph struct {
	glob      string
	functions []*recording.Function
	found     map[uint32]*neighbours
}

// Find goes through a recording and counts the calls around the functions that a GLOB of rules
// names.
func Find(from walk.Source, glob string) (*Graph, error) {
	r := from.Recording
	wanted, err := walk.Named(r, glob)
	if err != nil {
		return nil, err
	}
	found := map[uint32]*neighbours{}
	for _, f := range wanted {
		found[f.Key] = &neighbours{callers: map[uint32]*edge{}, down: map[uint32]*edge{}, clock: r.Converter()}
	}
	return &Graph{glob, wanted, found}, findNeighbours(from, found)
}

// Write writes a table for each function that was called, or an object of JSON.
func (g *Graph) Write(out io.Writer, asJSON bool) error {
	b := bufio.NewWriter(out)
	written := 0
	for _, f := range g.functions {
		n := g.found[f.Key]
		if n.calls+n.open == 0 && len(g.functions) > 1 {
			continue
		}
		if written++; written > 1 && !asJSON {
			fmt.Fprintln(b)
		}
		n.write(b, f, asJSON)
	}
	if written == 0 {
		fmt.Fprintf(b, "no function that %s names was called\n", g.glob)
	}
	return b.Flush()
}

func findNeighbours(from walk.Source, found map[uint32]*neighbours) error {
	w := walk.New[underWay, struct{}](from)
	w.Divide = true
	w.Begin = func(st *stack, c *frame, _ *recording.Event) {
		if st.Data.View == nil {
			st.Data.View = underWay{}
		}
		st.Data.View[c.Function]++
	}
	w.More = func(*stack, *frame, *recording.Event) {}
	w.End = func(st *stack, c *frame, e *recording.Event) {
		if c == nil {
			return
		}
		lasted := uint64(0)
		if e != nil {
			lasted = e.Ticks - c.Start
		}
		caller := walk.ShownCaller(st)
		// Of calls within others of the same function only the outer ones have time: what is within
		// is in that.
		total := lasted
		if st.Data.View[c.Function]--; st.Data.View[c.Function] > 0 {
			total = 0
		} else {
			delete(st.Data.View, c.Function)
		}
		if n := found[c.Function]; n != nil {
			if e == nil {
				n.open++
			} else {
				n.calls++
			}
			n.self += lasted - min(lasted, c.Data.Inner)
			n.total += total
			key := uint32(0)
			if caller != nil {
				key = caller.Function
			}
			count(n.callers, w.Recording, key, total)
		}
		if caller != nil {
			if n := found[caller.Function]; n != nil {
				count(n.down, w.Recording, c.Function, total)
			}
		}
	}
	return w.Run(nil) // what was under way at the end counts, but for time
}

func count(edges map[uint32]*edge, r *recording.Recording, key uint32, total uint64) {
	e := edges[key]
	if e == nil {
		e = &edge{Name: "(outermost)"}
		if key != 0 {
			e.Name = r.Function(key).FullName()
		}
		edges[key] = e
	}
	e.Calls++
	e.Total += total
}

// sorted returns the edges with the most time first.
func sorted(edges map[uint32]*edge) []*edge {
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
func (n *neighbours) write(out io.Writer, f *recording.Function, asJSON bool) {
	ns := func(ticks uint64) int64 { return int64(n.clock.Between(0, ticks)) }
	if asJSON {
		type jsonEdge struct {
			Function string `json:"function"`
			Calls    uint64 `json:"calls"`
			Total    int64  `json:"total"`
		}
		list := func(edges map[uint32]*edge) []jsonEdge {
			l := []jsonEdge{}
			for _, e := range sorted(edges) {
				l = append(l, jsonEdge{e.Name, e.Calls, ns(e.Total)})
			}
			return l
		}
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		enc.Encode(map[string]any{"function": f.FullName(), "calls": n.calls + n.open, "unfinished": n.open, "total": ns(n.total), "self": ns(n.self),
			"callers": list(n.callers), "callees": list(n.down)})
		return
	}
	lasted := func(ticks uint64) string { return string(recording.AppendDuration(nil, ns(ticks))) }
	table := [][]string{{"calls", "total", "called by"}}
	for _, e := range sorted(n.callers) {
		table = append(table, []string{fmt.Sprint(e.Calls), lasted(e.Total), "  " + e.Name})
	}
	table = append(table, []string{fmt.Sprint(n.calls + n.open), lasted(n.total), f.FullName() + ", itself " + lasted(n.self)})
	for _, e := range sorted(n.down) {
		table = append(table, []string{fmt.Sprint(e.Calls), lasted(e.Total), "    " + e.Name})
	}
	text.Table(out, table)
}
