package testtree

import _ "embed"

// Source is the text of this package, which package inject makes part of package testing.
//
//go:embed testtree.go
var Source []byte
