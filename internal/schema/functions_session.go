package schema

import (
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A sessionFunction is a function that is called for the session whose statement it is.
type sessionFunction struct {
	name string
	args int32
	call func(s *Session, a []value) value
}

var sessionFunctions = []sessionFunction{
	{"sleep", 1, sleep},
	{"recursion", 2, recursion},
	{"number", 1, numberOf},
	{"number_once", 1, numberOnce},
	{"signed", 1, func(s *Session, a []value) value {
		text, ok := a[0].(string)
		if !ok {
			return signed(a)
		}
		whole := wholeNumber.FindString(text)
		if whole == "" || strings.TrimRight(text[len(whole):], " ") != "" {
			s.cut("INTEGER", text)
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(whole), 10, 64); err == nil {
			return n
		}
		return signed([]value{asNumber(whole)})
	}},
	{"time_shift", 4, shiftedTime},
	{"shift_of_time", 4, func(s *Session, a []value) value {
		return shiftedTime(s, []value{a[3], a[0], a[1], a[2]})
	}},
	{"like", 2, likeFunction(lowered, -1)},
	{"like", 3, likeFunction(lowered, -1)},
	{"like_exact", 2, likeFunction(asIs, '\\')},
	{"like_exact", 3, likeFunction(asIs, -1)},
	{"regexp", 2, func(s *Session, a []value) value { return regexpLike(s, []value{a[1], a[0]}) }},
	{"regexp_like", -1, regexpLike},
	{"regexp_substr", 2, regexpSubstr},
	{"regexp_instr", 2, regexpInstr},
	{"regexp_replace", 3, regexpReplace},
	{"regexp_substr_exact", 2, withCase(regexpSubstr)},
	{"regexp_instr_exact", 2, withCase(regexpInstr)},
	{"regexp_replace_exact", 3, withCase(regexpReplace)},
}

// allFunctions are those that SQLite gets.
var allFunctions = sync.OnceValue(func() []sessionFunction {
	list := slices.Concat(sessionFunctions, lockFunctions)
	for _, some := range []map[string]function{functions, textFunctions, foreign, timeFunctions, writtenTimes, jsonFunctions} {
		for name, f := range some {
			list = append(list, sessionFunction{name, f.args, func(_ *Session, a []value) value { return f.call(a) }})
		}
	}
	return list
})

// register gives the connection the functions. The driver would not tell them who calls, and would
// cut their texts at zero bytes.
func (e *engine) register() error {
	for i, f := range allFunctions() {
		name, err := libc.CString(f.name)
		if err != nil {
			return err
		}
		rc := sqlite3.Xsqlite3_create_function(e.tls, e.db, name, f.args, sqlite3.SQLITE_UTF8, uintptr(i), cFunction(sessionCalled), 0, 0)
		libc.Xfree(e.tls, name)
		if rc != sqlite3.SQLITE_OK {
			return errors.New("SQLite takes no function " + f.name)
		}
	}
	return nil
}

// sessionCalled is called by SQLite for such a function.
func sessionCalled(tls *libc.TLS, ctx uintptr, n int32, args uintptr) {
	a := make([]value, n)
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
	f := &allFunctions()[sqlite3.Xsqlite3_user_data(tls, ctx)]
	s, known := engineSessions.Load(sqlite3.Xsqlite3_context_db_handle(tls, ctx))
	if !known || f.args > 0 && slices.Contains(a, nil) {
		return // NULL
	}
	result := f.call(s.(*Session), a)
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
