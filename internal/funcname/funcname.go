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

// Short returns the name with the package's name in place of its path, as far as the path tells it:
// by its last element, without the version of a module. Of example.com/list/v2.New, of
// gopkg.in/list%2ev2.New and of gopkg.in/list.v2.New that is list.New.
func Short(name string) string {
	at := base(name)
	last, function, found := strings.Cut(name[at:], ".")
	if !found {
		return last
	}
	version, rest, found := strings.Cut(function, ".")
	switch before, after, escaped := strings.Cut(last, "%2e"); {
	case isVersion(last) && last != "v1" && at > 1:
		last = name[base(name[:at-1]) : at-1]
	case escaped && before != "" && isVersion(after):
		last = before
	case found && isVersion(version) && at > 0:
		function = rest
	}
	return last + "." + function
}

// isVersion reports whether s is the major version of a module, v1 or higher.
func isVersion(s string) bool {
	return len(s) > 1 && s[0] == 'v' && s[1] != '0' && strings.Trim(s[1:], "0123456789") == ""
}

// base returns where the last element of the package's path begins. Type arguments may have paths
// of their own.
func base(name string) int {
	path, _, _ := strings.Cut(name, "[")
	return strings.LastIndexByte(path, '/') + 1
}
