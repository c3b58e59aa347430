// Soak looks into a server for a long time, as one would leave it on in production, and shows
// whether that stays as cheap as it began:
//
//	go run ./scripts/soak -for 1h
//
// The server has requests at a steady rate. Meanwhile everything is on: all consumers, all waits
// and requests, a client of SQL that polls, and an ftrace attach after the other, each
// with other rules and a budget. In each round all that is off for a while first, so what it costs
// is known. At the end soak says how memory and cost at the end differ from those at the beginning.
//
// What comes in are flags and the repository that it is run in; what goes out is a table on stdout,
// of which docs/production.md has one.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// rules are those of the attachments, one after the other.
var rules = []string{"1", "main.*=deep", "*=call", "1;wait/*", "main.*;main.(*server).item=capture=r.URL.Path"}

// polled is what the client of SQL asks.
var polled = []string{
	"SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM events_waits_summary_global_by_event_name ORDER BY 3 DESC LIMIT 10",
	"SELECT EVENT_NAME, COUNT_STAR, AVG_TIMER_WAIT FROM events_stages_summary_global_by_event_name",
	"SELECT * FROM events_calls_history_long ORDER BY TIMER_START DESC LIMIT 20",
	"SELECT * FROM sys.blocked",
	"SELECT COUNT(*) FROM threads",
}

// armed is what is on all the time but at the beginning of a round.
var armed = []string{
	"UPDATE setup_consumers SET ENABLED = 'YES'",
	"UPDATE setup_instruments SET ENABLED = 'YES' WHERE NAME LIKE 'wait/%' OR NAME LIKE 'stage/%' OR NAME LIKE '%/server.%' OR NAME LIKE '%/check'",
}

var disarmed = []string{
	"UPDATE setup_instruments SET ENABLED = 'NO'",
	"UPDATE setup_consumers SET ENABLED = 'NO' WHERE NAME = 'locks'",
}

func main() {
	lasts := flag.Duration("for", time.Minute, "how long")
	round := flag.Duration("round", time.Minute, "how long a round takes, of which a quarter is off")
	rate := flag.Int("rate", 200, "requests a second")
	poll := flag.Duration("poll", 5*time.Second, "how often the client of SQL asks")
	budget := flag.String("budget", "3%", "of the attachments")
	flag.Parse()
	if err := soak(*lasts, *round, *poll, *rate, *budget); err != nil {
		log.Fatal("soak: ", err)
	}
}

// A row is what was measured in a round.
type row struct {
	rss, kept       int64 // KiB of the server: all, and of the tracer's memory file
	off, on         float64
	polls           []time.Duration
	recorded        int64 // bytes
	descriptors     int
	threads, failed int
}

