package symbols

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"debug/gosym"
	"debug/macho"
	"debug/pe"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// An executable is a file in ELF, PE or Mach-O.
type executable struct {
	moves   bool                               // it may be elsewhere in memory
	text    uint64                             // the address of the Go code, before which there may be code of C; 0: there is none
	pclntab func() ([]byte, error)             // the table of functions
	symbols func() []variable                  // those that are data which can be written to, perhaps without sizes
	dwarf   func() (*dwarf.Data, error)        // the debugging information
	data    func() (at uint64, content []byte) // of package variables that are not zero at first
	written []extent                           // the parts that can be written to
	close   func() error
}

// An extent is a part of the memory.
type extent struct{ at, size uint64 }

// codeSymbol is where Go code begins.
const codeSymbol = "runtime.text"

var errTable = errors.New("it has no table of functions")

func openExecutable(path string) (*executable, error) {
	if f, err := elf.Open(path); err == nil {
		return ofELF(f), nil
	}
	if f, err := macho.Open(path); err == nil {
		return ofMachO(f), nil
	}
	f, err := pe.Open(path)
	if err != nil {
		return nil, err
	}
	e, err := ofPE(f)
	if err != nil {
		f.Close()
	}
	return e, err
}

func ofELF(f *elf.File) *executable {
	e := &executable{moves: f.Type == elf.ET_DYN, dwarf: f.DWARF, close: f.Close}
	table := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return strings.HasSuffix(s.Name, ".gopclntab") }) // or .data.rel.ro.gopclntab
	if text := f.Section(".text"); text != nil && table >= 0 {
		e.text = text.Addr
	}
	symbols, _ := f.Symbols()
	if i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == codeSymbol }); i >= 0 {
		e.text = symbols[i].Value
	}
	e.pclntab = func() ([]byte, error) {
		if table < 0 {
			return nil, errTable
		}
		return f.Sections[table].Data()
	}
	e.symbols = func() (list []variable) {
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) == elf.STT_OBJECT && s.Size != 0 && int(s.Section) < len(f.Sections) && f.Sections[s.Section].Flags&elf.SHF_WRITE != 0 {
				list = append(list, variable{s.Value, s.Size, s.Name})
			}
		}
		return list
	}
	e.data = func() (uint64, []byte) {
		data := f.Section(".data")
		if data == nil {
			return 0, nil
		}
		content, _ := data.Data()
		return data.Addr, content
	}
	for _, s := range f.Sections {
		if s.Flags&(elf.SHF_WRITE|elf.SHF_ALLOC|elf.SHF_TLS) == elf.SHF_WRITE|elf.SHF_ALLOC {
			e.written = append(e.written, extent{s.Addr, s.Size})
		}
	}
	return e
}

