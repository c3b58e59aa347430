// Package dtrace is D, the language of DTrace, for the events of Go programs: probes, predicates,
// actions, aggregations, and bpftrace's spellings where users know these. docs/probes.md describes
// the language. The views probes and web run programs; cmd/ftrace has the flags.
//
//	program, err := dtrace.Compile(`call:main:*:entry /arg.n > 3/ { @[probefunc] = count(); }`)
//	r, err := recording.Open("ftrace.data")
//	m := dtrace.NewMachine(program, r, os.Stdout, os.Stderr)
//	m.Begin()
//	for s.Next(&e) && !m.Done() {
//		m.Event(&e)
//	}
//	m.End()
//	m.Flush()
//
// scan.go and parse.go make a tree of a program's text. compile.go makes a closure of each part of
// it, with access.go for values of events, variable.go, builtin.go, function.go and action.go.
// machine.go runs them. Program.Rules returns what a program needs to have recorded, as FTRACE
// rules.
//
// Types of values are checked when a program runs, not before. One clause is for functions of all
// signatures, and only the recording has the types of the traced program.
package dtrace
