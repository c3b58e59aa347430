//go:build ftrace_core && go1.22

// This file is added to package go.opentelemetry.io/otel/sdk/trace. It has spans that begin within
// a request belong to that, with FTRACE_PROPAGATE.

package definition

import (
	"context"

	"go.opentelemetry.io/otel/trace"
)

// ftraceWithin returns the context in which a span begins: that of the request around it in its
// goroutine, if the span around it is around the request, too, or there is none.
//
//go:noinline
func ftraceWithin(ctx context.Context) context.Context {
	c := ftraceTrace()
	if c == nil {
		return ctx
	}
	span := trace.SpanContextFromContext(ctx)
	if around := span.TraceID().String() + "-" + span.SpanID().String(); span.IsValid() && (around != c.Known || around == c.Span()) {
		return ctx
	}
	// The core's ids are valid.
	traceID, _ := trace.TraceIDFromHex(c.Trace())
	id, _ := trace.SpanIDFromHex(c.ID())
	flags := trace.TraceFlags(c.Header[len(c.Header)-1] & 1) // its last digit
	state, _ := trace.ParseTraceState(c.State)
	return trace.ContextWithRemoteSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{TraceID: traceID, SpanID: id, TraceFlags: flags, TraceState: state}))
}
