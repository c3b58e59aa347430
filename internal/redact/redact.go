// Package redact tells by its name whether a value is a secret.
//
// A pattern is a list of alternatives with "|" between. A name is secret if one
// of them is a part of it. Neither upper and lower case count, nor "_", "-",
// "." and blanks: "apikey" is in APIKey, api_key and X-Api-Key.
//
// This file is also compiled into Go's package runtime. It imports nothing,
// allocates nothing, and its top-level names are renamed on the way.
package redact

// Default is the pattern that holds unless the user has another.
const Default = "passw|secret|token|authorization|cookie|apikey|private"

// Parse returns the pattern that a value of FTRACE_REDACT stands for, "" if
// nothing is secret. A value that can't be right stands for Default.
func Parse(setting string) (pattern string, ok bool) {
	switch {
	case setting == "" || setting == "on":
		return Default, true
	case setting == "off":
		return "", true
	case Valid(setting):
		return setting, true
	}
	return Default, false
}

// Valid reports whether pattern is a list of alternatives, each with a letter
// or digit, and none with a character that names do not have. So a regular
// expression is refused, not taken for what it is not.
func Valid(pattern string) bool {
	letters := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '|':
			if letters == 0 {
				return false
			}
			letters = 0
		case isLetter(c):
			letters++
		case !isFiller(c):
			return false
		}
	}
	return letters > 0
}

// Secret reports whether name is secret by a pattern. By "" none is.
func Secret(pattern, name string) bool {
	first := firstLetters(pattern)
	for i := 0; i < len(name); i++ {
		if first>>bit(name[i])&1 != 0 && anyAt(pattern, name[i:]) {
			return true
		}
	}
	return false
}

// Names goes through the names by which a function's calls have secrets: those of
// parameters, then of results.
type Names struct {
	Pattern  string
	Function string // without package and type; it stands for results without a name
	Params   string // names of parameters;names of results;type, as package rewrite writes them

	at, n   int
	results bool
}

// Next returns the next name that is secret. That of a result without a name is "",
// and n is its number from 0 on. Such a result is no secret if the source shows
// that it is a boolean or a number, nor is the error that is the last result.
func (s *Names) Next() (name string, n int, ok bool) {
	for s.at < len(s.Params) && !ok {
		start := s.at
		for s.at < len(s.Params) && s.Params[s.at] != ',' && s.Params[s.at] != ';' {
			s.at++
		}
		last := s.at == len(s.Params) || s.Params[s.at] == ';'
		name, n = beforeKind(s.Params[start:s.at]), s.n
		s.at++
		s.n++
		switch {
		case !s.results:
			ok = Secret(s.Pattern, name)
		case name == "" || name == "_":
			name = ""
			t := s.resultType(n)
			ok = t != "" && !isNumber(t) && !(last && t == "error") && Secret(s.Pattern, s.Function)
		default:
			ok = Secret(s.Pattern, name) && !(last && s.resultType(n) == "error")
		}
		if last {
			if s.results {
				s.at = len(s.Params)
			}
			s.n, s.results = 0, true
		}
	}
	return name, n, ok
}

// beforeKind returns a name without the static kind after it.
func beforeKind(name string) string {
	for i := range len(name) {
		if name[i] == '!' || name[i] == ':' {
			return name[:i]
		}
	}
	return name
}

// resultType returns the text of the type of result n, "" if there is none.
func (s *Names) resultType(n int) string {
	t := s.Params
	for semicolons := 0; semicolons < 2 && t != ""; t = t[1:] {
		if t[0] == ';' {
			semicolons++
		}
	}
	if t == "!" { // the function can't be replaced, since all that it does is return a literal
		return "func"
	}
	nested, lists, from := 0, 0, 0
	for i := range len(t) {
		ends := false
		switch t[i] {
		case '(', '[', '{':
			if nested++; nested == 1 {
				lists++
				from = i + 1
			}
		case ')', ']', '}':
			ends = nested == 1
			nested--
		case ',':
			ends = nested == 1
		}
		if ends && lists == 2 { // the second list is that of the results
			if n == 0 {
				return t[from:i]
			}
			n--
			from = i + 1
		}
	}
	return ""
}

// isNumber reports whether that is Go's name of a type of numbers, or of booleans.
func isNumber(t string) bool {
	switch t {
	case "bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr",
		"float32", "float64", "complex64", "complex128":
		return true
	}
	return false
}

// firstLetters returns the set of what the alternatives begin with, as bits:
// most places in a name are ruled out by it.
func firstLetters(pattern string) uint64 {
	set, begins := uint64(0), true
	for i := 0; i < len(pattern); i++ {
		c := pattern[i]
		if begins && isLetter(c) {
			set |= 1 << bit(c)
			begins = false
		}
		begins = begins || c == '|'
	}
	return set
}

// bit returns the number of a letter, and the same one of all else.
func bit(c byte) uint8 { return min(lower(c)-'a', 63) }

// anyAt reports whether name begins with one of the alternatives.
func anyAt(pattern, name string) bool {
	for i := 0; i < len(pattern); i++ {
		if beginsWith(name, pattern[i:]) {
			return true
		}
		for i < len(pattern) && pattern[i] != '|' {
			i++
		}
	}
	return false
}

// beginsWith reports whether name begins with the first alternative of pattern.
func beginsWith(name, pattern string) bool {
	n := 0
	for i := 0; i < len(pattern) && pattern[i] != '|'; i++ {
		c := pattern[i]
		if isFiller(c) {
			continue
		}
		for n > 0 && n < len(name) && isFiller(name[n]) {
			n++
		}
		if n == len(name) || lower(name[n]) != lower(c) {
			return false
		}
		n++
	}
	return n > 0
}

// isFiller reports whether c joins the words of a name and does not count.
func isFiller(c byte) bool { return c == '_' || c == '-' || c == '.' || c == ' ' }

// isLetter reports whether c counts: a letter, a digit, or a part of a
// character that is not ASCII.
func isLetter(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z' || c >= 0x80
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}
