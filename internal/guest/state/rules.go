//go:build ftrace_core

// The rules in force, and what they say of each function. Each observer has a set of its own.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceRules are the rules of one observer. They do not change once they are in force, except for
// matches. They are never freed: frames point to their clauses.
type ftraceRules struct {
	text    string
	clauses []ftrace_rule_Clause
	in      []uint32           // by clause: the mark that must be set around a call, 0 if it needs none
	after   []uint32           // by clause: the trigger that must be set
	tree    []uint32           // by clause: the mark that its own functions set
	trees   uint32             // all marks of trees
	bits    uint32             // all marks and triggers
	all     ftrace_rule_Clause // for functions that are switched on whatever the rules say
	matches []uint32           // by clause: the number of functions that it decides for; under the registry's lock
	limited []uint32           // by clause: it was reported that calls are no longer printed, since it says so; atomic
}

// ftraceConfig is what is in force: the rules of all observers. What hooks read of it does not
// change once it is published, except for triggered. It is never freed.
type ftraceConfig struct {
	number       uint32 // from 1 on, tells its marks from those of others
	*ftraceRules        // the program's own
	sessions     [ftrace_format_SessionsMax]*ftraceRules
	follow       uint32        // bits of sessions without rules, which see what the program's own say
	since        [32]uint32    // by mark or trigger: number of the configuration that gave it its meaning
	triggered    atomic.Uint32 // the triggers that were hit

	// Under the registry's lock.
	named [32]bool        // marks and triggers that some function sets
	laid  [64]*ftraceLaid // what it says of functions, by a hash
	other *ftraceOther    // all lists of what sessions want
	prev  *ftraceConfig
}

// ftraceLaid is what a configuration says of a function, and of all others of which it says the
// same. It does not change. A hook loads its function's once and goes by that from the call's
// beginning to its end: a second load might return that of other rules.
type ftraceLaid struct {
	config *ftraceConfig
	rules  *ftraceRules        // the observer's whose clause this is
	clause *ftrace_rule_Clause // the clause that decides, or nil
	until  uintptr             // calls after this many are only counted, whatever goes on around them
	sole   *ftraceOther        // the one who wants calls, all of them and just recorded, if that is a session
	ftraceLaidKey
	in    uint32 // marks that the clause needs around a call
	after uint32 // triggers that it needs
	next  *ftraceLaid
}

// ftraceLaidKey tells one ftraceLaid from the others of its configuration.
type ftraceLaidKey struct {
	observer uint32 // 0: the program's own rules, else the number of a session
	number   uint32 // of the clause in the rules, from 1 on; 0: no clause decides
	marks    uint32 // bits that a call sets in its frame and those below
	triggers uint32 // bits that a call sets for the whole process
	flags    uint32 // ftraceSwitchedOn, ftraceSwitchedOff, ftraceMaskedOff, ftraceLookedAt
	others   *ftraceOther
}

// ftraceOther is what a session wants of a function, in a list of all that want something.
type ftraceOther struct {
	session int // from 0 on
	laid    *ftraceLaid
	next    *ftraceOther
	made    *ftraceOther // the one that its configuration made before
}

// ftraceCurrent is the *ftraceConfig in force, or nil; atomic.
var ftraceCurrent unsafe.Pointer

// ftraceConfigs is the last of all configurations that were in force.
var ftraceConfigs *ftraceConfig

// ftraceRegistry lists the instrumented packages.
var ftraceRegistry = struct {
	lock    uint32 // semaphore
	first   *ftracePkg
	last    *ftracePkg
	funcs   uint32
	refused bool // a table of another version was seen

	switched bool // hooks were turned on or off, and the goroutines do not know yet
}{lock: 1}

func ftraceLoadConfig() *ftraceConfig {
	return (*ftraceConfig)(atomic.Loadp(unsafe.Pointer(&ftraceCurrent)))
}

// still returns those of the marks or triggers that mean the same now as in configuration number.
func (c *ftraceConfig) still(marks, number uint32) (same uint32) {
	for i := range c.since {
		if bit := uint32(1) << i; marks&bit != 0 && c.since[i] <= number {
			same |= bit
		}
	}
	return same
}

// of returns the rules of an observer, or nil.
func (c *ftraceConfig) of(observer uint32) *ftraceRules {
	if observer == 0 {
		return c.ftraceRules
	}
	return c.sessions[observer-1]
}

// wantedBy reports whether a session wants f, or for -1 the program's own rules do.
//
//go:nosplit
func (f *ftraceFunc) wantedBy(session int) bool {
	l := (*ftraceLaid)(atomic.Loadp(unsafe.Pointer(&f.laid)))
	if l == nil || session < 0 {
		return l != nil && l.clause != nil && l.clause.Detail > ftrace_rule_Count && l.flags&(ftraceSwitchedOff|ftraceMaskedOff) == 0
	}
	o := l.others
	for o != nil && o.session != session {
		o = o.next
	}
	return o != nil
}

// clauseOf returns the clause of c that decides for f, or nil.
func (f *ftraceFunc) clauseOf(c *ftraceConfig) *ftrace_rule_Clause {
	if l := f.loadLaid(); l != nil && l.config == c {
		return l.clause
	}
	return nil
}

// ftraceWantsAll reports whether a clause, which may be nil, wants all calls.
func ftraceWantsAll(clause *ftrace_rule_Clause) bool {
	return clause != nil && clause.Detail >= ftrace_rule_Call && clause.First == 0 && clause.Depth == 0 && clause.Rate == 0
}

// ftraceIsPlain reports whether a clause, which may be nil, wants all calls, and no more of them
// than their parameters and results.
func ftraceIsPlain(clause *ftrace_rule_Clause) bool {
	return ftraceWantsAll(clause) && clause.Detail < ftrace_rule_Deep && clause.Capture == ""
}
