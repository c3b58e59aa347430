package schema

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
	"github.com/ftrace-wrap/ftrace-wrap/internal/sqltext"
)

// A Catalog is what sessions query: performance_schema, a schema for each recording, and test, in
// which users may make tables of their own. It may be used concurrently.
type Catalog struct {
	// Several means that performance_schema may have more than one process. Its tables then show
	// the column PROCESS, which is hidden otherwise.
	Several bool
	// Test is the file of the schema test. If it is "", the schema is kept in memory, for all
	// sessions of the catalog, until the catalog is closed.
	Test string
	// ReadOnly means that statements that would change anything outside their session are refused.
	ReadOnly bool
	// Timeout is how long a statement may take, unless its session changes max_statement_time; 0:
	// without limit.
	Timeout time.Duration
	// Accounts are who may use the catalog, and for what. nil: there are none, and all is allowed.
	Accounts *accounts.Accounts
	// Find is called before a statement takes snapshots. It may add and remove sources, and it may
	// be nil.
	Find func()

	mu        sync.Mutex
	globals   map[string]string // variables that differ from variableDefaults
	sources   []source.Source
	schemas   []*Schema
	keep      *sql.DB // keeps the schema test open
	once      sync.Once
	started   time.Time
	connected atomic.Int64
	questions atomic.Uint64
	numbers   atomic.Uint64
	number    uint64
	locks     userLocks
}

var catalogs atomic.Uint64

// Schema has the tables of some sources.
type Schema struct {
	name        string
	tables      map[string]*tables.Table
	sources     func() []source.Source
	several     bool
	information bool // it is information_schema, which belongs to no process
	recorded    bool // it is of one recording
}

// maxTest is how many bytes the schema test may have, and a session's temporary tables.
const maxTest = 256 << 20

// sysSchema is the schema of views of performance_schema, and of who waits for whom there. It is
// not there if SQLite has no room for it.
const sysSchema = "sys"

// maxSchemas is the number of schemas of recordings that there can be: SQLite attaches 10
// databases.
const maxSchemas = 7

// Add adds a source to performance_schema.
func (c *Catalog) Add(s source.Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sources = append(c.sources, s)
}

// Remove removes a source from performance_schema. It does not close it.
func (c *Catalog) Remove(s source.Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.sources, s); i >= 0 {
		c.sources = slices.Delete(c.sources, i, i+1)
	}
}

// Recorded reports whether there are schemas of recordings.
func (c *Catalog) Recorded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.schemas, func(s *Schema) bool { return s.recorded })
}

// Sources returns the sources of performance_schema.
func (c *Catalog) Sources() []source.Source {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sources)
}

// sourcesOf returns the sources of a schema. It looks for new ones first.
func (c *Catalog) sourcesOf(sc *Schema) []source.Source {
	if c.Find != nil && !sc.recorded {
		c.Find()
	}
	return sc.sources()
}

// AddSchema adds a schema for one source, before the first session. It makes the schema's name from
// name, and returns it.
func (c *Catalog) AddSchema(name string, s source.Source) (string, error) {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.schemas) >= maxSchemas {
		return "", fmt.Errorf("there can be %d recordings at once", maxSchemas)
	}
	taken := func(name string) bool {
		switch strings.ToLower(name) {
		case "performance_schema", "information_schema", sysSchema, "test", "main", "temp", "":
			return true
		}
		return slices.ContainsFunc(c.schemas, func(s *Schema) bool { return strings.EqualFold(s.name, name) })
	}
	unique := name
	for i := 2; taken(unique); i++ {
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	c.schemas = append(c.schemas, &Schema{name: unique, tables: tables.Performance, sources: func() []source.Source { return []source.Source{s} }, recorded: true})
	return unique, nil
}

