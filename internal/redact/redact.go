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
