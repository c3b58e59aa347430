package symbols

import (
	"debug/pe"
	"os"
	"os/exec"
	"path/filepath"
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
	fmt.Println(reflect.ValueOf(&first).Pointer(), reflect.ValueOf(&second.b).Pointer(), reflect.ValueOf(new([1000]int)).Pointer(), reflect.ValueOf(code).Pointer())
	io.Copy(io.Discard, os.Stdin)
	fmt.Println(heap, second)
}
`

// TestNames: a process's variables and functions have their names, wherever it is in memory.
func TestNames(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("the names of processes are read from /proc")
	}
	for _, mode := range []string{"exe", "pie"} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			source, app := filepath.Join(dir, "main.go"), filepath.Join(dir, "app")
			if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", "build", "-buildmode="+mode, "-o", app, source).CombinedOutput(); err != nil {
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

			want := map[string]string{"exe": "main.first"}[mode]
			if got := OfExecutable(app, time.Now().Add(time.Hour)).Variable(at[0]); got != want {
				t.Errorf("of the executable alone: %q, not %q", got, want)
			}
			if got := OfExecutable(app, time.Now().Add(-time.Hour)).Variable(at[0]); got != "" {
				t.Errorf("of an executable that was changed since: %q", got)
			}
		})
	}
}

// started starts a program that prints addresses, until the test ends.
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
	return OfProcess(cmd.Process.Pid), at
}

// TestNoNames: what can't be read has none.
func TestNoNames(t *testing.T) {
	for _, names := range []*Table{{}, OfProcess(1 << 30), OfExecutable("symbols.go", time.Now().Add(time.Hour))} {
		if v, f := names.Variable(1), names.Function(1); v != "" || f != "" {
			t.Errorf("%q %q", v, f)
		}
	}
}

// TestPE: an executable for Windows has names too, wherever it is in memory.
func TestPE(t *testing.T) {
	testenv.NeedAll(t)
	const moved = 0x7ff000000000
	dir := t.TempDir()
	source, app := filepath.Join(dir, "main.go"), filepath.Join(dir, "app.exe")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", app, source)
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := pe.Open(app)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	begin := f.OptionalHeader.(*pe.OptionalHeader64).ImageBase
	at := map[string]uint64{}
	for _, s := range f.Symbols {
		if s.SectionNumber > 0 {
			at[s.Name] = moved + uint64(f.Sections[s.SectionNumber-1].VirtualAddress) + uint64(s.Value)
		}
	}
	names := &Table{executable: app, base: func() (uint64, bool) { return moved, true }}
	for _, test := range []struct{ got, want string }{
		{names.Function(at["main.main"] + 1), "main.main"},
		{names.Function(begin), ""},
		{names.Variable(at["main.first"]), "main.first"},
		{names.Variable(at["main.second"] + 8), "main.second+8"},
		{names.Variable(at["main.main"]), ""},
	} {
		if test.got != test.want {
			t.Errorf("the name is %q, want %q", test.got, test.want)
		}
	}
	names.Object(&Object{Address: at["main.first"]})
	if names.types.table.variables[at["main.first"]-moved+begin] == 0 {
		t.Error("the type of main.first is not known")
	}
}
