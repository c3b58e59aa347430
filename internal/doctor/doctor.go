// Package doctor finds out what of ftrace-wrap works on a machine, by trying it.
//
// In comes where ftrace-wrap is; out come Trials, each with what was seen. They build a small
// program (program.txt) in a directory of its own, without and with hooks, run it, and look into
// it. The verb doctor of command ftrace-wrap prints them.
package doctor

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec"
	"github.com/ftrace-wrap/ftrace-wrap/internal/version"
)

//go:embed program.txt
var program []byte

// An Outcome says how a trial ended.
type Outcome int

const (
	Works   Outcome = iota
	Fails           // it should work
	Untried         // what it needs does not work
)

func (o Outcome) String() string { return [...]string{"works", "FAILS", "untried"}[o] }

// A Trial is one thing that was tried.
type Trial struct {
	Name    string // such as "recording"
	Outcome Outcome
	Found   string // a line: what was found, or what is to be done
	Output  string // what was run, and what that printed
}

// A trial is a Trial before it is made.
type trial struct {
	name  string
	needs []string // the names of the trials without which it can't be made
	try   func(*patient) (found string, err error)
}

// trials are in the order in which they are made.
var trials = []trial{
	{"go command", nil, (*patient).goCommand},
	{"build", []string{"go command"}, (*patient).plain},
	{"build with hooks", []string{"build"}, (*patient).hooked},
	{"trace", []string{"build with hooks"}, (*patient).trace},
	{"trace file", []string{"build with hooks"}, (*patient).traceFile},
	{"failing call", []string{"build with hooks"}, (*patient).failing},
	{"recording", []string{"build with hooks"}, (*patient).record},
	{"command ftrace", nil, (*patient).ftraceCommand},
	{"replay", []string{"recording", "command ftrace"}, (*patient).replay},
	{"attach", []string{"build with hooks", "command ftrace"}, (*patient).attach},
	{"SQL", []string{"build with hooks", "command ftrace"}, (*patient).sql},
}

// Examine makes all trials, and calls each with every one as it ends. self is the file of
// ftrace-wrap, and toolexec the flag that puts it into a go command. An error means that there is
// nowhere to try anything.
func Examine(ctx context.Context, self, toolexec string, each func(Trial)) error {
	dir, err := os.MkdirTemp("", "ftrace-wrap-doctor-")
	if err != nil {
		return fmt.Errorf("making a directory to try things in: %v: set TMPDIR to a writable one", err)
	}
	defer os.RemoveAll(dir)
	p := &patient{ctx: ctx, dir: dir, self: self, toolexec: toolexec}
	for name, text := range map[string][]byte{"main.go": program, "go.mod": []byte("module example.com/patient\n\ngo 1.25\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	works := map[string]bool{}
	for _, t := range trials {
		made := Trial{Name: t.name, Outcome: Untried}
		if lacks := slices.IndexFunc(t.needs, func(need string) bool { return !works[need] }); lacks >= 0 {
			made.Found = "needs: " + t.needs[lacks]
		} else {
			p.output.Reset()
			made.Found, err = t.try(p)
			made.Output = p.output.String()
			made.Outcome = Works
			if err != nil {
				made.Outcome, made.Found = Fails, err.Error()
			}
		}
		works[t.name] = made.Outcome == Works
		each(made)
	}
	return ctx.Err()
}

// A patient is the program and what is tried on it.
type patient struct {
	ctx            context.Context
	dir            string
	self, toolexec string
	goFile         string
	ftrace         string // the file of command ftrace
	output         bytes.Buffer
}

// path returns a file's path in the directory of the trials.
func (p *patient) path(name string) string { return filepath.Join(p.dir, name) }

// command returns a command that runs in the directory of the trials, without the user's settings
// but with those given.
func (p *patient) command(settings []string, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(p.ctx, name, args...)
	c.Dir = p.dir
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "FTRACE") && !strings.HasPrefix(v, "FTRACE_CACHE=") && !strings.HasPrefix(v, "FTRACE_GO=")
	})
	c.Env = append(append(c.Env, "GOFLAGS=", "GOWORK=off"), settings...)
	return c
}

