//go:build linux

package live

import (
	"debug/elf"
	"debug/gosym"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// symbols are the names of a process's code. They are read when the first is needed.
type symbols struct {
	once  sync.Once
	table *gosym.Table
	moved uint64 // how far the code is from where the executable says
}

// FunctionAt returns the full name of the function whose code includes an address, as stack traces
// have it, or "" if that is not known.
func (p *Process) FunctionAt(address uint64) string {
	defer func() { recover() }() // the executable may have any table, which debug/gosym does not expect
	s := &p.symbols
	s.once.Do(func() { s.load(p.PID) })
	if s.table == nil {
		return ""
	}
	f := s.table.PCToFunc(address - s.moved)
	if f == nil {
		return ""
	}
	name, types, generic := strings.Cut(f.Name, "[")
	if generic {
		name += "[..." + types[max(0, strings.LastIndexByte(types, ']')):]
	}
	return escape.String(name)
}

// load reads the table of lines of the process's executable, which can be read as long as the
// process runs.
func (s *symbols) load(pid int) {
	name := fmt.Sprintf("/proc/%d/exe", pid)
	f, err := elf.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	lines, text := f.Section(".gopclntab"), f.Section(".text")
	if lines == nil || text == nil {
		return
	}
	if f.Type == elf.ET_DYN {
		begin, ok := firstMapping(pid, name)
		if !ok {
			return
		}
		s.moved = begin // position-independent executables begin at 0
	}
	data, err := lines.Data()
	if err != nil {
		return
	}
	if table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr)); err == nil {
		s.table = table
	}
}

// firstMapping returns where the first part of the executable is in memory.
func firstMapping(pid int, exe string) (begin uint64, ok bool) {
	path, err := os.Readlink(exe)
	if err != nil {
		return 0, false
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(maps)) {
		if fields := strings.Fields(line); len(fields) >= 6 && strings.HasSuffix(strings.TrimSpace(line), path) && strings.Trim(fields[2], "0") == "" {
			from, _, _ := strings.Cut(fields[0], "-")
			begin, err := strconv.ParseUint(from, 16, 64)
			return begin, err == nil
		}
	}
	return 0, false
}
