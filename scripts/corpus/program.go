package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A progRun is what one execution of a program gave.
type progRun struct {
	exit   int
	stdout []byte
	stderr string
}

// outcome is the run in a few words, for a reader; it is not what is compared.
func (p *progRun) outcome() outcome {
	return outcome(fmt.Sprintf("exit %d, %d bytes", p.exit, len(p.stdout)))
}

func (p *progRun) equal(q *progRun) bool {
	return p.exit == q.exit && bytes.Equal(p.stdout, q.stdout)
}

// program builds and runs one -program all ways and puts the differences into the report.
func (t *tester) program(ctx context.Context, line string) error {
	words, err := words.Shell(line)
	if err != nil {
		return fmt.Errorf("-program %s: %v", line, err)
	}
	if len(words) == 0 {
		return fmt.Errorf("-program: no command given")
	}
	t.report.programs++
	k := key{"program " + line, ""}
	tmp := filepath.Join(t.scratch, "tmp")
	var plain *progRun
	for i, w := range t.ways {
		exe := filepath.Join(t.scratch, "program-"+w.name)
		if out, err := t.build(ctx, w, words[0], exe); err != nil {
			if i == 0 {
				return fmt.Errorf("-program %s: %v\n%s", line, err, out)
			}
			t.report.diffs = append(t.report.diffs,
				&difference{key: k, way: w.name, plain: plain.outcome(), got: noBuild, detail: string(out)})
			continue
		}
		got, err := t.execute(ctx, w, exe, tmp, words[1:])
		if err != nil {
			return fmt.Errorf("-program %s: %s: %v", line, w.name, err)
		}
		t.say("%s: program %s: %s", w.name, line, got.outcome())
		base := fmt.Sprintf("program%d-%s", t.report.programs, w.name)
		if err := errors.Join(t.save(base+".stdout", got.stdout), t.save(base+".stderr", []byte(got.stderr))); err != nil {
			return err
		}
		if i == 0 {
			plain = got
			continue
		}
		if !got.equal(plain) {
			d := &difference{key: k, way: w.name, plain: plain.outcome(), got: got.outcome(),
				detail: firstDifference(plain, got)}
			if err := t.repeatProgram(ctx, d, plain, tmp, words[1:]); err != nil {
				return err
			}
			t.report.diffs = append(t.report.diffs, d)
		}
	}
	return nil
}

// repeatProgram runs the plain program again and marks d as flaky if that is not always the same
// either.
func (t *tester) repeatProgram(ctx context.Context, d *difference, plain *progRun, tmp string, args []string) error {
	if !t.o.repeatFlaky {
		return nil
	}
	w := t.ways[0]
	for range repetitions {
		got, err := t.execute(ctx, w, filepath.Join(t.scratch, "program-"+w.name), tmp, args)
		if err != nil {
			return err
		}
		d.flaky = d.flaky || !got.equal(plain)
	}
	return nil
}

// build builds cmd, a folder within the module or a .go file, and returns what the go command
// printed.
func (t *tester) build(ctx context.Context, w *way, cmd, exe string) ([]byte, error) {
	target, err := t.target(cmd)
	if err != nil {
		return nil, err
	}
	args := append([]string{"build", "-o", exe}, w.flags()...)
	args = append(append(args, strings.Fields(t.o.goflags)...), target)
	return w.command(ctx, t.m.dir, "go", args...).CombinedOutput()
}

// target is what to tell go build to build for cmd.
func (t *tester) target(cmd string) (string, error) {
	if !strings.HasSuffix(cmd, ".go") {
		return "./" + filepath.ToSlash(filepath.Clean(cmd)), nil
	}
	if _, err := os.Stat(filepath.Join(t.m.dir, cmd)); err == nil {
		return filepath.Join(t.m.dir, cmd), nil
	}
	return filepath.Abs(cmd)
}

// execute runs exe in the module's folder with an empty folder tmp for $TMP in args.
func (t *tester) execute(ctx context.Context, w *way, exe, tmp string, args []string) (*progRun, error) {
	if err := os.RemoveAll(tmp); err != nil {
		return nil, err
	}
	if err := os.Mkdir(tmp, 0o777); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, t.o.limit())
	defer cancel()
	var full []string
	for _, a := range args {
		full = append(full, strings.ReplaceAll(a, "$TMP", tmp))
	}
	cmd := w.command(ctx, t.m.dir, exe, full...)
	// The program sees the same name whatever the way, as it may print it.
	cmd.Args[0] = filepath.Join(t.scratch, "program")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return nil, err // not even started
	}
	if ctx.Err() == context.Canceled {
		return nil, ctx.Err()
	}
	if ctx.Err() == context.DeadlineExceeded {
		fmt.Fprintf(&stderr, "corpus: killed after %v\n", t.o.limit())
	}
	if w.traces != "" {
		s, err := sweep(w.traces)
		if err != nil {
			return nil, err
		}
		t.report.trace.add(s)
	}
	return &progRun{cmd.ProcessState.ExitCode(), stdout.Bytes(), stderr.String()}, nil
}

// firstDifference describes where the runs part.
func firstDifference(plain, got *progRun) string {
	var b strings.Builder
	p, g := bytes.Split(plain.stdout, []byte("\n")), bytes.Split(got.stdout, []byte("\n"))
	for i := range max(len(p), len(g)) {
		if i < len(p) && i < len(g) && bytes.Equal(p[i], g[i]) {
			continue
		}
		fmt.Fprintf(&b, "stdout line %d: plain: %s\n", i+1, lineAt(p, i))
		fmt.Fprintf(&b, "stdout line %d: got:   %s\n", i+1, lineAt(g, i))
		break
	}
	if got.stderr != plain.stderr {
		fmt.Fprintf(&b, "stderr: %s", tail(got.stderr))
	}
	return b.String()
}

func lineAt(lines [][]byte, i int) string {
	if i >= len(lines) {
		return "(end)"
	}
	line := lines[i]
	return fmt.Sprintf("%q", line[:min(len(line), 300)])
}
