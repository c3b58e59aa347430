package schema

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// define is CREATE, DROP, ALTER and RENAME, for tables, indexes and views in test.
func (s *Session) define(ctx context.Context, st *language.Statement) (*Result, error) {
	if st.Is(1, "USER") {
		return s.users(st, st.Verb(0))
	}
	d, err := st.Definition()
	if err != nil {
		return nil, err
	}
	switch d.What {
	case "DATABASE", "SCHEMA":
		name := d.Tables[0].Name
		if _, err := s.catalog.nameOf(name); d.Command == "CREATE" && err == nil {
			return nil, mysqlerr.New(mysqlerr.DBExists, "Can't create database '%s'; database exists", name)
		}
		return nil, s.schemaDenied(name)
	case "VIEW":
		return s.defineView(ctx, d)
	case "TABLE", "INDEX":
	default:
		return nil, mysqlerr.NotYet(d.Command + " " + d.What)
	}
	t, err := s.targetOf(d.Tables[0])
	if err != nil {
		return nil, err
	}
	if t.ours {
		return nil, s.denied(map[bool]string{true: "INDEX", false: d.Command}[d.What == "INDEX"], t.Name)
	}
	if err := s.mayUse(definingNeeds(d.Command, d.What, false), t.Schema, t.Name); err != nil {
		return nil, err
	}
	creates := d.Command == "CREATE" && d.What == "TABLE"
	if v, err := s.userView(ctx, t.Schema, t.Name); err != nil {
		return nil, err
	} else if v != nil && creates {
		return nil, mysqlerr.New(mysqlerr.TableExists, "Table '%s' already exists", t.Name)
	}
	if d.Like != nil {
		return s.createLike(ctx, d, t)
	}
	there := s.exists(ctx, t) == nil
	switch {
	case d.What != "TABLE" || !d.Lenient:
	case d.Command == "DROP" && !there:
		s.warn("Note", mysqlerr.New(mysqlerr.BadTable, "Unknown table '%s.%s'", t.Schema, t.Name))
	case creates && there:
		s.warn("Note", mysqlerr.New(mysqlerr.TableExists, "Table '%s' already exists", t.Name))
	}
	p, fill, err := d.Plan(names{s}, t.Table, there)
	if err != nil {
		return nil, err
	}
	var r *Result
	if fill == nil {
		if r, err = s.exec(ctx, p.Text, p.Args...); err == nil {
			r.Affected = 0 // the engine says that of the statement before
		}
	} else {
		err = s.whole(ctx, func() error {
			if _, err := s.run(ctx, p.Text); err != nil {
				return err
			}
			r, err = s.exec(ctx, fill.Text, fill.Args...)
			return err
		})
	}
	if err == nil && creates {
		s.index(ctx, t.Name)
	}
	return r, err
}

// createLike is CREATE TABLE t LIKE other: the same columns, and no rows.
func (s *Session) createLike(ctx context.Context, d *language.Definition, t target) (*Result, error) {
	of, err := s.targetOf(*d.Like)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(s.mayUse(accounts.Select, of.Schema, of.Name), s.exists(ctx, of), s.readTest(ctx)); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(s.tables(), func(t tableInfo) bool { return t.kind == viewType && of.has(t.schema, t.name) }) {
		return nil, mysqlerr.New(mysqlerr.NotView, "'%s.%s' is not BASE TABLE", of.Schema, of.Name)
	}
	var columns []string
	for _, c := range s.columnsOfTarget(of) {
		text := language.QuoteName(c.Name) + " "
		switch {
		case numeric(c.Kind):
			text += c.Kind
		case strings.HasPrefix(c.Kind, "enum"):
			text += "varchar(16) COLLATE NOCASE"
		case c.Kind != "":
			text += c.Kind + " COLLATE NOCASE"
		}
		if !c.Null {
			text += " NOT NULL"
		}
		columns = append(columns, text)
	}
	r, err := s.exec(ctx, "CREATE TABLE "+map[bool]string{true: "IF NOT EXISTS "}[d.Lenient]+t.String()+" ("+strings.Join(columns, ", ")+")")
	if err == nil {
		s.index(ctx, t.Name)
	}
	return r, err
}

// definingNeeds returns the privileges for a statement that defines something in test.
func definingNeeds(command, what string, replace bool) accounts.Privileges {
	switch {
	case what == "INDEX":
		return accounts.Index
	case what == "VIEW" && (replace || command == "ALTER"):
		return accounts.CreateView | accounts.Drop
	case command == "DROP":
		return accounts.Drop
	case what == "VIEW":
		return accounts.CreateView
	case command == "CREATE":
		return accounts.Create
	case command == "RENAME":
		return accounts.Alter | accounts.Drop
	}
	return accounts.Alter
}

// index makes an index by NAME or EVENT_NAME of one of the user's tables. Saved settings are
// restored through it, one row of the setup table after the other.
func (s *Session) index(ctx context.Context, table string) {
	for _, column := range []string{"NAME", "EVENT_NAME"} {
		var n int
		if s.conn.QueryRowContext(ctx, "SELECT count(*) FROM test.pragma_table_info(?) WHERE name = ?", table, column).Scan(&n); n == 0 {
			continue
		}
		// Names are compared without regard to case.
		s.conn.ExecContext(ctx, "CREATE INDEX IF NOT EXISTS test."+language.QuoteName("by_"+column+"_of_"+table)+" ON "+language.QuoteName(table)+" ("+column+" COLLATE NOCASE)")
	}
}
