package waits

import (
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
)

// Graph returns what goroutines waited for at the end of the recording, and who waited for whom.
func (ws *Waits) Graph() *text.WaitGraph {
	graph := &text.WaitGraph{Cycles: ws.cycles()}
	if !ws.any {
		graph.Notes = []string{"the recording has no waits: FTRACE='...;wait/*' records them"}
	}
	waiting, silent := ws.still()
	ns := func(ticks uint64) int64 { return int64(ws.clock.Between(0, ticks)) }
	ws.eachGroup(waiting, func(g *goroutine, all []uint64) {
		w := g.open()
		to := text.WaitGroup{Does: "waiting: " + strings.TrimSuffix(ws.awaits(g), " at "+ws.siteName(w.site)), At: ws.within(g, ws.siteName(w.site)), Longest: ns(w.end - w.begin), More: ws.heldBy(g)}
		for _, h := range g.holders() {
			to.For = append(to.For, h.Goroutine)
		}
		graph.Add(to, all)
	})
	ws.eachGroup(silent, func(g *goroutine, all []uint64) {
		graph.Add(text.WaitGroup{Does: "silent: it runs, or waits for what was not recorded", At: ws.within(g, ""), Longest: ns(ws.last - g.last)}, all)
	})
	return graph
}

// within returns a place, and the call that a goroutine is in.
func (ws *Waits) within(g *goroutine, at string) string {
	if len(g.under) == 0 {
		return at
	}
	if at != "" {
		at += ", "
	}
	return at + "in " + ws.callName(g.under[len(g.under)-1])
}

// eachGroup calls f with the first of goroutines that are in the same functions and wait for the
// same, and with the numbers of all of them.
func (ws *Waits) eachGroup(list []*goroutine, f func(g *goroutine, all []uint64)) {
	var firsts []*goroutine
	groups := map[string][]uint64{}
	for _, g := range list {
		path := ws.path(g)
		if groups[path] == nil {
			firsts = append(firsts, g)
		}
		groups[path] = append(groups[path], g.id)
	}
	for _, g := range firsts {
		all := groups[ws.path(g)]
		slices.Sort(all)
		f(g, all)
	}
}
