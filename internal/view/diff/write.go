package diff

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Write writes the divergences and the summary.
func (d *Comparison) Write(out io.Writer, o Options) error {
	b := bufio.NewWriter(out)
	if o.JSON {
		d.writeJSON(b, o.Rows)
	} else {
		d.write(b, o.Rows)
	}
	return b.Flush()
}

// sides returns the recordings whose divergences are shown.
func (d *Comparison) sides() [2]*side { return [2]*side{d.a, d.b} }

func (d *Comparison) write(out io.Writer, rows int) {
	if len(d.found) > 0 && d.Same() {
		fmt.Fprint(out, d.quiet()+"\n\n")
	}
	if len(d.found) > 0 {
		d.writeFirst(out, &d.found[0])
	}
	if more := text.Rows(d.found[min(1, len(d.found)):], rows); len(more) > 0 {
		fmt.Fprintln(out, "Other goroutines that differ, the most surprising and earliest first:")
		table := [][]string{{"after", "goroutine", ""}}
		for i := range more {
			x := &more[i]
			table = append(table, []string{string(recording.AppendDuration(nil, int64(x.spot().since))), fmt.Sprintf("G%d", x.goroutine().id), d.what(x) + x.excuse()})
		}
		text.Table(out, table)
		if left := len(d.found) - len(table); left > 0 {
			fmt.Fprintf(out, "and %d more (-n 0 shows all)\n", left)
		}
		fmt.Fprintln(out)
	}
	d.writeSummary(out, rows)
}

// excuse says why a divergence comes to nothing, "" if it may matter.
func (x *divergence) excuse() string {
	switch {
	case x.usual:
		return ", where good runs differ too"
	case x.slight:
		return ", and the tests pass"
	}
	return ""
}

// quiet says why runs that differ are taken to be the same.
func (d *Comparison) quiet() string {
	if n := odd(d.found); n > 0 {
		return fmt.Sprintf("The tests passed, and the runs differ no more than by chance: in %s, good ones from each other in up to %d.", words.Count(n, "goroutine"), d.expected)
	}
	usual := slices.ContainsFunc(d.found, func(x divergence) bool { return x.usual })
	slight := slices.ContainsFunc(d.found, func(x divergence) bool { return !x.usual })
	switch {
	case !slight:
		return "The runs differ only where the good ones differ too."
	case !usual:
		return "The tests passed, and the runs differ only in the order of lists and in questions asked."
	}
	return "The tests passed, and the runs differ only in the order of lists, in questions asked, and where the good ones differ too."
}

// what says what differs.
func (d *Comparison) what(x *divergence) string {
	name := d.forest.names[x.function]
	switch x.kind {
	case parameter, result:
		for _, s := range x.spots {
			if v := s.value(x); v != nil && v.Name != "" {
				return fmt.Sprintf("another %s of %s", v.Name, name)
			}
		}
		return fmt.Sprintf("another %s of %s", [...]string{"parameter", "result"}[x.kind], name)
	case ends:
		return name + " ends in another way, or does not end"
	case onlyGood:
		return name + " is not called"
	case onlyBad:
		return name + " is called"
	case reordered:
		return name + " is called in another order"
	case onlyGoodG:
		return "no goroutine that begins with " + name
	case onlyBadG:
		return "another goroutine that begins with " + name
	}
	return "in calls that are more than fit into memory, made by " + name + ": choose fewer with -f"
}

// value returns the value that differs, if it is known.
func (s *spot) value(x *divergence) *recording.Value {
	i := x.value
	if x.kind == result {
		i += s.parameters
	}
	if i >= len(s.values) {
		return nil
	}
	return &s.values[i]
}

// writeFirst writes a divergence with what is around it.
func (d *Comparison) writeFirst(out io.Writer, x *divergence) {
	fmt.Fprintf(out, "First divergence: %s, %s after the start\n", d.what(x), recording.AppendDuration(nil, int64(x.spot().since)))
	for i, s := range d.sides() {
		if g := x.at[i].g; g != nil {
			fmt.Fprintf(out, "  event %d of G%d of %s\n", x.at[i].event+1, g.id, s.r.Dir)
		}
	}
	for i, name := range x.spot().path {
		fmt.Fprintf(out, "  %sin %s\n", strings.Repeat("  ", i), name)
	}
	if before := x.spot().before; len(before) > 0 {
		fmt.Fprintln(out, "before:")
		for _, line := range before {
			fmt.Fprintln(out, "  "+line)
		}
	}
	for i, s := range d.sides() {
		fmt.Fprintf(out, "%s:\n", s.r.Dir)
		for _, line := range x.spots[i].next {
			fmt.Fprintln(out, "-+"[i:i+1]+" "+line)
		}
		if len(x.spots[i].next) == 0 {
			fmt.Fprintln(out, "-+"[i:i+1]+" (no more calls)")
		}
	}
	if x.kind <= ends {
		d.writeValues(out, x)
	}
	fmt.Fprintln(out)
}

