package schema

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Limits of what a statement may use. SQLite enforces them. Functions of this package check them
// themselves, since SQLite sees a value only after it is made.
const (
	maxText    = 64 << 20  // bytes of a value: max_allowed_packet
	maxHeap    = 512 << 20 // bytes of SQLite's memory, for all sessions together
	maxTest    = 256 << 20 // bytes of the schema test, and of a session's temporary tables
	maxDepth   = 1000      // of nested parentheses and operators
	maxTokens  = 1 << 20   // of a statement
	maxPattern = 4 << 10   // bytes of a pattern of LIKE
	maxSpill   = 8 << 30   // bytes of SQLite's temporary files, for all sessions together
)

// ballast is memory that is never touched, and so takes none. Statements make megabytes of rows
// that are soon forgotten, while little stays. Without it the collector would run at each of them;
// with it, it runs when there is that much to collect.
var ballast = sync.OnceValue(func() []byte { return make([]byte, 32<<20) })

// limitEngine bounds SQLite's memory and its temporary files. SQLite counts its memory only if that
// is switched on before the first session.
var limitEngine = sync.OnceValue(func() error {
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.NewVaList(int32(1))
	defer libc.Xfree(tls, args)
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, args); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite does not count its memory: error %d", rc)
	}
	sqlite3.Xsqlite3_hard_heap_limit64(tls, maxHeap)
	return limitSpill(tls)
})

// engine is the SQLite of one session.
//
// The driver interrupts a statement only until its first row: a query that finds nine rows and then
// searches for the tenth for ever would run on. So an engine does the interrupting itself.
type engine struct {
	mu  sync.Mutex
	tls *libc.TLS
	db  uintptr // 0: it is closed
}

// engineSessions has the session of each SQLite.
var engineSessions sync.Map // of its handle and *Session

// newEngine returns the engine of a session, with the limits set.
func newEngine(s *Session, conn *sql.Conn) (*engine, error) {
	e := &engine{tls: libc.NewTLS()}
	err := conn.Raw(func(driver any) error {
		// The driver does not export its handle.
		v := reflect.ValueOf(driver)
		if v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
			if db := v.Elem().FieldByName("db"); db.IsValid() && db.Kind() == reflect.Uintptr {
				e.db = uintptr(db.Uint())
				return nil
			}
		}
		return errors.New("the SQLite driver can't be interrupted: its connection has no handle")
	})
	for limit, most := range map[int]int{
		sqlite3.SQLITE_LIMIT_LENGTH:              maxText,
		sqlite3.SQLITE_LIMIT_SQL_LENGTH:          maxText,
		sqlite3.SQLITE_LIMIT_EXPR_DEPTH:          maxDepth,
		sqlite3.SQLITE_LIMIT_COMPOUND_SELECT:     500,
		sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: maxPattern,
	} {
		if err == nil {
			_, err = sqlite.Limit(conn, limit, most)
		}
	}
	if err == nil {
		err = e.register()
	}
	if err != nil {
		e.close()
		return nil, err
	}
	engineSessions.Store(e.db, s)
	return e, nil
}

// interrupt ends the statement under way, if there is one. Any goroutine may call it.
func (e *engine) interrupt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.db != 0 {
		sqlite3.Xsqlite3_interrupt(e.tls, e.db)
	}
}

// inTransaction reports whether a transaction is open.
func (e *engine) inTransaction() bool {
	return e.db != 0 && sqlite3.Xsqlite3_get_autocommit(e.tls, e.db) == 0
}

// close is called before the connection is closed.
func (e *engine) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tls != nil {
		e.tls.Close()
	}
	engineSessions.Delete(e.db)
	e.tls, e.db = nil, 0
}
