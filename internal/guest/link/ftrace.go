//go:build ftrace_core

// This file is added to package github.com/ftrace-wrap/ftrace-wrap/runtime when the wrapper
// compiles it: the links into the core.

package ftrace

import _ "unsafe" // for go:linkname

//go:linkname linkRules runtime.ftrace_api_rules
func linkRules() string

//go:linkname linkSetRules runtime.ftrace_api_setRules
func linkSetRules(rules string) (message string, offset, length int)

//go:linkname linkBudget runtime.ftrace_api_budget
func linkBudget() int

//go:linkname linkSetBudget runtime.ftrace_api_setBudget
func linkSetBudget(percent int) string

//go:linkname linkMatches runtime.ftrace_api_matches
func linkMatches(clause int) int

//go:linkname linkDepth runtime.ftrace_api_depth
func linkDepth() int

//go:linkname linkEnabled runtime.ftrace_api_enabled
func linkEnabled() bool

//go:linkname linkNote runtime.ftrace_api_note
func linkNote(text string)

//go:linkname linkGoroutine runtime.ftrace_api_goroutine
func linkGoroutine() uint64

//go:linkname linkUnwoven runtime.ftrace_api_unwoven
func linkUnwoven(delta int32)

//go:linkname linkLogged runtime.ftrace_api_logged
//go:noescape
func linkLogged(level int, line []byte)

func init() {
	coreRules, coreSetRules, coreMatches = linkRules, linkSetRules, linkMatches
	coreBudget, coreSetBudget = linkBudget, linkSetBudget
	coreDepth, coreEnabled, coreNote = linkDepth, linkEnabled, linkNote
	coreGoroutine, coreUnwoven, coreLogged = linkGoroutine, linkUnwoven, linkLogged
}
