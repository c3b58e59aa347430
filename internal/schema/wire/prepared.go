package wire

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// prepared is a statement that the client may run several times.
type prepared struct {
	text    string
	params  int
	types   []uint16       // of the values, as last sent
	long    map[int][]byte // values that are sent ahead
	refused error          // why one of them was refused
	cursor  bool           // it is open, and has no rows
}

const preparedMax = 10000

// prepare is COM_STMT_PREPARE.
func (c *conn) prepare(text string) error {
	n, columns, err := c.session.Prepare(c.context, text)
	if err != nil {
		return c.fail(err)
	}
	if n > math.MaxUint16 {
		return c.fail(mysqlerr.New(1390, "Prepared statement contains too many placeholders"))
	}
	if len(c.statements) >= preparedMax {
		return c.fail(mysqlerr.New(1461, "Can't create more than %d prepared statements", preparedMax))
	}
	if err := c.claim(len(text)); err != nil {
		return c.fail(err)
	}
	c.statement++
	c.statements[c.statement] = &prepared{text: text, params: n}
	b := appendUint32([]byte{0}, c.statement)
	b = appendUint16(b, uint16(len(columns)))
	b = appendUint16(b, uint16(n))
	if err := c.write(append(b, 0, 0, 0)); err != nil {
		return err
	}
	params := slices.Repeat([]schema.Column{{Name: "?", Type: language.String}}, n)
	for _, list := range [][]schema.Column{params, columns} {
		if len(list) > 0 {
			if err := c.columns(list); err != nil {
				return err
			}
		}
	}
	return c.flush()
}

// cursorReadOnly is the flag of COM_STMT_EXECUTE by which a client asks for a cursor.
const cursorReadOnly = 1

// execute is COM_STMT_EXECUTE. A client that asks for a cursor gets all rows at once, as servers
// may answer. But where there are none, and nothing stands between columns and rows, it would take
// the end of the rows for that of the columns. Then it gets a cursor.
func (c *conn) execute(content []byte) error {
	r := &reader{b: content}
	st := c.statements[r.uint32()]
	cursor := r.uint8()&cursorReadOnly != 0
	r.take(4) // once
	if st == nil || r.bad {
		return c.fail(mysqlerr.New(1243, "Unknown prepared statement handler given to mysqld_stmt_execute"))
	}
	if err := st.refused; err != nil {
		c.forgetLong(st)
		return c.fail(err)
	}
	args, err := st.values(r)
	c.forgetLong(st)
	if err != nil {
		return c.fail(err)
	}
	result, err := c.session.Query(c.context, st.text, args)
	if err != nil {
		return c.fail(err)
	}
	st.cursor = cursor && c.capabilities&deprecateEOF != 0 && result.Empty()
	if st.cursor {
		return c.result(result, true, cursorExists)
	}
	return c.result(result, true, 0)
}

// fetch is COM_STMT_FETCH: there are no more rows.
func (c *conn) fetch(id uint32) error {
	st := c.statements[id]
	if st == nil {
		return c.fail(mysqlerr.New(1243, "Unknown prepared statement handler (%d) given to mysqld_stmt_fetch", id))
	}
	if !st.cursor {
		return c.fail(mysqlerr.New(1421, "The statement (%d) has no open cursor.", id))
	}
	st.cursor = false
	return c.ended(lastRowSent)
}

