// Package web shows a recording as a page in a browser, or those of several processes on one
// timeline, or compares two, or follows a program that runs.
//
// It takes recordings, or what package live has a process record, of which it makes indexes in
// levels of detail, and serves a page with a timeline, the text of the trace, the source of calls,
// tables, flame graphs and consoles for SQL and D. The page asks for what is on the screen: slices
// as binary arrays, all else as JSON. cmd/ftrace calls it. It uses package text for the lines of
// the trace, package report for the tables, package diff for where recordings part, package export
// for the profile of which it serves pprof's pages, package schema for SQL, and package dtrace for
// D. The page can also be a file, which has the answers in it (save.go) and no server.
//
// It listens on addresses of this machine alone, and answers only those who know the token in the
// URL. What the program made up reaches the page as text, never as markup. Of files it reads,
// besides the recording, only those that the recording names as files of functions, and that are
// Go.
package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/listen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// Options are where the page is, and who opens it.
type Options struct {
	Address  string                  // HOST:PORT
	Source   string                  // the directory of the module whose functions were recorded
	Kept     source.RecordingOptions // how much of it SQL sees
	Open     func(url string) error  // opens the page in a browser; nil: nothing does
	Progress func(size int64, done func() int64) (end func())
}

// A Server serves the page of recordings.
type Server struct {
	o        Options
	listener net.Listener
	token    string
	hosts    []string // as the browser may call this server
	shown    []*shown
	turns    chan bool // of statements
	compared cache     // what was made of all recordings
	together processes
	opening  opening

	console    *console // nil: not made yet, of a process that is followed
	consoleErr error    // why it could not be made
	once       sync.Once
}

func newServer(o Options) *Server {
	s := &Server{o: o, token: rand.Text(), turns: make(chan bool, sqlAtOne)}
	s.together.ctx, s.together.stop = context.WithCancel(context.Background())
	return s
}

// Listen returns a server, which listens, of the recordings in some directories: one that is shown,
// or several that are on one timeline, too. Two are compared.
func Listen(dirs []string, o Options) (*Server, error) {
	s := newServer(o)
	var all []string
	for _, dir := range dirs {
		r, err := newShown(dir, o)
		if err != nil {
			return nil, err
		}
		s.shown = append(s.shown, r)
		all = append(all, r.name())
	}
	together := atOnce(s.shown)
	for _, r := range s.shown {
		r.all, r.atOnce = all, together
	}
	if err := s.listen(); err != nil {
		return nil, err
	}
	var err error
	if s.console, err = newConsole(dirs, o.Kept, s.turns, s.delay); err != nil {
		s.listener.Close()
		return nil, err
	}
	return s, nil
}

// listen begins to listen.
func (s *Server) listen() (err error) {
	s.listener, err = listen.On(listen.Options{Flag: "-addr", Address: s.o.Address, Instead: ", and the page is for this one: use 127.0.0.1, and ssh -L from elsewhere"})
	if err != nil {
		return err
	}
	address := s.listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	s.hosts = []string{address, "localhost:" + port}
	return nil
}

// URL returns where the page is.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/" + s.token + "/" }

// Close ends a server that does not run.
func (s *Server) Close() error {
	s.listener.Close()
	return s.release()
}

// release gives up what the server holds, besides the listener.
func (s *Server) release() error {
	s.together.stop()
	if s.console != nil {
		s.console.catalog.Close()
	}
	if f := s.following(); f != nil {
		return f.session.Close()
	}
	return nil
}

// Run writes where the page is, and serves it until a signal comes. Of a process that is followed
// the first Ctrl-C ends that it is.
func (s *Server) Run(out, warn io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	go func() {
		if f := s.following(); f != nil {
			f.until(ctx, interrupts, warn)
		}
		<-interrupts
		stop()
	}()
	fmt.Fprintf(out, "serving on %s\n", s.URL())
	if s.o.Open != nil {
		if err := s.o.Open(s.URL()); err != nil {
			fmt.Fprintf(warn, "ftrace: web: no browser could be started: %v: open the page yourself\n", err)
		}
	}
	return s.serve(ctx)
}

// serve serves until the context ends.
func (s *Server) serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	built := make(chan bool)
	go func() {
		defer close(built)
		if f := s.following(); f != nil {
			f.record(ctx, s.shown[0].index)
			return
		}
		read := 0
		more := func() bool {
			if read += moreEvery; read > readFirst {
				s.opening.wait(ctx)
			}
			return ctx.Err() == nil
		}
		for _, r := range s.shown {
			r.index.open(s.o.Progress, more)
		}
	}()
	server := http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listener) }()
	var err error
	select {
	case err = <-ended:
		stop()
	case <-ctx.Done():
		server.Close()
	}
	<-built
	return errors.Join(err, s.release())
}

//go:embed assets
var embedded embed.FS

var assets, _ = fs.Sub(embedded, "assets")

// script is all modules of the page in one. The first picture would be later if the browser asked
// for each module once another that imports it had come.
var script = sync.OnceValues(func() (string, error) { return bundle(assets, "app") })

// policy keeps the page from loading or running anything that is not of this server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP answers those who know the token, and came by an address of this machine.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	if problem := s.refuses(r); problem != "" {
		http.Error(w, problem, http.StatusForbidden)
		return
	}
	_, what, _ := strings.Cut(r.URL.Path[1:], "/")
	if what == "armed" {
		s.control(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "this page only reads", http.StatusMethodNotAllowed)
		return
	}
	if answer := answers[what]; answer != nil {
		if shown, err := s.asked(r); err != nil {
			refuse(w, err)
		} else {
			answer(shown, w, r)
		}
		if what == "slices" {
			s.opening.pictured()
		}
		return
	}
	if answer := answersOfAll[what]; answer != nil {
		answer(s, w, r)
		return
	}
	if under, ok := strings.CutPrefix(what, "pprof/"); ok {
		s.pprof(w, r, under)
		return
	}
	if what == "" {
		s.opening.begin()
		what = "index.html"
	}
	text, err := asset(what)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	head.Set("Content-Type", contentTypes[path.Ext(what)])
	w.Write(text)
}

func asset(name string) ([]byte, error) {
	if name == "app.js" {
		text, err := script()
		return []byte(text), err
	}
	return fs.ReadFile(assets, name)
}

var contentTypes = map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}

// asked returns the recording that is asked about, the first one unless r names another.
func (s *Server) asked(r *http.Request) (*shown, error) {
	var err error
	n := number(r.URL.Query(), "r", &err)
	if err == nil && n >= int64(len(s.shown)) {
		err = fmt.Errorf("there is no recording %d", n)
	}
	if err != nil {
		return nil, err
	}
	return s.shown[n], nil
}

// refuses says why a request is not answered, or nothing. A page of somebody else has another
// origin, and by a name that it lets point to this machine it comes for another host.
func (s *Server) refuses(r *http.Request) string {
	known := false
	for _, host := range s.hosts {
		known = known || r.Host == host
	}
	if !known {
		return "this is not the address that ftrace web has written"
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return "the request is of another page"
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" && r.URL.Path != "/"+s.token+"/" {
		return "the request is of another page"
	}
	token, _, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		return "the URL is not the one that ftrace web has written: take all of it"
	}
	return ""
}
