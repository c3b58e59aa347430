//go:build ftrace_core && go1.22

// What statements have in common that differ only in values: their text without these, and a number
// for that text, by which they are counted (events_statements_summary_by_digest). The program
// computes them itself, since recordings keep only the beginning of a string.

package definition

// ftraceNormal returns a statement with a question mark for each string and number, "..." for
// several of them with commas between, without comments, and with one blank for all space.
func ftraceNormal(statement string) string {
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
			i += ftraceUntil(rest, "\n")
		case len(rest) > 2 && rest[:2] == "/*" && rest[2] != '!':
			blank = true
			i += ftraceUntil(rest, "*/")
		case c == '\'', c == '"':
			i += ftraceQuoted(rest)
			add("?")
			out = ftraceFold(out)
		case c == '`':
			n := ftraceQuoted(rest)
			add(rest[:n])
			i += n
		case '0' <= c && c <= '9' && (len(out) == 0 || blank || !ftraceWordByte(out[len(out)-1])):
			n := 1
			for n < len(rest) && (ftraceWordByte(rest[n]) || rest[n] == '.' || (rest[n] == '-' || rest[n] == '+') && rest[n-1]|0x20 == 'e') {
				n++
			}
			i += n
			add("?")
			out = ftraceFold(out)
		case c == '?':
			i++
			add("?")
			out = ftraceFold(out)
		default:
			add(rest[:1])
			i++
		}
	}
	return string(out)
}

// ftraceFold makes "..." of two values at the end of a list.
func ftraceFold(out []byte) []byte {
	for _, list := range [...]string{"?, ?", "?,?", "? , ?", "..., ?", "...,?", "... , ?"} {
		if n := len(out) - len(list); n >= 0 && string(out[n:]) == list {
			return append(out[:n], "..."...)
		}
	}
	return out
}

// ftraceUntil returns the length of the beginning of s that ends with end.
func ftraceUntil(s, end string) int {
	for i := len(end); i <= len(s); i++ {
		if s[i-len(end):i] == end {
			return i
		}
	}
	return len(s)
}

// ftraceQuoted returns the length of the quoted text with which s begins.
func ftraceQuoted(s string) int {
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

func ftraceWordByte(c byte) bool {
	return c == '_' || c == '$' || c == '@' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

// ftraceDigest returns a number for a text, in 16 digits (FNV-1a).
func ftraceDigest(text string) string {
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
