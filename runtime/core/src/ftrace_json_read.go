//go:build ftrace_core

// Reading JSON: what the program logs may be JSON already.

package runtime

// ftraceJSON reads JSON text.
type ftraceJSON struct {
	p  []byte
	at int
}

// ftraceJSONEnd says whether line is one JSON object with nothing but white space around it, that a line of the trace has room for, and where the object ends.
func ftraceJSONEnd(line []byte) (end int, ok bool) {
	j := ftraceJSON{p: line}
	j.space()
	if j.at == len(line) || line[j.at] != '{' || len(line) > ftraceTextSize-4096 || !j.value(64) {
		return 0, false
	}
	end = j.at
	j.space()
	return end, j.at == len(line)
}

// peek returns the next byte, 0 at the end.
func (j *ftraceJSON) peek() byte {
	if j.at < len(j.p) {
		return j.p[j.at]
	}
	return 0
}

// next goes past c, and says whether it was there.
func (j *ftraceJSON) next(c byte) bool {
	if j.peek() != c || j.at == len(j.p) {
		return false
	}
	j.at++
	return true
}

func (j *ftraceJSON) space() {
	for c := j.peek(); c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = j.peek() {
		j.at++
	}
}

// value goes past a value that is nested no deeper than nest, and says whether there was one.
func (j *ftraceJSON) value(nest int) bool {
	switch c := j.peek(); {
	case nest == 0:
		return false
	case c == '{':
		return j.list('}', nest, true)
	case c == '[':
		return j.list(']', nest, false)
	case c == '"':
		return j.string()
	case c == 't':
		return j.word("true")
	case c == 'f':
		return j.word("false")
	case c == 'n':
		return j.word("null")
	}
	return j.number()
}

// list goes past an object or an array.
func (j *ftraceJSON) list(closing byte, nest int, members bool) bool {
	j.at++
	j.space()
	if j.next(closing) {
		return true
	}
	for {
		if members {
			if !j.string() {
				return false
			}
			j.space()
			if !j.next(':') {
				return false
			}
			j.space()
		}
		if !j.value(nest - 1) {
			return false
		}
		j.space()
		if j.next(closing) {
			return true
		}
		if !j.next(',') {
			return false
		}
		j.space()
	}
}

func (j *ftraceJSON) word(word string) bool {
	n := min(len(word), len(j.p)-j.at)
	if string(j.p[j.at:j.at+n]) != word {
		return false
	}
	j.at += n
	return true
}

// string goes past a string.
func (j *ftraceJSON) string() bool {
	if !j.next('"') {
		return false
	}
	p, at := j.p, j.at // most of a line is strings
	for at < len(p) {
		c := p[at]
		at++
		switch {
		case c == '"':
			j.at = at
			return true
		case c < ' ':
			j.at = at
			return false
		case c == '\\':
			j.at = at
			if !j.escape() {
				return false
			}
			at = j.at
		}
	}
	j.at = at
	return false
}

// escape goes past what stands behind a backslash.
func (j *ftraceJSON) escape() bool {
	c := j.peek()
	j.at++
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			c := j.peek() | 0x20
			if !(c >= '0' && c <= '9' && j.peek() == c || c >= 'a' && c <= 'f') {
				return false
			}
			j.at++
		}
		return true
	}
	return false
}

func (j *ftraceJSON) number() bool {
	j.next('-')
	if !j.next('0') && !j.digits() {
		return false
	}
	if j.next('.') && !j.digits() {
		return false
	}
	if j.next('e') || j.next('E') {
		if !j.next('+') {
			j.next('-')
		}
		return j.digits()
	}
	return true
}

func (j *ftraceJSON) digits() bool {
	p, at := j.p, j.at
	for at < len(p) && p[at] >= '0' && p[at] <= '9' {
		at++
	}
	some := at > j.at
	j.at = at
	return some
}

// attributes appends the rest of the object that log/slog wrote, from a comma on, as key=value, with dots between the names of nested groups.
func (b *ftraceText) attributes(p []byte) {
	var groups [16][2]int // where the names of the open groups are
	n := 0
	j := ftraceJSON{p: p}
	for j.at < len(p) {
		from := j.at + 1
		switch {
		case j.next('}'):
			n--
			continue
		case !j.string():
			j.at++
			continue
		}
		to := j.at - 1
		j.next(':')
		if j.peek() == '{' && n >= 0 && n < len(groups) {
			j.at++
			groups[n] = [2]int{from, to}
			n++
			continue
		}
		b.byte(' ')
		for i := range max(n, 0) {
			b.bytes(p[groups[i][0]:groups[i][1]])
			b.byte('.')
		}
		b.bytes(p[from:to])
		b.byte('=')
		from = j.at
		if !j.value(64) {
			b.bytes(p[from:])
			return
		}
		b.attribute(p[from:j.at])
	}
}

// attribute appends a value; quotes that nothing needs are left out.
func (b *ftraceText) attribute(value []byte) {
	if n := len(value); n > 2 && value[0] == '"' {
		plain := true
		for _, c := range value[1 : n-1] {
			plain = plain && c > ' ' && c != '=' && c != '"' && c != '\\' && c != 0x7F
		}
		if plain {
			value = value[1 : n-1]
		}
	}
	b.bytes(value)
}
