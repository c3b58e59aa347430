// Package forward sends recordings to what receives OpenTelemetry's spans.
//
// It takes recordings, finished ones and those that are still being written, of which package
// export makes spans, and sends these by OTLP/HTTP or OTLP/gRPC. The recording is the queue: what
// can't be sent is read again later, and a file says how far it has been sent. cmd/ftrace calls it.
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

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/export"
	viewlive "github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Options are what is sent, and where.
type Options struct {
	To        string        // the address that spans are sent to; its scheme is that of HTTP, or grpc or grpcs
	Header    http.Header   // of each request
	Least     time.Duration // calls are spans if they lasted for that
	Settings  string        // what chooses among the calls, for messages and for the next run
	Positions string        // a directory for positions; "": they are beside the recordings

	pause   time.Duration
	tell    func(format string, args ...any)
	writing func(*recording.Recording) bool
}

const (
	batchBytes = 1 << 20
	batchWaits = time.Second // for more spans, in a recording that is being written
	lookEvery  = 200 * time.Millisecond
	pauseFirst = time.Second
)

// Recordings sends recordings until all have been sent, or the context ends. Those that are being
// written it follows until they end. It writes what became of each.
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
	failed := make([]error, len(list))
	var all sync.WaitGroup
	for i, from := range list {
		all.Go(func() {
			o := o
			o.tell = func(format string, args ...any) {
				write(warn, "ftrace: forward: %s: %s\n", from.Recording.Dir, fmt.Sprintf(format, args...))
			}
			f, err := begin(ctx, from, o)
			if err == nil {
				defer f.sender.channel.close()
				err = f.run(warn)
				write(out, "%s: %s\n", from.Recording.Dir, f.sum())
			}
			if errors.Is(err, context.Canceled) {
				err = errors.New("it was interrupted")
			}
			if err != nil {
				failed[i] = fmt.Errorf("%s: %w", from.Recording.Dir, err)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// stat returns what the system says of a recording's directory, nil if it says nothing.
func stat(s walk.Source) os.FileInfo {
	info, _ := os.Stat(s.Recording.Dir)
	return info
}

// A forwarding is a recording that is being sent.
type forwarding struct {
	ctx      context.Context
	from     walk.Source
	options  Options
	sender   *sender
	position *Position

	spans   *export.Spans
	batch   []*tracepb.Span
	bytes   int
	first   uint64 // ticks of the first event
	ticks   uint64 // of the last event
	ending  int    // spans that were made at the end
	atEnd   bool
	flushed time.Time
	err     error
}

func begin(ctx context.Context, from walk.Source, o Options) (*forwarding, error) {
	to, err := newSender(o)
	if err != nil {
		return nil, err
	}
	f := &forwarding{ctx: ctx, from: from, options: o, sender: to}
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
	f.position, err = openPosition(r, o.Positions, f.sender.shown(), o.Settings, export.NewSpans(from, o.Least).MinTicks())
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
	f.spans.Close()
	if f.flush(); f.err != nil {
		return f.err
	}
	if f.spans.Outside > 0 {
		f.options.tell("%s in no span, and not sent", words(f.spans.Outside, "line or probe is", "lines and probes are"))
	}
	if f.spans.Beginless > 0 {
		f.options.tell("%s not sent, since the recording does not have their beginnings", words(f.spans.Beginless, "call is", "calls are"))
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
	text := fmt.Sprintf("%s sent to %s, %d refused", words(p.Sent, "span was", "spans were"), p.To, p.Refused)
	if !p.Done {
		text += "; it is not complete: the same command goes on from here"
	}
	return text
}

// read begins to read the recording.
func (f *forwarding) read() {
	f.spans = export.NewSpans(f.from, f.options.Least)
	f.spans.SetMinTicks(f.position.MinTicks)
	f.spans.Emit = f.take
	f.batch, f.bytes, f.first, f.ticks, f.ending = nil, 0, 0, 0, 0
}

// take takes a span, unless it has been sent before.
func (f *forwarding) take(s *tracepb.Span) {
	if f.atEnd {
		if f.ending++; f.ending <= f.position.Ended {
			return
		}
	} else if f.ticks <= f.position.Ticks {
		return
	}
	f.batch = append(f.batch, s)
	f.bytes += proto.Size(s)
	if f.atEnd && f.full() {
		f.flush()
	}
}

func (f *forwarding) full() bool { return len(f.batch) >= export.SpansAtOnce || f.bytes >= batchBytes }

// Event takes in an event. A batch ends between two ticks, so that a position is clear.
func (f *forwarding) Event(e *recording.Event) bool {
	if e.Ticks > f.ticks && f.full() {
		f.flush()
	}
	f.first = cmp.Or(f.first, e.Ticks)
	f.ticks = max(f.ticks, e.Ticks)
	if f.err == nil {
		f.spans.Event(e)
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
	if refused, f.err = f.sender.send(f.ctx, f.spans.Traces(f.batch), n); f.err != nil {
		return
	}
	p := f.position
	p.First = f.first
	p.Sent += uint64(n) - refused
	p.Refused += refused
	if f.atEnd {
		p.Ticks = math.MaxUint64
		p.Ended = f.ending
	} else {
		p.Ticks = f.ticks
	}
	f.err = p.save()
	f.batch, f.bytes, f.flushed = nil, 0, time.Now()
}

// writing reports whether a recording may still be written to.
func writing(r *recording.Recording) bool { return live.Writes(r.Env.PID, r.Dir, r.Env.UUID) }

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
func (f *forwarding) Refreshed() { f.spans.Refresh() }

// Settled sends what has waited long enough.
func (f *forwarding) Settled(time.Time) bool {
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
