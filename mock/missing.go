package mock

import (
	"cmp"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// This file explains why a function has no hook, and what the test could have meant.

// A listed is a function in the table of a package: one with a hook, or with the reason why it has
// none.
type listed struct{ pkg, symbol, line, name, reason string }

// list returns the functions of the packages with hooks. Packages have their import paths, and what
// stands for these in symbols.
func list() (all []listed) {
	for _, table := range coreTables() {
		for line := range strings.Lines(table[2]) {
			line = strings.TrimSuffix(line, "\n")
			if rest, ok := strings.CutPrefix(line, "! "); ok {
				name, reason, _ := strings.Cut(rest, " ")
				all = append(all, listed{table[0], table[1], "", name, reason})
			} else if fields := strings.SplitN(line, " ", 4); len(fields) == 4 {
				all = append(all, listed{table[0], table[1], fields[0], fields[2], ""})
			}
		}
	}
	return all
}

// notFound returns the error for a function without a hook.
func notFound(symbol string) error {
	path, all := packagePath(symbol), list()
	for _, f := range all {
		if s := f.pkg + "." + f.name; f.reason != "" && (s == symbol || s == withoutPointer(symbol)) {
			return fmt.Errorf("%w: %s can't have a hook: %s", ErrNotHooked, symbol, f.reason)
		}
	}
	hint := ""
	if slices.ContainsFunc(all, func(f listed) bool { return f.name == "*" && (f.pkg == path || f.symbol == path) }) {
		hint = ", unless FTRACE_INLINE=keep has left it out"
	}
	if names := similar(symbol, all); len(names) > 0 {
		hint += "; did you mean " + strings.Join(names, " or ") + "?"
	}
	if _, _, _, hooked := coreFind(symbol); hooked {
		return fmt.Errorf("%w: package %s has hooks, but no function %s%s; ftrace-wrap list %[2]s lists its functions", ErrNotHooked, path, symbol, hint)
	}
	switch {
	case path == "runtime" || path == "unsafe" || strings.HasPrefix(path, "internal/"):
		return fmt.Errorf("%w: %s can't have a hook: the tracer is part of package runtime, and what that depends on has none; replace the function that calls it", ErrNotHooked, symbol)
	case !strings.Contains(symbol, "."):
		return fmt.Errorf("mock: %q has no package; a function's name begins with its import path, as in stack traces%s", symbol, hint)
	case hint != "":
		return fmt.Errorf("%w: %s: no package %s has hooks%s", ErrNotHooked, symbol, path, hint)
	case selected(path):
		return fmt.Errorf("%w: %s: FTRACE_PACKAGES, now %s, has package %s, but it is not in the program, or no function of it can have a hook; ftrace-wrap list %[4]s tells", ErrNotHooked, symbol, packages(), path)
	}
	return fmt.Errorf("%w: %s: build with FTRACE_PACKAGES=%s,%s so that package %[4]s has hooks", ErrNotHooked, symbol, packages(), path)
}

// packages returns the setting of FTRACE_PACKAGES.
func packages() string {
	defer coreQuiet(coreQuiet(true))
	return cmp.Or(os.Getenv("FTRACE_PACKAGES"), "main")
}

// selected reports whether FTRACE_PACKAGES names the package, itself or as one of the main module.
func selected(path string) bool {
	names := strings.Split(packages(), ",")
	if slices.Contains(names, path) {
		return true
	}
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(names, "main") && (path == info.Main.Path || strings.HasPrefix(path, info.Main.Path+"/"))
}

// returnedLiteral returns the name of the function literal that the function only returns: the last
// in it.
func returnedLiteral(symbol string) string {
	name := symbol + ".func1"
	for _, f := range list() {
		rest, ok := strings.CutPrefix(f.pkg+"."+f.name, symbol+".func")
		if ok && !strings.Contains(rest, ".") {
			name = symbol + ".func" + rest
		}
	}
	return name
}

// similar returns names of functions with hooks that may have been meant, at most three.
func similar(symbol string, all []listed) []string {
	type candidate struct {
		name     string
		distance int
	}
	var found []candidate
	path := packagePath(symbol)
	own := plain(strings.TrimPrefix(symbol[len(path):], "."))
	for _, f := range all {
		if f.reason != "" || strings.Contains(f.name, ".func") {
			continue
		}
		name, distance := plain(f.name), 0
		switch last := f.pkg[strings.LastIndexByte(f.pkg, '/')+1:]; {
		case f.pkg == path:
			if distance = edits(own, name); method(own) == method(name) {
				distance = min(distance, 1) // of another type
			}
		case last == path && own == name || own == "" && plain(path) == method(name):
			distance = 0
		default:
			continue
		}
		if distance <= (len(own)+2)/3 {
			found = append(found, candidate{f.pkg + "." + f.name, distance})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.distance - b.distance })
	var names []string
	for _, c := range found[:min(len(found), 3)] {
		names = append(names, c.name)
	}
	return names
}

// plain returns a function's name in the form in which names are compared.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("(*", "", ")", "", "[...]", "").Replace(name))
}

// method returns what follows the last dot.
func method(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// edits returns how many characters must be changed, added or left out to make b of a.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range row {
		row[i] = i
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