// start makes what all sessions share.
func (c *Catalog) start() {
	c.once.Do(func() {
		c.started = time.Now()
		c.number = catalogs.Add(1)
		if c.Timeout > 0 {
			c.globals = map[string]string{"max_statement_time": strconv.FormatFloat(c.Timeout.Seconds(), 'f', -1, 64)}
		}
		own := []*Schema{
			{name: "performance_schema", tables: tables.Performance, sources: c.Sources, several: c.Several},
			{name: "information_schema", tables: informationTables, information: true},
		}
		if len(c.schemas) < maxSchemas {
			own = append(own, &Schema{name: sysSchema, tables: sysTables(), sources: c.Sources, several: c.Several})
		}
		c.schemas = append(own, c.schemas...)
	})
}

func (c *Catalog) schema(name string) *Schema {
	for _, s := range c.schemas {
		if strings.EqualFold(s.name, name) {
			return s
		}
	}
	return nil
}

// nameOf returns the name of a schema as it is. It is an error if there is no such schema.
func (c *Catalog) nameOf(written string) (string, error) {
	if sc := c.schema(written); sc != nil {
		return sc.name, nil
	}
	if strings.EqualFold(written, "test") {
		return "test", nil
	}
	return "", mysqlerr.New(mysqlerr.UnknownDB, "Unknown database '%s'", written)
}

// Statistics says in MySQL's words how a server with so many clients does.
func (c *Catalog) Statistics(clients int) string {
	up, questions := time.Since(c.started), c.questions.Load()
	return fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: 0  Opens: 0  Open tables: 0  Queries per second avg: %.3f",
		int64(up.Seconds()), clients, questions, float64(questions)/max(up.Seconds(), 1))
}

// testFile returns SQLite's name for the schema test.
func (c *Catalog) testFile() string {
	if c.Test != "" {
		return "file:" + (strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(c.Test))
	}
	return fmt.Sprintf("file:/ftrace-%d?vfs=memdb", c.number)
}

// Close closes all sources.
func (c *Catalog) Close() error {
	var errs []error
	for _, s := range c.Sources() {
		errs = append(errs, s.Close())
	}
	for _, sc := range c.schemas {
		if sc.recorded {
			for _, s := range sc.sources() {
				errs = append(errs, s.Close())
			}
		}
	}
	if c.keep != nil {
		errs = append(errs, c.keep.Close())
	}
	return errors.Join(errs...)
}

// A Session is one connection, with a default schema and variables. It is for one goroutine.
type Session struct {
	// FoundRows has UPDATE answer with the number of rows that it found, rather than with that of
	// rows it changed. A client that wants that says so when it logs in.
	FoundRows bool

	catalog   *Catalog
	who       atomic.Pointer[identity]
	doing     atomic.Pointer[activity]
	db        *sql.DB
	conn      *sql.Conn
	engine    *engine.Engine
	running   *running // the statement under way; nil: there is none
	number    string
	database  string
	variables map[string]string
	user      map[string]userVariable
	userBytes int
	statement statementState
	failed    error   // error of a table in this statement
	last      *Result // of the statement before; nil if it failed
	warned    diagnostics
	before    diagnostics // of the statement before
	awaits    *userLock   // the lock that it waits for, nil: none; under catalog.locks.mu
}

// statementState is the state of the statement under way.
type statementState struct {
	reads   live.Contents // what the tables are made of that it reads
	sources map[*Schema][]source.Source
	views   map[source.Source]*tables.View
	rows    map[tableKey]*rows
	pending map[*tables.View]*tables.Pending
	test    []testTable // the user's tables, for information_schema
	changed int64
	matched int64

	recursions map[int64]int64 // rows that each recursion went on from
}

func newStatement() statementState {
	return statementState{sources: map[*Schema][]source.Source{}, views: map[source.Source]*tables.View{}, rows: map[tableKey]*rows{}, pending: map[*tables.View]*tables.Pending{}, recursions: map[int64]int64{}}
}

type tableKey struct {
	schema *Schema
	table  *tables.Table
}

