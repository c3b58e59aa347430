package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Limit is how many bytes GitHub shows of what the steps of a job write: of more it shows nothing.
const Limit = 1<<20 - 1

// Least is a limit that leaves room for the result and some of the packages that failed.
const Least = 16 << 10

const (
	few     = 5   // failures whose details are open
	reserve = 512 // bytes for what is said of what was left out
)

// Markdown returns the summary, which has at most limit bytes, for go test's exit status.
func (r *Run) Markdown(status, limit int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range []*lines{r.out, r.err} {
		if len(l.part) > 0 {
			l.end()
		}
	}
	c := r.count()
	p := &page{limit: limit - reserve}
	p.add("\n## Tests: " + c.heading(status) + "\n")
	if rest := c.rest(); rest != "" {
		p.add("\n" + rest + "\n")
	}
	p.table(c.bad)
	p.details(r.failures(c, status))
	return p.text
}

// counts are those of a run.
type counts struct {
	packages int
	of       [results]int // packages
	tests    int          // that failed
	bad      []*pkg
}

func (r *Run) count() *counts {
	c := &counts{}
	for _, p := range r.packages {
		p.settle()
		if p.result == unknown && len(p.failed)+len(p.running) == 0 && p.own.empty() {
			continue // the run ended before it began
		}
		c.packages++
		c.of[p.result]++
		c.tests += p.tests()
		if p.result != passed && p.result != untested {
			c.bad = append(c.bad, p)
		}
	}
	return c
}

// settle sorts the tests that failed as they began, and finds those that failed only because others
// within them did. If these printed nothing either, they are left out.
func (p *pkg) settle() {
	around := map[string]bool{}
	for _, t := range p.failed {
		for i, c := range t.name {
			if c == '/' {
				around[t.name[:i]] = true
			}
		}
	}
	for _, t := range p.failed {
		t.around = around[t.name] && t.parts[calls].empty()
	}
	p.failed = slices.DeleteFunc(p.failed, func(t *test) bool { return t.around && t.empty() })
	slices.SortFunc(p.failed, func(a, b *test) int { return cmp.Compare(a.number, b.number) })
}

// tests returns how many tests failed.
func (p *pkg) tests() (n int) {
	for _, t := range p.failed {
		if !t.around {
			n++
		}
	}
	return n
}

// heading says in a line how the tests went.
func (c *counts) heading(status int) string {
	var said []string
	switch bad := c.of[failed] + c.of[unknown]; {
	case c.tests > 0:
		said = append(said, fmt.Sprintf("%d failed in %s", c.tests, c.share(bad)))
	case c.of[failed] > 0:
		said = append(said, c.share(c.of[failed])+" failed")
	}
	switch {
	case c.of[unbuilt] > 0 && len(said) > 0:
		said = append(said, fmt.Sprintf("%d did not build", c.of[unbuilt]))
	case c.of[unbuilt] > 0:
		said = append(said, c.share(c.of[unbuilt])+" did not build")
	}
	switch {
	case status > 128:
		said = append(said, fmt.Sprintf("go test was ended by signal %d", status-128))
	case status != 0 && len(said) == 0:
		said = append(said, fmt.Sprintf("go test ended with exit status %d", status))
	case len(said) == 0 && c.of[passed] == 0:
		return "there were none"
	case len(said) == 0:
		return number(c.of[passed], "package") + " passed"
	}
	return strings.Join(said, ", ")
}

// share says how many of the packages n are.
func (c *counts) share(n int) string {
	all := number(c.packages, "package")
	if n == c.packages {
		return all
	}
	return fmt.Sprintf("%d of %s", n, all)
}

// rest says in a line what became of the packages that the heading does not speak of.
func (c *counts) rest() string {
	var said []string
	if c.of[passed] > 0 && len(c.bad) > 0 {
		said = append(said, number(c.of[passed], "package")+" passed")
	}
	if c.of[untested] > 0 {
		said = append(said, fmt.Sprintf("%s without tests", number(c.of[untested], "package")))
	}
	if c.of[unknown] > 0 {
		said = append(said, number(c.of[unknown], "package")+" without a result")
	}
	if len(said) == 0 {
		return ""
	}
	return strings.Join(said, ", ") + "."
}

func number(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// verdict says in a few words what is wrong with a package.
func (p *pkg) verdict() string {
	switch p.result {
	case unbuilt:
		return "did not build"
	case unknown:
		return "no result"
	}
	var said []string
	if n := p.tests(); n > 0 {
		said = append(said, number(n, "test")+" failed")
	}
	outputs := []*output{&p.own}
	for _, t := range p.failed {
		outputs = append(outputs, &t.output)
	}
	for _, o := range outputs {
		for _, what := range o.faults() {
			if !slices.Contains(said, what) {
				said = append(said, what)
			}
		}
	}
	return cmp.Or(strings.Join(said, ", "), "failed")
}

// faults says what happened besides checks that failed.
func (o *output) faults() (what []string) {
	if o.raced() {
		what = append(what, "data race")
	}
	if o.crashed() {
		what = append(what, o.crashName())
	}
	return what
}

// crashName says how the program was ended.
func (o *output) crashName() string {
	switch name, _, _ := strings.Cut(o.cause, ":"); {
	case strings.HasPrefix(o.cause, timedOut):
		return "timed out"
	case name == "panic", name == "fatal error":
		return name
	}
	return "ended by a signal"
}

// A failure is shown in details that can be opened.
type failure struct {
	title string // HTML
	parts []titled
	aside bool // it is not open
}

// titled is a text with a title.
type titled struct {
	title string // or ""
	text  *clip
}

// failures returns what is to be shown, in order.
func (r *Run) failures(c *counts, status int) (all []failure) {
	if c.of[unbuilt] > 0 {
		for _, b := range r.builds {
			all = append(all, failure{title: code(b.name) + " did not build", parts: []titled{{"", &b.text}}})
		}
	}
	for _, p := range c.bad {
		for _, t := range p.failed {
			all = append(all, failure{title: t.title(p), parts: t.shown()})
		}
		if own := p.own.shown(); len(own) > 0 {
			what := strings.Join(p.own.faults(), ", ")
			if len(p.failed) == 0 {
				what = cmp.Or(what, "failed")
			}
			all = append(all, failure{title: code(p.name) + ": " + cmp.Or(what, "other output"), parts: own, aside: what == ""})
		}
	}
	if status != 0 && !r.other.empty() {
		all = append(all, failure{title: "What the go command said", parts: []titled{{"", &r.other}}, aside: len(all) > 0})
	}
	return all
}

// title returns what stands above a test's details.
func (t *test) title(in *pkg) string {
	title := code(t.name) + " in " + code(in.name)
	switch {
	case t.overdue:
		return title + " had not ended in time"
	case t.around:
		return title + ", of which a subtest failed"
	case t.time == "":
		return title + " had not ended"
	}
	return title + " (" + name(t.time) + ")"
}

// shown returns the parts of an output that there are.
func (o *output) shown() (all []titled) {
	titles := [parts]string{calls: "Calls:", race: "Data race:", crash: "The end of the program:"}
	if !o.crashed() {
		titles[crash] = ""
	}
	for i := range o.parts {
		if !o.parts[i].empty() {
			all = append(all, titled{titles[i], &o.parts[i]})
		}
	}
	return all
}
