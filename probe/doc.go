// Package probe lets a program define static probes: named places where something happens, with
// arguments, that can be watched while the program runs.
//
//	var requestStart = probe.New2[string, int]("myapp", "request-start", "path", "bytes")
//
//	func handle(w http.ResponseWriter, r *http.Request) {
//		requestStart.Fire(r.URL.Path, int(r.ContentLength))
//		...
//	}
//
// The probe is called myapp:::request-start, as in DTrace, and probe/myapp/request-start in rules:
//
//	FTRACE='probe/myapp/*' ./app
//	    prints a line each time:   - myapp:::request-start(path="/", bytes=0)
//	ftrace record -f '*;probe/myapp/*' ./app
//	    records them, among the calls around them
//	ftrace -n 'myapp:::request-start { @[arg0] = count(); }' -c ./app
//	    counts them by their first argument
//
// # Cost
//
// A probe is off until a rule that begins with "probe/" names it. Rules for functions, "*" among
// them, leave it off. A Fire that is off is inlined and costs a load and a branch. The caller
// computes the arguments even so: check Enabled first if that is expensive.
//
// In a program that was built without ftrace-wrap, probes are always off.
//
// # Names
//
// Names have at most 64 bytes, and begin with a letter or an underscore. A provider's name has
// letters, digits and underscores; a probe's may have dashes too; an argument's is a Go identifier
// in ASCII. The providers tcp, udp, call, dtrace, profile, tick, interval and probe are reserved.
//
// New and New0 to New6 panic if a name is not like that, so declare probes as package variables:
// then a wrong name shows when the program starts. A probe that is declared again, with the same
// arguments of the same types, is the same probe, so several places can fire it. With other
// arguments New panics.
package probe
