//go:build ftrace_core

// Whether what the program writes is woven: that depends on the rules in force.

package runtime

import "internal/runtime/atomic"

// ftraceSetWeavesNow is ftraceSetWeaves for callers that do not hold the registry's lock.
func ftraceSetWeavesNow() {
	semacquire(&ftraceRegistry.lock)
	ftraceSetWeaves()
	semrelease(&ftraceRegistry.lock)
}

// ftraceSetWeaves switches weaving on if the rules in force show or record calls. FTRACE_ON_ERROR
// needs lines even if they are not woven.
//
// The program's output is left alone until there is a function that is shown: rules that match
// nothing change nothing. The registry is locked: if two callers find different answers, the later
// is right.
func ftraceSetWeaves() {
	weaves := uint32(0)
	c := ftraceLoadConfig()
	if c != nil && (ftraceWeaveMode != ftraceWeaveOff || ftraceOnError != 0) {
		for i := range c.clauses {
			if c.clauses[i].Detail >= ftrace_rule_Call && (ftraceRecording.on && !ftraceOut.on || ftraceOut.on && c.mayShow(i)) {
				weaves = 1
			}
		}
		for i, r := range c.sessions {
			if c.follow>>i&1 != 0 {
				r = c.ftraceRules
			}
			for j := 0; r != nil && j < len(r.clauses) && ftraceSessions[i].on; j++ {
				if r.clauses[j].Detail >= ftrace_rule_Call {
					weaves = 1
				}
			}
		}
	}
	atomic.Store(&ftraceWeaves, weaves)
	ftraceForgetStreams()
	if weaves == 0 {
		ftraceWriteCopies()
	}
}

// mayShow reports whether there is a function that clause i decides for, and, if the clause waits
// for another one, that one too.
func (c *ftraceConfig) mayShow(i int) bool {
	return c.matches[i] != 0 && (c.in[i] == 0 || c.someName(c.in[i])) && (c.after[i] == 0 || c.someName(c.after[i]))
}