// writeValues writes the values of a call in both recordings side by side.
func (d *Comparison) writeValues(out io.Writer, x *divergence) {
	a, b := &x.spots[0], &x.spots[1]
	table := [][4]string{{" ", "", d.a.r.Dir, d.b.r.Dir}}
	row := func(i, j int) {
		cells, compared := [4]string{" ", "", "-", "-"}, [2]string{}
		for k, v := range []*recording.Value{at(a.values, i), at(b.values, j)} {
			if v != nil {
				cells[1] = cmp.Or(cells[1], v.Name, v.Type)
				cells[2+k] = shorten(v.Text)
			}
			compared[k] = d.masked(k, v)
		}
		if compared[0] != compared[1] {
			cells[0] = "*"
		}
		table = append(table, cells)
	}
	for i := range max(a.parameters, b.parameters) {
		row(i, i)
	}
	for i := range max(len(a.values)-a.parameters, len(b.values)-b.parameters) {
		row(a.parameters+i, b.parameters+i)
	}
	if len(table) == 1 {
		return
	}
	var width [4]int
	for _, cells := range table {
		for i := range width {
			width[i] = max(width[i], utf8.RuneCountInString(cells[i]))
		}
	}
	fmt.Fprintf(out, "values of %s:\n", d.forest.names[x.function])
	for _, c := range table {
		fmt.Fprintf(out, "%s %-*s  %-*s  %s\n", c[0], width[1], c[1], width[2], c[2], c[3])
	}
}

// masked returns a value of a recording without what differs from run to run, "" if there is none.
func (d *Comparison) masked(side int, v *recording.Value) string {
	if v == nil {
		return ""
	}
	return string(d.sides()[side].masker.mask(v.Type, []byte(v.Text)))
}

// at returns an element, or nil if there is none.
func at[T any](list []T, i int) *T {
	if i < len(list) {
		return &list[i]
	}
	return nil
}

// shorten cuts a value's text so that two fit side by side.
func shorten(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-3]) + "..."
}

// withoutNamed is how many functions are named that are not compared.
const withoutNamed = 5

// writeWithout says of which functions the calls are not compared.
func (d *Comparison) writeWithout(out io.Writer) {
	names := slices.Sorted(maps.Keys(d.forest.without))
	if len(names) == 0 {
		return
	}
	if more := len(names) - withoutNamed; more > 0 {
		names = append(names[:withoutNamed], fmt.Sprintf("%d more", more))
	}
	fmt.Fprintf(out, "Not compared: calls of %s, some of which were left out to keep within the budget (-budget off records all)\n", strings.Join(names, ", "))
}

func (d *Comparison) writeSummary(out io.Writer, rows int) {
	if d.noise > 0 {
		fmt.Fprintf(out, "Left out: %d places at which the good runs differ among themselves\n", d.noise)
	}
	d.writeWithout(out)
	fmt.Fprintf(out, "Goroutines: %d do the same, %d differ, %d only in %s, %d only in %s\n", d.same, d.differ,
		d.only[0], d.a.r.Dir, d.only[1], d.b.r.Dir)
	changes, called := d.changes()
	fmt.Fprintf(out, "Functions: %d called, %d of them not in the same way\n", called, len(changes))
	if len(changes) == 0 {
		return
	}
	table := [][]string{{"calls", "", "errors", "", "panics", "", ""}}
	for _, c := range text.Rows(changes, rows) {
		row := []string{}
		for _, n := range [][2]uint64{{c.a.calls, c.b.calls}, {c.a.errors, c.b.errors}, {c.a.panics, c.b.panics}} {
			row = append(row, fmt.Sprint(n[0]), "-> "+fmt.Sprint(n[1]))
		}
		table = append(table, append(row, c.name))
	}
	text.Table(out, table)
	if left := len(changes) - len(table) + 1; left > 0 {
		fmt.Fprintf(out, "and %d more (-n 0 shows all)\n", left)
	}
}

// A change is a function that was not called as in any good run.
type change struct {
	name string
	a, b tally
}