// run runs a command, and returns what it prints. An error has the last line of that.
func (p *patient) run(settings []string, name string, args ...string) (string, error) {
	c := p.command(settings, name, args...)
	began := time.Now()
	out, err := c.CombinedOutput()
	fmt.Fprintf(&p.output, "$ %s\n%s(%.1fs)\n", strings.Join(append(slices.Clone(settings), c.Args...), " "), some(string(out)), time.Since(began).Seconds())
	if err != nil {
		if line := last(string(out)); line != "" {
			err = errors.New(line)
		}
		return string(out), fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return string(out), nil
}

// some returns the first and the last lines of what a command printed.
func some(out string) string {
	const first, end = 40, 20
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	lines := strings.SplitAfter(out, "\n") // the last one is empty
	if n := len(lines) - 1 - first - end; n > 0 {
		lines = slices.Replace(lines, first, first+n, fmt.Sprintf("(%d lines)\n", n))
	}
	return strings.Join(lines, "")
}

// last returns the last line of what a command printed.
func last(out string) string {
	out = strings.TrimSpace(out)
	return out[strings.LastIndexByte(out, '\n')+1:]
}

// find runs a command, and returns an error if what it prints does not match a pattern.
func (p *patient) find(pattern string, settings []string, name string, args ...string) error {
	out, err := p.run(settings, name, args...)
	if err != nil {
		return err
	}
	return has(out, pattern)
}

func has(text, pattern string) error {
	if !regexp.MustCompile(pattern).MatchString(text) {
		return fmt.Errorf("it prints %q; %s is expected", last(text), pattern)
	}
	return nil
}

func (p *patient) goCommand() (string, error) {
	var err error
	if p.goFile, err = gocmd.Path(); err != nil {
		return "", err
	}
	out, err := p.run(nil, p.goFile, "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.ReplaceAll(out, "\r", ""), "\n")
	if len(lines) < 3 {
		return "", fmt.Errorf("go env printed %q", out)
	}
	release, goos, goarch := lines[0], lines[1], lines[2]
	if err := toolexec.CheckRelease(release); err != nil {
		return "", err
	}
	if goos != runtime.GOOS || goarch != runtime.GOARCH {
		return "", fmt.Errorf("it builds for %s/%s, which can't be tried on %s/%s: unset GOOS and GOARCH", goos, goarch, runtime.GOOS, runtime.GOARCH)
	}
	return fmt.Sprintf("%s for %s/%s, %s", release, goos, goarch, p.goFile), nil
}

// build builds the program to a file of this name.
func (p *patient) build(name string, flags ...string) (string, error) {
	began := time.Now()
	if _, err := p.run(nil, p.goFile, append(append([]string{"build"}, flags...), "-o", p.program(name), ".")...); err != nil {
		return "", err
	}
	if err := p.find(`^42 <nil>\n$`, nil, p.program(name)); err != nil {
		return "", err
	}
	return fmt.Sprintf("took %.1fs", time.Since(began).Seconds()), nil
}

// program returns the path of an executable.
func (p *patient) program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return p.path(name)
}

func (p *patient) plain() (string, error)  { return p.build("plain") }
func (p *patient) hooked() (string, error) { return p.build("hooked", p.toolexec) }

// Lines of traces of the program.
const (
	call   = `\+ main\.double\(n=21\)`
	result = `\} = 42`
	calls  = call + `(.|\n)*` + result
)

func (p *patient) trace() (string, error) {
	return "calls with parameters and results, on stderr", p.find(calls, []string{"FTRACE=main.*"}, p.program("hooked"))
}

func (p *patient) traceFile() (string, error) {
	if _, err := p.run([]string{"FTRACE=main.*", "FTRACE_OUT=" + p.path("trace")}, p.program("hooked")); err != nil {
		return "", err
	}
	text, err := os.ReadFile(p.path("trace"))
	if err != nil {
		return "", err
	}
	return "the same in a file", has(string(text), calls)
}

func (p *patient) failing() (string, error) {
	return "a function returns an error in place of its results", p.find(`(?m)^42 ftrace-wrap: injected failure of main\.load$`, []string{"FTRACE_FAIL=main.load"}, p.program("hooked"))
}

func (p *patient) record() (string, error) {
	if _, err := p.run([]string{"FTRACE_RECORD=" + p.path("recording")}, p.program("hooked")); err != nil {
		return "", err
	}
	files, err := os.ReadDir(p.path("recording"))
	if err == nil && len(files) == 0 {
		err = errors.New("its directory is empty")
	}
	return "calls in a directory of files", err
}

// ftraceCommand looks for command ftrace beside ftrace-wrap, and then in PATH. It is to be of the
// same build.
func (p *patient) ftraceCommand() (string, error) {
	name := "ftrace"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	beside := filepath.Join(filepath.Dir(p.self), name)
	if _, err := os.Stat(beside); err == nil {
		p.ftrace = beside
	} else if p.ftrace, err = exec.LookPath(name); err != nil {
		return "", errors.New("it is neither beside ftrace-wrap nor in PATH: go install github.com/ftrace-wrap/ftrace-wrap/cmd/ftrace@latest")
	}
	out, err := p.run(nil, p.ftrace, "version")
	if err != nil {
		return "", err
	}
	if own := version.String("ftrace"); !strings.HasPrefix(out, own) {
		theirs, _, _ := strings.Cut(out, "\n")
		return "", fmt.Errorf("%s is %s, which is another build than that of ftrace-wrap: install both anew", p.ftrace, theirs)
	}
	return p.ftrace, nil
}

func (p *patient) replay() (string, error) {
	return "shows what was recorded", p.find(calls, nil, p.ftrace, "replay", p.path("recording"))
}

func (p *patient) attach() (string, error) {
	return "shows calls of a running program", p.live(`\+ main\.double\(n=1\)`, func(pid string) []string {
		return []string{"attach", "-f", "main.double", "-for", "300ms", pid}
	})
}

func (p *patient) sql() (string, error) {
	return "has the goroutines of a running program", p.live(`goroutine/main/main `, func(pid string) []string {
		return []string{"sql", pid, "SELECT NAME FROM threads"}
	})
}

// live runs ftrace on the program while that runs.
func (p *patient) live(pattern string, args func(pid string) []string) error {
	c := p.command(nil, p.program("hooked"), "on")
	input, err := c.StdinPipe()
	if err != nil {
		return err
	}
	output, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer c.Wait()
	defer input.Close() // it ends
	if _, err := io.ReadFull(output, make([]byte, 1)); err != nil {
		return fmt.Errorf("the program ended early: %v", err)
	}
	return p.find(pattern, nil, p.ftrace, args(strconv.Itoa(c.Process.Pid))...)
}
