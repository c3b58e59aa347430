package rule

// matches leaves negation to the caller.
func (s *Selector) matches(f *Func) bool {
	switch s.Kind {
	case "probe":
		return f.Probe && match(s.Pattern, joined{f.Package, "/", f.Name}, "*")
	case "wait":
		return f.Wait && matchWait(s.Pattern, f.Name)
	case "statement", "stage":
		return f.Span && f.Package == s.Kind && match(s.Pattern, whole(f.Name), "*")
	case "func":
		return MatchFunc(s.Pattern, f)
	case "pkg":
		return MatchPackage(s.Pattern, f.ImportPath) || MatchPackage(s.Pattern, f.Package)
	case "file":
		inLines := s.To == 0 || s.From <= f.Line && f.Line <= s.To
		return inLines && matchFile(s.Pattern, f.File)
	case "bin":
		return matchBinary(s.Pattern, f.Binary)
	}
	return false
}

// matchWait reports whether a wait GLOB matches the name of a kind of waits, or what that begins
// with up to a slash.
func matchWait(glob, name string) bool {
	if match(glob, whole(name), "*") {
		return true
	}
	for i := len(name) - 1; i > 0; i-- {
		if name[i] == '/' && match(glob, whole(name[:i]), "*") {
			return true
		}
	}
	return false
}

// MatchFunc reports whether a func GLOB matches f.
func MatchFunc(glob string, f *Func) bool {
	if f.Probe || f.Wait || f.Span {
		return false
	}
	if glob == "*" || matchName(glob, f, f.Name) {
		return true
	}
	if indexByte(f.Name, '[') < 0 || indexByte(glob, '[') >= 0 {
		return false
	}
	return matchName(glob, f, withoutTypes(f.Name))
}

// matchName is MatchFunc with the function's name given.
func matchName(glob string, f *Func, name string) bool {
	if matchFullName(glob, f.Package, name) {
		return true
	}
	if f.ImportPath != f.Package && matchFullName(glob, f.ImportPath, name) {
		return true
	}
	if f.PackageName != "" && match(glob, joined{f.PackageName, ".", name}, "*") {
		return true
	}
	switch {
	case len(glob) > 0 && glob[0] == '(': // a method
		return match(glob, whole(name), "*")
	case lastDot(glob) >= 0:
		return false
	}
	last := name[lastDot(name)+1:]
	return match(glob, whole(name), "*") || match(glob, whole(last), "*")
}

func matchFullName(glob, path, name string) bool {
	if match(glob, joined{path, ".", name}, "*") {
		return true
	}
	for i := 0; i < len(path); i++ {
		if path[i] == '/' && match(glob, joined{path[i+1:], ".", name}, "*") {
			return true
		}
	}
	return false
}

// MatchPackage reports whether a package pattern matches an import path, by the
// rules of the go command.
func MatchPackage(pattern, path string) bool {
	if match(pattern, whole(path), "...") {
		return true
	}
	return hasSuffix(pattern, "/...") && match(pattern[:len(pattern)-len("/...")], whole(path), "...")
}

func matchFile(glob, path string) bool {
	if match(glob, whole(path), "*") {
		return true
	}
	for i := 0; i < len(path); i++ {
		if path[i] == '/' && match(glob, whole(path[i+1:]), "*") {
			return true
		}
	}
	return false
}

func matchBinary(glob, path string) bool {
	if lastSlash(glob) < 0 {
		path = path[lastSlash(path)+1:]
	}
	return match(glob, whole(path), "*")
}

// A joined is the concatenation of its parts, which is never built: matching
// must not allocate for each function and clause.
type joined struct {
	head, middle, tail string
}

func whole(s string) joined { return joined{s, "", ""} }

func (j joined) size() int { return len(j.head) + len(j.middle) + len(j.tail) }

func (j joined) at(i int) byte {
	if i < len(j.head) {
		return j.head[i]
	}
	i -= len(j.head)
	if i < len(j.middle) {
		return j.middle[i]
	}
	return j.tail[i-len(j.middle)]
}

// next returns the index after the character at i. A byte that is not part of UTF-8 is a character.
func (j joined) next(i int) int {
	lead := j.at(i)
	for i++; lead >= 0xC0 && i < j.size() && j.at(i)&0xC0 == 0x80; i++ {
	}
	return i
}

// match matches a pattern in which star is any run of characters and, if star
// is "*", "?" any one. It only ever goes back to the last star, which suffices
// because an earlier one could take no more than that one can: the time is at
// most the product of the lengths.
func match(pattern string, name joined, star string) bool {
	size := name.size()
	p, n := 0, 0
	starP, starN := -1, 0 // after the last star; where it stops in name
	for n < size {
		switch {
		case startsAt(pattern, p, star) && !ofPointer(pattern, p):
			p += len(star)
			starP, starN = p, n
		case p < len(pattern) && pattern[p] == '?' && star == "*":
			p, n = p+1, name.next(n)
		case p < len(pattern) && pattern[p] == name.at(n):
			p, n = p+1, n+1
		case starP >= 0:
			starN = name.next(starN)
			p, n = starP, starN
		default:
			return false
		}
	}
	for startsAt(pattern, p, star) && !ofPointer(pattern, p) {
		p += len(star)
	}
	return p == len(pattern)
}

// ofPointer reports whether the star at p belongs to the type of a receiver, as in (*Client).Do.
func ofPointer(pattern string, p int) bool {
	return p > 0 && pattern[p-1] == '(' && pattern[p] == '*' && p+1 < len(pattern) && pattern[p+1] != ')'
}

// withoutTypes returns a function's name without its bracketed parts.
func withoutTypes(name string) string {
	kept, from, nested := "", 0, 0
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '[':
			if nested == 0 {
				kept += name[from:i]
			}
			nested++
		case ']':
			if nested--; nested <= 0 {
				nested, from = 0, i+1
			}
		}
	}
	if nested > 0 {
		return kept
	}
	return kept + name[from:]
}

// lastDot returns the index of the last dot outside brackets, or -1: the dots
// of Map[...] separate nothing.
func lastDot(name string) int {
	nested := 0
	for i := len(name) - 1; i >= 0; i-- {
		switch name[i] {
		case ']':
			nested++
		case '[':
			nested--
		case '.':
			if nested <= 0 {
				return i
			}
		}
	}
	return -1
}

// lastSlash takes both kinds, as executables have Windows paths.
func lastSlash(path string) int {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' || path[i] == '\\' {
			return i
		}
	}
	return -1
}

func indexByte(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == c {
			return i
		}
	}
	return -1
}

func index(s, part string) int {
	for i := range len(s) {
		if startsAt(s, i, part) {
			return i
		}
	}
	return -1
}

func startsAt(s string, i int, part string) bool {
	return len(s)-i >= len(part) && s[i:i+len(part)] == part
}

func hasSuffix(s, end string) bool {
	return len(s) >= len(end) && s[len(s)-len(end):] == end
}
