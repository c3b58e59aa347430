package schema

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// UPDATE a JOIN b ON ... SET a.x = b.y, b.z = 1 WHERE ... first makes a table j from SELECT a.rowid
// AS r0, b.y AS v0, b.rowid AS r1, 1 AS v1 FROM a JOIN b ON ... WHERE .... Then it runs UPDATE a
// SET x = j.v0 FROM j WHERE a.rowid = j.r0, and the same for b. SQLite has no other UPDATE with
// joins.

// assignment is one assignment of SET.
type assignment struct {
	table      string // "": none is named
	column     string
	from, next int // the tokens of the value
}

// several returns the index of SET in an UPDATE of several tables, whose first table is named at a
// token; 0 for an UPDATE of one table.
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

// assignments returns the assignments of SET, and the token after them.
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

// behindTable are the words after a table that are not its alias.
var behindTable = map[string]bool{"JOIN": true, "INNER": true, "CROSS": true, "LEFT": true, "RIGHT": true, "OUTER": true, "NATURAL": true, "STRAIGHT_JOIN": true, "ON": true, "USING": true, "SET": true}

// named finds a table by its name in the statement, or the first table if that is "", among the
// tokens from the first table to SET. It returns the token of the table's own name.
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

// maxAssignments is the number of columns that SQLite allows.
const maxAssignments = 2000

// joinedTable is a table that an UPDATE of several changes.
type joinedTable struct {
	target
	at      int // its token
	alias   string
	columns []string // what SET does to its columns
}

// updateJoined is UPDATE of joined tables, from the token of the first table on.
func (s *Session) updateJoined(ctx context.Context, st *stmt, from, set int) (*Result, error) {
	list, next, err := st.assignments(set)
	if err != nil {
		return nil, err
	}
	if at := st.at(next); at.is("ORDER") || at.is("LIMIT") {
		return nil, NewError(1221, "Incorrect usage of UPDATE and %s", strings.ToUpper(at.text))
	}
	if len(list) > maxAssignments {
		return nil, NewError(1117, "Too many columns")
	}
	var changed []joinedTable
	text := ""
	for i, a := range list {
		at, alias, err := st.named(a.table, from, set)
		if err != nil {
			return nil, err
		}
		n := slices.IndexFunc(changed, func(t joinedTable) bool { return t.at == at })
		if n < 0 {
			t, err := s.target(st, at)
			if err != nil {
				return nil, err
			}
			n = len(changed)
			changed = append(changed, joinedTable{t, at, alias, nil})
			text += fmt.Sprintf("`%s`.rowid AS r%d, ", strings.ReplaceAll(alias, "`", "``"), n)
		}
		t := &changed[n]
		if err := s.mayUpdate(&t.target, a.column); err != nil {
			return nil, err
		}
		text += fmt.Sprintf("(%s) AS v%d, ", st.numbered(a.from, a.next), i)
		t.columns = append(t.columns, fmt.Sprintf("%s = j.v%d", quoteName(a.column), i))
	}
	text = fmt.Sprintf("SELECT %s FROM %s %s", strings.TrimSuffix(text, ", "), st.numbered(from, set), st.numbered(next, len(st.tokens)))
	rewritten, err := tokens(text)
	if err != nil {
		return nil, err
	}
	rows, _, err := s.rewrite(text, rewritten)
	if err != nil {
		return nil, err
	}
	var r *Result
	err = s.whole(ctx, func() error {
		if _, err := s.run(ctx, "CREATE TEMP TABLE ftrace_joined AS "+rows, st.args...); err != nil {
			return err
		}
		all := int64(0)
		for i, t := range changed {
			// A row that several others match is changed once, as the first of them says.
			n, err := s.run(ctx, fmt.Sprintf("UPDATE %s.%s AS %s SET %s FROM (SELECT *, MIN(rowid) FROM temp.ftrace_joined GROUP BY r%[5]d) AS j WHERE %[3]s.rowid = j.r%[5]d",
				quoteName(t.schema), quoteName(t.name), quoteName(t.alias), strings.Join(t.columns, ", "), i))
			if err != nil {
				return err
			}
			if all += n; !t.ours {
				s.statement.matched += n
				s.statement.changed += n
			}
		}
		if _, err := s.run(ctx, "DROP TABLE temp.ftrace_joined"); err != nil {
			return err
		}
		r, err = s.apply(all)
		return err
	})
	return r, err
}

// whole runs do on the user's tables so that all of its changes are made, or none.
func (s *Session) whole(ctx context.Context, do func() error) error {
	if _, err := s.conn.ExecContext(ctx, "SAVEPOINT ftrace_whole"); err != nil {
		return err
	}
	err := do()
	if err != nil {
		s.conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK TO ftrace_whole")
	}
	_, released := s.conn.ExecContext(context.WithoutCancel(ctx), "RELEASE ftrace_whole")
	return cmp.Or(err, released)
}
