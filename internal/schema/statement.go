package schema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
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
		s.warned.left = true
	}
	s.setActivity("")
}

// A handler runs the statements that begin with a word.
type handler func(s *Session, ctx context.Context, st *language.Statement) (*Result, error)

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
var harmless = strings.Fields("SELECT WITH VALUES ( SHOW DESCRIBE DESC EXPLAIN USE SET DO")

// ofTransactions has the statements beside these that a read-only session may run.
var ofTransactions = strings.Fields("BEGIN START COMMIT ROLLBACK SAVEPOINT RELEASE LOCK UNLOCK FLUSH")

// lacking has the statements of MySQL that there are not here.
var lacking = strings.Fields("CALL PREPARE EXECUTE DEALLOCATE LOAD KILL HANDLER ANALYZE CHECK OPTIMIZE REPAIR CHECKSUM HELP INSTALL")

// commits has the statements that end the transaction that was begun.
var commits = strings.Fields("CREATE DROP ALTER RENAME TRUNCATE BEGIN START LOCK GRANT REVOKE")

// readOnly returns the error of what a read-only catalog refuses.
func readOnly(what string) *mysqlerr.Error {
	return mysqlerr.New(mysqlerr.Prevented, "This can only be read from, so it cannot execute '%s'", what)
}

func (s *Session) query(ctx context.Context, text string, args []any) (*Result, error) {
	st, err := language.Read(text, args)
	if err != nil {
		return nil, err
	}
	if st.Len() == 0 {
		if strings.TrimSpace(text) != "" {
			return &Result{}, nil // a comment
		}
		return nil, mysqlerr.New(1065, "Query was empty")
	}
	st.Rename(consumersTable, "events_waits", "events_waits_current")
	return s.dispatch(ctx, st)
}

// dispatch runs a statement, within its time limit.
func (s *Session) dispatch(ctx context.Context, st *language.Statement) (*Result, error) {
	s.running.limit(s.timeOf(st))
	first := st.Verb(0)
	h := handlers[first]
	switch {
	case h != nil:
		if s.catalog.ReadOnly && !slices.Contains(harmless, first) {
			return nil, readOnly(first)
		}
		if s.variables["transaction_read_only"] == "ON" && !slices.Contains(harmless, first) && !slices.Contains(ofTransactions, first) {
			return nil, mysqlerr.New(mysqlerr.ReadTransaction, "Cannot execute statement in a READ ONLY transaction")
		}
		if slices.Contains(commits, first) && !st.Is(1, "TEMPORARY") {
			s.conn.ExecContext(ctx, "COMMIT") // which fails if there is nothing to commit
		}
		return h(s, ctx, st)
	case slices.Contains(lacking, first):
		return nil, mysqlerr.NotYet(first)
	}
	return nil, st.Near(0)
}

// selectRows runs a statement that reads.
func (s *Session) selectRows(ctx context.Context, st *language.Statement) (*Result, error) {
	q, err := st.Query(0)
	if err != nil {
		return nil, err
	}
	if q.OfNoTable() {
		s.warned.asked = true
	}
	p, err := q.Plan(names{s})
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(s.database, "information_schema") || strings.Contains(strings.ToLower(p.Text), "information_schema") {
		if err := s.readTest(ctx); err != nil {
			return nil, err
		}
	}
	return s.answer(ctx, p)
}

// answer runs a query.
func (s *Session) answer(ctx context.Context, p *language.Plan) (*Result, error) {
	var found int64
	if p.Found != nil {
		if err := s.conn.QueryRowContext(ctx, p.Found.Text, p.Found.Args...).Scan(&found); err != nil {
			return nil, err
		}
	}
	r, err := s.read(ctx, p.Text, p.Args, p.Columns)
	if err != nil {
		return nil, err
	}
	r.found = found
	r.assign(p)
	return r, nil
}

// read runs one of SQLite's queries, whose columns are these; nil: they are not known.
func (s *Session) read(ctx context.Context, q string, args []any, columns []language.Column) (*Result, error) {
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
		if s.FoundRows {
			r.Affected = m
		}
	} else if len(s.statement.pending) == 0 {
		r.Affected = n
	}
	return r, nil
}

