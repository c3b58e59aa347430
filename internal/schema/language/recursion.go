package language

import (
	"fmt"
	"strings"
)

// MySQL ends a recursion after cte_max_recursion_depth rounds, each of all rows that the one before
// made. SQLite goes on from one row at a time and counts nothing, so a call of recursion is put
// into the conditions of the SELECTs: of the first, which begins it, and of the one that goes on.
//
// That is done where a round has no more rows than there are first SELECTs: these read no table,
// and the one that goes on reads the recursion alone. Joins are limited by time and memory.

// countRounds puts these calls into the query of a common table.
func countRounds(c common) {
	q := c.query
	last := len(q.terms) - 1
	if last < 1 || q.order != nil || q.limit != nil || q.with != nil {
		return
	}
	for i, t := range q.terms {
		s := t.only
		if s == nil || s.values != nil || s.group != nil || s.having != nil || s.windows != nil || (i < last) != (s.from == nil) {
			return
		}
	}
	from := q.terms[last].only.from
	if len(from) != 1 || from[0].schema != "" || !strings.EqualFold(from[0].name, c.name) {
		return
	}
	call := func(s *selection, first int) {
		counts := raw(fmt.Sprintf("recursion(%d, %d)", c.number, first))
		if s.where != nil {
			counts = &expr{form: binaryForm, text: "AND", args: []*expr{counts, s.where}}
		}
		s.where = counts
	}
	call(q.terms[0].only, 0)
	call(q.terms[last].only, last)
}
