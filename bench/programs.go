package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// A program is one row of the table of programs. They are in the module in bench/programs, so that
// the go command gets them and all that they are made of.
type program struct {
	name string
	pkg  string
	own  string // FTRACE_PACKAGES for what the program is made of, without what that depends on
	args func(tmp string) ([]string, error)
	test bool // the tests of pkg are the program
}

var programs = []program{
	{"lua: a script", "./lua", "./...,github.com/yuin/gopher-lua/...", nil, false},
	{"goldmark: a document", "./markdown", "./...,github.com/yuin/goldmark/...", nil, false},
	{"esbuild: a bundle", "github.com/evanw/esbuild/cmd/esbuild", "github.com/evanw/esbuild/...", bundleArgs, false},
	{"bbolt bench", "go.etcd.io/bbolt/cmd/bbolt", "go.etcd.io/bbolt/...", bboltArgs, false},
	{"gofmt of GOROOT", "cmd/gofmt", "cmd/gofmt,go/...,text/tabwriter", gofmtArgs, false},
	{"HTTP echo", "./echo", "./...,net/http/...,net/textproto,mime/...,bufio", nil, false},
}

// goawkProgram runs a script in goawk, whose checkout is in dir.
func goawkProgram(dir string) program {
	return program{"goawk: a script", dir, "main", func(tmp string) ([]string, error) {
		const script = `function fib(n) { return n < 2 ? n : fib(n-1) + fib(n-2) }
BEGIN { print fib(25); for (i = 0; i < 600000; i++) { a[i%1000] = a[i%1000] " " i; if (length(a[i%1000]) > 200) a[i%1000] = ""
s += i*2; t = substr("hello world", i%5, 4); n += split("a b c d e", q, " "); if (t ~ /l+o/) m++ } print s, m, n }`
		file := filepath.Join(tmp, "script.awk")
		return []string{"-f", file}, os.WriteFile(file, []byte(script), 0o666)
	}, false}
}

func bundleArgs(tmp string) ([]string, error) {
	var text strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&text, "export function f%d(a, b = [1, 2, ...rest]) { const c = a?.x ?? b.map(v => v * %d); if (c > `${a}`) { return { c, ...b } } return class { #p = c; get q() { return this.#p } } }\n", i, i)
	}
	text.WriteString("const rest = [];\n")
	lib, index := filepath.Join(tmp, "lib.js"), filepath.Join(tmp, "index.js")
	if err := os.WriteFile(lib, []byte(text.String()), 0o666); err != nil {
		return nil, err
	}
	err := os.WriteFile(index, []byte("import * as lib from './lib.js'; console.log(lib)\n"), 0o666)
	return []string{"--bundle", "--minify", "--target=es2018", "--log-level=error", "--outfile=" + filepath.Join(tmp, "out.js"), index}, err
}

func bboltArgs(tmp string) ([]string, error) {
	return []string{"bench", "--no-sync", "--count", "200000", "--batch-size", "5000", "--write-mode", "rnd", "--path", filepath.Join(tmp, "bench.db")}, nil
}

func gofmtArgs(string) ([]string, error) {
	out, err := command("", nil, "go", "env", "GOROOT").Output()
	src := filepath.Join(strings.TrimSpace(string(out)), "src")
	return []string{"-l", filepath.Join(src, "net"), filepath.Join(src, "crypto"), filepath.Join(src, "encoding"), filepath.Join(src, "runtime")}, err
}

// offWays are the ways in which the programs are built; all run with nothing armed.
func offWays(wrap string, p program) []build {
	return []build{
		{"plain", "", nil},
		{"keep", wrap, []string{"FTRACE_INLINE=keep", "FTRACE_PACKAGES=" + p.own}},
		{"hook", wrap, []string{"FTRACE_PACKAGES=" + p.own}},
		{"keep, all", wrap, []string{"FTRACE_INLINE=keep", "FTRACE_PACKAGES=all"}},
		{"hook, all", wrap, []string{"FTRACE_PACKAGES=all"}},
	}
}

// measurePrograms prints how long programs take with nothing armed, as ratios to plain Go.
func measurePrograms(w io.Writer, tmp, wrap string, programs []program, rounds int) error {
	dir, err := benchDir()
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "programs")
	var products []float64
	for i, p := range programs {
		ways := offWays(wrap, p)
		if products == nil {
			header := []string{"CPU time", "plain s"}
			for _, way := range ways[1:] {
				header = append(header, way.name)
				products = append(products, 0)
			}
			fmt.Fprintf(w, "| %s |\n|---%s|\n", strings.Join(header, " | "), strings.Repeat("|--:", len(ways)))
		}
		medians, err := p.measure(filepath.Join(tmp, fmt.Sprint("program", i)), dir, ways, rounds)
		if err != nil {
			return fmt.Errorf("%s: %v", p.name, err)
		}
		fmt.Fprintf(w, "| %s | %.2f |", p.name, medians[0])
		for i, m := range medians[1:] {
			fmt.Fprintf(w, " %.2f |", m/medians[0])
			products[i] += math.Log(m / medians[0])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "| geometric mean | |")
	for _, sum := range products {
		fmt.Fprintf(w, " %.2f |", math.Exp(sum/float64(len(programs))))
	}
	fmt.Fprintln(w)
	return nil
}

// measure builds the program in each way and runs them in turn. It returns the median CPU time of
// each, in seconds.
func (p program) measure(tmp, dir string, ways []build, rounds int) ([]float64, error) {
	if err := os.Mkdir(tmp, 0o777); err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	exes := make([]executable, len(ways))
	for i, w := range ways {
		var err error
		if exes[i], err = p.build(filepath.Join(tmp, fmt.Sprint("way", i)), dir, w); err != nil {
			return nil, err
		}
	}
	times := make([][]float64, len(ways))
	for range rounds {
		for i, exe := range exes {
			used, err := exe.run(nil)
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], used)
		}
	}
	var medians []float64
	for _, t := range times {
		medians = append(medians, median(t))
	}
	return medians, nil
}

// An executable is a program that was built in one way.
type executable struct {
	path string
	dir  string // in which it runs
	args []string
}

// build builds the program in one way, in the new folder tmp.
func (p program) build(tmp, dir string, way build) (exe executable, err error) {
	if err := os.Mkdir(tmp, 0o777); err != nil {
		return exe, err
	}
	exe = executable{filepath.Join(tmp, "program"), tmp, nil}
	if p.args != nil {
		if exe.args, err = p.args(tmp); err != nil {
			return exe, err
		}
	}
	pkg := p.pkg
	if filepath.IsAbs(pkg) {
		dir, pkg = pkg, "."
	}
	cmd := way.command(dir, "-o", exe.path, pkg)
	if p.test {
		cmd = way.testCommand(dir, "-o", exe.path, pkg)
		out, err := command(dir, nil, "go", "list", "-f", "{{.Dir}}", pkg).Output()
		if err != nil {
			return exe, err
		}
		exe.dir, exe.args = strings.TrimSpace(string(out)), []string{"-test.short"}
	}
	if err := cmd.Run(); err != nil {
		return exe, fmt.Errorf("building (%s): %v", way.name, err)
	}
	return exe, nil
}

// run runs the executable with more environment. It returns the CPU time that it took, in seconds.
func (exe executable) run(env []string) (float64, error) {
	var errors bytes.Buffer
	cmd := command(exe.dir, env, exe.path, exe.args...)
	cmd.Stderr = &errors
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%v\n%s", err, &errors)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}
