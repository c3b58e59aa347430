package schema

import (
	"context"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// Prepare returns the number of ?s in a statement, and the columns that it will have; none if the
// statement is not a query, or they depend on the values of ?s. Errors are *Errors, of what no
// value mends.
func (s *Session) Prepare(ctx context.Context, text string) (params int, columns []Column, err error) {
	st, err := newStmt(text, nil)
	if err != nil {
		return 0, nil, err
	}
	for i := range st.tokens {
		if st.tokens[i].kind == param {
			params++
		}
	}
	st.args = make([]any, params)
	switch first := st.at(0); {
	case first.kind == name || first.kind == str:
		return params, nil, nil
	case !slices.Contains([]string{"SELECT", "WITH", "VALUES", "("}, strings.ToUpper(first.text)):
		return params, nil, nil
	}
	s.statement, s.failed = newStatement(), nil
	s.begin(ctx)
	defer s.finish()
	s.running.limit(s.timeOf(st))
	columns, err = s.columnsAhead(context.WithoutCancel(ctx), st)
	if err == nil {
		return params, columns, nil
	}
	switch e := s.asError(err); e.Number {
	case mysqlerr.Denied, mysqlerr.NoSuchTable, mysqlerr.Syntax, mysqlerr.UnknownColumn, mysqlerr.UnknownDB, mysqlerr.Unsupported:
		return 0, nil, e
	}
	return params, nil, nil
}

// columnsAhead returns the columns of a query. It reads no rows of tables.
func (s *Session) columnsAhead(ctx context.Context, st *stmt) ([]Column, error) {
	q, err := st.query(0)
	if err != nil {
		return nil, err
	}
	assigned, added := q.assigned()
	if last := q.terms[len(q.terms)-1].only; last == nil || last.values == nil { // SQLite has no VALUES with LIMIT
		q.limit, q.offset = &expr{form: numberForm, text: "0"}, nil
	}
	var columns []typedColumn
	params := 0
	text, err := s.restore(st, func(r *restorer) {
		r.query(q)
		columns = r.columnsOf(q)
		params = r.params
	})
	if err != nil {
		return nil, err
	}
	r, err := s.read(ctx, text, st.args[:min(params, len(st.args))], columns)
	if err != nil {
		return nil, err
	}
	r.Close()
	r.assign(assigned, added)
	return r.Columns, nil
}
