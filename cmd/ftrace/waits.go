package main

import (
	"slices"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/waits"
)

// waitsVerb tells what goroutines waited for.
func waitsVerb() *cli.Command {
	o := options{verb: "waits", within: named}
	p := waits.Options{Rows: 10}
	var stuck, locks time.Duration
	return command.Verb(&cli.Command{
		Name: "waits", ArgsUsage: "[FLAGS] [DIR], or ftrace waits [FLAGS] PID|NAME", Usage: "what goroutines waited for, and who ended that",
		Description: `
Waits tells why a program does not go on. Of a running program, which need not be
prepared, it writes what all goroutines do: those that wait for the same thing at the
same place are one row. With -stuck it also finds goroutines that nothing can wake any
more: nobody who may run has a pointer to the lock or channel. With -locks it also notes
for a while who takes and frees which lock. Then it tells who holds those that others
wait for, and what may deadlock.

A recording must have waits: FTRACE='main.*;wait/*' records those of all kinds. Of it
waits writes

	* what goroutines waited for at the end, and who was on the other side of that
	* the locks, channels, files and so on that were waited for most, where, and who
	  ended that
	* the chain of wake-ups to the end of a call: what had to happen before, and on
	  which goroutine
	* how the time of goroutines and functions divides into running, runnable (for
	  want of a processor) and waiting

The chain leads to the end of the longest call that no other is around, or of the call
that -call names: the nth of a function, or its longest.`,
		UsageText: `
	$ ftrace waits server
	$ ftrace waits -stuck 1s server
	$ ftrace waits -locks 5s server
	$ ftrace waits -n 5
	$ ftrace waits -call 'main.(*server).handle#12' slow.data`,
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "call", Destination: &p.Call, Usage: "show the chain to the end of the call `FUNC#N`, or of the longest of FUNC"},
			&cli.IntFlag{Name: "n", Value: p.Rows, Destination: &p.Rows, Usage: "show the first `N` rows of each table; 0: all"},
			&cli.DurationFlag{Name: "stuck", Destination: &stuck, Usage: "find the goroutines of a running program that nothing can wake any more; that stops it for at most `TIME`"},
			&cli.DurationFlag{Name: "locks", Destination: &locks, Usage: "observe the locks of a running program for `TIME`, and tell who holds which"},
		}, o.sourceFlags(), o.outputFlags()),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		p.JSON = o.json
		if args := a.All(); len(args) == 1 && isProcess(args[0]) {
			out := o.output()
			defer out.close()
			return 0, live.Waits(args[0], live.WaitsOptions{Rows: p.Rows, JSON: p.JSON, Stuck: stuck, Locks: locks, Warn: stderr}, out)
		}
		if stuck != 0 || locks != 0 {
			return 0, command.Usagef("-stuck and -locks are for a running program, not for a recording")
		}
		from, err := o.openSource(a.All()...)
		if err != nil {
			return 0, err
		}
		found, err := waits.Find(from, p)
		complain(from)
		if err != nil {
			return 0, err
		}
		out := o.output()
		defer out.close()
		return 0, found.Write(out, p)
	})
}
