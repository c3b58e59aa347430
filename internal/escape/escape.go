// Package escape decides what may reach a terminal, and how the rest is shown. Programs choose the
// names of their functions, files and types, their arguments and what they print, and none of that
// is to move the cursor, to begin a line of its own, or to let a line read in another order than it
// has.
//
// It is part of the core too, so that what a program shows of itself and what readers show of it is
// the same. It imports nothing.
package escape

// Safe reports whether a character may be shown as it is. Control characters may not, tabs and
// newlines among them, nor those that change the direction of text, that break lines, that do not
// show, or that every font has for itself. The two that join letters may (U+200C, U+200D):
// languages are written with them.
func Safe(r rune) bool {
	switch {
	case r < 0x7F:
		return r >= ' '
	case r < 0xA0, r == 0xAD, r == 0x61C, r == 0x180E:
		return false
	case r < 0x200B, r == 0x200C, r == 0x200D:
		return true
	case r <= 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F:
		return false
	case r >= 0xD800 && r < 0xF900, r == 0xFEFF, r >= 0xFFF9 && r <= 0xFFFB, r >= 0xE0000:
		return false
	}
	return true
}

// Next returns how many bytes the first character of s has, which is not empty, and whether it may
// be shown as it is. A byte that is no UTF-8 is a character that may not.
func Next(s string) (n int, safe bool) {
	if c := s[0]; c < 0x80 {
		return 1, c >= ' ' && c != 0x7F
	}
	var first rune
	n = len(s)
	for i, r := range s {
		if i > 0 {
			n = i
			break
		}
		first = r
	}
	return n, Safe(first) && (first != 0xFFFD || n == 3)
}

// Plain returns how many bytes at the beginning of s may be shown as they are.
func Plain(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7F {
			i++
			continue
		}
		n, safe := Next(s[i:])
		if !safe {
			return i
		}
		i += n
	}
	return len(s)
}

// Code returns how a byte is shown that may not be shown as it is, as in a string of Go: the first
// n bytes.
func Code(c byte) (code [4]byte, n int) {
	const digits = "0123456789abcdef"
	switch c {
	case '\n':
		return [4]byte{'\\', 'n'}, 2
	case '\r':
		return [4]byte{'\\', 'r'}, 2
	case '\t':
		return [4]byte{'\\', 't'}, 2
	}
	return [4]byte{'\\', 'x', digits[c>>4], digits[c&15]}, 4
}

// Quote writes s to dst as it stands between the quotes of a string of Go, until that has limit
// bytes or is all of s. It returns how many bytes it wrote, and how much of s that is. What dst has
// no room for is left out.
func Quote(dst []byte, limit int, s string) (n, done int) {
	for done < len(s) && n < limit {
		from, end := done, min(len(s), done+limit-n)
		for done < end && s[done] >= ' ' && s[done] < 0x7F && s[done] != '"' && s[done] != '\\' {
			done++
		}
		n += copy(dst[n:], s[from:done])
		if done == end {
			continue
		}
		switch c := s[done]; c {
		case '"', '\\':
			n += copy(dst[n:], `\`)
			n += copy(dst[n:], s[done:done+1])
			done++
		default:
			if size, safe := Next(s[done:]); safe {
				n += copy(dst[n:], s[done:done+size])
				done += size
				break
			}
			code, size := Code(c)
			n += copy(dst[n:], code[:size])
			done++
		}
	}
	return n, done
}

// Write writes s to dst, with what may not be shown as it is escaped. It returns how many bytes it
// wrote. What dst has no room for is left out.
func Write(dst []byte, s string) (n int) {
	for len(s) > 0 {
		plain := Plain(s)
		n += copy(dst[n:], s[:plain])
		if s = s[plain:]; s == "" {
			break
		}
		size, _ := Next(s)
		for i := range size {
			code, size := Code(s[i])
			n += copy(dst[n:], code[:size])
		}
		s = s[size:]
	}
	return n
}

// Cut returns how many of the first n bytes of s are whole characters. s may itself be cut.
func Cut(s string, n int) int {
	if n >= len(s) {
		return len(s) - Unfinished(s)
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return n
}

// Colour returns the length of what s begins with if that changes colours and nothing else (ESC [
// NUMBERS m), or 0.
func Colour(s string) int {
	const most = 64
	if len(s) < 3 || s[0] != 0x1B || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s) && i < most; i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// Unfinished returns the length of the end of s if that may be the beginning of a character, of
// which the rest is to come, or 0.
func Unfinished(s string) int {
	for n := 1; n <= 3 && n <= len(s); n++ {
		switch c := s[len(s)-n]; {
		case c >= 0xF0 && c < 0xF5, c >= 0xE0 && c < 0xF0 && n < 3, c >= 0xC2 && c < 0xE0 && n < 2:
			if n > 1 && !follows(c, s[len(s)-n+1]) {
				return 0
			}
			return n
		case c < 0x80 || c >= 0xC0:
			return 0
		}
	}
	return 0
}

// follows reports whether a character that begins with first can go on with second, which is the
// byte of one that goes on.
func follows(first, second byte) bool {
	switch first {
	case 0xE0:
		return second >= 0xA0
	case 0xED:
		return second < 0xA0
	case 0xF0:
		return second >= 0x90
	case 0xF4:
		return second < 0x90
	}
	return true
}
