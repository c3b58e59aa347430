package engine

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

// Limits of what a statement may use. SQLite enforces them. Functions check them themselves, since
// SQLite sees a value only after it is made.
const (
	MaxText    = 64 << 20  // bytes of a value: max_allowed_packet
	MaxHeap    = 512 << 20 // bytes of SQLite's memory, for all sessions together
	MaxDepth   = 1000      // of nested parentheses and operators
	MaxPattern = 4 << 10   // bytes of a pattern of LIKE
	maxSpill   = 8 << 30   // bytes of SQLite's temporary files, for all sessions together
)

// ballast is memory that is never touched, and so takes none. Statements make megabytes of rows
// that are soon forgotten, while little stays. Without it the collector would run at each of them;
// with it, it runs when there is that much to collect.
var ballast = sync.OnceValue(func() []byte { return make([]byte, 32<<20) })

// Limit bounds SQLite's memory and its temporary files. SQLite counts its memory only if that
// is switched on before the first connection.
func Limit() error { return limited() }

var limited = sync.OnceValue(func() error {
	ballast()
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.NewVaList(int32(1))
	defer libc.Xfree(tls, args)
	if rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MEMSTATUS, args); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("SQLite does not count its memory: error %d", rc)
	}
	sqlite3.Xsqlite3_hard_heap_limit64(tls, MaxHeap)
	return limitSpill(tls)
})

// An Engine is the SQLite of one connection.
//
// The driver interrupts a statement only until its first row: a query that finds nine rows and then
// searches for the tenth for ever would run on. So an Engine does the interrupting itself.
type Engine struct {
	mu  sync.Mutex
	tls *libc.TLS
	db  uintptr // 0: it is closed

	caller    any
	functions []Function
}

// engines has the engine of each SQLite, by its handle.
var engines sync.Map

// New returns the engine of a connection, with the limits set, and with functions for a caller.
func New(conn *sql.Conn, caller any, functions []Function) (*Engine, error) {
	e := &Engine{tls: libc.NewTLS(), caller: caller, functions: functions}
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
		sqlite3.SQLITE_LIMIT_LENGTH:              MaxText,
		sqlite3.SQLITE_LIMIT_SQL_LENGTH:          MaxText,
		sqlite3.SQLITE_LIMIT_EXPR_DEPTH:          MaxDepth,
		sqlite3.SQLITE_LIMIT_COMPOUND_SELECT:     500,
		sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: MaxPattern,
	} {
		if err == nil {
			_, err = sqlite.Limit(conn, limit, most)
		}
	}
	if err == nil {
		err = e.register()
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	engines.Store(e.db, e)
	return e, nil
}

// Interrupt ends the statement under way, if there is one. Any goroutine may call it.
func (e *Engine) Interrupt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.db != 0 {
		sqlite3.Xsqlite3_interrupt(e.tls, e.db)
	}
}

// InTransaction reports whether a transaction is open.
func (e *Engine) InTransaction() bool {
	return e.db != 0 && sqlite3.Xsqlite3_get_autocommit(e.tls, e.db) == 0
}

// Close is called before the connection is closed.
func (e *Engine) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tls != nil {
		e.tls.Close()
	}
	engines.Delete(e.db)
	e.tls, e.db = nil, 0
}
