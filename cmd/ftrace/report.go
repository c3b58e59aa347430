package main

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/report"
)

// reportCommand is "ftrace report [FLAGS] [DIR]", or with -diff "ftrace report -diff A B".
func reportCommand(args []string) int {
	o := newOptions("report")
	var p report.Options
	o.flags.StringVar(&p.By, "by", "function", "")
	o.flags.StringVar(&p.Sort, "sort", "total", "")
	o.flags.IntVar(&p.Rows, "n", 0, "")
	diff := o.flags.Bool("diff", false, "")
	args, err := o.parse(args)
	p.JSON = o.json
	switch {
	case err != nil:
	case p.By != "function" && p.By != "package" && p.By != "goroutine":
		err = usagef("-by is function, package or goroutine, not %q", p.By)
	case !report.Sortable(p.Sort):
		err = usagef("-sort is name, calls, total, self, avg, min, max, p50, p95, p99, errors or panics, not %q", p.Sort)
	case *diff && len(args) != 2:
		err = usagef("-diff compares two recordings")
	case *diff && p.By == "goroutine":
		err = usagef("-diff -by goroutine: goroutines of two runs have nothing to do with each other")
	}
	if err != nil {
		return fail("report", err)
	}
	of := [][]string{args}
	if *diff {
		of = [][]string{args[:1], args[1:]}
	}
	var summaries []*report.Summary
	for _, args := range of {
		family, err := o.openFamily(args)
		if err != nil {
			return fail("report", err)
		}
		s, err := report.Summarize(family, p)
		if err != nil {
			return fail("report", err)
		}
		complain(family...)
		summaries = append(summaries, s)
	}
	out := o.output()
	defer out.close()
	if *diff {
		err = report.WriteDiff(out, summaries[0], summaries[1], p)
	} else {
		err = summaries[0].Write(out, p)
	}
	if err != nil {
		return fail("report", err)
	}
	return 0
}
