//go:build ftrace_core

// The rules in force, and what they say of each function.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceConfig is a set of rules in force. What hooks read of it does not change once it is
// published, except for triggered. It is never freed: frames point to its clauses.
type ftraceConfig struct {
	number    uint32 // from 1 on, tells its marks from those of others; 0: it was never in force
	text      string
	clauses   []ftrace_rule_Clause
	in        []uint32           // by clause: the mark that must be set around a call, 0 if it needs none
	after     []uint32           // by clause: the trigger that must be set
	tree      []uint32           // by clause: the mark that its own functions set
	trees     uint32             // all marks of trees
	triggered atomic.Uint32      // the triggers that were hit
	all       ftrace_rule_Clause // for functions that are switched on whatever the rules say

	// Under the registry's lock.
	matches []uint32        // by clause: the number of functions that it decides for
	named   [32]bool        // marks and triggers that some function sets
	laid    [64]*ftraceLaid // what it says of functions, by a hash
	prev    *ftraceConfig
}

// ftraceLaid is what a configuration says of a function, and of all others of which it says the
// same. It does not change. A hook loads its function's once and goes by that from the call's
// beginning to its end: a second load might return that of other rules.
type ftraceLaid struct {
	config *ftraceConfig
	clause *ftrace_rule_Clause // the clause that decides, or nil
	until  uintptr             // calls after this many are only counted, whatever goes on around them
	ftraceLaidKey
	in    uint32 // marks that the clause needs around a call
	after uint32 // triggers that it needs
	next  *ftraceLaid
}

// ftraceLaidKey tells one ftraceLaid from the others of its configuration.
type ftraceLaidKey struct {
	number   uint32 // of the clause in the rules, from 1 on; 0: no clause decides
	marks    uint32 // bits that a call sets in its frame and those below
	triggers uint32 // bits that a call sets for the whole process
	flags    uint32 // ftraceSwitchedOn, ftraceSwitchedOff, ftraceMaskedOff
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

// clauseOf returns the clause of c that decides for f, or nil.
func (f *ftraceFunc) clauseOf(c *ftraceConfig) *ftrace_rule_Clause {
	if l := f.loadLaid(); l != nil && l.config == c {
		return l.clause
	}
	return nil
}
