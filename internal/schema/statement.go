package schema

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// Query runs a statement, with values for its ?s. The result must be read and closed before the
// next statement is run. Errors are *Errors.
func (s *Session) Query(ctx context.Context, text string, args []any) (*Result, error) {
	s.statement, s.failed = statementState{}, nil
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
		r, err = nil, s.asError(err)
	}
	s.over()
	return r, err
}

// over ends the statement that was run.
func (s *Session) over() {
	s.finish()
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
	}
}

func (s *Session) query(ctx context.Context, text string, args []any) (*Result, error) {
	list, err := tokens(text)
	if err != nil {
		return nil, err
	}
	for len(list) > 0 && list[len(list)-1].is(";") {
		list = list[:len(list)-1]
	}
	if len(list) == 0 {
		if strings.TrimSpace(text) != "" {
			return &Result{}, nil // a comment
		}
		return nil, NewError(1065, "Query was empty")
	}
	for i := range list {
		if list[i].is(";") {
			return nil, syntaxError(text[list[i].start:])
		}
	}
	nested, around := nestingOf(list), 0
	if nested.deep > maxDepth {
		return nil, tooDeep()
	}
	for n := len(list); n-2*around > 2 && list[around].is("(") && (list[around+1].is("SELECT") || list[around+1].is("WITH") || list[around+1].is("(")) && int(nested.other[around]) == n-1-around; {
		around++
	}
	list = list[around : len(list)-around]
	return s.dispatch(ctx, &stmt{text, list, args})
}

// dispatch runs a statement, within its time limit.
func (s *Session) dispatch(ctx context.Context, st *stmt) (*Result, error) {
	s.running.limit(s.timeOf(st))
	first := strings.ToUpper(st.at(0).text)
	h := handlers[first]
	switch {
	case h != nil && st.at(0).kind != name && st.at(0).kind != str:
		return h(s, ctx, st)
	case first == "GRANT" || first == "REVOKE" || first == "CALL" || first == "PREPARE" || first == "EXECUTE" || first == "DEALLOCATE" || first == "LOAD" || first == "KILL" || first == "HANDLER" || first == "ANALYZE" ||
		first == "CHECK" || first == "OPTIMIZE" || first == "REPAIR" || first == "CHECKSUM" || first == "HELP" || first == "INSTALL":
		return nil, NewError(erUnsupported, "This version of ftrace doesn't yet support '%s'", first)
	}
	return nil, syntaxError(st.rest(0))
}

// selectRows runs a statement that reads.
func (s *Session) selectRows(ctx context.Context, st *stmt) (*Result, error) {
	if st.at(0).is("WITH") {
		for i := range st.tokens {
			switch {
			case !st.at(i - 1).is(")"):
			case st.at(i).is("UPDATE"), st.at(i).is("INSERT"), st.at(i).is("DELETE"), st.at(i).is("REPLACE"):
				return nil, NewError(erUnsupported, "This version of ftrace doesn't yet support 'WITH ... %s'", strings.ToUpper(st.at(i).text))
			}
		}
	}
	list, columns := st.assigned()
	q, names, err := s.rewrite(st.text, list)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(s.database, "information_schema") || strings.Contains(strings.ToLower(q), "information_schema") {
		if err := s.readTest(ctx); err != nil {
			return nil, err
		}
	}
	found, err := s.found(ctx, st)
	if err != nil {
		return nil, err
	}
	r, err := s.read(ctx, q, names, st.args)
	if err != nil {
		return nil, err
	}
	r.found = found
	r.assign(columns)
	return r, nil
}

// found counts the rows that SELECT SQL_CALC_FOUND_ROWS ... LIMIT would have without the limit; 0
// for other statements.
func (s *Session) found(ctx context.Context, st *stmt) (n int64, err error) {
	counts := false
	for i, t := range st.outer(0) {
		switch {
		case t.is("SQL_CALC_FOUND_ROWS"):
			counts = true
		case counts && t.is("LIMIT"):
			q, _, err := s.rewrite(st.text, st.tokens[:i])
			if err != nil {
				return 0, err
			}
			params := 0
			for _, t := range st.tokens[:i] {
				if t.kind == param {
					params++
				}
			}
			err = s.conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM ("+q+")", st.args[:min(params, len(st.args))]...).Scan(&n)
			return n, err
		}
	}
	return 0, nil
}

// read runs one of SQLite's queries.
func (s *Session) read(ctx context.Context, q string, names map[string]string, args []any) (*Result, error) {
	rows, err := s.conn.QueryContext(ctx, q, args...)
	if err != nil {
		return nil, err
	}
	return s.result(rows, names)
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
	if s.statement.rows == nil && s.statement.pending == nil {
		return &Result{Affected: n}, nil
	}
	for v, p := range s.statement.pending {
		if err := p.apply(); errors.Is(err, ErrReadOnly) {
			return nil, NewError(erReadOnly, "Table is read only: process %s is a recording, or can't do that", v.source.Name())
		} else if err != nil {
			return nil, sourceError(v.source, err)
		}
	}
	r := &Result{Affected: s.statement.changed}
	if m := s.statement.matched; m > 0 {
		r.Info = fmt.Sprintf("Rows matched: %d  Changed: %d  Warnings: 0", m, s.statement.changed)
	} else if s.statement.pending == nil {
		r.Affected = n
	}
	return r, nil
}

