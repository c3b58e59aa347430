package schema

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
)

// The views that users make in schema test. SQLite has no view of tables of another schema, so a
// view is a row of a table in test, and the restorer writes its query where its name is. All
// sessions see it, and it lasts as long as test.

// viewsTable is the table in test that has the views. Users can't name it.
const viewsTable = "ftrace_views"

// viewsAtOnce is how many views a statement may be of, those within others included, each time.
const viewsAtOnce = 1000

// A userView is one of these views.
type userView struct {
	name       string
	database   string       // the default schema of who made it
	definition string       // its query, as it was written
	columns    []viewColumn // when it was made
	named      bool         // CREATE VIEW named them
}

// A viewColumn is a column of a view.
type viewColumn struct{ Name, Kind string }

// userViews returns the views in test, or the one of a name.
func (s *Session) userViews(ctx context.Context, name string) (list []userView, err error) {
	rows, err := s.conn.QueryContext(ctx, "SELECT name, database, definition, columns, named FROM test."+viewsTable+" WHERE ?1 = '' OR name = ?1 ORDER BY name", name)
	if err != nil {
		if strings.Contains(err.Error(), "no such table") {
			err = nil // nobody has made a view
		}
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v userView
		var columns []byte
		if err := rows.Scan(&v.name, &v.database, &v.definition, &columns, &v.named); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(columns, &v.columns); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// userView returns a view, nil if there is none of that name in the schema.
func (s *Session) userView(ctx context.Context, schema, name string) (*userView, error) {
	if !strings.EqualFold(schema, "test") {
		return nil, nil
	}
	list, err := s.userViews(ctx, name)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// notView returns the error of a change of a view's rows.
func (s *Session) notView(t *target, command string) error {
	v, err := s.userView(context.Background(), t.schema, t.name)
	if v != nil {
		err = mysqlerr.New(1288, "The target table %s of the %s is not updatable", t.name, command)
	}
	return err
}

// query returns the tree of a view's query, and the statement that it is.
func (v *userView) query() (*query, *stmt, error) {
	st, err := newStmt(v.definition, nil)
	if err != nil {
		return nil, nil, err
	}
	q, err := st.query(0)
	return q, st, err
}

// userView writes the query of a view in place of its name, if there is such a view.
func (r *restorer) userView(schema string, t *tableRef) bool {
	v, err := r.session.userView(context.Background(), schema, t.name)
	if err != nil {
		fail(err)
	}
	if v == nil {
		return false
	}
	r.expand(v)
	r.write(" AS ", quoteName(t.known()))
	return true
}

// expand writes the query of a view, in parentheses.
func (r *restorer) expand(v *userView) {
	if containsFold(r.viewing, v.name) {
		fail(mysqlerr.New(1462, "`test`.`%s` contains view recursion", v.name))
	}
	if r.views++; r.views > viewsAtOnce {
		fail(mysqlerr.New(mysqlerr.TooDeep, "Thread stack overrun: a statement can be of %d views, those within views included", viewsAtOnce))
	}
	q, st, err := v.query()
	if err != nil {
		fail(err)
	}
	within := *r
	r.stmt, r.with, r.database, r.viewing = st, nil, v.database, append(slices.Clip(r.viewing), v.name)
	if v.named {
		var names []string
		for _, c := range v.columns {
			names = append(names, c.Name)
		}
		q = withColumns(names, q)
	}
	r.enclosed(q)
	r.stmt, r.with, r.database, r.viewing = within.stmt, within.with, within.database, within.viewing
}

// viewDefinition is CREATE, ALTER or DROP VIEW.
type viewDefinition struct {
	command string
	replace bool // CREATE OR REPLACE
	lenient bool // IF EXISTS or IF NOT EXISTS
	names   []*tableRef
	columns []string
	text    string
	query   *query
}

// viewDefinition reads one.
func (p *parser) viewDefinition() *viewDefinition {
	d := &viewDefinition{command: p.taken()}
	d.replace = d.command == "CREATE" && p.accept("OR", "REPLACE")
	p.expect("VIEW")
	switch d.command {
	case "CREATE":
		d.lenient = p.accept("IF", "NOT", "EXISTS")
	case "DROP":
		d.lenient = p.accept("IF", "EXISTS")
	case "ALTER":
	default:
		fail(unsupported(d.command + " VIEW"))
	}
	for ok := true; ok; ok = d.command == "DROP" && p.accept(",") {
		t := &tableRef{}
		p.tableName(t)
		d.names = append(d.names, t)
	}
	if d.command == "DROP" {
		_ = p.accept("RESTRICT") || p.accept("CASCADE")
		p.end()
		return d
	}
	if p.is("(") {
		d.columns = p.columns()
	}
	p.expect("AS")
	first := p.i
	d.query = p.query()
	d.text = p.text[p.at(first).start:p.at(p.i-1).end]
	if p.is("WITH") {
		fail(unsupported("WITH CHECK OPTION"))
	}
	p.end()
	return d
}

// defineView is CREATE, ALTER and DROP VIEW.
func (s *Session) defineView(ctx context.Context, st *stmt) (*Result, error) {
	var d *viewDefinition
	if _, err := st.parse(0, func(p *parser) { d = p.viewDefinition() }); err != nil {
		return nil, err
	}
	var all []target
	for _, name := range d.names {
		t, err := s.targetOf(name.schema, name.name)
		if err != nil {
			return nil, err
		}
		if t.ours {
			return nil, s.denied(map[bool]string{true: "DROP", false: "CREATE VIEW"}[d.command == "DROP"], t.name)
		}
		if err := s.mayUse(definingNeeds(st, "VIEW"), t.schema, t.name); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if d.command == "DROP" {
		return &Result{}, s.whole(ctx, func() error { return s.dropViews(ctx, d, all) })
	}
	return &Result{}, s.whole(ctx, func() error { return s.makeView(ctx, d, all[0].name) })
}

func (s *Session) dropViews(ctx context.Context, d *viewDefinition, all []target) error {
	for _, t := range all {
		v, err := s.userView(ctx, t.schema, t.name)
		switch {
		case err != nil:
			return err
		case v != nil:
			_, err = s.run(ctx, "DELETE FROM test."+viewsTable+" WHERE name = ?", t.name)
		case s.exists(ctx, t) == nil: // a table, or a view that SQLite made
			if _, err = s.run(ctx, "DROP VIEW test."+quoteName(t.name)); err != nil {
				err = mysqlerr.New(mysqlerr.NotView, "'%s.%s' is not VIEW", t.schema, t.name)
			}
		case !d.lenient:
			err = mysqlerr.New(mysqlerr.BadTable, "Unknown table '%s.%s'", t.schema, t.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeView makes a view, or changes it.
func (s *Session) makeView(ctx context.Context, d *viewDefinition, name string) error {
	old, err := s.userView(ctx, "test", name)
	table := s.exists(ctx, target{schema: "test", name: name}) == nil && old == nil
	switch {
	case err != nil:
		return err
	case table:
		return mysqlerr.New(mysqlerr.TableExists, "Table '%s' already exists", name)
	case d.command == "ALTER" && old == nil:
		return mysqlerr.New(mysqlerr.NoSuchTable, "Table 'test.%s' doesn't exist", name)
	case d.command == "CREATE" && old != nil && d.lenient:
		return nil
	case d.command == "CREATE" && old != nil && !d.replace:
		return mysqlerr.New(mysqlerr.TableExists, "Table '%s' already exists", name)
	}
	d.query.deeply(func(e *expr) {
		if e.form == userForm || e.form == assignForm || e.form == paramForm || e.form == sysForm {
			err = mysqlerr.New(1351, "View's SELECT contains a variable or parameter")
		}
	})
	if err != nil {
		return err
	}
	v := &userView{name: name, database: s.database, definition: d.text}
	if v.columns, err = s.columnsOf(ctx, v); err != nil {
		return err
	}
	if d.columns != nil && len(d.columns) != len(v.columns) {
		return mysqlerr.New(mysqlerr.ColumnList, "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts")
	}
	v.named = d.columns != nil
	for i := range d.columns {
		v.columns[i].Name = d.columns[i]
	}
	for i, c := range v.columns {
		first := c.Name
		if at := strings.LastIndexByte(first, ':'); at > 0 && d.columns == nil && strings.Trim(first[at+1:], "0123456789") == "" {
			first = first[:at] // SQLite has given it another name
		}
		if slices.ContainsFunc(v.columns[:i], func(other viewColumn) bool { return strings.EqualFold(other.Name, first) }) {
			return mysqlerr.New(mysqlerr.Duplicate, "Duplicate column name '%s'", first)
		}
	}
	columns, err := json.Marshal(v.columns)
	if err != nil {
		return err
	}
	for _, q := range []string{
		"CREATE TABLE IF NOT EXISTS test." + viewsTable + " (name TEXT PRIMARY KEY COLLATE NOCASE, database TEXT, definition TEXT, columns TEXT, named INT)",
		"INSERT OR REPLACE INTO test." + viewsTable + " VALUES (?, ?, ?, ?, ?)",
	} {
		args := []any{v.name, v.database, v.definition, string(columns), v.named}
		if _, err := s.run(ctx, q, args[:strings.Count(q, "?")]...); err != nil {
			return err
		}
	}
	return nil
}

// columnsOf returns the columns of a view's query, which it checks.
func (s *Session) columnsOf(ctx context.Context, v *userView) (columns []viewColumn, err error) {
	q, _, err := v.query()
	if err != nil {
		return nil, err
	}
	var known []typedColumn
	text, err := s.restore(&stmt{}, func(r *restorer) {
		r.write("SELECT * FROM ")
		r.expand(v)
		r.write(" LIMIT 0")
		known = r.columnsOf(q)
	})
	if err != nil {
		return nil, err
	}
	rows, err := s.conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, errors.Join(rows.Close(), rows.Err())) }()
	types, err := rows.ColumnTypes()
	for i, t := range types {
		c := viewColumn{t.Name(), strings.TrimSuffix(strings.ToLower(t.DatabaseTypeName()), " hidden")}
		if c.Kind == "" && len(known) == len(types) {
			c.Kind = known[i].kind.columnType()
		}
		c.Kind = cmp.Or(c.Kind, tables.TextKind)
		columns = append(columns, c)
	}
	return columns, err
}
