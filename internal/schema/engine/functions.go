package engine

import (
	"database/sql/driver"
	"errors"
	"runtime"
	"slices"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A Function is one that SQLite calls. It takes so many arguments, -1: any number. If one of a
// fixed number is NULL it is not called, and is NULL. It keeps none of the arguments, since texts
// are SQLite's own. The caller is the one that the engine was made for. An error that it returns is
// that of the statement.
type Function struct {
	Name string
	Args int32
	Call func(caller any, args []driver.Value) driver.Value
}

// register gives the connection the functions. The driver would not tell them who calls, and would
// cut their texts at zero bytes.
func (e *Engine) register() error {
	for i, f := range e.functions {
		name, err := libc.CString(f.Name)
		if err != nil {
			return err
		}
		rc := sqlite3.Xsqlite3_create_function(e.tls, e.db, name, f.Args, sqlite3.SQLITE_UTF8, uintptr(i), cFunction(callFunction), 0, 0)
		libc.Xfree(e.tls, name)
		if rc != sqlite3.SQLITE_OK {
			return errors.New("SQLite takes no function " + f.Name)
		}
	}
	return nil
}

// callFunction is called by SQLite for such a function.
func callFunction(tls *libc.TLS, ctx uintptr, n int32, args uintptr) {
	a := make([]driver.Value, n)
	for i := range a {
		v := *at[uintptr](args + uintptr(i)*unsafe.Sizeof(args))
		switch sqlite3.Xsqlite3_value_type(tls, v) {
		case sqlite3.SQLITE_NULL:
		case sqlite3.SQLITE_INTEGER:
			a[i] = sqlite3.Xsqlite3_value_int64(tls, v)
		case sqlite3.SQLITE_FLOAT:
			a[i] = sqlite3.Xsqlite3_value_double(tls, v)
		default:
			text := sqlite3.Xsqlite3_value_text(tls, v)
			a[i] = unsafe.String(at[byte](text), sqlite3.Xsqlite3_value_bytes(tls, v))
		}
	}
	of, known := engines.Load(sqlite3.Xsqlite3_context_db_handle(tls, ctx))
	if !known {
		return // NULL
	}
	e := of.(*Engine)
	f := &e.functions[sqlite3.Xsqlite3_user_data(tls, ctx)]
	if f.Args > 0 && slices.Contains(a, nil) {
		return
	}
	result := f.Call(e.caller, a)
	defer runtime.KeepAlive(result)
	switch v := result.(type) {
	case int64:
		sqlite3.Xsqlite3_result_int64(tls, ctx, v)
	case float64:
		sqlite3.Xsqlite3_result_double(tls, ctx, v)
	case string:
		sqlite3.Xsqlite3_result_text(tls, ctx, textAt(v), int32(len(v)), ^uintptr(0)) // SQLite copies it
	case error:
		text := v.Error()
		sqlite3.Xsqlite3_result_error(tls, ctx, textAt(text), int32(len(text)))
		runtime.KeepAlive(text)
	}
}

// textAt returns the address of a text that is not empty, and of one byte if it is.
func textAt(s string) uintptr {
	if s == "" {
		s = "\x00"
	}
	return uintptr(unsafe.Pointer(unsafe.StringData(s)))
}
