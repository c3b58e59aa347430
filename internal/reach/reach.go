// Package reach keeps which tests reach which functions, and with which values.
//
// In come recordings of test programs, made by "ftrace-wrap test -index" ([Index.Add]), and a
// function or a git diff. Out come the tests that reach it. The index is a file in the user's cache
// directory, one a module or workspace, for its owner only, since it has values. Command
// ftrace-wrap calls it; it runs no tests.
package reach

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// An Index has what each test reaches.
type Index struct {
	file  string
	Tests []*Test
}

// A Test is one top-level test. What its subtests and goroutines reach is its own.
type Test struct {
	Package string // what go test takes
	Name    string
	Reached []*Reached
}

// Reached is a function that a test reaches.
type Reached struct {
	Package, ImportPath, Clause, Name string

	Short   string // the name as lines have it
	File    string
	Line    int
	Calls   uint64
	Samples []string // parameters and results of the first calls that differ
}

const samplesMax = 3 // of a function in a test

var address = words.Regexp(`0x[0-9a-f]+`)

// Open reads the index of the module or workspace with that root. There may be none yet.
func Open(root string) (*Index, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(root))
	x := &Index{file: filepath.Join(cache, "ftrace-wrap", "reach-"+hex.EncodeToString(sum[:8])+".json")}
	text, err := os.ReadFile(x.file)
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &x.Tests)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the index: %w: remove %s, then ftrace-wrap test -index makes it anew", err, x.file)
	}
	return x, nil
}

// Save writes the index.
func (x *Index) Save() error {
	text, err := json.Marshal(x.Tests)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(x.file), 0o700)
	}
	if err != nil {
		return err
	}
	f, err := ownfile.Replace(x.file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Commit()
}

type (
	stack = walk.Stack[struct{}, struct{}]
	frame = walk.Frame[struct{}]
)

// begun is a call under way, of which a sample may be taken.
type begun struct {
	of   *Reached
	args string
	take bool
}

var testName = words.Regexp(`^(Test|Fuzz|Example|Benchmark)([^a-z.][^.]*)?$`)

// Add takes in what a test program recorded. What the index had of these tests goes.
func (x *Index) Add(dir string) error {
	r, err := recording.Open(dir)
	if err != nil {
		return err
	}
	printer := r.Printer(recording.DefaultFormat)
	type key struct {
		test     *Test
		function uint32
	}
	tests, of, reached, under := map[string]*Test{}, map[uint64]*Test{}, map[key]*Reached{}, map[uint64][]begun{}
	w := walk.New[struct{}, struct{}](walk.Source{Recording: r})
	w.More = func(st *stack, _ *frame, e *recording.Event) {
		if e.Kind == recording.GoroutineStart {
			of[e.Goroutine] = of[e.Parent]
		}
	}
	w.Wait = func(*stack, *recording.Event) {}
	w.Begin = func(st *stack, c *frame, e *recording.Event) {
		f := r.Function(c.Function)
		if isTest(f) {
			name := f.FullName()
			if tests[name] == nil {
				tests[name] = &Test{Package: strings.TrimSuffix(f.ImportPath, "_test"), Name: f.Name}
			}
			of[st.Goroutine] = tests[name]
		}
		b, test := begun{}, of[st.Goroutine]
		if test != nil {
			k := key{test, c.Function}
			if b.of = reached[k]; b.of == nil {
				b.of = &Reached{Package: f.Package, ImportPath: f.ImportPath, Clause: f.Clause, Name: f.Name, Short: f.ShortName(), File: f.File, Line: f.Line}
				reached[k] = b.of
				test.Reached = append(test.Reached, b.of)
			}
			b.of.Calls++
			if b.take = len(b.of.Samples) < samplesMax; b.take && e.Kind == recording.EntryArgs {
				b.args = string(printer.Append(nil, 0, e, f.Params))
			}
		}
		under[st.Goroutine] = append(under[st.Goroutine], b)
	}
	w.End = func(st *stack, c *frame, e *recording.Event) {
		calls := under[st.Goroutine]
		if c == nil || len(calls) == 0 {
			return
		}
		b := calls[len(calls)-1]
		under[st.Goroutine] = calls[:len(calls)-1]
		if !b.take || e == nil {
			return
		}
		sample := "(" + b.args + ")"
		switch {
		case e.Kind == recording.ExitResults && e.Layout != 0:
			sample += " = " + string(printer.Append(nil, 0, e, r.Function(c.Function).Results))
		case e.Kind == recording.ExitPanic:
			sample += " panic " + string(printer.AppendPanic(nil, 0, e))
		}
		like := func(other string) bool { // addresses differ in any case
			return address().ReplaceAllString(other, "") == address().ReplaceAllString(sample, "")
		}
		if len(b.of.Samples) < samplesMax && !slices.ContainsFunc(b.of.Samples, like) {
			b.of.Samples = append(b.of.Samples, sample)
		}
	}
	if err := w.Run(nil); err != nil {
		return err
	}
	same := func(a *Test) func(b *Test) bool {
		return func(b *Test) bool { return a.Package == b.Package && a.Name == b.Name }
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		x.Tests = append(slices.DeleteFunc(x.Tests, same(tests[name])), tests[name])
	}
	slices.SortStableFunc(x.Tests, func(a, b *Test) int { return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Name, b.Name)) })
	return nil
}

// isTest reports whether go test calls a function as a test.
func isTest(f *recording.Function) bool {
	return strings.HasSuffix(f.File, "_test.go") && testName().MatchString(f.Name)
}

// Write writes the tests that reach the functions which a GLOB of rules names, with samples of the
// calls. It returns how many there are.
func (x *Index) Write(out io.Writer, glob string) (n int, err error) {
	for _, t := range x.Tests {
		said := false
		for _, r := range t.Reached {
			if !rule.MatchFunc(glob, &rule.Func{Package: r.Package, ImportPath: r.ImportPath, PackageName: r.Clause, Name: r.Name, File: r.File, Line: r.Line}) {
				continue
			}
			if !said {
				n++
				said = true
				fmt.Fprintf(out, "%s.%s\n", t.Package, t.Name)
			}
			fmt.Fprintf(out, "    %s, %d %s\n", r.Short, r.Calls, map[bool]string{true: "call", false: "calls"}[r.Calls == 1])
			for _, s := range r.Samples {
				if _, err = fmt.Fprintf(out, "        %s\n", s); err != nil {
					return n, err
				}
			}
		}
	}
	return n, err
}

// Functions returns the names of the functions that tests reach.
func (x *Index) Functions() []string {
	names := map[string]bool{}
	for _, t := range x.Tests {
		for _, r := range t.Reached {
			names[r.Package+"."+r.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
