package language

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// SELECT a, b, SUM(x) FROM t GROUP BY a, b WITH ROLLUP has each row of t in one group of each
// level: by its a and b (level 2); by its a, where b is NULL (1); and in the group of all rows (0).
//
// So t is joined with the levels. What is grouped by becomes CASE WHEN ftrace_level >= 1 THEN a END
// in the whole query, except in arguments of aggregate functions. GROUPING(b) becomes ftrace_level
// < 2.

// maxLevels is the number of levels that WITH ROLLUP can have: each is searched for in the whole
// query.
const maxLevels = 64

func rollupError(what string) error {
	return mysqlerr.New(mysqlerr.Unsupported, "This version of ftrace doesn't yet support 'WITH ROLLUP' %s", what)
}

// levels are what each level of a rollup adds to the grouping.
type levels struct {
	st      *Statement
	by      []*expr
	aliases [][]string // under which BY is known too
}

// rolledUp returns a SELECT that has WITH ROLLUP without it, and the ORDER BY of its query.
func rolledUp(st *Statement, q *query, s *selection) (*selection, []ordered) {
	if len(s.group) > maxLevels {
		fail(rollupError(fmt.Sprintf("by more than %d expressions", maxLevels)))
	}
	l := &levels{st: st}
	for _, g := range s.group {
		by, aliases := g, []string(nil)
		if g.form == numberForm {
			n, err := strconv.Atoi(g.text)
			if err != nil || n < 1 || n > len(s.items) {
				fail(mysqlerr.New(mysqlerr.UnknownColumn, "Unknown column '%s' in 'group statement'", g.text))
			}
			by = s.items[n-1].of
		}
		for _, i := range s.items {
			if g.form == columnForm && len(g.path) == 1 && i.named && strings.EqualFold(i.alias, g.path[0]) {
				by = i.of
			}
			if i.named && alike(i.of, by) {
				aliases = append(aliases, i.alias)
			}
		}
		by.each(func(e *expr) bool {
			if e.form == paramForm {
				fail(rollupError("by a ?"))
			}
			return true
		})
		l.by, l.aliases = append(l.by, by), append(l.aliases, aliases)
	}
	rolled := *s
	rolled.rollup, rolled.items, rolled.group = false, slices.Clone(s.items), nil
	for i := range rolled.items {
		item := &rolled.items[i]
		if item.of.form == starForm {
			fail(rollupError("of SELECT *"))
		}
		of := l.rolled(item.of)
		if item.of.form == columnForm && of != item.of && !item.named {
			item.alias, item.named = item.of.path[len(item.of.path)-1], true
		}
		item.of = of
	}
	if s.having != nil {
		rolled.having = l.rolled(s.having)
	}
	for i, by := range l.by {
		rolled.group = append(rolled.group, raw(fmt.Sprintf("ftrace_level < %d", i+1)), l.level(by, i))
	}
	all := &query{}
	for i := range len(l.by) + 1 {
		all.terms = append(all.terms, term{union: "UNION ALL", only: &selection{items: []item{{of: raw(strconv.Itoa(i)), named: true, alias: "ftrace_level"}}}})
	}
	rolled.from = append(slices.Clone(s.from), &tableRef{join: "CROSS JOIN", query: all})
	if len(q.terms) > 1 {
		return &rolled, q.order // which is that of the whole query
	}
	var order []ordered
	for _, o := range q.order {
		order = append(order, ordered{l.rolled(o.of), o.desc})
	}
	if order == nil {
		for _, by := range rolled.group {
			order = append(order, ordered{of: by})
		}
	}
	return &rolled, order
}

func (l *levels) level(e *expr, i int) *expr {
	return &expr{form: levelForm, args: []*expr{e}, level: i + 1}
}

// find returns the index of what is grouped by and is the same as an expression; -1: there is none.
func (l *levels) find(e *expr) int {
	for i, by := range l.by {
		literal := by.form == stringForm || by.form == numberForm || by.form == wordForm // another one of the same value is not grouped by
		if by == e || !literal && alike(by, e) || e.form == columnForm && len(e.path) == 1 && containsFold(l.aliases[i], e.path[0]) {
			return i
		}
	}
	return -1
}

// rolled returns an expression in which all that is grouped by, and GROUPING, is what it is at each
// level.
func (l *levels) rolled(e *expr) *expr {
	switch {
	case e.form == callForm && e.text == "GROUPING" && e.window == nil:
		return l.grouping(e)
	case e.form == callForm && e.window == nil && aggregates[e.text]:
		return e
	}
	if i := l.find(e); i >= 0 {
		if by := l.by[i]; e.form == columnForm && by.form != columnForm {
			e = by // an alias
		}
		return l.level(e, i)
	}
	if e.query != nil {
		e.query.deeply(func(within *expr) {
			if l.find(within) >= 0 {
				fail(rollupError("with '" + l.st.Text[l.st.at(within.first).start:l.st.at(within.last).end] + "' in a subquery"))
			}
		})
	}
	return e.changed(l.rolled)
}

// grouping returns GROUPING(a, b). Its last argument is the lowest bit.
func (l *levels) grouping(e *expr) *expr {
	bits := make([]string, len(e.args))
	for i, a := range e.args {
		at := l.find(a)
		if at < 0 {
			fail(mysqlerr.New(mysqlerr.Group, "Argument #%d of GROUPING function is not in GROUP BY", i))
		}
		bits[i] = fmt.Sprintf("(ftrace_level < %d) << %d", at+1, len(e.args)-1-i)
	}
	return raw("(" + strings.Join(bits, " | ") + ")")
}
