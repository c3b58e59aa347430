package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
)

// Query runs a statement, with values for its ?s. The result must be read and closed before the
// next statement is run. Errors are *Errors.
func (s *Session) Query(ctx context.Context, text string, args []any) (*Result, error) {
	s.statement, s.failed = newStatement(), nil
	s.before, s.warned = s.warned, diagnostics{}
	s.catalog.questions.Add(1)
	s.setActivity(text)
	s.begin(ctx)
	err := s.interrupted()
	var r *Result
	if err == nil {
		// The engine itself ends the statement when the context ends.
		r, err = s.query(context.WithoutCancel(ctx), text, args)
	}
	s.last = r
	switch {
	case err == nil && r.rows != nil && !r.ended:
		r.whole = true
		return r, nil
	case s.failed != nil:
		err = s.failed
	}
	if err != nil {
		r, err = nil, s.fails(err)
	}
	s.over()
	return r, err
}

// fails returns the error of the statement under way, which SHOW WARNINGS has then.
func (s *Session) fails(err error) error {
	failed := s.asError(err)
	s.warn("Error", failed)
	return failed
}

// over ends the statement that was run.
func (s *Session) over() {
	s.finish()
	if s.warned.asked && s.warned.count == 0 {
		s.warned = s.before
	}
	s.setActivity("")
}

// A handler runs the statements that begin with a word.
type handler func(s *Session, ctx context.Context, st *stmt) (*Result, error)

// stmt is a statement under way.
type stmt struct {
	text   string
	tokens []token
	args   []any
}

// newStmt splits a statement. It leaves out what ends it.
func newStmt(text string, args []any) (*stmt, error) {
	list, err := tokens(text)
	for len(list) > 0 && list[len(list)-1].is(";") {
		list = list[:len(list)-1]
	}
	return &stmt{text, list, args}, err
}

func (st *stmt) at(i int) *token {
	if i < 0 || i >= len(st.tokens) {
		return &token{kind: op}
	}
	return &st.tokens[i]
}

// outer yields the tokens from one on, except parentheses and what is in them.
func (st *stmt) outer(from int) iter.Seq2[int, *token] {
	return func(yield func(int, *token) bool) {
		depth := 0
		for i := from; i < len(st.tokens); i++ {
			switch t := st.at(i); {
			case t.is("("):
				depth++
			case t.is(")"):
				depth--
			case depth == 0 && !yield(i, t):
				return
			}
		}
	}
}

// rest returns the text from a token on.
func (st *stmt) rest(i int) string {
	if i >= len(st.tokens) {
		return ""
	}
	return st.text[st.tokens[i].start:]
}

// handlers has the handler of each kind of statement. All other statements are unknown.
var handlers map[string]handler

func init() {
	handlers = map[string]handler{
		"SELECT": (*Session).selectRows, "WITH": (*Session).selectRows, "VALUES": (*Session).selectRows, "(": (*Session).selectRows,
		"SHOW": (*Session).show, "DESCRIBE": (*Session).describe, "DESC": (*Session).describe, "EXPLAIN": (*Session).describe,
		"USE": (*Session).use, "SET": (*Session).set,
		"UPDATE": (*Session).write, "INSERT": (*Session).write, "REPLACE": (*Session).write, "DELETE": (*Session).write,
		"TRUNCATE": (*Session).truncate,
		"CREATE":   (*Session).define, "DROP": (*Session).define, "ALTER": (*Session).define, "RENAME": (*Session).define,
		"BEGIN": (*Session).transaction, "START": (*Session).transaction, "COMMIT": (*Session).transaction, "ROLLBACK": (*Session).transaction,
		"SAVEPOINT": (*Session).transaction, "RELEASE": (*Session).transaction,
		"LOCK": (*Session).lock, "UNLOCK": (*Session).ignore, "DO": (*Session).do, "FLUSH": (*Session).ignore,
		"GRANT": (*Session).grantOrRevoke, "REVOKE": (*Session).grantOrRevoke,
	}
}

// harmless has the statements that change nothing outside their session. Of SET that is so without
// GLOBAL.
var harmless = words("SELECT WITH VALUES ( SHOW DESCRIBE DESC EXPLAIN USE SET DO")

// lacking has the statements of MySQL that there are not here.
var lacking = words("CALL PREPARE EXECUTE DEALLOCATE LOAD KILL HANDLER ANALYZE CHECK OPTIMIZE REPAIR CHECKSUM HELP INSTALL")

// commits has the statements that end the transaction that was begun.
var commits = words("CREATE DROP ALTER RENAME TRUNCATE BEGIN START LOCK GRANT REVOKE")

// readOnly returns the error of what a read-only catalog refuses.
func readOnly(what string) *mysqlerr.Error {
	return mysqlerr.New(mysqlerr.Prevented, "This can only be read from, so it cannot execute '%s'", what)
}

