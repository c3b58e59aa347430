package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/report"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// answers are to what the page asks about one of the recordings.
var answers = map[string]func(*shown, http.ResponseWriter, *http.Request){
	"status":    (*shown).status,
	"functions": (*shown).functions,
	"lanes":     (*shown).lanes,
	"slices":    (*shown).slices,
	"spans":     (*shown).spans,
	"arrows":    (*shown).arrows,
	"call":      (*shown).call,
	"table":     (*shown).table,
	"flame":     (*shown).flame,
	"tree":      (*shown).tree,
	"search":    (*shown).search,
	"source":    (*shown).source,
	"waiting":   (*shown).waiting,
	"d":         (*shown).d,
	"probes":    (*shown).probes,
	"file":      (*shown).file,
}

// answersOfAll are to what the page asks about all of them.
var answersOfAll = map[string]func(*Server, http.ResponseWriter, *http.Request){
	"sql":     (*Server).sql,
	"tables":  (*Server).tables,
	"parting": (*Server).parting,
	"both":    (*Server).both,

	"processes": (*Server).processes,
	"passings":  (*Server).passings,
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, err error) {
	http.Error(w, err.Error(), http.StatusBadRequest)
}

// number reads a number of a question. What is missing is 0.
func number(q url.Values, name string, err *error) int64 {
	text := q.Get(name)
	if text == "" {
		return 0
	}
	n, wrong := strconv.ParseInt(text, 10, 64)
	if wrong != nil || n < 0 || n > math.MaxInt64/4 {
		*err = fmt.Errorf("%s=%q is not a number that it can be", name, text)
		return 0
	}
	return n
}

// reader returns a recording that nobody else uses until done is called, or nil if nobody waits for
// it any more.
func (s *shown) reader(ctx context.Context) (r *recording.Recording, done func()) {
	select {
	case r = <-s.readers:
		return s.refreshed(r)
	case <-ctx.Done():
		return nil, nil
	}
}

// spare is like reader, but returns nil if others use all of them.
func (s *shown) spare() (r *recording.Recording, done func()) {
	select {
	case r = <-s.readers:
		return s.refreshed(r)
	default:
		return nil, nil
	}
}

func (s *shown) refreshed(r *recording.Recording) (*recording.Recording, func()) {
	if s.live != nil {
		r.Refresh() // what it fails to read it notes as damage
	}
	return r, func() { s.readers <- r }
}

// reading calls f with a recording that nobody else uses meanwhile, unless there is an error in
// what was asked, which it answers, or nobody waits any more.
func (s *shown) reading(w http.ResponseWriter, r *http.Request, err error, f func(*recording.Recording)) {
	if err != nil {
		refuse(w, err)
		return
	}
	if reader, done := s.reader(r.Context()); reader != nil {
		defer done()
		f(reader)
	}
}

// status is what the recording is, and how far its index is. Times are in ns since it began.
type status struct {
	All      []string `json:"all"`    // the names of all recordings
	AtOnce   bool     `json:"atOnce"` // they are of processes that ran at the same time
	Name     string   `json:"name"`
	Program  string   `json:"program"`
	PID      int      `json:"pid"`
	Release  string   `json:"release"`
	Start    string   `json:"start"`
	From     int64    `json:"from"` // what is shown begins there
	End      int64    `json:"end"`
	Now      int64    `json:"now"`
	Finished bool     `json:"finished"`
	Calls    uint64   `json:"calls"`
	Deep     uint64   `json:"deep"`
	Beyond   uint64   `json:"beyond"`
	Lanes    int      `json:"lanes"`
	Rows     int      `json:"rows"`
	Finest   int64    `json:"finest"`
	Error    string   `json:"error,omitempty"`
	Notes    string   `json:"notes,omitempty"`

	Functions   int            `json:"functions"`      // more than their keys
	Live        *liveStatus    `json:"live,omitempty"` // of a process that is followed
	Families    []familyAnswer `json:"families"`       // of requests, stages and statements
	BeyondSpans uint64         `json:"beyondSpans"`
}

func (s *shown) now() *status {
	x := s.index
	x.mu.Lock()
	defer x.mu.Unlock()
	r, end := s.first, x.now
	if s.live != nil && !s.settled {
		r.Refresh() // what it fails to read it notes as damage
		s.settled = x.finished
	}
	if first, last := r.Clocks(); !x.finished && x.under == nil && last != first { // else the program was killed
		end = max(end, int64(x.clock.Since(last.Ticks)))
	}
	a := &status{
		All: s.all, AtOnce: s.atOnce, Name: s.name(), Program: r.Env.Executable, PID: r.Env.PID, Release: r.Env.Release,
		Start: x.clock.Wall(x.clock.Ticks(0)).Format("2006-01-02T15:04:05.000Z"), From: x.from, End: end, Now: x.now, Finished: x.finished,
		Calls: x.calls, Deep: x.deep, Beyond: x.beyond, Lanes: len(x.lanes) - x.runners, Rows: rowsMax, Finest: span(x.finest), Notes: x.notes,
		Functions: r.Keys(),
		Families:  x.spans.answer(), BeyondSpans: x.spans.beyond,
	}
	if x.err != nil {
		a.Error = x.err.Error()
	}
	if s.live != nil {
		a.Live = s.live.status(x)
	}
	return a
}

