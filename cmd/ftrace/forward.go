package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/signals"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/forward"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// forwardVerb sends recordings to what receives OpenTelemetry's spans, logs and metrics.
func forwardVerb() *cli.Command {
	o := options{verb: "forward"}
	f := forward.Options{}
	header := http.Header{}
	var to, send string
	flags := slices.DeleteFunc(o.sourceFlags(), func(flag cli.Flag) bool { return slices.Contains([]string{"from", "to"}, flag.Names()[0]) })
	return command.Verb(&cli.Command{
		Name: "forward", ArgsUsage: "-to URL [FLAGS] [DIR|PID|NAME ...]", Usage: "send recordings to what receives OpenTelemetry's spans, logs and metrics",
		Description: `
Forward sends what recordings have to a collector, to Jaeger, Tempo or whatever else
receives spans of OpenTelemetry by OTLP, over HTTP or gRPC: requests, statements, and calls that
lasted for -min, with those around them. A recording that is still being written is
followed until it ends; PID and NAME stand for the recording that a process is writing.
Recordings of child processes within one are sent too, also those that begin meanwhile.
The program does not wait for that. If nobody answers, forward tries again. What was
sent is noted in a file beside the recording, DIR.forward: the same command goes on
where one before it has ended.

With -send spans,logs,metrics it sends two signals more. Logs are the lines that the
program printed and logged, each with the ids of the span around it. Metrics are how
many calls there were of each function, how many failed and how long they took, and how
long requests, statements and waits took: sums at the end of each -step. Each signal is
sent on its own: if nobody takes one, the others go on.

Without -to it is what OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT
say. Of headers OTEL_EXPORTER_OTLP_HEADERS and OTEL_EXPORTER_OTLP_TRACES_HEADERS are
sent too: that keeps tokens out of the list of processes. In place of TRACES it is LOGS
or METRICS for these.`,
		UsageText: `
	$ ftrace forward -to http://localhost:4318
	$ ftrace forward -to otlp://localhost -min 5ms server worker
	$ ftrace forward -send spans,logs,metrics -to http://localhost:4318 server
	$ ftrace forward -to https://otlp.example.com -header api-key=$KEY app.data`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "to", Destination: &to, Usage: "send to `URL`: http or https, whose path is completed by /v1/traces, /v1/logs or /v1/metrics, or grpc, or grpcs for TLS; otlp and otlps are http and https at port 4318, else grpc and grpcs"},
			&cli.StringFlag{Name: "send", Value: "spans", Destination: &send, Usage: "send these `SIGNALS`: spans, logs, metrics, with commas between"},
			&headerFlag{cli.StringFlag{Name: "header", Usage: "send a header `NAME=VALUE` too; may be repeated"}, header},
			leastFlag(&f.Least),
			&cli.DurationFlag{Name: "step", Value: metricStep, Destination: &f.Step, Validator: func(d time.Duration) error {
				if d < time.Millisecond {
					return fmt.Errorf("%v is less than 1ms", d)
				}
				return nil
			}, Usage: "send metrics as they are each `TIME`, by the recording's time"},
			&cli.StringFlag{Name: "position", Destination: &f.Positions, Usage: "note in `DIR` what was sent, not beside the recording"},
		}, flags...),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		list, err := signalsOf(send)
		if err != nil {
			return 0, err
		}
		for _, signal := range list {
			d := destination(signal, f)
			maps.Copy(d.Header, header)
			for _, flag := range [][2]string{{"-f", o.rules}, {"-g", o.goroutines}} {
				if flag[1] != "" {
					d.Settings += fmt.Sprintf(" %s %q", flag[0], flag[1])
				}
			}
			if d.To, err = endpoint(to, signal); err != nil {
				return 0, err
			}
			if err := environmentHeaders(d.Header, signal); err != nil {
				return 0, err
			}
			f.Send = append(f.Send, d)
		}
		args := a.All()
		if len(args) == 0 {
			args = []string{defaultDir}
		}
		f.Rules = o.rules
		var from []walk.Source
		for _, arg := range args {
			dir, opened, err := recordingOf(arg)
			if err != nil {
				return 0, err
			}
			defer opened.Close()
			source, err := o.openSource(dir)
			if err != nil {
				return 0, err
			}
			source.Progress = nil // it may never end
			from = append(from, source)
		}
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		leave := make(chan os.Signal, 1)
		signal.Notify(leave, os.Interrupt, syscall.SIGTERM)
		signals.Notify(leave, syscall.SIGHUP)
		defer signal.Stop(leave)
		go func() {
			select {
			case <-leave:
				stop()
			case <-ctx.Done():
			}
		}()
		return 0, forward.Recordings(ctx, from, f, stdout, stderr)
	})
}

// metricStep is of how much recorded time metrics are sent, if nothing else is said.
const metricStep = 10 * time.Second

// destination returns where a signal is sent, without the address.
func destination(signal *forward.Signal, o forward.Options) forward.Destination {
	d := forward.Destination{Signal: signal, Header: http.Header{}, Settings: fmt.Sprintf("-min %v", o.Least)}
	if signal == forward.Metrics {
		d.Settings = fmt.Sprintf("-step %v", o.Step)
	}
	return d
}

