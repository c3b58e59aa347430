package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/signals"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/forward"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// forwardVerb sends recordings to what receives OpenTelemetry's spans.
func forwardVerb() *cli.Command {
	o := options{verb: "forward", within: named}
	f := forward.Options{Header: http.Header{}}
	var to string
	flags := slices.DeleteFunc(o.sourceFlags(), func(flag cli.Flag) bool { return slices.Contains([]string{"from", "to"}, flag.Names()[0]) })
	return command.Verb(&cli.Command{
		Name: "forward", ArgsUsage: "-to URL [FLAGS] [DIR|PID|NAME ...]", Usage: "send recordings to what receives OpenTelemetry's spans",
		Description: `
Forward sends what recordings have to a collector, to Jaeger, Tempo or whatever else
receives spans of OpenTelemetry by OTLP, over HTTP or gRPC: requests, statements, and calls that
lasted for -min, with those around them. A recording that is still being written is
followed until it ends; PID and NAME stand for the recording that a process is writing.
The program does not wait for that. If nobody answers, forward tries again. What was
sent is noted in a file beside the recording, DIR.forward: the same command goes on
where one before it has ended.

Without -to it is what OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT
say. Of headers OTEL_EXPORTER_OTLP_HEADERS and OTEL_EXPORTER_OTLP_TRACES_HEADERS are
sent too: that keeps tokens out of the list of processes.`,
		UsageText: `
	$ ftrace forward -to http://localhost:4318
	$ ftrace forward -to grpc://localhost:4317 -min 5ms server worker
	$ ftrace forward -to https://otlp.example.com -header api-key=$KEY app.data`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "to", Destination: &to, Usage: "send to `URL`: http or https, whose path is completed by /v1/traces, or grpc, or grpcs for TLS"},
			&headerFlag{cli.StringFlag{Name: "header", Usage: "send a header `NAME=VALUE` too; may be repeated"}, f.Header},
			leastFlag(&f.Least),
			&cli.StringFlag{Name: "position", Destination: &f.Positions, Usage: "note in `DIR` what was sent, not beside the recording"},
		}, flags...),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		if f.To, err = endpoint(to); err != nil {
			return 0, err
		}
		if err := environmentHeaders(f.Header); err != nil {
			return 0, err
		}
		f.Settings = fmt.Sprintf("-min %v", f.Least)
		for _, flag := range [][2]string{{"-f", o.rules}, {"-g", o.goroutines}} {
			if flag[1] != "" {
				f.Settings += fmt.Sprintf(" %s %q", flag[0], flag[1])
			}
		}
		args := a.All()
		if len(args) == 0 {
			args = []string{defaultDir}
		}
		var list []walk.Source
		for _, arg := range args {
			dir, err := recordingOf(arg)
			if err != nil {
				return 0, err
			}
			from, err := o.openSource(dir)
			if err != nil {
				return 0, err
			}
			from.Progress = nil // it may never end
			list = append(list, from)
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
		return 0, forward.Recordings(ctx, list, f, stdout, stderr)
	})
}

// recordingOf returns the directory of a recording: that one, or the one that a process is writing,
// which is named by its number or its executable.
func recordingOf(arg string) (string, error) {
	if _, err := os.Stat(arg); err == nil || strings.ContainsRune(arg, os.PathSeparator) || arg == defaultDir {
		return arg, nil
	}
	p, err := live.Named(arg)
	if err != nil {
		return "", err
	}
	defer p.Close()
	dir := p.Directory()
	if dir == "" {
		return "", fmt.Errorf("process %d records to no directory: ftrace attach -o DIR %d has it do so, and ftrace forward DIR sends that", p.PID, p.PID)
	}
	return dir, nil
}

// endpoint returns the address that spans are sent to.
func endpoint(to string) (string, error) {
	whose, complete, byGRPC := "-to", false, false
	if to == "" {
		for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
			if to == "" {
				whose, complete, to = name, name == "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", os.Getenv(name)
			}
		}
		switch protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "http/protobuf"); {
		case to == "", protocol == "http/protobuf":
		case protocol == "grpc":
			byGRPC = true
		default:
			return "", command.Usagef("the environment says that %s is for %s, and forward sends http/protobuf and grpc: -to names an address for one of these", whose, protocol)
		}
	}
	if to == "" {
		return "", command.Usagef("nobody to send to: -to names who receives spans, such as http://localhost:4318 or grpc://localhost:4317")
	}
	bad := command.Usagef("%s is no address such as http://localhost:4318 or grpc://localhost:4317", whose) // there may be a password in it
	u, err := url.Parse(to)
	if err != nil || u.Host == "" {
		return "", bad
	}
	if secure, ok := map[string]string{"http": "grpc", "https": "grpcs"}[u.Scheme]; ok && byGRPC {
		u.Scheme = secure
	}
	switch u.Scheme {
	case "http", "https":
		if !complete && !strings.HasSuffix(u.Path, "/v1/traces") {
			u = u.JoinPath("v1", "traces")
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

// environmentHeaders adds the headers that OpenTelemetry's variables say, but for those that are
// there.
func environmentHeaders(to http.Header) error {
	for _, variable := range []string{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"} {
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
