package schema

import "strings"

// SELECT @a := x, y FROM t becomes SELECT x, y FROM t, and @a then has the value of the last row.
// It is refused where that is not certain, or where something may read @a earlier: anywhere but in
// the list of the statement's own SELECT, after *, with UNION, and if the statement has @a
// elsewhere too.

// assigned is a column that is assigned to a variable.
type assigned struct {
	column   int
	variable string
	name     string // of the column
}

// assigned returns the assigned columns of a SELECT, and the statement's tokens without the
// assignments.
func (st *stmt) assigned() (list []token, columns []assigned) {
	first, from := len(st.tokens), len(st.tokens)
	for i, t := range st.outer(0) {
		switch {
		case t.unites():
			return st.tokens, nil
		case i > first && (t.is("FROM") || t.is("WHERE") || t.is("HAVING") || t.is("ORDER") || t.is("LIMIT")):
			from = min(from, i)
		case t.is("SELECT"):
			first = i + 1
		case i == first && (t.is("DISTINCT") || t.is("ALL")):
			first++
		}
	}
	r := &rewriter{source: st.text, tokens: st.tokens}
	without, variables := map[int]bool{}, map[string]bool{}
	for n, item := range r.split(first, from) {
		if r.at(item.last).is("*") {
			break
		}
		if t := r.at(item.first); t.kind == usrVar && r.at(item.first+1).is(":=") && item.last > item.first+1 {
			a := assigned{n, strings.ToLower(t.text), st.text[t.start:r.at(item.last).end]}
			if r.aliased(item.first, item.last+1) {
				a.name = r.at(item.last).text
			}
			columns = append(columns, a)
			without[item.first], without[item.first+1], variables[a.variable] = true, true, true
		}
	}
	for i, t := range st.tokens {
		switch {
		case without[i]:
			continue
		case t.kind == usrVar && variables[strings.ToLower(t.text)]:
			return st.tokens, nil
		}
		list = append(list, t)
	}
	return list, columns
}

// assign assigns the values of columns to variables as rows are returned.
func (r *Result) assign(columns []assigned) {
	r.assigns = columns
	for _, a := range columns {
		r.Columns[a.column].Name = a.name
	}
}

// maxUser is the number of bytes that the names and values of a session's @variables may have.
const maxUser = maxText

// assignUser gives @variable a value.
func (s *Session) assignUser(name string, v value) error {
	const each = 64 // the least memory that a variable takes
	size := func(v value) int {
		text, _ := v.(string)
		return each + len(name) + len(text)
	}
	bytes := s.userBytes + size(v)
	if old, ok := s.user[name]; ok {
		bytes -= size(old)
	}
	if bytes > maxUser {
		return NewError(erMemory, "Out of memory: the @variables of a session may have %d bytes", maxUser)
	}
	s.user[name], s.userBytes = v, bytes
	return nil
}
