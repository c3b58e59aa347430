package forward

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/export"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A receiver takes spans, or does what goes wrong with receivers.
type receiver struct {
	t        *testing.T
	lock     sync.Mutex
	got      map[string]*tracepb.Span
	doubled  int             // spans that came again
	lostIn   map[string]bool // spans whose answer did not arrive
	refused  map[string]bool
	requests int
	// answer says what becomes of the nth request, and may answer it itself.
	answer func(n int, w http.ResponseWriter, spans []*tracepb.Span) (keep []*tracepb.Span, refused int)
}

func newReceiver(t *testing.T) *receiver {
	return &receiver{t: t, got: map[string]*tracepb.Span{}, lostIn: map[string]bool{}, refused: map[string]bool{}}
}

// killed ends the connection without an answer.
func killed(w http.ResponseWriter) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		c.Close()
	}
}

func (v *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.requests++
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		v.t.Error(err)
		return
	}
	body, err := io.ReadAll(z)
	if err != nil {
		return // it was given up
	}
	var batch tracepb.TracesData
	if err := proto.Unmarshal(body, &batch); err != nil {
		v.t.Error(err)
	}
	if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Header.Get("Api-Key") != "hunter2" {
		v.t.Errorf("%s: %v", r.URL, r.Header)
	}
	spans := batch.ResourceSpans[0].ScopeSpans[0].Spans
	keep, refused := spans, 0
	if v.answer != nil {
		keep, refused = v.answer(v.requests, w, spans)
	}
	for _, s := range keep {
		if v.got[string(s.SpanId)] != nil {
			v.doubled++
			if !v.lostIn[string(s.SpanId)] {
				v.t.Errorf("request %d: %x came before, and was answered", v.requests, s.SpanId)
			}
		}
		v.got[string(s.SpanId)] = s
	}
	if refused > 0 {
		var partial []byte
		partial = protowire.AppendVarint(protowire.AppendTag(partial, 1, protowire.VarintType), uint64(refused))
		partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), "too \x1bold")
		w.Write(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial))
	}
}

// least is how long calls last that are spans here.
const least = 5 * time.Microsecond

// step is how long the steps of metrics are here.
const step = time.Millisecond

