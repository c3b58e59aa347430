//go:build ftrace_core

// Traces across processes, with FTRACE_PROPAGATE: a request's place in its trace is in the headers
// of HTTP requests, and in the environment of programs that are started. What net/http does with it
// is in std/http/trace.go.

package runtime

import _ "unsafe" // for linkname

// ftracePropagate is FTRACE_PROPAGATE.
//
//go:linkname ftracePropagate
var ftracePropagate bool

// ftracePropagateSQL is FTRACE_PROPAGATE=sql: statements carry the trace, too.
//
//go:linkname ftracePropagateSQL
var ftracePropagateSQL bool

// ftracePropagateBaggage is FTRACE_PROPAGATE=baggage: the header baggage is passed on, too.
//
//go:linkname ftracePropagateBaggage
var ftracePropagateBaggage bool

// ftraceTraceStart is what the environment said when the program began. Header is "" if that is no
// context. Received is TRACEPARENT nevertheless.
var ftraceTraceStart ftrace_tracecontext_Context

// ftraceParsePropagate reads FTRACE_PROPAGATE, and the context that the program is started in.
func ftraceParsePropagate(s string) {
	switch s {
	case "", "0", "off", "false":
		return
	}
	var sql, baggage bool
	for more := true; more; {
		var word string
		word, s, more = ftrace_tracecontext_cut(s, ',')
		switch word {
		case "1", "on", "true":
		case "sql":
			sql = true
		case "baggage":
			baggage = true
		default:
			ftraceComplain("FTRACE_PROPAGATE: " + word + " is none of on, sql, baggage and off")
			return
		}
	}
	ftracePropagate, ftracePropagateSQL, ftracePropagateBaggage = true, sql, baggage
	parent := gogetenv("TRACEPARENT")
	ftraceTraceStart, _ = ftrace_tracecontext_Read([]string{parent}, []string{gogetenv("TRACESTATE")})
	ftraceTraceStart.Received = parent
	if baggage {
		ftraceTraceStart.Baggage = ftrace_tracecontext_Baggage([]string{gogetenv("BAGGAGE")})
	}
}

// ftrace_trace returns the context around what the goroutine does, or nil. It is that of the
// innermost request, or what the goroutine had when it started this one, or the program's.
//
//go:linkname ftrace_trace
func ftrace_trace() *ftrace_tracecontext_Context {
	c := getg().ftraceTrace
	if c == nil && ftraceTraceStart.Header != "" {
		c = &ftraceTraceStart
	}
	return c
}

// ftraceTraceSpan returns the headers traceparent and tracestate of the span that a context.Context
// has. OpenTelemetry's package trace sets it, if that is in the build, see lib/otel.
//
//go:linkname ftraceTraceSpan
var ftraceTraceSpan func(ctx any) (parent, state string)

// ftrace_trace_around returns what a request within c begins in: the span that ctx has, or c if
// there is no span, or c is within it. ctx is a context.Context or nil.
//
//go:linkname ftrace_trace_around
func ftrace_trace_around(ctx any, c *ftrace_tracecontext_Context) *ftrace_tracecontext_Context {
	if ctx == nil || ftraceTraceSpan == nil {
		return c
	}
	parent, state := ftraceTraceSpan(ctx)
	read, ok := ftrace_tracecontext_Read([]string{parent}, []string{state})
	if !ok || c != nil && (read.Known == c.Known || read.Known == c.Span()) {
		return c
	}
	span := new(ftrace_tracecontext_Context)
	*span = read
	span.Received = ""
	if c != nil {
		span.Received, span.Baggage = c.Received, c.Baggage
	}
	return span
}

// ftrace_trace_headers returns the headers traceparent and tracestate of what is around a
// statement, "" without one.
//
//go:linkname ftrace_trace_headers
func ftrace_trace_headers(ctx any) (parent, state string) {
	if c := ftrace_trace_around(ctx, ftrace_trace()); c != nil {
		return c.Header, c.State
	}
	return "", ""
}

// ftrace_set_trace sets the goroutine's context. nil leaves it the program's.
//
//go:linkname ftrace_set_trace
func ftrace_set_trace(c *ftrace_tracecontext_Context) { getg().ftraceTrace = c }

// ftrace_trace_within returns the context of a new request within that of c, or in a new trace if c
// is nil.
//
//go:linkname ftrace_trace_within
func ftrace_trace_within(c *ftrace_tracecontext_Context) *ftrace_tracecontext_Context {
	own := new(ftrace_tracecontext_Context)
	if c != nil {
		*own = *c
	}
	*own = own.Child(rand)
	return own
}

// ftrace_trace_environment returns the environment of a program that the goroutine starts, given
// what it would be: with the context, unless the program has set another one. What it had itself
// from its start is not that.
//
//go:linkname ftrace_trace_environment
func ftrace_trace_environment(env []string) []string {
	c := ftrace_trace()
	if c == nil {
		return env
	}
	with, state, baggage := make([]string, 0, len(env)+3), c.State, c.Baggage
	for _, entry := range env {
		name := ftraceVariableName(entry)
		if name == "TRACEPARENT" || name == "TRACESTATE" || name == "BAGGAGE" && ftracePropagateBaggage {
			switch {
			case entry[min(len(entry), len(name)+1):] == gogetenv(name):
				continue
			case name == "TRACEPARENT":
				return env
			case name == "TRACESTATE":
				state = ""
			default:
				baggage = ""
			}
		}
		with = append(with, entry)
	}
	with = append(with, "TRACEPARENT="+c.Header)
	if state != "" {
		with = append(with, "TRACESTATE="+state)
	}
	if baggage != "" {
		with = append(with, "BAGGAGE="+baggage)
	}
	return with
}
