package language

import (
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// A Definition is CREATE, DROP, ALTER or RENAME of a table, an index or a view, or how such a
// statement begins for something else.
type Definition struct {
	Command string
	What    string   // TABLE, INDEX, VIEW, DATABASE
	Replace bool     // CREATE OR REPLACE
	Lenient bool     // IF EXISTS or IF NOT EXISTS
	Tables  []Table  // what is defined, or has the index; of something else only the name
	Like    *Table   // CREATE TABLE ... LIKE it; nil: it is not that
	Columns []string // of a view; nil: they are not named
	Text    string   // the query of a view

	st          *Statement
	unique      bool
	index       string // the name of an index
	named, next int    // the tokens of the table's name, and after it
}

// Definition reads the statement.
func (st *Statement) Definition() (d *Definition, err error) {
	_, err = st.parse(0, func(p *parser) { d = p.definition() })
	return d, err
}

func (p *parser) definition() *Definition {
	d := &Definition{st: p.Statement, Command: p.taken()}
	for more := true; more; {
		unique, replace := p.accept("UNIQUE"), p.accept("OR", "REPLACE")
		d.unique, d.Replace = d.unique || unique, d.Replace || replace
		more = unique || replace || p.accept("TEMPORARY")
	}
	d.What = p.taken()
	d.Lenient = p.accept("IF", "NOT", "EXISTS") || p.accept("IF", "EXISTS")
	if d.What == "INDEX" {
		d.index = p.name(false)
		p.expect("ON")
	}
	switch d.named = p.i; d.What {
	case "VIEW":
		p.view(d)
	case "TABLE", "INDEX":
		d.Tables = []Table{p.tableNamed()}
		d.next = p.i
		if enclosed := p.is("(", "LIKE"); d.Command == "CREATE" && (enclosed || p.is("LIKE")) {
			if enclosed {
				p.expect("(")
			}
			p.expect("LIKE")
			of := p.tableNamed()
			if d.Like = &of; enclosed {
				p.expect(")")
			}
			p.end()
		}
	default:
		d.Tables = []Table{{Name: p.next().text}}
	}
	return d
}

// view reads the rest of CREATE, ALTER or DROP VIEW.
func (p *parser) view(d *Definition) {
	switch {
	case !p.Is(1, "VIEW") && !p.Is(1, "OR", "REPLACE", "VIEW"): // a TEMPORARY one
		fail(p.Near(1))
	case d.Command == "RENAME":
		fail(mysqlerr.NotYet("RENAME VIEW"))
	}
	for ok := true; ok; ok = d.Command == "DROP" && p.accept(",") {
		d.Tables = append(d.Tables, p.tableNamed())
	}
	if d.Command == "DROP" {
		_ = p.accept("RESTRICT") || p.accept("CASCADE")
		p.end()
		return
	}
	if p.is("(") {
		d.Columns = p.columns()
	}
	p.expect("AS")
	first := p.i
	q := p.query()
	d.Text = p.Text[p.at(first).start:p.at(p.i-1).end]
	if p.is("WITH") {
		fail(mysqlerr.NotYet("WITH CHECK OPTION"))
	}
	p.end()
	q.deeply(func(e *expr) {
		if e.form == userForm || e.form == assignForm || e.form == paramForm || e.form == sysForm {
			fail(mysqlerr.New(1351, "View's SELECT contains a variable or parameter"))
		}
	})
}

// Plan returns what SQLite is to run for the statement, and what then fills the table, if that
// takes two. The table is t, and it may be there.
func (d *Definition) Plan(n Names, t Table, there bool) (define, fill *Plan, err error) {
	if d.What == "INDEX" {
		define, err = d.st.plan(n, func(r *restorer, _ *Plan) { d.writeIndex(r, t) })
		return define, nil, err
	}
	q, end, err := d.query()
	if err != nil {
		return nil, nil, err
	}
	columns := ""
	define, err = d.st.plan(n, func(r *restorer, _ *Plan) {
		r.plain(0, d.named)
		r.write(" ", t.String(), " ")
		r.plain(d.next, end)
		if q != nil && end == d.next && !there {
			columns = definitions(r.columnsOf(q))
		}
		if r.write(columns); q != nil && columns == "" {
			r.write(" AS ")
			r.query(q)
		}
	})
	if err == nil && columns != "" {
		fill, err = d.st.plan(n, func(r *restorer, _ *Plan) {
			r.write("INSERT INTO ", t.String(), " ")
			r.query(q)
		})
	}
	return define, fill, err
}

// query returns the query with whose rows a table is made, nil if there is none, and the token at
// which the table's definition ends.
func (d *Definition) query() (q *query, end int, err error) {
	st, next := d.st, d.next
	_, err = st.parse(next, func(p *parser) {
		if end = len(st.tokens); d.Command == "CREATE" {
			if p.is("(") && !p.beginsQuery(next) { // columns
				if next = p.closing(next); next < 0 {
					fail(mysqlerr.Near(""))
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
		if last := st.at(next); d.Command == "DROP" && end == next+1 && (last.is("RESTRICT") || last.is("CASCADE")) {
			end = next
		}
	})
	return q, end, err
}

// writeIndex writes CREATE and DROP INDEX.
func (d *Definition) writeIndex(r *restorer, t Table) {
	if d.Command != "CREATE" {
		r.write("DROP INDEX ", map[bool]string{true: "IF EXISTS "}[d.Lenient], "test.", QuoteName(d.index))
		return
	}
	r.write("CREATE ", map[bool]string{true: "UNIQUE "}[d.unique], "INDEX ", map[bool]string{true: "IF NOT EXISTS "}[d.Lenient], "test.", QuoteName(d.index), " ON ", QuoteName(t.Name), " ")
	r.plain(d.next, len(d.st.tokens))
}

// definitions returns the definitions of columns for a table with the rows of a query. It is "" if
// the types are not all known. The engine would have made columns of text that are compared with
// regard to case.
func definitions(columns []Column) string {
	var list []string
	for i, c := range columns {
		kind := c.Kind.Name()
		if kind == "" || slices.ContainsFunc(columns[:i], func(other Column) bool { return strings.EqualFold(other.Name, c.Name) }) {
			return ""
		}
		if c.Kind.text() {
			kind += " COLLATE NOCASE"
		}
		list = append(list, QuoteName(c.Name)+" "+kind)
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
				fail(TooDeep())
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
var texts = setOf("CHAR VARCHAR TEXT TINYTEXT MEDIUMTEXT LONGTEXT NCHAR NVARCHAR")

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
			fail(mysqlerr.NotYet("AUTO_INCREMENT"))
		case t.kind == name, t.kind == word && (t.text[0] == '$' || t.text[0] <= '9'): // SQLite would not take it for a name
			r.write(QuoteName(t.text))
		case t.kind == str:
			r.write(QuoteString(t.text))
		case t.kind == sysVar, t.kind == usrVar:
			fail(mysqlerr.Near(st.rest(i)))
		default:
			r.param(t.text)
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
