package sweep

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// findings are what is written at the end.
type findings struct {
	several bool // packages
	jobs    int
	done    int
	unknown int // tests that there was no time to run as they are
	left    []string
	beside  map[string]string // functions that are not made to fail, and why
	count   map[string]int
	places  map[finding]map[failure][]string // the tests, by what failed
}

// finding is what one place in the program does wrong: with the error of a function, or of several.
type finding struct {
	outcome, detail string
	place           string // function and line; the function that failed if the error is lost
}

// failure is a function that failed, and the error with which it did; "": one that was made up.
type failure struct{ fn, err string }

func (x failure) with() string {
	switch {
	case x.err == "":
		return ""
	case x.err[0] == '*':
		return " with *" + path.Base(x.err[1:])
	}
	return " with " + path.Base(x.err)
}

// condition says when a finding is seen.
func (x failure) condition() string { return "if " + x.fn + " fails" + x.with() }

func compareFailures(a, b failure) int {
	return cmp.Or(cmp.Compare(a.fn, b.fn), cmp.Compare(a.err, b.err))
}

// reported are the outcomes that are findings, the worst first.
var reported = [...]string{panicked, hung, swallowed, lost, reached}

// leaveOut notes a test that does not pass as it is; "": what runs before the tests.
func (f *findings) leaveOut(p *testPackage, test string, r result) {
	name := f.name(p, test)
	if test == "" {
		name = "all tests of " + p.path
	}
	f.left = append(f.left, name+": as it is: "+r.Detail)
}

// name is that of a test in the summary, where the package's path would be in the way of reading.
func (f *findings) name(p *testPackage, test string) string {
	if f.several {
		return path.Base(p.path) + "." + test
	}
	return test
}

func (f *findings) add(j job, r result) {
	if f.count == nil {
		f.count, f.places = map[string]int{}, map[finding]map[failure][]string{}
	}
	f.done++
	f.count[r.Outcome]++
	if !slices.Contains(reported[:], r.Outcome) {
		return
	}
	place, test, _ := strings.Cut(r.At, ", called in ")
	switch {
	case r.Outcome == lost && place == "":
		place = j.fn
	case place == "":
		place = "(unknown place)"
	}
	x := finding{r.Outcome, strings.TrimPrefix(r.Detail, "panic: "), place}
	if test != "" {
		test = " at " + test
	}
	if f.places[x] == nil {
		f.places[x] = map[failure][]string{}
	}
	failed := failure{j.fn, j.err}
	f.places[x][failed] = append(f.places[x][failed], f.name(j.pkg, j.test)+test)
}

// counts says how far it is.
func (f *findings) counts() string {
	text := fmt.Sprintf("%d of %s", f.done, words.Count(f.jobs, "run"))
	for _, outcome := range []string{panicked, hung, swallowed, lost, reached, expected, handled, testPanic, testHang, notReached} {
		if n := f.count[outcome]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, outcome)
		}
	}
	return text
}

// sorted returns the findings in the order in which they are shown.
func (f *findings) sorted() []finding {
	return slices.SortedFunc(maps.Keys(f.places), func(a, b finding) int {
		return cmp.Or(cmp.Compare(slices.Index(reported[:], a.outcome), slices.Index(reported[:], b.outcome)),
			strings.Compare(a.place, b.place), strings.Compare(a.detail, b.detail))
	})
}

// function is the place without its line, which changes with every edit.
func (x finding) function() string {
	name, _, _ := strings.Cut(x.place, " (")
	return name
}

// keys are lines of a baseline: what the finding is, for each function whose error it is.
func (f *findings) keys(x finding) (keys []string) {
	for failed := range f.places[x] {
		keys = append(keys, x.outcome+"\t"+x.function()+"\t"+failed.fn)
	}
	return keys
}

// forget removes the findings that a baseline has, and returns how many it has.
func (f *findings) forget(baseline map[string]bool) (known int) {
	for x, functions := range f.places {
		for failed := range functions {
			if baseline[x.outcome+"\t"+x.function()+"\t"+failed.fn] {
				delete(functions, failed)
				known++
			}
		}
		if len(functions) == 0 {
			delete(f.places, x)
		}
	}
	return known
}

// readBaseline reads a file of findings that are known. There need not be one.
func readBaseline(name string) (map[string]bool, error) {
	known := map[string]bool{}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("-baseline: %v", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		if strings.Count(lines.Text(), "\t") != 2 {
			return nil, fmt.Errorf("-baseline: %s:%d is no line of a baseline: name another file", name, n)
		}
		known[lines.Text()] = true
	}
	return known, lines.Err()
}

// writeBaseline writes all findings as known ones.
func (f *findings) writeBaseline(name string) error {
	var all []string
	for x := range f.places {
		all = append(all, f.keys(x)...)
	}
	slices.Sort(all)
	text := ""
	for _, key := range slices.Compact(all) {
		text += key + "\n"
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		return fmt.Errorf("-baseline: %v", err)
	}
	return nil
}

// write writes the summary. why says why not all was done, if it was not.
func (f *findings) write(w io.Writer, why, reportName string) {
	for _, x := range f.sorted() {
		functions := slices.SortedFunc(maps.Keys(f.places[x]), compareFailures)
		if x.outcome == lost && x.place == x.function() {
			for _, failed := range functions {
				fmt.Fprintf(w, "%-9s %s%s: %s\n", x.outcome, failed.fn, failed.with(), some(f.places[x][failed]))
			}
			continue
		}
		line := fmt.Sprintf("%-9s %s", x.outcome, x.place)
		if x.detail != "" {
			line += ": " + x.detail
		}
		fmt.Fprintln(w, line)
		before := ""
		for _, failed := range functions[:min(len(functions), maxNames)] {
			tests := some(f.places[x][failed])
			if tests == before && strings.Contains(tests, ", ") {
				fmt.Fprintf(w, "          %s: the same\n", failed.condition())
				continue
			}
			fmt.Fprintf(w, "          %s: %s\n", failed.condition(), tests)
			before = tests
		}
		if n := len(functions) - maxNames; n > 0 {
			fmt.Fprintf(w, "          and %d more\n", n)
		}
	}
	for _, line := range f.left {
		fmt.Fprintf(w, "left out: %s\n", line)
	}
	whys := map[string][]string{}
	for fn, why := range f.beside {
		whys[why] = append(whys[why], fn)
	}
	for _, why := range slices.Sorted(maps.Keys(whys)) {
		fmt.Fprintf(w, "left out: %s: %s\n", why, some(whys[why]))
	}
	if f.jobs+f.unknown+len(f.left)+len(f.beside) == 0 {
		fmt.Fprintln(w, "no test reaches a function that could fail: one with a hook, which ftrace-wrap list tells, whose last result is an error")
	}
	fmt.Fprintln(w, f.counts())
	if f.done < f.jobs || f.unknown > 0 {
		fmt.Fprintf(w, "%s: %s left", why, words.Count(f.jobs-f.done, "run"))
		if f.unknown > 0 {
			fmt.Fprintf(w, ", and what is reached by %s", words.Count(f.unknown, "test"))
		}
		if reportName != "" {
			fmt.Fprintf(w, "; the same command goes on there, with what %s has", reportName)
		}
		fmt.Fprintln(w)
	}
}

// some returns the first of these names, sorted, and how many there are beside.
func some(names []string) string {
	slices.Sort(names)
	if n := len(names) - maxNames; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), n)
	}
	return strings.Join(names, ", ")
}

// maxNames is how many tests or functions are named of those that end in the same way.
const maxNames = 5
