// Package summary sums up a run of go test in Markdown, as the page of a run in CI shows it.
//
// In comes what go test prints, plainly, with -v or with -json, as it comes (Run.Stdout,
// Run.Stderr). Out comes Markdown: how many tests failed in which packages, and of each test that
// failed its message and its calls (Run.Markdown). Command ftrace-wrap calls it for its verb test.
// The package runs no command and writes no file.
//
// What tests print is data: it stands in fences that it cannot end, and names are escaped.
package summary

import (
	"io"
	"strings"
	"sync"
)

// A Run is a run of go test. Its writers may be used at the same time.
type Run struct {
	mu       sync.Mutex
	packages []*pkg
	builds   []*build
	other    clip // what the go command says of itself
	out, err *lines
}

// New returns a run of go test, with the flag -json or without.
func New(json bool) *Run {
	r := &Run{}
	r.err = &lines{run: r, take: (&notices{run: r}).line}
	if json {
		r.out = &lines{run: r, take: newEvents(r).line}
	} else {
		r.out = &lines{run: r, take: newText(r).line}
	}
	return r
}

// Stdout returns what is to be given the standard output of go test. What goes to the same file as
// standard error may hold both.
func (r *Run) Stdout() io.Writer { return r.out }

// Stderr returns what is to be given the standard error of go test.
func (r *Run) Stderr() io.Writer { return r.err }

// lines splits what is written into lines.
type lines struct {
	run  *Run
	take func(line string)
	part []byte // a line whose end is to come
}

const maxLine = 64 << 10 // the rest of a line is left out: it may be the program's, and without end

func (l *lines) Write(b []byte) (int, error) {
	l.run.mu.Lock()
	defer l.run.mu.Unlock()
	for rest := string(b); rest != ""; {
		line, after, ended := strings.Cut(rest, "\n")
		l.part = append(l.part, line[:min(len(line), maxLine-len(l.part))]...)
		if ended {
			l.end()
		}
		rest = after
	}
	return len(b), nil
}

// end takes the line that was written so far.
func (l *lines) end() {
	l.take(strings.TrimSuffix(string(l.part), "\r"))
	l.part = l.part[:0]
}

// A result is that of a package.
type result uint8

const (
	unknown  result = iota // go test has not told it
	passed                 // all tests
	failed                 // a test, or the package itself
	untested               // it has no tests
	unbuilt                // it, or what it imports, could not be compiled
	results
)

// pkg is a package with tests.
type pkg struct {
	name    string
	result  result
	time    string
	own     output // what no test is known to have printed
	running map[string]*test
	failed  []*test
	begun   int // tests
}

// test is one run of a test.
type test struct {
	name    string
	time    string
	number  int  // by which they are sorted
	overdue bool // it had not ended in time
	around  bool // it failed only because a test within it did
	output
}

// add adds a package to the run.
func (r *Run) add(name string) *pkg {
	p := &pkg{name: name, running: map[string]*test{}}
	r.packages = append(r.packages, p)
	return p
}

// test returns the run of a test that has not ended. If there is none, it begins.
func (p *pkg) test(name string) *test {
	t := p.running[name]
	if t == nil {
		p.begun++
		t = &test{name: name, number: p.begun}
		p.running[name] = t
	}
	return t
}

// testEnds notes the result of a test. Of those that pass nothing is kept.
func (p *pkg) testEnds(name, verdict, time string) *test {
	t := p.test(name)
	delete(p.running, name)
	t.time = time
	t.flush()
	t.at = message // its calls have ended
	if verdict == "FAIL" {
		p.failed = append(p.failed, t)
	}
	return t
}

// ends notes the result of a package. Tests that it took with it have failed too.
func (p *pkg) ends(as result, time string) {
	if p.result != unbuilt && p.result != untested {
		p.result, p.time = as, time
	}
	p.own.flush()
	quiet := len(p.failed) == 0 && !p.own.crashed() // it has ended, and does not say why
	for _, t := range p.running {
		if t.flush(); p.result == failed && (quiet || t.overdue || t.crashed()) {
			p.failed = append(p.failed, t)
		}
	}
	p.running = map[string]*test{}
}

// build is what the compiler and others said of a package.
type build struct {
	name string
	text clip
}

// build returns what was said of a package.
func (r *Run) build(name string) *clip {
	for _, b := range r.builds {
		if b.name == name {
			return &b.text
		}
	}
	b := &build{name: name}
	r.builds = append(r.builds, b)
	return &b.text
}
