package schema

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"strings"
)

// MySQL ends a recursion after cte_max_recursion_depth rounds, each of all rows that the one before
// made. SQLite goes on from one row at a time and counts nothing, so a call of recursion is put
// into the conditions of the SELECTs: of the first, which begins it, and of the one that goes on.
//
// That is done where a round has no more rows than there are first SELECTs: these read no table,
// and the one that goes on reads the recursion alone. Joins are limited by time and memory.

// recursions finds WITH name AS (SELECT ... UNION SELECT ... FROM name).
func (r *rewriter) recursions() {
	for i := range r.tokens {
		open := i + 1
		if r.at(open).is("(") { // columns
			open = r.closing(open) + 1
		}
		if open++; !r.at(i).identifier() || !r.with[strings.ToLower(r.at(i).text)] || !r.at(open-1).is("AS") || !r.at(open).is("(") {
			continue
		}
		if end := r.closing(open); end > 0 {
			r.recursion(r.at(i).text, open, end)
		}
	}
}

// recursion counts that of a name within parentheses.
func (r *rewriter) recursion(name string, open, end int) {
	type part struct{ from, where, to int } // tokens of FROM and WHERE, 0: there is none; and after it
	var parts []part
	p := part{}
	for i := open + 1; i <= end; i++ {
		switch t := r.at(i); {
		case i == end, t.unites():
			p.to = i
			parts = append(parts, p)
			p = part{}
		case t.is("("):
			if i = r.closing(i); i < 0 {
				return
			}
		case t.is("FROM"):
			p.from = i
		case t.is("WHERE"):
			p.where = i
		case t.is("GROUP"), t.is("HAVING"), t.is("ORDER"), t.is("LIMIT"), t.is("WINDOW"), t.is("WITH"), t.is("VALUES"):
			return
		}
	}
	last := len(parts) - 1
	for _, p := range parts[:last] {
		if p.from != 0 {
			return
		}
	}
	// FROM name, FROM name alias or FROM name AS alias.
	p = parts[last]
	first := p.from + 1
	after := first + 1
	if r.at(after).is("AS") {
		after++
	}
	if to := p.to; last < 1 || p.from == 0 || !r.at(first).identifier() || !strings.EqualFold(r.at(first).text, name) ||
		after != to && after != p.where && after+1 != to && after+1 != p.where {
		return
	}
	count := func(p part, first int) {
		call := fmt.Sprintf(" recursion(%d, %d)", open, first)
		if p.where == 0 {
			r.out[p.to] = " WHERE" + call + " " + r.out[p.to]
			return
		}
		r.out[p.where] += call + " AND ("
		r.out[p.to] = ") " + r.out[p.to]
	}
	count(parts[0], 0)
	count(p, last)
}

// recursion is called as a recursion begins, and then for each row that it goes on from; in a round
// there are at most so many, 0: it begins.
func recursion(s *Session, a []driver.Value) driver.Value {
	number, _ := a[0].(int64)
	most, _ := a[1].(int64)
	if s.statement.recursions == nil {
		s.statement.recursions = map[int64]int64{}
	}
	if most == 0 {
		s.statement.recursions[number] = 0
		return int64(1)
	}
	s.statement.recursions[number]++
	limit, _ := strconv.ParseFloat(s.variables["cte_max_recursion_depth"], 64)
	if rounds := (s.statement.recursions[number] + most - 1) / most; float64(rounds) > limit {
		return NewError(erRecursion, "Recursive query aborted after %d iterations. Try increasing @@cte_max_recursion_depth to a larger value.", rounds)
	}
	return int64(1)
}
