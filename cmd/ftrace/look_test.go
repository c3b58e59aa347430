package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	view "github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
)

// look is a command of the scripts: it does things to a running program that package live can do,
// one for each argument behind the program's name, and prints what it sees.
//
//	functions           each function: flags, calls, errors, panics, whether times add up
//	goroutines          each goroutine: calls under way, history
//	long                the last calls of all
//	lost, timers
//	NAME=on|off|timed|untimed
//	consumers=N, clear=N
//	watch=N RULES       records to seenN, in a session, what the program does on run N
//	count=N CONSUMERS   wants these, in a session, during run N
//	sessions            how many there are
//	sessions=N          begins so many, and ends them
func look() {
	p, err := view.Named(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, what := range os.Args[2:] {
		if err := lookAt(p, what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func lookAt(p *live.Process, what string) error {
	s, err := p.Snapshot(live.AllContents)
	if err != nil {
		return err
	}
	name := func(key uint32) string { return s.Program.Function(key).ShortName() }
	what, value, _ := strings.Cut(what, "=")
	var n uint32
	fmt.Sscan(value, &n)
	switch what {
	case "functions":
		for key, f := range s.Functions {
			if key == 0 {
				continue
			}
			c := f.Summary
			sum := uint64(0)
			for _, n := range c.Log2 {
				sum += n
			}
			times := "times"
			if c.Min == 0 || c.Min > c.Max || c.Sum < c.Max || c.Self > c.Sum || sum != c.Count {
				times = "no times"
			}
			fmt.Printf("%s enabled=%v timed=%v count=%d errors=%d panics=%d %s\n", name(uint32(key)), f.Enabled, f.Timed, c.Count, c.Errors, c.Panics, times)
		}
	case "goroutines":
		for _, g := range s.Goroutines {
			fmt.Printf("goroutine, parent %v\n", g.Parent != 0)
			for _, c := range g.Stack {
				fmt.Printf("in %s #%d event %d for at least 10ms: %v\n", name(c.Function), c.Count, c.Event, s.Clock.Between(c.Start, s.Latest) > 10*time.Millisecond)
			}
			for _, c := range g.History {
				fmt.Printf("was in %s #%d event %d-%d in %d depth %d %s\n", name(c.Function), c.Count, c.Event, c.Last, c.Nesting, c.Depth, outcomes(c))
			}
		}
	case "long":
		sorted := slices.IsSortedFunc(s.Long, func(a, b live.Call) int { return int(int64(a.End - b.End)) })
		fmt.Printf("%d of at most %d, sorted %v\n", len(s.Long), s.LongMax, sorted)
	case "lost":
		fmt.Printf("%+v\n", s.Lost)
	case "timers":
		list, err := p.Timers()
		if err != nil {
			return err
		}
		for _, t := range list {
			fmt.Printf("%s frequency %v resolution %v overhead %v used %v\n", t.Name, t.Frequency > 0, t.Resolution > 0, t.Overhead > 0, t.Used)
		}
	case "consumers":
		_, waits := p.Consumers()
		return p.SetConsumers(live.Consumers(n), waits)
	case "watch":
		n, rules, _ := strings.Cut(value, " ")
		return during(p, "run"+n, func() error { return errors.Join(p.SetRules(rules), p.Record("seen"+n)) })
	case "count":
		run, kept := "", live.Consumers(0)
		fmt.Sscan(value, &run, &kept)
		return during(p, "run"+run, func() error { return p.Want(kept, 0) })
	case "sessions":
		return sessions(p, int(n))
	case "clear":
		return p.Clear(live.Consumers(n), live.Consumers(n))
	default:
		for key := range s.Functions {
			if name(uint32(key)) == what {
				return p.Switch(map[uint32]live.Switch{uint32(key): map[string]live.Switch{"on": live.On, "off": live.Off, "timed": live.Timed, "untimed": live.Untimed}[value]})
			}
		}
		return fmt.Errorf("no function is called %s", what)
	}
	return nil
}

// during begins a session, lets the program do what a file asks for, and ends the session.
func during(p *live.Process, run string, ask func() error) error {
	if err := errors.Join(p.Begin(), ask(), os.WriteFile(run, nil, 0o644)); err != nil {
		return err
	}
	for range 1000 {
		if _, err := os.Stat(run); err != nil {
			return p.Detach()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%s is still there", run)
}

// sessions prints how many sessions the process has, or begins n of them.
func sessions(p *live.Process, n int) error {
	if n == 0 {
		fmt.Println(p.Sessions())
	}
	for range n {
		one, err := live.Attach(p.PID)
		if err != nil {
			return err
		}
		defer one.Close()
		if err := one.Begin(); err != nil {
			return err
		}
	}
	return nil
}

func outcomes(c live.Call) string {
	switch {
	case c.Panicked:
		return "panicked"
	case c.Failed:
		return "failed"
	}
	return "returned"
}
