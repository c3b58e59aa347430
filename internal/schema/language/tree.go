package language

import (
	"slices"
	"strings"
)

// The tree of a statement, as parse.go makes it and restore.go writes it.

// A form is what an expression is. The comments say what its text and args are.
type form uint8

const (
	stringForm   form = iota // text: the string
	numberForm               // text: as it was written
	wordForm                 // NULL, TRUE, FALSE, DEFAULT
	columnForm               // path
	starForm                 // path, which may be empty
	paramForm                // text: ? and its number
	sysForm                  // @@text
	userForm                 // @text
	assignForm               // @text := args[0]
	prefixForm               // text: the operator
	binaryForm               // text: the operator
	isForm                   // args[0] IS text
	likeForm                 // args[0] LIKE args[1] ESCAPE args[2]
	betweenForm              // args[0] BETWEEN args[1] AND args[2]
	inForm                   // args[0] IN args[1:], or in query
	anyForm                  // ANY or ALL of query
	existsForm               // EXISTS query
	queryForm                // query, in parentheses
	rowForm                  // a list in parentheses
	collateForm              // args[0] COLLATE text
	callForm                 // text: the name in capitals
	castForm                 // args[0]; text: the type; path: its numbers
	caseForm                 // args[0], which may be nil, then pairs, then ELSE's, which may be nil
	intervalForm             // INTERVAL args[0] text
	shiftForm                // args[0] + args[1], of which one is an interval; text: + or -
	levelForm                // of a rollup: args[0], which is NULL below the level of that number
	rawForm                  // text: in SQLite's spelling
	numberOfForm             // args[0], which is text, as a number
)

// An expr is an expression.
type expr struct {
	form        form
	text        string
	path        []string // a name and what qualifies it
	args        []*expr  // nil where something is left out
	query       *query
	not         bool // NOT LIKE, NOT IN, NOT BETWEEN, IS NOT
	quoted      bool // its name is in backquotes
	distinct    bool // in a call
	enclosed    bool // in parentheses
	order       []ordered
	separator   *string // of GROUP_CONCAT
	window      *window // OVER it
	level       int
	first, last int // tokens
	depth       int
}

// A window is what comes after OVER.
type window struct {
	name      string // alone, or the window that it extends
	defined   bool   // there are parentheses
	partition []*expr
	order     []ordered
	frame     []string // words
}

// ordered is an expression of ORDER BY.
type ordered struct {
	of   *expr
	desc bool
}

// A query is SELECTs, united or not, with what applies to all of them.
type query struct {
	with          []common
	recursive     bool
	terms         []term
	order         []ordered
	limit, offset *expr
	depth         int
}

// common is name (columns) AS (query).
type common struct {
	name    string
	columns []string
	query   *query
	number  int // its token
}

// term is one of the queries that are united: a SELECT, or a query in parentheses.
type term struct {
	union  string // how it is united with what comes before
	only   *selection
	nested *query
}

// selection is one SELECT, or rows of VALUES.
type selection struct {
	distinct bool
	found    bool // SQL_CALC_FOUND_ROWS
	items    []item
	from     []*tableRef
	where    *expr
	group    []*expr
	rollup   bool
	having   *expr
	windows  []namedWindow
	values   [][]*expr
}

type namedWindow struct {
	name string
	window
}

// item is one of what SELECT lists.
type item struct {
	of    *expr
	alias string
	named bool   // it has an alias
	text  string // as it was written
}

// tableRef is a table, a query or a join in parentheses, and how it is joined with what comes
// before.
type tableRef struct {
	join   string
	schema string
	name   string
	alias  string
	query  *query
	inner  []*tableRef
	on     *expr
	using  []string
}

// known is the name by which a statement refers to a table.
func (t *tableRef) known() string {
	if t.alias != "" {
		return t.alias
	}
	return t.name
}

// base returns the tables that have rows of their own.
func base(list []*tableRef) (all []*tableRef) {
	for _, t := range list {
		if t.inner != nil {
			all = append(all, base(t.inner)...)
		} else if t.query == nil {
			all = append(all, t)
		}
	}
	return all
}

// plain returns the one SELECT of a query; nil if there are several.
func (q *query) plain() *selection {
	if len(q.terms) != 1 {
		return nil
	}
	return q.terms[0].only
}

