package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A build is one way of building.
type build struct {
	name string
	wrap string   // the ftrace-wrap to build with, "" for none
	env  []string // more environment
}

// command returns a go build in dir.
func (b build) command(dir string, args ...string) *exec.Cmd {
	return b.goCommand(dir, []string{"build", "-buildvcs=false"}, args)
}

// testCommand returns a go test in dir that builds tests, and does not run them.
func (b build) testCommand(dir string, args ...string) *exec.Cmd {
	return b.goCommand(dir, []string{"test", "-c"}, args)
}

func (b build) goCommand(dir string, first, args []string) *exec.Cmd {
	if b.wrap != "" {
		first = append(first, "-toolexec="+b.wrap)
	}
	return command(dir, b.env, "go", append(first, args...)...)
}

// steps are what is measured of a build, in order: with empty caches; again, without a change;
// after an edit of one file, the median of several; with other packages instrumented (a plain build
// has nothing to do there).
var steps = []string{"cold", "warm", "edit", "other packages"}

// edits is how many edits are made.
const edits = 5

// measureBuilds prints how long the command in the folder cmd of the module in src takes to build,
// how large the program is, and the most memory that a process of the build takes. The module is
// copied to tmp.
func measureBuilds(w io.Writer, tmp, wrap, src, cmd string, rounds int) error {
	dir := filepath.Join(tmp, "module")
	if err := os.CopyFS(dir, os.DirFS(src)); err != nil {
		return err
	}
	builds := []build{
		{"plain", "", nil},
		{"main module", wrap, []string{"FTRACE_PACKAGES=main"}},
		{"all packages", wrap, []string{"FTRACE_PACKAGES=all"}},
	}
	times := make([][][]float64, len(builds))
	sizes := make([]float64, len(builds))
	memory := make([][]float64, len(builds))
	for i := range builds {
		times[i] = make([][]float64, len(steps))
	}
	for range rounds {
		for i, b := range builds {
			took, size, err := b.measure(tmp, dir, cmd)
			if err != nil {
				return fmt.Errorf("%s: %v", b.name, err)
			}
			for step, t := range took {
				times[i][step] = append(times[i][step], t)
			}
			sizes[i] = size
			rss, err := b.compileMemory(tmp, dir)
			if err != nil {
				return fmt.Errorf("%s: %v", b.name, err)
			}
			memory[i] = append(memory[i], rss)
		}
	}
	fmt.Fprintf(w, "| %s | %s s | program MB | compiler's peak MB |\n|---%s|\n", filepath.Base(cmd), strings.Join(steps, " s | "), strings.Repeat("|--:", len(steps)+2))
	for i, b := range builds {
		fmt.Fprintf(w, "| %s |", b.name)
		for step := range steps {
			cell(w, median(times[i][step]), median(times[0][step]), 1)
		}
		cell(w, sizes[i], sizes[0], 1e6)
		cell(w, median(memory[i]), median(memory[0]), 1e3)
		fmt.Fprintln(w)
	}
	return nil
}

// cell prints a figure, and its ratio to plain.
func cell(w io.Writer, x, plain, unit float64) { fmt.Fprintf(w, " %.2f (%.2f) |", x/unit, x/plain) }

// measure takes the times of the steps in seconds, and the size of the program in bytes.
func (b build) measure(tmp, dir, cmd string) (times []float64, size float64, err error) {
	caches, err := os.MkdirTemp(tmp, "cache-")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(caches)
	edited := filepath.Join(dir, cmd, "ftrace_bench_edit.go")
	defer os.Remove(edited)
	out := filepath.Join(tmp, "program")
	b.env = append([]string{"GOCACHE=" + filepath.Join(caches, "go"), "FTRACE_CACHE=" + filepath.Join(caches, "ftrace")}, b.env...)
	run := func() (float64, error) {
		start := time.Now()
		err := b.command(dir, "-o", out, "./"+cmd).Run()
		return time.Since(start).Seconds(), err
	}
	for _, step := range steps {
		repeat := 1
		switch step {
		case "edit":
			repeat = edits
		case "other packages":
			b.env = append(b.env, "FTRACE_PACKAGES=main,strings")
		}
		var took []float64
		for range repeat {
			if step == "edit" {
				text := fmt.Sprintf("package main\n\nfunc ftraceBenchEdit() int { return %d }\n", time.Now().UnixNano())
				if err := os.WriteFile(edited, []byte(text), 0o666); err != nil {
					return nil, 0, err
				}
			}
			t, err := run()
			if err != nil {
				return nil, 0, err
			}
			took = append(took, t)
		}
		times = append(times, median(took))
		if step == "warm" {
			info, err := os.Stat(out)
			if err != nil {
				return nil, 0, err
			}
			size = float64(info.Size())
		}
	}
	return times, size, nil
}

