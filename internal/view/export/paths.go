package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A path is a function called from a path: all calls that have the same functions around them.
type path struct {
	parent   *path
	function uint32
	calls    uint64
	self     uint64 // ticks
	children map[uint32]*path
}

func (p *path) child(function uint32) *path {
	c := p.children[function]
	if c == nil {
		c = &path{parent: p, function: function}
		if p.children == nil {
			p.children = map[uint32]*path{}
		}
		p.children[function] = c
	}
	return c
}

// pathMax is how many functions a path has. Calls further in count for paths that end at that
// depth: each of the millions of calls of a stack overflow would have a path of its own, which
// nothing could draw.
const pathMax = 1000

// paths returns the root of the paths of all calls.
func paths(from walk.Source) (*path, error) {
	w := walk.New[struct{}, struct{}](from)
	w.Divide = true
	root := &path{}
	type place struct {
		*path
		depth int // of the innermost shown call
	}
	at := map[uint64]*place{} // by goroutine
	w.Begin = func(st *stack, c *frame, e *recording.Event) {
		p := at[st.Goroutine]
		if p == nil {
			p = &place{path: root}
			at[st.Goroutine] = p
		}
		if p.depth++; p.depth > pathMax {
			p.path = p.parent
		}
		p.path = p.child(c.Function)
	}
	w.End = func(st *stack, c *frame, e *recording.Event) {
		p := at[st.Goroutine]
		if c == nil || p == nil {
			return
		}
		p.calls++
		if e != nil {
			lasted := e.Ticks - c.Start
			p.self += lasted - min(lasted, c.Data.Inner)
		}
		switch p.depth--; {
		case p.depth == 0:
			delete(at, st.Goroutine)
		case p.depth < pathMax:
			p.path = p.parent
		default:
			if caller := walk.ShownCaller(st); caller != nil {
				p.path = p.parent.child(caller.Function)
			}
		}
	}
	w.More = func(*stack, *frame, *recording.Event) {}
	err := w.Run(nil)
	return root, err
}

// visit calls f for each path below p, in the order of their functions' names.
func (p *path) visit(r *recording.Recording, f func(*path)) {
	var list []*path
	for _, c := range p.children {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *path) int {
		return cmp.Compare(r.Function(a.function).FullName(), r.Function(b.function).FullName())
	})
	for _, c := range list {
		f(c)
		c.visit(r, f)
	}
}

// functions returns the functions of a path, the outermost first.
func (p *path) functions() []uint32 {
	var list []uint32
	for ; p.parent != nil; p = p.parent {
		list = append(list, p.function)
	}
	slices.Reverse(list)
	return list
}

// exportFolded writes a line for each path: its functions and its own time in ns, for flamegraph.pl
// and others.
func exportFolded(from walk.Source, out *output) error {
	root, err := paths(from)
	if err != nil {
		return err
	}
	r := from.Recording
	clock := r.Converter()
	root.visit(r, func(p *path) {
		if ns := int64(clock.Between(0, p.self)); ns > 0 {
			var names []string
			for _, key := range p.functions() {
				names = append(names, escape.String(strings.ReplaceAll(r.Function(key).FullName(), ";", ":")))
			}
			fmt.Fprintf(out, "%s %d\n", strings.Join(names, ";"), ns)
		}
	})
	return nil
}
