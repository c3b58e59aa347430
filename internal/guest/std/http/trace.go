//go:build ftrace_core

// This file is added to package net/http. It takes the place of requests in their trace from their
// headers, and puts it there, see link/place.go.

package http

import "net/http/internal/ascii"

// ftraceReceive returns the place of a request that is served.
func ftraceReceive(r *Request) (p ftracePlace) {
	if !ftracePropagate {
		return p
	}
	return ftraceReceived(r.ctx, r.Header["Traceparent"], r.Header["Tracestate"], r.Header["Baggage"])
}

// ftraceSend returns the place of a request that is made.
func ftraceSend(r *Request) (p ftracePlace) {
	if !ftracePropagate {
		return p
	}
	return ftraceSent(r.ctx, func(c *ftrace_tracecontext_Context) []string {
		values, _ := ftraceTraceparent(r.Header, c)
		return values
	})
}

// ftraceTraceparent returns the header traceparent that the program itself has set, if it has. c is
// what is around the request. To pass on what was received is not to set one, and neither is what
// ftraceCarry has set, which another Transport gets from a RoundTripper.
func ftraceTraceparent(h Header, c *ftrace_tracecontext_Context) (values []string, set bool) {
	for name, values := range h {
		if ascii.EqualFold(name, "Traceparent") && (c == nil || len(values) != 1 || !c.PassesOn(values[0]) && (values[0] != c.Header || c.Foreign)) {
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
	sent.Header = make(Header, len(r.Header)+3)
	state, baggage := c.State, c.Baggage
	for name, values := range r.Header {
		if ascii.EqualFold(name, "Traceparent") {
			continue
		}
		if ascii.EqualFold(name, "Tracestate") {
			state = ""
		}
		if ascii.EqualFold(name, "Baggage") {
			baggage = ""
		}
		sent.Header[name] = values
	}
	sent.Header["Traceparent"] = []string{c.Header}
	if state != "" {
		sent.Header["Tracestate"] = []string{state}
	}
	if baggage != "" {
		sent.Header["Baggage"] = []string{baggage}
	}
	return sent
}

// ftraceCarried has a response of another RoundTripper not show the request of ftraceCarry.
func ftraceCarried(resp *Response, r *Request) {
	if c := ftraceTrace(); c != nil && resp != nil && resp.Request != nil && resp.Request.Header.get("Traceparent") == c.Header {
		resp.Request = r
	}
}
