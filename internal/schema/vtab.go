package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"modernc.org/sqlite/vtab"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
)

// module is what SQLite calls to use the tables. CREATE VIRTUAL TABLE s.t USING ftrace(SESSION,
// SCHEMA, TABLE) makes a table.
type module struct{}

// sessions are the open sessions, by number: SQLite's modules are for all connections.
var sessions sync.Map

var registerOnce = sync.OnceValue(func() error { return vtab.RegisterModule(nil, "ftrace", module{}) })

func (m module) Create(ctx vtab.Context, args []string) (vtab.Table, error) {
	return m.Connect(ctx, args)
}

func (module) Connect(ctx vtab.Context, args []string) (vtab.Table, error) {
	if len(args) != 6 {
		return nil, errors.New("wrong arguments of a table")
	}
	s, ok := sessions.Load(args[3])
	if !ok {
		return nil, errors.New("there is no such session")
	}
	session := s.(*Session)
	sc := session.catalog.schema(unquoteName(args[4]))
	if sc == nil {
		return nil, errors.New("there is no such schema")
	}
	t := sc.tables[unquoteName(args[5])]
	if t == nil {
		return nil, errors.New("there is no such table")
	}
	return &virtual{session, sc, t}, ctx.Declare(declaration(sc, t))
}

func unquoteName(s string) string { return strings.Trim(s, `'"`) }

// processColumn is the column with the process, before the others. In a schema that always has one
// process it is hidden: SELECT * does not include it.
const processColumn = "PROCESS"

// declaration returns the CREATE TABLE that SQLite gets for a table.
func declaration(sc *Schema, t *tables.Table) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE x(")
	if !sc.information {
		b.WriteString(processColumn + " varchar")
		if !sc.several {
			b.WriteString(" HIDDEN")
		}
		b.WriteString(" COLLATE NOCASE, ")
	}
	for i, c := range t.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		kind := c.Kind
		if strings.HasPrefix(kind, "enum") {
			kind = "varchar(16)"
		}
		if c.Hidden {
			kind, _, _ = strings.Cut(kind, "(")
			kind += " HIDDEN" // a word of the type
		}
		fmt.Fprintf(&b, "%q %s", c.Name, kind)
		if !numeric(kind) {
			b.WriteString(" COLLATE NOCASE")
		}
	}
	b.WriteString(")")
	return b.String()
}

func numeric(kind string) bool {
	return strings.HasPrefix(kind, "bigint") || strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "double")
}

// virtual is a table of a session.
type virtual struct {
	session *Session
	schema  *Schema
	table   *tables.Table
}

func (t *virtual) Disconnect() error { return nil }
func (t *virtual) Destroy() error    { return nil }

// BestIndex chooses a column that has to equal something, if there is one: joins look up rows by
// it.
//
// SQLite calls it for each table that a statement reads, before the first row of any.
func (t *virtual) BestIndex(info *vtab.IndexInfo) error {
	t.session.statement.reads |= t.table.Reads
	info.EstimatedCost, info.EstimatedRows = 1e6, 1e6
	best := -1
	for i, c := range info.Constraints {
		if c.Op != vtab.OpEQ || !c.Usable || c.Column < 0 {
			continue
		}
		// The process selects least.
		if best < 0 || info.Constraints[best].Column == 0 && !t.schema.information {
			best = i
		}
	}
	if best >= 0 {
		info.Constraints[best].ArgIndex = 0
		info.IdxNum = int64(info.Constraints[best].Column) + 1
		info.EstimatedCost, info.EstimatedRows = 100, 100
	}
	return nil
}

func (t *virtual) Open() (vtab.Cursor, error) { return &cursor{t: t}, nil }

// cursor goes through the rows of all processes.
type cursor struct {
	t    *virtual
	rows *rows
	list []int // indexes of rows, nil for all
	n    int   // how many there are
	pos  int
}

func (c *cursor) Filter(idxNum int, _ string, vals []vtab.Value) error {
	if err := c.t.session.interrupted(); err != nil {
		return c.t.session.fail(err)
	}
	rows, err := c.t.session.rowsOf(c.t.schema, c.t.table)
	if err != nil {
		return c.t.session.fail(err)
	}
	c.rows, c.pos, c.n, c.list = rows, 0, rows.n, nil
	if idxNum > 0 && len(vals) > 0 {
		if key, ok := lookupKey(vals[0], c.t.numeric(idxNum-1)); ok {
			c.list = rows.lookup(idxNum - 1)[key]
			c.n = len(c.list)
		}
	}
	return nil
}

