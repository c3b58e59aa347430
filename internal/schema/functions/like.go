package functions

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// What goes through a text looks every lookEvery characters whether its statement is to end.
const lookEvery = 1 << 14

// likeFunction returns text LIKE pattern ESCAPE escape, whose arguments are pattern, text and
// escape, which may be missing.
func likeFunction(fold func(rune) rune, escape rune) func(s Statement, a []value) value {
	return func(s Statement, a []value) value {
		if slices.Contains(a, nil) {
			return nil
		}
		pattern, escape := AsText(a[0]), escape
		if len(a) == 3 {
			var size int
			if escape, size = utf8.DecodeRuneInString(AsText(a[2])); size == 0 || size != len(AsText(a[2])) {
				return mysqlerr.New(1210, "Incorrect arguments to ESCAPE")
			}
		}
		if len(pattern) > engine.MaxPattern {
			return mysqlerr.New(mysqlerr.Unsupported, "This version of ftrace doesn't yet support a pattern of LIKE of more than %d bytes", engine.MaxPattern)
		}
		is, ended := likePattern(AsText(a[1]), pattern, escape, fold, s.Stopped)
		if ended {
			return s.Interrupted()
		}
		return Truth(is)
	}
}

// likePattern reports whether a text is like a pattern, as far as fold makes characters the same.
// It has ended if stop reported that it is to end.
func likePattern(text, pattern string, escape rune, fold func(rune) rune, stop func() bool) (is, ended bool) {
	// After a % that is followed by more, what follows is tried at one character after another. If
	// it fits, an earlier % needs no other try: what is between them fitted as early as it can.
	t, p := 0, 0
	retryText, retryPattern := -1, 0
	for steps := 1; ; steps++ {
		if steps%lookEvery == 0 && stop() {
			return false, true
		}
		c, size, kind := likeNext(pattern[p:], escape)
		switch {
		case kind == likeMany:
			p += size
			retryText, retryPattern = t, p
			if p == len(pattern) {
				return true, false
			}
			continue
		case kind == likeEnd && t == len(text):
			return true, false
		case t < len(text) && kind != likeEnd:
			r, width := utf8.DecodeRuneInString(text[t:])
			if kind == likeOne || fold(r) == fold(c) {
				t, p = t+width, p+size
				continue
			}
		}
		if retryText < 0 || retryText >= len(text) || t == len(text) && kind != likeEnd {
			return false, false // what is left of the text is too short, however it is divided
		}
		_, width := utf8.DecodeRuneInString(text[retryText:])
		retryText += width
		t, p = retryText, retryPattern
	}
}

// Kinds of what a pattern of LIKE goes on with.
const (
	likeEnd  = iota
	likeChar // one character
	likeOne  // _
	likeMany // %
)

// likeNext returns what a pattern begins with.
func likeNext(pattern string, escape rune) (c rune, size, kind int) {
	if pattern == "" {
		return 0, 0, likeEnd
	}
	c, size = utf8.DecodeRuneInString(pattern)
	switch {
	case c == escape && size < len(pattern):
		c, n := utf8.DecodeRuneInString(pattern[size:])
		return c, size + n, likeChar
	case c == escape:
		return -1, size, likeChar // nothing is like it
	case c == '%':
		return 0, size, likeMany
	case c == '_':
		return 0, size, likeOne
	}
	return c, size, likeChar
}

// lowered returns a letter of ASCII as a small one.
func lowered(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + ('a' - 'A')
	}
	return r
}

// shortText is how many bytes are gone through so quickly that none looks at the clock.
const shortText = 1 << 12

// find returns where the first match in a text is, nil if there is none, and an error if the
// statement is to end.
func (m *matcher) find(text string, stop func() bool) ([]int, error) {
	if err := m.allows(text); err != nil {
		return nil, err
	}
	if len(text) <= shortText {
		return m.FindStringIndex(text), nil
	}
	r := &stoppable{text: strings.NewReader(text), stop: stop}
	at := m.FindReaderIndex(r)
	if r.stopped {
		return nil, mysqlerr.New(mysqlerr.Interrupted, "Query execution was interrupted")
	}
	return at, nil
}

// stoppable is a text that ends when a statement is to end.
type stoppable struct {
	text    *strings.Reader
	stop    func() bool
	read    int
	stopped bool
}

func (s *stoppable) ReadRune() (rune, int, error) {
	if s.read++; s.read%lookEvery == 0 && s.stop() {
		s.stopped = true
	}
	if s.stopped {
		return 0, 0, io.EOF
	}
	return s.text.ReadRune()
}
