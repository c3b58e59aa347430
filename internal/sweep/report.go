package sweep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// result is a line of the report: one run of a test.
type result struct {
	Binary  string         `json:"binary"` // hash of the test program and its arguments
	Package string         `json:"package"`
	Test    string         `json:"test"`           // "": none, what runs before them
	Func    string         `json:"func,omitempty"` // that fails; "": none
	Fail    string         `json:"fail"`           // FTRACE_FAIL
	Outcome string         `json:"outcome"`
	Detail  string         `json:"detail,omitempty"` // of a panic, its line
	At      string         `json:"at,omitempty"`     // function and line that panics or hangs
	Seconds float64        `json:"seconds"`
	Reached map[string]int `json:"reached,omitempty"` // functions that could fail, and their calls, if none does
}

type resultKey struct{ binary, test, fail string }

func (r *result) key() resultKey { return resultKey{r.Binary, r.Test, r.Fail} }

// report has the results of earlier runs, and the file to which later ones go, if there is one.
type report struct {
	mu    sync.Mutex
	file  *os.File
	known map[resultKey]result
	err   error // the first of writing
}

// openReport reads a report, and lets it be appended to. A last line that was not written to its
// end is removed.
func openReport(name string) (*report, error) {
	p := &report{known: map[resultKey]result{}}
	if name == "" {
		return p, nil
	}
	f, err := ownfile.Open(name, os.O_RDWR) // what functions were given may be secret
	if err != nil {
		return nil, fmt.Errorf("-report: %v", err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("-report: %v", err)
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for i, line := range bytes.Split(whole, []byte("\n")) {
		var r result
		if len(line) == 0 {
			continue
		}
		if err := json.Unmarshal(line, &r); err != nil || r.Binary == "" || r.Outcome == "" {
			f.Close()
			return nil, fmt.Errorf("-report: %s:%d is no line of a report of sweep: name another file", name, i+1)
		}
		p.known[r.key()] = r
	}
	if len(whole) == 0 && len(text) > 0 && text[0] != '{' {
		f.Close()
		return nil, fmt.Errorf("-report: %s:1 is no line of a report of sweep: name another file", name)
	}
	if len(whole) < len(text) {
		err = f.Truncate(int64(len(whole)))
	}
	if err == nil {
		_, err = f.Seek(int64(len(whole)), io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("-report: %v", err)
	}
	p.file = f
	return p, nil
}

// find returns the record of the same run, if there is one.
func (p *report) find(r result) (result, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.known[r.key()]
	return known, ok
}

// add appends a record.
func (p *report) add(r result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[r.key()] = r
	if p.file == nil || p.err != nil {
		return
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = p.file.Write(append(line, '\n'))
	}
	p.err = err
}

// close returns an error if not all results were written.
func (p *report) close() error {
	if p.file == nil {
		return nil
	}
	if err := p.file.Close(); p.err == nil {
		p.err = err
	}
	return p.err
}

// findings are what is written at the end.
type findings struct {
	several bool // packages
	jobs    int
	done    int
	unknown int // tests that there was no time to run as they are
	left    []string
	count   map[string]int
	by      map[string]map[string][]finding // outcome, function
}

type finding struct {
	test   string
	record result
}

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
		f.count, f.by = map[string]int{}, map[string]map[string][]finding{}
	}
	f.done++
	f.count[r.Outcome]++
	if f.by[r.Outcome] == nil {
		f.by[r.Outcome] = map[string][]finding{}
	}
	f.by[r.Outcome][j.fn] = append(f.by[r.Outcome][j.fn], finding{f.name(j.pkg, j.test), r})
}

// counts says how far it is.
func (f *findings) counts() string {
	text := fmt.Sprintf("%d of %s", f.done, words.Count(f.jobs, "run"))
	for _, outcome := range []string{panicked, hung, lost, handled, testPanic, testHang, notReached} {
		if n := f.count[outcome]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, outcome)
		}
	}
	return text
}

// write writes the summary. why says why not all was done, if it was not.
func (f *findings) write(w io.Writer, why, reportName string) {
	for _, outcome := range []string{panicked, hung, lost} {
		functions := f.by[outcome]
		names := make([]string, 0, len(functions))
		for name := range functions {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(w, "%-6s %s\n", outcome, name)
			f.writeTests(w, functions[name])
		}
	}
	for _, line := range f.left {
		fmt.Fprintf(w, "left out: %s\n", line)
	}
	if f.jobs+f.unknown+len(f.left) == 0 {
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

// writeTests writes the tests with which a function has the same outcome, those in one line that
// end in the same way.
func (f *findings) writeTests(w io.Writer, found []finding) {
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.test, b.test) })
	var ways []string
	tests := map[string][]string{}
	for _, x := range found {
		way := x.record.Detail
		if x.record.At != "" {
			way += "\n           in " + x.record.At
		}
		if tests[way] == nil {
			ways = append(ways, way)
		}
		tests[way] = append(tests[way], x.test)
	}
	for _, way := range ways {
		line := strings.Join(tests[way], ", ")
		if n := len(tests[way]); n > maxTests {
			line = fmt.Sprintf("%s and %d more", strings.Join(tests[way][:maxTests], ", "), n-maxTests)
		}
		if way != "" {
			line += ": " + way
		}
		fmt.Fprintf(w, "       %s\n", line)
	}
}

// maxTests is how many tests are named that end in the same way.
const maxTests = 5
