package language

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// enclosedQuery reads a query in parentheses.
func (p *parser) enclosedQuery() *query {
	p.expect("(")
	q := p.query()
	p.expect(")")
	return q
}

// query reads SELECT, WITH, VALUES, TABLE, and what unites them.
func (p *parser) query() *query {
	defer p.deeper()()
	deepest := p.deepest
	p.deepest = 0
	q := &query{}
	if p.accept("WITH") {
		q.recursive = p.accept("RECURSIVE")
		for ok := true; ok; ok = p.accept(",") {
			c := common{number: p.i, name: p.name(false)}
			if p.is("(") {
				c.columns = p.columns()
			}
			p.expect("AS")
			c.query = p.enclosedQuery()
			countRounds(c)
			q.with = append(q.with, c)
		}
		for _, word := range []string{"UPDATE", "INSERT", "DELETE", "REPLACE"} {
			if p.is(word) {
				fail(mysqlerr.NotYet("WITH ... " + word))
			}
		}
	}
	p.united(q, p.term(""))
	p.ends(q)
	p.deepest = max(deepest, q.depth)
	if only := q.terms[0].nested; only != nil && len(q.terms) == 1 && q.with == nil && q.order == nil && q.limit == nil {
		return only
	}
	return q
}

// continued reads what follows a query in parentheses that is the first term of another.
func (p *parser) continued(first *query) *query {
	deepest := p.deepest
	p.deepest = first.depth
	q := &query{}
	p.united(q, term{nested: first})
	p.ends(q)
	p.deepest = max(deepest, q.depth)
	return q
}

// names reads names in parentheses.
func (p *parser) names() (list []string) {
	p.expect("(")
	for ok := true; ok; ok = p.accept(",") {
		list = append(list, p.name(false))
	}
	p.expect(")")
	return list
}

// columns reads the names of a query's columns.
func (p *parser) columns() []string {
	list, known := p.names(), map[string]bool{}
	for _, name := range list {
		if lower := strings.ToLower(name); known[lower] {
			fail(mysqlerr.New(mysqlerr.Duplicate, "Duplicate column name '%s'", name))
		} else {
			known[lower] = true
		}
	}
	return list
}

// united reads what is united with a query's first term. INTERSECT binds more than UNION.
func (p *parser) united(q *query, first term) {
	q.terms = append(q.terms, first)
	for p.among("UNION", "EXCEPT", "INTERSECT") {
		how := p.taken()
		if p.accept("ALL") {
			if how != "UNION" {
				fail(mysqlerr.NotYet(how + " ALL"))
			}
			how += " ALL"
		} else {
			p.accept("DISTINCT")
		}
		t := p.term(how)
		if last := &q.terms[len(q.terms)-1]; how == "INTERSECT" && last.union != "" && last.union != how {
			before := *last
			before.union = ""
			*last = term{union: last.union, nested: &query{terms: []term{before, t}}}
			continue
		}
		q.terms = append(q.terms, t)
	}
}

// limit reads LIMIT, if it is there.
func (p *parser) limit(q *query) {
	if p.accept("LIMIT") {
		q.limit = p.number()
		if p.accept(",") {
			q.offset, q.limit = q.limit, p.number()
		} else if p.accept("OFFSET") {
			q.offset = p.number()
		}
	}
}

// ends reads ORDER BY, LIMIT, and what locks rows, which has no effect.
func (p *parser) ends(q *query) {
	if p.is("ORDER") {
		q.order = p.orderBy()
	}
	p.limit(q)
	if p.is("INTO") {
		fail(mysqlerr.NotYet("SELECT ... INTO"))
	}
	switch {
	case p.accept("LOCK", "IN", "SHARE", "MODE"):
	case p.accept("FOR", "UPDATE"), p.accept("FOR", "SHARE"):
		if !p.accept("NOWAIT") {
			p.accept("SKIP", "LOCKED")
		}
	}
	q.depth = p.deepest + 1
}

