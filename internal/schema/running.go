package schema

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// running is a statement under way, until its context ends or its time is over.
type running struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stopped atomic.Bool       // ctx has ended
	timer   *time.Timer       // nil: it has no time limit
	before  map[string]string // the variables before SET STATEMENT; nil: it was not used
	unwatch func() bool

	mu   sync.Mutex
	over bool
}

// errTime is why a statement's context ends when its time is over.
var errTime = errors.New("the time of the statement is over")

// interruptEvery is how often a statement that is to end is interrupted: SQLite forgets an
// interrupt that comes between two of the statement's queries.
const interruptEvery = 5 * time.Millisecond

// begin begins a statement, which ends with the context.
func (s *Session) begin(ctx context.Context) {
	s.finish()
	r := &running{}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.unwatch = context.AfterFunc(r.ctx, func() {
		r.stopped.Store(true)
		for r.interrupt(s.engine) {
			time.Sleep(interruptEvery)
		}
	})
	s.running = r
}

// interrupt interrupts the statement. It reports whether that has to be repeated.
func (r *running) interrupt(e *engine.Engine) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		e.Interrupt()
	}
	return !r.over
}

// finish ends the statement under way, if there is one, so that the next one is not interrupted.
func (s *Session) finish() {
	r := s.running
	if r == nil {
		return
	}
	s.running = nil
	r.unwatch()
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
	r.cancel(nil)
	if r.before != nil {
		s.variables = r.before
	}
}

// limit gives the statement that much time from now on; 0: no limit.
func (r *running) limit(d time.Duration) {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	if d > 0 {
		r.timer = time.AfterFunc(d, func() { r.cancel(errTime) })
	}
}

// interrupted returns why the session's statement is to end, or nil if it is not.
func (s *Session) interrupted() error {
	r := s.running
	switch {
	case r == nil || r.ctx.Err() == nil:
		return nil
	case context.Cause(r.ctx) == errTime:
		return mysqlerr.New(mysqlerr.Timeout, "Query execution was interrupted, maximum statement execution time exceeded")
	}
	return mysqlerr.New(mysqlerr.Interrupted, "Query execution was interrupted")
}

// stopped reports whether the session's statement is to end.
func (s *Session) stopped() bool { return s.running != nil && s.running.stopped.Load() }

// timeOf returns a statement's time limit: max_statement_time, and for statements that read, that
// of their hint, or else max_execution_time; 0: no limit.
func (s *Session) timeOf(st *language.Statement) time.Duration {
	seconds, _ := strconv.ParseFloat(s.variables["max_statement_time"], 64)
	most := time.Duration(min(seconds*1e3, maxTime)) * time.Millisecond
	if seconds > 0 {
		most = max(most, time.Millisecond)
	}
	if !slices.Contains(reads, st.Verb(0)) {
		return most
	}
	ms, hinted := st.TimeHint()
	if !hinted {
		ms, _ = strconv.ParseInt(s.variables["max_execution_time"], 10, 64)
	}
	own := time.Duration(min(ms, maxTime)) * time.Millisecond
	if most == 0 || own != 0 && own < most {
		return own
	}
	return most
}

// maxTime is the longest time limit of a statement, in milliseconds: a year.
const maxTime = 365 * 24 * 3600 * 1000

// reads are the first words of statements to which max_execution_time applies.
var reads = []string{"SELECT", "WITH", "VALUES", "("}

// setStatement is SET STATEMENT a = 1, b = 2 FOR statement, which sets variables for that statement
// alone.
func (s *Session) setStatement(ctx context.Context, st *language.Statement) (*Result, error) {
	settings, then, err := st.Temporary()
	if err != nil {
		return nil, err
	}
	if s.running.before == nil {
		s.running.before = maps.Clone(s.variables)
	}
	if err := s.setAll(ctx, settings, 2); err != nil {
		return nil, err
	}
	return s.dispatch(ctx, then)
}
