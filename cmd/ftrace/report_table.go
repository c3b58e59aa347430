package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// reportCommand is "ftrace report [FLAGS] [DIR]", or with -diff "ftrace report -diff A B".
func reportCommand(args []string) int {
	o := newOptions("report")
	by := o.flags.String("by", "function", "")
	sortBy := o.flags.String("sort", "total", "")
	rows := o.flags.Int("n", 0, "")
	diff := o.flags.Bool("diff", false, "")
	args, err := o.parse(args)
	switch {
	case err != nil:
		return fail("report", err)
	case *by != "function" && *by != "package" && *by != "goroutine":
		return fail("report", usagef("-by is function, package or goroutine, not %q", *by))
	case *sortBy != "name" && columnNamed(*sortBy) == nil:
		return fail("report", usagef("-sort is name, calls, total, self, avg, min, max, p50, p95, p99, errors or panics, not %q", *sortBy))
	case *diff && len(args) != 2:
		return fail("report", usagef("-diff compares two recordings"))
	case *diff && *by == "goroutine":
		return fail("report", usagef("-diff -by goroutine: goroutines of two runs have nothing to do with each other"))
	}
	var summaries []*summary
	for len(args) > 0 || len(summaries) == 0 {
		this := args[:min(1, len(args))]
		if !*diff {
			this = args
		}
		args = args[len(this):]
		s, err := o.summarize(this, *by)
		if err != nil {
			return fail("report", err)
		}
		s.sort(*sortBy)
		summaries = append(summaries, s)
	}
	out := o.output()
	defer out.close()
	b := bufio.NewWriter(out)
	switch {
	case *diff:
		writeReportDiff(b, summaries[0], summaries[1], *rows, *sortBy, o.json)
	case o.json:
		writeReportJSON(b, summaries[0], *rows)
	default:
		writeReport(b, summaries[0], *rows)
	}
	if err := b.Flush(); err != nil {
		return fail("report", err)
	}
	return 0
}

func (o *options) summarize(args []string, by string) (*summary, error) {
	r, err := o.open(args)
	if err != nil {
		return nil, err
	}
	family, err := o.family(r)
	if err != nil {
		return nil, err
	}
	var all *summary
	for _, r := range family {
		w, err := o.walker(r)
		if err != nil {
			return nil, err
		}
		s, err := summarize(w, o.window(r), by)
		if err != nil {
			return nil, err
		}
		complain(r, nil)
		if all == nil {
			all = s
		} else {
			all.add(s)
		}
	}
	return all, nil
}

// rowsOf returns the first n of a list, all if n is 0.
func rowsOf[T any](list []T, n int) []T {
	if n > 0 && n < len(list) {
		return list[:n]
	}
	return list
}

// writeReport writes a table.
func writeReport(out io.Writer, s *summary, rows int) {
	var table [][]string
	head := []string{}
	for _, c := range columns {
		head = append(head, c.title)
	}
	table = append(table, append(head, s.by))
	for _, t := range rowsOf(s.stats, rows) {
		var row []string
		for _, c := range columns {
			text, _ := c.value(s, t)
			row = append(row, text)
		}
		table = append(table, append(row, t.name))
	}
	writeTable(out, table)
}

// writeTable writes rows with all columns but the last aligned at the right.
func writeTable(out io.Writer, table [][]string) {
	width := map[int]int{}
	for _, row := range table {
		for i, text := range row {
			width[i] = max(width[i], len(text))
		}
	}
	for _, row := range table {
		var line strings.Builder
		for i, text := range row {
			if i < len(row)-1 {
				fmt.Fprintf(&line, "%*s  ", width[i], text)
			} else {
				line.WriteString(text)
			}
		}
		fmt.Fprintln(out, strings.TrimRight(line.String(), " "))
	}
}

// writeReportJSON writes an object for each row; times are in ns.
func writeReportJSON(out io.Writer, s *summary, rows int) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, t := range rowsOf(s.stats, rows) {
		row := map[string]any{s.by: t.name, "unfinished": t.open}
		for _, c := range columns {
			_, v := c.value(s, t)
			row[c.name] = int64(v)
		}
		enc.Encode(row)
	}
}

// writeReportDiff writes what changed from a to b, the largest change of the column first.
func writeReportDiff(out io.Writer, a, b *summary, rows int, by string, asJSON bool) {
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
	c := columnNamed(by)
	if c == nil {
		c = columnNamed("total")
	}
	change := func(p pair) float64 {
		_, x := c.value(a, p.a)
		_, y := c.value(b, p.b)
		return y - x
	}
	slices.SortStableFunc(pairs, func(x, y pair) int {
		if by != "name" {
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
	for _, p := range rowsOf(pairs, rows) {
		var row []string
		object := map[string]any{a.by: p.name}
		for _, c := range shown {
			_, x := c.value(a, p.a)
			text, y := c.value(b, p.b)
			row = append(row, text, changeText(c, x, y))
			object[c.name] = [2]int64{int64(x), int64(y)}
		}
		if asJSON {
			enc.Encode(object)
		}
		table = append(table, append(row, p.name))
	}
	if !asJSON {
		writeTable(out, table)
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
