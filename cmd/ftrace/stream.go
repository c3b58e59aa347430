package main

import "github.com/ftrace-wrap/ftrace-wrap/internal/recording"

// A stream gives the events of a recording, with a progress bar while it is read, unless the walker has none.
type stream struct {
	*recording.Stream
	bar *progress
	e   recording.Event
}

// events begins to read the recording. The caller closes the stream.
func (w *walker) events(window recording.Window) *stream {
	s := &stream{Stream: w.r.Events(window)}
	if w.verb != "" {
		s.bar = newProgress("ftrace "+w.verb, s.Size(), s.Done)
	}
	return s
}

// Next returns the next event, which is the caller's until the one after it, or nil at the end.
func (s *stream) Next() *recording.Event {
	if s.Stream.Next(&s.e) {
		return &s.e
	}
	return nil
}

// Close gives up what the stream holds, whether all of it was read or not.
func (s *stream) Close() {
	s.bar.close()
	s.Stream.Close()
}
