package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/wire"
)

// serveCommand is "ftrace serve [FLAGS] PID|NAME|RECORDING ...".
func serveCommand(args []string) int {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	address := flags.String("mysql", "127.0.0.1:3307", "")
	anywhere := flags.Bool("anywhere", false, "")
	user := flags.String("user", "ftrace", "")
	password := flags.String("password", os.Getenv("FTRACE_PASSWORD"), "")
	open := flags.Bool("no-auth", false, "")
	certificate := flags.String("tls", "", "")
	file := flags.String("test", "", "")
	timeout := flags.Duration("timeout", time.Minute, "")
	options := recordingFlags(flags)
	rest, err := parseMixed(flags, args)
	if err != nil {
		return fail("serve", err)
	}
	if *timeout < 0 {
		return fail("serve", usagef("-timeout %v is less than 0", *timeout))
	}
	server := &wire.Server{User: *user, Password: *password, Log: func(format string, args ...any) { fmt.Fprintf(stderr, "ftrace: serve: "+format+"\n", args...) }}
	generated := false
	switch {
	case *open && *password != "":
		return fail("serve", usagef("-no-auth and a password do not go together"))
	case *open:
		server.User = ""
	case *user == "":
		return fail("serve", usagef("-user is empty; -no-auth lets anyone in"))
	case *password == "":
		server.Password, generated = rand.Text()[:16], true
	}
	if server.TLS, err = tlsConfig(*certificate); err != nil {
		return fail("serve", err)
	}
	listener, err := listen(*address, *anywhere)
	if err != nil {
		return fail("serve", err)
	}
	catalog, err := openCatalog(rest, *options)
	if err != nil {
		listener.Close()
		return fail("serve", err)
	}
	catalog.Test, catalog.Timeout = *file, *timeout
	server.Catalog = catalog
	if err := noneFound(catalog, rest); err != nil {
		fmt.Fprintf(stderr, "ftrace: serve: %v; those that come will be found\n", err)
	}
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	fmt.Fprintf(stdout, "serving on %s\n", listener.Addr())
	switch {
	case *open:
		fmt.Fprintf(stdout, "mysql -h %s -P %s\n", host, port)
	case generated:
		fmt.Fprintf(stdout, "mysql -h %s -P %s -u %s -p%s\n", host, port, *user, server.Password)
	default:
		fmt.Fprintf(stdout, "mysql -h %s -P %s -u %s -p\n", host, port, *user)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		untilEnded(ctx, catalog)
		stop() // a second signal ends it at once
	}()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, listener) }()
	select {
	case err = <-served:
	case <-ctx.Done():
		select {
		case err = <-served:
		case <-time.After(endTime):
			// A client's statement does not notice that it is to end: what it reads stays open.
			return 0
		}
	}
	catalog.Close()
	if err != nil {
		return fail("serve", err)
	}
	return 0
}

// endTime is how long the clients' statements may take to end.
const endTime = 700 * time.Millisecond

// untilEnded waits until all processes have ended that a catalog has. It does not end if there is something else in it, or may come.
func untilEnded(ctx context.Context, catalog *schema.Catalog) {
	if catalog.Find != nil || catalog.Recorded() {
		<-ctx.Done()
		return
	}
	for ctx.Err() == nil {
		alive := slices.ContainsFunc(catalog.Sources(), func(s schema.Source) bool { return s.Alive() })
		if !alive {
			fmt.Fprintln(stderr, "ftrace: serve: the process has ended")
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// listen listens at an address: of this machine alone, unless anyone may come.
func listen(address string, anywhere bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, usagef("-mysql: %v: want HOST:PORT or :PORT", err)
	}
	if host == "" && !anywhere {
		host = "127.0.0.1"
	}
	if !anywhere {
		ips, err := net.LookupIP(host)
		if err != nil {
			return nil, fmt.Errorf("-mysql %s: %v", address, err)
		}
		for _, ip := range ips {
			if !ip.IsLoopback() {
				return nil, usagef("-mysql %s is reached from other machines: -anywhere allows that", address)
			}
		}
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}

// tlsConfig returns what -tls asks for: nothing, a certificate made for this run (auto), or that in the files CERT,KEY.
func tlsConfig(s string) (*tls.Config, error) {
	switch {
	case s == "":
		return nil, nil
	case s == "auto":
		c, err := wire.SelfSigned()
		if err != nil {
			return nil, err
		}
		return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12}, nil
	}
	cert, key, ok := strings.Cut(s, ",")
	if !ok {
		return nil, usageError{errors.New("-tls is auto, or the files CERT,KEY")}
	}
	c, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("-tls: %v", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12}, nil
}
