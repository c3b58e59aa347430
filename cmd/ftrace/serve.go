package main

import (
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/serve"
)

// serveVerb serves SQL to MySQL's clients.
func serveVerb() *cli.Command {
	var o serve.Options
	var kept schema.RecordingOptions
	var file string
	var timeout time.Duration
	return command.Verb(&cli.Command{
		Name: "serve", ArgsUsage: "[FLAGS] [PID|NAME|RECORDING ...]", Usage: "the same for MySQL's clients",
		Description: `
Serve lets MySQL's clients, drivers and tools ask what ftrace sql asks. It writes how to
connect: as a user who may do everything, and as one who may only read. CREATE USER and
GRANT make more accounts, which last as long as serve runs. It ends by Ctrl-C or
SIGTERM, or when the processes have ended that were named by number.`,
		UsageText: `
	$ ftrace serve server
	$ FTRACE_PASSWORD=secret ftrace serve -mysql :3306 4242 4243 old.data`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "mysql", Value: "127.0.0.1:3307", Destination: &o.Address,
				Usage: "listen at `ADDR`: HOST:PORT or :PORT; port 0 is a free one"},
			&cli.BoolFlag{Name: "anywhere", Destination: &o.Anywhere, Usage: "allow addresses that are reached from other machines"},
			&cli.StringFlag{Name: "user", Value: "ftrace", Destination: &o.User, Usage: "let `NAME` log in"},
			&cli.StringFlag{Name: "password", Value: os.Getenv("FTRACE_PASSWORD"), HideDefault: true, Destination: &o.Password,
				Usage: "let the user log in with this `TEXT`; better in FTRACE_PASSWORD. If there is none one is made up and written to stdout"},
			&cli.StringFlag{Name: "reader", Value: "reader", Destination: &o.Reader, Usage: "let `NAME` log in to see everything and change nothing; \"\": nobody"},
			&cli.StringFlag{Name: "reader-password", Value: os.Getenv("FTRACE_READER_PASSWORD"), HideDefault: true, Destination: &o.ReaderPassword,
				Usage: "let the reader log in with this `TEXT`; better in FTRACE_READER_PASSWORD. If there is none one is made up and written to stdout"},
			&cli.BoolFlag{Name: "no-auth", Destination: &o.Open, Usage: "let anyone log in"},
			&cli.StringFlag{Name: "tls", Destination: &o.TLS, Usage: "offer TLS, with a certificate made for this run if `FILES` is auto, or with CERT,KEY"},
			&cli.DurationFlag{Name: "timeout", Value: time.Minute, Destination: &timeout,
				Usage: "end a statement that takes longer than `TIME`; 0: as long as it likes. " +
					"Clients change that by max_statement_time and max_execution_time"},
			testFlag(&file),
		}, recordingFlags(&kept)...),
	}, command.Mixed, func(a command.Args) (status int, err error) {
		switch {
		case timeout < 0:
			return 0, command.Usagef("-timeout %v is less than 0, which is no limit", timeout)
		case o.Open && o.ReaderPassword != "":
			return 0, command.Usagef("-no-auth and a password, of -reader-password or FTRACE_READER_PASSWORD, do not go together: leave one out")
		case o.Reader == o.User && !o.Open:
			return 0, command.Usagef("-reader and -user are both %q: name another, or \"\" for no reader", o.User)
		case o.Open && o.Password != "":
			return 0, command.Usagef("-no-auth and a password, of -password or FTRACE_PASSWORD, do not go together: leave one out")
		case !o.Open && o.User == "":
			return 0, command.Usagef("-user is empty; -no-auth lets anyone in")
		}
		server, err := serve.Listen(o, stderr)
		if err != nil {
			return 0, wronglyUsed(err)
		}
		args := a.All()
		catalog, err := openCatalog(args, kept)
		if err != nil {
			server.Close()
			return 0, err
		}
		catalog.Test, catalog.Timeout = file, timeout
		if err := noneFound(catalog, args); err != nil {
			fmt.Fprintf(stderr, "ftrace: serve: %v; those that come will be found\n", err)
		}
		return 0, server.Run(catalog, stdout)
	})
}
