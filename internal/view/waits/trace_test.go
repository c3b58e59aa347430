package waits

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
	"golang.org/x/exp/trace"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// reasons has, of each kind of waits, the reason that the runtime's own tracer has for it.
var reasons = map[string]string{
	"synch/mutex": "sync", "synch/rwlock/read": "sync", "synch/rwlock/write": "sync", "synch/waitgroup": "sync", "synch/once": "sync", "synch/semaphore": "sync",
	"synch/cond": "sync.(*Cond).Wait", "synch/chan/receive": "chan receive", "synch/chan/send": "chan send", "synch/select": "select", "sleep": "sleep",
	"gc/assist": "GC mark assist wait for work", "gc/cycle": "wait until GC ends",
}

// A stop is a time in which a goroutine did not run for a reason, in ns.
type stop struct {
	reason string
	lasted int64
}

// stops are what happened to a goroutine.
type stops struct {
	created  bool
	waits    []stop // but to have its stack scanned
	calls    []stop // system calls, and waits for the network, which operations on files consist of
	runnable int64
	yields   int // how often it became runnable without having waited
}

// build compiles testdata/traced, and returns the file.
func build(t *testing.T) (exe string) {
	t.Helper()
	exe = filepath.Join(t.TempDir(), "traced"+testenv.Exe())
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", exe, testenv.Toolexec(t, testenv.Build(t, "ftrace-wrap")), "./testdata/traced")
	cmd.Env = testenv.Environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// run runs that program with all waits recorded, and returns the directory with what it wrote.
func run(t *testing.T, exe string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	cmd := exec.Command(exe, dir)
	cmd.Env = append(testenv.Environ(), "FTRACE=main.*;wait/*", "FTRACE_RECORD="+filepath.Join(dir, "rec"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// traced reads what the runtime's tracer recorded of each goroutine.
func traced(t *testing.T, name string) map[uint64]*stops {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := trace.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	type since struct {
		at     trace.Time
		reason string
	}
	all, last := map[uint64]*stops{}, map[uint64]since{}
	for {
		e, err := r.ReadEvent()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind() != trace.EventStateTransition || e.StateTransition().Resource.Kind != trace.ResourceGoroutine {
			continue
		}
		change := e.StateTransition()
		id := uint64(change.Resource.Goroutine())
		g := all[id]
		if g == nil {
			g = &stops{}
			all[id] = g
		}
		from, to := change.Goroutine()
		if from == trace.GoNotExist && to == trace.GoRunnable {
			g.created = true
		}
		lasted := int64(e.Time() - last[id].at)
		switch reason := last[id].reason; {
		case from == trace.GoWaiting && reason == "network":
			g.calls = append(g.calls, stop{"", lasted})
		case from == trace.GoWaiting && reason != "preempted":
			g.waits = append(g.waits, stop{reason, lasted})
		case from == trace.GoSyscall:
			g.calls = append(g.calls, stop{"", lasted})
		case from == trace.GoRunnable:
			g.runnable += lasted
		}
		if to == trace.GoRunnable && (from == trace.GoRunning || from == trace.GoNotExist) {
			g.yields++
		}
		last[id] = since{e.Time(), change.Reason}
	}
}

// recorded reads what is in a recording, and the waits of each function by kind.
func recorded(t *testing.T, dir string) (map[uint64]*stops, []wait, *Waits) {
	t.Helper()
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := Find(walk.Source{Recording: r}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, flat := map[uint64]*stops{}, []wait{}
	for id, from := range ws.goroutines {
		g := &stops{}
		all[id] = g
		for _, w := range from.waits {
			flat = append(flat, w)
			lasted := int64(ws.clock.Between(w.begin, w.ready))
			g.runnable += int64(ws.clock.Between(w.ready, w.end))
			switch name := r.Function(w.kind).Name; name {
			case "cpu", "gc/stw":
				g.yields++
				g.runnable += lasted
			case "gc/scan":
			case "syscall", "io/file/read", "io/file/write", "io/file/misc", "io/pipe/read", "io/pipe/write", "io/pipe/misc":
				g.calls = append(g.calls, stop{"", lasted})
			default:
				g.waits = append(g.waits, stop{reasons[name], lasted})
			}
		}
	}
	return all, flat, ws
}

// far reports whether two times differ by more than a clock that is read twice. A thread may lose
// its processor between the readings, so single times may be far.
func far(a, b int64) bool { return math.Abs(float64(a-b)) > 100e3+float64(b)/100 }

// TestRuntimesOwn: what goroutines wait for, and how their times divide, is what the runtime's
// tracer and its profiles have of the same run.
func TestRuntimesOwn(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("compiles a program, and records to files")
	}
	exe := build(t)
	// A thread that loses its processor between the two readings of the clock makes times differ.
	// On a busy machine that can happen to a long one, but not in each run to one of the same.
	const runs = 5
	for i := range runs {
		differ := compare(t, run(t, exe))
		if len(differ) == 0 {
			return
		}
		say := t.Logf
		if i == runs-1 {
			say = t.Errorf
		}
		say("run %d of %d:\n%s", i+1, runs, strings.Join(differ, "\n"))
	}
}

// compare says which times differ between the recording, the runtime's trace and its profiles in
// dir. What is waited for may not differ in any run.
func compare(t *testing.T, dir string) (differ []string) {
	t.Helper()
	errorf := func(format string, args ...any) { differ = append(differ, fmt.Sprintf(format, args...)) }
	theirs := traced(t, filepath.Join(dir, "trace"))
	ours, flat, ws := recorded(t, filepath.Join(dir, "rec"))
	compared, times, farOff := 0, 0, 0
	var waits, yields, runnable [2]int64
	for id, want := range theirs {
		got := ours[id]
		if !want.created || got == nil {
			continue // one of the runtime's, or it began before
		}
		compared++
		names := func(list []stop) (names []string) {
			for _, s := range list {
				names = append(names, s.reason)
			}
			return names
		}
		if !slices.Equal(names(got.waits), names(want.waits)) {
			t.Errorf("G%d waited for\n%q, by go tool trace\n%q", id, names(got.waits), names(want.waits))
			continue
		}
		for i, s := range want.waits {
			if times++; far(got.waits[i].lasted, s.lasted) {
				farOff++
			}
			waits[0] += got.waits[i].lasted
			waits[1] += s.lasted
		}
		long := func(list []stop) int {
			return len(slices.DeleteFunc(slices.Clone(list), func(s stop) bool { return s.lasted < 5e6 }))
		}
		if g, w := long(got.calls), long(want.calls); g != w {
			errorf("G%d: %d long system calls, by go tool trace %d", id, g, w)
		}
		yields[0] += int64(got.yields)
		yields[1] += int64(want.yields)
		runnable[0] += got.runnable
		runnable[1] += want.runnable
	}
	t.Logf("%d goroutines, %d times, %d of them far; waits %d ns, runnable %d ns, yields %d", compared, times, farOff, waits, runnable, yields)
	if compared < 17 || farOff > times/4 {
		errorf("of %d goroutines, %d of %d times differ", compared, farOff, times)
	}
	for name, of := range map[string][2]int64{"waiting": waits, "runnable": runnable, "times without a wait": yields} {
		if d := math.Abs(float64(of[0] - of[1])); d > float64(of[1])/10+2 {
			errorf("%s: %d, by go tool trace %d", name, of[0], of[1])
		}
	}
	block := compareProfile(t, ws, filepath.Join(dir, "block"), 0.1, flat, func(w *wait) string {
		if strings.HasPrefix(ws.r.Function(w.kind).Name, "synch/") {
			return ws.r.Site(w.site).Function
		}
		return ""
	})
	// Of all that waited behind one another for a lock, this profile estimates the times.
	mutex := compareProfile(t, ws, filepath.Join(dir, "mutex"), 0.5, flat, func(w *wait) string {
		switch ws.r.Function(w.kind).Name {
		case "synch/mutex", "synch/rwlock/read", "synch/rwlock/write", "synch/once":
			if w.byCall.function != 0 {
				return ws.r.Function(w.byCall.function).FullName()
			}
		}
		return ""
	})
	return slices.Concat(differ, block, mutex)
}

// compareProfile compares a profile, by the innermost function of the program, with the waits of
// which in returns one, and says in what they differ. Times may differ by that part.
func compareProfile(t *testing.T, ws *Waits, name string, part float64, flat []wait, in func(w *wait) string) (differ []string) {
	t.Helper()
	errorf := func(format string, args ...any) { differ = append(differ, fmt.Sprintf(format, args...)) }
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	type sum struct{ n, ns int64 }
	got, want := map[string]sum{}, map[string]sum{}
	for _, s := range p.Sample {
		if of := innermostOf(s); of != "" {
			want[of] = sum{want[of].n + s.Value[0], want[of].ns + s.Value[1]}
		}
	}
	for i := range flat {
		if of := in(&flat[i]); strings.HasPrefix(of, "main.") && !flat[i].open {
			got[of] = sum{got[of].n + 1, got[of].ns + int64(ws.clock.Between(flat[i].begin, flat[i].ready))}
		}
	}
	t.Logf("%s: %v, by the profile %v", filepath.Base(name), got, want)
	for of, w := range want {
		g := got[of]
		if d := math.Abs(float64(g.ns - w.ns)); d > float64(w.ns)*part+2e6 {
			errorf("%s: %s: %d ns of waits, %d by the profile", filepath.Base(name), of, g.ns, w.ns)
		}
		delete(got, of)
	}
	for of, g := range got {
		if g.ns > 2e6 {
			errorf("%s: %s: %d ns of waits, none by the profile", filepath.Base(name), of, g.ns)
		}
	}
	return differ
}

// innermostOf returns the innermost function of package main.
func innermostOf(s *profile.Sample) string {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if strings.HasPrefix(line.Function.Name, "main.") {
				return line.Function.Name
			}
		}
	}
	return ""
}
