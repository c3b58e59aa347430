// Package forward sends recordings to what receives OpenTelemetry's spans, logs and metrics.
//
// It takes recordings, finished ones and those that are still being written, and those of child
// processes within them. Of these package export makes spans, log records and points of metrics,
// which are sent by OTLP/HTTP or OTLP/gRPC.
// The recording is the queue: what can't be sent is read again later, and a file for each signal
// says how far it has been sent. cmd/ftrace calls it.
// The program that is traced knows nothing of it. What is sent and what is not goes to the writer
// that it is given.
package forward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/export"
	viewlive "github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Options are what is sent, and where.
type Options struct {
	Send      []Destination // one of each signal
	Least     time.Duration // calls are spans if they lasted for that
	Step      time.Duration // of recorded time, at whose ends metrics are sent
	Positions string        // a directory for positions; "": they are beside the recordings
	Rules     string        // by which those of child processes are sent; "": all
	Resume    string        // what goes on from where this has ended, for messages; "": the same command

	// Ended is closed when no child process can begin any more that records within a recording.
	// nil: none can when all are complete.
	Ended <-chan struct{}

	pause   time.Duration
	tell    func(format string, args ...any)
	writing func(*recording.Recording) bool
}

// A Destination is where a signal is sent.
type Destination struct {
	Signal   *Signal
	To       string      // an address; its scheme is that of HTTP, or grpc or grpcs
	Header   http.Header // of each request
	Settings string      // what chooses among the calls, for messages and for the next run
	Optional bool        // that nobody receives the signal there is told, and is no error
}

const (
	batchBytes = 1 << 20
	batchWaits = time.Second // for more spans, in a recording that is being written
	lookEvery  = 200 * time.Millisecond
	pauseFirst = time.Second
)

// Recordings sends recordings, and those of child processes within them, until all have been sent,
// or the context ends. Those that are being written it follows until they end, also those that
// begin meanwhile. It writes what became of each. Each signal reads a recording on its own.
func Recordings(ctx context.Context, list []walk.Source, o Options, out, warn io.Writer) error {
	var lock sync.Mutex
	write := func(to io.Writer, format string, args ...any) {
		lock.Lock()
		defer lock.Unlock()
		fmt.Fprintf(to, format, args...)
	}
	o.pause = cmp.Or(o.pause, pauseFirst)
	if o.writing == nil {
		o.writing = writing
	}
	var named []string
	for _, from := range list {
		named = append(named, from.Recording.Dir)
	}
	if err := recording.Distinct(named); err != nil {
		return err
	}
	senders := make([]*sender, len(o.Send))
	for j, to := range o.Send {
		var err error
		if senders[j], err = newSender(to, o); err != nil {
			return err
		}
		defer senders[j].channel.close()
	}
	failed := make([]error, len(list)*len(o.Send))
	var all sync.WaitGroup
	for i, from := range list {
		for j, to := range o.Send {
			name := ""
			if to.Signal != Spans {
				name = ": " + to.Signal.Name
			}
			m := &family{options: o, dir: from.Recording.Dir, sender: senders[j], named: named, warn: warn, looks: make(chan struct{}, 1), room: make(chan struct{}, runtime.GOMAXPROCS(0))}
			if j > 0 { // its damage is told by the first
				m.warn = io.Discard
			}
			m.options.tell = func(format string, args ...any) {
				write(warn, "ftrace: forward: %s%s: %s\n", m.dir, name, fmt.Sprintf(format, args...))
			}
			all.Go(func() {
				from, err := from, error(nil)
				if j > 0 {
					from.Recording, err = recording.Open(m.dir)
				}
				if err == nil {
					err = m.run(ctx, from)
				}
				if text := m.sum(); text != "" {
					write(out, "%s\n", text)
				}
				switch {
				case errors.Is(err, errNotReceived): // that was told
					return
				case errors.Is(err, context.Canceled):
					err = errors.New("it was interrupted")
				case err != nil && len(o.Send) > 1: // the others may go on for long
					m.options.tell("%v", err)
				}
				if err != nil {
					failed[i*len(o.Send)+j] = fmt.Errorf("%s%s: %w", m.dir, name, err)
				}
			})
		}
	}
	all.Wait()
	return errors.Join(failed...)
}

// A forwarding is a signal of a recording that is being sent.
type forwarding struct {
	ctx      context.Context
	from     walk.Source
	signal   *Signal
	options  Options
	sender   *sender
	position *Position

	maker   maker
	message func([]proto.Message) proto.Message
	left    func() (outside, beginless uint64) // what is not sent: lines and probes, and calls; nil: nothing
	batch   []proto.Message
	bytes   int
	at      uint64    // of the last one in a batch
	place   int       // where those begin in the batch that are at the same place as the last one
	before  uint64    // where the one before these is
	first   uint64    // ticks of the first event
	ticks   uint64    // of the last event
	heard   uint64    // of the last event when all had been told that there was
	since   time.Time // when that was
	ending  int       // spans that were made at the end
	atEnd   bool
	ended   bool // it has been sent now
	flushed time.Time
	err     error
}

func begin(ctx context.Context, from walk.Source, to *sender, o Options) (f *forwarding, err error) {
	f = &forwarding{ctx: ctx, from: from, signal: to.Signal, options: o, sender: to}
	r := from.Recording
	for first, _ := r.Clocks(); first == (recording.Clock{}) && o.writing(r); first, _ = r.Clocks() { // it has just begun
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lookEvery):
		}
		if err := r.Refresh(); err != nil {
			return nil, err
		}
	}
	makes, _ := to.Signal.make(f)
	f.position, err = openPosition(r, o.Positions, to.Signal, to.shown(), to.Settings, makes.MinTicks())
	return f, err
}

