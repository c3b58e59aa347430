package gocmd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ftrace-wrap/ftrace-wrap/internal/signals"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec"
)

// Run builds a program and runs it, as go run does with the same arguments: build flags, a package
// or its files, and arguments of the program. Unlike go run it returns the program's own exit
// status.
func Run(args []string) (status int, err error) {
	r, err := parseRun(args)
	if err != nil {
		return 0, ArgumentError{err}
	}
	if err := SelectVersioned(append([]string{"run"}, r.packages...)); err != nil {
		return 0, err
	}
	if r.dir != "" {
		if err := os.Chdir(r.dir); err != nil {
			return 0, fmt.Errorf("-C: %v", err)
		}
	}
	temp, err := os.MkdirTemp(os.Getenv("GOTMPDIR"), "ftrace-wrap-run-")
	if err != nil {
		return 0, fmt.Errorf("making a directory for the program: %v: set TMPDIR or GOTMPDIR to a writable one", err)
	}
	defer os.RemoveAll(temp)
	// Ctrl-C reaches the go command and the program as well, and we have to tidy up after them.
	ends := make(chan os.Signal, 1)
	signals.Notify(ends, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	end := AnnounceFirst()
	status, err = r.build(temp, ends)
	if end != nil {
		end()
	}
	if status != 0 || err != nil || r.dry {
		return status, err
	}
	program, err := r.program(temp)
	if err != nil {
		return 0, err
	}
	return runForwarding(exec.Command(program, r.args...), ends)
}

// An ArgumentError says what is wrong with the arguments of a command.
type ArgumentError struct{ error }

// programRun is what is to be run.
type programRun struct {
	flags    []string // of go build
	packages []string // one package, or files
	args     []string // of the program
	dir      string   // -C
	dry      bool     // -n
	toolexec string
}

// parseRun reads the arguments as go run does.
func parseRun(args []string) (*programRun, error) {
	flag, err := ToolexecFlag("run", args)
	if err != nil {
		return nil, err
	}
	flags, rest := SplitFlags(args)
	r := &programRun{toolexec: flag}
	for i := 0; i < len(flags); i++ {
		name, value, inline := FlagName(flags[i])
		switch name {
		case "o", "exec":
			return nil, fmt.Errorf("%s: the program is built to run once, as it is: use ftrace-wrap go build -o, or ftrace-wrap go run -exec", flags[i])
		case "n":
			r.dry = value != "false"
		case "C":
			if i > 0 {
				return nil, errors.New("-C: it must be the first flag")
			}
			if !inline && len(flags) > 1 {
				i++
				value = flags[i]
			}
			r.dir = value
			continue
		}
		r.flags = append(r.flags, flags[i])
		if !inline && slices.Contains(ValueFlags, name) && i+1 < len(flags) {
			i++
			r.flags = append(r.flags, flags[i])
		}
	}
	n := 0
	for n < len(rest) && strings.HasSuffix(rest[n], ".go") {
		n++
	}
	if n == 0 && len(rest) > 0 {
		n = 1
	}
	if n == 0 {
		return nil, errors.New("no program given: name a package or its files, as in ftrace-wrap run ./cmd/app")
	}
	r.packages, r.args = rest[:n], rest[n:]
	return r, nil
}

// build puts the program into dir, under the name that go build would give it. Like go run it
// leaves out the version control stamp, which needs a clean checkout and tells the program nothing
// here.
func (r *programRun) build(dir string, ends <-chan os.Signal) (status int, err error) {
	path, err := Path()
	if err != nil {
		return 0, err
	}
	args := append([]string{"build", r.toolexec, "-buildvcs=false"}, r.flags...)
	var env []string
	if strings.Contains(r.packages[0], "@") { // a version: only go install has those
		args[0] = "install"
		env = append(os.Environ(), "GOBIN="+dir)
	} else {
		args = append(args, "-o", dir+string(filepath.Separator))
	}
	cmd := exec.Command(path, append(args, r.packages...)...)
	cmd.Env = env
	return runForwarding(cmd, ends)
}

// program returns the one program in dir.
func (r *programRun) program(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("looking for the program: %v", err)
	}
	if len(entries) != 1 {
		return "", fmt.Errorf("%s: %d programs, not one: name one main package", strings.Join(r.packages, " "), len(entries))
	}
	return filepath.Join(dir, entries[0].Name()), nil
}

// runForwarding runs a command with our standard files and returns its exit status. What the
// terminal sends reaches the command by itself; SIGTERM, which others send to us alone, is passed
// on.
func runForwarding(cmd *exec.Cmd, ends <-chan os.Signal) (status int, err error) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-ends:
				if s == syscall.SIGTERM {
					cmd.Process.Signal(s)
				}
			case <-done:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(done)
	return exitStatus(err)
}

// exitStatus returns the exit status of a command that has ended, as shells have it.
func exitStatus(err error) (int, error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
	}
	return toolexec.ExitStatus(err)
}
