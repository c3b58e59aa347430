package protocol

import _ "embed"

// Source is the text of type [Args], which package inject makes part of instrumented programs.
//
//go:embed args.go
var Source []byte