// term reads one of the queries that are united.
func (p *parser) term(union string) term {
	switch {
	case p.is("("):
		return term{union: union, nested: p.enclosedQuery()}
	case p.accept("VALUES"):
		return term{union: union, nested: p.values()}
	case p.accept("TABLE"):
		t := &tableRef{}
		p.tableName(t)
		return term{union: union, only: &selection{items: []item{{of: &expr{form: starForm}}}, from: []*tableRef{t}}}
	}
	return term{union: union, only: p.selection()}
}

// values reads what follows VALUES. The first row is read as a SELECT, which names the columns: of
// ROW(...) as MySQL does, of (...) as MariaDB does.
func (p *parser) values() *query {
	first, others := &selection{}, &selection{}
	for ok := true; ok; ok = p.accept(",") {
		row := p.accept("ROW")
		p.expect("(")
		if first.items == nil {
			first.items = p.items()
			for i := range first.items {
				it := &first.items[i]
				if it.named {
					p.syntax()
				}
				if row {
					it.alias, it.named = fmt.Sprint("column_", i), true
				}
			}
		} else {
			others.values = append(others.values, p.exprs())
			if n := len(others.values); len(others.values[n-1]) != len(first.items) {
				fail(mysqlerr.New(mysqlerr.ColumnCount, "Column count doesn't match value count at row %d", n+1))
			}
		}
		p.expect(")")
	}
	q := &query{terms: []term{{only: first}}, depth: p.deepest + 1}
	if others.values != nil {
		q.terms = append(q.terms, term{union: "UNION ALL", only: others})
	}
	return q
}

// items reads a list of expressions and their names.
func (p *parser) items() (list []item) {
	for ok := true; ok; ok = p.accept(",") {
		first := p.i
		i := item{of: p.expr()}
		i.text = p.Text[p.at(first).start:p.at(p.i-1).end]
		switch i.of.form {
		case stringForm:
			i.text = i.of.text
		case numberForm, wordForm: // without the parentheses around it
			i.text = p.Text[p.at(i.of.first).start:p.at(i.of.last).end]
		}
		i.alias, i.named = p.alias(true)
		list = append(list, i)
	}
	return list
}

func (p *parser) selection() *selection {
	p.expect("SELECT")
	s := &selection{}
	for option := true; option; {
		switch {
		case p.accept("DISTINCT"), p.accept("DISTINCTROW"):
			s.distinct = true
		case p.accept("SQL_CALC_FOUND_ROWS"):
			s.found = true
		case p.accept("ALL"), p.accept("HIGH_PRIORITY"), p.accept("STRAIGHT_JOIN"), p.accept("SQL_SMALL_RESULT"), p.accept("SQL_BIG_RESULT"), p.accept("SQL_BUFFER_RESULT"), p.accept("SQL_NO_CACHE"), p.accept("SQL_CACHE"):
		default:
			option = false
		}
	}
	s.items = p.items()
	if p.accept("FROM") && !p.accept("DUAL") {
		s.from = p.tables()
	}
	if p.accept("WHERE") {
		s.where = p.expr()
	}
	if p.accept("GROUP", "BY") {
		s.group = p.exprs()
		if s.rollup = p.accept("WITH", "ROLLUP"); s.rollup && s.from == nil {
			p.syntax()
		}
	}
	if p.accept("HAVING") {
		s.having = p.expr()
	}
	if p.accept("WINDOW") {
		for ok := true; ok; ok = p.accept(",") {
			w := namedWindow{name: p.name(false)}
			p.expect("AS")
			w.window = *p.windowOf()
			s.windows = append(s.windows, w)
		}
	}
	return s
}

