package sqltext

import _ "embed"

// Source is the text of this package, which package inject makes part of instrumented programs.
//
//go:embed sqltext.go
var Source []byte
