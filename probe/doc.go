// Package probe lets a program define static probes: places where it says that something happened,
// with arguments, to who asks at run time.
//
//	var requestStart = probe.New2[string, int]("myapp", "request-start", "path", "bytes")
//
//	func handle(w http.ResponseWriter, r *http.Request) {
//		requestStart.Fire(r.URL.Path, int(r.ContentLength))
//		...
//	}
//
// The probe is called myapp:::request-start, as in DTrace, and in rules probe/myapp/request-start:
//
//	FTRACE='probe/myapp/*' ./app                            prints    - myapp:::request-start(path="/", bytes=0)
//	ftrace record ./app                                     with such rules records it, among the calls around it
//	ftrace -n 'myapp:::request-start { @[arg0] = count(); }' -c ./app
//
// A probe is off until a rule that begins with "probe/" names it: rules for functions, "*" among
// them, do not. Off, Fire is inlined and costs a load and a branch; it computes and boxes nothing.
// Arguments that cost something to compute are computed by the caller, though: put those behind
// Enabled.
//
// In a program that is built without ftrace-wrap probes are always off.
//
// # Names
//
// A provider's name is letters, digits and underscores, a probe's also has dashes, an argument's is
// a Go identifier in ASCII; each begins with a letter or an underscore and has at most 64 bytes.
// The providers tcp, udp, call, dtrace, profile, tick, interval and probe are not for programs. New
// panics if a name is not like that: probes are package variables, so that shows when the program
// starts.
//
// To declare a probe again, with the same arguments of the same types, gives the same one: several
// places can fire it. With others New panics.
package probe
