// Package live looks into running programs that were built with ftrace-wrap: which functions are armed, what each goroutine is in, its last calls, summaries of all functions; and it
// arms, disarms and records. A program need not be prepared for that, and what it costs it costs only while something is armed.
//
//	for _, found := range live.List() { ... }
//	p, err := live.Attach(pid)
//	p.SetRules("main.*")
//	s, err := p.Snapshot()
//
// It reads the memory file that each such program has (docs/format.md), which is open to the user that the program runs as, and on Linux only. Reading never stops or delays the program.
package live
