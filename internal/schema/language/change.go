package language

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// A Change is UPDATE, INSERT, REPLACE or DELETE.
type Change struct {
	Command string
	// Beside returns what else a condition column <> 'x' of an UPDATE leaves out with x. nil:
	// nothing.
	Beside func(column, x string) []string

	st      *Statement
	ignore  bool
	tables  []*tableRef
	set     []assignment
	columns []string
	rows    [][]*expr
	query   *query
	where   *expr
	order   []ordered
	limit   *expr
	joined  *query
	same    []assignment // what is done to a row that has the same key already
}

// assignment is one assignment of SET.
type assignment struct {
	table  string // "": none is named
	column string
	value  *expr
}

// change reads one.
func (p *parser) change() *Change {
	c := &Change{st: p.Statement, Command: p.taken()}
	for option := true; option; {
		switch {
		case p.accept("IGNORE"):
			c.ignore = true
		case p.accept("LOW_PRIORITY"), p.accept("HIGH_PRIORITY"), p.accept("DELAYED"), p.accept("QUICK"):
		default:
			option = false
		}
	}
	switch c.Command {
	case "UPDATE":
		c.tables = p.tables()
		p.expect("SET")
		c.set = p.assignments()
		p.rowsOf(c)
	case "DELETE":
		if !p.accept("FROM") {
			fail(mysqlerr.NotYet("DELETE of several tables"))
		}
		if c.tables = p.tables(); len(c.tables) > 1 || c.tables[0].name == "" || p.is("USING") {
			fail(mysqlerr.NotYet("DELETE of several tables"))
		}
		p.rowsOf(c)
	default:
		p.accept("INTO")
		t := &tableRef{}
		p.tableName(t)
		c.tables = []*tableRef{t}
		if p.is("(") && !p.beginsQuery(p.i) && !p.at(p.i+1).is("(") {
			c.columns = p.names()
		}
		switch {
		case p.accept("VALUES"), p.accept("VALUE"):
			for ok := true; ok; ok = p.accept(",") {
				p.expect("(")
				c.rows = append(c.rows, p.exprs())
				p.expect(")")
			}
		case p.accept("SET"):
			var row []*expr
			for _, a := range p.assignments() {
				c.columns, row = append(c.columns, a.column), append(row, a.value)
			}
			c.rows = [][]*expr{row}
		default:
			c.query = p.query()
		}
		if c.Command == "INSERT" && p.accept("ON", "DUPLICATE") {
			p.expect("KEY")
			p.expect("UPDATE")
			c.same = p.assignments()
		}
	}
	return c
}

// rowsOf reads which rows are changed.
func (p *parser) rowsOf(c *Change) {
	if p.accept("WHERE") {
		c.where = p.expr()
	}
	if p.is("ORDER") {
		c.order = p.orderBy()
	}
	if p.accept("LIMIT") {
		c.limit = p.number()
	}
}

// assignments reads what follows SET.
func (p *parser) assignments() (list []assignment) {
	for ok := true; ok; ok = p.accept(",") {
		a := assignment{column: p.name(false)}
		for p.accept(".") {
			a.table, a.column = a.column, p.name(true)
		}
		p.expect("=")
		a.value = p.expr()
		list = append(list, a)
	}
	return list
}

// Change reads the change that a statement is from a token on.
func (st *Statement) Change(i int) (*Change, error) { return read(st, i, (*parser).change) }

// Table returns the table that is changed, if it is one alone.
func (c *Change) Table() (Table, error) {
	t := c.tables[0]
	if t.query != nil {
		return Table{}, mysqlerr.NotYet(c.Command + " of a query")
	}
	return Table{t.schema, t.name}, nil
}

// Columns returns the columns that are set in rows that there are.
func (c *Change) Columns() (names []string) {
	for _, a := range append(c.same, c.set...) {
		names = append(names, a.column)
	}
	return names
}

// Updates reports whether it is an INSERT that sets columns of rows that there are.
func (c *Change) Updates() bool { return c.same != nil }

// Reads returns a column that is read of the table; "": none is.
func (c *Change) Reads() (column string) {
	look := func(e *expr) {
		e.each(func(e *expr) bool {
			if e.form == columnForm && column == "" {
				column = e.path[len(e.path)-1]
			}
			return true
		})
	}
	look(c.where)
	for _, o := range c.order {
		look(o.of)
	}
	for _, a := range c.set {
		look(a.value)
	}
	return column
}

// Plan returns what SQLite is to run for a change of one table. An INSERT that names no columns is
// of those given; nil: of all.
func (c *Change) Plan(n Names, t Table, columns []string) (*Plan, error) {
	return c.st.plan(n, func(r *restorer, _ *Plan) {
		r.beside = c.Beside
		r.inScope(&selection{from: c.tables}, func() { r.change(c, t, columns) })
	})
}