func (s *shown) status(w http.ResponseWriter, _ *http.Request) { reply(w, s.now()) }

// A function is what the page knows of one, by its key.
type function struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	Wait    bool   `json:"wait,omitempty"`
	Span    bool   `json:"span,omitempty"`   // it is a kind of requests, stages or statements
	Source  bool   `json:"source,omitempty"` // it is a function, and its file is known
}

func (s *shown) functionList() []function {
	s.index.mu.Lock()
	defer s.index.mu.Unlock()
	list := []function{}
	for key := range s.first.Keys() {
		f := s.first.Function(uint32(key))
		list = append(list, function{f.ShortName(), f.Package, f.Wait, f.Span, f.File != "" && !f.Wait && !f.Probe && !f.Span})
	}
	return list
}

func (s *shown) functions(w http.ResponseWriter, _ *http.Request) { reply(w, s.functionList()) }

// A laneAnswer is what the page knows of a lane: of a goroutine, or of a processor, whose number G
// is then, and whose calls are runs of goroutines.
type laneAnswer struct {
	G      uint64 `json:"g"`
	Calls  uint64 `json:"calls"`
	Failed uint64 `json:"failed"`
	Rows   int    `json:"rows"`
	Begin  int64  `json:"begin"`
	End    int64  `json:"end"`
}

// laneList returns goroutines, those with the most calls first, or processors, if something of them
// ended since a time, or is under way.
func (s *shown) laneList(processors bool, since int64) []laneAnswer {
	x := s.index
	x.mu.Lock()
	list := make([]laneAnswer, 0, len(x.lanes))
	for _, l := range x.lanes {
		if l.goroutine&processorLane != 0 == processors && (l.end >= since || x.calling(l.goroutine)) {
			list = append(list, laneAnswer{l.goroutine &^ processorLane, l.calls, l.failed, len(l.rows), l.begin, l.end})
		}
	}
	x.mu.Unlock()
	slices.SortFunc(list, func(a, b laneAnswer) int {
		if processors {
			return cmp.Compare(a.G, b.G)
		}
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.G, b.G))
	})
	return list
}

// byProcessor reports whether lanes are those of processors.
func byProcessor(q url.Values, err *error) bool {
	by := q.Get("by")
	if by != "" && by != "processor" {
		*err = fmt.Errorf("there are no lanes by %q", by)
	}
	return by != ""
}

// lanes returns some of the goroutines, or of the processors.
func (s *shown) lanes(w http.ResponseWriter, r *http.Request) {
	var err error
	q := r.URL.Query()
	from, n, since := number(q, "from", &err), number(q, "n", &err), number(q, "since", &err)
	processors := byProcessor(q, &err)
	if err != nil {
		refuse(w, err)
		return
	}
	list := s.laneList(processors, since)
	all := len(list)
	list = list[min(from, int64(all)):]
	list = list[:min(int64(len(list)), cmp.Or(n, 500))]
	reply(w, map[string]any{"all": all, "lanes": list})
}

// slices returns what goroutines did, or what processors ran, in a stretch of time, as arrays. A
// sketch is what is known without reading the recording.
func (s *shown) slices(w http.ResponseWriter, r *http.Request) {
	var err error
	q := r.URL.Query()
	from, to, pixels := number(q, "from", &err), number(q, "to", &err), number(q, "pixels", &err)
	goroutines := goroutinesOf(q, &err)
	if byProcessor(q, &err) {
		for i := range goroutines {
			goroutines[i] |= processorLane
		}
	}
	if err == nil && (to <= from || pixels < 1 || pixels > 20_000 || len(goroutines) > 1000) {
		err = fmt.Errorf("from %d to %d in %d pixels of %d lanes is nothing to draw", from, to, pixels, len(goroutines))
	}
	pixel := max(1, (to-from)/max(1, pixels))
	give := func(p picture) {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(p.encode())
	}
	if err == nil && q.Get("sketch") != "" {
		p, _ := s.index.sketch(goroutines, from, to, pixel)
		give(p)
		return
	}
	s.reading(w, r, err, func(reader *recording.Recording) {
		readers := []*recording.Recording{reader}
		if another, done := s.spare(); another != nil {
			defer done()
			readers = append(readers, another)
		}
		p, err := s.index.picture(r.Context(), readers, drawMax, goroutines, from, to, pixel)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		give(p)
	})
}

