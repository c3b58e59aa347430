package tracecontext

import _ "embed"

// Source is the text of this package, which package inject makes part of instrumented programs.
//
//go:embed tracecontext.go
var Source []byte