func ofPE(f *pe.File) (*executable, error) {
	header, ok := f.OptionalHeader.(*pe.OptionalHeader64)
	if !ok {
		return nil, errors.New("it is not for processors of 64 bits")
	}
	const movable = 0x40 // IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE
	begin := header.ImageBase
	e := &executable{moves: header.DllCharacteristics&movable != 0, dwarf: f.DWARF, close: f.Close}
	section := func(s *pe.Symbol) *pe.Section {
		if s.SectionNumber < 1 || int(s.SectionNumber) > len(f.Sections) {
			return nil
		}
		return f.Sections[s.SectionNumber-1]
	}
	named := func(name string) *pe.Symbol {
		i := slices.IndexFunc(f.Symbols, func(s *pe.Symbol) bool { return s.Name == name })
		if i < 0 {
			return nil
		}
		return f.Symbols[i]
	}
	if text := named(codeSymbol); text != nil && section(text) != nil {
		e.text = begin + uint64(section(text).VirtualAddress) + uint64(text.Value)
	}
	e.pclntab = func() ([]byte, error) {
		first, end := named("runtime.pclntab"), named("runtime.epclntab")
		if first == nil || end == nil || section(first) == nil || first.SectionNumber != end.SectionNumber || first.Value > end.Value {
			return nil, errTable
		}
		table := make([]byte, end.Value-first.Value)
		_, err := io.ReadFull(io.NewSectionReader(section(first), int64(first.Value), int64(len(table))), table)
		return table, err
	}
	e.symbols = func() (list []variable) {
		for _, s := range f.Symbols {
			if in := section(s); in != nil && in.Characteristics&pe.IMAGE_SCN_MEM_WRITE != 0 && s.Value < in.VirtualSize {
				list = append(list, variable{begin + uint64(in.VirtualAddress) + uint64(s.Value), uint64(in.VirtualSize - s.Value), s.Name})
			}
		}
		return reach(list)
	}
	e.data = func() (uint64, []byte) {
		data := f.Section(".data")
		if data == nil {
			return 0, nil
		}
		content, _ := data.Data()
		return begin + uint64(data.VirtualAddress), content
	}
	for _, s := range f.Sections {
		if s.Characteristics&pe.IMAGE_SCN_MEM_WRITE != 0 {
			e.written = append(e.written, extent{begin + uint64(s.VirtualAddress), uint64(s.VirtualSize)})
		}
	}
	return e, nil
}

func ofMachO(f *macho.File) *executable {
	e := &executable{moves: f.Flags&macho.FlagPIE != 0, dwarf: f.DWARF, close: f.Close}
	table := f.Section("__gopclntab")
	if text := f.Section("__text"); text != nil && table != nil {
		e.text = text.Addr
	}
	var symbols []macho.Symbol
	if f.Symtab != nil {
		symbols = f.Symtab.Syms
	}
	if i := slices.IndexFunc(symbols, func(s macho.Symbol) bool { return s.Name == codeSymbol }); i >= 0 {
		e.text = symbols[i].Value
	}
	e.pclntab = func() ([]byte, error) {
		if table == nil {
			return nil, errTable
		}
		return table.Data()
	}
	e.symbols = func() (list []variable) {
		for _, s := range symbols {
			if s.Sect < 1 || int(s.Sect) > len(f.Sections) {
				continue
			}
			if in := f.Sections[s.Sect-1]; in.Seg == "__DATA" && s.Value-in.Addr < in.Size {
				list = append(list, variable{s.Value, in.Addr + in.Size - s.Value, s.Name})
			}
		}
		return reach(list)
	}
	e.data = func() (uint64, []byte) {
		data := f.Section("__data")
		if data == nil {
			return 0, nil
		}
		content, _ := data.Data()
		return data.Addr, content
	}
	for _, s := range f.Sections {
		if s.Seg == "__DATA" {
			e.written = append(e.written, extent{s.Addr, s.Size})
		}
	}
	return e
}

// reach sorts variables whose sizes are not known, and reach to the end of their section. Each is
// taken to reach to the next one.
func reach(list []variable) []variable {
	slices.SortStableFunc(list, func(a, b variable) int { return cmp.Compare(a.at, b.at) })
	for i := range list[:max(len(list), 1)-1] {
		list[i].size = min(list[i].size, list[i+1].at-list[i].at)
	}
	return list
}

// functions returns the functions of code at that address.
func (e *executable) functions(code uint64) *gosym.Table {
	data, err := e.pclntab()
	if err != nil {
		return nil
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, code))
	if err != nil {
		return nil
	}
	return table
}

// variables returns the package variables. What the compiler named itself has two dots.
func (e *executable) variables() []variable {
	list := slices.DeleteFunc(e.symbols(), func(v variable) bool {
		return v.size == 0 || !strings.Contains(v.name, ".") || strings.Contains(v.name, "..") || strings.Contains(v.name, ":")
	})
	for i, v := range list {
		list[i].name = escape.String(strings.Clone(Plain(v.name)))
	}
	slices.SortFunc(list, func(a, b variable) int { return cmp.Compare(a.at, b.at) })
	return list
}
