package diff

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// locate finds the event at which each pair differs first: it is in the block after the last equal
// marks.
func (d *Comparison) locate(context int) error {
	block := map[*pair]int{}
	var differing []*pair
	for _, p := range d.pairs {
		if p.a.hash == p.b.hash && p.a.n == p.b.n {
			continue
		}
		i := 0
		for i+1 < len(p.a.marks) && i+1 < len(p.b.marks) && p.a.marks[i+1].hash == p.b.marks[i+1].hash {
			i++
		}
		block[p] = i
		differing = append(differing, p)
	}
	// Only those that may be the earliest are looked at.
	start := func(p *pair) uint64 {
		if len(p.a.marks) == 0 {
			return 0
		}
		return p.a.marks[block[p]].ticks
	}
	slices.SortFunc(differing, func(x, y *pair) int { return cmp.Compare(start(x), start(y)) })
	differing = differing[:min(len(differing), 100)]
	if len(differing) == 0 {
		return nil
	}
	var found [2]map[*pair]*blockLines
	err := both(func(i int) (err error) {
		found[i], err = []*side{d.a, d.b}[i].lines(differing, block, func(p *pair) uint64 { return []*tracedGoroutine{p.a, p.b}[i].id }, context)
		return err
	})
	if err != nil {
		return err
	}
	for _, p := range differing {
		p.find(found[0][p], found[1][p], context)
		if p.at >= 0 && (d.divergence == nil || p.tick < d.divergence.tick) {
			d.divergence = p
		}
	}
	return nil
}

// blockLines is the lines of a goroutine's block of events.
type blockLines struct {
	path  [][]string // calls around, of each, the inner ones
	lines []string
	ticks []uint64
	first int // index in the goroutine of lines[0]
}

// lines returns the lines of a block of events, with some in front and behind, of these goroutines.
func (s *side) lines(pairs []*pair, block map[*pair]int, id func(*pair) uint64, context int) (map[*pair]*blockLines, error) {
	byID := map[uint64]*pair{}
	for _, p := range pairs {
		byID[id(p)] = p
	}
	found := map[*pair]*blockLines{}
	seen := map[uint64]int{}
	err := s.walk(func(st *text.Stack, e *recording.Event, line []byte) {
		p := byID[st.Goroutine]
		if p == nil {
			return
		}
		i := seen[st.Goroutine]
		seen[st.Goroutine]++
		from := max(0, block[p]*markEvery-context)
		if i < from || i > (block[p]+1)*markEvery+context {
			return
		}
		b := found[p]
		if b == nil {
			b = &blockLines{first: i}
			found[p] = b
		}
		var path []string
		for c := range walk.Callers(st) {
			if path = append(path, s.r.Function(c.Function).FullName()); len(path) == pathShown {
				break
			}
		}
		slices.Reverse(path)
		b.path = append(b.path, path)
		b.lines = append(b.lines, string(line))
		b.ticks = append(b.ticks, e.Ticks)
	}, func(*recording.Event) {})
	return found, err
}

// pathShown is how many of the calls around an event are named, the inner ones.
const pathShown = 100

// find finds the first line that differs.
func (p *pair) find(a, b *blockLines, context int) {
	if a == nil {
		a = &blockLines{}
	}
	if b == nil {
		b = &blockLines{}
	}
	i := 0
	for i < len(a.lines) && i < len(b.lines) && a.lines[i] == b.lines[i] {
		i++
	}
	if i == len(a.lines) && i == len(b.lines) {
		return
	}
	p.at = max(a.first, b.first) + i
	switch {
	case i < len(a.lines):
		p.tick, p.path = a.ticks[i], a.path[i]
	case i > 0:
		p.tick, p.path = a.ticks[i-1]+1, b.path[i]
	default:
		p.path = b.path[i]
	}
	p.same = a.lines[max(0, i-context):i]
	p.next[0] = a.lines[i:min(len(a.lines), i+context)]
	p.next[1] = b.lines[i:min(len(b.lines), i+context)]
}

