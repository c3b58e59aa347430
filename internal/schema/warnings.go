package schema

import (
	"context"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// A warning is what SHOW WARNINGS has of a statement: why it failed, what it did not do, or which
// text it cut to make a number of it.
type warning struct {
	level   string // Error, Warning or Note
	number  uint16
	message string
}

// warningsMax is how many of them are kept for a statement: MySQL's max_error_count.
const warningsMax = 64

// diagnostics are the warnings of a statement.
type diagnostics struct {
	list           []warning
	count, errored int  // with those that are not kept
	asked          bool // the statement asks for them, or is of no table, so it leaves them as they are
	left           bool // they are of a statement before the last one, which left them
}

// warn adds a warning to those of the statement under way.
func (s *Session) warn(level string, e *mysqlerr.Error) {
	d := &s.warned
	if d.count++; level == "Error" {
		d.errored++
	}
	if len(d.list) < warningsMax {
		d.list = append(d.list, warning{level, e.Number, e.Message})
	}
}

// cutError warns of a text of which only the beginning is a number.
func cutError(kind, text string) *mysqlerr.Error {
	const most = 128 // of the text
	return mysqlerr.New(mysqlerr.Cut, "Truncated incorrect %s value: '%s'", kind, text[:functions.Characters(text, most)])
}

// Warnings returns the number of warnings of the statement that was run last, and of those of which
// rows are being read.
func (s *Session) Warnings() int {
	if s.warned.left {
		return 0
	}
	return s.warned.count
}

// warnings is SHOW WARNINGS and SHOW ERRORS: of the statement before.
func (s *Session) warnings(ctx context.Context, st *language.Statement, i int, errors bool) (*Result, error) {
	if i < st.Len() && !st.Is(i, "LIMIT") {
		return nil, st.Near(i)
	}
	s.warned.asked = true
	text := "SELECT NULL AS `Level`, NULL AS `Code`, NULL AS `Message` WHERE FALSE"
	for _, w := range s.before.list {
		if !errors || w.level == "Error" {
			text += " UNION ALL SELECT " + language.Literal(w.level) + ", " + language.Literal(int64(w.number)) + ", " + language.Literal(w.message)
		}
	}
	limit, err := st.Filter(names{s}, i, "")
	if err != nil {
		return nil, err
	}
	kinds := []language.Column{{Kind: language.String.Kind(0)}, {Kind: language.Integer.Kind(0)}, {Kind: language.String.Kind(0)}}
	return s.read(ctx, "SELECT * FROM ("+text+")"+limit.Text, limit.Args, kinds)
}
