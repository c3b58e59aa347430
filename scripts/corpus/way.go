package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A way is one manner of building and running: plain, off or armed.
type way struct {
	name     string
	toolexec string   // the flag that puts the wrapper into a go command, "" if plain
	goflags  string   // the same, or nothing, for GOFLAGS
	env      []string // what it adds to the environment
	traces   string   // the folder of the trace files, "" if none are expected
}

// ways returns plain, off and armed, in this order. Trace files go into a folder of their own in
// scratch.
func ways(o *options, scratch string) ([]*way, error) {
	var build []string
	if o.packages != "" {
		build = []string{"FTRACE_PACKAGES=" + o.packages}
	}
	traces := filepath.Join(scratch, "traces")
	if err := os.MkdirAll(traces, 0o777); err != nil {
		return nil, err
	}
	if err := os.Chmod(traces, 0o777); err != nil { // tests may change their user
		return nil, err
	}
	armed := append(build[:len(build):len(build)],
		"FTRACE="+o.rule, "FTRACE_OUT="+filepath.Join(traces, "trace-%p.txt"))
	goflags := ""
	toolexec, err := words.Toolexec(o.wrap)
	if err != nil {
		return nil, err
	}
	if o.nested {
		if goflags, err = words.QuoteGoFlag(toolexec); err != nil {
			return nil, err
		}
	}
	return []*way{
		{name: "plain"},
		{name: "off", toolexec: toolexec, goflags: goflags, env: build},
		{name: "armed", toolexec: toolexec, goflags: goflags, env: armed, traces: traces},
	}, nil
}

// environ is the environment of the way's processes.
func (w *way) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "FTRACE") || strings.HasPrefix(kv, "FTRACE_GO=") {
			env = append(env, kv)
		}
	}
	if os.Getenv("GOWORK") == "" {
		env = append(env, "GOWORK=off")
	}
	if w.goflags != "" {
		env = append(env, "GOFLAGS="+strings.TrimSpace(goflags()+" "+w.goflags))
	}
	return append(env, w.env...)
}

// goflags is the value of GOFLAGS, also when it was set with go env -w.
func goflags() string {
	out, _ := exec.Command("go", "env", "GOFLAGS").Output()
	return strings.TrimSpace(string(out))
}

// flags are the flags that the way adds to go build and go test.
func (w *way) flags() []string {
	if w.toolexec == "" || w.goflags != "" {
		return nil
	}
	return []string{w.toolexec}
}

// command makes a command of the way, to be run in dir.
func (w *way) command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(w.environ(), "PWD="+dir)
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// goTest runs go test -json in dir and returns what it said. Failing tests are not an error.
func (w *way) goTest(ctx context.Context, dir string, args ...string) (*suite, error) {
	args = append(append([]string{"test", "-json", "-count=1"}, w.flags()...), args...)
	cmd := w.command(ctx, dir, "go", args...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, err
	}
	s, err := parse(bytes.NewReader(out.Bytes()))
	if err != nil {
		return nil, err
	}
	s.raw, s.stderr, s.wall = out.Bytes(), stderr.String(), wall
	if w.traces != "" {
		if s.trace, err = sweep(w.traces); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// size is the size of trace files.
type size struct {
	files        int
	bytes, lines int64
}

func (s *size) add(t size) { s.files += t.files; s.bytes += t.bytes; s.lines += t.lines }

func (s size) String() string {
	return fmt.Sprintf("%s, %d lines", byteCount(s.bytes), s.lines)
}

func byteCount(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// sweep counts and removes the trace files in dir.
func sweep(dir string) (size, error) {
	var total size
	entries, err := os.ReadDir(dir)
	if err != nil {
		return total, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		s, err := measure(path)
		if err != nil {
			return total, err
		}
		total.add(s)
		if err := os.Remove(path); err != nil {
			return total, err
		}
	}
	return total, nil
}

func measure(path string) (size, error) {
	s := size{files: 1}
	f, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	buf := make([]byte, 1<<20)
	for {
		n, err := r.Read(buf)
		s.bytes += int64(n)
		s.lines += int64(bytes.Count(buf[:n], []byte("\n")))
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return s, err
		}
	}
}
