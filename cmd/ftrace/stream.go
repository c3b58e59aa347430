package main

import (
	"runtime"

	"github.com/ftrace-wrap/ftrace-wrap/recording"
)

// A stream gives the events of a recording, which another goroutine reads meanwhile, in batches; others may make text of their values before they are asked for.
// While it is read there is a progress bar, unless the walker has none.
type stream struct {
	*recording.Stream
	bar *progress

	now  *batch
	next int         // in now
	full chan *batch // in the order of time; closed at the end
	free chan *batch // to be filled
	work chan *batch // whose values are to be made text of
	stop chan bool
}

// A batch is some events, with their data.
type batch struct {
	events []recording.Event
	data   []byte
	text   []byte    // of the values of all
	ends   []int     // where that of each ends
	ready  chan bool // the text is there; nil: there is none
}

const (
	batchEvents = 256
	batches     = 4
)

// events begins to read the recording. The caller closes the stream.
func (w *walker) events(window recording.Window) *stream { return w.eventsWithText(window, nil) }

// eventsWithText does so too, and calls a function that makeText returns, of each goroutine that helps another one, to append the text of an event's values.
func (w *walker) eventsWithText(window recording.Window, makeText func() func([]byte, *recording.Event) []byte) *stream {
	s := &stream{Stream: w.r.Events(window), now: &batch{}, full: make(chan *batch, batches), free: make(chan *batch, batches), stop: make(chan bool)}
	if w.verb != "" {
		s.bar = newProgress("ftrace "+w.verb, s.Size(), s.Done)
	}
	if makeText != nil {
		s.work = make(chan *batch, batches)
		for range max(1, runtime.GOMAXPROCS(0)-1) {
			go makeTexts(s.work, makeText())
		}
	}
	for range batches {
		s.free <- &batch{events: make([]recording.Event, 0, batchEvents)}
	}
	go s.read()
	return s
}

// read fills batches.
func (s *stream) read() {
	defer close(s.full)
	if s.work != nil {
		defer close(s.work)
	}
	for more := true; more; {
		var b *batch
		select {
		case b = <-s.free:
		case <-s.stop:
			return
		}
		if more = b.fill(s.Stream); s.work != nil {
			b.ready = make(chan bool)
			s.work <- b
		}
		s.full <- b // there is room for all that there are
	}
}

// fill reads as many events as there is room for. It returns false if these were the last.
func (b *batch) fill(s *recording.Stream) bool {
	b.events, b.data = b.events[:0], b.data[:0]
	for n := 0; n < batchEvents; n++ {
		b.events = b.events[:n+1]
		e := &b.events[n]
		if !s.Next(e) {
			b.events = b.events[:n]
			return false
		}
		if len(e.Data) > 0 { // it is the stream's only until the next one
			from := len(b.data)
			b.data = append(b.data, e.Data...)
			e.Data = b.data[from:len(b.data):len(b.data)]
		}
	}
	return true
}

// makeTexts makes the texts of batches.
func makeTexts(work chan *batch, appendText func([]byte, *recording.Event) []byte) {
	for b := range work {
		b.text, b.ends = b.text[:0], b.ends[:0]
		for i := range b.events {
			b.text = appendText(b.text, &b.events[i])
			b.ends = append(b.ends, len(b.text))
		}
		close(b.ready)
	}
}

// Next returns the next event, which is the caller's until the one after it, or nil at the end.
func (s *stream) Next() *recording.Event {
	for s.next == len(s.now.events) {
		if cap(s.now.events) > 0 {
			s.free <- s.now
		}
		b, ok := <-s.full
		if !ok {
			s.now, s.next = &batch{}, 0
			return nil
		}
		if b.ready != nil {
			<-b.ready
		}
		s.now, s.next = b, 0
	}
	s.next++
	return &s.now.events[s.next-1]
}

// text returns the text of the values of the event that Next returned last.
func (s *stream) text() []byte {
	from := 0
	if s.next > 1 {
		from = s.now.ends[s.next-2]
	}
	return s.now.text[from:s.now.ends[s.next-1]]
}

// Close gives up what the stream holds, whether all of it was read or not.
func (s *stream) Close() {
	close(s.stop)
	for range s.full { // until the reader has ended
	}
	s.bar.close()
	s.Stream.Close()
}