func (s *Session) query(ctx context.Context, text string, args []any) (*Result, error) {
	st, err := newStmt(text, args)
	if err != nil {
		return nil, err
	}
	if len(st.tokens) == 0 {
		if strings.TrimSpace(text) != "" {
			return &Result{}, nil // a comment
		}
		return nil, mysqlerr.New(1065, "Query was empty")
	}
	if i := slices.IndexFunc(st.tokens, func(t token) bool { return t.is(";") }); i >= 0 {
		return nil, syntaxError(st.rest(i))
	}
	st.oldConsumers()
	return s.dispatch(ctx, st)
}

// dispatch runs a statement, within its time limit.
func (s *Session) dispatch(ctx context.Context, st *stmt) (*Result, error) {
	s.running.limit(s.timeOf(st))
	first := strings.ToUpper(st.at(0).text)
	h := handlers[first]
	switch {
	case h != nil && st.at(0).kind != name && st.at(0).kind != str:
		if s.catalog.ReadOnly && !harmless[first] {
			return nil, readOnly(first)
		}
		if commits[first] && !st.at(1).is("TEMPORARY") {
			s.conn.ExecContext(ctx, "COMMIT") // which fails if there is nothing to commit
		}
		return h(s, ctx, st)
	case lacking[first]:
		return nil, unsupported(first)
	}
	return nil, syntaxError(st.rest(0))
}

// selectRows runs a statement that reads.
func (s *Session) selectRows(ctx context.Context, st *stmt) (*Result, error) {
	q, err := st.query(0)
	if err != nil {
		return nil, err
	}
	if only := q.plain(); only != nil && only.from == nil {
		s.warned.asked = true
	}
	assigned, added := q.assigned()
	var columns []typedColumn
	text, err := s.restore(st, func(r *restorer) {
		r.query(q)
		columns = r.columnsOf(q)
	})
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(s.database, "information_schema") || strings.Contains(strings.ToLower(text), "information_schema") {
		if err := s.readTest(ctx); err != nil {
			return nil, err
		}
	}
	found, err := s.found(ctx, st, q)
	if err != nil {
		return nil, err
	}
	r, err := s.read(ctx, text, st.args, columns)
	if err != nil {
		return nil, err
	}
	r.found = found
	r.assign(assigned, added)
	return r, nil
}

// query reads the query that a statement is from a token on.
func (st *stmt) query(i int) (q *query, err error) {
	_, err = st.parse(i, func(p *parser) { q = p.query(); p.end() })
	return q, err
}

// found counts the rows that SELECT SQL_CALC_FOUND_ROWS ... LIMIT would have without the limit; 0
// for other statements.
func (s *Session) found(ctx context.Context, st *stmt, q *query) (n int64, err error) {
	if first := q.terms[0].only; first == nil || !first.found || q.limit == nil {
		return 0, nil
	}
	all := *q
	all.limit, all.offset = nil, nil
	params := 0
	text, err := s.restore(st, func(r *restorer) {
		r.write("SELECT COUNT(*) FROM ")
		r.enclosed(&all)
		params = r.params
	})
	if err != nil {
		return 0, err
	}
	err = s.conn.QueryRowContext(ctx, text, st.args[:min(params, len(st.args))]...).Scan(&n)
	return n, err
}

// read runs one of SQLite's queries, whose columns are these; nil: they are not known.
func (s *Session) read(ctx context.Context, q string, args []any, columns []typedColumn) (*Result, error) {
	rows, err := s.conn.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	return s.result(rows, columns)
}

