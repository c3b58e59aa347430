package language

// A Plan is what SQLite is to run for a statement.
type Plan struct {
	Text    string     // in SQLite's spelling
	Args    []any      // of its ?s
	Columns []Column   // of the answer; nil: they are not known
	Assigns []Assigned // columns that are assigned to variables
	Added   int        // columns at the end that are not the answer's
	Found   *Plan      // counts the rows that there are without LIMIT; nil: they are not asked for
}

// plan makes a plan of what f writes.
func (st *Statement) plan(n Names, f func(*restorer, *Plan)) (p *Plan, err error) {
	defer caught(&err)
	p = &Plan{}
	r := &restorer{names: n, stmt: st}
	f(r, p)
	p.Text, p.Args = r.b.String(), st.Args[:min(r.params, len(st.Args))]
	return p, nil
}

// A Query is a statement that reads, or a query within another statement.
type Query struct {
	st   *Statement
	tree *query
}

// Query reads the query that a statement is from a token on.
func (st *Statement) Query(i int) (*Query, error) {
	q, err := st.query(i)
	return &Query{st, q}, err
}

// OfNoTable reports whether it is one SELECT without FROM.
func (q *Query) OfNoTable() bool {
	only := q.tree.plain()
	return only != nil && only.from == nil
}

// WithoutRows makes it a query that has no rows, if SQLite has that.
func (q *Query) WithoutRows() {
	if last := q.tree.terms[len(q.tree.terms)-1].only; last == nil || last.values == nil { // SQLite has no VALUES with LIMIT
		q.tree.limit, q.tree.offset = &expr{form: numberForm, text: "0"}, nil
	}
}

// Plan returns what SQLite is to run for it.
func (q *Query) Plan(n Names) (*Plan, error) {
	assigns, added := q.tree.assigned()
	p, err := q.st.plan(n, func(r *restorer, p *Plan) {
		r.query(q.tree)
		p.Columns, p.Assigns, p.Added = r.columnsOf(q.tree), assigns, added
	})
	if first := q.tree.terms[0].only; err == nil && first != nil && first.found && q.tree.limit != nil {
		all := *q.tree
		all.limit, all.offset = nil, nil
		p.Found, err = q.st.plan(n, func(r *restorer, _ *Plan) {
			r.write("SELECT COUNT(*) FROM ")
			r.enclosed(&all)
		})
	}
	return p, err
}

// An Item is one of what SELECT lists: a column, or what a function returns.
type Item struct{ Name, Column, Function string }

// Items returns what the one SELECT of a query lists, and the table that it is of.
func (q *Query) Items() (list []Item, table string) {
	s := q.tree.plain()
	for _, i := range s.items {
		item := Item{Name: i.alias}
		switch i.of.form {
		case columnForm:
			item.Column = i.of.path[0]
		case callForm:
			item.Function = i.of.text
		}
		list = append(list, item)
	}
	return list, s.from[0].name
}
