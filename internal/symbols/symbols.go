// Package symbols names addresses in a program: functions and package variables.
//
// In come an executable in ELF, PE or Mach-O, and where its process has it in memory. Out come
// names as stack traces have them. Packages live and schema call it, recording for [Plain]; views
// may. It reads the executable when the first name of a kind is needed, and knows no name if it
// can't: the executable may be gone, stripped, or one of C that has loaded a library of Go.
package symbols

import (
	"cmp"
	"debug/gosym"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// A Table has the names of a program.
type Table struct {
	executable string
	code       uint64 // where its Go code is in memory, 0: where the executable says

	functions lazy[*gosym.Table]
	variables lazy[[]variable] // by address
	types     lazy[types]
}

// lazy is a table that is read when it is first needed, and how far the program is from where the
// executable says. The table of functions has them where they are.
type lazy[T any] struct {
	once  sync.Once
	table T
	moved uint64
}

type variable struct {
	at, size uint64
	name     string
}

// OfProcess returns the names of a running process of this system, which has its Go code at that
// address.
func OfProcess(pid int, code uint64) *Table {
	return &Table{executable: executableOf(pid), code: code}
}

// OfExecutable returns the names of a process that ran an executable, and was started then. It
// knows none if the executable has changed since, or is position-independent: where it was in
// memory is not known.
func OfExecutable(path string, started time.Time) *Table {
	if info, err := os.Stat(path); err != nil || info.ModTime().After(started) {
		return &Table{}
	}
	return &Table{executable: path}
}

// Function returns the full name of the function whose code includes an address, or "".
func (t *Table) Function(address uint64) string {
	defer func() { recover() }() // the executable may have any table, which debug/gosym does not expect
	l := &t.functions
	l.once.Do(func() { t.read(func(f *executable) { l.table = f.functions(cmp.Or(t.code, f.text)) }) })
	if l.table == nil {
		return ""
	}
	f := l.table.PCToFunc(address)
	if f == nil {
		return ""
	}
	name, types, generic := strings.Cut(Plain(f.Name), "[")
	if generic {
		name += "[..." + types[max(0, strings.LastIndexByte(types, ']')):]
	}
	return escape.String(name)
}

// Variable returns the full name of the package variable that an address is in, with the distance
// from its beginning: main.mu, main.server+8. It returns "" if it is in none.
func (t *Table) Variable(address uint64) string {
	v, within := t.variable(address)
	if within > 0 {
		return v.name + "+" + strconv.FormatUint(within, 10)
	}
	return v.name
}

// variable returns the package variable that an address is in, and where in it. Its name is "" if
// there is none.
func (t *Table) variable(address uint64) (v variable, within uint64) {
	l := &t.variables
	l.once.Do(func() { l.moved = t.read(func(f *executable) { l.table = f.variables() }) })
	address -= l.moved
	i, found := slices.BinarySearchFunc(l.table, address, func(v variable, at uint64) int { return cmp.Compare(v.at, at) })
	if !found {
		i--
	}
	if i < 0 || address-l.table[i].at >= l.table[i].size {
		return variable{}, 0
	}
	return l.table[i], address - l.table[i].at
}

// Plain returns a symbol's name without the escapes of the compiler, which stand for dots and the
// like in the last part of an import path.
func Plain(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		return plain
	}
	return name
}

// read has a table read from the executable. It returns how far the program is from where the
// executable says.
func (t *Table) read(table func(*executable)) (moved uint64) {
	f, err := openExecutable(t.executable)
	if err != nil {
		return 0
	}
	defer f.close()
	switch {
	case f.text == 0 || t.code == 0 && f.moves:
		return 0
	case t.code != 0:
		moved = t.code - f.text
	}
	table(f)
	return moved
}
