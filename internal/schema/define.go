package schema

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// A definition is how a statement begins that defines something in test.
type definition struct {
	command string
	unique  bool
	what    string // TABLE, VIEW, INDEX
	lenient bool   // IF EXISTS or IF NOT EXISTS
	index   string // the name of an index
	named   int    // the token of the table's name
}

// definition reads one.
func (p *parser) definition() (d definition) {
	d.command = p.taken()
	for more := true; more; {
		unique := p.accept("UNIQUE")
		d.unique = d.unique || unique
		more = unique || p.accept("OR", "REPLACE") || p.accept("TEMPORARY")
	}
	d.what = p.taken()
	d.lenient = p.accept("IF", "NOT", "EXISTS") || p.accept("IF", "EXISTS")
	if d.what == "INDEX" {
		d.index = p.name(false)
		p.expect("ON")
	}
	d.named = p.i
	return d
}

// define is CREATE, DROP, ALTER and RENAME, for tables, indexes and views in test.
func (s *Session) define(ctx context.Context, st *stmt) (*Result, error) {
	if st.at(1).is("USER") {
		return s.users(st, strings.ToUpper(st.at(0).text))
	}
	var d definition
	if _, err := st.parse(0, func(p *parser) { d = p.definition() }); err != nil {
		return nil, err
	}
	switch d.what {
	case "DATABASE", "SCHEMA":
		name := st.at(d.named).text
		if _, err := s.catalog.nameOf(name); d.command == "CREATE" && err == nil {
			return nil, mysqlerr.New(mysqlerr.DBExists, "Can't create database '%s'; database exists", name)
		}
		return nil, s.schemaDenied(name)
	case "VIEW":
		return s.defineView(ctx, st)
	case "TABLE", "INDEX":
	default:
		return nil, unsupported(d.command + " " + d.what)
	}
	t, err := s.target(st, d.named)
	if err != nil {
		return nil, err
	}
	if t.ours {
		return nil, s.denied(map[bool]string{true: "INDEX", false: d.command}[d.what == "INDEX"], t.name)
	}
	if err := s.mayUse(definingNeeds(st, d.what), t.schema, t.name); err != nil {
		return nil, err
	}
	if d.what == "INDEX" {
		return s.defineIndex(ctx, st, &d, &t)
	}
	if v, err := s.userView(ctx, t.schema, t.name); err != nil {
		return nil, err
	} else if v != nil && d.command == "CREATE" {
		return nil, mysqlerr.New(mysqlerr.TableExists, "Table '%s' already exists", t.name)
	}
	if d.command == "CREATE" && (st.at(t.next).is("LIKE") || st.at(t.next).is("(") && st.at(t.next+1).is("LIKE")) {
		at := t.next + 1
		if st.at(t.next).is("(") {
			at++
		}
		return s.createLike(ctx, st, t, at)
	}
	switch there := s.exists(ctx, t) == nil; {
	case d.lenient && d.command == "DROP" && !there:
		s.warn("Note", mysqlerr.New(mysqlerr.BadTable, "Unknown table '%s.%s'", t.schema, t.name))
	case d.lenient && d.command == "CREATE" && there:
		s.warn("Note", mysqlerr.New(mysqlerr.TableExists, "Table '%s' already exists", t.name))
	}
	q, filling, err := s.defining(ctx, st, t, d.named)
	if err != nil {
		return nil, err
	}
	var r *Result
	if filling == "" {
		r, err = s.exec(ctx, q, st.args...)
	} else {
		err = s.whole(ctx, func() error {
			if _, err := s.run(ctx, q); err != nil {
				return err
			}
			r, err = s.exec(ctx, filling, st.args...)
			return err
		})
	}
	if err == nil && d.command == "CREATE" {
		s.index(ctx, t.name)
	}
	return r, err
}