// compileMemory returns the most memory, in kB, that a process takes that compiles the module's
// packages; nothing is linked.
func (b build) compileMemory(tmp, dir string) (float64, error) {
	caches, err := os.MkdirTemp(tmp, "cache-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(caches)
	b.env = append([]string{"GOCACHE=" + filepath.Join(caches, "go"), "FTRACE_CACHE=off"}, b.env...)
	cmd := b.command(dir, "./internal/...")
	if err := cmd.Run(); err != nil {
		return 0, err
	}
	return peakMemory(cmd.ProcessState), nil
}

// measureManyFunctions prints what it takes to compile one package of so many functions: processor
// time, and the most memory of a process.
func measureManyFunctions(w io.Writer, tmp, wrap string, sizes []int, rounds int) error {
	fmt.Fprint(w, "\n| functions of one package | plain CPU s | peak MB | main module CPU s | peak MB |\n|--:|--:|--:|--:|--:|\n")
	dir := filepath.Join(tmp, "many")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module many\n\ngo 1.25\n"), 0o666); err != nil {
		return err
	}
	builds := []build{{"plain", "", nil}, {"main module", wrap, []string{"FTRACE_CACHE=off"}}}
	for _, b := range builds { // what it imports is compiled before
		if _, _, err := b.compileMany(dir, 1, 0); err != nil {
			return err
		}
	}
	for _, n := range sizes {
		times, memory := make([][]float64, len(builds)), make([][]float64, len(builds))
		for round := range rounds {
			for i, b := range builds {
				seconds, kB, err := b.compileMany(dir, n, round)
				if err != nil {
					return fmt.Errorf("%s, %d functions: %v", b.name, n, err)
				}
				times[i], memory[i] = append(times[i], seconds), append(memory[i], kB)
			}
		}
		fmt.Fprintf(w, "| %d |", n)
		for i := range builds {
			cell(w, median(times[i]), median(times[0]), 1)
			cell(w, median(memory[i]), median(memory[0]), 1e3)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// compileMany compiles a package of n functions, which differs from round to round so that no cache
// has it.
func (b build) compileMany(dir string, n, round int) (seconds, kB float64, err error) {
	var text strings.Builder
	fmt.Fprintf(&text, "package main\n\nimport \"fmt\"\n\nconst made = \"%s %d %d\"\n\ntype T struct{ s string }\n", b.name, round, time.Now().UnixNano())
	for i := range n {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&text, "\nfunc F%d(a, b int) int {\n\tif a > b {\n\t\treturn a - %d\n\t}\n\treturn F%[1]d(a, b-1)\n}\n", i, i)
		case 1:
			fmt.Fprintf(&text, "\nfunc (t *T) F%d(s string) (string, error) {\n\tif s == \"\" {\n\t\treturn \"\", fmt.Errorf(\"empty %[1]d\")\n\t}\n\treturn t.s + s, nil\n}\n", i)
		case 2:
			fmt.Fprintf(&text, "\nfunc F%d(m map[string]int, k string) (n int, ok bool) {\n\tfor x := range m {\n\t\tif x > k {\n\t\t\tn++\n\t\t}\n\t}\n\treturn n, n > %[1]d\n}\n", i)
		}
	}
	text.WriteString("\nfunc main() { fmt.Println(made, F0(2, 1)) }\n")
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(text.String()), 0o666); err != nil {
		return 0, 0, err
	}
	cmd := b.command(dir, "-o", os.DevNull, ".")
	if err := cmd.Run(); err != nil {
		return 0, 0, err
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), peakMemory(cmd.ProcessState), nil
}

// measureIdle prints the resident memory of a program that does nothing, plainly, with everything
// instrumented and off, and with everything armed.
func measureIdle(w io.Writer, tmp, wrap string) error {
	dir, err := benchDir()
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "programs")
	fmt.Fprint(w, "| an idle program | resident MB |\n|---|--:|\n")
	for _, way := range []struct {
		build
		run []string
	}{
		{build{"plain", "", nil}, nil},
		{build{"off", wrap, []string{"FTRACE_PACKAGES=all"}}, nil},
		{build{"armed", wrap, []string{"FTRACE_PACKAGES=all"}}, []string{"FTRACE=*=args", "FTRACE_OUT=" + filepath.Join(tmp, "trace")}},
	} {
		exe := filepath.Join(tmp, "idle")
		if err := way.command(dir, "-o", exe, "./idle").Run(); err != nil {
			return fmt.Errorf("%s: %v", way.name, err)
		}
		rss, err := resident(command(tmp, way.run, exe))
		if err != nil {
			return fmt.Errorf("%s: %v", way.name, err)
		}
		fmt.Fprintf(w, "| %s | %.1f |\n", way.name, rss/1e3)
	}
	return nil
}

// resident starts cmd, waits for its first line, and returns its resident memory in kB.
func resident(cmd *exec.Cmd) (float64, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer cmd.Wait()
	defer stdin.Close()
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		return 0, err
	}
	time.Sleep(200 * time.Millisecond)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kB float64
	_, err = fmt.Sscan(rest, &kB)
	return kB, err
}
