package main

import (
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v3"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/serve"
)

// serveVerb serves SQL to MySQL's clients.
func serveVerb() *cli.Command {
	var o serve.Options
	var kept source.RecordingOptions
	var file, config, passwordFile, readerPasswordFile string
	var timeout time.Duration
	flags := append([]cli.Flag{
		&cli.StringFlag{Name: "config", Destination: &config, Usage: "read flags, sources and accounts from `FILE`, in JSON (docs/performance-schema.md#fleet)"},
		&cli.StringFlag{Name: "mysql", Value: "127.0.0.1:3307", Destination: &o.Address,
			Usage: "listen at `ADDR`: HOST:PORT or :PORT, several with commas between; port 0 is a free one"},
		&cli.BoolFlag{Name: "anywhere", Destination: &o.Anywhere, Usage: "allow addresses that are reached from other machines"},
		&cli.StringFlag{Name: "user", Value: "ftrace", Destination: &o.User, Usage: "let `NAME` log in"},
		&cli.StringFlag{Name: "password", Value: os.Getenv("FTRACE_PASSWORD"), HideDefault: true, Destination: &o.Password,
			Usage: "let the user log in with this `TEXT`; better in FTRACE_PASSWORD. If there is none one is made up and written to stdout"},
		&cli.StringFlag{Name: "password-file", Destination: &passwordFile, Usage: "let the user log in with what the first line of `FILE` is"},
		&cli.StringFlag{Name: "reader", Value: "reader", Destination: &o.Reader, Usage: "let `NAME` log in to see everything and change nothing; \"\": nobody"},
		&cli.StringFlag{Name: "reader-password", Value: os.Getenv("FTRACE_READER_PASSWORD"), HideDefault: true, Destination: &o.ReaderPassword,
			Usage: "let the reader log in with this `TEXT`; better in FTRACE_READER_PASSWORD. If there is none one is made up and written to stdout"},
		&cli.StringFlag{Name: "reader-password-file", Destination: &readerPasswordFile, Usage: "let the reader log in with what the first line of `FILE` is"},
		&cli.BoolFlag{Name: "no-auth", Destination: &o.Open, Usage: "let anyone log in"},
		&cli.StringFlag{Name: "tls", Destination: &o.TLS, Usage: "offer TLS, with a certificate made for this run if `FILES` is auto, or with CERT,KEY"},
		&cli.DurationFlag{Name: "timeout", Value: time.Minute, Destination: &timeout,
			Usage: "end a statement that takes longer than `TIME`; 0: as long as it likes. " +
				"Clients change that by max_statement_time and max_execution_time"},
		testFlag(&file),
	}, recordingFlags(&kept)...)
	return command.Verb(&cli.Command{
		Name: "serve", ArgsUsage: "[FLAGS] [PID|NAME|RECORDING ...]", Usage: "the same for MySQL's clients",
		Description: `
Serve lets MySQL's clients, drivers and tools ask what ftrace sql asks. It writes how to
connect: as a user who may do everything, and as one who may only read. CREATE USER and
GRANT make more accounts, which last as long as serve runs. It ends by Ctrl-C or
SIGTERM, or when the processes have ended that were named by number.

A file of -config has flags by their names, the names of processes, programs and
recordings as "sources", and "accounts". Flags that are given go first:

	{
		"mysql": ["127.0.0.1:3307", "[::1]:3307"],
		"password-file": "/run/secrets/ftrace",
		"sources": ["server", "worker", "old.data"],
		"accounts": [{"name": "ann", "password-file": "/run/secrets/ann",
			"grants": ["SELECT ON performance_schema.*"]}]
	}`,
		UsageText: `
	$ ftrace serve server
	$ ftrace serve -config fleet.json
	$ FTRACE_PASSWORD=secret ftrace serve -mysql :3306 4242 4243 old.data`,
		Flags: flags,
	}, command.Mixed, func(a command.Args) (status int, err error) {
		args, c := a.All(), &serve.Config{}
		if config != "" {
			if c, err = serve.ReadConfig(config); err != nil {
				return 0, err
			}
			for _, s := range c.Flags {
				if err := command.Configure(flags, s.Name, s.Value); err != nil {
					return 0, fmt.Errorf("%s: %w", s.Where, err)
				}
			}
			args = append(args, c.Sources...)
		}
		for _, from := range []struct {
			flag, file, variable string
			password             *string
		}{{"-password", passwordFile, "FTRACE_PASSWORD", &o.Password}, {"-reader-password", readerPasswordFile, "FTRACE_READER_PASSWORD", &o.ReaderPassword}} {
			if from.file == "" {
				continue
			}
			if *from.password != "" {
				return 0, command.Usagef("%s-file and a password, of %s or %s, do not go together: leave one out", from.flag, from.flag, from.variable)
			}
			if *from.password, err = serve.PasswordIn(from.file); err != nil {
				return 0, err
			}
		}
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
		catalog, err := openCatalog(args, kept)
		if err != nil {
			server.Close()
			return 0, err
		}
		catalog.Test, catalog.Timeout = file, timeout
		if err := server.AddAccounts(catalog, c.Accounts); err != nil {
			server.Close()
			catalog.Close()
			return 0, wronglyUsed(err)
		}
		if err := noneFound(catalog, args); err != nil {
			fmt.Fprintf(stderr, "ftrace: serve: %v; those that come will be found\n", err)
		}
		return 0, server.Run(catalog, stdout)
	})
}
