package loglevel

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// Levels are levels by package and file, as in
//
//	info,net/...=trace,db.go=debug
//
// Entries are separated by commas or newlines; "#" starts a comment that goes to the end of the
// line, and white space around words is ignored. One entry may be a level alone, at any place: the
// default, which is INFO if there is none. The others are PATTERN=LEVEL, with a level that [Parse]
// reads and a pattern of one of two kinds:
//
//   - a package, as for the go command: net/http; net/... for net and all below it; main for the
//     main package. It may begin with "pkg:".
//   - a file, if it ends in ".go" or begins with "file:". It is a GLOB, in which "*" is any run of
//     characters and "?" any one, such as db.go or store/*.go. It is compared with the file's path,
//     and with each part of the path that follows a slash.
//
// The last entry that matches decides. Patterns match as those of FTRACE do; docs/rules.md has the
// grammar. In place of a comma, "=" or another character that means something here, write "?".
//
// The zero value is INFO for all. A Levels does not change, and may be used by several goroutines.
type Levels struct {
	base    Level
	entries []entry
}

// An entry is the level of what a pattern matches.
type entry struct {
	pattern  string // as written, without white space
	selector string // as a selector of package rule, with its kind
	clause   rule.Clause
	level    Level
}

// A SyntaxError says what is wrong with a text of levels or patterns, and where.
type SyntaxError struct {
	Text    string // all of it
	Offset  int    // in bytes, of what is at fault
	Length  int    // in bytes
	Message string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("loglevel: at byte %d of %q: %s", e.Offset, e.Text, e.Message)
}

// ParseLevels reads levels. The error, if there is one, is a [*SyntaxError].
func ParseLevels(text string) (Levels, error) {
	var l Levels
	hasBase := false
	fail := func(part, message string, offset int) (Levels, error) {
		return Levels{}, &SyntaxError{text, offset, len(part), message}
	}
	for at := 0; at < len(text); {
		end := len(text)
		if i := strings.IndexAny(text[at:], ",\n#"); i >= 0 {
			end = at + i
		}
		word, from := trim(text[at:end], at)
		if end < len(text) && text[end] == '#' {
			if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
				end += i
			} else {
				end = len(text)
			}
		}
		at = end + 1
		if word == "" {
			continue
		}
		left, right, isEntry := strings.Cut(word, "=")
		if !isEntry {
			level, err := Parse(word)
			switch {
			case err != nil:
				return fail(word, unknown(word)+" and no PATTERN=LEVEL", from)
			case hasBase:
				return fail(word, strconv.Quote(word)+" is a second default: the levels of packages and files are PATTERN=LEVEL", from)
			}
			l.base, hasBase = level, true
			continue
		}
		value, valueAt := trim(right, from+len(left)+1)
		level, err := Parse(value)
		if err != nil {
			return fail(value, unknown(value), valueAt)
		}
		pattern, patternAt := trim(left, from)
		e, message := newEntry(pattern)
		if message != "" {
			return fail(pattern, message, patternAt)
		}
		e.level = level
		l.entries = append(l.entries, e)
	}
	return l, nil
}

// trim returns s without white space around it, and where that begins if s begins at from.
func trim(s string, from int) (string, int) {
	left := strings.TrimLeft(s, " \t\n\v\f\r")
	return strings.TrimRight(left, " \t\n\v\f\r"), from + len(s) - len(left)
}

// newEntry reads a pattern, or says what is wrong with it.
func newEntry(pattern string) (e entry, message string) {
	kind, rest, found := strings.Cut(pattern, ":")
	switch {
	case pattern == "":
		return e, "missing pattern in front of \"=\""
	case strings.ContainsAny(pattern, ";&!,=#\n"):
		return e, strconv.Quote(pattern) + " is no pattern of packages or files: none of ; & ! , = # can be in one"
	case kind == "func" || kind == "bin":
		return e, "levels are by package (pkg:) or file (file:), not by " + kind + ":"
	case found && (kind == "pkg" || kind == "file"):
		e.selector = kind + ":" + strings.TrimSpace(rest)
	case strings.HasSuffix(pattern, ".go") || strings.Contains(pattern, ".go:"):
		e.selector = "file:" + pattern
	default:
		e.selector = "pkg:" + pattern
	}
	clauses, err, ok := rule.Parse(e.selector + "=args")
	switch {
	case !ok:
		return e, err.Message
	case clauses[0].Selectors[0].To != 0:
		return e, "levels are by package or file, not by line"
	}
	e.pattern, e.clause = pattern, clauses[0]
	return e, ""
}

// Default returns the level of what no entry matches.
func (l Levels) Default() Level { return l.base }

// Of returns the level of the file with this path in the package with this import path. The main
// package is "main".
func (l Levels) Of(importPath, file string) Level {
	f := rule.Func{Package: importPath, ImportPath: importPath, File: file}
	if importPath == "main" {
		f.ImportPath = mainPath()
	}
	for i := len(l.entries) - 1; i >= 0; i-- {
		if l.entries[i].clause.Match(&f) {
			return l.entries[i].level
		}
	}
	return l.base
}

// Lowest returns the lowest level that any package or file can have.
func (l Levels) Lowest() Level {
	for i, e := range slices.Backward(l.entries) {
		if e.selector == "pkg:..." || e.selector == "file:*" { // nothing in front of it counts
			return lowest(e.level, l.entries[i+1:])
		}
	}
	return lowest(l.base, l.entries)
}

func lowest(level Level, entries []entry) Level {
	for _, e := range entries {
		level = min(level, e.level)
	}
	return level
}

// String returns the levels as [ParseLevels] reads them, the default first: of such a text, it
// returns this text.
func (l Levels) String() string {
	var b strings.Builder
	b.WriteString(l.base.lower())
	for _, e := range l.entries {
		b.WriteString("," + e.pattern + "=" + e.level.lower())
	}
	return b.String()
}

// MarshalText returns what String does. The error is nil.
func (l Levels) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what [ParseLevels] does, and leaves the levels as they are if there is an
// error.
func (l *Levels) UnmarshalText(text []byte) error {
	parsed, err := ParseLevels(string(text))
	if err == nil {
		*l = parsed
	}
	return err
}

// A part of a program is what matches all of some selectors of package rule; without any it is the
// whole program.
type part []string

// traced returns what is at TRACE.
func (l Levels) traced() []part {
	var parts []part
	add := func(p part, later []entry) {
		for _, e := range later {
			if e.level > Trace {
				p = append(p, "!"+e.selector)
			}
		}
		parts = append(parts, p)
	}
	if l.base <= Trace {
		add(nil, l.entries)
	}
	for i, e := range l.entries {
		if e.level <= Trace {
			add(part{e.selector}, l.entries[i+1:])
		}
	}
	return parts
}