// madeUp returns a recording, and the spans that are to arrive.
func madeUp(t *testing.T, r *recording.Recording) (from walk.Source, want map[string]*tracepb.Span) {
	t.Helper()
	from, want = walk.Source{Recording: r}, map[string]*tracepb.Span{}
	x := export.NewSpans(from, least)
	x.Emit = func(s *tracepb.Span) { want[string(s.SpanId)] = s }
	if err := x.Run(func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	return from, want
}

func options(address string) Options {
	to := Destination{Signal: Spans, To: address + "/v1/traces", Header: http.Header{"Api-Key": {"hunter2"}}, Settings: "-min 5us"}
	return Options{Send: []Destination{to}, Least: least, Step: step, pause: time.Millisecond}
}

// positionOf reads how far a recording was sent.
func positionOf(t *testing.T, from walk.Source) (p Position) {
	t.Helper()
	data, err := os.ReadFile(from.Recording.Dir + ".forward")
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestForward: what is sent is what is exported, once, also of a recording that is followed.
func TestForward(t *testing.T) {
	for following, r := range map[bool]*recording.Recording{false: workers(t), true: viewtest.MadeUp(t)} {
		from, want := madeUp(t, r)
		v := newReceiver(t)
		server := httptest.NewServer(v)
		defer server.Close()
		o := options(server.URL)
		var looks atomic.Int32
		o.writing = func(*recording.Recording) bool { return following && looks.Add(1) < 4 }
		var out, warn bytes.Buffer
		for range 2 {
			if err := Recordings(t.Context(), []walk.Source{from}, o, &out, &warn); err != nil {
				t.Fatal(err)
			}
		}
		for id, s := range want {
			if got := v.got[id]; got == nil || !proto.Equal(got, s) {
				t.Fatalf("got %v, want %v", got, s)
			}
		}
		line := fmt.Sprintf("%s: %d spans were sent to %s/v1/traces, 0 refused\n", from.Recording.Dir, len(want), server.URL)
		if len(v.got) != len(want) || v.doubled > 0 || out.String() != line+line || !strings.Contains(warn.String(), "it was sent before") {
			t.Errorf("%d spans, want %d; %d were doubled: %s%s", len(v.got), len(want), v.doubled, &out, &warn)
		}
	}
}

// TestForwardFailures: whatever goes wrong, at the receiver's and at this end, no span is lost
// silently, and none is doubled but those of which no answer came.
func TestForwardFailures(t *testing.T) {
	from, want := madeUp(t, viewtest.MadeUp(t))
	v := newReceiver(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	server := &http.Server{Handler: v}
	go server.Serve(listener)
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel() }()
	var asked time.Time // when a request was answered with 429
	restarted := make(chan error, 1)
	lost := func(spans []*tracepb.Span) {
		for _, s := range spans {
			v.lostIn[string(s.SpanId)] = true
		}
	}
	v.answer = func(n int, w http.ResponseWriter, spans []*tracepb.Span) ([]*tracepb.Span, int) {
		if !asked.IsZero() {
			if early := time.Until(asked.Add(time.Second)); early > 0 {
				t.Errorf("a request came %v before Retry-After says", early)
			}
			asked = time.Time{}
		}
		switch {
		case n == 20: // it ends, and comes back
			go func() {
				server.Close()
				again, err := net.Listen("tcp", address)
				if err == nil {
					server = &http.Server{Handler: v}
					go server.Serve(again)
				}
				restarted <- err
			}()
			lost(spans)
			killed(w)
			return spans, 0
		case n == 30: // this end is ended, and waits for the answer
			cancel()
			return spans, 0
		case n == 40:
			asked = time.Now()
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return nil, 0
		case n%11 == 0:
			w.WriteHeader(http.StatusBadRequest)
			for _, s := range spans {
				v.refused[string(s.SpanId)] = true
			}
			return nil, 0
		}
		switch n % 7 {
		case 1:
			w.WriteHeader([]int{502, 503, 504, 429}[n/7%4])
			return nil, 0
		case 2:
			killed(w)
			return nil, 0
		case 3: // it was taken, but nobody hears of that
			killed(w)
			lost(spans)
			return spans, 0
		case 4:
			v.refused[string(spans[0].SpanId)] = true
			return spans[1:], 1
		}
		return spans, 0
	}
	var out, warn bytes.Buffer
	if err := Recordings(ctx, []walk.Source{from}, options("http://"+address), &out, &warn); err == nil || !strings.Contains(err.Error(), "interrupted") || !strings.Contains(out.String(), "it is not complete") {
		t.Errorf("%v: %s", err, &out)
	}
	if err := Recordings(t.Context(), []walk.Source{from}, options("http://"+address), &out, &warn); err != nil {
		t.Fatal(err)
	}
	if err := <-restarted; err != nil {
		t.Fatal(err)
	}
	v.lock.Lock()
	defer v.lock.Unlock()
	defer server.Close()
	for id, s := range want {
		if v.got[id] == nil && !v.refused[id] {
			t.Fatalf("%v did not come", s)
		}
	}
	p := positionOf(t, from)
	if !p.Done || p.Sent+p.Refused != uint64(len(want)) || p.Refused != uint64(len(v.refused)) || v.doubled == 0 || v.requests < 50 {
		t.Errorf("%d spans came and %d were refused of %d, %d were doubled, in %d requests: %+v", len(v.got), len(v.refused), len(want), v.doubled, v.requests, p)
	}
	for _, told := range []string{"400 Bad Request", "1 span was refused: 200 OK: too ", "it is tried again", "answers again"} {
		if !strings.Contains(warn.String(), told) {
			t.Errorf("%q is not in %s", told, &warn)
		}
	}
}

// TestForwardEnd: what is under way at the end of a recording is not doubled either, nor what is on
// its way when the forwarding is ended.
func TestForwardEnd(t *testing.T) {
	from, want := madeUp(t, viewtest.Deep(t, filepath.Join(t.TempDir(), "deep"), 3000, 2000))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	v := newReceiver(t)
	v.answer = func(n int, w http.ResponseWriter, spans []*tracepb.Span) ([]*tracepb.Span, int) {
		if n == 1 {
			cancel()
			time.Sleep(50 * time.Millisecond)
		}
		return spans, 0
	}
	server := httptest.NewServer(v)
	defer server.Close()
	if err := Recordings(ctx, []walk.Source{from}, options(server.URL), io.Discard, io.Discard); err == nil {
		t.Error("it was not interrupted")
	}
	if p := positionOf(t, from); p.Ended != export.SpansAtOnce || p.Done {
		t.Errorf("%+v", p)
	}
	if err := Recordings(t.Context(), []walk.Source{from}, options(server.URL), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if len(v.got) != len(want) || v.doubled > 0 || len(want) < export.SpansAtOnce {
		t.Errorf("%d spans came, of %d; %d were doubled", len(v.got), len(want), v.doubled)
	}
}

// TestForwardRefused: where nothing will ever be received nothing counts as sent, and no message
// has a token.
func TestForwardRefused(t *testing.T) {
	from, _ := madeUp(t, workers(t))
	for _, status := range []int{302, 401, 403, 404, 405} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://example.com/?key="+r.Header.Get("Api-Key"))
			w.WriteHeader(status)
		}))
		o := options(server.URL)
		o.Positions = t.TempDir()
		var out bytes.Buffer
		err := Recordings(t.Context(), []walk.Source{from}, o, &out, &out)
		server.Close()
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) || strings.Contains(err.Error()+out.String(), "hunter2") || !strings.Contains(out.String(), "0 spans were sent") {
			t.Errorf("%d: %v: %s", status, err, &out)
		}
	}
}