// run sends the recording. One that is being written is followed until its end, and then read once
// more: for what is under way then, and what can only be read when it is complete.
func (f *forwarding) run(warn io.Writer) error {
	if f.position.Done {
		return nil
	}
	for complete := false; !complete; complete = !f.options.writing(f.from.Recording) { // it may just have begun
		if f.options.writing(f.from.Recording) {
			if err := f.follow(); err != nil {
				return err
			}
		}
		r, err := recording.Open(f.from.Recording.Dir) // what was opened before may have been half of it
		if err != nil {
			return err
		}
		f.from.Recording = r
		if err := f.readAll(); err != nil {
			return err
		}
	}
	f.atEnd = true
	f.maker.Close()
	if f.flush(); f.err != nil {
		return f.err
	}
	walk.Complain(warn, f.from.Recording)
	f.ended = true
	f.position.First, f.position.Done = f.first, true
	return f.position.save()
}

// readAll reads the recording, but for what is under way at its end.
func (f *forwarding) readAll() error {
	f.read()
	s := f.from.Events()
	defer s.Close()
	for e := s.Next(); e != nil && f.Event(e); e = s.Next() {
	}
	return cmp.Or(f.err, f.ctx.Err(), s.Err())
}

// words returns a number with what it is of.
func words(n uint64, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// read begins to read the recording.
func (f *forwarding) read() {
	f.maker, f.message = f.signal.make(f)
	f.maker.SetMinTicks(f.position.MinTicks)
	f.batch, f.bytes, f.at, f.place, f.first, f.ticks, f.heard, f.ending = nil, 0, 0, 0, 0, 0, 0, 0
}

// take takes a span, a line or a point, unless it has been sent before. at says where it is in the
// order in which they are made; a batch ends between two such places, so that a position is clear.
// What has none is told by its number.
func (f *forwarding) take(at uint64, m proto.Message) {
	size := proto.Size(m)
	fits := len(f.batch) < export.SpansAtOnce && f.bytes+size <= batchBytes
	switch {
	case f.numbered():
		if !fits {
			f.flush()
		}
		if f.ending++; f.ending <= f.position.Ended {
			return
		}
	case at <= f.position.At:
		return
	default:
		if at > f.at {
			f.place, f.before = len(f.batch), f.at
		}
		if !fits && f.place > 0 {
			f.flushFirst(f.place, f.before)
		}
	}
	if f.err != nil {
		return
	}
	f.batch = append(f.batch, m)
	f.bytes += size
	f.at = at
}

// numbered reports whether what is made now has no place but its number.
func (f *forwarding) numbered() bool { return f.atEnd && f.signal.ends }

// Event takes in an event.
func (f *forwarding) Event(e *recording.Event) bool {
	f.first = cmp.Or(f.first, e.Ticks)
	f.ticks = max(f.ticks, e.Ticks)
	if f.err == nil {
		f.maker.Event(e)
	}
	return f.err == nil && f.ctx.Err() == nil
}

// flush sends the batch, and notes that in the position.
func (f *forwarding) flush() { f.flushFirst(len(f.batch), f.at) }

// flushFirst sends the first n of the batch, of which the last one is at a place.
func (f *forwarding) flushFirst(n int, at uint64) {
	if n == 0 || f.err != nil {
		return
	}
	var refused uint64
	if refused, f.err = f.sender.send(f.ctx, f.message(f.batch[:n]), n, f.options.tell); f.err != nil {
		return
	}
	p := f.position
	p.First = f.first
	p.Sent += uint64(n) - refused
	p.Refused += refused
	if f.numbered() {
		p.At = math.MaxUint64
		p.Ended = f.ending
	} else {
		p.At = at
	}
	f.err = p.save()
	f.batch, f.bytes, f.place, f.flushed = slices.Clone(f.batch[n:]), 0, 0, time.Now()
	for _, m := range f.batch {
		f.bytes += proto.Size(m)
	}
}

// writing reports whether a recording may still be written to.
func writing(r *recording.Recording) bool {
	return live.Writes(r.Env.PID, r.Dir, r.Env.UUID, r.Env.Executable)
}

// follow sends what a process records until the recording is complete.
func (f *forwarding) follow() error {
	ctx, stop := context.WithCancel(f.ctx)
	defer stop()
	done, r := make(chan struct{}), f.from.Recording // which Begin changes
	go func() {
		defer close(done)
		for f.options.writing(r) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(lookEvery):
			}
		}
	}()
	err := viewlive.Tail(r.Dir, done, errors.New("it has nothing"), f, viewlive.Room{Read: viewlive.KeepAll}, io.Discard)
	return cmp.Or(err, f.err, f.ctx.Err())
}

// Begin begins to follow.
func (f *forwarding) Begin(r *recording.Recording) {
	f.from.Recording = r
	f.read()
}

// Refreshed takes in other tables.
func (f *forwarding) Refreshed() { f.maker.Refresh() }

// Settled takes in how long nothing has happened, and sends what has waited long enough.
func (f *forwarding) Settled(until time.Time) bool {
	if f.heard != f.ticks {
		f.heard, f.since = f.ticks, time.Now()
	} else if quiet := until.Sub(f.since); quiet > 0 && f.heard != 0 {
		f.maker.Quiet(quiet)
	}
	if time.Since(f.flushed) >= batchWaits {
		f.flush()
	}
	return f.err == nil && f.ctx.Err() == nil
}

// Finish ends the following.
func (f *forwarding) Finish() error {
	f.flush()
	return f.err
}
