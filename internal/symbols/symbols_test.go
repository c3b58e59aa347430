package symbols

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

const program = `package main

import (
	"fmt"
	"io"
	"os"
	"reflect"
)

type server struct{ a, b int64 }

var (
	first  int64
	second = server{1, 2}
	heap   = new(server)
)

func code() {}

func main() {
	fmt.Println(reflect.ValueOf(&first).Pointer(), reflect.ValueOf(&second.b).Pointer(), reflect.ValueOf(new([1000]int)).Pointer(), reflect.ValueOf(code).Pointer(), reflect.ValueOf(main).Pointer())
	io.Copy(io.Discard, os.Stdin)
	fmt.Println(heap, second)
}
`

// TestNames: a process's variables and functions have their names, wherever it is in memory, and
// also with code of C before Go's.
func TestNames(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("the names of processes are read from /proc")
	}
	for _, mode := range []string{"exe", "pie", "exe -ldflags=-linkmode=external", "pie -ldflags=-linkmode=external"} {
		t.Run(mode, func(t *testing.T) {
			if strings.Contains(mode, "external") {
				testenv.Need(t, "gcc")
			}
			dir := t.TempDir()
			source, app := filepath.Join(dir, "main.go"), filepath.Join(dir, "app")
			if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", slices.Concat([]string{"build"}, strings.Fields("-buildmode="+mode), []string{"-o", app, source})...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			names, at := started(t, app)
			for i, want := range []string{"main.first", "main.second+8", ""} {
				if got := names.Variable(at[i]); got != want {
					t.Errorf("%#x is %q, not %q", at[i], got, want)
				}
			}
			if got := names.Function(at[3]); got != "main.code" {
				t.Errorf("the function is %q", got)
			}

			want := ""
			if strings.HasPrefix(mode, "exe") {
				want = "main.first"
			}
			if got := OfExecutable(app, time.Now().Add(time.Hour)).Variable(at[0]); got != want {
				t.Errorf("of the executable alone: %q, not %q", got, want)
			}
			if got := OfExecutable(app, time.Now().Add(-time.Hour)).Variable(at[0]); got != "" {
				t.Errorf("of an executable that was changed since: %q", got)
			}
		})
	}
}

// distance returns how far main.main is from where the Go code of a program begins.
func distance(t *testing.T, app string) uint64 {
	f, err := elf.Open(app)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := map[string]uint64{}
	list, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		at[s.Name] = s.Value
	}
	return at["main.main"] - at["runtime.text"]
}

// started starts a program that prints addresses, the last that of main, until the test ends.
func started(t *testing.T, app string) (names *Table, at []uint64) {
	cmd := exec.Command(app)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	line := make([]byte, 1000)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(line[:n])) {
		address, err := strconv.ParseUint(word, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, address)
	}
	return OfProcess(cmd.Process.Pid, at[len(at)-1]-distance(t, app)), at
}

// TestNoNames: what can't be read has none.
func TestNoNames(t *testing.T) {
	for _, names := range []*Table{{}, OfProcess(1<<30, 1), OfExecutable("symbols.go", time.Now().Add(time.Hour))} {
		if v, f := names.Variable(1), names.Function(1); v != "" || f != "" {
			t.Errorf("%q %q", v, f)
		}
	}
}

// TestOtherSystems: executables for Windows and macOS have names too, wherever they are in memory.
func TestOtherSystems(t *testing.T) {
	testenv.NeedAll(t)
	const moved = 0x7ff000000000
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, system := range []struct {
		goos, goarch string
		symbols      func(t *testing.T, app string) map[string]uint64
	}{{"windows", "amd64", symbolsPE}, {"darwin", "amd64", symbolsMachO}, {"darwin", "arm64", symbolsMachO}} {
		t.Run(system.goos+"/"+system.goarch, func(t *testing.T) {
			app := filepath.Join(dir, system.goos+system.goarch)
			build := exec.Command("go", "build", "-o", app, source)
			build.Env = append(os.Environ(), "GOOS="+system.goos, "GOARCH="+system.goarch, "CGO_ENABLED=0", "GOFLAGS=")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			at := system.symbols(t, app)
			for name := range at {
				at[name] += moved
			}
			names := &Table{executable: app, code: at["runtime.text"]}
			for _, test := range []struct{ got, want string }{
				{names.Function(at["main.main"]), "main.main"},
				{names.Function(at["main.code"]), "main.code"},
				{names.Function(at["runtime.text"] - moved), ""},
				{names.Variable(at["main.first"]), "main.first"},
				{names.Variable(at["main.second"] + 8), "main.second+8"},
				{names.Variable(at["main.main"]), ""},
			} {
				if test.got != test.want {
					t.Errorf("the name is %q, want %q", test.got, test.want)
				}
			}
			names.Object(&Object{Address: at["main.first"]})
			if names.types.table.variables[at["main.first"]-moved] == 0 {
				t.Error("the type of main.first is not known")
			}
		})
	}
}

func symbolsPE(t *testing.T, app string) map[string]uint64 {
	f, err := pe.Open(app)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := map[string]uint64{}
	for _, s := range f.Symbols {
		if s.SectionNumber > 0 {
			at[s.Name] = f.OptionalHeader.(*pe.OptionalHeader64).ImageBase + uint64(f.Sections[s.SectionNumber-1].VirtualAddress) + uint64(s.Value)
		}
	}
	return at
}

func symbolsMachO(t *testing.T, app string) map[string]uint64 {
	f, err := macho.Open(app)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := map[string]uint64{}
	for _, s := range f.Symtab.Syms {
		at[s.Name] = s.Value
	}
	return at
}