func (t *virtual) numeric(column int) bool {
	if !t.schema.information {
		column--
	}
	return column >= 0 && numeric(t.table.Columns[column].Kind)
}

func (c *cursor) Next() error {
	if c.t.session.stopped() {
		return c.t.session.fail(c.t.session.interrupted())
	}
	c.pos++
	return nil
}

func (c *cursor) Close() error { return nil }
func (c *cursor) Eof() bool    { return c.pos >= c.n }

func (c *cursor) row() int {
	if c.list == nil {
		return c.pos
	}
	return c.list[c.pos]
}

func (c *cursor) Column(column int) (vtab.Value, error) { return c.rows.at(c.row(), column), nil }
func (c *cursor) Rowid() (int64, error)                 { return int64(c.row()), nil }

// Insert, Update and Delete are called for each row. Their changes are made when the statement has
// ended.

func (t *virtual) Update(rowid int64, cols []vtab.Value, _ *int64) error {
	part, row := t.session.statement.rows[tableKey{t.schema, t.table}].part(int(rowid))
	changed := false
	for i, now := range cols {
		column := i
		if !t.schema.information {
			column--
		}
		old := any(part.v.Source.Name())
		if column >= 0 {
			old = part.Rowset.At(row, column)
		}
		if old == now {
			continue
		}
		if column < 0 || t.table.Update == nil || !t.table.Columns[column].Updatable {
			return t.session.fail(mysqlerr.New(mysqlerr.Usage, "Invalid performance_schema usage."))
		}
		o, ok1 := old.(string)
		if n, ok2 := now.(string); ok1 && ok2 && strings.EqualFold(o, n) { // YES and yes
			continue
		}
		changed = true
		if err := t.table.Update(t.session.pendingOf(part.v), part.Rowset.Row(row), column, now); err != nil {
			return t.session.fail(err)
		}
	}
	t.session.statement.matched++
	if changed {
		t.session.statement.changed++
	}
	return nil
}

func (t *virtual) Insert(cols []vtab.Value, rowid *int64) error {
	views, err := t.session.views(t.schema)
	if err != nil {
		return t.session.fail(err)
	}
	for _, v := range views {
		if only := cols[0]; only != nil && !strings.EqualFold(fmt.Sprint(only), v.Source.Name()) {
			continue
		}
		if err := t.table.Insert(t.session.pendingOf(v), cols[1:]); err != nil {
			return t.session.fail(err)
		}
		t.session.statement.changed++
	}
	*rowid = 0
	return nil
}

func (t *virtual) Delete(rowid int64) error {
	part, row := t.session.statement.rows[tableKey{t.schema, t.table}].part(int(rowid))
	t.table.Delete(t.session.pendingOf(part.v), part.Rowset.Row(row))
	t.session.statement.changed++
	return nil
}

// rows are the rows of a table, of all processes of a schema, for one statement.
type rows struct {
	parts   []rowsPart
	n       int
	hidden  int // 1 if the first column is the process
	indexes map[int]map[string][]int
}

type rowsPart struct {
	v     *tables.View
	first int
	tables.Rowset
}

// part returns the process to which a row belongs, and its index among that process's rows.
func (r *rows) part(row int) (*rowsPart, int) {
	for i := len(r.parts) - 1; ; i-- {
		if p := &r.parts[i]; row >= p.first {
			return p, row - p.first
		}
	}
}

func (r *rows) at(row, column int) value {
	p, row := r.part(row)
	if column -= r.hidden; column < 0 {
		return p.v.Source.Name()
	}
	return p.Rowset.At(row, column)
}

// lookup returns the indexes of rows by their values in a column.
func (r *rows) lookup(column int) map[string][]int {
	if index := r.indexes[column]; index != nil {
		return index
	}
	index := map[string][]int{}
	for i := range r.n {
		if key, ok := lookupKey(r.at(i, column), false); ok {
			index[key] = append(index[key], i)
		}
	}
	if r.indexes == nil {
		r.indexes = map[int]map[string][]int{}
	}
	r.indexes[column] = index
	return index
}

// lookupKey returns the key by which rows with a value are looked up. It is not ok if the value may
// be equal to one with another key.
func lookupKey(v value, numeric bool) (string, bool) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), true
	case string:
		return strings.ToLower(v), !numeric
	}
	return "", false
}
