package main

import (
	"debug/macho"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// The functions of libSystem that the core calls, by the variables that have their addresses.
var libSystem = map[string]string{
	"runtime.ftraceSysClockGettime": "_clock_gettime",
	"runtime.ftraceSysFcntl":        "_fcntl",
	"runtime.ftraceSysFstat":        "_fstat",
	"runtime.ftraceSysFstatfs":      "_fstatfs",
	"runtime.ftraceSysFtruncate":    "_ftruncate",
	"runtime.ftraceSysGetcwd":       "_getcwd",
	"runtime.ftraceSysGeteuid":      "_geteuid",
	"runtime.ftraceSysGetpid":       "_getpid",
	"runtime.ftraceSysGetrlimit":    "_getrlimit",
	"runtime.ftraceSysMachVMRead":   "_mach_vm_read_overwrite",
	"runtime.ftraceSysMkdirat":      "_mkdirat",
	"runtime.ftraceSysMmap":         "_mmap",
	"runtime.ftraceSysMunmap":       "_munmap",
	"runtime.ftraceSysOpenat":       "_openat",
	"runtime.ftraceSysPwrite":       "_pwrite",
	"runtime.ftraceSysReadlinkat":   "_readlinkat",
	"runtime.ftraceSysUnlinkat":     "_unlinkat",
}

// A program for macOS imports what the core calls, nothing else that it does not import without
// hooks, and each of the core's variables leads to the right function. No Mac is needed: the linker
// is Go's own.
func TestMacOS(t *testing.T) {
	testenv.NeedAll(t)
	toolexec := testenv.Toolexec(t, testenv.Build(t, "ftrace-wrap"))
	for _, goarch := range []string{"amd64", "arm64"} {
		t.Run(goarch, func(t *testing.T) {
			dir := t.TempDir()
			build := func(name string, flags ...string) *program {
				file := filepath.Join(dir, name)
				cmd := exec.Command("go", append(append([]string{"build", "-buildmode=pie", "-o", file}, flags...), "./examples/hello")...)
				cmd.Dir = testenv.Root(t)
				cmd.Env = append(testenv.Environ(), "GOOS=darwin", "GOARCH="+goarch, "CGO_ENABLED=0", "GOFLAGS=")
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", cmd, err, out)
				}
				return openProgram(t, file)
			}
			plain, hooked := build("plain"), build("hooked", toolexec)
			var wanted []string
			for variable, function := range libSystem {
				if strings.HasPrefix(function, "_fstat") && goarch == "amd64" {
					function += "64" // with inodes of so many bits
				}
				wanted = append(wanted, function)
				if got := hooked.called(t, variable); got != function {
					t.Errorf("%s leads to %s, want %s", variable, got, function)
				}
			}
			imported := plain.imports(t)
			for _, function := range hooked.imports(t) {
				if !slices.Contains(imported, function) && !slices.Contains(wanted, function) && function != "_mach_task_self_" {
					t.Errorf("the core imports %s", function)
				}
			}
		})
	}
}

// A program is an executable for macOS.
type program struct {
	*macho.File
	path    string
	symbols map[string]uint64 // addresses
	names   map[uint64]string
}

func openProgram(t *testing.T, path string) *program {
	t.Helper()
	f, err := macho.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	p := &program{f, path, map[string]uint64{}, map[uint64]string{}}
	for _, s := range f.Symtab.Syms {
		if s.Sect != 0 {
			p.symbols[s.Name], p.names[s.Value] = s.Value, s.Name
		}
	}
	return p
}