// A target is the table that a statement changes.
type target struct {
	schema string
	name   string
	table  *table // nil: it is not one of ours
	ours   bool   // it is in a schema that the user may not change
	next   int    // the token after it
}

// target reads the name of a table at a token.
func (s *Session) target(st *stmt, i int) (target, error) {
	if !st.at(i).identifier() {
		return target{}, syntaxError(st.rest(i))
	}
	t := target{schema: s.database, name: st.at(i).text, next: i + 1}
	if st.at(i+1).is(".") && st.at(i+2).identifier() {
		t.schema, t.name, t.next = st.at(i).text, st.at(i+2).text, i+3
	}
	if sc := s.catalog.schema(t.schema); sc != nil {
		t.ours, t.schema = true, sc.name
		t.table = sc.tables[strings.ToLower(t.name)]
	} else if !strings.EqualFold(t.schema, "test") {
		return t, NewError(erUnknownDB, "Unknown database '%s'", t.schema)
	}
	return t, nil
}

func (t *target) missing() error {
	return NewError(erNoSuchTable, "Table '%s.%s' doesn't exist", t.schema, t.name)
}

// write is UPDATE, INSERT, REPLACE and DELETE.
func (s *Session) write(ctx context.Context, st *stmt) (*Result, error) {
	command := strings.ToUpper(st.at(0).text)
	i := 1
	for st.at(i).is("INTO") || st.at(i).is("FROM") || st.at(i).is("IGNORE") || st.at(i).is("LOW_PRIORITY") {
		i++
	}
	if set := st.several(i); command == "UPDATE" && set > 0 {
		return s.updateJoined(ctx, st, i, set)
	}
	t, err := s.target(st, i)
	if err != nil {
		return nil, err
	}
	switch {
	case command == "UPDATE":
		set := t.next
		for set < len(st.tokens) && !st.at(set).is("SET") {
			set++
		}
		list, _, err := st.assignments(set)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			if err := s.mayUpdate(&t, a.column); err != nil {
				return nil, err
			}
		}
	case !t.ours:
	case t.table == nil:
		return nil, t.missing()
	case command == "REPLACE":
		return nil, s.denied("INSERT", t.name)
	case t.table.rules == nil:
		return nil, s.denied(command, t.name)
	}
	q, err := s.limited(st, &t)
	if err != nil {
		return nil, err
	}
	if t.ours && command == "INSERT" && !st.at(t.next).is("(") && t.next < len(st.tokens) {
		// Without a list of columns, all of them except the process.
		rest, _, err := s.rewrite(st.text, st.tokens[t.next:])
		if err != nil {
			return nil, err
		}
		q = "INSERT INTO " + quoteName(t.schema) + "." + quoteName(t.name) + " (" + strings.Join(t.table.columnNames(), ", ") + ") " + rest
	}
	return s.exec(ctx, q, st.args...)
}

// limited rewrites a statement that changes rows. SQLite has no LIMIT for UPDATE and DELETE, so
// WHERE ... LIMIT n becomes a subquery for those rows.
func (s *Session) limited(st *stmt, t *target) (string, error) {
	where, limit := 0, 0
	for i, t := range st.outer(0) {
		if t.is("LIMIT") {
			limit = i
		}
		if where == 0 && (t.is("WHERE") || t.is("ORDER") || t.is("LIMIT")) {
			where = i
		}
	}
	if limit == 0 || st.at(0).is("INSERT") || st.at(0).is("REPLACE") {
		q, _, err := s.rewrite(st.text, st.tokens)
		return q, err
	}
	head, _, err := s.rewrite(st.text, st.tokens[:where])
	if err != nil {
		return "", err
	}
	rows, _, err := s.rewrite(st.text, st.tokens[where:])
	if err != nil {
		return "", err
	}
	from := quoteName(t.schema) + "." + quoteName(t.name)
	alias := st.at(t.next)
	if alias.is("AS") {
		alias = st.at(t.next + 1)
	}
	if st.at(0).is("UPDATE") && alias.identifier() && !alias.is("SET") {
		from += " AS " + quoteName(alias.text)
	}
	return head + " WHERE rowid IN (SELECT rowid FROM " + from + " " + rows + ")", nil
}

