package schema

import (
	"embed"
	"fmt"
	"strings"
)

// sysFiles are the views of schema sys, a file each. They are plain SQL, for users to read, and to
// copy into schema test with changes.
//
//go:embed sys/*.sql
var sysFiles embed.FS

// sysViews returns the views of schema sys.
func sysViews() (views []*table) {
	files, err := sysFiles.ReadDir("sys")
	for _, f := range files {
		var t *table
		if t, err = readView(f.Name()); err != nil {
			break
		}
		views = append(views, t)
	}
	if err != nil {
		panic(err) // of a file that no test has seen
	}
	return views
}

// readView reads a file of CREATE VIEW.
func readView(file string) (*table, error) {
	text, err := sysFiles.ReadFile("sys/" + file)
	if err != nil {
		return nil, err
	}
	st := &stmt{text: string(text)}
	if st.tokens, err = tokens(st.text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	t := &table{name: strings.TrimSuffix(file, ".sql")}
	if _, err = st.parse(0, func(p *parser) {
		p.expect("CREATE", "VIEW", sysSchema, ".", t.name, "AS")
		first := p.i
		t.query = p.query()
		t.definition = p.text[p.at(first).start:p.at(p.i-1).end]
		p.accept(";")
		p.end()
	}); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s := t.query.plain()
	for _, item := range s.items {
		t.columns = append(t.columns, columnHead{name: item.alias, kind: kindOf(item.of, s.from[0].name), null: true})
	}
	return t, nil
}

// kindOf returns the type of a column of a view: that of a column of the table which it is of, text
// for a time that is formatted, or a number.
func kindOf(e *expr, of string) string {
	switch {
	case e.form == columnForm:
		t := performanceTables[of]
		return t.columns[t.column(e.path[0])].kind
	case e.form == callForm && e.text == "FORMAT_TIME":
		return wordKind
	case e.form == callForm && e.text == "ROUND":
		return "double"
	}
	return "bigint"
}
