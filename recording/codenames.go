package recording

import (
	"debug/elf"
	"debug/gosym"
	"os"
	"strings"
	"sync"
)

// codeNames finds the names of functions by the addresses of their code, in the program's executable, if that is still there and not newer than the recording.
type codeNames struct {
	once  sync.Once
	table *gosym.Table
}

// codeName returns the name of the function whose code begins at an address, as a trace shows it, or "".
func (r *Recording) codeName(address uint64) string {
	r.code.once.Do(func() { r.code.table = r.loadCodeNames() })
	if r.code.table == nil {
		return ""
	}
	f := r.code.table.PCToFunc(address)
	if f == nil {
		return ""
	}
	name := plainInstance(f.Name)
	directory, _, _ := strings.Cut(name, "[")
	return name[strings.LastIndexByte(directory, '/')+1:]
}

// plainInstance puts [...] in place of type arguments, as traces do.
func plainInstance(name string) string {
	name, types, generic := strings.Cut(name, "[")
	if generic {
		name += "[..." + types[max(0, strings.LastIndexByte(types, ']')):]
	}
	return name
}

// CodeName returns the full name of the function whose code an address is in, as stack traces have it, or "" if the executable is not there any more, or is
// position-independent.
func (r *Recording) CodeName(address uint64) string {
	r.code.once.Do(func() { r.code.table = r.loadCodeNames() })
	if r.code.table == nil {
		return ""
	}
	if f := r.code.table.PCToFunc(address); f != nil {
		return plainInstance(f.Name)
	}
	return ""
}

func (r *Recording) loadCodeNames() *gosym.Table {
	info, err := os.Stat(r.Env.Executable)
	if err != nil || r.Process.Start.IsZero() || info.ModTime().After(r.Process.Start) {
		return nil
	}
	f, err := elf.Open(r.Env.Executable)
	if err != nil {
		return nil
	}
	defer f.Close()
	if f.Type != elf.ET_EXEC {
		return nil // where it was loaded is not recorded
	}
	lines, text := f.Section(".gopclntab"), f.Section(".text")
	if lines == nil || text == nil {
		return nil
	}
	data, err := lines.Data()
	if err != nil {
		return nil
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil
	}
	return table
}

// code appends the name of a function value.
func (p *Printer) code(address uint64) {
	if p.quiet != 0 {
		return
	}
	if address == 0 {
		p.str("nil")
		return
	}
	if name := p.r.codeName(address); name != "" {
		p.str(name)
		return
	}
	p.hex(address)
}
