package walk

import "github.com/ftrace-wrap/ftrace-wrap/internal/recording"

// A Stream gives the events of a source, and shows how far it is.
type Stream struct {
	*recording.Stream
	end func()
	e   recording.Event
}

// Events begins to read the source. The caller closes the stream.
func (s *Source) Events() *Stream {
	to := &Stream{Stream: s.Recording.Events(s.Window)}
	if s.Progress != nil {
		to.end = s.Progress(to.Size(), to.Done)
	}
	return to
}

// Next returns the next event, which is the caller's until the one after it, or nil at the end.
func (s *Stream) Next() *recording.Event {
	if s.Stream.Next(&s.e) {
		return &s.e
	}
	return nil
}

// Close gives up what the stream holds, whether all of it was read or not.
func (s *Stream) Close() {
	if s.end != nil {
		s.end()
	}
	s.Stream.Close()
}
