package report

import (
	"bufio"
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

// Options are how a report is made and written.
type Options struct {
	By   string // function, package or goroutine
	Sort string // a column, or name; see [SortBy]
	Rows int    // the first; 0: all
	JSON bool
	// Waits divides self times into running, runnable and waiting by kind.
	Waits bool
}

// SortBy returns what a report can be sorted by.
func SortBy() []string {
	names := []string{"name"}
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// Summarize goes through recordings, which are of one family, and puts what it finds together.
func Summarize(family []walk.Source, o Options) (*Summary, error) {
	var all *Summary
	labels := walk.Labels(family)
	for i, from := range family {
		s, err := summarize(from, o)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = s
		} else {
			all.add(s, labels[i])
		}
	}
	if by := o.Sort; o.Waits && by == "total" {
		all.sort("self") // which is what is divided
	} else {
		all.sort(by)
	}
	return all, nil
}

// Write writes a row for each stat.
func (s *Summary) Write(out io.Writer, o Options) error {
	b := bufio.NewWriter(out)
	if o.JSON {
		s.writeJSON(b, o.Rows)
	} else {
		s.writeTable(b, o.Rows)
	}
	return b.Flush()
}

// WriteDiff writes what changed from a to b, the largest change of the column first.
func WriteDiff(out io.Writer, a, b *Summary, o Options) error {
	w := bufio.NewWriter(out)
	writeDiff(w, a, b, o)
	return w.Flush()
}

// writeTable writes a table.
func (s *Summary) writeTable(out io.Writer, rows int) {
	var table [][]string
	head := []string{}
	columns := s.columns()
	for _, c := range columns {
		head = append(head, c.title)
	}
	table = append(table, append(head, s.by))
	for _, t := range text.Rows(s.stats, rows) {
		var row []string
		for _, c := range columns {
			cell, _ := c.value(s, t)
			row = append(row, cell)
		}
		table = append(table, append(row, t.name))
	}
	text.Table(out, table)
}

// writeJSON writes an object for each row; times are in ns.
func (s *Summary) writeJSON(out io.Writer, rows int) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	columns := s.columns()
	for _, t := range text.Rows(s.stats, rows) {
		row := map[string]any{s.by: t.name, "unfinished": t.open}
		for _, c := range columns {
			_, v := c.value(s, t)
			row[c.name] = int64(v)
		}
		if t.more {
			row["uncounted"] = true
		}
		enc.Encode(row)
	}
}

// writeDiff writes what changed from a to b, the largest change of the column first.
func writeDiff(out io.Writer, a, b *Summary, o Options) {
	type pair struct {
		name string
		a, b *stat
	}
	var pairs []pair
	index := map[string]int{}
	for _, t := range a.stats {
		index[t.name] = len(pairs)
		pairs = append(pairs, pair{t.name, t, &stat{}})
	}
	for _, t := range b.stats {
		if i, ok := index[t.name]; ok {
			pairs[i].b = t
		} else {
			pairs = append(pairs, pair{t.name, &stat{}, t})
		}
	}
	c := columnNamed(o.Sort)
	if c == nil {
		c = columnNamed("total")
	}
	change := func(p pair) float64 {
		_, x := c.value(a, p.a)
		_, y := c.value(b, p.b)
		return y - x
	}
	slices.SortStableFunc(pairs, func(x, y pair) int {
		if o.Sort != "name" {
			p, q := change(x), change(y)
			if p, q := max(p, -p), max(q, -q); p != q {
				return cmp.Compare(q, p)
			}
		}
		return cmp.Compare(x.name, y.name)
	})
	shown := []*column{columnNamed("calls"), columnNamed("total"), columnNamed("self"), columnNamed("p50"), columnNamed("errors"), columnNamed("panics")}
	if !slices.ContainsFunc(shown, func(s *column) bool { return s.name == c.name }) {
		shown = append(shown, c)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	var table [][]string
	head := []string{}
	for _, c := range shown {
		head = append(head, c.title, "change")
	}
	table = append(table, append(head, a.by))
	for _, p := range text.Rows(pairs, o.Rows) {
		var row []string
		object := map[string]any{a.by: p.name}
		for _, c := range shown {
			_, x := c.value(a, p.a)
			now, y := c.value(b, p.b)
			row = append(row, now, changeText(c, x, y))
			object[c.name] = [2]int64{int64(x), int64(y)}
		}
		if o.JSON {
			enc.Encode(object)
		}
		table = append(table, append(row, p.name))
	}
	if !o.JSON {
		text.Table(out, table)
	}
}

// changeText returns how much more y is than x.
func changeText(c *column, x, y float64) string {
	d := y - x
	switch {
	case d == 0:
		return "="
	case strings.HasPrefix(c.name, "calls") || c.name == "errors" || c.name == "panics":
		return fmt.Sprintf("%+.0f", d)
	case x == 0:
		return "new"
	case y == 0:
		return "gone"
	}
	if d > 0 {
		return "+" + string(recording.AppendDuration(nil, int64(d)))
	}
	return string(recording.AppendDuration(nil, int64(d)))
}
