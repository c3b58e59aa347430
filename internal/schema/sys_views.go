package schema

import (
	"cmp"
	"embed"
	"fmt"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
)

// sysFiles are the views of schema sys, a file each. They are plain SQL, for users to read, and to
// copy into schema test with changes.
//
//go:embed sys/*.sql
var sysFiles embed.FS

// A sysView is one of these views.
type sysView struct {
	*tables.Table // without rows
	query         *query
	definition    string // as a user would write it
}

// sysViews are the views of schema sys, by their names.
var sysViews = func() map[string]sysView {
	views := map[string]sysView{}
	files, err := sysFiles.ReadDir("sys")
	for _, f := range files {
		v, failed := readView(f.Name())
		if err = cmp.Or(err, failed); err != nil {
			break
		}
		views[v.Name] = v
	}
	if err != nil {
		panic(err) // of a file that no test has seen
	}
	return views
}()

// sysTables are the tables of schema sys, and its views.
var sysTables = func() map[string]*tables.Table {
	all := tables.ByName(tables.Blocked)
	for name, v := range sysViews {
		all[name] = v.Table
	}
	return all
}()

// readView reads a file of CREATE VIEW.
func readView(file string) (v sysView, err error) {
	text, err := sysFiles.ReadFile("sys/" + file)
	if err != nil {
		return v, err
	}
	st, err := newStmt(string(text), nil)
	if err != nil {
		return v, fmt.Errorf("%s: %w", file, err)
	}
	v.Table = &tables.Table{Name: strings.TrimSuffix(file, ".sql")}
	if _, err = st.parse(0, func(p *parser) {
		p.expect("CREATE", "VIEW", sysSchema, ".", v.Name, "AS")
		first := p.i
		v.query = p.query()
		v.definition = p.text[p.at(first).start:p.at(p.i-1).end]
		p.end()
	}); err != nil {
		return v, fmt.Errorf("%s: %w", file, err)
	}
	s := v.query.plain()
	for _, item := range s.items {
		v.Columns = append(v.Columns, tables.Head{Name: item.alias, Kind: kindOf(item.of, s.from[0].name), Null: true})
	}
	return v, nil
}

// kindOf returns the type of a column of a view: that of a column of the table which it is of, text
// for a time that is formatted, or a number.
func kindOf(e *expr, of string) string {
	switch {
	case e.form == columnForm:
		t := tables.Performance[of]
		return t.Columns[t.ColumnIndex(e.path[0])].Kind
	case e.form == callForm && e.text == "FORMAT_TIME":
		return tables.WordKind
	case e.form == callForm && e.text == "ROUND":
		return "double"
	}
	return "bigint"
}
