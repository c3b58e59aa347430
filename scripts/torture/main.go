// Torture changes all that can be changed of a trace at once, from inside of a program and from
// outside, while the program's goroutines call, panic, start and end, declare probes and fire them.
// The program must survive, return what it returns untraced, and in the end its calls must be
// counted exactly, in memory and in recordings.
//
// Usage, from the repository of ftrace-wrap:
//
//	go run ./scripts/torture [flags]
//
//	-for DURATION      how long each way
//	-ways REGEXP       which ways, of those below
//	-wrap PATH         the ftrace-wrap binary (default: built from cmd/ftrace-wrap of this repository)
//	-keep              leave what it writes where it is
//
// The ways are: plain; race, by the race detector; cgocheck2 and staticlockranking, experiments of
// Go's runtime that check its own rules; gccheckmark, clobberfree, asyncpreemptoff and gogc1, which
// check the garbage collector; budget, within a small FTRACE_BUDGET.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A way is how the program is built and run.
type way struct {
	name  string
	build []string // environment
	flags []string // of go build
	run   []string // environment
}

var ways = []way{
	{name: "plain"},
	{name: "race", flags: []string{"-race"}},
	{name: "cgocheck2", build: []string{"GOEXPERIMENT=cgocheck2"}},
	{name: "staticlockranking", build: []string{"GOEXPERIMENT=staticlockranking"}},
	{name: "gccheckmark", run: []string{"GODEBUG=gccheckmark=1"}},
	{name: "clobberfree", run: []string{"GODEBUG=clobberfree=1"}},
	{name: "asyncpreemptoff", run: []string{"GODEBUG=asyncpreemptoff=1"}},
	{name: "gogc1", run: []string{"GOGC=1"}},
	{name: "budget", run: []string{"FTRACE_BUDGET=1%"}},
}

