package schema

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// A value is one in a row: nil, int64, float64 or string.
type value = driver.Value

// A Column is one column of a result.
type Column struct {
	Name   string
	Type   language.Type
	Places int // of a decimal number, or of the seconds of a Datetime
}

// Time returns a value of a Date or Datetime. It is not ok if it is no time.
func (c Column) Time(v any) (t time.Time, ok bool) {
	t, _, ok = functions.ParseTime(v)
	return t, ok
}

// textColumns returns columns of text.
func textColumns(names ...string) (columns []Column) {
	for _, name := range names {
		columns = append(columns, Column{Name: name, Type: language.String})
	}
	return columns
}

// A Result is what a statement returned. If it has no columns it says how many rows were changed.
type Result struct {
	Columns  []Column
	Affected int64
	Info     string // in MySQL's words for UPDATE

	session *Session
	rows    *sql.Rows
	width   int     // number of columns of rows
	ahead   [][]any // rows that were read to find out the types, or all rows
	days    []bool  // columns that are dates: the engine's driver makes times of all
	ended   bool
	whole   bool       // the statement ends with it
	assigns []assigned // columns that are assigned to variables
	given   int64      // number of rows returned
	found   int64      // number of rows without LIMIT, if SQL_CALC_FOUND_ROWS was given, else 0
}

// lookahead is the number of rows read before the first is returned: values tell the types of
// columns that are expressions.
const (
	lookahead      = 256
	lookaheadBytes = 1 << 20
)

// result makes a result of SQLite's rows, whose columns are these; nil: they are not known.
func (s *Session) result(rows *sql.Rows, columns []language.Column) (*Result, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		rows.Close()
		return nil, err
	}
	r := &Result{session: s, rows: rows, width: len(types)}
	known := make([]bool, len(types))
	for i, t := range types {
		c := Column{Name: t.Name()}
		r.days = append(r.days, strings.EqualFold(t.DatabaseTypeName(), "DATE"))
		if len(columns) == len(types) {
			c.Type, c.Places, known[i] = columns[i].Kind.Shown()
			if strings.EqualFold(columns[i].Name, c.Name) {
				c.Name = columns[i].Name // as the statement has it; the engine says it as the table does
			}
		}
		if !known[i] {
			c.Type, c.Places, known[i] = language.KindOf(t.DatabaseTypeName()).Shown()
		}
		r.Columns = append(r.Columns, c)
	}
	for bytes := 0; len(r.ahead) < lookahead && bytes < lookaheadBytes; {
		row, err := r.read()
		if err != nil {
			return nil, err
		}
		if row == nil {
			break
		}
		r.ahead = append(r.ahead, row)
		bytes += rowBytes(row)
	}
	for i := range r.Columns {
		if !known[i] {
			r.Columns[i].Type = r.typeOf(i)
		}
		fraction := func(row []any) bool { text, _ := row[i].(string); return strings.Contains(text, ".") }
		if r.Columns[i].Type == language.Datetime && slices.ContainsFunc(r.ahead, fraction) {
			r.Columns[i].Places = 6
		}
	}
	return r, nil
}

// typeOf returns the type of a column according to its known values.
func (r *Result) typeOf(column int) language.Type {
	t, any := language.Integer, false
	for _, row := range r.ahead {
		switch row[column].(type) {
		case int64:
			any = true
		case float64:
			t, any = language.Float, true
		case string:
			return language.String
		}
	}
	if !any {
		return language.String
	}
	return t
}

// read returns the next row, or nil if there is none.
func (r *Result) read() ([]any, error) {
	if r.rows == nil || r.ended {
		return nil, nil
	}
	if !r.rows.Next() {
		err := r.rows.Err()
		if r.session.failed != nil {
			err = r.session.failed
		}
		if err == nil { // SLEEP ends when its statement is to end, perhaps before the engine knows
			err = r.session.interrupted()
		}
		if err != nil {
			err = r.session.asError(err)
		}
		r.end()
		return nil, err
	}
	row := make([]any, r.width)
	into := make([]any, len(row))
	for i := range row {
		into[i] = &row[i]
	}
	if err := r.rows.Scan(into...); err != nil {
		r.Close()
		return nil, err
	}
	for i, v := range row {
		switch v := v.(type) {
		case []byte:
			row[i] = string(v)
		case bool:
			row[i] = functions.Truth(v)
		case time.Time:
			if row[i] = functions.FormatTime(v); r.days[i] {
				row[i] = v.Format(time.DateOnly)
			}
		}
	}
	if rowBytes(row) > engine.MaxText {
		r.assigns = nil
		r.Close()
		return nil, mysqlerr.New(mysqlerr.TooLong, "A row is larger than max_allowed_packet (%d)", engine.MaxText)
	}
	return row, nil
}

// rowBytes returns the total length of a row's texts.
func rowBytes(row []any) (n int) {
	for _, v := range row {
		if text, ok := v.(string); ok {
			n += len(text)
		}
	}
	return n
}

// Next returns the next row, of nil, int64, float64 and string, or nil if there is none. Errors are
// *Errors.
func (r *Result) Next() ([]any, error) {
	if len(r.ahead) > 0 {
		row := r.ahead[0]
		r.ahead = r.ahead[1:]
		return row[:len(r.Columns)], r.give(row)
	}
	row, err := r.read()
	if err != nil {
		return nil, r.session.fails(err)
	}
	if row == nil {
		return nil, nil
	}
	return row[:len(r.Columns)], r.give(row)
}

// give counts a row that is returned, and assigns its values to variables.
func (r *Result) give(row []any) error {
	r.given++
	for _, a := range r.assigns {
		if err := r.session.assignUser(a.Variable, row[a.Column], a.kind); err != nil {
			r.assigns = nil
			r.Close()
			return err
		}
	}
	return nil
}

// rowsFound is the value of FOUND_ROWS() after a statement. A statement that failed had none.
func (r *Result) rowsFound() int64 {
	if r == nil {
		return 0
	}
	return cmp.Or(r.found, r.given)
}

// rowsChanged is the value of ROW_COUNT() after a statement.
func (r *Result) rowsChanged() int64 {
	if r == nil || r.Columns != nil {
		return -1
	}
	return r.Affected
}

// Empty reports whether the result has columns, and no row from here on.
func (r *Result) Empty() bool {
	return len(r.Columns) > 0 && len(r.ahead) == 0 && (r.rows == nil || r.ended)
}

// Close ends the result before its last row.
func (r *Result) Close() {
	for more := len(r.assigns) > 0; more; { // all rows count
		row, err := r.Next()
		more = row != nil && err == nil
	}
	if r.rows != nil && !r.ended {
		r.end()
	}
	r.ahead = nil
}

func (r *Result) end() {
	r.ended = true
	r.rows.Close()
	if r.whole {
		r.session.over()
	}
}

// Format returns a value of the column as MySQL's clients show it. It is not ok if it is NULL.
func (c Column) Format(v any) (text string, ok bool) {
	switch c.Type {
	case language.Integer:
		return functions.IntegerText(v)
	case language.Decimal:
		return functions.DecimalText(v, c.Places)
	}
	return functions.Text(v)
}
