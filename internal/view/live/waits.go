package live

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
)

// WaitsOptions are how the goroutines of a program are listed.
type WaitsOptions struct {
	Rows  int // the first groups; 0: all
	JSON  bool
	Stuck time.Duration // how long the program may be stopped to find what nothing can wake; 0: it is not
	Locks time.Duration // how long locks are observed before; 0: only if others have that done
	Warn  io.Writer
}

// Waits writes what the goroutines of the process of that number or name do, whether it was armed
// or not. Those that wait at the same place for the same thing are one group, and the largest group
// comes first.
func Waits(name string, o WaitsOptions, out io.Writer) error {
	p, err := Named(name)
	if err != nil {
		return err
	}
	if o.Locks > 0 {
		err = observeLocks(p, o.Locks)
	}
	if err == nil && o.Stuck > 0 {
		err = findStuck(p, o.Stuck, o.Warn)
	}
	var groups []*waitGroup
	var w *waiters
	if err == nil {
		groups, w, err = waitGroups(p)
	}
	if closed := p.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	b := bufio.NewWriter(out)
	if o.JSON {
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		for _, ids := range w.cycles() {
			c := cycle{Cycle: ids}
			for _, id := range ids {
				c.Waits = append(c.Waits, w.waitAt(w.goroutine(id)))
			}
			enc.Encode(c)
		}
		for _, g := range text.Rows(groups, o.Rows) {
			enc.Encode(g)
		}
		w.locks.json(enc)
	} else {
		text.WriteCycles(b, w.cycles(), func(id uint64) string { return w.waitAt(w.goroutine(id)) })
		if o.Rows > 0 {
			groups = fold(groups)
		}
		writeWaitGroups(b, groups, o.Rows)
		w.locks.write(b, o.Rows)
	}
	return b.Flush()
}

// observeLocks has the program note who holds which lock from now on until p is closed, and waits.
func observeLocks(p *live.Process, long time.Duration) error {
	if err := p.Begin(); err != nil {
		return err
	}
	if err := p.Want(0, live.LockHolders); err != nil {
		return err
	}
	time.Sleep(long)
	return nil
}

// findStuck has the program find the goroutines that nothing can wake any more.
func findStuck(p *live.Process, limit time.Duration, warn io.Writer) error {
	search, err := p.Stuck(limit)
	if err != nil {
		return err
	}
	took := recording.AppendDuration(nil, int64(search.Took))
	if search.Late {
		fmt.Fprintf(warn, "ftrace: waits: the search for goroutines that nothing can wake was given up after %s: allow more with -stuck\n", took)
	} else {
		fmt.Fprintf(warn, "ftrace: waits: the program was stopped for %s to find goroutines that nothing can wake\n", took)
	}
	return nil
}

// waitGroup is goroutines that do the same at the same place.
type waitGroup struct {
	Does       string   `json:"does"`               // as for ftrace attach -stack, without the time
	Stuck      bool     `json:"stuck,omitempty"`    // nothing can wake them any more
	HeldBy     []string `json:"held_by,omitempty"`  // who holds the lock that they wait for, and what those wait for
	Other      string   `json:"other,omitempty"`    // what there is to say of the other side of the channel that they wait for
	At         string   `json:"at,omitempty"`       // function
	File       string   `json:"file,omitempty"`     // and where it is
	Line       int      `json:"line,omitempty"`     //
	Within     string   `json:"within,omitempty"`   // the innermost call of the program's own, unless that is where it is
	Longest    int64    `json:"longest,omitempty"`  // ns that one of them has waited; 0: waits were not observed when they stopped
	Least      int64    `json:"at_least,omitempty"` // ns that one of the others has waited at least; 0: not known
	Goroutines []uint64 `json:"goroutines"`
	Started    string   `json:"started,omitempty"` // the function that started the first of them

	unknown bool // what they wait for was not looked at, since it is not one of the first, see live.Objects
}

func waitGroups(p *live.Process) ([]*waitGroup, *waiters, error) {
	s, err := p.Snapshot(0)
	if err != nil {
		return nil, nil, err
	}
	now, w, err := whoWaits(p, s)
	if err != nil {
		return nil, nil, err
	}
	type key struct {
		does   string
		at     live.Position
		within string
	}
	own := ownPackages(s.Program)
	byKey := map[key]*waitGroup{}
	var groups []*waitGroup
	groupOf := func(g *live.State) *waitGroup {
		at := g.Place()
		k := key{w.does(g), at, own.within(g, at)}
		group := byKey[k]
		if group == nil {
			group = &waitGroup{Does: k.does, Stuck: g.Stuck, HeldBy: w.heldBy(g), Other: w.other(g), At: at.Function, File: at.File, Line: at.Line, Within: k.within, Started: g.Creator,
				unknown: g.Object != 0 && w.objects[g.Object] == nil}
			if g.Parent == 0 {
				group.Started = ""
			}
			byKey[k] = group
			groups = append(groups, group)
		}
		return group
	}
	// Goroutines that have all this in common are in one group: no texts are made for each of them.
	type alike struct {
		stack  *live.Stack
		status live.Status
		kind   uint32
		stuck  bool
		object uint64
	}
	byAlike := map[alike]*waitGroup{}
	for i := range w.states {
		g := &w.states[i]
		var group *waitGroup
		if len(g.Objects) > 1 {
			group = groupOf(g)
		} else {
			k := alike{g.Stack, g.Status, g.Kind, g.Stuck, g.Object}
			if group = byAlike[k]; group == nil {
				group = groupOf(g)
				byAlike[k] = group
			}
		}
		group.Goroutines = append(group.Goroutines, g.ID)
		if g.Since != 0 {
			group.Longest = max(group.Longest, int64(s.Clock.Between(g.Since, now)))
		}
		group.Least = max(group.Least, int64(g.Least))
	}
	sortGroups(groups)
	return groups, w, nil
}