// children calls f for the expressions within one, except those in its queries.
func (e *expr) children(f func(*expr) *expr) {
	change := func(at **expr) {
		if *at != nil {
			*at = f(*at)
		}
	}
	for i := range e.args {
		change(&e.args[i])
	}
	for i := range e.order {
		change(&e.order[i].of)
	}
	if e.window != nil {
		for i := range e.window.partition {
			change(&e.window.partition[i])
		}
		for i := range e.window.order {
			change(&e.window.order[i].of)
		}
	}
}

// clone returns a copy that children may change.
func (e *expr) clone() *expr {
	c := *e
	c.args, c.order = slices.Clone(e.args), slices.Clone(e.order)
	if e.window != nil {
		w := *e.window
		w.partition, w.order = slices.Clone(w.partition), slices.Clone(w.order)
		c.window = &w
	}
	return &c
}

// changed returns the expression with what f returns for those within it; itself if that is the
// same.
func (e *expr) changed(f func(*expr) *expr) *expr {
	c, changed := e.clone(), false
	c.children(func(part *expr) *expr {
		of := f(part)
		changed = changed || of != part
		return of
	})
	if !changed {
		return e
	}
	return c
}

// each calls f for an expression and all within it, except in its queries, as long as f returns
// true.
func (e *expr) each(f func(*expr) bool) {
	if e == nil || !f(e) {
		return
	}
	e.children(func(c *expr) *expr {
		c.each(f)
		return c
	})
}

// expressions calls f for the expressions of a query and of the queries within its tables.
func (q *query) expressions(f func(*expr)) {
	call := func(list ...*expr) {
		for _, e := range list {
			if e != nil {
				f(e)
			}
		}
	}
	var tables func(list []*tableRef)
	tables = func(list []*tableRef) {
		for _, t := range list {
			call(t.on)
			tables(t.inner)
			if t.query != nil {
				t.query.expressions(f)
			}
		}
	}
	for _, c := range q.with {
		c.query.expressions(f)
	}
	for _, t := range q.terms {
		if t.nested != nil {
			t.nested.expressions(f)
			continue
		}
		for _, i := range t.only.items {
			call(i.of)
		}
		tables(t.only.from)
		call(t.only.where, t.only.having)
		call(t.only.group...)
		for _, w := range t.only.windows {
			call(w.partition...)
			for _, o := range w.order {
				call(o.of)
			}
		}
		for _, row := range t.only.values {
			call(row...)
		}
	}
	for _, o := range q.order {
		call(o.of)
	}
	call(q.limit, q.offset)
}

// deeply calls f for all expressions of a query, at any depth.
func (q *query) deeply(f func(*expr)) {
	q.expressions(func(e *expr) {
		e.each(func(e *expr) bool {
			f(e)
			if e.query != nil {
				e.query.deeply(f)
			}
			return true
		})
	})
}

// alike reports whether two expressions are the same. A column is, with a qualifier or without.
func alike(a, b *expr) bool {
	switch {
	case a == b:
		return true
	case a == nil || b == nil:
		return false
	case a.form != b.form || a.not != b.not || a.distinct != b.distinct || a.query != nil || b.query != nil || len(a.args) != len(b.args) || len(a.order)+len(b.order) > 0 || a.window != nil || b.window != nil:
		return false
	case a.form == columnForm:
		n := min(len(a.path), len(b.path))
		return slices.EqualFunc(a.path[len(a.path)-n:], b.path[len(b.path)-n:], strings.EqualFold)
	case a.form == stringForm && a.text != b.text, !strings.EqualFold(a.text, b.text), !slices.EqualFunc(a.path, b.path, strings.EqualFold):
		return false
	}
	return slices.EqualFunc(a.args, b.args, alike)
}

// aggregate reports whether an expression calls a function of a group, outside of its queries.
func (e *expr) aggregate() (is bool) {
	e.each(func(e *expr) bool {
		is = is || e.form == callForm && e.window == nil && aggregates[e.text]
		return !is
	})
	return is
}

// containsFold reports whether a name is in a list, without regard to case.
func containsFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return strings.EqualFold(other, name) })
}