// tables reads tables and how they are joined. In a JOIN b JOIN c ON x ON y, b and c are joined
// first.
func (p *parser) tables() (list []*tableRef) {
	list = append(list, p.table(""))
	for {
		join := p.join()
		if join == "" {
			return list
		}
		t := p.table(join)
		list = append(list, t)
		for p.among("ON", "USING") {
			if t.on != nil || t.using != nil {
				if list, t = nestJoin(list); t == nil {
					p.syntax()
				}
			}
			if p.accept("ON") {
				t.on = p.expr()
			} else {
				p.expect("USING")
				t.using = p.names()
			}
		}
	}
}

// nestJoin puts the last join that lacks its ON, and what comes after it, into parentheses, and
// returns the list with them, and them; nil if there is none.
func nestJoin(list []*tableRef) ([]*tableRef, *tableRef) {
	for i, t := range slices.Backward(list) {
		if on := t.on != nil || t.using != nil; !on && (t.join == "JOIN" || t.join == "LEFT JOIN" || t.join == "RIGHT JOIN") {
			both := &tableRef{join: t.join, inner: slices.Clone(list[i:])}
			t.join = ""
			return append(list[:i], both), both
		}
	}
	return list, nil
}

// join reads how the next table is joined; "": there is none.
func (p *parser) join() string {
	switch {
	case p.accept(","):
		return ","
	case p.accept("JOIN"), p.accept("INNER", "JOIN"), p.accept("STRAIGHT_JOIN"):
		return "JOIN"
	case p.accept("CROSS", "JOIN"):
		return "CROSS JOIN"
	}
	join := ""
	if p.accept("NATURAL") {
		join = "NATURAL "
	}
	switch {
	case p.is("LEFT"), p.is("RIGHT"):
		join += p.taken() + " "
		p.accept("OUTER")
	case join == "":
		return ""
	default:
		p.accept("INNER")
	}
	p.expect("JOIN")
	return join + "JOIN"
}

func (p *parser) table(join string) *tableRef {
	defer p.deeper()()
	t := &tableRef{join: join}
	switch {
	case p.is("LATERAL"):
		fail(mysqlerr.NotYet("LATERAL"))
	case p.beginsQuery(p.i):
		t.query = p.enclosedQuery()
	case p.accept("("):
		t.inner = p.tables()
		if first := t.inner[0]; len(t.inner) == 1 && first.query != nil && first.alias == "" && p.among("UNION", "EXCEPT", "INTERSECT", "ORDER", "LIMIT") {
			t.query, t.inner = p.continued(first.query), nil
		} else if len(t.inner) == 1 && first.query != nil && first.alias == "" {
			t.query, t.inner = first.query, nil
		}
		p.expect(")")
	default:
		p.tableName(t)
		if p.is("(") {
			fail(mysqlerr.NotYet(t.name + "() as a table"))
		}
	}
	if t.inner != nil {
		return t
	}
	t.alias, _ = p.alias(false)
	if t.query != nil && t.alias != "" && p.is("(") {
		t.query = withColumns(p.columns(), t.query)
	}
	for p.among("USE", "FORCE", "IGNORE") && (p.at(p.i+1).is("INDEX") || p.at(p.i+1).is("KEY")) {
		p.i += 2
		if p.accept("FOR") {
			for p.among("JOIN", "ORDER", "GROUP", "BY") {
				p.i++
			}
		}
		p.expect("(")
		for !p.is(")") && p.i < len(p.tokens) {
			p.i++
		}
		p.expect(")")
	}
	return t
}

// withColumns returns a query with other names for its columns: WITH "" (columns) AS (q) SELECT *
// FROM "". Nothing in q is called that.
func withColumns(columns []string, q *query) *query {
	all := &selection{items: []item{{of: &expr{form: starForm}}}, from: []*tableRef{{}}}
	return &query{with: []common{{columns: columns, query: q}}, terms: []term{{only: all}}, depth: q.depth + 1}
}

func (p *parser) tableName(t *tableRef) {
	if t.name = p.name(false); p.accept(".") {
		t.schema, t.name = t.name, p.name(true)
	}
}