// mayUpdate returns what is wrong with an UPDATE of a table's column whatever the rows are: that
// one or the other can't be changed.
func (s *Session) mayUpdate(t *target, name string) error {
	switch {
	case !t.ours:
		return nil
	case t.table == nil:
		return t.missing()
	case t.table.update == nil:
		return s.denied("UPDATE", t.name)
	}
	column := t.table.column(name)
	if column < 0 && !strings.EqualFold(name, processColumn) {
		return NewError(erUnknownColumn, "Unknown column '%s' in 'field list'", name)
	}
	if column < 0 || !t.table.columns[column].updatable {
		return NewError(erUsage, "Invalid performance_schema usage.")
	}
	return nil
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
	case !t.ours:
		return s.exec(ctx, "DELETE FROM test."+quoteName(t.name))
	case t.table == nil:
		return nil, t.missing()
	case t.table.parts == nil && t.table.rules == nil:
		return nil, s.denied("DROP", t.name)
	}
	sources := s.catalog.sourcesOf(s.catalog.schema(t.schema))
	for _, source := range sources {
		var err error
		if t.table.rules != nil {
			err = source.SetRules(*t.table.rules, nil)
		}
		for _, part := range t.table.parts {
			err = errors.Join(err, source.Truncate(part))
		}
		if errors.Is(err, ErrReadOnly) {
			return nil, NewError(erReadOnly, "Table '%s' is read only: process %s is a recording, or can't do that", t.name, source.Name())
		}
		if err != nil && !(errors.Is(err, ErrGone) && len(sources) > 1) {
			return nil, sourceError(source, err)
		}
	}
	return &Result{}, nil
}

// define is CREATE, DROP, ALTER and RENAME, for tables and views in test.
func (s *Session) define(ctx context.Context, st *stmt) (*Result, error) {
	command := strings.ToUpper(st.at(0).text)
	i := 1
	for st.at(i).is("OR") || st.at(i).is("REPLACE") || st.at(i).is("TEMPORARY") || st.at(i).is("UNIQUE") {
		i++
	}
	what := strings.ToUpper(st.at(i).text)
	i++
	for st.at(i).is("IF") || st.at(i).is("NOT") || st.at(i).is("EXISTS") {
		i++
	}
	switch what {
	case "DATABASE", "SCHEMA":
		name := st.at(i).text
		if s.catalog.schema(name) != nil || strings.EqualFold(name, "test") {
			if command == "CREATE" {
				return nil, NewError(erDBExists, "Can't create database '%s'; database exists", name)
			}
		}
		who := s.who.Load()
		return nil, NewError(erDBDenied, "Access denied for user '%s'@'%s' to database '%s'", who.user, who.host, name)
	case "TABLE", "VIEW", "INDEX":
	default:
		return nil, NewError(erUnsupported, "This version of ftrace doesn't yet support '%s %s'", command, what)
	}
	index := i
	if what == "INDEX" {
		for i < len(st.tokens) && !st.at(i).is("ON") {
			i++
		}
		if i++; command == "DROP" {
			command = "INDEX"
		}
	}
	t, err := s.target(st, i)
	if err != nil {
		return nil, err
	}
	if t.ours {
		if what == "INDEX" {
			command = "INDEX"
		}
		return nil, s.denied(command, t.name)
	}
	if what == "INDEX" {
		if command != "CREATE" {
			return s.exec(ctx, "DROP INDEX test."+quoteName(st.at(index).text))
		}
		return s.exec(ctx, "CREATE INDEX test."+quoteName(st.at(index).text)+" ON "+quoteName(t.name)+" "+st.rest(t.next))
	}
	q, _, err := s.rewrite(st.text, st.tokens)
	if err != nil {
		return nil, err
	}
	if command == "CREATE" && what == "TABLE" && !st.at(t.next).is("(") && !st.at(t.next).is("AS") && st.at(t.next).is("SELECT") {
		// MySQL allows AS to be left out.
		q = strings.Replace(q, " "+st.at(t.next).text+" ", " AS SELECT ", 1)
	}
	r, err := s.exec(ctx, q, st.args...)
	if err == nil && command == "CREATE" && what == "TABLE" {
		s.index(ctx, t.name)
	}
	return r, err
}

// index makes an index by NAME or EVENT_NAME of one of the user's tables. Saved settings are
// restored through it, one row of the setup table after the other.
func (s *Session) index(ctx context.Context, table string) {
	for _, column := range []string{"NAME", "EVENT_NAME"} {
		var n int
		if s.conn.QueryRowContext(ctx, "SELECT count(*) FROM test.pragma_table_info(?) WHERE name = ?", table, column).Scan(&n); n == 0 {
			continue
		}
		// Names are compared without regard to case.
		s.conn.ExecContext(ctx, "CREATE INDEX IF NOT EXISTS test."+quoteName("by_"+column+"_of_"+table)+" ON "+quoteName(table)+" ("+column+" COLLATE NOCASE)")
	}
}

// transaction handles transactions for test; the other tables have none.
func (s *Session) transaction(ctx context.Context, st *stmt) (*Result, error) {
	q := st.text
	switch strings.ToUpper(st.at(0).text) {
	case "START", "BEGIN":
		q = "BEGIN"
		s.conn.ExecContext(ctx, "COMMIT") // as MySQL does
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
	_, err := s.evaluate(ctx, st, 1, len(st.tokens))
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

// Params returns the number of ?s in a statement.
func Params(text string) (int, error) {
	list, err := tokens(text)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range list {
		if list[i].kind == param {
			n++
		}
	}
	return n, nil
}
