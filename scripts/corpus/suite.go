package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// A key names a test or, with Test empty, a package.
type key struct{ Package, Test string }

func (k key) String() string {
	if k.Test == "" {
		return k.Package
	}
	return k.Package + " " + k.Test
}

// top is the name of the top-level test that k belongs to.
func (k key) top() string {
	name, _, _ := strings.Cut(k.Test, "/")
	return name
}

// An outcome is how a test or package ended.
type outcome string

const (
	pass       outcome = "pass"
	fail       outcome = "fail"
	skip       outcome = "skip"
	noBuild    outcome = "does not build"
	unfinished outcome = "unfinished" // it started, then nothing: the process died
	missing    outcome = "missing"    // it never started
)

type results map[key]outcome

func (r results) get(k key) outcome {
	if o, ok := r[k]; ok {
		return o
	}
	return missing
}

// counts of the packages that have tests, and of tests, subtests and examples by outcome.
type counts struct{ packages, tests, pass, fail, skip, noBuild int }

func (r results) count() counts {
	var c counts
	packages := map[string]bool{}
	for k, o := range r {
		if k.Test == "" {
			if o == noBuild {
				packages[k.Package] = true
				c.noBuild++
			}
			continue
		}
		packages[k.Package] = true
		c.tests++
		switch o {
		case pass:
			c.pass++
		case skip:
			c.skip++
		default:
			c.fail++
		}
	}
	c.packages = len(packages)
	return c
}

// A suite is what one run of go test -json said.
type suite struct {
	results results
	output  map[key]string // the end of what a test, package or failed build printed
	seconds float64        // sum of the packages' own times
	raw     []byte
	stderr  string
	wall    time.Duration
	trace   size

	names map[key]string // stable names of tests that have another one
	same  map[key]int    // how many tests have this stable name
}

// event is a line of go test -json: see go doc test2json and go help buildjson.
type event struct {
	Action      string
	ImportPath  string // of build-output
	Package     string
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string // in a package's fail: the ImportPath of the build that failed
}

// parse reads the output of go test -json. Lines that are not JSON, which test processes that are
// killed and old Go releases leave, are passed over.
func parse(r io.Reader) (*suite, error) {
	s := &suite{results: results{}, output: map[key]string{}, names: map[key]string{}, same: map[key]int{}}
	builds := map[string]string{} // output of builds by import path
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		var e event
		if len(line) > 0 && line[0] == '{' && json.Unmarshal(line, &e) == nil {
			s.add(e, builds)
		}
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// add takes one event into account.
func (s *suite) add(e event, builds map[string]string) {
	if e.Action == "build-output" {
		builds[e.ImportPath] = tail(builds[e.ImportPath] + e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	k := key{e.Package, s.stable(e.Package, e.Test)}
	switch e.Action {
	case "start", "run":
		if _, ok := s.results[k]; !ok {
			s.results[k] = unfinished
		}
	case "output":
		s.output[k] = tail(s.output[k] + e.Output)
		if e.Test == "" && failedToBuild(e.Output) {
			s.results[k] = noBuild
		}
	case "pass", "fail", "skip":
		s.end(k, e, builds)
	}
}

// end records the final action of a test or package.
func (s *suite) end(k key, e event, builds map[string]string) {
	if k.Test == "" {
		s.seconds += e.Elapsed
	}
	switch {
	case e.FailedBuild != "":
		s.results[k] = noBuild
		s.output[k] = tail(builds[e.FailedBuild] + s.output[k])
	case s.results[k] == noBuild: // its output said so
	default:
		s.results[k] = outcome(e.Action)
	}
}

// failedToBuild reports whether a package's output line says that its test was not built.
func failedToBuild(line string) bool {
	return strings.HasPrefix(line, "FAIL") &&
		(strings.HasSuffix(line, "[build failed]\n") || strings.HasSuffix(line, "[setup failed]\n"))
}

// tail cuts s at the front when it is long.
func tail(s string) string {
	const limit = 4000
	if len(s) > 2*limit {
		s = s[len(s)-limit:]
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			s = s[i+1:]
		}
	}
	return s
}

// volatile are the parts of test names that are never the same in two runs: addresses and present
// times.
var volatile = regexp.MustCompile(`0x[0-9a-f]{6,}|time\.Date\([^)]*\)`)

// stable returns a name for a test that it has in every run. Several tests whose names differ in
// volatile parts only are told apart by the order in which they run.
func (s *suite) stable(pkg, test string) string {
	if !volatile.MatchString(test) {
		return test
	}
	raw := key{pkg, test}
	name, ok := s.names[raw]
	if !ok {
		name = volatile.ReplaceAllString(test, "(varies)")
		k := key{pkg, name}
		s.same[k]++
		if n := s.same[k]; n > 1 {
			name += fmt.Sprintf("~%d", n)
		}
		s.names[raw] = name
	}
	return name
}
