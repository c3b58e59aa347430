package jsonline

import _ "embed"

// Source is the text of this package, which runtime/core makes part of instrumented programs.
//
//go:embed jsonline.go
var Source []byte