// recordingOf returns the directory of a recording: that one, or the one that a process is writing,
// which is named by its number or its executable. The name may be good only until what is opened,
// if it is not nil, is closed.
func recordingOf(arg string) (dir string, opened *os.File, err error) {
	if _, err := os.Stat(arg); err == nil || strings.ContainsRune(arg, os.PathSeparator) || arg == defaultDir {
		return arg, nil, nil
	}
	p, err := live.Named(arg)
	if err != nil {
		return "", nil, err
	}
	defer p.Close()
	dir = p.Directory()
	if dir == "" {
		return "", nil, fmt.Errorf("process %d records to no directory: ftrace attach -o DIR %d has it do so, and ftrace forward DIR sends that", p.PID, p.PID)
	}
	if p.RecordsTo(dir) {
		return dir, nil, nil
	}
	return p.OpenDirectory() // it sees other files, as in a container
}

// signalsOf returns the signals that a list names.
func signalsOf(names string) (list []*forward.Signal, err error) {
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		at := slices.IndexFunc(forward.Signals, func(s *forward.Signal) bool { return s.Name == name })
		if at < 0 {
			return nil, command.Usagef("-send names %q, and what can be sent is spans, logs and metrics", name)
		}
		if !slices.Contains(list, forward.Signals[at]) {
			list = append(list, forward.Signals[at])
		}
	}
	return list, nil
}

// variables returns the names of OpenTelemetry's variables for a signal, and for all.
func variables(signal *forward.Signal, what string) (own, all string) {
	return "OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal.OTLP) + "_" + what, "OTEL_EXPORTER_OTLP_" + what
}

// endpoint returns the address that a signal is sent to.
func endpoint(to string, signal *forward.Signal) (string, error) {
	whose, complete, byGRPC := "-to", false, false
	if to == "" {
		own, all := variables(signal, "ENDPOINT")
		for _, name := range []string{own, all} {
			if to == "" {
				whose, complete, to = name, name == own, os.Getenv(name)
			}
		}
		own, all = variables(signal, "PROTOCOL")
		switch protocol := cmp.Or(os.Getenv(own), os.Getenv(all), "http/protobuf"); {
		case to == "", protocol == "http/protobuf":
		case protocol == "grpc":
			byGRPC = true
		default:
			return "", command.Usagef("the environment says that %s is for %s, and forward sends http/protobuf and grpc: -to names an address for one of these", whose, protocol)
		}
	}
	if to == "" {
		return "", command.Usagef("nobody to send to: -to names who receives %s, such as http://localhost:4318 or grpc://localhost:4317", signal.Name)
	}
	return addressOf(to, whose, complete, byGRPC, signal)
}

// addressOf returns the address that a signal is sent to, given the one that whose says. It may be
// complete, and one of HTTP may be for gRPC.
func addressOf(to, whose string, complete, byGRPC bool, signal *forward.Signal) (string, error) {
	bad := command.Usagef("%s is no address such as http://localhost:4318 or grpc://localhost:4317", whose) // there may be a password in it
	u, err := url.Parse(to)
	if err != nil || u.Host == "" {
		return "", bad
	}
	if scheme, ok := map[string]string{"otlp": "http", "otlps": "https"}[u.Scheme]; ok { // the port says how
		u.Scheme, byGRPC = scheme, u.Port() != "4318"
	}
	if secure, ok := map[string]string{"http": "grpc", "https": "grpcs"}[u.Scheme]; ok && byGRPC {
		u.Scheme = secure
	}
	switch u.Scheme {
	case "http", "https":
		if !complete {
			for _, s := range forward.Signals { // it may name one of them
				u.Path = strings.TrimSuffix(u.Path, "/v1/"+s.OTLP)
			}
			u = u.JoinPath("v1", signal.OTLP)
		}
	case "grpc", "grpcs":
		if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
			return "", bad
		}
		u.Path = ""
	default:
		return "", bad
	}
	return u.String(), nil
}

// headerFlag is a flag whose values are headers.
type headerFlag struct {
	cli.StringFlag
	to http.Header
}

// Set adds a header.
func (f *headerFlag) Set(name, value string) error {
	if err := addHeader(f.to, value); err != nil {
		return fmt.Errorf("-%s: %w", f.Name, err)
	}
	return f.StringFlag.Set(name, "")
}

// addHeader adds NAME=VALUE. Errors do not have the value.
func addHeader(to http.Header, text string) error {
	name, value, ok := strings.Cut(text, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c) }) {
		return errors.New("a header is NAME=VALUE")
	}
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return fmt.Errorf("the value of %s has control characters", name)
	}
	to.Set(name, value)
	return nil
}

// environmentHeaders adds the headers that OpenTelemetry's variables say for a signal, but for
// those that are there.
func environmentHeaders(to http.Header, signal *forward.Signal) error {
	own, all := variables(signal, "HEADERS")
	for _, variable := range []string{own, all} {
		for pair := range strings.SplitSeq(os.Getenv(variable), ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			one := http.Header{}
			decoded, err := url.PathUnescape(pair)
			if err == nil {
				err = addHeader(one, decoded)
			}
			if err != nil {
				return command.Usagef("%s: %s", variable, "it is NAME=VALUE,NAME=VALUE, with %2C for a comma in a value")
			}
			for name := range one {
				if to.Get(name) == "" {
					to[name] = one[name]
				}
			}
		}
	}
	return nil
}
