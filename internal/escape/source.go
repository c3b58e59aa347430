package escape

import (
	_ "embed"
	"slices"
	"strings"
)

// Source is the text of this package, which package inject makes part of instrumented programs.
//
//go:embed escape.go
var Source []byte

// Append appends s, with what may not be shown as it is escaped.
func Append(b []byte, s string) []byte {
	b = slices.Grow(b, 4*len(s))
	return b[:len(b)+Write(b[len(b):cap(b)], s)]
}

// String returns s with what may not be shown as it is escaped.
func String(s string) string {
	if Plain(s) == len(s) {
		return s
	}
	return string(Append(nil, s))
}

// Strings returns a list with what may not be shown as it is escaped.
func Strings(list []string) []string {
	to := make([]string, len(list))
	for i, s := range list {
		to[i] = String(s)
	}
	return to
}

// Lines returns text of several lines, with tabs, in which all else that may not be shown as it is
// has been escaped.
func Lines(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n := Plain(s)
		b.WriteString(s[:n])
		if s = s[n:]; s == "" {
			break
		}
		if s[0] == '\n' || s[0] == '\t' {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		n, _ = Next(s)
		b.Write(Append(nil, s[:n]))
		s = s[n:]
	}
	return b.String()
}
