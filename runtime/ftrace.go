package ftrace

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// The links into the core: nil in a program built without the wrapper. When the wrapper compiles
// this package it adds a file that sets them (see internal/inject).
var (
	coreRules     func() string
	coreSetRules  func(rules string) (message string, offset, length int)
	coreMatches   func(clause int) int
	coreBudget    func() int
	coreSetBudget func(percent int) string
	coreDepth     func() int
	coreEnabled   func() bool
	coreNote      func(text string)

	coreGoroutine func() uint64
	coreUnwoven   func(delta int32)
	coreLogged    func(level int, line []byte)
)

// ErrInactive is the error of [SetRules] in a program built without ftrace-wrap.
var ErrInactive = errors.New("ftrace: this program was not built with ftrace-wrap")

// Active reports whether the program was built with ftrace-wrap.
func Active() bool { return coreRules != nil }

// Rules returns the rules in force: those of the last [SetRules], or else of the environment
// variable FTRACE. It returns "" if nothing is traced.
func Rules() string {
	if coreRules == nil {
		return ""
	}
	return coreRules()
}

// SetRules replaces the rules in force, at once and for the whole program. Rules of "" or "off"
// disarm everything.
//
// Calls that begin from now on are traced by the new rules. A call under way ends in the trace as
// it began. If the new rules no longer arm its function, it ends there when its goroutine next
// calls an armed function. The trace goes where FTRACE_OUT says, in the form that FTRACE_FORMAT
// says.
//
// If the rules are wrong, SetRules returns an error that quotes the text at fault, and the rules in
// force stay. Without the wrapper it checks the rules too; if they are right, the error is
// [ErrInactive].
func SetRules(rules string) error {
	if coreSetRules == nil {
		if _, err, ok := rule.Parse(rules); !ok {
			return rulesError(rules, err.Message, err.Offset, err.Length)
		}
		return ErrInactive
	}
	// The clauses in force keep pieces of the text.
	rules = strings.Clone(rules)
	if message, offset, length := coreSetRules(rules); message != "" {
		return rulesError(rules, message, offset, length)
	}
	return nil
}

// Budget returns what recording may cost, in percent of the processor time that the program uses
// itself: that of the last [SetBudget], or else of the environment variable FTRACE_BUDGET. It
// returns 0 if there is no limit.
func Budget() int {
	if coreBudget == nil {
		return 0
	}
	return coreBudget()
}

// SetBudget limits what recording may cost to so many percent of the processor time that the
// program uses itself, from 1 to 999, at once. 0 is no limit.
//
// Within a budget, calls of the functions that are called most are left out of the recording at
// times, and counted as far as that costs little. Only calls that the program records, by
// FTRACE_RECORD, and does nothing else with, are left out. Who is attached to the program has a
// budget of its own, as has what SQL enables.
//
// SetBudget fails where there can be no budget: if percent is out of range, on systems where a
// program's processor time is not known, and, with [ErrInactive], without the wrapper. Then the
// budget stays as it was.
func SetBudget(percent int) error {
	if percent < 0 || percent > 999 {
		return fmt.Errorf("ftrace: a budget of %d%%: it is neither 0 nor from 1 to 999", percent)
	}
	if coreSetBudget == nil {
		return ErrInactive
	}
	if message := coreSetBudget(percent); message != "" {
		return fmt.Errorf("ftrace: a budget of %d%%: %s", percent, message)
	}
	return nil
}

func rulesError(rules, message string, offset, length int) error {
	return fmt.Errorf("ftrace: rules: at byte %d, %q: %s", offset, rules[offset:min(len(rules), offset+length)], message)
}

// A Match is one clause of the rules in force.
type Match struct {
	Clause string // the clause's text
	Funcs  int    // the number of functions that the clause decides for
}

// Matches returns the clauses of the rules in force, in their order. A clause with Funcs 0 matches
// no function, or later clauses decide for those that it matches: that is worth a warning.
func Matches() []Match {
	clauses, _, _ := rule.Parse(Rules())
	var matches []Match
	for i, c := range clauses {
		if n := coreMatches(i); n >= 0 {
			matches = append(matches, Match{c.Text, n})
		}
	}
	return matches
}

// Enabled reports whether the call that Enabled is called from is in the trace: its function is
// armed, and the rules show this call.
//
//go:noinline
func Enabled() bool { return coreEnabled != nil && coreEnabled() }

// Depth returns the number of traced calls under way on this goroutine, the current one included if
// it is traced.
func Depth() int {
	if coreDepth == nil {
		return 0
	}
	return coreDepth()
}

// Note adds its arguments to the line that ends the current call, formatted as by [fmt.Sprintln]
// without the newline. If the current call is not traced, Note does nothing; check [Enabled] before
// notes that are expensive to prepare.
//
// A note stays on its line: line breaks and other control characters are escaped.
//
//go:noinline
func Note(args ...any) {
	if Depth() == 0 {
		return
	}
	text := fmt.Sprintln(args...)
	coreNote(text[:len(text)-1])
}

// Goroutine returns the number of this goroutine, as it is in traces and stack traces: 7 for G7.
// Without the wrapper it returns 0, which is no goroutine's number.
func Goroutine() uint64 {
	if coreGoroutine == nil {
		return 0
	}
	return coreGoroutine()
}

// WithoutWeaving calls f, and leaves out of the trace what f writes to the file descriptors 1 and 2
// on this goroutine: the bytes go where they are written, and no line of the trace is made of them.
// Writers and log handlers that make lines of the trace themselves use it.
//
// Calls that f makes are traced as ever, and so is what goroutines write that f starts. Calls of
// WithoutWeaving may be nested. Without the wrapper, or if nothing is traced, it only calls f.
func WithoutWeaving(f func()) {
	if coreUnwoven == nil {
		f()
		return
	}
	coreUnwoven(1)
	defer coreUnwoven(-1)
	f()
}

// LevelInLine, given to [Logged], means that the level is in the line, where loggers put it:
// {"level":"error"}, level=ERROR, [ERR], ERROR: and the like.
const LevelInLine = -1 << 31

// Logged announces a line that the goroutine is about to log within [WithoutWeaving]. The level is
// one of package slog's, such as 8 for an error, or [LevelInLine].
//
// A recording gets the line. If the line is an error, FTRACE_ON_ERROR shows the goroutine's last
// calls. Logged keeps no reference to line. Without the wrapper, or if nothing is recorded, it does
// nothing.
func Logged(level int, line []byte) {
	if coreLogged != nil {
		coreLogged(level, line)
	}
}