// write writes the first divergence and the summary.
func (d *Comparison) write(out io.Writer, rows int) {
	if p := d.divergence; p != nil {
		clock := d.a.r.Converter()
		fmt.Fprintf(out, "First divergence: event %d of G%d and of G%d, %s after the start of %s\n", p.at+1, p.a.id, p.b.id,
			recording.AppendDuration(nil, int64(clock.Since(p.tick))), d.a.r.Dir)
		for i, name := range p.path {
			fmt.Fprintf(out, "  %sin %s\n", strings.Repeat("  ", i), name)
		}
		if len(p.same) > 0 {
			fmt.Fprintln(out, "both:")
		}
		for _, line := range p.same {
			fmt.Fprintln(out, "  "+line)
		}
		for i, s := range []*side{d.a, d.b} {
			fmt.Fprintf(out, "%s:\n", s.r.Dir)
			for _, line := range p.next[i] {
				fmt.Fprintln(out, "-+"[i:i+1]+" "+line)
			}
			if len(p.next[i]) == 0 {
				fmt.Fprintln(out, "-+"[i:i+1]+" (no more calls)")
			}
		}
		fmt.Fprintln(out)
	}
	d.writeSummary(out, rows)
}

func (d *Comparison) writeSummary(out io.Writer, rows int) {
	same := d.equal()
	fmt.Fprintf(out, "Goroutines: %d do the same, %d differ, %d only in %s, %d only in %s\n", same, len(d.pairs)-same,
		len(d.onlyA), d.a.r.Dir, len(d.onlyB), d.b.r.Dir)
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

// A change is a function that was not called in the same way.
type change struct {
	name string
	a, b tally
}

// changes returns those functions, those first in which most differs, and how many were called at
// all.
func (d *Comparison) changes() (changes []change, called int) {
	names := map[string]bool{}
	for _, s := range []*side{d.a, d.b} {
		for name := range s.calls {
			names[name] = true
		}
	}
	for name := range names {
		c := change{name: name}
		if t := d.a.calls[name]; t != nil {
			c.a = *t
		}
		if t := d.b.calls[name]; t != nil {
			c.b = *t
		}
		if c.a != c.b {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(x, y change) int {
		return cmp.Or(-cmp.Compare(abs(x.b.panics, x.a.panics), abs(y.b.panics, y.a.panics)), -cmp.Compare(abs(x.b.errors, x.a.errors), abs(y.b.errors, y.a.errors)),
			-cmp.Compare(abs(x.b.calls, x.a.calls), abs(y.b.calls, y.a.calls)), cmp.Compare(x.name, y.name))
	})
	return changes, len(names)
}

// writeJSON writes an object: the first divergence, null if there is none, and the summary. What is
// of both recordings is in lists of two.
func (d *Comparison) writeJSON(out io.Writer, rows int) {
	type divergence struct {
		Event      int         `json:"event"` // from 1
		Goroutines [2]uint64   `json:"goroutines"`
		Time       int64       `json:"time"` // ns since the first recording began
		Path       []string    `json:"path"`
		Both       []string    `json:"both"`
		Next       [2][]string `json:"next"`
	}
	type function struct {
		Name   string    `json:"function"`
		Calls  [2]uint64 `json:"calls"`
		Errors [2]uint64 `json:"errors"`
		Panics [2]uint64 `json:"panics"`
	}
	object := struct {
		Recordings [2]string   `json:"recordings"`
		Divergence *divergence `json:"divergence"`
		Same       int         `json:"same"`
		Differ     int         `json:"differ"`
		Only       [2]int      `json:"only"`
		Called     int         `json:"called"`
		Functions  []function  `json:"functions"`
	}{Recordings: [2]string{d.a.r.Dir, d.b.r.Dir}, Same: d.equal(), Only: [2]int{len(d.onlyA), len(d.onlyB)}}
	object.Differ = len(d.pairs) - object.Same
	if p := d.divergence; p != nil {
		clock := d.a.r.Converter()
		object.Divergence = &divergence{p.at + 1, [2]uint64{p.a.id, p.b.id}, int64(clock.Since(p.tick)), p.path, p.same, p.next}
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

// equal returns how many goroutines do the same.
func (d *Comparison) equal() (n int) {
	for _, p := range d.pairs {
		if p.a.hash == p.b.hash && p.a.n == p.b.n {
			n++
		}
	}
	return n
}

func abs(a, b uint64) uint64 { return max(a, b) - min(a, b) }
