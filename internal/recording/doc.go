// Package recording reads what an instrumented program recorded under FTRACE_RECORD.
//
// In comes a directory, as docs/format.md describes it. Out come the events of all processors, in
// the order of time:
//
//	r, err := recording.Open("ftrace.data")
//	s := r.Events(recording.Window{})
//	defer s.Close()
//	var e recording.Event
//	for s.Next(&e) {
//		fmt.Println(r.Since(e.Ticks), e.Kind, r.Function(e.Function).Name)
//	}
//
// Functions, types and layouts are read when the recording is opened. Events are read one by one, a
// packet of each processor at a time, and values only when they are printed. So the size of a
// recording does not matter. [Stacks] matches exits with their entries.
//
// A recording may still be being written, or be cut off or damaged. What is whole is read; the rest
// is in [Recording.Damage]. cmd/ftrace calls this package; nothing that is linked into traced
// programs does.
package recording