func (p *program) imports(t *testing.T) []string {
	t.Helper()
	names, err := p.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// called returns the imported function to which a variable leads: by its address, which the loader
// moves with the program, to a jump to a stub.
func (p *program) called(t *testing.T, variable string) string {
	t.Helper()
	at := p.symbols[variable]
	data := p.bytes(at, 8)
	if data == nil {
		t.Fatalf("there is no %s", variable)
	}
	if !slices.Contains(p.moved(t), at) {
		t.Errorf("the loader does not move the address in %s", variable)
	}
	jump := p.ByteOrder.Uint64(data)
	if variable == "runtime.ftraceSysMachVMRead" { // first it gets the task, by two instructions or three
		jump += map[macho.Cpu]uint64{macho.CpuAmd64: 7 + 2, macho.CpuArm64: 12}[p.Cpu]
	}
	var stub uint64
	switch code := p.bytes(jump, 5); {
	case code == nil:
		t.Fatalf("%s is %#x, where there is nothing", variable, jump)
	case p.Cpu == macho.CpuArm64:
		instruction := p.ByteOrder.Uint32(code)
		if instruction>>26 != 0b000101 { // B
			t.Fatalf("%s begins with %#x, want a jump", p.names[jump], instruction)
		}
		stub = jump + uint64(int64(int32(instruction<<6))>>6*4)
	default:
		if code[0] != 0xe9 { // JMP
			t.Fatalf("%s begins with %#x, want a jump", p.names[jump], code)
		}
		stub = jump + 5 + uint64(int64(int32(p.ByteOrder.Uint32(code[1:]))))
	}
	section, first := p.stubs(t)
	size := uint64(6)
	if p.Cpu == macho.CpuArm64 {
		size = 12 // the linker puts 6 into the section's head nevertheless
	}
	if stub < section.Addr || stub >= section.Addr+section.Size {
		t.Fatalf("%s jumps to %#x, want a stub, which are from %#x on", p.names[jump], stub, section.Addr)
	}
	return p.Symtab.Syms[p.Dysymtab.IndirectSyms[uint64(first)+(stub-section.Addr)/size]].Name
}

// bytes returns n bytes at an address, or nil.
func (p *program) bytes(address uint64, n int) []byte {
	for _, s := range p.Sections {
		if address >= s.Addr && address+uint64(n) <= s.Addr+s.Size {
			data := make([]byte, n)
			if _, err := s.ReadAt(data, int64(address-s.Addr)); err == nil {
				return data
			}
		}
	}
	return nil
}

// stubs returns the section of stubs, and which of the indirect symbols the first one is for, which
// package macho leaves out.
func (p *program) stubs(t *testing.T) (section *macho.Section, first uint32) {
	t.Helper()
	const head, each, reserved = 72, 80, 68 // of segment_command_64 and section_64
	for _, l := range p.Loads {
		segment, is := l.(*macho.Segment)
		if !is {
			continue
		}
		raw := segment.Raw()
		for i := range segment.Nsect {
			one := raw[head+each*i : head+each*(i+1)]
			name := strings.TrimRight(string(one[:16]), "\x00")
			if name == "__symbol_stub1" || name == "__stubs" {
				return p.Section(name), p.ByteOrder.Uint32(one[reserved:])
			}
		}
	}
	t.Fatal("there are no stubs")
	return nil, 0
}

// moved returns where the program has addresses that the loader changes, since it puts programs
// anywhere.
func (p *program) moved(t *testing.T) (places []uint64) {
	t.Helper()
	const dyldInfo = 0x80000022 // LC_DYLD_INFO_ONLY
	file, err := os.ReadFile(p.path)
	if err != nil {
		t.Fatal(err)
	}
	var code []byte
	var segments []*macho.Segment
	for _, l := range p.Loads {
		if segment, is := l.(*macho.Segment); is {
			segments = append(segments, segment)
		} else if raw := l.Raw(); p.ByteOrder.Uint32(raw) == dyldInfo {
			from := p.ByteOrder.Uint32(raw[8:])
			code = file[from : from+p.ByteOrder.Uint32(raw[12:])]
		}
	}
	at := uint64(0)
	for len(code) > 0 {
		operation, immediate := code[0]&0xf0, code[0]&0xf
		code = code[1:]
		switch operation {
		case 0x00: // done
			return places
		case 0x10: // the kind of address
		case 0x20: // a segment, and an offset in it
			offset, shift := uint64(0), 0
			for more := true; more; shift += 7 {
				offset |= uint64(code[0]&0x7f) << shift
				more, code = code[0]&0x80 != 0, code[1:]
			}
			at = segments[immediate].Addr + offset
		case 0x50: // so many addresses
			for range immediate {
				places = append(places, at)
				at += 8
			}
		default:
			t.Fatalf("operation %#x in what the loader changes is not known", operation)
		}
	}
	t.Fatal("what the loader changes has no end")
	return nil
}
