package gocmd

import (
	"slices"
	"strings"
)

// InsertFlags puts flags after the verb in args, and after -C, which must come first.
func InsertFlags(args []string, flags ...string) []string {
	at := 1
	if len(args) > 1 {
		switch name, _, inline := FlagName(args[1]); {
		case name == "C" && inline:
			at = 2
		case name == "C":
			at = min(3, len(args))
		}
	}
	return slices.Insert(slices.Clone(args), at, flags...)
}

// FlagName takes "-name=value" apart; name is "" for what is not a flag.
func FlagName(arg string) (name, value string, inline bool) {
	rest, ok := strings.CutPrefix(arg, "-")
	if !ok {
		return "", "", false
	}
	return strings.Cut(strings.TrimPrefix(rest, "-"), "=")
}

// ValueFlags are the build flags, with those of go test -c, whose value may be the next argument.
var ValueFlags = []string{
	"C", "asmflags", "buildmode", "compiler", "covermode", "coverpkg", "debug-actiongraph", "debug-runtime-trace", "debug-trace", "exec",
	"gccgoflags", "gcflags", "installsuffix", "ldflags", "mod", "modfile", "o", "overlay", "p", "pgo", "pkgdir", "tags", "toolexec", "vet",
}

// SplitFlags splits the build flags off that come first.
func SplitFlags(args []string) (flags, rest []string) {
	for i := 0; i < len(args); i++ {
		name, _, inline := FlagName(args[i])
		switch {
		case args[i] == "--":
			return args[:i], args[i+1:]
		case name == "":
			return args[:i], args[i:]
		case !inline && slices.Contains(ValueFlags, name):
			i++
		}
	}
	return args, nil
}