func main() {
	long := flag.Duration("for", 10*time.Second, "how long each way")
	which := flag.String("ways", ".", "`regexp` of ways")
	wrap := flag.String("wrap", "", "`path` of ftrace-wrap (default: build it)")
	keep := flag.Bool("keep", false, "leave what it writes where it is")
	flag.Parse()
	if err := run(*long, *which, *wrap, *keep, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// run runs all ways that match, and returns what went wrong.
func run(long time.Duration, which, wrap string, keep bool, out io.Writer) error {
	chosen, err := regexp.Compile("^(?:" + which + ")")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "torture")
	if err != nil {
		return err
	}
	if keep {
		fmt.Fprintln(out, "in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	if wrap == "" {
		wrap = filepath.Join(dir, "ftrace-wrap")
		if err := build(nil, "-o", wrap, "github.com/ftrace-wrap/ftrace-wrap/cmd/ftrace-wrap"); err != nil {
			return err
		}
	}
	if wrap, err = filepath.Abs(wrap); err != nil {
		return err
	}
	if wrap, err = words.QuoteGoFlag(wrap); err != nil { // it becomes part of a flag, and no more
		return err
	}
	failed := 0
	for _, w := range ways {
		if !chosen.MatchString(w.name) {
			continue
		}
		own := filepath.Join(dir, w.name)
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		did, err := w.torture(own, wrap, long)
		fmt.Fprintf(out, "%-18s %s\n", w.name, did)
		if err != nil {
			failed++
			fmt.Fprintf(out, "%-18s FAILED: %v\n", w.name, err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d ways failed", failed)
	}
	return nil
}

// build runs go build.
func build(env []string, args ...string) error {
	cmd := exec.Command("go", append([]string{"build"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// A program is one that is tortured.
type program struct {
	*live.Process
	dir    string
	lines  *bufio.Scanner
	in     io.Writer
	errors bytes.Buffer // of its standard error, which is not the trace
}

// torture builds and runs the program, and returns what was done.
func (w way) torture(dir, wrap string, long time.Duration) (did string, err error) {
	exe := filepath.Join(dir, "program")
	args := append([]string{"-toolexec=" + wrap, "-o", exe}, w.flags...)
	if err := build(w.build, append(args, "github.com/ftrace-wrap/ftrace-wrap/scripts/torture/program")...); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*long+5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, "-for", long.String())
	cmd.Env = append(os.Environ(), "FTRACE_OUT="+os.DevNull, "GOTRACEBACK=all")
	cmd.Env = append(cmd.Env, w.run...)
	p := &program{dir: dir}
	if p.in, err = cmd.StdinPipe(); err != nil {
		return "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	cmd.Stderr = &p.errors
	p.lines = bufio.NewScanner(stdout)
	if err := cmd.Start(); err != nil {
		return "", err
	}
	did, err = p.run(cmd.Process.Pid)
	if err == nil {
		_, err = fmt.Fprintln(p.in, "end")
	} else if ctx.Err() == nil && p.Process != nil && p.Alive() {
		cmd.Process.Signal(syscall.SIGQUIT) // it says where its goroutines are, if it can
		defer time.AfterFunc(20*time.Second, func() { cmd.Process.Kill() }).Stop()
	}
	for p.lines.Scan() { // Wait may not be called before all is read
	}
	if waited := cmd.Wait(); err == nil || waited != nil && !cmd.ProcessState.Success() {
		if waited != nil {
			err = fmt.Errorf("%v, %v", waited, err)
		}
	}
	if err != nil {
		err = fmt.Errorf("%v\n%s", err, wrong(p.errors.String()))
	}
	return did, err
}

// wrong returns the part of a program's standard error that says what is wrong.
func wrong(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "round ") {
			b.WriteString(line)
		}
	}
	if b.Len() > 20000 {
		return b.String()[:20000] + "..."
	}
	return b.String()
}

// run tortures the program, and has it counted in the end.
func (p *program) run(pid int) (did string, err error) {
	for end := time.Now().Add(30 * time.Second); p.Process == nil; time.Sleep(time.Millisecond) {
		if p.Process, err = live.Attach(pid); err != nil && time.Now().After(end) {
			return "", err
		}
	}
	defer p.Close()
	if err := p.first(); err != nil {
		return "", err
	}
	stop := make(chan bool)
	var done sync.WaitGroup
	counts := make([]map[string]int, 2)
	errs := make([]error, len(counts))
	for i := range counts {
		done.Add(1)
		go func() {
			defer done.Done()
			counts[i] = map[string]int{}
			for n := 0; errs[i] == nil; n++ {
				select {
				case <-stop:
					return
				default:
				}
				c := changes[rand.IntN(len(changes))]
				if i == 0 { // one of the two sees to it that all is done
					c = changes[n%len(changes)]
				}
				errs[i] = p.change(c, counts[i], filepath.Join(p.dir, fmt.Sprintf("recording%d.%d", i, n)))
			}
		}()
	}
	inside := p.lines.Scan()
	did = p.lines.Text()
	close(stop)
	done.Wait()
	all := map[string]int{}
	for _, m := range counts {
		for what, n := range m {
			all[what] += n
		}
	}
	for i, c := range changes { // a slow machine has not done all, or refused some each time
		for n := 0; inside && errors.Join(errs...) == nil && all[c.name] == 0 && n < 20; n++ {
			errs[0] = p.change(c, all, filepath.Join(p.dir, fmt.Sprintf("alone%d.%d", i, n)))
		}
	}
	for _, what := range slices.Sorted(maps.Keys(all)) {
		did += fmt.Sprintf(" %s %d", what, all[what])
	}
	switch {
	case !inside:
		return did, fmt.Errorf("the program ended")
	case errors.Join(errs...) != nil:
		return did, errors.Join(errs...)
	}
	for _, c := range changes {
		if all[c.name] == 0 {
			return did, fmt.Errorf("nothing was done of %s", c.name)
		}
	}
	checked, err := p.count()
	return did + " " + checked, err
}

// first has a session arm all functions before anybody has looked at the program or recorded its
// calls.
func (p *program) first() error {
	o, err := live.Attach(p.PID)
	if err != nil {
		return err
	}
	defer o.Close()
	for _, f := range []func() error{o.Begin, func() error { return o.SetRules("main.*=args") }} {
		if err := f(); err != nil {
			return err
		}
	}
	time.Sleep(10 * time.Millisecond) // while the program calls them
	return o.Detach()
}

// count has a known number of calls counted in memory, and recorded by the program and by two
// sessions, with as many firings of a probe. Then one session alone records them.
func (p *program) count() (did string, err error) {
	p.StopRecording()
	for _, f := range []func() error{
		func() error { return p.SetObjects(nil) },
		func() error { return p.SetActors(nil) },
		func() error { return p.SetRules("off") },
		func() error {
			return p.SetRules("main.counted=args,first=1000000; probe/torture/counted=args,first=1000000")
		},
		func() error { return p.SetConsumers(live.AllConsumers, live.AllConsumers) },
		func() error { return p.Mute(ended()) },
		func() error { return p.Record(filepath.Join(p.dir, "counted")) },
	} {
		if err := f(); err != nil {
			return "", err
		}
	}
	key, probe, before, err := p.counted()
	if err != nil {
		return "", err
	}
	sessions, err := p.observe("main.counted; probe/torture/counted", "main.count*=call; probe/torture/*=call")
	if err != nil {
		return "", err
	}
	want, err := p.call()
	if err != nil {
		return "", err
	}
	_, _, after, err := p.counted()
	if err != nil {
		return "", err
	}
	if after-before != want {
		return "", fmt.Errorf("%d calls were made, the summary has %d", want, after-before)
	}
	if err := p.StopRecording(); err != nil {
		return "", err
	}
	if err := p.SetRules("off"); err != nil {
		return "", err
	}
	if err := sessions[1].Detach(); err != nil {
		return "", err
	}
	alone, err := p.call()
	if err != nil {
		return "", err
	}
	if err := sessions[0].Detach(); err != nil {
		return "", err
	}
	for dir, want := range map[string]uint64{"counted": want, "counted0": want + alone, "counted1": want} {
		events, err := read(filepath.Join(p.dir, dir))
		if err != nil {
			return "", err
		}
		if e := events[key]; e.entries != want || e.exits != want || e.lost != 0 {
			return "", fmt.Errorf("%d calls were made, the recording %s has %+v", want, dir, e)
		}
		if n := events[probe].fired; n != want {
			return "", fmt.Errorf("%d times a probe fired, the recording %s has %d", want, dir, n)
		}
	}
	return fmt.Sprintf("counted %d", want+alone), nil
}

// ended returns the ids of goroutines that have ended, to be muted. Others get what the runtime had
// of them, and must not be.
func ended() map[uint64]bool {
	muted := map[uint64]bool{}
	for id := uint64(2); id < 1000; id++ {
		muted[id] = true
	}
	return muted
}

// observe begins a session that records for each of the rules.
func (p *program) observe(rules ...string) (sessions []*live.Process, err error) {
	for i, text := range rules {
		s, err := live.Attach(p.PID)
		if err != nil {
			return nil, err
		}
		if err := s.Begin(); err != nil {
			return nil, err
		}
		if err := s.SetRules(text); err != nil {
			return nil, err
		}
		if err := s.Record(filepath.Join(p.dir, fmt.Sprint("counted", i))); err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

// call has the program make calls, and returns how many.
func (p *program) call() (n uint64, err error) {
	fmt.Fprintln(p.in, "count")
	if !p.lines.Scan() {
		return 0, fmt.Errorf("the program ended")
	}
	_, err = fmt.Sscanf(p.lines.Text(), "counted %d", &n)
	return n, err
}

// counted returns how many calls of main.counted have ended, and which probe was fired with each.
func (p *program) counted() (key, probe uint32, n uint64, err error) {
	s, err := p.Snapshot(live.AllContents)
	if err != nil {
		return 0, 0, 0, err
	}
	for _, f := range s.Program.Functions() {
		switch name := f.FullName(); {
		case f.Probe && name == "torture:::counted":
			probe = f.Key
		case name == "main.counted", strings.HasSuffix(name, "/program.counted"):
			key, n = f.Key, s.Functions[f.Key].Summary.Count
		}
	}
	if key == 0 || probe == 0 {
		return 0, 0, 0, fmt.Errorf("main.counted or torture:::counted is not in the snapshot")
	}
	return key, probe, n, nil
}

// tally is what a recording has of a function.
type tally struct{ entries, exits, fired, lost uint64 }

// read reads a recording, and returns what it has by function, of which 0 is none. It must be
// whole.
func read(dir string) (map[uint32]tally, error) {
	r, err := recording.Open(dir)
	if err != nil {
		return nil, err
	}
	s := r.Events(recording.Window{})
	defer s.Close()
	all := map[uint32]tally{}
	depths := map[uint64]uint16{}
	var e recording.Event
	for s.Next(&e) {
		t := all[e.Function]
		switch {
		case e.Enters():
			t.entries++
			if most, known := depths[e.Goroutine]; known && e.Depth > most {
				return nil, fmt.Errorf("%s: goroutine %d enters a call at depth %d, and is in %d", dir, e.Goroutine, e.Depth, most)
			}
			depths[e.Goroutine] = e.Depth + 1
		case e.Exits():
			t.exits++
			depths[e.Goroutine] = e.Depth
		case e.Kind == recording.Probe:
			t.fired++
		case e.Kind == recording.Lost:
			t.lost += e.Call
		}
		all[e.Function] = t
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	if damage := r.Damage(); len(damage) > 0 {
		return nil, fmt.Errorf("%s: %v", dir, damage)
	}
	return all, nil
}

// A change is something that is changed from outside, or looked at. It returns what is wrong.
type change struct {
	name string
	do   func(p *program, dir string) error
}

var changes = []change{
	{"setrules", func(p *program, _ string) error {
		return p.SetRules(picked())
	}},
	{"switch", func(p *program, _ string) error {
		changes := map[uint32]live.Switch{}
		for range 4 {
			changes[1+rand.Uint32N(20)] = pick(live.On, live.Off, live.Timed, live.Untimed, live.On|live.Timed)
		}
		return p.Switch(changes)
	}},
	{"objects", func(p *program, _ string) error {
		on := live.Rule{On: true, Timed: rand.IntN(2) == 0, Patterns: [3]string{"%", "%", "%"}}
		off := live.Rule{Patterns: [3]string{"%", "%", pick("a%", "deep", "%")}}
		return p.SetObjects(pick([]live.Rule{on, off}, []live.Rule{on}, nil))
	}},
	{"actors", func(p *program, _ string) error {
		return p.SetActors(pick([]live.Rule{{On: true, Patterns: [3]string{"%func%", "%"}}}, nil))
	}},
	{"consumers", func(p *program, _ string) error {
		some := func() live.Consumers { return live.Consumers(rand.Uint32()) & live.AllConsumers }
		return p.SetConsumers(some(), some())
	}},
	{"budget", func(p *program, _ string) error { return p.SetKept(rand.IntN(3)) }}, // or none
	{"timer", func(p *program, _ string) error { return p.SetTimer(pick("CYCLE", "NANOSECOND", "MICROSECOND")) }},
	{"clear", func(p *program, _ string) error { return p.Clear(live.AllConsumers, live.AllConsumers) }},
	{"snapshot", func(p *program, _ string) error { _, err := p.Snapshot(live.AllContents); return err }},
	{"goroutines", func(p *program, _ string) error {
		states, _, err := p.States()
		for _, s := range states {
			if s.Status == live.Running && len(s.Calls) > 0 && s.Calls[len(s.Calls)-1].Function == "" {
				return fmt.Errorf("goroutine %d has a call without a function", s.ID)
			}
		}
		return err
	}},
	{"mute", func(p *program, _ string) error {
		return p.Mute(map[uint64]bool{rand.Uint64N(50): rand.IntN(2) == 0, 1: false})
	}},
	{"session", func(p *program, dir string) error {
		o, err := live.Attach(p.PID)
		if err != nil {
			return err
		}
		defer o.Close()
		if err := o.Begin(); err != nil {
			return err
		}
		if rand.IntN(4) != 0 { // or it sees what the program's rules say
			if err := o.SetRules(picked()); err != nil {
				return err
			}
		}
		if err := o.SetBudget(rand.IntN(3)); err != nil { // or none
			return err
		}
		if err := o.Record(dir); err != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
		if rand.IntN(2) == 0 {
			if err := o.SetRules(picked()); err != nil {
				return err
			}
		}
		if err := o.Detach(); err != nil {
			return err
		}
		_, err = read(dir)
		return err
	}},
	{"rings", func(p *program, dir string) error {
		if err := p.RecordRings(); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
		if err := p.Dump(dir); err != nil {
			return err
		}
		if _, err := read(dir); err != nil {
			return fmt.Errorf("what the rings had: %v", err)
		}
		return p.StopRecording()
	}},
	{"record", func(p *program, dir string) error {
		if err := p.Record(dir); err != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
		return p.StopRecording()
	}},
}

// picked returns rules of any kind.
func picked() string {
	return pick("*=call", "main.add", "probe/*; *=count", "main.round=tree; main.add=call,in=main.starts", "off", "*=args",
		"wait/*", "*=call; wait/*=call,min=10us", "main.*=args,capture=p.x; wait/synch/*", "main.add=call,depth=2; main.deep=call,first=3")
}

// refusals are what a change can be refused for since another one was there first.
var refusals = []string{"records already", "does not record", "records to files", "no such function", "there can be no more"}

func pick[T any](from ...T) T { return from[rand.IntN(len(from))] }

// change does one of them, and counts it if it was done.
func (p *program) change(c change, counts map[string]int, dir string) error {
	err := c.do(p, dir)
	os.RemoveAll(dir)
	switch {
	case err == nil:
		counts[c.name]++
	case slices.ContainsFunc(refusals, func(s string) bool { return strings.Contains(err.Error(), s) }):
		counts["refused"]++
	case !p.Alive():
		return fmt.Errorf("the program ended, or died, within %s: %v", c.name, err)
	default:
		return fmt.Errorf("%s: %v", c.name, err)
	}
	return nil
}