// change writes a change of one table.
func (r *restorer) change(c *Change, t Table, columns []string) {
	r.write(c.Command)
	if c.ignore && c.Command != "DELETE" {
		r.write(" OR IGNORE")
	}
	if c.Command == "DELETE" {
		r.write(" FROM")
	} else if c.Command != "UPDATE" {
		r.write(" INTO")
	}
	r.write(" ", t.String())
	if alias := c.tables[0].alias; alias != "" {
		r.write(" AS ", QuoteName(alias))
	}
	r.assignments(" SET ", c.set)
	if c.columns != nil || c.Command != "INSERT" {
		columns = c.columns
	}
	r.columns(columns)
	if c.rows != nil {
		r.write(" ")
		r.selection(&selection{values: c.rows}, false)
	}
	switch {
	case c.query != nil && c.same != nil: // SQLite would take ON for that of a join
		r.write(" SELECT * FROM ")
		r.enclosed(c.query)
		r.write(" WHERE TRUE")
	case c.query != nil:
		r.write(" ")
		r.query(c.query)
	}
	r.assignments(" ON CONFLICT DO UPDATE SET ", c.same)
	r.changed(c, t)
}

func (r *restorer) assignments(begin string, list []assignment) {
	r.each(len(list), begin, ", ", func(i int) {
		r.write(QuoteName(list[i].column), " = ")
		r.expr(list[i].value)
	})
}

// changed writes which rows are changed. SQLite has no LIMIT for UPDATE and DELETE, so WHERE ...
// LIMIT n becomes a subquery for those rows.
func (r *restorer) changed(c *Change, t Table) {
	where := func() {
		if c.where != nil {
			r.write(" WHERE ")
			r.expr(c.where)
		}
	}
	if c.limit == nil {
		where()
		return // in any order
	}
	r.write(" WHERE rowid IN (SELECT rowid FROM ", t.String())
	if alias := c.tables[0].alias; alias != "" {
		r.write(" AS ", QuoteName(alias))
	}
	where()
	r.orderBy(c.order)
	r.write(" LIMIT ")
	r.expr(c.limit)
	r.write(")")
}

// UPDATE a JOIN b ON ... SET a.x = b.y, b.z = 1 WHERE ... first makes a table j from SELECT a.rowid
// AS r0, b.y AS v0, b.rowid AS r1, 1 AS v1 FROM a JOIN b ON ... WHERE .... Then it runs UPDATE a
// SET x = j.v0 FROM j WHERE a.rowid = j.r0, and the same for b. SQLite has no other UPDATE with
// joins.

// maxAssignments is the number of columns that SQLite allows.
const maxAssignments = 2000

// A Joined is a table that an UPDATE of several changes.
type Joined struct {
	Table
	Columns []string // that are set
	of      *tableRef
	set     []string // what SET does to them
}

// Joined returns the tables that an UPDATE of several changes; nil: the change is of one table.
func (c *Change) Joined() (changed []Joined, err error) {
	switch {
	case len(c.tables) == 1 && c.tables[0].inner == nil:
		return nil, nil
	case c.order != nil:
		return nil, mysqlerr.New(1221, "Incorrect usage of UPDATE and ORDER")
	case c.limit != nil:
		return nil, mysqlerr.New(1221, "Incorrect usage of UPDATE and LIMIT")
	case len(c.set) > maxAssignments:
		return nil, mysqlerr.New(1117, "Too many columns")
	}
	s, all := &selection{from: c.tables, where: c.where}, base(c.tables)
	for i, a := range c.set {
		at := slices.IndexFunc(all, func(t *tableRef) bool { return a.table == "" || strings.EqualFold(a.table, t.known()) })
		if at < 0 {
			return nil, mysqlerr.New(1109, "Unknown table '%s' in MULTI UPDATE", a.table)
		}
		of := all[at]
		n := slices.IndexFunc(changed, func(t Joined) bool { return t.of == of })
		if n < 0 {
			n = len(changed)
			changed = append(changed, Joined{Table: Table{of.schema, of.name}, of: of})
			s.items = append(s.items, item{of: &expr{form: columnForm, path: []string{of.known(), "rowid"}}, alias: fmt.Sprint("r", n), named: true})
		}
		t := &changed[n]
		t.Columns = append(t.Columns, a.column)
		t.set = append(t.set, fmt.Sprintf("%s = j.v%d", QuoteName(a.column), i))
		s.items = append(s.items, item{of: a.value, alias: fmt.Sprint("v", i), named: true})
	}
	c.joined = &query{terms: []term{{only: s}}}
	return changed, nil
}

// Rows returns the query of the rows from which the tables that Joined has returned get their
// values.
func (c *Change) Rows(n Names) (*Plan, error) {
	return c.st.plan(n, func(r *restorer, _ *Plan) { r.query(c.joined) })
}

// Update returns the UPDATE of one of the tables, whose number it is, and which is t, by the rows
// in another table. A row that several others match is changed once, as the first of them says.
func (j *Joined) Update(t Table, number int, rows string) string {
	return fmt.Sprintf("UPDATE %s AS %s SET %s FROM (SELECT *, MIN(rowid) FROM %s GROUP BY r%[5]d) AS j WHERE %[2]s.rowid = j.r%[5]d",
		t, QuoteName(j.of.known()), strings.Join(j.set, ", "), rows, number)
}
