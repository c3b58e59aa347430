package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/serve"
)

// serveCommand is "ftrace serve [FLAGS] PID|NAME|RECORDING ...".
func serveCommand(args []string) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	var o serve.Options
	flags.StringVar(&o.Address, "mysql", "127.0.0.1:3307", "")
	flags.BoolVar(&o.Anywhere, "anywhere", false, "")
	flags.StringVar(&o.User, "user", "ftrace", "")
	flags.StringVar(&o.Password, "password", os.Getenv("FTRACE_PASSWORD"), "")
	flags.BoolVar(&o.Open, "no-auth", false, "")
	flags.StringVar(&o.TLS, "tls", "", "")
	file := flags.String("test", "", "")
	timeout := flags.Duration("timeout", time.Minute, "")
	options := recordingFlags(flags)
	rest, err := parseMixed(flags, args)
	switch {
	case err != nil:
	case *timeout < 0:
		err = usagef("-timeout %v is less than 0", *timeout)
	case o.Open && o.Password != "":
		err = usagef("-no-auth and a password do not go together")
	case !o.Open && o.User == "":
		err = usagef("-user is empty; -no-auth lets anyone in")
	}
	if err != nil {
		return fail("serve", err)
	}
	server, err := serve.Listen(o, stderr)
	if err != nil {
		var wrong serve.UsageError
		if errors.As(err, &wrong) {
			err = usageError{wrong}
		}
		return fail("serve", err)
	}
	catalog, err := openCatalog(rest, *options)
	if err != nil {
		server.Close()
		return fail("serve", err)
	}
	catalog.Test, catalog.Timeout = *file, *timeout
	if err := noneFound(catalog, rest); err != nil {
		fmt.Fprintf(stderr, "ftrace: serve: %v; those that come will be found\n", err)
	}
	if err := server.Run(catalog, stdout); err != nil {
		return fail("serve", err)
	}
	return 0
}