// Session opens a session.
func (c *Catalog) Session(ctx context.Context) (*Session, error) {
	c.start()
	if err := engine.Limit(); err != nil {
		return nil, err
	}
	if err := registerOnce(); err != nil {
		return nil, err
	}
	if err := functions.RegisterAggregates(); err != nil {
		return nil, err
	}
	s := &Session{catalog: c, number: fmt.Sprint(c.numbers.Add(1), "_", c.number), database: "performance_schema",
		variables: c.variables(), user: map[string]userVariable{}, statement: newStatement()}
	s.Identify(0, "ftrace@localhost", nil)
	s.setActivity("")
	var err error
	if s.db, err = sql.Open("sqlite", "file::memory:?_pragma=busy_timeout(5000)"); err != nil {
		return nil, err
	}
	s.db.SetMaxOpenConns(1)
	sessions.Store(s.number, s)
	if err := s.attach(ctx); err != nil {
		s.Close()
		return nil, s.asError(err)
	}
	c.connected.Add(1)
	return s, nil
}

// attach makes the schemas.
func (s *Session) attach(ctx context.Context) (err error) {
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return err
	}
	if s.engine, err = engine.New(s.conn, s, allFunctions()); err != nil {
		return err
	}
	run := func(format string, args ...any) {
		if err == nil {
			if _, err = s.conn.ExecContext(ctx, fmt.Sprintf(format, args...)); err != nil {
				err = fmt.Errorf("making the tables: "+format+": %w", append(args, err)...)
			}
		}
	}
	// CREATE VIRTUAL TABLE connects the table too, which takes its time. One that is written into
	// SQLite's schema is connected when a statement names it.
	run(`PRAGMA writable_schema = ON`)
	for _, sc := range s.catalog.schemas {
		run(`ATTACH ':memory:' AS %q`, sc.name)
		var rows []string
		for _, name := range slices.Sorted(maps.Keys(sc.tables)) {
			if sc.tables[name].Rows != nil {
				rows = append(rows, "('table', '"+name+"', '"+name+"', 0, 'CREATE VIRTUAL TABLE \""+name+"\" USING ftrace("+s.number+", \""+sc.name+"\", \""+name+"\")')")
			}
		}
		run(`INSERT INTO %q.sqlite_schema VALUES %s`, sc.name, strings.Join(rows, ", "))
	}
	run(`PRAGMA writable_schema = RESET`)
	run(`ATTACH '%s' AS test`, s.catalog.testFile())
	if s.catalog.Test == "" {
		run(`PRAGMA test.max_page_count = %d`, maxTest/4096)
	}
	run(`PRAGMA temp.max_page_count = %d`, maxTest/4096)
	if err == nil && s.catalog.Test == "" {
		s.catalog.mu.Lock()
		defer s.catalog.mu.Unlock()
		if s.catalog.keep == nil {
			// What is in memory lasts while somebody has it open.
			keep, err := sql.Open("sqlite", s.catalog.testFile())
			if err != nil {
				return err
			}
			keep.SetMaxOpenConns(1)
			if err := keep.PingContext(ctx); err != nil {
				return err
			}
			keep.SetConnMaxIdleTime(0)
			s.catalog.keep = keep
		}
	}
	return err
}

// activity is what a session is doing.
type activity struct {
	database  string
	statement string // "": it waits for one
	since     time.Time
}

// setActivity shows others what the session is doing from now on.
func (s *Session) setActivity(statement string) {
	if word := sqltext.Word(statement); word == "create" || word == "alter" {
		shown, _ := sqltext.WithoutPasswords([]byte(statement))
		statement = string(shown)
	}
	s.doing.Store(&activity{s.database, statement, time.Now()})
}

// identity is the user of a session.
type identity struct {
	id            uint32 // of the connection
	user, host    string
	cipher, proto string // of TLS, "": there is none
}

// Identify sets a session's connection, its user (user@host), and how it is encrypted; nil: it is
// not. It may be called while others read it.
func (s *Session) Identify(id uint32, who string, secure *tls.ConnectionState) {
	user, host, _ := strings.Cut(who, "@")
	w := &identity{id: id, user: user, host: host}
	if secure != nil {
		w.cipher, w.proto = tls.CipherSuiteName(secure.CipherSuite), strings.Replace(tls.VersionName(secure.Version), "TLS ", "TLSv", 1)
	}
	s.who.Store(w)
}

