package live

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
)

// WaitsOptions are how the goroutines of a program are listed.
type WaitsOptions struct {
	Rows int // the first groups; 0: all
	JSON bool
}

// Waits writes what the goroutines of the process of that number or name do, whether it was armed
// or not. Those that wait at the same place for the same thing are one group, and the largest group
// comes first.
func Waits(name string, o WaitsOptions, out io.Writer) error {
	p, err := Named(name)
	if err != nil {
		return err
	}
	groups, err := waitGroups(p)
	if closed := p.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	if o.JSON {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, g := range text.Rows(groups, o.Rows) {
			enc.Encode(g)
		}
	} else {
		writeWaitGroups(w, groups, o.Rows)
	}
	return w.Flush()
}

// waitGroup is goroutines that do the same at the same place.
type waitGroup struct {
	Does       string   `json:"does"`              // as for ftrace attach -stack, without the time
	At         string   `json:"at,omitempty"`      // function
	File       string   `json:"file,omitempty"`    // and where it is
	Line       int      `json:"line,omitempty"`    //
	Longest    int64    `json:"longest,omitempty"` // ns that one of them has waited; 0: waits were not observed when they stopped
	Goroutines []uint64 `json:"goroutines"`
	Started    string   `json:"started,omitempty"` // the function that started the first of them
}

func waitGroups(p *live.Process) ([]*waitGroup, error) {
	s, err := p.Snapshot()
	if err != nil {
		return nil, err
	}
	states, now, err := p.States()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(states, func(a, b live.State) int { return cmp.Compare(a.ID, b.ID) })
	type key struct {
		does string
		at   live.Position
	}
	byKey := map[key]*waitGroup{}
	var groups []*waitGroup
	for i := range states {
		g := &states[i]
		at := g.Place()
		k := key{does(s.Program, g), at}
		group := byKey[k]
		if group == nil {
			group = &waitGroup{Does: k.does, At: at.Function, File: at.File, Line: at.Line, Started: g.Creator}
			if g.Parent == 0 {
				group.Started = ""
			}
			byKey[k] = group
			groups = append(groups, group)
		}
		group.Goroutines = append(group.Goroutines, g.ID)
		if g.Since != 0 {
			group.Longest = max(group.Longest, int64(s.Clock.Between(g.Since, now)))
		}
	}
	slices.SortStableFunc(groups, func(a, b *waitGroup) int {
		return cmp.Or(cmp.Compare(len(b.Goroutines), len(a.Goroutines)), cmp.Compare(b.Longest, a.Longest))
	})
	return groups, nil
}

// writeWaitGroups writes a line for each group, and one that says which goroutines are in it.
func writeWaitGroups(out io.Writer, groups []*waitGroup, rows int) {
	all := 0
	for _, g := range groups {
		all += len(g.Goroutines)
	}
	fmt.Fprintf(out, "%d goroutines\n\ngoroutines   longest  what they do\n", all)
	for _, g := range text.Rows(groups, rows) {
		longest := "-"
		if g.Longest != 0 {
			longest = string(recording.AppendDuration(nil, g.Longest))
		}
		fmt.Fprintf(out, "%10d %9s  %s", len(g.Goroutines), longest, g.Does)
		if g.At != "" {
			fmt.Fprintf(out, " at %s (%s:%d)", shortName(g.At), path.Base(g.File), g.Line)
		}
		fmt.Fprintf(out, "\n%22s", "")
		for i, id := range g.Goroutines {
			if i == groupNamed {
				fmt.Fprintf(out, " and %d more", len(g.Goroutines)-i)
				break
			}
			fmt.Fprintf(out, " G%d", id)
		}
		if g.Started != "" {
			fmt.Fprintf(out, ", started by %s", shortName(g.Started))
		}
		fmt.Fprintln(out)
	}
	if n := len(groups); rows > 0 && n > rows {
		fmt.Fprintf(out, "... and %d more (-n 0 shows all)\n", n-rows)
	}
}

// groupNamed is how many goroutines of a group are named.
const groupNamed = 8
