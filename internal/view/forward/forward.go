// Package forward sends recordings to what receives OpenTelemetry's spans, logs and metrics.
//
// It takes recordings, finished ones and those that are still being written, of which package
// export makes spans, log records and points of metrics, and sends these by OTLP/HTTP or OTLP/gRPC.
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
	"os"
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
}

const (
	batchBytes = 1 << 20
	batchWaits = time.Second // for more spans, in a recording that is being written
	lookEvery  = 200 * time.Millisecond
	pauseFirst = time.Second
)

// Recordings sends recordings until all have been sent, or the context ends. Those that are being
// written it follows until they end. It writes what became of each. Each signal reads a recording
// on its own.
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
	for i, from := range list {
		for _, other := range list[:i] {
			if os.SameFile(stat(from), stat(other)) {
				return fmt.Errorf("%s and %s are the same recording: leave one out", other.Recording.Dir, from.Recording.Dir)
			}
		}
	}
	failed := make([]error, len(list)*len(o.Send))
	var all sync.WaitGroup
	for i, from := range list {
		for j, to := range o.Send {
			name, warnOf := from.Recording.Dir, warn
			if to.Signal != Spans {
				name += ": " + to.Signal.Name
			}
			if j > 0 { // its damage is told by the first
				warnOf = io.Discard
			}
			all.Go(func() {
				o := o
				o.tell = func(format string, args ...any) {
					write(warn, "ftrace: forward: %s: %s\n", name, fmt.Sprintf(format, args...))
				}
				from, err := from, error(nil)
				if j > 0 {
					from.Recording, err = recording.Open(from.Recording.Dir)
				}
				var f *forwarding
				if err == nil {
					f, err = begin(ctx, from, to, o)
				}
				if err == nil {
					defer f.sender.channel.close()
					err = f.run(warnOf)
					write(out, "%s: %s\n", from.Recording.Dir, f.sum())
				}
				if errors.Is(err, context.Canceled) {
					err = errors.New("it was interrupted")
				} else if err != nil && len(o.Send) > 1 { // the others may go on for long
					o.tell("%v", err)
				}
				if err != nil {
					failed[i*len(o.Send)+j] = fmt.Errorf("%s: %w", name, err)
				}
			})
		}
	}
	all.Wait()
	return errors.Join(failed...)
}

// stat returns what the system says of a recording's directory, nil if it says nothing.
func stat(s walk.Source) os.FileInfo {
	info, _ := os.Stat(s.Recording.Dir)
	return info
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
	left    func() // tells what is not sent; nil: that is nothing
	batch   []proto.Message
	bytes   int
	at      uint64    // of the last one in a batch
	first   uint64    // ticks of the first event
	ticks   uint64    // of the last event
	heard   uint64    // of the last event when all had been told that there was
	since   time.Time // when that was
	ending  int       // spans that were made at the end
	atEnd   bool
	flushed time.Time
	err     error
}

func begin(ctx context.Context, from walk.Source, to Destination, o Options) (*forwarding, error) {
	sends, err := newSender(to, o)
	if err != nil {
		return nil, err
	}
	f := &forwarding{ctx: ctx, from: from, signal: to.Signal, options: o, sender: sends}
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
	f.position, err = openPosition(r, o.Positions, to.Signal, sends.shown(), to.Settings, makes.MinTicks())
	return f, err
}

// run sends the recording. One that is being written is followed until its end, and then read once
// more: for what is under way then, and what can only be read when it is complete.
func (f *forwarding) run(warn io.Writer) error {
	if f.position.Done {
		f.options.tell("it was sent before, as %s says", f.position.file)
		return nil
	}
	for complete := false; !complete; complete = !f.options.writing(f.from.Recording) { // it may just have begun
		if f.options.writing(f.from.Recording) {
			if err := f.follow(); err != nil {
				return err
			}
			r, err := recording.Open(f.from.Recording.Dir)
			if err != nil {
				return err
			}
			f.from.Recording = r
		}
		if err := f.readAll(); err != nil {
			return err
		}
	}
	f.atEnd = true
	f.maker.Close()
	if f.flush(); f.err != nil {
		return f.err
	}
	if f.left != nil {
		f.left()
	}
	walk.Complain(warn, f.from.Recording)
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

// sum says what became of the recording.
func (f *forwarding) sum() string {
	p := f.position
	text := fmt.Sprintf("%s sent to %s, %d refused", words(p.Sent, f.signal.one+" was", f.signal.many+" were"), p.To, p.Refused)
	if !p.Done {
		text += "; it is not complete: the same command goes on from here"
	}
	return text
}

// read begins to read the recording.
func (f *forwarding) read() {
	f.maker, f.message = f.signal.make(f)
	f.maker.SetMinTicks(f.position.MinTicks)
	f.batch, f.bytes, f.at, f.first, f.ticks, f.heard, f.ending = nil, 0, 0, 0, 0, 0, 0
}

// take takes a span, a line or a point, unless it has been sent before. at says where it is in the
// order in which they are made; a batch ends between two such places, so that a position is clear.
// What has none is told by its number.
func (f *forwarding) take(at uint64, m proto.Message) {
	if f.full() && (at > f.at || f.numbered()) {
		f.flush()
	}
	if f.err != nil {
		return
	}
	if f.numbered() {
		if f.ending++; f.ending <= f.position.Ended {
			return
		}
	} else if at <= f.position.At {
		return
	}
	f.batch = append(f.batch, m)
	f.bytes += proto.Size(m)
	f.at = at
}

// numbered reports whether what is made now has no place but its number.
func (f *forwarding) numbered() bool { return f.atEnd && f.signal.ends }

func (f *forwarding) full() bool { return len(f.batch) >= export.SpansAtOnce || f.bytes >= batchBytes }

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
func (f *forwarding) flush() {
	n := len(f.batch)
	if n == 0 || f.err != nil {
		return
	}
	var refused uint64
	if refused, f.err = f.sender.send(f.ctx, f.message(f.batch), n); f.err != nil {
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
		p.At = f.at
	}
	f.err = p.save()
	f.batch, f.bytes, f.flushed = nil, 0, time.Now()
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
