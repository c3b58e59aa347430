package summary

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// event is a line of go test -json, as go doc test2json has it.
type event struct {
	Action, Package, Test, Output, FailedBuild string
	Elapsed                                    float64
}

// events takes the lines of go test -json.
type events struct {
	run      *Run
	notices  *notices
	packages map[string]*pkg
	ending   map[*pkg]bool // its time is up: what comes is why
}

func newEvents(r *Run) *events {
	return &events{run: r, notices: &notices{run: r}, packages: map[string]*pkg{}, ending: map[*pkg]bool{}}
}

func (x *events) line(s string) {
	var e event
	switch err := json.Unmarshal([]byte(s), &e); {
	case err != nil || e.Action == "":
		x.notices.line(s)
	case e.Package != "":
		x.pkg(&e)
	case e.Action == "build-output":
		x.notices.line(strings.TrimSuffix(e.Output, "\n"))
	}
}

// pkg takes what happened in a package.
func (x *events) pkg(e *event) {
	p := x.packages[e.Package]
	if p == nil || e.Action == "start" {
		p = x.run.add(e.Package)
		x.packages[e.Package] = p
	}
	verdict := strings.ToUpper(e.Action)
	switch e.Action {
	case "output":
		x.output(p, e)
	case "run":
		p.test(e.Test)
	case "pass", "fail", "skip", "bench":
		if e.Test != "" {
			p.testEnds(e.Test, verdict, seconds(e.Elapsed, 2))
			return
		}
		if e.FailedBuild != "" {
			p.result = unbuilt
		}
		p.ends(map[string]result{"PASS": passed, "FAIL": failed, "SKIP": untested}[verdict], seconds(e.Elapsed, 3))
	}
}

func seconds(t float64, digits int) string { return strconv.FormatFloat(t, 'f', digits, 64) + "s" }

// output takes what a test printed, or the package. What tells results is in other events too.
func (x *events) output(p *pkg, e *event) {
	line := strings.TrimSuffix(e.Output, "\n")
	if _, _, as, ok := resultOf(line); ok && e.Test == "" {
		if as == unbuilt || as == untested {
			p.result = as
		}
		return
	}
	if updateLine().MatchString(line) || reportLine().MatchString(line) || e.Test == "" && endLine(line) {
		return
	}
	x.ending[p] = x.ending[p] || strings.HasPrefix(line, timedOut)
	if e.Test == "" || x.ending[p] {
		p.own.write(e.Output)
		return
	}
	t := p.test(e.Test)
	if m := testCalls().FindStringSubmatch(line); m != nil {
		t = p.test(m[1])
		t.overdue = m[2] != "failed"
	}
	t.write(e.Output)
}

// notices takes what the go command says itself: what the compiler said, below a line with the
// package's name, and what it downloads, or why it can't begin.
type notices struct {
	run *Run
	at  *clip
}

var buildLine = words.Regexp(`^# ([^\s\[]\S*)(?: \[\S+\])?$`)

// heeds reports whether the line is a notice, where it may be another one.
func (n *notices) heeds(s string) bool {
	return n.at != nil || buildLine().MatchString(s) || strings.HasPrefix(s, "go: ")
}

func (n *notices) line(s string) {
	switch m := buildLine().FindStringSubmatch(s); {
	case m != nil:
		n.at = n.run.build(m[1])
	case n.at == nil || strings.HasPrefix(s, "go: "):
		n.at = &n.run.other
	}
	n.at.add(s)
}
