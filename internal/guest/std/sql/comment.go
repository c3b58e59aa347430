//go:build ftrace_core

// This file is added to package database/sql. With FTRACE_PROPAGATE=sql it has statements say to
// which trace they belong, in a comment: see https://google.github.io/sqlcommenter/spec.

package sql

import _ "unsafe" // for linkname

//go:linkname ftracePropagateSQL runtime.ftracePropagateSQL
var ftracePropagateSQL bool

//go:linkname ftraceTraceHeaders runtime.ftrace_trace_headers
func ftraceTraceHeaders(ctx any) (parent, state string)

// ftraceCommented returns the text of a statement with the comment, before the semicolon that ends
// it. One that has a comment of this form stays as it is, as does any while the goroutine is in no
// trace, and ctx, its context.Context, has no span of OpenTelemetry.
func ftraceCommented(ctx any, query string) string {
	parent, state := ftraceTraceHeaders(ctx)
	if parent == "" || query == "" {
		return query
	}
	blank := " "
	for i := 0; i+1 < len(query); i++ {
		switch {
		case query[i:i+2] == "/*":
			return query
		case query[i] == '#' || query[i:i+2] == "--":
			blank = "\n" // it may end in a comment that the end of the line ends
		}
	}
	end := len(query)
	for end > 0 && (query[end-1] <= ' ' || query[end-1] == ';') {
		end--
	}
	comment := "/*traceparent='" + parent + "'"
	if state != "" {
		comment += ",tracestate='" + ftraceEscaped(state) + "'"
	}
	return query[:end] + blank + comment + "*/" + query[end:]
}

// ftraceEscaped returns a text as it is in a URL.
func ftraceEscaped(text string) string {
	const digits = "0123456789ABCDEF"
	escaped := make([]byte, 0, len(text)+16)
	for i := range len(text) {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.', c == '~':
			escaped = append(escaped, c)
		default:
			escaped = append(escaped, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(escaped)
}
