package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/exporter"
)

// exporterVerb serves metrics to Prometheus.
func exporterVerb() *cli.Command {
	var o exporter.Options
	var kept source.RecordingOptions
	var once time.Duration
	return command.Verb(&cli.Command{
		Name: "exporter", ArgsUsage: "[FLAGS] [PID|NAME|RECORDING ...]", Usage: "metrics of running programs for Prometheus",
		Description: `
Exporter serves what running programs count of calls, waits, statements, requests and
probes at /metrics: how often, how long as histograms, how many errors. It is what
FTRACE, or an UPDATE of setup_instruments, has turned on. With -f it is also what rules
match, from now until the exporter ends: but for what is called most, if all together
is called more than -budget times a second. It ends by Ctrl-C or SIGTERM, or when the
processes have ended that were named by number.`,
		UsageText: `
	$ ftrace exporter server
	$ ftrace exporter -f 'net/http.*;wait/*' -listen :9000 -anywhere server worker
	$ ftrace exporter -f 'main.*' -once 10s server >server.prom`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:9469", Destination: &o.Address, Usage: "listen at `ADDR`: HOST:PORT or :PORT; port 0 is a free one"},
			&cli.BoolFlag{Name: "anywhere", Destination: &o.Anywhere, Usage: "allow addresses that are reached from other machines"},
			rulesFlag(&o.Rules, "count what FTRACE=`RULES` would show too (docs/rules.md)"),
			&cli.FloatFlag{Name: "budget", Value: 1e6, Destination: &o.Budget, Usage: "let -f count at most `N` calls a second"},
			&cli.DurationFlag{Name: "once", Destination: &once, Usage: "write the metrics to stdout, after what -f says was counted for this `TIME`, and end"},
		}, recordingFlags(&kept)...),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		switch {
		case once < 0:
			return 0, command.Usagef("-once %v is less than 0", once)
		case o.Budget <= 0:
			return 0, command.Usagef("-budget %v lets nothing be counted: leave out -f", o.Budget)
		}
		var server *exporter.Server
		if once == 0 {
			if server, err = exporter.Listen(o); err != nil {
				return 0, wronglyUsed(err)
			}
		}
		args := a.All()
		catalog, err := openCatalog(args, kept)
		if err != nil {
			if server != nil {
				server.Close()
			}
			return 0, err
		}
		if err := noneFound(catalog, args); err != nil {
			if server == nil {
				return 0, err
			}
			fmt.Fprintf(stderr, "ftrace: exporter: %v; those that come will be found\n", err)
		}
		if server == nil {
			return 0, exporter.Once(catalog, o, once, stdout, stderr)
		}
		return 0, server.Run(catalog, stdout, stderr)
	})
}
