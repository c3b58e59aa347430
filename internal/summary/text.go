package summary

import (
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// text takes what go test prints without -json. What a package prints comes in one piece, which
// ends with its result.
type text struct {
	run     *Run
	notices *notices
	pkg     *pkg    // that prints, under a name that is to come; nil between packages
	at      *output // whose lines come
	reports []*test // those whose results were printed last, each within the one before
}

func newText(r *Run) *text { return &text{run: r, notices: &notices{run: r}} }

var (
	resultLine = words.Regexp(`^(ok  |FAIL|\?   |)\t(\S+)(\t| \[)(.*)$`)
	updateLine = words.Regexp(`^=== (RUN|PAUSE|CONT|NAME|ATTR|ARTIFACTS)(?: +(\S+).*)?$`)
	reportLine = words.Regexp(`^((?: {4})*)--- (PASS|FAIL|SKIP|BENCH): (\S+)(?: \(([0-9.]+s)\))?$`)
)

// marker is what -v=test2json has go test print before the lines that it is to know.
const marker = "\x16"

func (x *text) line(s string) {
	s = strings.TrimPrefix(s, marker)
	switch {
	case x.result(s) || x.update(s) || x.report(s):
	case endLine(s):
		x.outside()
	case x.calls(s):
	case x.pkg == nil && !crashLine().MatchString(s) && x.notices.heeds(s):
		x.notices.line(s)
	default:
		x.output(s).line(s)
	}
}

// endLine recognises what a test program prints at its end, of which go test tells the result.
func endLine(s string) bool {
	return s == "PASS" || s == "FAIL" || strings.HasPrefix(s, "coverage: ")
}

// prints returns the package whose lines come.
func (x *text) prints() *pkg {
	if x.pkg == nil {
		x.pkg = x.run.add("")
		x.outside()
	}
	return x.pkg
}

// outside has lines belong to no test.
func (x *text) outside() {
	x.notices.at = nil
	x.reports = nil
	if x.pkg != nil {
		x.at = &x.pkg.own
	}
}

// result takes the line with which a package ends.
func (x *text) result(s string) bool {
	name, time, as, ok := resultOf(s)
	if !ok {
		return false
	}
	p := x.prints()
	p.name = name
	p.ends(as, time)
	x.pkg, x.at = nil, nil
	x.outside()
	return true
}

// resultOf takes a package's result apart.
func resultOf(s string) (name, time string, as result, ok bool) {
	m := resultLine().FindStringSubmatch(s)
	if m == nil {
		return "", "", unknown, false
	}
	name, rest := m[2], m[4]
	switch verdict := m[1]; {
	case verdict == "FAIL" && m[3] == " [":
		return name, "", unbuilt, rest == "build failed]" || rest == "setup failed]"
	case verdict == "?   ", verdict == "" && strings.HasPrefix(rest, "\tcoverage: "):
		return name, "", untested, true
	case verdict == "" || m[3] == " [":
		return "", "", unknown, false
	}
	as = passed
	if m[1] == "FAIL" {
		as = failed
	}
	time, _, _ = strings.Cut(rest, "\t")
	return name, strings.Trim(time, "()"), as, true
}

// update takes a line by which -v says which test is at work.
func (x *text) update(s string) bool {
	m := updateLine().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	p := x.prints()
	x.outside()
	if m[2] != "" {
		x.at = &p.test(m[2]).output
	}
	return true
}

// report takes the result of a test. Results of subtests are in those of the tests around them.
func (x *text) report(s string) bool {
	m := reportLine().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	depth, name := len(m[1])/4, m[3]
	if depth > len(x.reports) || depth > 0 && !within(name, x.reports[depth-1].name) {
		return false
	}
	p := x.prints()
	t := p.testEnds(name, m[2], m[4])
	x.reports = append(x.reports[:depth:depth], t)
	x.at = &t.output
	return true
}

// within reports whether a test is a subtest, or an input of a fuzz test, which has the same name.
func within(name, around string) bool {
	return name == around || strings.HasPrefix(name, around+"/")
}

// calls takes the line that begins a test's calls. They are printed before the test's result.
func (x *text) calls(s string) bool {
	m := testCalls().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	t := x.prints().test(m[1])
	t.overdue = m[2] != "failed"
	x.at = &t.output
	x.at.line(s)
	return true
}

// output returns whose line this is. After results, it is what is indented as deep as they are that
// tells, but the output of examples is not indented.
func (x *text) output(s string) *output {
	p := x.prints()
	switch depth := min((len(s)-len(strings.TrimLeft(s, " ")))/4, len(x.reports)); {
	case strings.HasPrefix(s, timedOut):
		x.outside()
	case len(x.reports) == 0 || x.at.at == calls || x.at.at == crash:
	case depth > 0:
		x.at = &x.reports[depth-1].output
	case strings.Contains(s, " [recovered") && crashLine().MatchString(s):
		x.at = &x.reports[len(x.reports)-1].output
	case !strings.HasPrefix(x.reports[0].name, "Example"):
		x.at = &p.own
	}
	return x.at
}
