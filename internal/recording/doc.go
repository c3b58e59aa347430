// Package recording reads what an instrumented program recorded under FTRACE_RECORD.
//
// In comes a directory, as docs/format.md describes it; out come events, in the order of time, of all processors:
//
//	r, err := recording.Open("ftrace.data")
//	s := r.Events(recording.Window{})
//	defer s.Close()
//	var e recording.Event
//	for s.Next(&e) {
//		fmt.Println(r.Since(e.Ticks), e.Kind, r.Function(e.Function).Name)
//	}
//
// Functions, types and layouts are read when the recording is opened, events as they are asked for, a packet of each processor at a time, and values only
// when they are printed: the size of a recording does not matter. [Stacks] puts exits together with their entries.
//
// A recording may be still being written, cut off, or damaged. What is whole is read; what is not is in [Recording.Damage]. cmd/ftrace calls this
// package; nothing that is linked into traced programs does.
package recording
