package web

import (
	"bytes"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/driver"
	"github.com/google/pprof/profile"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/export"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// The pages of pprof are served below pprof/R/FROM-TO/, of recording R and a stretch of time of it
// in ns; 0 is no limit. Their scripts are within them, so these pages have a policy of their own:
// only the scripts run that pprof has written, and they load nothing.

// pprofViews are the pages of pprof that are served. Not among them are those that read files that
// the recording names (source, disasm), and those that write pprof's settings.
var pprofViews = map[string]bool{"": true, "graph": true, "top": true, "peek": true, "flamegraph": true, "download": true}

// pprofStyle hides what leads to the others.
const pprofStyle = "<style>#list, #disasm, #config, #action-source, #action-source-tab { display: none !important; }</style>"

// profiles has the last profiles that were made of a recording, as pprof serves them.
type profiles struct {
	mu    sync.Mutex
	known map[[2]int64]map[string]http.Handler
	order [][2]int64
}

const profilesMax = 4

// starting guards what pprof keeps in variables while it starts.
var starting sync.Mutex

// newPprof returns pprof's pages of a profile, by their paths.
func newPprof(p *profile.Profile) (pages map[string]http.Handler, err error) {
	starting.Lock()
	defer starting.Unlock()
	set := flag.NewFlagSet("pprof", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	err = driver.PProf(&driver.Options{
		Flagset: pprofFlags{set}, Fetch: fetched{p}, Sym: noSymbols{}, Obj: noObjects{}, UI: noTerminal{},
		HTTPServer: func(a *driver.HTTPServerArgs) error {
			pages = a.Handlers
			return nil
		},
	})
	if err == nil && pages == nil {
		err = errors.New("pprof has no pages")
	}
	return pages, err
}

// pprofFlags are the flags that pprof is started with. It listens to nothing: the address is not
// used.
type pprofFlags struct{ *flag.FlagSet }

func (f pprofFlags) StringList(name, value, usage string) *[]*string {
	return &[]*string{f.String(name, value, usage)}
}

func (pprofFlags) ExtraUsage() string { return "" }

func (pprofFlags) AddExtraUsage(string) {}

func (f pprofFlags) Parse(func()) []string {
	if err := f.FlagSet.Parse([]string{"-http=127.0.0.1:1", "-no_browser", "recording"}); err != nil {
		return nil
	}
	return f.Args()
}

// fetched is the profile. It has no URL, so pprof does not save it.
type fetched struct{ p *profile.Profile }

func (f fetched) Fetch(string, time.Duration, time.Duration) (*profile.Profile, string, error) {
	return f.p, "", nil
}

// noSymbols looks for no names: the profile has all.
type noSymbols struct{}

func (noSymbols) Symbolize(string, driver.MappingSources, *profile.Profile) error { return nil }

// noObjects opens no executables, and runs no tools that read them.
type noObjects struct{}

var errNoObjects = errors.New("ftrace web looks into no executables")

func (noObjects) Open(string, uint64, uint64, uint64, string) (driver.ObjFile, error) {
	return nil, errNoObjects
}

func (noObjects) Disasm(string, uint64, uint64, bool) ([]driver.Inst, error) {
	return nil, errNoObjects
}

// noTerminal says nothing. What goes wrong is in the answers.
type noTerminal struct{}

func (noTerminal) ReadLine(string) (string, error)     { return "", io.EOF }
func (noTerminal) Print(...any)                        {}
func (noTerminal) PrintErr(...any)                     {}
func (noTerminal) IsTerminal() bool                    { return false }
func (noTerminal) WantBrowser() bool                   { return false }
func (noTerminal) SetAutoComplete(func(string) string) {}

// pprof answers for one of pprof's pages.
func (s *Server) pprof(w http.ResponseWriter, r *http.Request, under string) {
	of, rest, _ := strings.Cut(under, "/")
	stretch, view, ok := strings.Cut(rest, "/")
	n, err := strconv.Atoi(of)
	var from, to int64
	if _, wrong := fmt.Sscanf(stretch, "%d-%d", &from, &to); wrong != nil || err != nil || !ok || n < 0 || n >= len(s.shown) || from < 0 || to < 0 || stretch != fmt.Sprintf("%d-%d", from, to) {
		http.NotFound(w, r)
		return
	}
	if !pprofViews[view] {
		http.Error(w, "ftrace web does not have this page of pprof: for source, click a call on the timeline and press C", http.StatusNotFound)
		return
	}
	pages, err := s.shown[n].pprof(r, from, to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	page := pages["/"+view]
	if page == nil {
		http.NotFound(w, r)
		return
	}
	made := &answered{head: http.Header{}, status: http.StatusOK}
	page.ServeHTTP(made, r)
	for _, name := range []string{"Content-Type", "Content-Disposition", "Location"} {
		if v := made.head.Get(name); v != "" {
			w.Header().Set(name, v)
		}
	}
	text := made.Bytes()
	if made.head.Get("Content-Type") == "text/html" {
		nonce := rand.Text()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-"+nonce+"'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		text = withNonce(text, nonce)
	}
	w.WriteHeader(made.status)
	w.Write(text)
}

// answered is an answer that is changed before it is given.
type answered struct {
	bytes.Buffer
	head   http.Header
	status int
}

func (a *answered) Header() http.Header { return a.head }

func (a *answered) WriteHeader(status int) { a.status = status }

// withNonce lets the scripts of one of pprof's pages run. They are outside of the picture of a
// graph, which another program has drawn.
func withNonce(page []byte, nonce string) []byte {
	allow := func(part []byte) []byte {
		return bytes.ReplaceAll(part, []byte("<script>"), []byte(`<script nonce="`+nonce+`">`))
	}
	page = bytes.Replace(page, []byte("</head>"), []byte(pprofStyle+"</head>"), 1)
	from, to := bytes.Index(page, []byte(`<div id="graph">`)), bytes.LastIndex(page, []byte("</svg>"))
	if from < 0 || to < from {
		return allow(page)
	}
	return bytes.Join([][]byte{allow(page[:from]), page[from:to], allow(page[to:])}, nil)
}

// pprof returns pprof's pages of a stretch of time.
func (s *shown) pprof(r *http.Request, from, to int64) (map[string]http.Handler, error) {
	c := &s.profiles
	c.mu.Lock()
	defer c.mu.Unlock() // one at a time: each may read all of the recording
	key := [2]int64{from, to}
	if pages := c.known[key]; pages != nil {
		return pages, nil
	}
	reader, done := s.reader(r.Context())
	if reader == nil {
		return nil, r.Context().Err()
	}
	defer done()
	p, err := profileOf(reader, s.window(from, to))
	if err != nil {
		return nil, err
	}
	pages, err := newPprof(p)
	if err != nil {
		return nil, err
	}
	if len(c.order) == profilesMax {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
	if c.known == nil {
		c.known = map[[2]int64]map[string]http.Handler{}
	}
	c.known[key] = pages
	c.order = append(c.order, key)
	return pages, nil
}

func profileOf(r *recording.Recording, window recording.Window) (*profile.Profile, error) {
	p, err := export.Profile(walk.Source{Recording: r, Window: window})
	if err == nil && len(p.Sample) == 0 {
		err = errors.New("there are no calls in that stretch of time")
	}
	return p, err
}