func soak(lasts, round, poll time.Duration, rate int, budget string) error {
	dir, err := os.MkdirTemp("", "ftrace-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tool := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"build", "-o", dir, "./cmd/ftrace", "./cmd/ftrace-wrap"},
		{"build", "-toolexec=" + tool("ftrace-wrap"), "-o", tool("soaked"), "./scripts/soak/program"},
	} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	server := exec.Command(tool("soaked"))
	stdin, err := server.StdinPipe()
	if err != nil {
		return err
	}
	defer stdin.Close()
	stdout, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return err
	}
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the server has not begun: %w", err)
	}
	pid := strconv.Itoa(server.Process.Pid)
	load := &load{url: "http://" + strings.TrimSpace(address) + "/item/", every: time.Second / time.Duration(rate)}
	go load.run()
	ftrace := func(args ...string) error {
		out, err := exec.Command(tool("ftrace"), args...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("ftrace %s: %w\n%s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	sql := func(statements []string) error { return ftrace("sql", pid, strings.Join(statements, "; ")) }

	fmt.Println("round  memory MiB  kept MiB  threads  files   off µs    on µs    more  recorded MiB  poll ms: median     most  failed")
	var rows []row
	for begun := time.Now(); time.Since(begun) < lasts; {
		r := row{}
		if err := sql(disarmed); err != nil {
			return err
		}
		if r.off, err = load.cost(pid, func() error { time.Sleep(round / 4); return nil }); err != nil {
			return err
		}
		if err := sql(armed); err != nil {
			return err
		}
		recording := tool("recording")
		attached := make(chan error, 1)
		go func() {
			attached <- ftrace("attach", "-f", rules[len(rows)%len(rules)], "-budget", budget, "-for", (round / 2).String(), "-o", recording, pid)
		}()
		r.on, err = load.cost(pid, func() error {
			for {
				select {
				case err := <-attached:
					return err
				case <-time.After(poll):
				}
				asked := time.Now()
				if err := sql(polled); err != nil {
					return err
				}
				r.polls = append(r.polls, time.Since(asked))
			}
		})
		if err != nil {
			return err
		}
		r.recorded = size(recording)
		if err := os.RemoveAll(recording); err != nil {
			return err
		}
		os.RemoveAll(recording + ".old")
		r.rss, r.kept, r.threads = memory(pid)
		files, _ := os.ReadDir("/proc/" + pid + "/fd")
		r.descriptors, r.failed = len(files), int(load.failed.Load())
		rows = append(rows, r)
		if len(r.polls) == 0 {
			return errors.New("-poll is too seldom for -round: half of a round is to have a poll at least")
		}
		slices.Sort(r.polls)
		fmt.Printf("%5d  %10.1f  %8.1f  %7d  %5d  %7.1f  %7.1f  %5.1f%%  %12.1f  %15d  %7d  %6d\n", len(rows), float64(r.rss)/1024, float64(r.kept)/1024, r.threads, r.descriptors,
			r.off, r.on, 100*(r.on/r.off-1), float64(r.recorded)/(1<<20), r.polls[len(r.polls)/2].Milliseconds(), r.polls[len(r.polls)-1].Milliseconds(), r.failed)
	}
	stdin.Close()
	load.over.Store(true)
	if err := server.Wait(); err != nil {
		return fmt.Errorf("the server: %w", err)
	}
	third := len(rows) / 3
	if third == 0 {
		return errors.New("fewer than three rounds show nothing: -for is to be three times -round at least")
	}
	mean := func(of []row, value func(row) float64) (sum float64) {
		for _, r := range of {
			sum += value(r) / float64(len(of))
		}
		return sum
	}
	for _, what := range []struct {
		name  string
		value func(row) float64
	}{
		{"memory", func(r row) float64 { return float64(r.rss) }},
		{"what is kept", func(r row) float64 { return float64(r.kept) }},
		{"a request, off", func(r row) float64 { return r.off }},
		{"a request, on", func(r row) float64 { return r.on }},
		{"a poll", func(r row) float64 { return float64(r.polls[len(r.polls)/2]) }},
	} {
		first, last := mean(rows[:third], what.value), mean(rows[len(rows)-third:], what.value)
		fmt.Printf("%-15s %+.1f%% from the first third to the last\n", what.name, 100*(last/first-1))
	}
	return nil
}

// load makes requests at a steady rate.
type load struct {
	url    string
	every  time.Duration
	made   atomic.Int64
	failed atomic.Int64 // that the server did not answer
	over   atomic.Bool
}

func (l *load) run() {
	client := &http.Client{Timeout: 10 * time.Second}
	ticks := time.NewTicker(l.every)
	for n := range ticks.C {
		if l.over.Load() {
			return
		}
		go func() {
			response, err := client.Get(l.url + strconv.Itoa(int(n.UnixNano()/int64(l.every)%1000)))
			if err == nil {
				_, err = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
			if err != nil && !l.over.Load() {
				l.failed.Add(1)
			}
			l.made.Add(1)
		}()
	}
}

// cost returns how many µs of processor time the server takes for a request while f runs.
func (l *load) cost(pid string, f func() error) (float64, error) {
	before, made := processorTime(pid), l.made.Load()
	if err := f(); err != nil {
		return 0, err
	}
	n := l.made.Load() - made
	if n == 0 {
		return 0, errors.New("no request was answered")
	}
	return float64((processorTime(pid) - before).Microseconds()) / float64(n), nil
}

// processorTime returns how much processor time a process has used, to 1 ms or better.
func processorTime(pid string) (sum time.Duration) {
	tasks, _ := filepath.Glob("/proc/" + pid + "/task/*/schedstat")
	for _, name := range tasks { // its threads do not end
		text, _ := os.ReadFile(name)
		ns, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(ns, 10, 64)
		sum += time.Duration(n)
	}
	return sum
}

// memory returns how much memory a process has, and how much of it is the tracer's memory file, in
// KiB, and its threads.
func memory(pid string) (rss, kept int64, threads int) {
	fields := func(name string, each func(key string, n int64)) {
		text, _ := os.ReadFile("/proc/" + pid + "/" + name)
		for line := range strings.Lines(string(text)) {
			if words := strings.Fields(line); len(words) >= 2 {
				n, _ := strconv.ParseInt(words[1], 10, 64)
				each(words[0], n)
			}
		}
	}
	fields("status", func(key string, n int64) {
		switch key {
		case "VmRSS:":
			rss = n
		case "RssShmem:":
			kept = n
		case "Threads:":
			threads = int(n)
		}
	})
	return rss, kept, threads
}

// size returns the sum of the sizes of files in a directory.
func size(dir string) (sum int64) {
	filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum
}
