// Package serve lets MySQL's clients ask what the shell of package sql asks.
//
// It takes a catalog of package schema and listens where the options say, or a file has it, which
// [ReadConfig] reads; package wire speaks the protocol. How to connect is written to the writer
// that it is given. cmd/ftrace calls it. It listens on addresses of this machine alone unless it is
// told otherwise, and ends by SIGTERM within a second.
package serve

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/listen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/wire"
)

// Options are where clients connect, and who may.
type Options struct {
	Address  string // HOST:PORT or :PORT, several with commas between
	Anywhere bool   // addresses are allowed that are reached from other machines
	User     string
	Password string // "": one is made up and written
	// Reader may log in too, to see everything and change nothing; "": nobody does.
	Reader         string
	ReaderPassword string // "": one is made up and written
	Open           bool   // anyone may log in
	TLS            string // auto, the files CERT,KEY, or none
}

// A Server has its address and waits for clients that it can serve.
type Server struct {
	options   Options // with the passwords that were made up
	server    wire.Server
	accounts  *accounts.Accounts // nil: anyone may log in
	made      map[string]bool    // users whose passwords were made up
	listeners []net.Listener
	warn      io.Writer
}

// Listen returns a server that listens. What is to be said meanwhile goes to warn.
func Listen(o Options, warn io.Writer) (*Server, error) {
	s := &Server{options: o, warn: warn, made: map[string]bool{}}
	s.server = wire.Server{Log: func(format string, args ...any) { fmt.Fprintf(warn, "ftrace: serve: "+format+"\n", args...) }}
	if !o.Open {
		s.accounts = accounts.New(o.User, s.password(o.User, &s.options.Password))
		if o.Reader != "" {
			s.accounts.AddReader(o.Reader, s.password(o.Reader, &s.options.ReaderPassword))
		}
	}
	var err error
	if s.server.TLS, err = tlsConfig(o.TLS); err != nil {
		return nil, err
	}
	for address := range strings.SplitSeq(o.Address, ",") {
		l, err := listen.On(listen.Options{Flag: "-mysql", Address: strings.TrimSpace(address), Anywhere: o.Anywhere, Instead: ": -anywhere allows that"})
		if err != nil {
			s.Close()
			return nil, err
		}
		s.listeners = append(s.listeners, l)
	}
	return s, nil
}

// AddAccounts adds accounts, and has them do with a catalog what they are granted. It comes before
// the server runs.
func (s *Server) AddAccounts(catalog *schema.Catalog, list []Account) error {
	if len(list) == 0 {
		return nil
	}
	if s.accounts == nil {
		return listen.Usagef("%s: there are no accounts with -no-auth: leave one out", list[0].Where)
	}
	catalog.Accounts = s.accounts
	session, err := catalog.Session(context.Background())
	if err != nil {
		return err
	}
	defer session.Close()
	session.Identify(0, s.options.User+"@localhost", nil)
	for _, a := range list {
		err := s.accounts.Add(a.Name, a.Password)
		for _, grant := range a.Grants {
			if err == nil {
				err = session.Grant(context.Background(), grant, a.Name)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: account %q: %w", a.Where, a.Name, err)
		}
	}
	return nil
}

// password returns the password of a user, which it makes up if there is none.
func (s *Server) password(user string, password *string) string {
	if *password == "" {
		*password, s.made[user] = rand.Text()[:16], true
	}
	return *password
}

// Close ends the listening of a server that does not run.
func (s *Server) Close() {
	for _, l := range s.listeners {
		l.Close()
	}
}

// Run writes how to connect and serves a catalog, which it closes, until a signal comes, or the
// catalog's processes have ended.
func (s *Server) Run(catalog *schema.Catalog, out io.Writer) (err error) {
	s.server.Catalog, catalog.Accounts = catalog, s.accounts
	for _, l := range s.listeners {
		fmt.Fprintf(out, "serving on %s\n", l.Addr())
	}
	host, port, _ := net.SplitHostPort(s.listeners[0].Addr().String())
	how := func(user, password string) {
		if !s.made[user] {
			password = ""
		}
		fmt.Fprintf(out, "mysql -h %s -P %s -u %s -p%s\n", host, port, user, password)
	}
	if s.options.Open {
		fmt.Fprintf(out, "mysql -h %s -P %s\n", host, port)
	} else if how(s.options.User, s.options.Password); s.options.Reader != "" {
		how(s.options.Reader, s.options.ReaderPassword)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		untilEnded(ctx, catalog, s.warn)
		stop() // a second signal ends it at once
	}()
	served := make(chan error, 1)
	go func() { served <- s.serve(ctx, stop) }()
	select {
	case err = <-served:
	case <-ctx.Done():
		select {
		case err = <-served:
		case <-time.After(endTime):
			// A client's statement does not notice that it is to end: what it reads stays open.
			return nil
		}
	}
	catalog.Close()
	return err
}

// serve serves on all addresses until the context ends. If one fails it ends the others by stop.
func (s *Server) serve(ctx context.Context, stop func()) error {
	failed := make([]error, len(s.listeners))
	var all sync.WaitGroup
	for i, l := range s.listeners {
		all.Go(func() {
			if failed[i] = s.server.Serve(ctx, l); failed[i] != nil {
				stop()
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// endTime is how long the clients' statements may take to end.
const endTime = 700 * time.Millisecond

// untilEnded waits until all processes have ended that a catalog has. It does not end if there is
// something else in it, or may come.
func untilEnded(ctx context.Context, catalog *schema.Catalog, warn io.Writer) {
	if catalog.Find != nil || catalog.Recorded() {
		<-ctx.Done()
		return
	}
	for ctx.Err() == nil {
		alive := slices.ContainsFunc(catalog.Sources(), func(s source.Source) bool { return s.Alive() })
		if !alive {
			fmt.Fprintln(warn, "ftrace: serve: the process has ended")
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// tlsConfig returns what -tls asks for: nothing, a certificate made for this run (auto), or that in
// the files CERT,KEY.
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
		return nil, listen.Usagef("-tls is auto, or the files CERT,KEY, not %q", s)
	}
	c, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("-tls: %v: name the files of a certificate and its key, in PEM", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12}, nil
}
