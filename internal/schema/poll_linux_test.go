package schema

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// poll are the queries that a dashboard sends each time.
var poll = []string{
	"SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT, SUM_ERRORS FROM events_calls_summary_global_by_event_name ORDER BY SUM_TIMER_WAIT DESC LIMIT 20",
	"SELECT SUM(COUNT_STAR), SUM(SUM_ERRORS), SUM(SUM_PANICS) FROM events_calls_summary_global_by_event_name",
	"SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM events_waits_summary_global_by_event_name WHERE COUNT_STAR > 0",
	"SELECT COUNT(*), SUM(STATE = 'INSIDE'), SUM(STATE = 'WAITING') FROM threads",
	"SELECT THREAD_ID, EVENT_NAME, TIMER_START FROM events_calls_current",
	"SELECT EVENT_NAME, TIMER_WAIT, SOURCE FROM events_calls_history_long ORDER BY TIMER_WAIT DESC LIMIT 10",
	"SELECT COUNT(*) FROM events_waits_history_long",
	"SELECT ENABLED, COUNT(*) FROM setup_instruments GROUP BY ENABLED",
	"SELECT NAME, ENABLED FROM setup_consumers",
	"SHOW STATUS LIKE 'performance_schema%'",
}

// BenchmarkPoll sends a dashboard's queries to a program that has called 5,000 functions, by
// several goroutines, and has a full long history.
func BenchmarkPoll(b *testing.B) {
	source := attach(b, calls, "FTRACE=main.*=call;wait/*=call", "FTRACE_OUT=off", "FTRACE_CONSUMERS=all")
	c := &Catalog{}
	c.Add(source)
	defer c.Close()
	s, err := c.Session(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	ask := func(b *testing.B, query string) {
		if count(b, s, query) == 0 {
			b.Fatalf("%s: no rows", query)
		}
	}
	b.Run("all", func(b *testing.B) {
		before := processorTime(b)
		for b.Loop() {
			for _, query := range poll {
				ask(b, query)
			}
		}
		b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/1e6, "cpu-ms/op") // machines are shared
	})
	for i, query := range append(poll, "SELECT COUNT(*) FROM events_calls_summary_by_thread_by_event_name") {
		b.Run(fmt.Sprint(i), func(b *testing.B) {
			for b.Loop() {
				ask(b, query)
			}
		})
	}
}

// calls is a program that calls 5,000 functions, and goes on to call one now and then.
func calls() string {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\t\"fmt\"\n\t\"sync\"\n\t\"time\"\n)\n\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "//go:noinline\nfunc f%d(n int) int { return n + %[1]d }\n\n", i)
	}
	b.WriteString("var all = []func(int) int{")
	for i := range 5000 {
		fmt.Fprintf(&b, "f%d, ", i)
	}
	b.WriteString(`}

func main() {
	var started, done sync.WaitGroup
	for range 8 {
		started.Add(1)
		done.Go(func() {
			for range 10 {
				for n, f := range all {
					f(n)
				}
			}
			started.Done()
			for {
				all[0](1)
				time.Sleep(time.Millisecond)
			}
		})
	}
	started.Wait()
	fmt.Println("ready")
	done.Wait()
}
`)
	return b.String()
}

// attach builds a program with ftrace-wrap, starts it, waits for what it prints first, and attaches
// to it.
func attach(b *testing.B, program func() string, env ...string) source.Source {
	dir := b.TempDir()
	for name, text := range map[string]string{"main.go": program(), "go.mod": "module poll\n\ngo 1.25\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	exe := filepath.Join(dir, "poll")
	build := exec.Command("go", "build", "-o", exe, testenv.Toolexec(b, testenv.Build(b, "ftrace-wrap")), ".")
	build.Dir, build.Env = dir, testenv.Environ()
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building the program: %v\n%s", err, out)
	}
	run := exec.Command(exe)
	run.Env, run.Stderr = append(testenv.Environ(), env...), os.Stderr
	out, err := run.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := run.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		run.Process.Kill()
		run.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatalf("the program says nothing: %v", err)
	}
	process, err := source.Attach(run.Process.Pid)
	if err != nil {
		b.Fatal(err)
	}
	return process
}

// processorTime returns how long this process has run on a processor, in nanoseconds.
func processorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkRecording asks for the last calls of the recording in $FTRACE_BENCH: for the first time,
// in a session that comes later and has what the first one kept beside the recording, and again in
// the same session.
func BenchmarkRecording(b *testing.B) {
	dir := os.Getenv("FTRACE_BENCH")
	if dir == "" {
		b.Skip("FTRACE_BENCH names no recording")
	}
	open := func(b *testing.B, keep bool) (ask, end func()) {
		recorded, err := source.OpenRecording(dir, source.RecordingOptions{Keep: keep})
		if err != nil {
			b.Fatal(err)
		}
		c := &Catalog{}
		c.Add(recorded)
		s, err := c.Session(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		ask = func() {
			if count(b, s, "SELECT * FROM events_calls_history_long ORDER BY TIMER_WAIT DESC LIMIT 10") == 0 {
				b.Fatal("no rows")
			}
		}
		return ask, func() {
			s.Close()
			c.Close()
		}
	}
	for _, keep := range []bool{false, true} {
		b.Run(map[bool]string{false: "first", true: "later"}[keep], func(b *testing.B) {
			if keep {
				ask, end := open(b, true)
				ask()
				end()
			}
			for b.Loop() {
				ask, end := open(b, keep)
				ask()
				end()
			}
		})
	}
	b.Run("again", func(b *testing.B) {
		ask, end := open(b, true)
		defer end()
		ask()
		for b.Loop() {
			ask()
		}
	})
}

// count returns how many rows the answer to a query has.
func count(b *testing.B, s *Session, query string) (n int) {
	b.Helper()
	r, err := s.Query(context.Background(), query, nil)
	if err != nil {
		b.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	for {
		row, err := r.Next()
		if err != nil {
			b.Fatalf("%s: %v", query, err)
		}
		if row == nil {
			return n
		}
		n++
	}
}

// BenchmarkStart measures a session's first answer.
func BenchmarkStart(b *testing.B) {
	s, err := source.OpenRecording(testenv.Root(b)+"/testdata/recordings/workers", source.RecordingOptions{})
	if err != nil {
		b.Fatal(err)
	}
	c := &Catalog{}
	c.Add(s)
	for b.Loop() {
		session, err := c.Session(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := session.Query(context.Background(), "SELECT 1", nil); err != nil {
			b.Fatal(err)
		}
		session.Close()
	}
}
