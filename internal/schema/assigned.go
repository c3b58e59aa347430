package schema

import (
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

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

// assigned takes the assignments out of a query's list, and returns their columns.
func (q *query) assigned() (columns []assigned) {
	s := q.plain()
	if s == nil {
		return nil
	}
	uses := map[string]int{} // of the variables, other than to assign to them here
	q.deeply(func(e *expr) {
		if e.form == userForm || e.form == assignForm {
			uses[e.text]++
		}
	})
	list := s.items
	if star := slices.IndexFunc(list, func(i item) bool { return i.of.form == starForm }); star >= 0 {
		list = list[:star]
	}
	for _, i := range list {
		if i.of.form == assignForm {
			uses[i.of.text]--
		}
	}
	for n := range list {
		i := &list[n]
		if i.of.form != assignForm || uses[i.of.text] > 0 {
			continue
		}
		if !i.named {
			i.alias, i.named = i.text, true
		}
		columns = append(columns, assigned{n, i.of.text, i.alias})
		i.of = i.of.args[0]
	}
	return columns
}

// assign assigns the values of columns to variables as rows are returned.
func (r *Result) assign(columns []assigned) {
	r.assigns = columns
	for _, a := range columns {
		r.Columns[a.column].Name = a.name
	}
}

// maxUser is the number of bytes that the names and values of a session's @variables may have.
const maxUser = engine.MaxText

// A userVariable is an @variable. The zero value is NULL.
type userVariable struct {
	value value
	kind  exprKind
}

// assignUser gives @variable a value.
func (s *Session) assignUser(name string, v value, k exprKind) error {
	const each = 64 // the least memory that a variable takes
	size := func(v value) int {
		text, _ := v.(string)
		return each + len(name) + len(text)
	}
	bytes := s.userBytes + size(v)
	if old, ok := s.user[name]; ok {
		bytes -= size(old.value)
	}
	if bytes > maxUser {
		return mysqlerr.New(mysqlerr.Memory, "Out of memory: the @variables of a session may have %d bytes", maxUser)
	}
	if k.class == unknownClass || k.class == nullClass {
		k = kindOfValue(v)
	}
	k.time = noTime
	s.user[name], s.userBytes = userVariable{v, k}, bytes
	return nil
}
