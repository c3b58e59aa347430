package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A module is a checkout to be tested.
type module struct{ dir, path, commit string }

func openModule(ctx context.Context, dir string) (*module, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return nil, err
	}
	list := (&way{}).command(ctx, dir, "go", "list", "-m")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %v", stderrOf(err))
	}
	m := &module{dir: dir, path: strings.TrimSpace(string(out)), commit: "-"}
	if out, err := exec.CommandContext(ctx, "git", "-C", dir, "rev-parse", "--short", "HEAD").Output(); err == nil {
		m.commit = strings.TrimSpace(string(out))
	}
	return m, nil
}

// stderrOf adds to an error of exec what the command printed.
func stderrOf(err error) error {
	if exit, ok := err.(*exec.ExitError); ok {
		return fmt.Errorf("%v: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}

// testModule runs the tests and the programs of the module in dir all three ways and compares.
func testModule(ctx context.Context, o *options, dir, scratch string, progress io.Writer) (*report, error) {
	m, err := openModule(ctx, dir)
	if err != nil {
		return nil, err
	}
	ways, err := ways(o, scratch)
	if err != nil {
		return nil, err
	}
	r := &report{module: m}
	t := &tester{o: o, m: m, ways: ways, scratch: scratch, progress: progress, report: r}
	if !o.notest {
		if err := t.tests(ctx); err != nil {
			return nil, err
		}
	}
	for _, line := range o.programs {
		if err := t.program(ctx, line); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// A tester is the work on one module.
type tester struct {
	o        *options
	m        *module
	ways     []*way
	scratch  string
	progress io.Writer
	report   *report
}

func (t *tester) say(format string, args ...any) {
	fmt.Fprintf(t.progress, "%s: %s\n", t.m.path, fmt.Sprintf(format, args...))
}

// tests runs the module's tests and puts the differences into the report.
func (t *tester) tests(ctx context.Context) error {
	for _, w := range t.ways {
		s, err := w.goTest(ctx, t.m.dir, t.o.testArgs(t.o.run, t.o.patterns...)...)
		if err != nil {
			return fmt.Errorf("%s: %v", w.name, err)
		}
		c := s.results.count()
		t.say("%s: %d tests, %d failed, %.1fs", w.name, c.tests, c.fail, s.wall.Seconds())
		t.report.suites = append(t.report.suites, s)
		if err := t.save(w.name+".json", s.raw); err != nil {
			return err
		}
		if err := t.save(w.name+".stderr", []byte(s.stderr)); err != nil {
			return err
		}
	}
	plain := t.report.suites[0]
	if len(plain.results) == 0 {
		return fmt.Errorf("go test reported no package: %s", strings.TrimSpace(plain.stderr))
	}
	for i, w := range t.ways[1:] {
		diffs := compare(w.name, plain, t.report.suites[i+1])
		if t.o.repeatFlaky {
			if err := t.repeat(ctx, w, diffs); err != nil {
				return err
			}
		}
		t.report.diffs = append(t.report.diffs, diffs...)
	}
	return nil
}

// testArgs are the arguments of go test, -json and -count=1 apart.
func (o *options) testArgs(run string, patterns ...string) []string {
	args := strings.Fields(o.goflags)
	if run != "" {
		args = append(args, "-run="+run)
	}
	if o.skip != "" {
		args = append(args, "-skip="+o.skip)
	}
	if o.short {
		args = append(args, "-short")
	}
	if o.timeout != "" {
		args = append(args, "-timeout="+o.timeout)
	}
	return append(args, patterns...)
}

const repetitions = 3

// repeat runs what differs again, plainly to mark what is flaky anyhow, and the way that it
// differed.
func (t *tester) repeat(ctx context.Context, w *way, diffs []*difference) error {
	err := t.repeatWay(ctx, t.ways[0], diffs, func(diffs []*difference, r results) { markFlaky(diffs, r) })
	if err != nil {
		return err
	}
	differed := map[*difference]int{}
	var steady []*difference
	for _, d := range diffs {
		if !d.flaky {
			steady = append(steady, d)
		}
	}
	err = t.repeatWay(ctx, w, steady, func(diffs []*difference, r results) {
		for _, d := range diffs {
			if r.get(d.key) != d.plain {
				differed[d]++
			}
		}
	})
	for _, d := range steady {
		d.again = fmt.Sprintf("%d/%d", differed[d], repetitions)
		if d.plain == missing && differed[d] == 0 {
			d.flaky = true // a name that neither way repeats
		}
	}
	return err
}

// repeatWay runs the tests in diffs again one way, and calls seen with the differences of a package
// and what came of them this time.
func (t *tester) repeatWay(ctx context.Context, w *way, diffs []*difference, seen func([]*difference, results)) error {
	for _, r := range reruns(diffs, t.o.run) {
		var here []*difference
		for _, d := range diffs {
			if d.Package == r.pkg {
				here = append(here, d)
			}
		}
		for n := range repetitions {
			s, err := w.goTest(ctx, t.m.dir, t.o.testArgs(r.run, r.pkg)...)
			if err != nil {
				return err
			}
			t.say("%s again: %s %s: %d of %d", w.name, r.pkg, r.run, n+1, repetitions)
			seen(here, s.results)
		}
	}
	return nil
}

// save writes a file for -keep.
func (t *tester) save(name string, data []byte) error {
	if t.o.keep == "" {
		return nil
	}
	dir := filepath.Join(t.o.keep, strings.ReplaceAll(t.m.path, "/", "_"))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), data, 0o666)
}