func (w *identity) String() string { return w.user + "@" + w.host }

// grantee returns the identity in the form of privileges.
func (w *identity) grantee() string { return fmt.Sprintf("'%s'@'%s'", w.user, w.host) }

// Close ends the session.
func (s *Session) Close() error {
	s.finish()
	s.releaseLocks()
	if _, ok := sessions.LoadAndDelete(s.number); ok && s.conn != nil {
		s.catalog.connected.Add(-1)
		if s.engine != nil {
			s.engine.Close()
		}
		s.conn.Close()
	}
	return s.db.Close()
}

// InTransaction reports whether the session has begun a transaction, of the schema test.
func (s *Session) InTransaction() bool { return s.engine.InTransaction() }

// Database returns the default schema.
func (s *Session) Database() string { return s.database }

// Use changes the default schema.
func (s *Session) Use(name string) error {
	known, err := s.catalog.nameOf(name)
	switch {
	case err != nil:
		return err
	case !s.account().Sees(known, ""):
		return s.schemaDenied(name)
	}
	s.database = known
	s.setActivity("")
	return nil
}

// fail keeps an error of a table, since SQLite would keep only its text.
func (s *Session) fail(err error) error {
	if s.failed == nil {
		s.failed = err
	}
	return err
}

func (s *Session) denied(command, table string) *mysqlerr.Error {
	who := s.who.Load()
	return mysqlerr.New(mysqlerr.Denied, "%s command denied to user '%s'@'%s' for table '%s'", command, who.user, who.host, table)
}

// views returns the snapshots of a schema's sources. They stay the same during a statement, unless
// it is several of SQLite's, of which a later one reads what the others did not.
func (s *Session) views(sc *Schema) ([]*tables.View, error) {
	st := &s.statement
	if sc.information {
		return []*tables.View{{Snapshot: &source.Snapshot{}, Statement: underWay{s}}}, nil
	}
	sources, ok := st.sources[sc]
	if !ok {
		sources = s.catalog.sourcesOf(sc)
		st.sources[sc] = sources
	}
	views := []*tables.View{}
	for _, process := range sources {
		v := st.views[process]
		if v == nil || st.reads&^v.Has != 0 {
			snap, err := process.Snapshot(st.reads)
			if errors.Is(err, source.ErrGone) && sc.several {
				continue
			}
			if err != nil {
				return nil, sourceError(process, err)
			}
			if v == nil {
				v = &tables.View{Source: process, Statement: underWay{s}}
			}
			v.Snapshot, v.Has = snap, st.reads
			st.views[process] = v
		}
		views = append(views, v)
	}
	return views, nil
}

// rowsOf returns the rows of a table. They stay the same during a statement.
func (s *Session) rowsOf(sc *Schema, t *tables.Table) (*rows, error) {
	key := tableKey{sc, t}
	if r := s.statement.rows[key]; r != nil {
		return r, nil
	}
	views, err := s.views(sc)
	if err != nil {
		return nil, err
	}
	r := &rows{}
	if !sc.information {
		r.hidden = 1
	}
	for _, v := range views {
		set := t.Rows(v)
		if s.failed != nil {
			return nil, s.failed
		}
		r.parts = append(r.parts, rowsPart{v, r.n, set})
		r.n += set.Len()
	}
	s.statement.rows[key] = r
	return r, nil
}

func (s *Session) pendingOf(v *tables.View) *tables.Pending {
	if p := s.statement.pending[v]; p != nil {
		return p
	}
	p := tables.NewPending(v)
	s.statement.pending[v] = p
	return p
}

// Version is the version that clients see.
const Version = serverVersion

// Reset returns the session to its initial state.
func (s *Session) Reset() {
	s.finish()
	s.releaseLocks()
	s.conn.ExecContext(context.Background(), "ROLLBACK")
	s.database = "performance_schema"
	s.warned = diagnostics{}
	s.variables, s.user, s.userBytes = s.catalog.variables(), map[string]userVariable{}, 0
	s.setActivity("")
}
