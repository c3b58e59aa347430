// Package flake runs a test until it has passed and failed, and finds out what differed.
//
// In come flags and a package. Its tests are built with hooks and run again and again, each time
// recorded, most times with the scheduler shaken. Once a run has failed, more are made that pass
// with the same number of processors. The command ftrace then compares the recordings. Command
// ftrace-wrap calls it for its verb flake. It reads no recordings itself.
package flake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/progress"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rundir"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/targets"
)

// Options say what is run.
type Options struct {
	Count   int           // runs at most
	Good    int           // recordings of passing runs to compare with
	Tests   string        // regular expression for their names
	Funcs   string        // FTRACE: what is recorded; "": as the environment says, or all
	Dir     string        // for the recordings
	Calm    bool          // the scheduler is not shaken
	CPU     int           // GOMAXPROCS of all runs; 0: it varies
	Seed    int           // of the first run that is shaken
	Timeout time.Duration // of a run
	Build   []string      // flags of go test -c
	Package string
	Args    []string // flags of the tests
}

// Run runs the tests, and writes what it finds. It reports whether a run failed.
func Run(stdout, stderr io.Writer, o *Options) (failed bool, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	f := &flaker{Options: *o, out: stdout, progress: progress.New(os.Stderr, screen.Terminal(os.Stderr))}
	if f.Dir, err = filepath.Abs(o.Dir); err != nil {
		return false, err
	}
	if err := rundir.Make(f.Dir, "flake", "-o"); err != nil {
		return false, err
	}
	if err := f.build(ctx, stderr); err != nil {
		return false, err
	}
	defer f.progress.End()
	if err := f.search(ctx); err != nil {
		return false, err
	}
	f.progress.End()
	return f.tell(stdout, stderr)
}

// flaker is one run of the command.
type flaker struct {
	Options
	out            io.Writer
	progress       *progress.Display
	program        string // the tests
	in             string // the package's directory
	good           []run  // that passed, of which the recordings are kept
	bad            *run   // the first that failed
	passed, failed int
	spent          time.Duration // in runs that passed
}

// A run is one of the program, with the settings that shake it.
type run struct {
	n          int
	processors int  // GOMAXPROCS; 0: as it is
	seed       int  // FTRACE_SHAKE; 0: none
	busy       bool // others use the processors meanwhile
	output     []byte
	recording  string
}

// build builds the tests.
func (f *flaker) build(ctx context.Context, stderr io.Writer) error {
	toolexec, err := gocmd.ToolexecFlag("test", f.Build)
	if err != nil {
		return err
	}
	goCommand, err := gocmd.Path()
	if err != nil {
		return err
	}
	gocmd.AnnounceFirst()
	f.progress.Say("flake: building the tests of %s", f.Package)
	list := exec.CommandContext(ctx, goCommand, slices.Concat([]string{"list", "-f", "{{.ImportPath}}\t{{.Dir}}"}, targets.LoadFlags(f.Build), []string{f.Package})...)
	list.Stderr = stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list %s: %v", f.Package, err)
	}
	name, in, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	if strings.Contains(in, "\n") {
		return fmt.Errorf("%s is more than one package: name the one with the test", f.Package)
	}
	f.in, f.program = in, filepath.Join(f.Dir, path.Base(name)+".test")
	if runtime.GOOS == "windows" {
		f.program += ".exe"
	}
	cmd := exec.CommandContext(ctx, goCommand, slices.Concat([]string{"test", "-c", toolexec, "-o", f.program}, f.Build, []string{f.Package})...)
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Run(); err != nil {
		f.progress.End()
		stderr.Write(printed.Bytes())
		return fmt.Errorf("building the tests of %s: %v", f.Package, err)
	}
	if _, err := os.Stat(f.program); err != nil {
		return fmt.Errorf("%s has no tests", f.Package)
	}
	return nil
}

// search runs the tests until there are recordings of both kinds.
func (f *flaker) search(ctx context.Context) error {
	for n := 1; n <= f.Count && ctx.Err() == nil; n++ {
		r := f.settings(n)
		f.progress.Show("flake: run %d: %d passed, %d failed", n, f.passed, f.failed)
		ok, err := f.run(ctx, r)
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return f.remove(r)
		case ok:
			f.passed++
			err = f.keep(r)
		default:
			if f.failed++; f.bad == nil {
				f.bad = r
			} else {
				err = f.remove(r)
			}
		}
		if err != nil {
			return err
		}
		if f.bad != nil && (f.enough() || n >= f.bad.n+20*f.Good) {
			break
		}
	}
	return f.choose()
}

// like reports whether a run had as many processors as the one that failed, and was as busy.
func (f *flaker) like(r run) bool {
	return r.processors == f.bad.processors && r.busy == f.bad.busy
}

