package language

import (
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// Names says what the names in a statement mean to the session that runs it.
type Names interface {
	// Database returns the default schema.
	Database() string
	// Columns returns the columns of a table or a view; nil if there is no such table.
	Columns(schema, table string) []Column
	// View returns a view; nil if the name is that of a table, or of nothing. It fails if the user
	// may not read it.
	View(schema, table string) (*View, error)
	// Variable returns @@name.
	Variable(name string) (any, error)
	// UserVariable returns @name, and what it is.
	UserVariable(name string) (any, Kind)
	// Value returns what a function without arguments returns in the session, such as USER(). It is
	// not ok if the function is not one of those.
	Value(function string) (v any, ok bool)
}

// A View is a query under a name.
type View struct {
	Name       string   // as errors have it
	Database   string   // the default schema of who made it
	Definition string   // its query, as it was written
	Columns    []string // the names of its columns; nil: those of the query
}

// viewsAtOnce is how many views a statement may read, with those within others. One that is read
// twice counts twice.
const viewsAtOnce = 1000

// view calls f for the query of a view while names mean what they mean there.
func (r *restorer) view(v *View, f func(*query)) {
	if containsFold(r.viewing, v.Name) {
		fail(mysqlerr.New(1462, "%s contains view recursion", v.Name))
	}
	if r.views++; r.views > viewsAtOnce {
		fail(mysqlerr.New(mysqlerr.TooDeep, "Thread stack overrun: a statement can be of %d views, those within views included", viewsAtOnce))
	}
	st, err := Read(v.Definition, nil)
	if err != nil {
		fail(err)
	}
	q, err := st.query(0)
	if err != nil {
		fail(err)
	}
	if v.Columns != nil {
		q = withColumns(v.Columns, q)
	}
	within := *r
	r.stmt, r.with, r.database, r.viewing = st, nil, v.Database, append(slices.Clip(r.viewing), v.Name)
	f(q)
	r.stmt, r.with, r.database, r.viewing = within.stmt, within.with, within.database, within.viewing
}

// Plan returns a query of no rows of a view.
func (v *View) Plan(n Names) (*Plan, error) {
	return (&Statement{}).plan(n, func(r *restorer, p *Plan) {
		r.write("SELECT * FROM ")
		r.view(v, func(q *query) {
			r.enclosed(q)
			p.Columns = r.columnsOf(q)
		})
		r.write(" LIMIT 0")
	})
}
