package schema

import (
	"context"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
)

// names are what names in statements mean to a session.
type names struct{ s *Session }

func (n names) Database() string { return n.s.database }

func (n names) Variable(name string) (any, error) { return n.s.variable(name) }

func (n names) UserVariable(name string) (any, language.Kind) {
	v := n.s.user[name]
	return v.value, v.kind
}

func (n names) Value(function string) (v any, ok bool) {
	switch who := n.s.who.Load(); function {
	case "database":
		return n.s.database, true
	case "user":
		return who.String(), true
	case "connection_id":
		return int64(who.id), true
	case "found_rows":
		return n.s.last.rowsFound(), true
	case "row_count":
		return n.s.last.rowsChanged(), true
	case "last_insert_id":
		return int64(0), true // no table numbers its rows
	}
	return nil, false
}

func (n names) View(schema, name string) (*language.View, error) {
	if err := n.s.mayUse(accounts.Select, schema, name); err != nil {
		return nil, err
	}
	if sc := n.s.catalog.schema(schema); sc != nil && sc.name == sysSchema {
		return sysViews()[strings.ToLower(name)].view, nil
	}
	v, err := n.s.userView(context.Background(), schema, name)
	if v == nil {
		return nil, err
	}
	return v.view(), nil
}

func (n names) Columns(schema, name string) (columns []language.Column) {
	s, add := n.s, func(name, kind string, hidden bool) {
		columns = append(columns, language.Column{Name: name, Kind: language.KindOf(kind), Hidden: hidden})
	}
	if sc := s.catalog.schema(schema); sc != nil {
		t := sc.tables[strings.ToLower(name)]
		if t == nil {
			return nil
		}
		if !sc.information && t.Rows != nil {
			add(processColumn, tables.WordKind, !sc.several)
		}
		for _, c := range t.Columns {
			add(c.Name, c.Kind, c.Hidden)
		}
		return columns
	}
	ctx := context.Background()
	if v, err := s.userView(ctx, schema, name); err == nil && v != nil {
		for _, c := range v.columns {
			add(c.Name, c.Kind, false)
		}
		return columns
	}
	if !strings.EqualFold(schema, "test") {
		return nil
	}
	rows, err := s.conn.QueryContext(ctx, "SELECT name, type FROM pragma_table_info(?, 'test')", name)
	if err != nil {
		return nil // the statement itself will say so
	}
	defer rows.Close()
	for rows.Next() {
		var column, kind string
		if rows.Scan(&column, &kind) == nil {
			add(column, kind, false)
		}
	}
	return columns
}
