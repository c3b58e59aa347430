package redact

import _ "embed"

// Source is the text of this package, which package inject makes part of instrumented programs.
//
//go:embed redact.go
var Source []byte
