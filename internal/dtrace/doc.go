// Package dtrace is D, the language of DTrace, for the events of Go programs: probes, predicates, actions, aggregations, and bpftrace's spellings where users know these. docs/probes.md has the
// language; cmd/ftrace, which alone imports this, has the flags.
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
// A program's text goes through scan.go and parse.go, which make a tree; compile.go, with access.go for values of events, variable.go, builtin.go, function.go and action.go, makes a closure of each
// part of it; machine.go runs them. What a program needs to have recorded, Program.Rules says as FTRACE rules. Values have their types when a program runs, not before, for one clause is
// for functions of all signatures, and the types of the traced program are known from its recording alone.
package dtrace
