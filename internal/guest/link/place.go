//go:build ftrace_core && go1.22

// This file is added to packages that know of requests. It has these belong to a trace, with
// FTRACE_PROPAGATE. Their place in it comes and goes by the headers traceparent and tracestate, and
// baggage with it, see internal/tracecontext.

package definition

import _ "unsafe" // for go:linkname

//go:linkname ftracePropagate runtime.ftracePropagate
var ftracePropagate bool

//go:linkname ftracePropagateBaggage runtime.ftracePropagateBaggage
var ftracePropagateBaggage bool

//go:linkname ftraceTrace runtime.ftrace_trace
func ftraceTrace() *ftrace_tracecontext_Context

//go:linkname ftraceSetTrace runtime.ftrace_set_trace
func ftraceSetTrace(c *ftrace_tracecontext_Context)

//go:linkname ftraceTraceWithin runtime.ftrace_trace_within
func ftraceTraceWithin(c *ftrace_tracecontext_Context) *ftrace_tracecontext_Context

//go:linkname ftraceTraceAround runtime.ftrace_trace_around
func ftraceTraceAround(ctx any, c *ftrace_tracecontext_Context) *ftrace_tracecontext_Context

// An ftracePlace is where a request is in its trace.
type ftracePlace struct {
	before *ftrace_tracecontext_Context // what the goroutine had
	around *ftrace_tracecontext_Context // the request's parent, nil if it has none
	own    *ftrace_tracecontext_Context // nil: there is no FTRACE_PROPAGATE
}

// recorded returns what is recorded of the place: its id and its parent's, and n, how many of the
// values text, span and parent there are.
func (p *ftracePlace) recorded() (span, parent string, n int) {
	switch {
	case p.own == nil:
		return "", "", 1
	case p.around == nil:
		return p.own.Span(), "", 2
	}
	return p.own.Span(), p.around.ID(), 3
}

// enter has what is done for the request belong to it. A request that is not recorded has no id:
// all belongs to its parent.
func (p *ftracePlace) enter(recorded bool) {
	switch {
	case p.own == nil:
	case recorded:
		ftraceSetTrace(p.own)
	default:
		ftraceSetTrace(p.around)
	}
}

// leave is called when the request has been served or made.
func (p *ftracePlace) leave() {
	if p.own != nil {
		ftraceSetTrace(p.before)
	}
}

// ftraceReceived returns the place of a request that is served, given its headers traceparent,
// tracestate and baggage. It is below that of a request around it, if that one came with the same
// header or none did: what serves a request may contain something else that serves. If ctx, its
// context.Context, has a span of OpenTelemetry, it is below that.
func ftraceReceived(ctx any, parents, states, baggage []string) (p ftracePlace) {
	p.before = ftraceTrace()
	p.around = p.before
	c, ok := ftrace_tracecontext_Read(parents, states)
	if ftracePropagateBaggage {
		c.Baggage = ftrace_tracecontext_Baggage(baggage)
	}
	if ok && (p.around == nil || p.around.Received != c.Received) {
		p.around = &c
	}
	p.around = ftraceTraceAround(ctx, p.around)
	p.own = ftraceTraceWithin(p.around)
	if p.around == nil {
		p.own.Baggage = c.Baggage
	}
	return p
}

// ftraceTraceSpan is nil if OpenTelemetry's package trace is not in the build.
//
//go:linkname ftraceTraceSpan runtime.ftraceTraceSpan
var ftraceTraceSpan func(ctx any) (parent, state string)

// ftraceSent returns the place of a request that is made, given the header traceparent that the
// program itself has set, if it has. ctx is the request's context.Context, or nil. Without one a
// propagator of OpenTelemetry says by the header which span is around the request.
func ftraceSent(ctx any, set func(c *ftrace_tracecontext_Context) []string) (p ftracePlace) {
	p.before = ftraceTrace()
	p.around = ftraceTraceAround(ctx, p.before)
	c, ok := ftrace_tracecontext_Read(set(p.around), nil)
	switch {
	case ok && ctx == nil && ftraceTraceSpan != nil:
		c.Received = ""
		if p.around != nil {
			c.Received, c.Baggage = p.around.Received, p.around.Baggage
		}
		p.around = &c
	case ok: // the program has its own idea of the trace
		c.Received, c.Known, c.Foreign = "", "", true
		if p.around != nil {
			c.Received, c.Known = p.around.Received, p.around.Known
			if p.around.Trace() != c.Trace() || p.around.ID() == c.ID() {
				p.around = nil
			}
		}
		p.own = &c
		return p
	}
	p.own = ftraceTraceWithin(p.around)
	return p
}
