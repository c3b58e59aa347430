package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
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
