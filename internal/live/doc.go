// Package live looks into running programs that were built with ftrace-wrap. It shows which
// functions are armed, where each goroutine is, its last calls, and summaries of all functions. And
// it arms, disarms and records. A program need not be prepared for that, and it costs something
// only while something is armed.
//
//	for _, found := range live.List() { ... }
//	p, err := live.Attach(pid)
//	p.SetRules("main.*")
//	s, err := p.Snapshot(live.AllContents)
//
// It reads the memory file of the program (docs/format.md), on Linux, Windows and macOS. Only the
// user that the program runs as can open that. Reading never stops or delays the program.
package live
