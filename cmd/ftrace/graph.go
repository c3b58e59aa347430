package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

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

// graphCommand is "ftrace graph [FLAGS] FUNC [DIR]".
func graphCommand(args []string) int {
	o := newOptions("graph")
	args, err := o.parse(args)
	if err != nil {
		return fail("graph", err)
	}
	switch {
	case len(args) == 0:
		return fail("graph", usagef("which function?"))
	case len(args) == 1 && isRecording(args[0]):
		return fail("graph", usagef("which function of %s?", args[0]))
	}
	r, err := o.open(args[1:])
	if err != nil {
		return fail("graph", err)
	}
	wanted, err := functionsNamed(r, args[0])
	if err != nil {
		return fail("graph", err)
	}
	w, err := o.walker(r)
	if err != nil {
		return fail("graph", err)
	}
	found := map[uint32]*neighbours{}
	for _, f := range wanted {
		found[f.Key] = &neighbours{callers: map[uint32]*edge{}, down: map[uint32]*edge{}, clock: r.Converter()}
	}
	err = findNeighbours(w, o.window(r), found)
	complain(r, nil)
	if err != nil {
		return fail("graph", err)
	}
	out := o.output()
	defer out.close()
	b := bufio.NewWriter(out)
	written := 0
	for _, f := range wanted {
		n := found[f.Key]
		if n.calls+n.open == 0 && len(wanted) > 1 {
			continue
		}
		if written++; written > 1 && !o.json {
			fmt.Fprintln(b)
		}
		n.write(b, f, o.json)
	}
	if written == 0 {
		fmt.Fprintf(b, "no function that %s names was called\n", args[0])
	}
	if err := b.Flush(); err != nil {
		return fail("graph", err)
	}
	return 0
}

// functionsNamed returns the functions that a GLOB of rules names.
func functionsNamed(r *recording.Recording, glob string) ([]*recording.Function, error) {
	var list []*recording.Function
	for _, f := range r.Functions() {
		if rule.MatchFunc(glob, &rule.Func{Probe: f.Probe, Package: f.Package, ImportPath: f.ImportPath, Name: f.Name, File: f.File, Line: f.Line}) {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s names no function of the recording (ftrace report lists those that were called)", glob)
	}
	return list, nil
}

func findNeighbours(w *walker, window recording.Window, found map[uint32]*neighbours) error {
	w.begin = func(*stack, *frame, *recording.Event) {}
	w.more = func(*stack, *frame, *recording.Event) {}
	w.end = func(st *stack, c *frame, e *recording.Event) {
		if c == nil {
			return
		}
		lasted := uint64(0)
		if e != nil {
			lasted = e.Ticks - c.Start
		}
		caller := shownCaller(st)
		// Of calls within others of the same function only the outer ones have time: what is within is in that.
		within := isWithin(st)
		total := lasted
		if within {
			total = 0
		}
		if n := found[c.Function]; n != nil {
			if e == nil {
				n.open++
			} else {
				n.calls++
			}
			n.self += lasted - min(lasted, c.Data.inner)
			n.total += total
			key := uint32(0)
			if caller != nil {
				key = caller.Function
			}
			count(n.callers, w.r, key, total)
		}
		if caller != nil {
			if n := found[caller.Function]; n != nil {
				count(n.down, w.r, c.Function, total)
			}
		}
	}
	s := w.events(window)
	defer s.Close()
	for e := s.Next(); e != nil; e = s.Next() {
		w.event(e)
	}
	// What was under way at the end counts, but for time.
	for _, st := range w.stacks.Every() {
		for len(st.Calls) > 0 {
			if c := &st.Calls[len(st.Calls)-1]; c.Data.clause.shown && !st.Data.hidden {
				w.end(st, c, nil)
			}
			st.Pop()
		}
	}
	return s.Err()
}

// isWithin reports whether the innermost call is within another one of the same function. In a recursion that is nearly always near.
func isWithin(st *stack) bool {
	n := len(st.Calls) - 1
	function := st.Calls[n].Function
	for i := n - 1; i >= 0; i-- {
		if st.Calls[i].Function == function {
			return true
		}
	}
	return st.OuterCalls(function) > 0
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
	text := func(ticks uint64) string { return string(recording.AppendDuration(nil, ns(ticks))) }
	table := [][]string{{"calls", "total", "called by"}}
	for _, e := range sorted(n.callers) {
		table = append(table, []string{fmt.Sprint(e.Calls), text(e.Total), "  " + e.Name})
	}
	table = append(table, []string{fmt.Sprint(n.calls + n.open), text(n.total), f.FullName() + ", itself " + text(n.self)})
	for _, e := range sorted(n.down) {
		table = append(table, []string{fmt.Sprint(e.Calls), text(e.Total), "    " + e.Name})
	}
	writeTable(out, table)
}
