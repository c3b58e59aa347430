//go:build ftrace_core && go1.22

// This file is added to package go.opentelemetry.io/otel/trace. It tells the core which span a
// context.Context has, with FTRACE_PROPAGATE.

package definition

import "context"

var _ = func() bool {
	if ftracePropagate {
		ftraceTraceSpan = ftraceSpanOf
	}
	return true
}()

func ftraceSpanOf(ctx any) (parent, state string) {
	c, _ := ctx.(context.Context)
	span := SpanContextFromContext(c)
	if !span.IsValid() {
		return "", ""
	}
	return "00-" + span.TraceID().String() + "-" + span.SpanID().String() + "-" + span.TraceFlags().String(), span.TraceState().String()
}
