package symbols

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"debug/gosym"
	"debug/pe"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// An executable is a file in ELF or PE.
type executable struct {
	begin   uint64                             // the address at which it says that it begins
	moves   bool                               // it may be elsewhere in memory
	text    uint64                             // the address of the code
	pclntab func() ([]byte, error)             // the table of functions
	symbols func() []variable                  // those that are data which can be written to, perhaps without sizes
	dwarf   func() (*dwarf.Data, error)        // the debugging information
	data    func() (at uint64, content []byte) // of package variables that are not zero at first
	written []extent                           // the parts that can be written to
	close   func() error
}

// An extent is a part of the memory.
type extent struct{ at, size uint64 }

var errTable = errors.New("it has no table of functions")

func openExecutable(path string) (*executable, error) {
	if f, err := elf.Open(path); err == nil {
		return ofELF(f), nil
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
	if i := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_LOAD }); i >= 0 {
		e.begin = f.Progs[i].Vaddr
	}
	if text := f.Section(".text"); text != nil {
		e.text = text.Addr
	}
	e.pclntab = func() ([]byte, error) {
		i := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return strings.HasSuffix(s.Name, ".gopclntab") }) // or .data.rel.ro.gopclntab
		if i < 0 {
			return nil, errTable
		}
		return f.Sections[i].Data()
	}
	e.symbols = func() (list []variable) {
		symbols, _ := f.Symbols()
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
	e := &executable{begin: begin, moves: header.DllCharacteristics&movable != 0, dwarf: f.DWARF, close: f.Close}
	if text := f.Section(".text"); text != nil {
		e.text = begin + uint64(text.VirtualAddress)
	}
	section := func(s *pe.Symbol) *pe.Section {
		if s.SectionNumber < 1 || int(s.SectionNumber) > len(f.Sections) {
			return nil
		}
		return f.Sections[s.SectionNumber-1]
	}
	e.pclntab = func() ([]byte, error) {
		named := func(name string) *pe.Symbol {
			i := slices.IndexFunc(f.Symbols, func(s *pe.Symbol) bool { return s.Name == name })
			if i < 0 {
				return nil
			}
			return f.Symbols[i]
		}
		first, end := named("runtime.pclntab"), named("runtime.epclntab")
		if first == nil || end == nil || section(first) == nil || first.SectionNumber != end.SectionNumber || first.Value > end.Value {
			return nil, errTable
		}
		table := make([]byte, end.Value-first.Value)
		_, err := io.ReadFull(io.NewSectionReader(section(first), int64(first.Value), int64(len(table))), table)
		return table, err
	}
	// Symbols have no sizes: each is taken to reach to the next one, or to the end of its section.
	e.symbols = func() (list []variable) {
		for _, s := range f.Symbols {
			if in := section(s); in != nil && in.Characteristics&pe.IMAGE_SCN_MEM_WRITE != 0 && s.Value < in.VirtualSize {
				list = append(list, variable{begin + uint64(in.VirtualAddress) + uint64(s.Value), uint64(in.VirtualSize - s.Value), s.Name})
			}
		}
		slices.SortStableFunc(list, func(a, b variable) int { return cmp.Compare(a.at, b.at) })
		for i := range list[:max(len(list), 1)-1] {
			list[i].size = min(list[i].size, list[i+1].at-list[i].at)
		}
		return list
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

func (e *executable) functions() *gosym.Table {
	data, err := e.pclntab()
	if err != nil || e.text == 0 {
		return nil
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, e.text))
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
