package schema

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// A change is UPDATE, INSERT, REPLACE or DELETE.
type change struct {
	command string
	ignore  bool
	tables  []*tableRef
	set     []assignment
	columns []string
	rows    [][]*expr
	query   *query
	where   *expr
	order   []ordered
	limit   *expr
	same    []assignment // what is done to a row that has the same key already
}

// assignment is one assignment of SET.
type assignment struct {
	table  string // "": none is named
	column string
	value  *expr
}

// change reads one.
func (p *parser) change() *change {
	c := &change{command: p.taken()}
	for option := true; option; {
		switch {
		case p.accept("IGNORE"):
			c.ignore = true
		case p.accept("LOW_PRIORITY"), p.accept("HIGH_PRIORITY"), p.accept("DELAYED"), p.accept("QUICK"):
		default:
			option = false
		}
	}
	switch c.command {
	case "UPDATE":
		c.tables = p.tables()
		p.expect("SET")
		c.set = p.assignments()
		p.rowsOf(c)
	case "DELETE":
		if !p.accept("FROM") {
			fail(unsupported("DELETE of several tables"))
		}
		if c.tables = p.tables(); len(c.tables) > 1 || c.tables[0].name == "" || p.is("USING") {
			fail(unsupported("DELETE of several tables"))
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
		if c.command == "INSERT" && p.accept("ON", "DUPLICATE") {
			p.expect("KEY")
			p.expect("UPDATE")
			c.same = p.assignments()
		}
	}
	return c
}

// rowsOf reads which rows are changed.
func (p *parser) rowsOf(c *change) {
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

// write is UPDATE, INSERT, REPLACE and DELETE.
func (s *Session) write(ctx context.Context, st *stmt) (*Result, error) {
	var c *change
	if _, err := st.parse(0, func(p *parser) { c = p.change(); p.end() }); err != nil {
		return nil, err
	}
	if len(c.tables) > 1 || c.tables[0].inner != nil {
		return s.updateJoined(ctx, st, c)
	}
	q, err := s.changing(st, c)
	if err != nil {
		return nil, err
	}
	return s.exec(ctx, q, st.args...)
}

// changing returns SQLite's spelling of a change of one table, if the user may make it.
func (s *Session) changing(st *stmt, c *change) (string, error) {
	if c.tables[0].query != nil {
		return "", unsupported(c.command + " of a query")
	}
	t, err := s.targetOf(c.tables[0].schema, c.tables[0].name)
	if err != nil {
		return "", err
	}
	if c.command != "UPDATE" {
		err = s.mayUse(map[string]accounts.Privileges{"INSERT": accounts.Insert, "REPLACE": accounts.Insert | accounts.Delete, "DELETE": accounts.Delete}[c.command], t.schema, t.name)
	}
	for _, a := range append(c.same, c.set...) {
		err = cmp.Or(err, s.maySetColumn(t.schema, t.name, a.column))
	}
	if err = cmp.Or(err, s.mayReadIn(c, &t), s.notView(&t, c.command)); err != nil {
		return "", err
	}
	switch {
	case c.command == "UPDATE":
		for _, a := range c.set {
			if err := s.mayUpdate(&t, a.column); err != nil {
				return "", err
			}
		}
	case !t.ours:
	case t.table == nil:
		return "", t.missing()
	case c.command == "REPLACE":
		return "", s.denied("INSERT", t.name)
	case t.table.Rules == nil:
		return "", s.denied(c.command, t.name)
	case c.same != nil:
		return "", s.denied("UPDATE", t.name)
	}
	return s.restore(st, func(r *restorer) {
		r.inScope(&selection{from: c.tables}, func() { r.change(c, &t) })
	})
}

// change writes a change of one table.
func (r *restorer) change(c *change, t *target) {
	r.spares = c.command == "UPDATE" && r.stmt.setsConsumers()
	r.write(c.command)
	if c.ignore && c.command != "DELETE" {
		r.write(" OR IGNORE")
	}
	if c.command == "DELETE" {
		r.write(" FROM")
	} else if c.command != "UPDATE" {
		r.write(" INTO")
	}
	r.write(" ", quoteName(t.schema), ".", quoteName(t.name))
	if alias := c.tables[0].alias; alias != "" {
		r.write(" AS ", quoteName(alias))
	}
	r.assignments(" SET ", c.set)
	columns := c.columns
	if t.ours && columns == nil && c.command == "INSERT" {
		columns = t.table.ColumnNames() // all of them except the process
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
		r.write(quoteName(list[i].column), " = ")
		r.expr(list[i].value)
	})
}

// changed writes which rows are changed. SQLite has no LIMIT for UPDATE and DELETE, so WHERE ...
// LIMIT n becomes a subquery for those rows.
func (r *restorer) changed(c *change, t *target) {
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
	r.write(" WHERE rowid IN (SELECT rowid FROM ", quoteName(t.schema), ".", quoteName(t.name))
	if alias := c.tables[0].alias; alias != "" {
		r.write(" AS ", quoteName(alias))
	}
	where()
	r.orderBy(c.order)
	r.write(" LIMIT ")
	r.expr(c.limit)
	r.write(")")
}

// mayUpdate returns what is wrong with an UPDATE of a table's column whatever the rows are: that
// one or the other can't be changed.
func (s *Session) mayUpdate(t *target, name string) error {
	switch {
	case !t.ours:
		return nil
	case t.table == nil:
		return t.missing()
	case t.table.Update == nil:
		return s.denied("UPDATE", t.name)
	}
	column := t.table.ColumnIndex(name)
	if column < 0 && !strings.EqualFold(name, processColumn) {
		return mysqlerr.New(mysqlerr.UnknownColumn, "Unknown column '%s' in 'field list'", name)
	}
	if column < 0 || !t.table.Columns[column].Updatable {
		return mysqlerr.New(mysqlerr.Usage, "Invalid performance_schema usage.")
	}
	return nil
}

// UPDATE a JOIN b ON ... SET a.x = b.y, b.z = 1 WHERE ... first makes a table j from SELECT a.rowid
// AS r0, b.y AS v0, b.rowid AS r1, 1 AS v1 FROM a JOIN b ON ... WHERE .... Then it runs UPDATE a
// SET x = j.v0 FROM j WHERE a.rowid = j.r0, and the same for b. SQLite has no other UPDATE with
// joins.

// maxAssignments is the number of columns that SQLite allows.
const maxAssignments = 2000

// joinedTable is a table that an UPDATE of several changes.
type joinedTable struct {
	target
	of      *tableRef
	columns []string // what SET does to its columns
}

// updateJoined is UPDATE of joined tables.
func (s *Session) updateJoined(ctx context.Context, st *stmt, c *change) (*Result, error) {
	switch {
	case c.order != nil:
		return nil, mysqlerr.New(1221, "Incorrect usage of UPDATE and ORDER")
	case c.limit != nil:
		return nil, mysqlerr.New(1221, "Incorrect usage of UPDATE and LIMIT")
	case len(c.set) > maxAssignments:
		return nil, mysqlerr.New(1117, "Too many columns")
	}
	var changed []joinedTable
	rows := &selection{from: c.tables, where: c.where}
	for i, a := range c.set {
		all := base(c.tables)
		at := slices.IndexFunc(all, func(t *tableRef) bool { return a.table == "" || strings.EqualFold(a.table, t.known()) })
		if at < 0 {
			return nil, mysqlerr.New(1109, "Unknown table '%s' in MULTI UPDATE", a.table)
		}
		n := slices.IndexFunc(changed, func(t joinedTable) bool { return t.of == all[at] })
		if n < 0 {
			t, err := s.targetOf(all[at].schema, all[at].name)
			if err != nil {
				return nil, err
			}
			n = len(changed)
			changed = append(changed, joinedTable{t, all[at], nil})
			rows.items = append(rows.items, item{of: &expr{form: columnForm, path: []string{all[at].known(), "rowid"}}, alias: fmt.Sprint("r", n), named: true})
		}
		t := &changed[n]
		if err := s.maySetColumn(t.schema, t.name, a.column); err != nil {
			return nil, err
		}
		if err := cmp.Or(s.notView(&t.target, c.command), s.mayUpdate(&t.target, a.column)); err != nil {
			return nil, err
		}
		rows.items = append(rows.items, item{of: a.value, alias: fmt.Sprint("v", i), named: true})
		t.columns = append(t.columns, fmt.Sprintf("%s = j.v%d", quoteName(a.column), i))
	}
	text, err := s.restore(st, func(r *restorer) { r.query(&query{terms: []term{{only: rows}}}) })
	if err != nil {
		return nil, err
	}
	var r *Result
	err = s.whole(ctx, func() error {
		if _, err := s.run(ctx, "CREATE TEMP TABLE ftrace_joined AS "+text, st.args...); err != nil {
			return err
		}
		all := int64(0)
		for i, t := range changed {
			// A row that several others match is changed once, as the first of them says.
			n, err := s.run(ctx, fmt.Sprintf("UPDATE %s.%s AS %s SET %s FROM (SELECT *, MIN(rowid) FROM temp.ftrace_joined GROUP BY r%[5]d) AS j WHERE %[3]s.rowid = j.r%[5]d",
				quoteName(t.schema), quoteName(t.name), quoteName(t.of.known()), strings.Join(t.columns, ", "), i))
			if err != nil {
				return err
			}
			if all += n; !t.ours {
				s.statement.matched += n
				s.statement.changed += n
			}
		}
		if _, err := s.run(ctx, "DROP TABLE temp.ftrace_joined"); err != nil {
			return err
		}
		r, err = s.apply(all)
		return err
	})
	return r, err
}

// whole runs do on the user's tables so that all of its changes are made, or none.
func (s *Session) whole(ctx context.Context, do func() error) error {
	if _, err := s.conn.ExecContext(ctx, "SAVEPOINT ftrace_whole"); err != nil {
		return err
	}
	err := do()
	if err != nil {
		s.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO ftrace_whole")
	}
	_, released := s.conn.ExecContext(context.WithoutCancel(ctx), "RELEASE ftrace_whole")
	return cmp.Or(err, released)
}