// goroutinesOf reads the numbers of goroutines.
func goroutinesOf(q url.Values, err *error) (list []uint64) {
	for text := range strings.SplitSeq(q.Get("lanes"), ",") {
		g, wrong := strconv.ParseUint(text, 10, 64)
		if wrong != nil {
			*err = fmt.Errorf("lanes: %q is no goroutine", text)
			return nil
		}
		list = append(list, g)
	}
	return list
}

// encode makes arrays for the page, little-endian: the number of slices, whether merged ones are
// smaller than a pixel, the span of those in ns (8 bytes), then columns of all slices.
func (p *picture) encode() []byte {
	n := len(p.list)
	b := make([]byte, 0, 16+n*29)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	exact := uint32(0)
	if p.exact {
		exact = 1
	}
	b = binary.LittleEndian.AppendUint32(b, exact)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(p.span)))
	for _, f := range p.list {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(f.begin)))
	}
	for _, f := range p.list {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(f.end)))
	}
	for _, f := range p.list {
		b = binary.LittleEndian.AppendUint32(b, f.what&(1<<firstShift-1))
	}
	for _, f := range p.list {
		b = binary.LittleEndian.AppendUint32(b, f.calls)
	}
	for _, f := range p.list {
		b = binary.LittleEndian.AppendUint16(b, uint16(f.lane))
	}
	for _, f := range p.list {
		b = binary.LittleEndian.AppendUint16(b, uint16(f.row))
	}
	return b
}

// call returns what was recorded of a call.
func (s *shown) call(w http.ResponseWriter, r *http.Request) {
	var err error
	q := r.URL.Query()
	g, wrong := strconv.ParseUint(q.Get("g"), 10, 64)
	depth, begin, end := number(q, "depth", &err), number(q, "begin", &err), number(q, "end", &err)
	s.reading(w, r, cmp.Or(err, wrong), func(reader *recording.Recording) {
		d, err := call(reader, g, int(depth), begin, end)
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		reply(w, d)
	})
}

// A cache has the last answers that took all of a recording to make.
type cache struct {
	mu    sync.Mutex
	known map[string][]byte
	order []string
}

const cacheMax = 8

// answer answers what make makes, or has made for the same key.
func (c *cache) answer(w http.ResponseWriter, key, contentType string, make func() ([]byte, error)) {
	c.mu.Lock()
	defer c.mu.Unlock() // one at a time: each may read all of the recording
	b := c.known[key]
	if b == nil {
		var err error
		if b, err = make(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		c.keep(key, b)
	}
	w.Header().Set("Content-Type", contentType)
	w.Write(b)
}

func (c *cache) keep(key string, b []byte) {
	if len(c.order) == cacheMax {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
	if c.known == nil {
		c.known = map[string][]byte{}
	}
	c.known[key] = b
	c.order = append(c.order, key)
}

const tableRows = 1000

var tablesBy = []string{"function", "package", "goroutine"}

// table returns a table of functions, packages or goroutines, as JSON lines.
func (s *shown) table(w http.ResponseWriter, r *http.Request) {
	var err error
	q := r.URL.Query()
	from, to := number(q, "from", &err), number(q, "to", &err)
	o := report.Options{By: cmp.Or(q.Get("by"), "function"), Sort: cmp.Or(q.Get("sort"), "total"), Rows: tableRows, JSON: true, Waits: q.Get("waits") != ""}
	if !slices.Contains(tablesBy, o.By) || !slices.Contains(report.SortBy(), o.Sort) {
		err = fmt.Errorf("there is no table by %q, sorted by %q", o.By, o.Sort)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	s.cached(w, r, fmt.Sprint("table ", from, to, o), "application/x-ndjson", func(reader *recording.Recording) ([]byte, error) {
		return tableOf(reader, s.window(from, to), o)
	})
}

func tableOf(r *recording.Recording, window recording.Window, o report.Options) ([]byte, error) {
	var b bytes.Buffer
	summary, err := report.Summarize([]walk.Source{{Recording: r, Window: window}}, o)
	if err == nil {
		err = summary.Write(&b, o)
	}
	return b.Bytes(), err
}

// window returns a stretch of time, in ns since the recording began. 0 is no limit.
func (s *shown) window(from, to int64) (window recording.Window) {
	if from > 0 {
		window.From = ticks(&s.index.clock, from)
	}
	if to > 0 {
		window.To = ticks(&s.index.clock, to) + 2
	}
	return s.index.known(window)
}

// cached answers what make makes of the recording, or has made of it for the same key.
func (s *shown) cached(w http.ResponseWriter, r *http.Request, key, contentType string, make func(*recording.Recording) ([]byte, error)) {
	s.made.answer(w, key+s.index.age(), contentType, func() ([]byte, error) {
		reader, done := s.reader(r.Context())
		if reader == nil {
			return nil, r.Context().Err()
		}
		defer done()
		return make(reader)
	})
}