// changes returns those functions, those first in which most differs, and how many were called at
// all. What is between what is in two good runs is no change.
func (d *Comparison) changes() (changes []change, called int) {
	names := map[string]bool{}
	for _, s := range append(slices.Clone(d.good), d.b) {
		for name := range s.calls {
			names[name] = true
		}
	}
	of := func(s *side, name string) tally {
		if t := s.calls[name]; t != nil {
			return *t
		}
		return tally{}
	}
	for name := range names {
		c := change{name, of(d.a, name), of(d.b, name)}
		least, most := c.a, c.a
		for _, s := range d.good {
			t := of(s, name)
			least = tally{min(least.calls, t.calls), min(least.errors, t.errors), min(least.panics, t.panics)}
			most = tally{max(most.calls, t.calls), max(most.errors, t.errors), max(most.panics, t.panics)}
		}
		outside := func(n, least, most uint64) bool { return n < least || n > most }
		if outside(c.b.calls, least.calls, most.calls) || outside(c.b.errors, least.errors, most.errors) || outside(c.b.panics, least.panics, most.panics) {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(x, y change) int {
		return cmp.Or(-cmp.Compare(abs(x.b.panics, x.a.panics), abs(y.b.panics, y.a.panics)), -cmp.Compare(abs(x.b.errors, x.a.errors), abs(y.b.errors, y.a.errors)),
			-cmp.Compare(abs(x.b.calls, x.a.calls), abs(y.b.calls, y.a.calls)), cmp.Compare(x.name, y.name))
	})
	return changes, len(names)
}

// writeJSON writes an object: the first divergence, null if there is none, those of all goroutines,
// and the summary. What is of both recordings is in lists of two.
func (d *Comparison) writeJSON(out io.Writer, rows int) {
	type divergence struct {
		What       string               `json:"what"`
		Function   string               `json:"function"`
		Usual      bool                 `json:"usual"`      // good runs differ near it
		Slight     bool                 `json:"slight"`     // it comes to nothing: the tests passed
		Event      [2]int               `json:"event"`      // from 1
		Goroutines [2]uint64            `json:"goroutines"` // 0: none
		Time       int64                `json:"time"`       // ns since the recording began
		Times      [2]int64             `json:"times"`      // in each recording; 0: it has no such place
		Path       []string             `json:"path"`
		Before     []string             `json:"before"`
		Next       [2][]string          `json:"next"`
		Values     [2][]recording.Value `json:"values"`
		Differ     []int                `json:"differ"` // which of the values differ, from 0
	}
	type function struct {
		Name   string    `json:"function"`
		Calls  [2]uint64 `json:"calls"`
		Errors [2]uint64 `json:"errors"`
		Panics [2]uint64 `json:"panics"`
	}
	object := struct {
		Recordings  [2]string    `json:"recordings"`
		Divergence  *divergence  `json:"divergence"`
		Divergences []divergence `json:"divergences"`
		Noise       int          `json:"noise"` // places at which the good ones differ
		Same        int          `json:"same"`
		Differ      int          `json:"differ"`
		Only        [2]int       `json:"only"`
		Called      int          `json:"called"`
		Functions   []function   `json:"functions"`
		Without     []string     `json:"without"`  // functions that are not compared: a budget left out calls
		Expected    int          `json:"expected"` // divergences of a good run from the other good ones, at most; 0: not counted
	}{Recordings: [2]string{d.a.r.Dir, d.b.r.Dir}, Without: slices.Sorted(maps.Keys(d.forest.without)), Noise: d.noise, Same: d.same, Differ: d.differ, Only: d.only, Expected: d.expected}
	for i := range text.Rows(d.found, rows) {
		x := &d.found[i]
		v := divergence{Differ: []int{}, What: d.what(x), Function: d.forest.names[x.function], Usual: x.usual, Slight: x.slight, Time: int64(x.spot().since), Path: x.spot().path, Before: x.spot().before}
		for i, p := range x.at {
			if p.g != nil {
				v.Event[i], v.Goroutines[i] = p.event+1, p.g.id
			}
			v.Times[i], v.Next[i], v.Values[i] = int64(x.spots[i].since), x.spots[i].next, x.spots[i].values
		}
		for j := range max(len(v.Values[0]), len(v.Values[1])) {
			if d.masked(0, at(v.Values[0], j)) != d.masked(1, at(v.Values[1], j)) {
				v.Differ = append(v.Differ, j)
			}
		}
		object.Divergences = append(object.Divergences, v)
	}
	if len(object.Divergences) > 0 {
		object.Divergence = &object.Divergences[0]
	}
	changes, called := d.changes()
	object.Called = called
	for _, c := range text.Rows(changes, rows) {
		object.Functions = append(object.Functions, function{c.name, [2]uint64{c.a.calls, c.b.calls}, [2]uint64{c.a.errors, c.b.errors}, [2]uint64{c.a.panics, c.b.panics}})
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.Encode(object)
}

func abs(a, b uint64) uint64 { return max(a, b) - min(a, b) }
