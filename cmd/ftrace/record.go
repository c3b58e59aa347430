package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/forward"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// recordVerb runs a program and has it record.
func recordVerb() *cli.Command {
	dir, rules, budget, propagate := defaultDir, "", "", false
	return command.Verb(&cli.Command{
		Name: "record", ArgsUsage: "[-o DIR] [-f RULES] [-budget N%] [-propagate] CMD [ARGS]", Usage: "run a program and record its calls in ftrace.data",
		Description: `
Record runs a program with FTRACE_RECORD set to DIR. A recording that is there already
is renamed to DIR.old. Children of the program that were built with ftrace-wrap record
to directories within DIR. The exit status is the program's, or 128 and the signal's
number if a signal ended it.

Recording costs at most 10% of the processor time that the program uses itself, or as
much as -budget or FTRACE_BUDGET says. Calls of the functions that are called most are
left out for that, and counted. Record says of which when the program has ended.

With FTRACE_OTLP=URL in the environment record sends spans, logs and metrics meanwhile,
as ftrace forward -send spans,logs,metrics -to URL does, also of children. If the URL
ends with /v1/traces, /v1/logs or /v1/metrics that is all it sends. When the program has
ended that may take 10 s more.`,
		UsageText: `
	$ ftrace record ./app -v
	$ ftrace record -f 'main.*;net/http/...=call' -o slow.data ./app
	$ ftrace record -budget off ./app`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "o", Value: dir, Destination: &dir, Usage: "record to `DIR`"},
			rulesFlag(&rules, "record what FTRACE=`RULES` would show; without, and without FTRACE in the environment, everything"),
			&cli.StringFlag{Name: "budget", Destination: &budget, Usage: "leave out calls of the functions that are called most, so that recording costs at most `N%` of the program's own processor time; off leaves out none; without, and without FTRACE_BUDGET in the environment, 10% (docs/record.md)"},
			&cli.BoolFlag{Name: "propagate", Destination: &propagate, Usage: "have requests and messages carry the trace to other processes, as FTRACE_PROPAGATE=on does: what is recorded of requests has the ids of W3C Trace Context (docs/distributed.md)"},
		},
	}, command.Front, func(a command.Args) (status int, err error) {
		cmd, err := program(a)
		if err != nil {
			return 0, err
		}
		switch {
		case budget != "":
			if err := checkBudget(budget); err != nil {
				return 0, err
			}
			os.Setenv("FTRACE_BUDGET", budget)
		case os.Getenv("FTRACE_BUDGET") == "":
			os.Setenv("FTRACE_BUDGET", defaultBudget)
		}
		if propagate {
			os.Setenv("FTRACE_PROPAGATE", "on")
		}
		sends, err := sendsMeanwhile()
		if err != nil {
			return 0, err
		}
		return live.Record(cmd, dir, rules, stderr, sends)
	})
}

const (
	sendingEnds  = 10 * time.Second      // for so long record sends once the program has ended
	sendingLooks = 20 * time.Millisecond // so often it looks whether the program has begun to record
)

// sendsMeanwhile returns what sends a recording to where FTRACE_OTLP says until the program has
// ended and all is sent, or it takes too long; nil if the variable is not set. The program does not
// see the variable.
func sendsMeanwhile() (func(dir string, ended <-chan struct{}), error) {
	const variable = "FTRACE_OTLP"
	to := os.Getenv(variable)
	if to == "" {
		return nil, nil
	}
	os.Unsetenv(variable)
	list := forward.Signals
	for _, signal := range forward.Signals {
		if strings.HasSuffix(strings.TrimSuffix(to, "/"), "/v1/"+signal.OTLP) {
			list = []*forward.Signal{signal}
		}
	}
	o := forward.Options{Least: leastSpan, Step: metricStep}
	var names []string
	for _, signal := range list {
		d := destination(signal, o)
		d.Optional = len(list) > 1 && signal != forward.Spans
		var err error
		if d.To, err = addressOf(to, variable, false, false, signal); err != nil {
			return nil, err
		}
		if err := environmentHeaders(d.Header, signal); err != nil {
			return nil, err
		}
		o.Send = append(o.Send, d)
		names = append(names, signal.Name)
	}
	o.Resume = fmt.Sprintf("ftrace forward -send %s -to URL DIR, with the same URL,", strings.Join(names, ","))
	return func(dir string, ended <-chan struct{}) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go func() {
			select {
			case <-ctx.Done():
				return
			case <-ended:
			}
			select {
			case <-ctx.Done():
			case <-time.After(sendingEnds):
				stop()
			}
		}()
		for !recording.Begun(dir) {
			select {
			case <-ended:
				if !recording.Begun(dir) {
					return
				}
			case <-time.After(sendingLooks):
			}
		}
		r, err := recording.Open(dir)
		if err == nil {
			o.Ended = ended
			err = forward.Recordings(ctx, []walk.Source{{Recording: r}}, o, stderr, stderr)
			if len(o.Send) > 1 { // it was told of each
				return
			}
		}
		if err != nil {
			fmt.Fprintf(stderr, "ftrace: record: sending: %v\n", err)
		}
	}, nil
}

// defaultBudget is what recording may cost if nothing else is said.
const defaultBudget = "10%"

// isBudget is what FTRACE_BUDGET may be.
var isBudget = words.Regexp(`^(off|[1-9][0-9]{0,2}%?)$`)
