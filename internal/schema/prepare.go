package schema

import (
	"context"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// Prepare returns the number of ?s in a statement, and the columns that it will have; none if the
// statement is not a query, or they depend on the values of ?s. Errors are *Errors, of what no
// value mends.
func (s *Session) Prepare(ctx context.Context, text string) (params int, columns []Column, err error) {
	st, err := language.Read(text, nil)
	if err != nil {
		return 0, nil, err
	}
	params = st.Params()
	st.Args = make([]any, params)
	if !slices.Contains(reads, st.Verb(0)) {
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
func (s *Session) columnsAhead(ctx context.Context, st *language.Statement) ([]Column, error) {
	q, err := st.Query(0)
	if err != nil {
		return nil, err
	}
	q.WithoutRows()
	p, err := q.Plan(names{s})
	if err != nil {
		return nil, err
	}
	p.Found = nil
	r, err := s.answer(ctx, p)
	if err != nil {
		return nil, err
	}
	r.assigns = nil
	r.Close()
	return r.Columns, nil
}
