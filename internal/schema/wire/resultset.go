package wire

import (
	"errors"
	"math"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// Types of columns.
const (
	typeDouble     = 5
	typeLongLong   = 8
	typeDate       = 10
	typeDatetime   = 12
	typeNewDecimal = 246
	typeVarString  = 253
)

// ok answers that a command is done.
func (c *conn) ok(r *schema.Result, status uint16) error {
	return c.send(c.okPacket(0, r, status))
}

func (c *conn) okPacket(head byte, r *schema.Result, status uint16) []byte {
	b := appendLength([]byte{head}, uint64(max(r.Affected, 0)))
	b = appendLength(b, 0) // no last insert ID
	b = appendUint16(b, c.status()|status)
	b = appendUint16(b, c.warnings())
	if r.Info == "" {
		return b
	}
	return appendString(b, r.Info)
}

// status returns what clients are told of the session with each answer.
func (c *conn) status() uint16 {
	if c.session != nil && c.session.InTransaction() {
		return statusInTransaction | statusAutocommit
	}
	return statusAutocommit
}

// warnings returns how many warnings there are of the statement that was run last.
func (c *conn) warnings() uint16 {
	if c.session == nil {
		return 0
	}
	return uint16(min(c.session.Warnings(), 1<<16-1))
}

// fail answers with an error.
func (c *conn) fail(err error) error {
	var known *mysqlerr.Error
	if !errors.As(err, &known) {
		known = mysqlerr.New(1105, "%v", err)
	}
	b := appendUint16([]byte{0xFF}, known.Number)
	b = append(append(b, '#'), known.State...)
	return c.send(append(b, known.Message...))
}

// refuse is fail, and then closes the connection.
func (c *conn) refuse(err error) error {
	c.fail(err)
	return err
}

// end says that there are no more columns, or rows.
func (c *conn) end(status uint16) error {
	b := appendUint16([]byte{0xFE}, c.warnings())
	return c.write(appendUint16(b, c.status()|status))
}

// result answers with a result: how many rows were changed, or rows.
func (c *conn) result(r *schema.Result, binaryRows bool, status uint16) error {
	if len(r.Columns) == 0 {
		return c.ok(r, status)
	}
	defer r.Close()
	if err := c.write(appendLength(nil, uint64(len(r.Columns)))); err != nil {
		return err
	}
	if err := c.columns(r.Columns); err != nil {
		return err
	}
	var b []byte
	for {
		row, err := r.Next()
		if err != nil {
			return c.fail(err)
		}
		if row == nil {
			break
		}
		if binaryRows {
			b = appendBinary(b[:0], row, r.Columns)
		} else {
			b = appendText(b[:0], row, r.Columns)
		}
		if err := c.write(b); err != nil {
			return err
		}
	}
	return c.ended(status)
}

// ended says that there are no more rows.
func (c *conn) ended(status uint16) error {
	if c.capabilities&deprecateEOF != 0 {
		return c.send(c.okPacket(0xFE, &schema.Result{}, status))
	}
	if err := c.end(status); err != nil {
		return err
	}
	return c.flush()
}

// columns describes columns.
func (c *conn) columns(columns []schema.Column) error {
	for _, column := range columns {
		if err := c.write(c.columnPacket(column)); err != nil {
			return err
		}
	}
	if c.capabilities&deprecateEOF != 0 {
		return nil
	}
	return c.end(0)
}

func (c *conn) columnPacket(column schema.Column) []byte {
	b := appendString(nil, "def")
	b = appendString(b, c.session.Database())
	b = appendString(b, "") // the table's alias and name
	b = appendString(b, "")
	b = appendString(b, column.Name)
	b = appendString(b, column.Name)
	b = append(b, 12)
	charset, length, kind, decimals := uint16(binaryCollation), uint32(20), byte(typeLongLong), byte(0)
	switch column.Type {
	case language.String:
		charset, length, kind = textCollation, 4096, typeVarString
	case language.Float:
		length, kind, decimals = 22, typeDouble, 31
	case language.Decimal:
		length, kind, decimals = 67, typeNewDecimal, byte(column.Places)
	case language.Date:
		length, kind = uint32(len(time.DateOnly)), typeDate
	case language.Datetime:
		length, kind, decimals = uint32(len(time.DateTime)), typeDatetime, byte(column.Places)
		if column.Places > 0 {
			length += 1 + uint32(column.Places)
		}
	}
	b = appendUint16(b, charset)
	b = appendUint32(b, length)
	b = append(b, kind)
	b = appendUint16(b, 0)
	return append(b, decimals, 0, 0)
}

func appendText(b []byte, row []any, columns []schema.Column) []byte {
	for i, v := range row {
		if text, ok := columns[i].Format(v); ok {
			b = appendString(b, text)
		} else {
			b = append(b, 0xFB)
		}
	}
	return b
}

// appendBinary appends a row in the form of prepared statements: each value in its column's type.
func appendBinary(b []byte, row []any, columns []schema.Column) []byte {
	b = append(b, 0)
	nulls := len(b)
	b = append(b, make([]byte, (len(row)+7+2)/8)...)
	for i, v := range row {
		if v == nil {
			b[nulls+(i+2)/8] |= 1 << ((i + 2) % 8)
			continue
		}
		switch columns[i].Type {
		case language.Integer:
			n := int64(0)
			switch v := v.(type) {
			case int64:
				n = v
			case float64:
				if n = int64(v); v >= 1<<63 {
					n = math.MaxInt64
				}
			}
			b = appendUint64(b, uint64(n))
		case language.Float:
			f := 0.0
			switch v := v.(type) {
			case int64:
				f = float64(v)
			case float64:
				f = v
			}
			b = appendUint64(b, math.Float64bits(f))
		case language.Date, language.Datetime:
			t, ok := columns[i].Time(v)
			b = appendTime(b, t, ok)
		default:
			text, _ := columns[i].Format(v)
			b = appendString(b, text)
		}
	}
	return b
}

// appendTime appends a time: its length, and what is not zero at its end. A value that is no time
// is 0000-00-00.
func appendTime(b []byte, t time.Time, ok bool) []byte {
	h, m, s := t.Clock()
	length := 11
	switch {
	case !ok:
		return append(b, 0)
	case t.Nanosecond() == 0 && h+m+s == 0:
		length = 4
	case t.Nanosecond() == 0:
		length = 7
	}
	to := appendUint16(append(b, byte(length)), uint16(t.Year()))
	to = append(to, byte(t.Month()), byte(t.Day()), byte(h), byte(m), byte(s))
	return appendUint32(to, uint32(t.Nanosecond()/1000))[:len(b)+1+length]
}
