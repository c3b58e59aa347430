package rule

import _ "embed"

// Source is the text of this package, which runtime/core makes part of instrumented programs.
//
//go:embed rule.go
var Source []byte