// exec runs one of SQLite's statements, and makes its changes in sources.
func (s *Session) exec(ctx context.Context, q string, args ...any) (*Result, error) {
	n, err := s.run(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	return s.apply(n)
}

// run runs one of SQLite's statements. It returns how many rows that changed.
func (s *Session) run(ctx context.Context, q string, args ...any) (int64, error) {
	done, err := s.conn.ExecContext(ctx, q, args...)
	if s.failed != nil {
		return 0, s.failed
	}
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// apply makes the statement's changes in sources. SQLite says that they are n rows.
func (s *Session) apply(n int64) (*Result, error) {
	if len(s.statement.rows)+len(s.statement.pending) == 0 {
		return &Result{Affected: n}, nil
	}
	for v, p := range s.statement.pending {
		if err := p.Apply(); errors.Is(err, source.ErrReadOnly) {
			return nil, mysqlerr.New(mysqlerr.ReadOnly, "Table is read only: process %s is a recording, or can't do that", v.Source.Name())
		} else if err != nil {
			return nil, sourceError(v.Source, err)
		}
	}
	r := &Result{Affected: s.statement.changed}
	if m := s.statement.matched; m > 0 {
		r.Info = fmt.Sprintf("Rows matched: %d  Changed: %d  Warnings: 0", m, s.statement.changed)
	} else if len(s.statement.pending) == 0 {
		r.Affected = n
	}
	return r, nil
}

// A target is the table that a statement changes.
type target struct {
	schema string
	name   string
	table  *tables.Table // nil: it is not one of ours
	ours   bool          // it is in a schema that the user may not change
	next   int           // the token after it
}

// target reads the name of a table at a token.
func (s *Session) target(st *stmt, i int) (target, error) {
	name := &tableRef{}
	next, err := st.parse(i, func(p *parser) { p.tableName(name) })
	if err != nil {
		return target{}, err
	}
	t, err := s.targetOf(name.schema, name.name)
	t.next = next
	return t, err
}

// targetOf returns the table of a name. Without a schema it is in the default one.
func (s *Session) targetOf(schema, name string) (target, error) {
	t := target{schema: cmp.Or(schema, s.database), name: name}
	if sc := s.catalog.schema(t.schema); sc != nil {
		t.ours, t.schema = true, sc.name
		t.table = sc.tables[strings.ToLower(t.name)]
	} else if _, err := s.catalog.nameOf(t.schema); err != nil {
		return t, err
	}
	return t, nil
}

func (t *target) missing() error {
	return mysqlerr.New(mysqlerr.NoSuchTable, "Table '%s.%s' doesn't exist", t.schema, t.name)
}

// truncate is TRUNCATE [TABLE] t.
func (s *Session) truncate(ctx context.Context, st *stmt) (*Result, error) {
	i := 1
	if st.at(i).is("TABLE") {
		i++
	}
	t, err := s.target(st, i)
	switch {
	case err != nil:
		return nil, err
	case t.next < len(st.tokens):
		return nil, syntaxError(st.rest(t.next))
	}
	if err := s.mayUse(accounts.Drop, t.schema, t.name); err != nil {
		return nil, err
	}
	switch {
	case !t.ours:
		if err := s.notView(&t, "TRUNCATE"); err != nil {
			return nil, err
		}
		return s.exec(ctx, "DELETE FROM test."+quoteName(t.name))
	case t.table == nil:
		return nil, t.missing()
	case t.table.Parts == nil && t.table.Rules == nil:
		return nil, s.denied("DROP", t.name)
	}
	sources := s.catalog.sourcesOf(s.catalog.schema(t.schema))
	for _, process := range sources {
		var err error
		if t.table.Rules != nil {
			err = process.SetRules(*t.table.Rules, nil)
		}
		for _, part := range t.table.Parts {
			err = errors.Join(err, process.Truncate(part))
		}
		if errors.Is(err, source.ErrReadOnly) {
			return nil, mysqlerr.New(mysqlerr.ReadOnly, "Table '%s' is read only: process %s is a recording, or can't do that", t.name, process.Name())
		}
		if err != nil && !(errors.Is(err, source.ErrGone) && len(sources) > 1) {
			return nil, sourceError(process, err)
		}
	}
	return &Result{}, nil
}

// transaction handles transactions for test; the other tables have none.
func (s *Session) transaction(ctx context.Context, st *stmt) (*Result, error) {
	q := st.text
	switch strings.ToUpper(st.at(0).text) {
	case "START", "BEGIN":
		q = "BEGIN"
	case "COMMIT":
		q = "COMMIT"
	}
	_, err := s.conn.ExecContext(ctx, q)
	if err != nil && strings.Contains(err.Error(), "no transaction is active") {
		err = nil
	}
	return &Result{}, err
}

// lock is LOCK TABLES, which these tables do not support.
func (s *Session) lock(_ context.Context, st *stmt) (*Result, error) {
	t, err := s.target(st, 2)
	if err != nil {
		return nil, err
	}
	if t.ours {
		return nil, s.denied("LOCK TABLES", t.name)
	}
	return &Result{}, nil
}

// do is DO, which evaluates expressions and returns nothing.
func (s *Session) do(ctx context.Context, st *stmt) (*Result, error) {
	_, _, next, err := s.evaluate(ctx, st, 1)
	if err == nil && next < len(st.tokens) {
		err = syntaxError(st.rest(next))
	}
	if err == nil {
		err = s.interrupted()
	}
	return &Result{}, err
}

// ignore handles statements that have no effect here.
func (s *Session) ignore(context.Context, *stmt) (*Result, error) { return &Result{}, nil }

// use is USE s.
func (s *Session) use(_ context.Context, st *stmt) (*Result, error) {
	if !st.at(1).identifier() || len(st.tokens) != 2 {
		return nil, syntaxError(st.rest(1))
	}
	return &Result{}, s.Use(st.at(1).text)
}
