package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// SELECT a, b, SUM(x) FROM t GROUP BY a, b WITH ROLLUP has each row of t in one group of each
// level: by its a and b (level 2); by its a, where b is NULL (1); and in the group of all rows (0).
//
// So t is joined with the levels. What is grouped by becomes CASE WHEN ftrace_level >= 1 THEN a END
// in the whole query, except in arguments of aggregate functions. GROUPING(b) becomes ftrace_level
// < 2.

// rollup is one that was rewritten and has no ORDER BY: its rows come in the order of their groups.
type rollup struct{ first, last, end int } // the tokens of what is grouped by, and the last token before the place of ORDER BY

// rollups rewrites all WITH ROLLUP.
func (r *rewriter) rollups() error {
	for i := range r.tokens {
		if r.at(i).is("WITH") && r.at(i+1).is("ROLLUP") {
			if err := r.rollup(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// orderRollups writes the ORDER BY of those without one, after everything else is written.
func (r *rewriter) orderRollups() {
	for _, u := range r.rolledUp {
		r.out[u.end] += " ORDER BY " + r.span(u.first, u.last+1)
	}
}

// tokenSpan is the tokens from first to last.
type tokenSpan struct{ first, last int }

// split returns what is between the commas outside of parentheses.
func (r *rewriter) split(from, to int) (list []tokenSpan) {
	depth, first := 0, from
	for i := from; i < to; i++ {
		switch t := r.at(i); {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && t.is(","):
			list = append(list, tokenSpan{first, i - 1})
			first = i + 1
		}
	}
	return append(list, tokenSpan{first, to - 1})
}

// same reports whether two pieces of a statement are the same expression.
func (r *rewriter) same(a tokenSpan, first int) (last int, ok bool) {
	if r.column(a) { // with a qualifier or without
		if !r.at(first).identifier() || r.at(first-1).is(".") || r.at(first-1).is("AS") {
			return 0, false
		}
		for last = first; r.at(last + 1).is("."); last += 2 {
		}
		ok = strings.EqualFold(r.at(last).text, r.at(a.last).text) && !r.at(last+1).is("(") &&
			(last == first || a.last == a.first || strings.EqualFold(r.at(last-2).text, r.at(a.last-2).text))
		return last, ok
	}
	for i := a.first; i <= a.last; i++ {
		t, other := r.at(i), r.at(first+i-a.first)
		if t.kind != other.kind || t.text != other.text && (t.kind == str || !strings.EqualFold(t.text, other.text)) {
			return 0, false
		}
	}
	return first + a.last - a.first, true
}

// column reports whether something is the name of a column.
func (r *rewriter) column(a tokenSpan) bool {
	for i := a.first; i <= a.last; i += 2 {
		if !r.at(i).identifier() || i < a.last && !r.at(i+1).is(".") {
			return false
		}
	}
	return true
}

// whole reports whether the tokens from first to last are a whole expression, and not part of
// another: 2 * a + b does not have a + b.
func (r *rewriter) whole(first, last int) bool {
	before := r.at(first - 1)
	return r.operandEnd(first) == last || (before.is("(") || r.around(first-1)) && (r.ends(last+1) || r.aliased(first, last+2))
}

// query is a query with WITH ROLLUP.
type query struct {
	sel, from, join int // SELECT, FROM, and what follows the tables: WHERE or GROUP
	by, order, end  int // BY of GROUP BY; ORDER, or what is in its place; what follows the query
	united          bool
	groups          [][]tokenSpan // what each level adds to the grouping, in all ways to write it
}

// queryOf finds the parts of the query that has WITH ROLLUP at a token.
func (r *rewriter) queryOf(with int) (q query, ok bool) {
	q = query{sel: -1, from: -1, by: -1, order: -1, end: len(r.tokens)}
	depth := 0
	for i := with; i >= 0 && depth >= 0 && q.sel < 0; i-- {
		switch t := r.at(i); {
		case t.is(")"):
			depth++
		case t.is("("):
			depth--
		case depth > 0:
		case t.is("BY") && q.by < 0:
			q.by, q.join = i, i-1
		case t.is("WHERE"):
			q.join = i
		case t.is("FROM"):
			q.from = i
		case t.is("SELECT"):
			q.sel = i
		}
	}
	depth = 0
	for i := with; i < q.end; i++ {
		switch t := r.at(i); {
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth < 0 {
				q.end = i
			}
		case depth > 0:
		case (t.is("ORDER") || t.is("LIMIT")) && q.order < 0:
			q.order = i
		case t.unites():
			q.end, q.united = i, true
		}
	}
	if q.order < 0 {
		q.order = q.end
	}
	switch before := r.at(q.sel - 1); {
	case before.unites(), before.is("ALL"), before.is("DISTINCT"):
		q.united = true
	}
	return q, q.sel >= 0 && q.from > q.sel && q.by > q.from && r.at(q.by-1).is("GROUP") && with > q.by+1
}

// maxLevels is the number of levels that WITH ROLLUP can have: each is searched for in the whole
// query.
const maxLevels = 64

func rollupError(what string) error {
	return NewError(erUnsupported, "This version of ftrace doesn't yet support 'WITH ROLLUP' %s", what)
}

// rollup rewrites the query that has WITH ROLLUP at a token.
func (r *rewriter) rollup(with int) error {
	q, ok := r.queryOf(with)
	if !ok {
		return syntaxError(r.source[r.at(with).start:])
	}
	first := q.sel + 1
	for t := r.at(first); t.is("DISTINCT") || t.is("ALL") || r.out[first] == "" && first < q.from; t = r.at(first) {
		first++
	}
	items := r.split(first, q.from)
	aliases := make([]string, len(items))
	for i := range items {
		switch item := &items[i]; {
		case r.at(item.last).is("*"):
			return rollupError("of SELECT *")
		case r.at(item.last - 1).is("AS"):
			aliases[i] = r.at(item.last).text
			item.last -= 2
		case r.aliased(item.first, item.last+1):
			aliases[i] = r.at(item.last).text
			item.last--
		}
	}
	grouped := r.split(q.by+1, with)
	if len(grouped) > maxLevels {
		return rollupError(fmt.Sprintf("by more than %d expressions", maxLevels))
	}
	for _, g := range grouped {
		var ways []tokenSpan
		only := r.at(g.first)
		switch {
		case g.last < g.first:
			return syntaxError(r.source[r.at(with).start:])
		case g.first == g.last && only.kind == num:
			n, err := strconv.Atoi(only.text)
			if err != nil || n < 1 || n > len(items) {
				return NewError(erUnknownColumn, "Unknown column '%s' in 'group statement'", only.text)
			}
			ways = append(ways, items[n-1])
		default:
			ways = append(ways, g)
			for i, alias := range aliases {
				if g.first == g.last && only.identifier() && strings.EqualFold(alias, only.text) {
					ways = append(ways, items[i])
				}
			}
		}
		for i := g.first; i <= g.last; i++ {
			if r.at(i).kind == param {
				return rollupError("by a ?")
			}
		}
		if w := ways[0]; w.first == w.last && r.at(w.first).kind == num {
			return rollupError("by a number") // in ORDER BY it would be the number of a column
		}
		q.groups = append(q.groups, ways)
	}
	for i, item := range items {
		if err := r.rolled(&q, item.first, item.last+1); err != nil {
			return err
		}
		if level, last := r.match(&q, item.first); level > 0 && aliases[i] == "" && r.column(item) && last == item.last {
			r.enclose(item.first, last, "", " AS "+quoteName(r.at(last).text))
		}
	}
	behind := q.end
	if q.united {
		behind = q.order // that of the whole query
	}
	if err := r.rolled(&q, with+2, behind); err != nil {
		return err
	}
	for i, g := range grouped {
		if only := r.at(g.first); g.first == g.last && only.kind == num {
			r.enclose(g.first, g.last, fmt.Sprintf("ftrace_level < %d, ", i+1), " COLLATE "+r.collationOf(q.groups[i][0]))
			continue
		}
		r.encloseLevel(g, i+1)
		r.enclose(g.first, g.last, fmt.Sprintf("ftrace_level < %d, ", i+1), "")
	}
	levels := "SELECT 0 AS ftrace_level"
	for i := range grouped {
		levels += fmt.Sprintf(" UNION ALL SELECT %d", i+1)
	}
	r.out[q.join] = "CROSS JOIN (" + levels + ") " + r.out[q.join]
	r.out[with], r.out[with+1] = "", ""
	if !q.united && !r.at(q.order).is("ORDER") {
		r.rolledUp = append(r.rolledUp, rollup{q.by + 1, with - 1, q.order - 1})
	}
	return nil
}

// match returns the level of the grouping expression that begins at a token, and its last token; 0
// if there is none.
func (r *rewriter) match(q *query, i int) (level, last int) {
	for k, ways := range q.groups {
		for _, way := range ways {
			if end, ok := r.same(way, i); ok && (level == 0 || end > last) && r.whole(i, end) {
				level, last = k+1, end
			}
		}
	}
	return level, last
}

// collationOf returns the collation of an expression.
func (r *rewriter) collationOf(s tokenSpan) string {
	if r.at(s.last - 1).is("COLLATE") {
		return collation(r.at(s.last).text)
	}
	return "NOCASE"
}

// encloseLevel makes an expression NULL at lower levels.
func (r *rewriter) encloseLevel(s tokenSpan, level int) {
	r.enclose(s.first, s.last, fmt.Sprintf("(CASE WHEN ftrace_level >= %d THEN ", level), " END COLLATE "+r.collationOf(s)+")")
}

// rolled rewrites grouping expressions and GROUPING() within some tokens.
func (r *rewriter) rolled(q *query, from, to int) error {
	within := 0 // the last token of the query there
	for i := from; i < to; i++ {
		t := r.at(i)
		if t.is("(") && r.at(i+1).is("SELECT") {
			within = max(within, r.closing(i))
		}
		if r.at(i + 1).is("(") {
			end := r.closing(i + 1)
			switch {
			case end < 0:
				return syntaxError(r.source[t.start:])
			case t.is("GROUPING") && i > within:
				if err := r.grouping(q, i, end); err != nil {
					return err
				}
				i = end
				continue
			case aggregates[strings.ToUpper(t.text)] && !r.at(end+1).is("OVER"):
				i = end
				continue
			}
		}
		level, last := r.match(q, i)
		switch {
		case level == 0:
		case i < within:
			return rollupError("with '" + r.source[t.start:r.at(last).end] + "' in a subquery")
		default:
			r.encloseLevel(tokenSpan{i, last}, level)
			i = last
		}
	}
	return nil
}

// grouping rewrites GROUPING(a, b). Its last argument is the lowest bit.
func (r *rewriter) grouping(q *query, at, end int) error {
	args := r.split(at+2, end)
	bits := make([]string, len(args))
	for i, a := range args {
		level, last := r.match(q, a.first)
		if level == 0 || last != a.last {
			return NewError(erGroup, "Argument #%d of GROUPING function is not in GROUP BY", i)
		}
		bits[i] = fmt.Sprintf("(ftrace_level < %d) << %d", level, len(args)-1-i)
	}
	for i := at; i <= end; i++ {
		r.out[i] = ""
	}
	r.out[at] = "(" + strings.Join(bits, " | ") + ")"
	return nil
}
