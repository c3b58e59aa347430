package live

import (
	"path"
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
)

// Waiting returns what the goroutines of the process do now, and who waits for whom. From the first
// time on the process notes who holds which lock, as long as the session lasts.
func (s *Session) Waiting() (graph *text.WaitGraph, err error) {
	err = s.Ask(func(p *live.Process) error {
		if !s.holders {
			if err := p.Want(0, live.LockHolders); err != nil {
				return err
			}
			s.holders = true
		}
		groups, w, err := waitGroups(p)
		if err == nil {
			graph = newGraph(groups, w)
		}
		return err
	})
	return graph, err
}

func newGraph(groups []*waitGroup, w *waiters) *text.WaitGraph {
	graph := &text.WaitGraph{Cycles: w.cycles()}
	for _, g := range fold(groups) {
		at := ""
		if g.At != "" {
			at = funcname.Short(g.At) + " (" + path.Base(g.File) + ":" + strconv.Itoa(g.Line) + ")"
		}
		if g.Within != "" {
			at += ", in " + g.Within
		}
		to := text.WaitGroup{Does: g.Does, At: at, Longest: g.longest(), AtLeast: g.Least > g.Longest, Stuck: g.Stuck, For: w.awaits(g.Goroutines[0]), More: g.HeldBy}
		if g.Other != "" {
			to.More = append(to.More, g.Other)
		}
		graph.Add(to, g.Goroutines)
	}
	return graph
}
