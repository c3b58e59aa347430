package schema

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// An assigned is a column that is assigned to a variable, and what its values are.
type assigned struct {
	language.Assigned
	kind language.Kind
}

// assign has the values of columns assigned to variables as rows are returned. Those that were
// added for that are not returned.
func (r *Result) assign(p *language.Plan) {
	for _, a := range p.Assigns {
		c := &r.Columns[a.Column]
		c.Name = a.Name
		r.assigns = append(r.assigns, assigned{a, c.Type.Kind(c.Places)})
	}
	r.Columns = r.Columns[:len(r.Columns)-p.Added]
}

// maxUser is the number of bytes that the names and values of a session's @variables may have.
const maxUser = engine.MaxText

// A userVariable is an @variable. The zero value is NULL.
type userVariable struct {
	value value
	kind  language.Kind
}

// assignUser gives @variable a value.
func (s *Session) assignUser(name string, v value, k language.Kind) error {
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
	s.user[name], s.userBytes = userVariable{v, k.Of(v)}, bytes
	return nil
}