// TestPosition: a position is for one recording, one receiver and one choice of spans.
func TestPosition(t *testing.T) {
	from, _ := madeUp(t, workers(t))
	v := newReceiver(t)
	server := httptest.NewServer(v)
	defer server.Close()
	send := func(change func(*Options)) error {
		o := options(server.URL)
		change(&o)
		return Recordings(t.Context(), []walk.Source{from}, o, io.Discard, io.Discard)
	}
	if err := send(func(*Options) {}); err != nil {
		t.Fatal(err)
	}
	sent := v.requests
	for name, change := range map[string]func(*Options){
		"another receiver": func(o *Options) { o.Send[0].To = "http://127.0.0.1:1/v1/traces" },
		"another choice":   func(o *Options) { o.Send[0].Settings = "-min 1s" },
	} {
		if err := send(change); err == nil || !strings.Contains(err.Error(), "says that the recording was sent to "+server.URL+"/v1/traces, with -min 5us") {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := from.Recording.Dir + ".forward"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:10], 0o600); err != nil {
		t.Fatal(err)
	}
	if err := send(func(*Options) {}); err == nil || !strings.Contains(err.Error(), "remove it to send all") || v.requests != sent {
		t.Errorf("%v; %d requests, want %d", err, v.requests, sent)
	}
	// What is there of an earlier recording in the same place does not count.
	data = bytes.Replace(data, []byte(`{"recording":"`), []byte(`{"recording":"0`), 1)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	v.got = map[string]*tracepb.Span{}
	if err := send(func(*Options) {}); err != nil || len(v.got) == 0 {
		t.Errorf("%v; %d spans", err, len(v.got))
	}
	if err := Recordings(t.Context(), []walk.Source{from, from}, options(server.URL), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "are the same recording") {
		t.Error(err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{"": 0, "2": 2 * time.Second, "-1": 0, "x": 0, "99999999": time.Hour, "Fri, 02 Jan 2026 03:04:15 GMT": 10 * time.Second, "Fri, 02 Jan 2099 03:04:15 GMT": time.Hour} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func workers(t *testing.T) *recording.Recording {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "workers")
	viewtest.Copy(t, "workers", dir)
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestForwardEnded: what a process had not written when its recording was opened is sent, also if
// it has ended since then.
func TestForwardEnded(t *testing.T) {
	r := viewtest.MadeUp(t)
	_, want := madeUp(t, r)
	file := filepath.Join(r.Dir, "tables")
	whole, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, whole[:len(whole)-16], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	half, err := recording.Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	v := newReceiver(t)
	server := httptest.NewServer(v)
	defer server.Close()
	o := options(server.URL)
	o.writing = func(*recording.Recording) bool {
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Error(err)
		}
		return false
	}
	var warn bytes.Buffer
	if err := Recordings(t.Context(), []walk.Source{{Recording: half}}, o, io.Discard, &warn); err != nil || strings.Contains(warn.String(), "damaged") || len(v.got) != len(want) {
		t.Errorf("%v: %d spans of %d came: %s", err, len(v.got), len(want), &warn)
	}
}
