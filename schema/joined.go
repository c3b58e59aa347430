package schema

import (
	"context"
	"fmt"
	"strings"
)

// UPDATE a JOIN b ON ... SET a.x = b.y WHERE ... becomes UPDATE a SET x = j.v0 FROM (SELECT a.rowid AS row, b.y AS v0 FROM a JOIN b ON ... WHERE ...) AS j WHERE a.rowid = j.row. SQLite has no other UPDATE with joins.

// assignment is one of SET.
type assignment struct {
	table      string // "": it is not said
	column     string
	from, next int // the tokens of the value
}

// several returns the token SET of an UPDATE of several tables, the first of which is named at a token; 0 if it is of one table.
func (st *stmt) several(table int) (set int) {
	joined := false
	for i, t := range st.outer(table) {
		switch {
		case t.is(","), t.is("JOIN"), t.is("STRAIGHT_JOIN"):
			joined = true
		case t.is("SET") && joined:
			return i
		case t.is("SET"):
			return 0
		}
	}
	return 0
}

// assignments returns those of SET, and the token behind them.
func (st *stmt) assignments(set int) (list []assignment, next int, err error) {
	i := set + 1
	for {
		a := assignment{column: st.at(i).text}
		for ; st.at(i + 1).is("."); i += 2 {
			a.table, a.column = st.at(i).text, st.at(i+2).text
		}
		if !st.at(i).identifier() || !st.at(i+1).is("=") {
			return nil, 0, syntaxError(st.rest(i))
		}
		a.from, a.next = i+2, len(st.tokens)
		for end, t := range st.outer(a.from) {
			if t.is(",") || t.is("WHERE") || t.is("ORDER") || t.is("LIMIT") {
				a.next = end
				break
			}
		}
		if i = a.next; a.next == a.from {
			return nil, 0, syntaxError(st.rest(i))
		}
		list = append(list, a)
		if !st.at(i).is(",") {
			return list, i, nil
		}
		i++
	}
}

// behindTable are the words behind a table that are no other name for it.
var behindTable = map[string]bool{"JOIN": true, "INNER": true, "CROSS": true, "LEFT": true, "RIGHT": true, "OUTER": true, "NATURAL": true, "STRAIGHT_JOIN": true, "ON": true, "USING": true, "SET": true}

// named finds a table by the name that a statement gives it, the first one if that is "", among the tokens from the first table to SET. It returns the token of the table's own name.
func (st *stmt) named(wanted string, from, set int) (at int, alias string, err error) {
	expect, depth := true, 0
	for i := from; i < set; i++ {
		switch t := st.at(i); {
		case t.is("("):
			depth++
			expect = false
		case t.is(")"):
			depth--
		case depth != 0:
		case t.is(","), t.is("JOIN"), t.is("STRAIGHT_JOIN"):
			expect = true
		case expect && t.identifier():
			at, alias, expect = i, t.text, false
			if st.at(i + 1).is(".") {
				i += 2
				alias = st.at(i).text
			}
			if st.at(i + 1).is("AS") {
				i++
			}
			if other := st.at(i + 1); other.identifier() && !behindTable[strings.ToUpper(other.text)] {
				alias = other.text
			}
			if wanted == "" || strings.EqualFold(wanted, alias) {
				return at, alias, nil
			}
		}
	}
	return 0, "", NewError(1109, "Unknown table '%s' in MULTI UPDATE", wanted)
}

// numbered returns the text of some tokens, in which each ? has its number in the statement.
func (st *stmt) numbered(from, next int) string {
	var b strings.Builder
	n := 0
	for i := range st.tokens[:next] {
		t := st.at(i)
		if t.kind == param {
			n++
		}
		if i < from {
			continue
		}
		if i > from && t.start > st.at(i-1).end {
			b.WriteByte(' ')
		}
		b.WriteString(st.text[t.start:t.end])
		if t.kind == param {
			fmt.Fprint(&b, n)
		}
	}
	return b.String()
}

// updateJoined is UPDATE of a table that is joined with others, from the token of the first table to SET and on.
func (s *Session) updateJoined(ctx context.Context, st *stmt, from, set int) (*Result, error) {
	list, next, err := st.assignments(set)
	if err != nil {
		return nil, err
	}
	if at := st.at(next); at.is("ORDER") || at.is("LIMIT") {
		return nil, NewError(1221, "Incorrect usage of UPDATE and %s", strings.ToUpper(at.text))
	}
	at, alias, err := st.named(list[0].table, from, set)
	if err != nil {
		return nil, err
	}
	values, columns := "", make([]string, len(list))
	for i, a := range list {
		if other, _, err := st.named(a.table, from, set); err != nil {
			return nil, err
		} else if other != at {
			return nil, NewError(erUnsupported, "This version of ftrace doesn't yet support 'UPDATE' that changes several tables")
		}
		values += fmt.Sprintf(", (%s) AS v%d", st.numbered(a.from, a.next), i)
		columns[i] = fmt.Sprintf("%s = ftrace_joined.v%d", quoteName(a.column), i)
	}
	t, err := s.target(st, at)
	if err != nil {
		return nil, err
	}
	if err := s.mayUpdate(st, &t, set); err != nil {
		return nil, err
	}
	// A row that others match several times is changed once.
	text := fmt.Sprintf("SELECT `%s`.rowid AS ftrace_row%s FROM %s %s GROUP BY 1", strings.ReplaceAll(alias, "`", "``"), values, st.numbered(from, set), st.numbered(next, len(st.tokens)))
	rewritten, err := tokens(text)
	if err != nil {
		return nil, err
	}
	rows, _, err := s.rewrite(text, rewritten)
	if err != nil {
		return nil, err
	}
	q := fmt.Sprintf("UPDATE %s.%s AS %s SET %s FROM (%s) AS ftrace_joined WHERE %[3]s.rowid = ftrace_joined.ftrace_row", quoteName(t.schema), quoteName(t.name), quoteName(alias), strings.Join(columns, ", "), rows)
	return s.exec(ctx, q, st.args...)
}
