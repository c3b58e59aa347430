package language

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
)

// enclosed writes a query in parentheses.
func (r *restorer) enclosed(q *query) {
	r.write("(")
	r.query(q)
	r.write(")")
}

// query writes a query.
func (r *restorer) query(q *query) {
	defer r.deeper()()
	with := len(r.with)
	defer func() { r.with = r.with[:with] }()
	r.each(len(q.with), map[bool]string{true: "WITH RECURSIVE ", false: "WITH "}[q.recursive], ", ", func(i int) {
		c := q.with[i]
		if q.recursive {
			r.pushWith(q, c)
		}
		r.write(QuoteName(c.name))
		r.columns(c.columns)
		r.write(" AS ")
		r.enclosed(c.query)
		if !q.recursive {
			r.pushWith(q, c)
		}
		r.write(" ")
	})
	order := q.order
	for i, t := range q.terms {
		if i > 0 {
			r.write(" ", t.union, " ")
		}
		if t.nested != nil {
			r.write("SELECT * FROM ") // SQLite allows parentheses only around subqueries
			r.enclosed(t.nested)
			continue
		}
		s := t.only
		if s.rollup {
			s, order = rolledUp(r.stmt, q, s)
		}
		r.selection(s, len(q.terms) > 1)
	}
	if s := q.plain(); s != nil {
		r.inScope(s, func() { r.orderBy(order) })
	} else {
		r.orderBy(order)
	}
	r.limit(q)
}

func (r *restorer) limit(q *query) {
	if q.limit != nil {
		r.write(" LIMIT ")
		r.expr(q.limit)
	}
	if q.offset != nil {
		r.write(" OFFSET ")
		r.expr(q.offset)
	}
}

// columns writes a list of columns, if there is one.
func (r *restorer) columns(names []string) {
	r.each(len(names), " (", ", ", func(i int) { r.write(QuoteName(names[i])) })
	if names != nil {
		r.write(")")
	}
}

// maxName is how many characters of an expression name its column.
const maxName = 255

// selection writes a SELECT. Rows of united ones are compared with those of others.
func (r *restorer) selection(s *selection, united bool) {
	r.inScope(s, func() { r.selectionInScope(s, united) })
}

func (r *restorer) selectionInScope(s *selection, united bool) {
	if s.values != nil {
		r.each(len(s.values), "VALUES ", ", ", func(i int) { r.expr(&expr{form: rowForm, args: s.values[i]}) })
		return
	}
	r.write("SELECT ", map[bool]string{true: "DISTINCT "}[s.distinct])
	r.each(len(s.items), "", ", ", func(i int) {
		item := &s.items[i]
		if (s.distinct || united) && item.of.form != starForm {
			r.sorted(item.of)
		} else {
			r.expr(item.of)
		}
		switch {
		case item.named:
			r.write(" AS ", QuoteName(item.alias))
		case item.of.form != columnForm && item.of.form != starForm: // SQLite would name it after its own spelling
			r.write(" AS ", QuoteName(item.text[:functions.Characters(item.text, maxName)]))
		}
	})
	if s.from != nil {
		r.write(" FROM ")
		r.tables(s.from)
	}
	where, having := s.where, s.having
	if having != nil && s.group == nil && !s.grouped() {
		// MySQL applies it to the rows, and SQLite can't.
		if where, having = having, nil; s.where != nil {
			where = &expr{form: binaryForm, text: "AND", args: []*expr{s.where, where}}
		}
	}
	if where != nil {
		r.write(" WHERE ")
		r.expr(where)
	}
	r.each(len(s.group), " GROUP BY ", ", ", func(i int) { r.sorted(s.group[i]) })
	if having != nil {
		r.write(" HAVING ")
		r.expr(having)
	}
	r.each(len(s.windows), " WINDOW ", ", ", func(i int) {
		r.write(QuoteName(s.windows[i].name), " AS ")
		r.window(&s.windows[i].window)
	})
}

// grouped reports whether a SELECT without GROUP BY makes one group of all rows.
func (s *selection) grouped() bool {
	return s.having.aggregate() || slices.ContainsFunc(s.items, func(i item) bool { return i.of.aggregate() })
}

func (r *restorer) tables(list []*tableRef) {
	for _, t := range list {
		if t.join != "" {
			r.write(map[bool]string{true: ", ", false: " " + t.join + " "}[t.join == ","])
		}
		r.table(t)
		if t.on != nil {
			r.write(" ON ")
			r.expr(t.on)
		}
		if t.using != nil {
			r.write(" USING")
			r.columns(t.using)
		}
	}
}

func (r *restorer) table(t *tableRef) {
	defer r.deeper()()
	switch {
	case t.inner != nil:
		r.write("(")
		r.tables(t.inner)
		r.write(")")
		return
	case t.query != nil:
		r.enclosed(t.query)
	case t.schema == "" && slices.ContainsFunc(r.with, func(w withName) bool { return w.name == strings.ToLower(t.name) }):
		r.write(QuoteName(t.name))
	default:
		schema := r.schemaOf(t)
		view, err := r.names.View(schema, t.name)
		if err != nil {
			fail(err)
		}
		if view != nil {
			r.view(view, r.enclosed)
			r.write(" AS ", QuoteName(t.known()))
			return
		}
		r.path([]string{schema, t.name})
	}
	if t.alias != "" {
		r.write(" AS ", QuoteName(t.alias))
	}
}

// schemaOf returns the schema of a table.
func (r *restorer) schemaOf(t *tableRef) string {
	return cmp.Or(t.schema, r.database, r.names.Database())
}
