// Package ftrace lets a program that was built with ftrace-wrap steer its own trace.
//
//	ftrace.SetRules("example.com/app/db.*=deep; !*.String")
//	...
//	ftrace.Note("retry", n)   // G1   } = nil // db.Query: retry 2
//
// A program built without the wrapper, by plain go build, can import this package as well: there is
// nothing to trace then, and every function here does nothing, cheaply. [Active] tells the two
// apart.
//
// Rules are those of the environment variable FTRACE; see package rule and docs/rules.md for their
// grammar. All functions may be called from several goroutines at once.
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
	coreRules    func() string
	coreSetRules func(rules string) (message string, offset, length int)
	coreMatches  func(clause int) int
	coreDepth    func() int
	coreEnabled  func() bool
	coreNote     func(text string)

	coreGoroutine func() uint64
	coreUnwoven   func(delta int32)
	coreLogged    func(level int, line []byte)
)

// ErrInactive is the error of operations that need a program built with ftrace-wrap.
var ErrInactive = errors.New("ftrace: this program was not built with ftrace-wrap")

// Active reports whether the program was built with ftrace-wrap.
func Active() bool { return coreRules != nil }

// Rules returns the rules in force: those of the last SetRules, or of the environment variable
// FTRACE, "" if nothing is armed.
func Rules() string {
	if coreRules == nil {
		return ""
	}
	return coreRules()
}

// SetRules puts rules in force in place of the present ones, at once and for the whole program:
// calls that begin from now on are traced by them; calls under way end as they began, but for those
// of functions that the new rules do not arm: they end in the trace when their goroutine next calls
// an armed function. "" or "off" disarms everything. The trace goes where FTRACE_OUT and
// FTRACE_FORMAT, read at the first use, say.
//
// Rules that are wrong leave those in force as they are, and are reported with the text at fault.
// Without the wrapper rules are checked, and if they are right the error is [ErrInactive].
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

func rulesError(rules, message string, offset, length int) error {
	return fmt.Errorf("ftrace: rules: at byte %d, %q: %s", offset, rules[offset:min(len(rules), offset+length)], message)
}

// Match is one clause of the rules in force.
type Match struct {
	Clause string // its text
	Funcs  int    // how many functions it decides for
}

// Matches returns the clauses of the rules in force with the number of functions that each decides
// for; 0 is worth a warning.
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

// Enabled reports whether the call that it is made from is being traced: it is armed, and the rules
// show it.
//
//go:noinline
func Enabled() bool { return coreEnabled != nil && coreEnabled() }

// Depth returns how many traced calls are under way on this goroutine, the current one included if
// it is traced; 0 if none is.
func Depth() int {
	if coreDepth == nil {
		return 0
	}
	return coreDepth()
}

// Note adds information to the line that ends the current call, formatted as by [fmt.Sprintln]
// without the newline. It does nothing if the current call is not traced; use [Enabled] in front of
// notes that are expensive to prepare. The note stays on its line: a line break within it is shown
// as \n, and other control characters are escaped too.
//
//go:noinline
func Note(args ...any) {
	if Depth() == 0 {
		return
	}
	text := fmt.Sprintln(args...)
	coreNote(text[:len(text)-1])
}

// Goroutine returns the number of this goroutine, as traces and stack traces show it: 7 for G7. In
// a program built without the wrapper it is 0, which no goroutine has.
func Goroutine() uint64 {
	if coreGoroutine == nil {
		return 0
	}
	return coreGoroutine()
}

// Unwoven calls f. What f writes to the file descriptors 1 and 2 on this goroutine, by whatever
// means, reaches them as it is and is not woven into the trace, which is for writers and log
// handlers that weave their lines themselves. Goroutines that f starts are woven as ever, and calls
// are traced within f too. Calls of Unwoven may be nested. Without the wrapper, and if nothing is
// traced, it does no more than call f.
func Unwoven(f func()) {
	if coreUnwoven == nil {
		f()
		return
	}
	coreUnwoven(1)
	defer coreUnwoven(-1)
	f()
}

// LevelInLine stands for the level of a line in which it is to be found, where loggers put it:
// {"level":"error"}, level=ERROR, [ERR], ERROR: and the like.
const LevelInLine = -1 << 31

// Logged says that the goroutine is about to log a line, at a level as those of package slog or
// [LevelInLine], in a way that is not woven. Recordings have the line then, and FTRACE_ON_ERROR
// shows the goroutine's last calls if it is an error. The line is not kept. Logged may be called
// concurrently. Without the wrapper, and if nothing is recorded, it does nothing.
func Logged(level int, line []byte) {
	if coreLogged != nil {
		coreLogged(level, line)
	}
}