// enough reports whether as many passing runs that were like the one that failed are there as are
// wanted.
func (f *flaker) enough() bool {
	n := 0
	for _, r := range f.good {
		if f.like(r) {
			n++
		}
	}
	return n >= f.Good
}

// choose chooses the passing runs to compare with, first those that were like the one that failed,
// and removes the recordings of the others.
func (f *flaker) choose() error {
	if f.bad == nil {
		return nil
	}
	unlike := func(r run) int {
		if f.like(r) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(f.good, func(a, b run) int { return unlike(a) - unlike(b) })
	for len(f.good) > f.Good {
		last := len(f.good) - 1
		if err := f.remove(&f.good[last]); err != nil {
			return err
		}
		f.good = f.good[:last]
	}
	return nil
}

// settings returns the settings of the nth run. Runs take turns: one leaves the scheduler alone,
// one shakes it on one processor, one on all, one has more processors than the machine, and one has
// a busy machine. On one processor a run is nearly repeated by its seed.
func (f *flaker) settings(n int) *run {
	r := &run{n: n, processors: f.CPU}
	switch turn := n % 5; {
	case f.Calm:
	case f.bad != nil:
		r.processors, r.busy = f.bad.processors, f.bad.busy
		if f.bad.seed > 0 {
			r.seed = f.Seed + n
		}
	case f.CPU > 0:
		r.seed = f.Seed + n
	case turn == 2:
		r.processors, r.seed = 1, f.Seed+n
	case turn == 3:
		r.processors, r.seed = max(2, runtime.NumCPU()), f.Seed+n
	case turn == 4:
		r.processors = 4 * runtime.NumCPU()
	case turn == 0:
		r.busy = true
	}
	return r
}

// env returns the settings as variables of the environment.
func (r *run) env() (list []string) {
	if r.processors > 0 {
		list = append(list, fmt.Sprintf("GOMAXPROCS=%d", r.processors))
	}
	if r.seed > 0 {
		list = append(list, fmt.Sprintf("FTRACE_SHAKE=%d", r.seed))
	}
	return list
}

// args returns the program's.
func (f *flaker) args() []string {
	return append([]string{"-test.run=" + f.Tests, "-test.timeout=" + f.Timeout.String()}, f.Args...)
}

// run runs the tests, and reports whether they pass.
func (f *flaker) run(ctx context.Context, r *run) (ok bool, err error) {
	r.recording = filepath.Join(f.Dir, fmt.Sprintf("run%d", r.n))
	limited, cancel := context.WithTimeout(ctx, f.Timeout+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(limited, f.program, f.args()...)
	cmd.Dir = f.in
	cmd.Env = append(os.Environ(), append(r.env(), "PWD="+f.in, "FTRACE_RECORD="+r.recording)...)
	if f.Funcs != "" {
		cmd.Env = append(cmd.Env, "FTRACE="+f.Funcs)
	}
	cmd.WaitDelay = 2 * time.Second // for processes that it started
	var exit *exec.ExitError
	if r.busy {
		defer keepBusy(spinners())()
	}
	start := time.Now()
	r.output, err = cmd.CombinedOutput()
	switch {
	case err == nil && bytes.Contains(r.output, []byte("testing: warning: no tests to run")):
		return false, fmt.Errorf("no test of %s is matched by -run %s", f.Package, f.Tests)
	case err == nil:
		f.spent += time.Since(start)
		return true, nil
	case errors.As(err, &exit), cmd.ProcessState != nil:
		return false, nil
	}
	return false, fmt.Errorf("running the tests: %v", err)
}

// keep keeps the recording of a run that passed, and removes the oldest if there are enough.
func (f *flaker) keep(r *run) error {
	f.good = append(f.good, *r)
	// Of each of the settings in turn as many are kept as are wanted.
	if f.bad == nil && len(f.good) > 5*f.Good {
		oldest := f.good[0]
		f.good = f.good[1:]
		return f.remove(&oldest)
	}
	return nil
}

func (f *flaker) remove(r *run) error {
	if err := os.RemoveAll(r.recording); err != nil {
		return fmt.Errorf("removing a recording that is not needed: %v", err)
	}
	return nil
}

// spinners returns how many threads make the machine busy: a test gets a third of the time.
func spinners() int { return 2 * runtime.NumCPU() }

// keepBusy keeps n threads busy until stop is called. A timer of another program then fires late,
// and what happens a millisecond apart on an idle machine may happen at once.
func keepBusy(n int) (stop func()) {
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + n)
	var done atomic.Bool
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for !done.Load() {
			}
		})
	}
	return func() {
		done.Store(true)
		all.Wait()
		runtime.GOMAXPROCS(before)
	}
}