// defineIndex is CREATE and DROP INDEX.
func (s *Session) defineIndex(ctx context.Context, st *stmt, d *definition, t *target) (*Result, error) {
	text, err := s.restore(st, func(r *restorer) {
		if d.command != "CREATE" {
			r.write("DROP INDEX ", map[bool]string{true: "IF EXISTS "}[d.lenient], "test.", quoteName(d.index))
			return
		}
		r.write("CREATE ", map[bool]string{true: "UNIQUE "}[d.unique], "INDEX ", map[bool]string{true: "IF NOT EXISTS "}[d.lenient], "test.", quoteName(d.index), " ON ", quoteName(t.name), " ")
		r.plain(t.next, len(st.tokens))
	})
	if err != nil {
		return nil, err
	}
	return s.exec(ctx, text)
}

// createLike is CREATE TABLE t LIKE other, of which the name is at a token: the same columns, and
// no rows.
func (s *Session) createLike(ctx context.Context, st *stmt, t target, i int) (*Result, error) {
	enclosed := st.at(i - 2).is("(")
	of, err := s.target(st, i)
	if err != nil {
		return nil, err
	}
	if rest := st.tokens[of.next:]; enclosed && (len(rest) != 1 || !rest[0].is(")")) || !enclosed && len(rest) > 0 {
		return nil, syntaxError(st.rest(of.next))
	}
	if err := cmp.Or(s.mayUse(accounts.Select, of.schema, of.name), s.exists(ctx, of), s.readTest(ctx)); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(s.tables(), func(t tableInfo) bool { return t.kind == viewType && of.has(t.schema, t.name) }) {
		return nil, mysqlerr.New(mysqlerr.NotView, "'%s.%s' is not BASE TABLE", of.schema, of.name)
	}
	var columns []string
	for _, c := range s.columnsOfTarget(of) {
		text := quoteName(c.Name) + " "
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
	q := "CREATE TABLE "
	if st.at(2).is("IF") {
		q += "IF NOT EXISTS "
	}
	r, err := s.exec(ctx, q+quoteName(t.schema)+"."+quoteName(t.name)+" ("+strings.Join(columns, ", ")+")")
	if err == nil {
		s.index(ctx, t.name)
	}
	return r, err
}

// definingNeeds returns the privileges for a statement that defines something in test.
func definingNeeds(st *stmt, what string) accounts.Privileges {
	switch {
	case what == "INDEX":
		return accounts.Index
	case what == "VIEW" && st.at(1).is("OR"), what == "VIEW" && st.at(0).is("ALTER"):
		return accounts.CreateView | accounts.Drop
	case st.at(0).is("DROP"):
		return accounts.Drop
	case what == "VIEW":
		return accounts.CreateView
	case st.at(0).is("CREATE"):
		return accounts.Create
	case st.at(0).is("RENAME"):
		return accounts.Alter | accounts.Drop
	}
	return accounts.Alter
}

// defining returns SQLite's spelling of a statement that defines the table that is named at a
// token, and of one that then fills the table, if it takes two.
func (s *Session) defining(ctx context.Context, st *stmt, t target, named int) (text, filling string, err error) {
	defer caught(&err)
	next, end := t.next, len(st.tokens)
	create := st.at(0).is("CREATE")
	var q *query
	if p := (&parser{stmt: st, i: next}); create {
		if p.is("(") && !p.beginsQuery(next) { // columns
			if next = p.closing(next); next < 0 {
				return "", "", syntaxError("")
			}
			next++
		}
		for end = next; end < len(st.tokens) && !st.at(end).is("AS") && !st.at(end).is("SELECT") && !st.at(end).is("WITH") && !p.beginsQuery(end); end++ {
		}
		if p.i = end; end < len(st.tokens) {
			p.accept("AS")
			q = p.query()
			p.end()
		}
		end = next // without the options of the table, such as its ENGINE
	}
	if last := st.at(next); st.at(0).is("DROP") && end == next+1 && (last.is("RESTRICT") || last.is("CASCADE")) {
		end = next
	}
	columns := ""
	text, err = s.restore(st, func(r *restorer) {
		r.plain(0, named)
		r.write(" ", quoteName(t.schema), ".", quoteName(t.name), " ")
		r.plain(t.next, end)
		if q != nil && end == t.next && s.exists(ctx, t) != nil {
			columns = definitions(r.columnsOf(q))
		}
		if r.write(columns); q != nil && columns == "" {
			r.write(" AS ")
			r.query(q)
		}
	})
	if err == nil && columns != "" {
		filling, err = s.restore(st, func(r *restorer) {
			r.write("INSERT INTO ", quoteName(t.schema), ".", quoteName(t.name), " ")
			r.query(q)
		})
	}
	return text, filling, err
}

// definitions returns the definitions of columns for a table with the rows of a query. It is "" if
// the types are not all known. The engine would have made columns of text that are compared with
// regard to case.
func definitions(columns []typedColumn) string {
	var list []string
	for i, c := range columns {
		kind := c.kind.columnType()
		if kind == "" || slices.ContainsFunc(columns[:i], func(other typedColumn) bool { return strings.EqualFold(other.name, c.name) }) {
			return ""
		}
		if c.kind.text() {
			kind += " COLLATE NOCASE"
		}
		list = append(list, quoteName(c.name)+" "+kind)
	}
	if list == nil {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// closing returns the parenthesis that closes the one at a token; -1: there is none.
func (p *parser) closing(i int) int {
	depth := 0
	for ; i < len(p.tokens); i++ {
		switch t := p.at(i); {
		case t.is("("):
			if depth++; depth > engine.MaxDepth {
				fail(tooDeep())
			}
		case t.is(")"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// texts are the types of text.
var texts = words("CHAR VARCHAR TEXT TINYTEXT MEDIUMTEXT LONGTEXT NCHAR NVARCHAR")

// plain writes tokens that mean the same to SQLite: the definitions of columns. Text gets MySQL's
// collation.
func (r *restorer) plain(from, to int) {
	st, text := r.stmt, -1 // the last token of the type of a column that is text
	for i := from; i < to; i++ {
		t := st.at(i)
		switch {
		case t.identifier() && ownName(t.text):
			fail(enginesName(t.text))
		case t.is("CHARACTER") && st.at(i+1).is("SET"):
			i += 2
			continue
		case t.is("CHARSET"):
			i++
			continue
		case t.is("COLLATE") && (st.at(i+1).identifier() || st.at(i+1).kind == str):
			i++
			r.write("COLLATE ", collation(st.at(i).text))
		case t.is("AUTO_INCREMENT"):
			fail(unsupported("AUTO_INCREMENT"))
		case t.kind == name, t.kind == word && (t.text[0] == '$' || t.text[0] <= '9'): // SQLite would not take it for a name
			r.write(quoteName(t.text))
		case t.kind == str:
			r.write(quoteString(t.text))
		case t.kind == sysVar, t.kind == usrVar:
			fail(syntaxError(st.rest(i)))
		default:
			r.write(t.text)
		}
		r.write(" ")
		if t.kind == word && texts[strings.ToUpper(t.text)] && st.at(i-1).identifier() && (st.at(i-2).is(",") || st.at(i-2).is("(") || st.at(i-2).is("ADD") || st.at(i-2).is("COLUMN")) {
			if text = i; st.at(i + 1).is("(") {
				text = i + 3
			}
		}
		if next := st.at(i + 1); i == text && !next.is("CHARACTER") && !next.is("CHARSET") && !next.is("COLLATE") {
			r.write("COLLATE NOCASE ")
		}
	}
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
		s.conn.ExecContext(ctx, "CREATE INDEX IF NOT EXISTS test."+quoteName("by_"+column+"_of_"+table)+" ON "+quoteName(table)+" ("+column+" COLLATE NOCASE)")
	}
}
