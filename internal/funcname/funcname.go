// Package funcname takes apart the names of functions as package runtime has them: the path of a
// package, a dot, and the function's name, as in net/http.(*Client).Do or main.Map[...].
//
// In comes a name, out go its parts. Both commands use it, and so do packages mock and loglevel,
// which are linked into users' programs: it imports nothing but the standard library. It knows
// nothing of the names in package clauses, which package recording has.
package funcname

import "strings"

// Split returns the path of the package and the function's name in it. If there is no dot, all of
// it is the package. The path is as symbols have it: in its last element a dot is %2e.
func Split(name string) (pkg, function string) {
	at := base(name)
	dot := strings.IndexByte(name[at:], '.')
	if dot < 0 {
		return name, ""
	}
	return name[:at+dot], name[at+dot+1:]
}

// Short returns the name without the directories of the package's path.
func Short(name string) string { return name[base(name):] }

// base returns where the last element of the package's path begins. Type arguments may have paths
// of their own.
func base(name string) int {
	path, _, _ := strings.Cut(name, "[")
	return strings.LastIndexByte(path, '/') + 1
}
