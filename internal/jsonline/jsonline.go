// Package jsonline reads JSON text without making anything of it: what a program logs may be JSON
// already.
package jsonline

// A Reader reads Text from At on.
type Reader struct {
	Text []byte
	At   int
}

// deepest is how deep values may be nested. The stack of a traced program may be small.
const deepest = 64

// Object reports whether line is one JSON object with nothing but white space around it, and where
// the object starts and ends.
func Object(line []byte) (start, end int, ok bool) {
	j := Reader{Text: line}
	j.Space()
	start = j.At
	if j.peek() != '{' || !j.Value(deepest) {
		return 0, 0, false
	}
	end = j.At
	j.Space()
	return start, end, j.At == len(line)
}

// peek returns the next byte, 0 at the end.
func (j *Reader) peek() byte {
	if j.At < len(j.Text) {
		return j.Text[j.At]
	}
	return 0
}

// Next goes past c, and reports whether it was there.
func (j *Reader) Next(c byte) bool {
	if j.peek() != c || j.At == len(j.Text) {
		return false
	}
	j.At++
	return true
}

// Space goes past white space.
func (j *Reader) Space() {
	for c := j.peek(); c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = j.peek() {
		j.At++
	}
}

// Value goes past a value that is nested no deeper than nest, and reports whether there was one.
func (j *Reader) Value(nest int) bool {
	switch c := j.peek(); {
	case nest == 0:
		return false
	case c == '{':
		return j.list('}', nest, true)
	case c == '[':
		return j.list(']', nest, false)
	case c == '"':
		return j.String()
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
func (j *Reader) list(closing byte, nest int, members bool) bool {
	j.At++
	j.Space()
	if j.Next(closing) {
		return true
	}
	for {
		if members {
			if !j.String() {
				return false
			}
			j.Space()
			if !j.Next(':') {
				return false
			}
			j.Space()
		}
		if !j.Value(nest - 1) {
			return false
		}
		j.Space()
		if j.Next(closing) {
			return true
		}
		if !j.Next(',') {
			return false
		}
		j.Space()
	}
}

func (j *Reader) word(word string) bool {
	n := min(len(word), len(j.Text)-j.At)
	if string(j.Text[j.At:j.At+n]) != word {
		return false
	}
	j.At += n
	return true
}

// String goes past a string.
func (j *Reader) String() bool {
	if !j.Next('"') {
		return false
	}
	p, at := j.Text, j.At // most of a line is strings
	for at < len(p) {
		c := p[at]
		at++
		switch {
		case c == '"':
			j.At = at
			return true
		case c < ' ':
			j.At = at
			return false
		case c == '\\':
			j.At = at
			if !j.escape() {
				return false
			}
			at = j.At
		}
	}
	j.At = at
	return false
}

// escape goes past what stands after a backslash.
func (j *Reader) escape() bool {
	c := j.peek()
	j.At++
	switch c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		for range 4 {
			c := j.peek() | 0x20
			if !(c >= '0' && c <= '9' && j.peek() == c || c >= 'a' && c <= 'f') {
				return false
			}
			j.At++
		}
		return true
	}
	return false
}

func (j *Reader) number() bool {
	j.Next('-')
	if !j.Next('0') && !j.digits() {
		return false
	}
	if j.Next('.') && !j.digits() {
		return false
	}
	if j.Next('e') || j.Next('E') {
		if !j.Next('+') {
			j.Next('-')
		}
		return j.digits()
	}
	return true
}

func (j *Reader) digits() bool {
	p, at := j.Text, j.At
	for at < len(p) && p[at] >= '0' && p[at] <= '9' {
		at++
	}
	some := at > j.At
	j.At = at
	return some
}

// Attributes are those of a line that log/slog wrote, as key=value. Names of nested groups come
// before their attributes' keys.
type Attributes struct {
	Key, Value []byte // of the current attribute

	json   Reader
	groups [16][2]int // where the names of the open groups are
	open   int
}

// Of begins with the rest of the object that log/slog wrote, from a comma on.
func (a *Attributes) Of(rest []byte) { a.json.Text = rest }

// Next goes to the next attribute, and reports whether there is one. What is no JSON is the last
// one's value.
func (a *Attributes) Next() bool {
	j := &a.json
	for j.At < len(j.Text) {
		from := j.At + 1
		switch {
		case j.Next('}'):
			a.open--
			continue
		case !j.String():
			j.At++
			continue
		}
		to := j.At - 1
		j.Next(':')
		if j.peek() == '{' && a.open >= 0 && a.open < len(a.groups) {
			j.At++
			a.groups[a.open] = [2]int{from, to}
			a.open++
			continue
		}
		a.Key = j.Text[from:to]
		from = j.At
		if j.Value(deepest) {
			a.Value = unquoted(j.Text[from:j.At])
		} else {
			a.Value = j.Text[from:]
			j.At = len(j.Text)
		}
		return true
	}
	return false
}

// Groups returns how many groups the current attribute is in.
func (a *Attributes) Groups() int { return max(a.open, 0) }

// Group returns the name of a group that the current attribute is in, from the outermost on.
func (a *Attributes) Group(i int) []byte { return a.json.Text[a.groups[i][0]:a.groups[i][1]] }

// unquoted returns a value without quotes that nothing needs.
func unquoted(value []byte) []byte {
	n := len(value)
	if n <= 2 || value[0] != '"' {
		return value
	}
	for _, c := range value[1 : n-1] {
		if c <= ' ' || c == '=' || c == '"' || c == '\\' || c == 0x7F {
			return value
		}
	}
	return value[1 : n-1]
}