// sortGroups puts the groups that are stuck first, and then the largest.
func sortGroups(groups []*waitGroup) {
	first := func(g *waitGroup) int {
		if g.Stuck {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(groups, func(a, b *waitGroup) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(len(b.Goroutines), len(a.Goroutines)), cmp.Compare(b.longest(), a.longest()))
	})
}

// longest returns for how many ns one of them has waited, at least.
func (g *waitGroup) longest() int64 { return max(g.Longest, g.Least) }

// foldedFrom is how many groups of one goroutine each, which differ in what they wait for alone,
// become one.
const foldedFrom = 4

// fold makes one group of those that differ in what they wait for alone, such as connections: each
// goroutine has its own. Those that wait for a lock stay, since its holder is told with them. Those
// of which it is not known what there is to say of the other side join others.
func fold(groups []*waitGroup) []*waitGroup {
	type key struct {
		does, file, within string
		line               int
		stuck              bool
	}
	type keyOther struct {
		key
		other string
	}
	others := map[key]string{} // what is said of the first of the others
	keyOf := func(g *waitGroup) (k keyOther, ok bool) {
		does, _, object := strings.Cut(g.Does, "(")
		k = keyOther{key{does, g.File, g.Within, g.Line, g.Stuck}, g.Other}
		if g.unknown {
			k.other = others[k.key]
		}
		return k, object && len(g.Goroutines) == 1 && len(g.HeldBy) == 0
	}
	for _, g := range groups {
		if k, ok := keyOf(g); ok && !g.unknown && others[k.key] == "" {
			others[k.key] = g.Other
		}
	}
	alike := map[keyOther][]*waitGroup{}
	for _, g := range groups {
		if k, ok := keyOf(g); ok {
			alike[k] = append(alike[k], g)
		}
	}
	var folded []*waitGroup
	for _, g := range groups {
		k, ok := keyOf(g)
		of := alike[k]
		switch {
		case !ok || len(of) < foldedFrom:
			folded = append(folded, g)
		case g == of[0]:
			one := *g
			if i := slices.IndexFunc(of, func(g *waitGroup) bool { return !g.unknown }); i >= 0 {
				one = *of[i]
			}
			one.Does = fmt.Sprintf("%s, and %d more)", strings.TrimSuffix(one.Does, ")"), len(of)-1)
			one.Goroutines, one.Other = nil, k.other
			some := false
			for _, other := range of {
				one.Goroutines = append(one.Goroutines, other.Goroutines...)
				one.Longest, one.Least = max(one.Longest, other.Longest), max(one.Least, other.Least)
				some = some || other.unknown
			}
			if some && one.Other != "" {
				one.Other += ", as far as they were looked at"
			}
			slices.Sort(one.Goroutines)
			folded = append(folded, &one)
		}
	}
	sortGroups(folded)
	return folded
}

// packages are those whose functions have hooks: the program's own, unless more were chosen.
type packages map[string]bool

func ownPackages(program *recording.Recording) packages {
	own := packages{}
	for _, f := range program.Functions() {
		if !f.Probe && !f.Wait && !f.Span {
			own[f.Package] = true
		}
	}
	return own
}

// within returns the innermost call of one of the packages, "" if there is none, or it is at.
func (own packages) within(g *live.State, at live.Position) string {
	for _, c := range g.Calls {
		if pkg, _ := funcname.Split(c.Function); !own[pkg] {
			continue
		}
		if c == at {
			break
		}
		return where(c)
	}
	return ""
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
		if g.longest() != 0 {
			longest = string(recording.AppendDuration(nil, g.longest()))
		}
		if g.Least > g.Longest {
			longest = ">" + longest
		}
		fmt.Fprintf(out, "%10d %9s  %s", len(g.Goroutines), longest, g.Does)
		if g.At != "" {
			fmt.Fprintf(out, " at %s (%s:%d)", funcname.Short(g.At), path.Base(g.File), g.Line)
		}
		if g.Within != "" {
			fmt.Fprint(out, ", in ", g.Within)
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
			fmt.Fprintf(out, ", started by %s", funcname.Short(g.Started))
		}
		fmt.Fprintln(out)
		for _, by := range append(g.HeldBy, g.Other) {
			if by != "" {
				fmt.Fprintf(out, "%22s %s\n", "", by)
			}
		}
	}
	if n := len(groups); rows > 0 && n > rows {
		fmt.Fprintf(out, "... and %d more (-n 0 shows all)\n", n-rows)
	}
}

// groupNamed is how many goroutines of a group are named.
const groupNamed = 8
