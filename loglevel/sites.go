package loglevel

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
)

// source returns the package and the file of the code at pc.
func source(pc uintptr) (importPath, file string) {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return packageOf(frame.Function), frame.File
}

// packageOf returns the import path in a function's name as package runtime has it: up to the first
// dot after the last slash. In the last element of the path a dot is written as %2e, and so is,
// anywhere, what could not stand in a symbol.
func packageOf(function string) string {
	pkg, _ := funcname.Split(function)
	path, escaped, found := strings.Cut(pkg, "%")
	for found {
		code := escaped[:min(2, len(escaped))]
		if c, err := strconv.ParseUint(code, 16, 8); err == nil {
			path += string([]byte{byte(c)})
		}
		var plain string
		plain, escaped, found = strings.Cut(escaped[len(code):], "%")
		path += plain
	}
	return path
}

// mainPath is the import path of the main package, "main" if it is not known.
var mainPath = sync.OnceValue(func() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Path != "" {
		return info.Path
	}
	return "main"
})

// sites is a map from places in the program to levels, for many readers. It grows to as many as the
// program has, and forgets none. The zero value is empty.
//
// A reader takes no lock: slots are filled once, first the level and then the pc that publishes it,
// and a table that is full is replaced by one of twice its size.
type sites struct {
	table atomic.Pointer[[]site]
	lock  sync.Mutex // of writers
	n     int
}

type site struct {
	pc    atomic.Uintptr // 0 if the slot is free
	level atomic.Int64
}

func (s *sites) get(pc uintptr) (Level, bool) {
	table := s.table.Load()
	if table == nil {
		return 0, false
	}
	slot := find(*table, pc)
	known := slot.pc.Load() == pc // read before the level, which is there by then
	return Level(slot.level.Load()), known
}

// find returns the slot of pc, or the free one where it belongs. There is always one free.
func find(table []site, pc uintptr) *site {
	mask := uintptr(len(table) - 1)
	for i := uintptr(uint64(pc) * 0x9E3779B97F4A7C15 >> 32); ; i++ {
		slot := &table[i&mask]
		if at := slot.pc.Load(); at == pc || at == 0 {
			return slot
		}
	}
}

func (s *sites) put(pc uintptr, l Level) {
	s.lock.Lock()
	defer s.lock.Unlock()
	table := s.table.Load()
	if table == nil || 2*s.n >= len(*table) {
		table = s.grow(table)
	}
	if slot := find(*table, pc); slot.pc.Load() == 0 {
		slot.level.Store(int64(l))
		slot.pc.Store(pc)
		s.n++
	}
}

func (s *sites) grow(old *[]site) *[]site {
	size := 64
	if old != nil {
		size = 2 * len(*old)
	}
	table := make([]site, size)
	if old != nil {
		for i := range *old {
			from := &(*old)[i]
			if pc := from.pc.Load(); pc != 0 {
				to := find(table, pc)
				to.level.Store(from.level.Load())
				to.pc.Store(pc)
			}
		}
	}
	s.table.Store(&table)
	return &table
}
