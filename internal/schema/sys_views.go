package schema

import (
	"cmp"
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
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
	view          *language.View
}

// sysViews are the views of schema sys, by their names.
var sysViews = sync.OnceValue(func() map[string]sysView {
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
})

// sysTables are the tables of schema sys, and its views.
var sysTables = sync.OnceValue(func() map[string]*tables.Table {
	all := tables.ByName(tables.Blocked)
	for name, v := range sysViews() {
		all[name] = v.Table
	}
	return all
})

// readView reads a file of CREATE VIEW.
func readView(file string) (v sysView, err error) {
	text, err := sysFiles.ReadFile("sys/" + file)
	if err != nil {
		return v, err
	}
	v.Table = &tables.Table{Name: strings.TrimSuffix(file, ".sql")}
	_, query, found := strings.Cut(string(text), "CREATE VIEW "+sysSchema+"."+v.Name+" AS\n")
	if !found {
		return v, fmt.Errorf("%s: it makes no view of that name", file)
	}
	v.view = &language.View{Name: sysSchema + "." + v.Name, Definition: strings.TrimSuffix(strings.TrimSpace(query), ";")}
	st, err := language.Read(v.view.Definition, nil)
	if err != nil {
		return v, fmt.Errorf("%s: %w", file, err)
	}
	q, err := st.Query(0)
	if err != nil {
		return v, fmt.Errorf("%s: %w", file, err)
	}
	items, table := q.Items()
	for _, item := range items {
		v.Columns = append(v.Columns, tables.Head{Name: item.Name, Kind: kindOf(item, tables.Performance[table]), Null: true})
	}
	return v, nil
}

// kindOf returns the type of a column of a view: that of the table's column which it is, text for a
// time that is formatted, or a number.
func kindOf(item language.Item, of *tables.Table) string {
	switch {
	case item.Column != "":
		return of.Columns[of.ColumnIndex(item.Column)].Kind
	case item.Function == "FORMAT_TIME":
		return tables.WordKind
	case item.Function == "ROUND":
		return "double"
	}
	return "bigint"
}
