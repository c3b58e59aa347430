//go:build ftrace_core && go1.22

// This file is added to packages that know of statements or of HTTP requests: the links into the
// core. See probe/spans.go in package runtime.

package definition

import _ "unsafe" // for go:linkname

// ftraceSpans is not 0 while someone may want spans.
//
//go:linkname ftraceSpans runtime.ftraceSpans
var ftraceSpans uint32

//go:linkname ftraceDeclareSpan runtime.ftrace_span_declare
func ftraceDeclareSpan(family, own, params string)

//go:linkname ftraceBeginSpan runtime.ftrace_span_begin
//go:noescape
func ftraceBeginSpan(family, own, text string, args ...any) (token int, number uint64)

//go:linkname ftraceEndSpan runtime.ftrace_span_end
//go:noescape
func ftraceEndSpan(token int, number uint64, status int, err error, results ...any)

// ftraceSpan is a span under way.
type ftraceSpan struct {
	token  int
	number uint64
}
