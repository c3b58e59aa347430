package decimal

import _ "embed"

// Source is the text of this package, which runtime/core makes part of instrumented programs.
//
//go:embed decimal.go
var Source []byte
