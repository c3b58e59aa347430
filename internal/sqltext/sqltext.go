// Package sqltext has what statements have in common that differ only in values: their text without
// these, and a number for that text. It also hides passwords in statements.
//
// This file is also compiled into instrumented programs, into the packages that send statements:
// recordings keep only the beginning of a text. It imports nothing, and its top-level names are
// renamed on the way.
package sqltext

// Word returns a statement's first word in small letters, "other" if it has none.
func Word(statement string) string {
scan:
	for statement != "" {
		switch c := statement[0]; {
		case c <= ' ', c == '(', c == ';':
			statement = statement[1:]
			continue
		case len(statement) > 1 && statement[:2] == "/*":
			statement = statement[until(statement, "*/"):]
			continue
		case len(statement) > 1 && statement[:2] == "--":
			statement = statement[until(statement, "\n"):]
			continue
		}
		break scan
	}
	n := 0
	for n < len(statement) && n < 32 && ('a' <= statement[n]|0x20 && statement[n]|0x20 <= 'z' || statement[n] == '_') {
		n++
	}
	if n == 0 {
		return "other"
	}
	word := []byte(statement[:n])
	for i, c := range word {
		if 'A' <= c && c <= 'Z' {
			word[i] = c + 'a' - 'A'
		}
	}
	return string(word)
}

// Normal returns a statement with a question mark for each string and number, "..." for
// several of them with commas between, without comments, and with one blank for all space.
func Normal(statement string) string {
	var out []byte
	blank := false
	add := func(text string) {
		if blank && len(out) > 0 {
			out = append(out, ' ')
		}
		blank = false
		out = append(out, text...)
	}
	for i := 0; i < len(statement); {
		c, rest := statement[i], statement[i:]
		switch {
		case c <= ' ':
			blank = true
			i++
		case c == '#', len(rest) > 2 && rest[:2] == "--" && rest[2] <= ' ':
			blank = true
			i += until(rest, "\n")
		case len(rest) > 2 && rest[:2] == "/*" && rest[2] != '!':
			blank = true
			i += until(rest, "*/")
		case c == '\'', c == '"':
			i += quoted(rest)
			add("?")
			out = fold(out)
		case c == '`':
			n := quoted(rest)
			add(rest[:n])
			i += n
		case '0' <= c && c <= '9' && (len(out) == 0 || blank || !wordByte(out[len(out)-1])):
			n := 1
			for n < len(rest) && (wordByte(rest[n]) || rest[n] == '.' || (rest[n] == '-' || rest[n] == '+') && rest[n-1]|0x20 == 'e') {
				n++
			}
			i += n
			add("?")
			out = fold(out)
		case c == '?':
			i++
			add("?")
			out = fold(out)
		default:
			add(rest[:1])
			i++
		}
	}
	return string(out)
}

// fold makes "..." of two values at the end of a list.
func fold(out []byte) []byte {
	for _, list := range [...]string{"?, ?", "?,?", "? , ?", "..., ?", "...,?", "... , ?"} {
		if n := len(out) - len(list); n >= 0 && string(out[n:]) == list {
			return append(out[:n], "..."...)
		}
	}
	return out
}

// until returns the length of the beginning of s that ends with end.
func until(s, end string) int {
	for i := len(end); i <= len(s); i++ {
		if s[i-len(end):i] == end {
			return i
		}
	}
	return len(s)
}

// quoted returns the length of the quoted text with which s begins.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] != s[0]:
		case i+1 < len(s) && s[i+1] == s[0]:
			i++
		default:
			return i + 1
		}
	}
	return len(s)
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c == '@' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// Digest returns a number for a text, in 16 digits (FNV-1a).
func Digest(text string) string {
	h := uint64(14695981039346656037)
	for i := 0; i < len(text); i++ {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	var digits [16]byte
	for i := range digits {
		digits[i] = "0123456789abcdef"[h>>(60-4*i)&15]
	}
	return string(digits[:])
}

// WithoutPasswords returns a statement. If it sets a password all its strings are
// overwritten.
func WithoutPasswords(statement []byte) (shown []byte, redacted bool) {
	if !mentions(statement, "password") && !mentions(statement, "identified") {
		return statement, false
	}
	for i := 0; i < len(statement); i++ {
		quote := statement[i]
		shown = append(shown, quote)
		if quote != '\'' && quote != '"' {
			continue
		}
		for i++; i < len(statement) && statement[i] != quote; i++ {
			if statement[i] == '\\' {
				i++
			}
		}
		shown = append(shown, "***"...)
		shown = append(shown, quote)
		redacted = true
	}
	return shown, redacted
}

// mentions reports whether a word, given in small letters, is part of a statement, in any
// case.
func mentions(statement []byte, word string) bool {
	for i := 0; i+len(word) <= len(statement); i++ {
		j := 0
		for j < len(word) && statement[i+j]|0x20 == word[j] {
			j++
		}
		if j == len(word) {
			return true
		}
	}
	return false
}
