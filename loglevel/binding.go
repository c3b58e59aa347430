package loglevel

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

// A Binding ties what is traced to levels. See [Bind].
type Binding struct {
	v        Var
	parts    []part // what it is for; nil is everything
	settings string // after the selectors of its clauses
	err      error  // of the last change
	unbound  bool
}

// bindings are those in force. They put their clauses into the rules as one stretch, between the
// marks, so that what others set, with or without these clauses, can be told from it at any time.
var bindings struct {
	sync.Mutex
	list []*Binding
	said bool // a failure was reported
}

const (
	beginMark = "# bound by loglevel\n"
	endMark   = "# end of what loglevel bound\n"
)

// An Option of [Bind].
type Option func(*Binding) error

// For confines a binding to packages and files, with patterns as those of [Levels]. Without it, all
// functions that have hooks are bound.
func For(patterns ...string) Option {
	return func(b *Binding) error {
		for _, text := range patterns {
			pattern, at := trim(text, 0)
			e, message := newEntry(pattern)
			if message != "" {
				return &SyntaxError{text, at, len(pattern), message}
			}
			b.parts = append(b.parts, part{e.selector})
		}
		return nil
	}
}

// As chooses how calls are traced at TRACE. settings are what follows "=" in a clause of FTRACE,
// such as "deep" or "call,min=1ms,rate=100/s". Without As, it is "args".
func As(settings string) Option {
	return func(b *Binding) error {
		clauses, err, ok := rule.Parse("*=" + settings)
		switch {
		case !ok:
			return &SyntaxError{settings, max(0, err.Offset-len("*=")), err.Length, err.Message}
		case len(clauses) != 1 || strings.ContainsAny(settings, "\n#;") || clauses[0].Detail == rule.Off:
			return &SyntaxError{settings, 0, len(settings), "these are no settings of a clause that traces"}
		}
		b.settings = "=" + settings
		return nil
	}
}

// Bind ties what is traced to levels. While a package or file is at TRACE or below, its functions
// are armed; when it leaves TRACE, they are disarmed. What is traced has changed when the change of
// the level returns. Calls under way end as they began.
//
// The rules in force, those of FTRACE or [ftrace.SetRules], stay and go first: what they name is
// traced as they say, at any level. Leading clauses that only count, such as those of FTRACE_STATS,
// do not count as naming. If the program calls ftrace.SetRules later, its rules replace all; the
// bindings are added to them when a bound level is set next, even if to the same level. Each change
// puts rules in force, so what waits for "after=" waits again.
//
// There may be several bindings, of the same level or of different ones. What any of them wants is
// traced; where two want the same, the later one decides how.
//
// Without the wrapper the error is [ftrace.ErrInactive]: levels work, nothing is traced, and the
// binding does nothing. Other errors are those of an option and of ftrace.SetRules, such as that
// FTRACE_OUT can't be opened. What goes wrong at later changes is written to stderr once, and
// [Binding.Err] returns it.
func Bind(v Var, options ...Option) (*Binding, error) {
	b := &Binding{v: v}
	for _, o := range options {
		if err := o(b); err != nil {
			b.unbound = true
			return b, err
		}
	}
	if !ftrace.Active() {
		b.unbound = true
		return b, ftrace.ErrInactive
	}
	v.watched().Add(1)
	bindings.Lock()
	defer bindings.Unlock()
	bindings.list = append(bindings.list, b)
	if err := rebind(); err != nil {
		b.remove()
		return b, err
	}
	return b, nil
}

// Unbind ends the binding: what it alone armed is disarmed, and when the last binding has ended the
// rules in force are what they would be without any. Further calls do nothing.
func (b *Binding) Unbind() {
	bindings.Lock()
	defer bindings.Unlock()
	if !b.unbound {
		b.remove()
		rebindOrSay()
	}
}

// remove is called with bindings locked.
func (b *Binding) remove() {
	b.unbound = true
	b.v.watched().Add(-1)
	bindings.list = slices.DeleteFunc(bindings.list, func(other *Binding) bool { return other == b })
}

// Err returns the error of the last change of rules, nil if what is traced is as the level says.
func (b *Binding) Err() error {
	bindings.Lock()
	defer bindings.Unlock()
	return b.err
}

// changed is called when v has been set.
func changed(v Var) {
	if v.watched().Load() == 0 {
		return
	}
	bindings.Lock()
	defer bindings.Unlock()
	rebindOrSay()
}

// rebindOrSay is rebind where no one takes the error.
func rebindOrSay() {
	if err := rebind(); err != nil && !bindings.said {
		bindings.said = true
		fmt.Fprintf(os.Stderr, "loglevel: what is traced does not follow the level: %v\n", err)
	}
}

// rebind puts in force what the levels now say. It is called with bindings locked, and looks at the
// levels itself: of several changes at the same time each finds the last.
func rebind() error {
	now := ftrace.Rules()
	base := without(now)
	rules := base
	if clauses := clausesOf(bindings.list); clauses != "" {
		if named, _, _ := rule.Parse(base); len(named) == 0 {
			base = "" // "off" can't have anything beside it
		}
		at := behindCounts(base)
		rules = base[:at] + beginMark + clauses + endMark + base[at:]
	}
	var err error
	if rules != now {
		err = ftrace.SetRules(rules)
	}
	for _, b := range bindings.list {
		b.err = err
	}
	return err
}

// clausesOf returns the clauses of bindings, each on its line.
func clausesOf(list []*Binding) string {
	var text strings.Builder
	for _, b := range list {
		parts := b.parts
		if parts == nil {
			parts = []part{{}}
		}
		for _, traced := range b.v.traced() {
			for _, p := range parts {
				text.WriteString(b.clause(p, traced) + "\n")
			}
		}
	}
	return text.String()
}

// clause returns the clause for what is in both parts.
func (b *Binding) clause(p, q part) string {
	selectors := slices.Concat(p, q)
	if len(selectors) == 0 || selectors[0][0] == '!' {
		selectors = slices.Insert(selectors, 0, "*")
	}
	return strings.Join(selectors, " & ") + b.settings
}

// without returns rules without the stretch between the marks.
func without(rules string) string {
	for {
		before, rest, found := strings.Cut(rules, beginMark)
		_, after, ends := strings.Cut(rest, endMark)
		if !found || !ends {
			return rules
		}
		rules = before + after
	}
}

// behindCounts returns where in the rules the first clause begins that does more than count.
func behindCounts(rules string) int {
	clauses, _, _ := rule.Parse(rules)
	counts := 0
	for counts < len(clauses) && clauses[counts].Detail == rule.Count {
		counts++
	}
	switch counts {
	case 0:
		return 0
	case len(clauses):
		return len(rules)
	}
	for i := range rules {
		if c := rules[i]; c == ';' || c == '\n' {
			if before, _, _ := rule.Parse(rules[:i+1]); len(before) == counts {
				return i + 1
			}
		}
	}
	return 0
}
