package schema

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
)

// The views that users make in schema test. SQLite has no view of tables of another schema, so a
// view is a row of a table in test, and the restorer writes its query where its name is. All
// sessions see it, and it lasts as long as test.

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
	rows, err := s.conn.QueryContext(ctx, "SELECT name, database, definition, columns, named FROM test."+language.ViewsTable+" WHERE ?1 = '' OR name = ?1 ORDER BY name", name)
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
	v, err := s.userView(context.Background(), t.Schema, t.Name)
	if v != nil {
		err = mysqlerr.New(1288, "The target table %s of the %s is not updatable", t.Name, command)
	}
	return err
}

// view returns the view as the language has it.
func (v *userView) view() *language.View {
	view := &language.View{Name: "`test`.`" + v.name + "`", Database: v.database, Definition: v.definition}
	if v.named {
		for _, c := range v.columns {
			view.Columns = append(view.Columns, c.Name)
		}
	}
	return view
}

// defineView is CREATE, ALTER and DROP VIEW.
func (s *Session) defineView(ctx context.Context, d *language.Definition) (*Result, error) {
	var all []target
	for _, name := range d.Tables {
		t, err := s.targetOf(name)
		if err != nil {
			return nil, err
		}
		if t.ours {
			return nil, s.denied(map[bool]string{true: "DROP", false: "CREATE VIEW"}[d.Command == "DROP"], t.Name)
		}
		if err := s.mayUse(definingNeeds(d.Command, "VIEW", d.Replace), t.Schema, t.Name); err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	if d.Command == "DROP" {
		return &Result{}, s.whole(ctx, func() error { return s.dropViews(ctx, d, all) })
	}
	return &Result{}, s.whole(ctx, func() error { return s.makeView(ctx, d, all[0].Name) })
}

func (s *Session) dropViews(ctx context.Context, d *language.Definition, all []target) error {
	for _, t := range all {
		v, err := s.userView(ctx, t.Schema, t.Name)
		switch {
		case err != nil:
			return err
		case v != nil:
			_, err = s.run(ctx, "DELETE FROM test."+language.ViewsTable+" WHERE name = ?", t.Name)
		case s.exists(ctx, t) == nil: // a table, or a view that SQLite made
			if _, err = s.run(ctx, "DROP VIEW test."+language.QuoteName(t.Name)); err != nil {
				err = mysqlerr.New(mysqlerr.NotView, "'%s.%s' is not VIEW", t.Schema, t.Name)
			}
		case !d.Lenient:
			err = mysqlerr.New(mysqlerr.BadTable, "Unknown table '%s.%s'", t.Schema, t.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// makeView makes a view, or changes it.
func (s *Session) makeView(ctx context.Context, d *language.Definition, name string) error {
	old, err := s.userView(ctx, "test", name)
	table := s.exists(ctx, target{Table: language.Table{Schema: "test", Name: name}}) == nil && old == nil
	switch {
	case err != nil:
		return err
	case table:
		return mysqlerr.New(mysqlerr.TableExists, "Table '%s' already exists", name)
	case d.Command == "ALTER" && old == nil:
		return mysqlerr.New(mysqlerr.NoSuchTable, "Table 'test.%s' doesn't exist", name)
	case d.Command == "CREATE" && old != nil && d.Lenient:
		return nil
	case d.Command == "CREATE" && old != nil && !d.Replace:
		return mysqlerr.New(mysqlerr.TableExists, "Table '%s' already exists", name)
	}
	v := &userView{name: name, database: s.database, definition: d.Text}
	if v.columns, err = s.columnsOf(ctx, v); err != nil {
		return err
	}
	if d.Columns != nil && len(d.Columns) != len(v.columns) {
		return mysqlerr.New(mysqlerr.ColumnList, "In definition of view, derived table or common table expression, SELECT list and column names list have different column counts")
	}
	v.named = d.Columns != nil
	for i := range d.Columns {
		v.columns[i].Name = d.Columns[i]
	}
	for i, c := range v.columns {
		first := c.Name
		if at := strings.LastIndexByte(first, ':'); at > 0 && d.Columns == nil && strings.Trim(first[at+1:], "0123456789") == "" {
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
		"CREATE TABLE IF NOT EXISTS test." + language.ViewsTable + " (name TEXT PRIMARY KEY COLLATE NOCASE, database TEXT, definition TEXT, columns TEXT, named INT)",
		"INSERT OR REPLACE INTO test." + language.ViewsTable + " VALUES (?, ?, ?, ?, ?)",
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
	p, err := v.view().Plan(names{s})
	if err != nil {
		return nil, err
	}
	rows, err := s.conn.QueryContext(ctx, p.Text)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, errors.Join(rows.Close(), rows.Err())) }()
	types, err := rows.ColumnTypes()
	for i, t := range types {
		c := viewColumn{t.Name(), strings.TrimSuffix(strings.ToLower(t.DatabaseTypeName()), " hidden")}
		if c.Kind == "" && len(p.Columns) == len(types) {
			c.Kind = p.Columns[i].Kind.Name()
		}
		c.Kind = cmp.Or(c.Kind, tables.TextKind)
		columns = append(columns, c)
	}
	return columns, err
}