// A target is the table that a statement changes.
type target struct {
	language.Table
	table *tables.Table // nil: it is not one of ours
	ours  bool          // it is in a schema that the user may not change
	next  int           // the token after it
}

// target reads the name of a table at a token.
func (s *Session) target(st *language.Statement, i int) (target, error) {
	name, next, err := st.Table(i)
	if err != nil {
		return target{}, err
	}
	t, err := s.targetOf(name)
	t.next = next
	return t, err
}

// targetOf returns the table of a name. Without a schema it is in the default one.
func (s *Session) targetOf(name language.Table) (target, error) {
	t := target{Table: language.Table{Schema: cmp.Or(name.Schema, s.database), Name: name.Name}}
	if sc := s.catalog.schema(t.Schema); sc != nil {
		t.ours, t.Schema = true, sc.name
		t.table = sc.tables[strings.ToLower(t.Name)]
	} else if _, err := s.catalog.nameOf(t.Schema); err != nil {
		return t, err
	}
	return t, nil
}

func (t *target) missing() error {
	return mysqlerr.New(mysqlerr.NoSuchTable, "Table '%s.%s' doesn't exist", t.Schema, t.Name)
}

// truncate is TRUNCATE [TABLE] t.
func (s *Session) truncate(ctx context.Context, st *language.Statement) (*Result, error) {
	i := 1
	if st.Is(i, "TABLE") {
		i++
	}
	t, err := s.target(st, i)
	switch {
	case err != nil:
		return nil, err
	case t.next < st.Len():
		return nil, st.Near(t.next)
	}
	if err := s.mayUse(accounts.Drop, t.Schema, t.Name); err != nil {
		return nil, err
	}
	switch {
	case !t.ours:
		if err := s.notView(&t, "TRUNCATE"); err != nil {
			return nil, err
		}
		return s.exec(ctx, "DELETE FROM "+t.String())
	case t.table == nil:
		return nil, t.missing()
	case t.table.Parts == nil && t.table.Rules == nil:
		return nil, s.denied("DROP", t.Name)
	}
	sources := s.catalog.sourcesOf(s.catalog.schema(t.Schema))
	for _, process := range sources {
		var err error
		if t.table.Rules != nil {
			err = process.SetRules(*t.table.Rules, nil)
		}
		for _, part := range t.table.Parts {
			err = errors.Join(err, process.Truncate(part))
		}
		if errors.Is(err, source.ErrReadOnly) {
			return nil, mysqlerr.New(mysqlerr.ReadOnly, "Table '%s' is read only: process %s is a recording, or can't do that", t.Name, process.Name())
		}
		if err != nil && !(errors.Is(err, source.ErrGone) && len(sources) > 1) {
			return nil, sourceError(process, err)
		}
	}
	return &Result{}, nil
}

// transaction handles transactions for test; the other tables have none.
func (s *Session) transaction(ctx context.Context, st *language.Statement) (*Result, error) {
	q := st.Text
	switch st.Verb(0) {
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
func (s *Session) lock(_ context.Context, st *language.Statement) (*Result, error) {
	t, err := s.target(st, 2)
	if err != nil {
		return nil, err
	}
	if t.ours {
		return nil, s.denied("LOCK TABLES", t.Name)
	}
	return &Result{}, nil
}

// do is DO, which evaluates expressions and returns nothing.
func (s *Session) do(ctx context.Context, st *language.Statement) (*Result, error) {
	q, err := st.Values(1)
	if err == nil {
		_, _, err = s.evaluate(ctx, q)
	}
	if err == nil {
		err = s.interrupted()
	}
	return &Result{}, err
}

// ignore handles statements that have no effect here.
func (s *Session) ignore(context.Context, *language.Statement) (*Result, error) {
	return &Result{}, nil
}

// use is USE s.
func (s *Session) use(_ context.Context, st *language.Statement) (*Result, error) {
	if !st.Named(1) || st.Len() != 2 {
		return nil, st.Near(1)
	}
	return &Result{}, s.Use(st.Word(1))
}