// values reads the values of a statement's ?s.
func (st *prepared) values(r *reader) ([]any, error) {
	if st.params == 0 {
		return nil, nil
	}
	nulls := r.take((st.params + 7) / 8)
	if r.bad {
		return nil, mysqlerr.New(1210, "Incorrect arguments to mysqld_stmt_execute")
	}
	if r.uint8() == 1 {
		st.types = make([]uint16, st.params)
		for i := range st.types {
			st.types[i] = r.uint16()
		}
	}
	if len(st.types) != st.params {
		return nil, mysqlerr.New(1210, "Incorrect arguments to mysqld_stmt_execute")
	}
	args := make([]any, st.params)
	for i := range args {
		if long, ok := st.long[i]; ok {
			args[i] = string(long)
			continue
		}
		if nulls[i/8]&(1<<(i%8)) != 0 {
			continue
		}
		v, err := r.value(st.types[i])
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	if r.bad {
		return nil, mysqlerr.New(1210, "Incorrect arguments to mysqld_stmt_execute")
	}
	return args, nil
}

// value reads a value of a type, whose high bit says that it is unsigned.
func (r *reader) value(t uint16) (any, error) {
	unsigned := t&0x8000 != 0
	switch kind := t & 0xFF; kind {
	case 1:
		if v := r.uint8(); unsigned {
			return int64(v), nil
		} else {
			return int64(int8(v)), nil
		}
	case 2, 13:
		if v := r.uint16(); unsigned {
			return int64(v), nil
		} else {
			return int64(int16(v)), nil
		}
	case 3, 9:
		if v := r.uint32(); unsigned {
			return int64(v), nil
		} else {
			return int64(int32(v)), nil
		}
	case typeLongLong:
		return int64(r.uint64()), nil
	case 4:
		return float64(r.float32()), nil
	case typeDouble:
		return r.float64(), nil
	case 6:
		return nil, nil
	case 7, typeDate, typeDatetime: // 7: a timestamp
		b := &reader{b: r.take(int(r.uint8()))}
		if len(b.b) < 4 {
			return "0000-00-00 00:00:00", nil
		}
		text := fmt.Sprintf("%04d-%02d-%02d", b.uint16(), b.uint8(), b.uint8())
		if kind == typeDate {
			return text, nil
		}
		h, m, s := byte(0), byte(0), byte(0)
		if len(b.b) >= 3 {
			h, m, s = b.uint8(), b.uint8(), b.uint8()
		}
		text += fmt.Sprintf(" %02d:%02d:%02d", h, m, s)
		if len(b.b) >= 4 {
			text += fmt.Sprintf(".%06d", b.uint32())
		}
		return text, nil
	case 0, 15, 16, 245, 246, 247, 248, 249, 250, 251, 252, typeVarString, 254:
		return r.string(), nil
	}
	return nil, mysqlerr.New(1210, "Incorrect arguments to mysqld_stmt_execute: type %d", t&0xFF)
}

// longData is COM_STMT_SEND_LONG_DATA, which has no answer.
func (c *conn) longData(content []byte) {
	r := &reader{b: content}
	st, i := c.statements[r.uint32()], int(r.uint16())
	if st == nil || r.bad || i >= st.params || st.refused != nil {
		return
	}
	if len(st.long[i])+len(r.b) > contentMax {
		st.refused = mysqlerr.New(1301, "A value is larger than max_allowed_packet (%d)", contentMax)
		return
	}
	if st.refused = c.claim(len(r.b)); st.refused != nil {
		return // it has no answer: the statement is refused when it is run
	}
	if st.long == nil {
		st.long = map[int][]byte{}
	}
	st.long[i] = append(st.long[i], r.b...)
}

// forgetLong forgets values that were sent ahead.
func (c *conn) forgetLong(st *prepared) {
	for _, v := range st.long {
		c.release(int64(len(v)))
	}
	st.long, st.refused = nil, nil
}

// closeStatement forgets a statement.
func (c *conn) closeStatement(id uint32) {
	if st := c.statements[id]; st != nil {
		c.forgetLong(st)
		c.release(int64(len(st.text)))
		delete(c.statements, id)
	}
}

// closeStatements forgets all statements.
func (c *conn) closeStatements() {
	for id := range c.statements {
		c.closeStatement(id)
	}
}

// kill reads KILL [QUERY|CONNECTION] id.
func kill(text string) (id uint32, query, ok bool) {
	const most = 1000 // bytes of it and its comments: it is looked for in each statement
	if len(text) > most || !strings.Contains(strings.ToUpper(text), "KILL") {
		return 0, false, false
	}
	st, err := language.Read(text, nil)
	if err != nil || !st.Is(0, "KILL") {
		return 0, false, false
	}
	i := 1
	if query = st.Is(i, "QUERY"); query || st.Is(i, "CONNECTION") {
		i++
	}
	n, err := strconv.ParseUint(st.Word(i), 10, 32)
	return uint32(n), query, err == nil && st.Len() == i+1
}
