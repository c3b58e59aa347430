//go:build ftrace_core

// This file is added to package net/http. It has requests that are served and made belong to a
// trace, with FTRACE_PROPAGATE. Their place in it comes and goes by the headers traceparent and
// tracestate, see internal/tracecontext.

package http

import (
	"net/http/internal/ascii"
	_ "unsafe" // for linkname
)

//go:linkname ftracePropagate runtime.ftracePropagate
var ftracePropagate bool

//go:linkname ftraceTrace runtime.ftrace_trace
func ftraceTrace() *ftrace_tracecontext_Context

//go:linkname ftraceSetTrace runtime.ftrace_set_trace
func ftraceSetTrace(c *ftrace_tracecontext_Context)

//go:linkname ftraceTraceWithin runtime.ftrace_trace_within
func ftraceTraceWithin(c *ftrace_tracecontext_Context) *ftrace_tracecontext_Context

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

// ftraceReceive returns the place of a request that is served. It is below that of a request around
// it, if that one came with the same header or none did: what serves a request may contain another
// ServeMux.
func ftraceReceive(r *Request) (p ftracePlace) {
	if !ftracePropagate {
		return p
	}
	p.before = ftraceTrace()
	p.around = p.before
	c, ok := ftrace_tracecontext_Read(r.Header["Traceparent"], r.Header["Tracestate"])
	if ok && (p.around == nil || p.around.Received != c.Received) {
		p.around = &c
	}
	p.own = ftraceTraceWithin(p.around)
	return p
}

// ftraceSend returns the place of a request that is made.
func ftraceSend(r *Request) (p ftracePlace) {
	if !ftracePropagate {
		return p
	}
	p.before = ftraceTrace()
	p.around = p.before
	values, _ := ftraceTraceparent(r.Header, p.before)
	if c, ok := ftrace_tracecontext_Read(values, nil); ok { // the program has its own idea of the trace
		c.Received, c.Foreign = "", true
		if p.around != nil {
			c.Received = p.around.Received
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

// ftraceTraceparent returns the header traceparent that the program itself has set, if it has. c is
// what is around the request. To pass on what was received is not to set one, and neither is what
// ftraceCarry has set, which another Transport gets from a RoundTripper.
func ftraceTraceparent(h Header, c *ftrace_tracecontext_Context) (values []string, set bool) {
	for name, values := range h {
		if ascii.EqualFold(name, "Traceparent") && (c == nil || len(values) != 1 || values[0] != c.Received && (values[0] != c.Header || c.Foreign)) {
			return values, true
		}
	}
	return nil, false
}

// ftraceCarry returns the request that a Transport sends for r: with the headers, in which r is not
// changed, unless the program has set a traceparent.
func ftraceCarry(r *Request) *Request {
	if !ftracePropagate || ftraceSpans == 0 || r.URL.Scheme != "http" && r.URL.Scheme != "https" {
		return r
	}
	c := ftraceTrace()
	if c == nil {
		return r
	}
	if _, set := ftraceTraceparent(r.Header, c); set {
		return r
	}
	sent := new(Request)
	*sent = *r
	sent.Header = make(Header, len(r.Header)+2)
	state := c.State
	for name, values := range r.Header {
		if ascii.EqualFold(name, "Traceparent") {
			continue
		}
		if ascii.EqualFold(name, "Tracestate") {
			state = ""
		}
		sent.Header[name] = values
	}
	sent.Header["Traceparent"] = []string{c.Header}
	if state != "" {
		sent.Header["Tracestate"] = []string{state}
	}
	return sent
}

// ftraceCarried has a response of another RoundTripper not show the request of ftraceCarry.
func ftraceCarried(resp *Response, r *Request) {
	if c := ftraceTrace(); c != nil && resp != nil && resp.Request != nil && resp.Request.Header.get("Traceparent") == c.Header {
		resp.Request = r
	}
}
