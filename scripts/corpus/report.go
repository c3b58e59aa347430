package main

import (
	"fmt"
	"io"
	"strings"
)

// A report is what came of one module.
type report struct {
	module   *module
	suites   []*suite // plain, off, armed; none if only programs ran
	programs int
	trace    size // of the programs
	diffs    []*difference
}

// different reports whether there are differences that flakiness does not explain.
func (r *report) different() bool { return r.count("off")+r.count("armed") > 0 }

// count is the number of differences of a way, flaky ones apart.
func (r *report) count(way string) int {
	n := 0
	for _, d := range r.diffs {
		if d.way == way && !d.flaky {
			n++
		}
	}
	return n
}

// flaky is the number of tests that differ but are flaky plainly.
func (r *report) flaky() int {
	keys := map[key]bool{}
	for _, d := range r.diffs {
		if d.flaky {
			keys[d.key] = true
		}
	}
	return len(keys)
}

// traced is the size of all that was recorded.
func (r *report) traced() size {
	total := r.trace
	if len(r.suites) == 3 {
		total.add(r.suites[2].trace)
	}
	return total
}

func (r *report) print(w io.Writer, verbose bool) {
	fmt.Fprintf(w, "%s %s: %s\n", r.module.path, r.module.commit, r.summary())
	if total := r.traced(); total.bytes == 0 {
		fmt.Fprintln(w, "  warning: no trace was written: the armed way shows nothing")
	}
	absent := map[string][]*difference{} // tests missing in a package, by way and package
	for _, d := range r.diffs {
		if d.got == missing && d.Test != "" && !d.flaky {
			id := d.way + " " + d.Package
			absent[id] = append(absent[id], d)
		}
	}
	for _, d := range r.diffs {
		if group := absent[d.way+" "+d.Package]; len(group) > 3 && d.got == missing && d.Test != "" && !d.flaky {
			if d == group[0] {
				printMissing(w, group)
			}
			continue
		}
		d.print(w, verbose)
	}
	r.printStderr(w)
}

func (r *report) summary() string {
	var parts []string
	if len(r.suites) == 3 {
		c := r.suites[0].results.count()
		parts = append(parts, fmt.Sprintf("%d packages, %d tests, plain %d pass %d fail %d skip",
			c.packages, c.tests, c.pass, c.fail, c.skip))
		if c.noBuild > 0 {
			parts = append(parts, fmt.Sprintf("%d packages do not build plainly", c.noBuild))
		}
	}
	if r.programs > 0 {
		parts = append(parts, fmt.Sprintf("%d programs", r.programs))
	}
	parts = append(parts, fmt.Sprintf("differences: off %d, armed %d", r.count("off"), r.count("armed")))
	if n := r.flaky(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d flaky plain", n))
	}
	return strings.Join(append(parts, "trace "+r.traced().String()), "; ")
}

// printMissing prints many tests that one way did not run as one difference.
func printMissing(w io.Writer, group []*difference) {
	var names []string
	for _, d := range group[:3] {
		names = append(names, d.Test)
	}
	d := group[0]
	fmt.Fprintf(w, "  %s: %s: %d tests missing: %s ...\n", d.way, d.Package, len(group), strings.Join(names, ", "))
}

func (d *difference) print(w io.Writer, verbose bool) {
	head := d.way
	if d.flaky {
		head += ": flaky plain"
	}
	fmt.Fprintf(w, "  %s: %s: %s -> %s", head, d.key, d.plain, d.got)
	if d.again != "" {
		fmt.Fprintf(w, " (again %s)", d.again)
	}
	fmt.Fprintln(w)
	always := d.got == noBuild || strings.HasPrefix(d.Package, "program ")
	if verbose || always && !d.flaky {
		printIndented(w, d.detail, 30)
	}
}

// printStderr prints the go command's complaints about a way that differs.
func (r *report) printStderr(w io.Writer) {
	for i, name := range []string{"plain", "off", "armed"} {
		if i > 0 && i < len(r.suites) && r.count(name) > 0 && r.suites[i].stderr != "" {
			fmt.Fprintf(w, "  %s: standard error of go test:\n", name)
			printIndented(w, r.suites[i].stderr, 10)
		}
	}
}

// printIndented prints the first n lines of text.
func printIndented(w io.Writer, text string, n int) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if i == n {
			fmt.Fprintf(w, "      ... %d more lines\n", len(lines)-n)
			break
		}
		if line != "" {
			fmt.Fprintf(w, "      %s\n", line)
		}
	}
}

// printTable prints the Markdown table.
func printTable(w io.Writer, reports []*report) {
	fmt.Fprintln(w, "| module | commit | packages | tests | plain pass/fail/skip | off differs | armed differs | flaky plain "+
		"| programs | plain s (in tests) | off s | armed s | trace |")
	fmt.Fprintln(w, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
	for _, r := range reports {
		fmt.Fprintln(w, r.row())
	}
}

func (r *report) row() string {
	cells := []string{r.module.path, r.module.commit}
	if len(r.suites) == 3 {
		c := r.suites[0].results.count()
		cells = append(cells, fmt.Sprint(c.packages), fmt.Sprint(c.tests), fmt.Sprintf("%d/%d/%d", c.pass, c.fail, c.skip))
	} else {
		cells = append(cells, "", "", "")
	}
	cells = append(cells, fmt.Sprint(r.count("off")), fmt.Sprint(r.count("armed")), fmt.Sprint(r.flaky()), fmt.Sprint(r.programs))
	for i := range 3 {
		if i < len(r.suites) {
			s := r.suites[i]
			cells = append(cells, fmt.Sprintf("%.1f (%.1f)", s.wall.Seconds(), s.seconds))
		} else {
			cells = append(cells, "")
		}
	}
	return "| " + strings.Join(append(cells, r.traced().String()), " | ") + " |"
}
