package rule

import (
	_ "embed"
	"strings"
)

//go:embed rule.go
var ruleSource string

//go:embed match.go
var matchSource string

//go:embed parse.go
var parseSource string

//go:embed setting.go
var settingSource string

//go:embed spelling.go
var spellingSource string

// Source is the text of this package as one file, which package inject makes part of instrumented
// programs.
var Source = []byte(ruleSource + body(matchSource) + body(parseSource) + body(settingSource) + body(spellingSource))

// body returns what follows the package clause of a file.
func body(file string) string { return strings.TrimPrefix(file, "package rule\n") }
