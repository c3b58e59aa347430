package exporter

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// A process in which nothing happens by itself.
type fakeSource struct {
	source.Source
	name   string
	snap   *source.Snapshot
	fails  error
	refuse error // what Look returns
	looked map[uint32]bool
	wanted source.Consumers
}

func (s *fakeSource) Name() string                                     { return s.name }
func (s *fakeSource) Alive() bool                                      { return !errors.Is(s.fails, source.ErrGone) }
func (s *fakeSource) Close() error                                     { return nil }
func (s *fakeSource) Snapshot(live.Contents) (*source.Snapshot, error) { return s.snap, s.fails }
func (s *fakeSource) Want(c source.Consumers) error                    { s.wanted |= c; return nil }
func (s *fakeSource) Look(changes map[uint32]bool) error {
	if s.refuse == nil {
		maps.Copy(s.looked, changes)
	}
	return s.refuse
}

// served returns a source of one moment, with a function of each kind.
func served() *fakeSource {
	snap := &source.Snapshot{
		Process:   source.Process{PID: 42, Executable: "/usr/bin/shop", Release: "go1.26.8", Start: time.Unix(1e9, 0)},
		Functions: []source.Function{{Key: 1, Package: "main", Name: "(*Shop).price\xff"}, {Key: 2, Package: "main", Name: "hash"}, {Key: 3, Package: "main", Name: "never"}},
		Waits:     []source.Function{{Key: 4, Wait: true, Package: "wait", Name: "io/socket/read"}},
		Kinds:     []source.Function{{Key: 5, Span: true, Package: "stage", Name: "http/server/GET /"}, {Key: 6, Span: true, Package: "statement", Name: "sql/select"}},
		Probes:    []source.Function{{Key: 7, Probe: true, Package: "tcp", Name: "send"}},
		Running:   3,
		Lost:      []source.Counter{{Name: "records_lost", Value: 5}},
	}
	const ns = 1000
	for i := range snap.Buckets {
		snap.Buckets[i] = ns << min(i, 50) // bucket i ends at 2^i ns
	}
	snap.Buckets[0] = 0 // shorter than the timer's tick
	buckets := []uint64{0: 2, 21: 6, 22: 1}
	snap.Global = []source.Summary{
		{Function: 1, Count: 10, Timed: 9, Sum: 12e9, Self: 1e9, Errors: 3, Panics: 1, Buckets: buckets},
		{Function: 2, Count: 1000, Timed: 0},
		{Function: 3},
		{Function: 4, Count: 1, Timed: 1, Sum: 1e6, Bytes: 17, Buckets: []uint64{10: 1}},
		{Function: 5, Count: 2, Timed: 1, Sum: 1e6, Errors: 1, Buckets: []uint64{40: 1}},
		{Function: 6, Count: 1, Timed: 1, Sum: 1e6, Buckets: []uint64{10: 1}},
		{Function: 7, Count: 8},
	}
	return &fakeSource{name: "42", snap: snap, looked: map[uint32]bool{}}
}

func collectorOf(t *testing.T, s source.Source, o Options) (*collector, *prometheus.Registry) {
	t.Helper()
	catalog := &schema.Catalog{}
	catalog.Add(s)
	c := newCollector(catalog, o, io.Discard)
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	return c, registry
}

// TestText: what Prometheus's own parser reads is what the process has, and its linter has nothing
// to say.
func TestText(t *testing.T) {
	_, registry := collectorOf(t, served(), Options{})
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := answer.Body.String()
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`ftrace_calls_total{function="(*Shop).price` + "\uFFFD" + `",package="main",process="42",program="shop"} 10`,
		`ftrace_calls_total{function="hash",package="main",process="42",program="shop"} 1000`,
		`ftrace_call_panics_total{function="(*Shop).price` + "\uFFFD" + `",package="main",process="42",program="shop"} 1`,
		`ftrace_call_errors_total{function="(*Shop).price` + "\uFFFD" + `",package="main",process="42",program="shop"} 3`,
		`ftrace_call_self_seconds_total{function="(*Shop).price` + "\uFFFD" + `",package="main",process="42",program="shop"} 0.001`,
		`ftrace_waits_total{process="42",program="shop",wait="io/socket/read"} 1`,
		`ftrace_wait_bytes_total{process="42",program="shop",wait="io/socket/read"} 17`,
		`ftrace_stages_total{process="42",program="shop",stage="http/server/GET /"} 2`,
		`ftrace_stage_errors_total{process="42",program="shop",stage="http/server/GET /"} 1`,
		`ftrace_statements_total{process="42",program="shop",statement="sql/select"} 1`,
		`ftrace_probes_total{probe="send",process="42",program="shop",provider="tcp"} 8`,
		`ftrace_goroutines{process="42",program="shop"} 3`,
		`ftrace_lost_total{process="42",program="shop",what="records_lost"} 5`,
		`ftrace_process_info{pid="42",process="42",program="shop",release="go1.26.8"} 1`,
		`ftrace_process_start_time_seconds{process="42",program="shop"} 1e+09`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
	if n := len(families["ftrace_calls_total"].Metric); n != 2 {
		t.Errorf("%d functions have calls, not 2", n)
	}
	if n := len(families["ftrace_call_duration_seconds"].Metric); n != 1 {
		t.Errorf("%d functions have times, not 1", n)
	}
	if n := len(families["ftrace_wait_errors_total"].GetMetric()); n != 0 {
		t.Errorf("%d waits have errors", n)
	}
}

// TestHistogram: both histograms have all timed calls, each within a factor of 1.42 of where it
// belongs.
func TestHistogram(t *testing.T) {
	_, registry := collectorOf(t, served(), Options{})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var h *dto.Histogram
	for _, f := range families {
		if f.GetName() == "ftrace_call_duration_seconds" {
			h = f.Metric[0].Histogram
		}
	}
	if h.GetSampleCount() != 9 || h.GetSampleSum() != 0.012 || h.GetSchema() != 0 || h.GetZeroCount() != 2 {
		t.Errorf("it is %v", h)
	}
	// Of 1.05 to 2.1 ms: the middle, 1.48 ms, is in the bucket to 2^-9 s.
	if len(h.PositiveSpan) != 1 || h.PositiveSpan[0].GetOffset() != -9 || h.PositiveSpan[0].GetLength() != 2 ||
		len(h.PositiveDelta) != 2 || h.PositiveDelta[0] != 6 || h.PositiveDelta[1] != -5 {
		t.Errorf("native: %v", h)
	}
	for _, b := range h.Bucket {
		want := uint64(2)
		if b.GetUpperBound() > 0.00148 {
			want = 9
		}
		if b.GetCumulativeCount() != want {
			t.Errorf("%d calls of at most %v s, not %d", b.GetCumulativeCount(), b.GetUpperBound(), want)
		}
	}
	if len(h.Bucket) != 14 {
		t.Errorf("%d bounds", len(h.Bucket))
	}
}

// TestExemplars: the last request of each bucket that is in a trace stands by its bucket.
func TestExemplars(t *testing.T) {
	const trace, ms = "4bf92f3577b34da6a3ce929d0e0e4736", 1e9
	s := served()
	s.snap.Now = 2000 * ms
	s.snap.Spans = []source.Span{
		{Event: source.Event{Function: 5, Timed: true, Start: 100 * ms, End: 1100 * ms}, Trace: trace + "-00000000000000a1"},
		{Event: source.Event{Function: 5, Timed: true, Start: 200 * ms, End: 1200 * ms}, Trace: trace + "-00000000000000a2"},
		{Event: source.Event{Function: 5, Timed: true, Start: 300 * ms, End: 301 * ms}, Trace: trace + "-00000000000000a3"},
		{Event: source.Event{Function: 5, Timed: true, Start: 300 * ms, End: 1300 * ms}},
		{Event: source.Event{Function: 5, Timed: true, Start: 400 * ms, Inside: true}, Trace: trace + "-00000000000000a4"},
		{Event: source.Event{Function: 5, Timed: true, Start: 1 * ms, End: 80000 * ms}, Trace: trace + "-00000000000000a5"}, // above all bounds
	}
	_, registry := collectorOf(t, s, Options{})
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(answer, request)
	var found []string
	for line := range strings.Lines(answer.Body.String()) {
		if bucket, exemplar, ok := strings.Cut(line, " # "); ok {
			at := strings.Fields(exemplar)[2]
			seconds, err := strconv.ParseFloat(at, 64)
			if ago := time.Since(time.Unix(0, int64(seconds*1e9))); err != nil || ago < 700*time.Millisecond || ago > time.Minute {
				t.Errorf("%s was %v ago: %v", exemplar, ago, err)
			}
			found = append(found, bucket[strings.Index(bucket, "le="):strings.Index(bucket, "}")]+" "+strings.TrimSuffix(exemplar, " "+at+"\n"))
		}
	}
	want := []string{
		`le="0.001024" {span_id="00000000000000a3",trace_id="` + trace + `"} 0.001`,
		`le="1.048576" {span_id="00000000000000a2",trace_id="` + trace + `"} 1.0`,
	}
	if !slices.Equal(found, want) {
		t.Errorf("exemplars are\n%s\nnot\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "ftrace_stage_duration_seconds" && len(f.Metric[0].Histogram.Exemplars) != 2 {
			t.Errorf("the native histogram has %v", f.Metric[0].Histogram.Exemplars)
		}
	}
}

// TestLook: what rules match is counted, but for what is on anyway and what is called too often.
func TestLook(t *testing.T) {
	s := served()
	s.snap.Functions[0].Enabled = true
	c, registry := collectorOf(t, s, Options{Rules: "main.*;!main.never;wait/io/*", Budget: 100})
	if pause := c.check(); pause != source.Soon {
		t.Errorf("after a change it checks again in %v", pause)
	}
	if want := map[uint32]bool{2: true, 4: true}; !maps.Equal(s.looked, want) {
		t.Errorf("it looks at %v, not %v", s.looked, want)
	}
	if s.wanted != source.SummaryGlobal|source.WaitSummaryGlobal {
		t.Errorf("it wants %b", s.wanted)
	}
	s.snap.Global[1].Count += 1e9
	s.snap.Now += source.Picoseconds(time.Second)
	if c.check(); s.looked[2] || !s.looked[4] {
		t.Errorf("it looks at %v", s.looked)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if n := len(f.Metric); f.GetName() == "ftrace_calls_total" && n != 1 || f.GetName() == "ftrace_left_alone" && (n != 1 || f.Metric[0].Label[0].GetValue() != "call/main/hash") {
			t.Errorf("%v", f)
		}
	}
	if pause := c.check(); pause != time.Second {
		t.Errorf("without a change it checks again in %v", pause)
	}
}

// TestRefused: a process that lets nobody look is asked again, and told of once. It is there once,
// however often it was named.
func TestRefused(t *testing.T) {
	s, catalog, warn := served(), &schema.Catalog{}, &bytes.Buffer{}
	catalog.Add(s)
	catalog.Add(s)
	c := newCollector(catalog, Options{Rules: "main.hash", Budget: 1e6}, warn)
	s.refuse = errors.New("it records")
	for range 3 {
		if pause := c.check(); pause != time.Second {
			t.Errorf("it is asked again in %v", pause)
		}
	}
	if got := warn.String(); got != "ftrace: exporter: process 42: it records\n" {
		t.Errorf("it says %q", got)
	}
	s.refuse = nil
	if c.check(); !s.looked[2] {
		t.Error("it is not looked at")
	}
	if n := len(c.sources()); n != 1 {
		t.Errorf("there are %d sources of one process", n)
	}
}

// TestGone: a process that fails is told of once, and has no metrics; the others have.
func TestGone(t *testing.T) {
	good, bad, ended := served(), served(), served()
	good.name, ended.name = "43", "44"
	bad.fails, ended.fails = errors.New("it does not answer"), source.ErrGone
	catalog, warn := &schema.Catalog{}, &bytes.Buffer{}
	for _, s := range []source.Source{bad, good, ended} {
		catalog.Add(s)
	}
	c := newCollector(catalog, Options{}, warn)
	for range 2 {
		metrics := make(chan prometheus.Metric, 1000)
		c.Collect(metrics)
		if n := len(metrics); n == 0 || n > 60 {
			t.Errorf("%d metrics", n)
		}
	}
	if got := warn.String(); got != "ftrace: exporter: process 42: it does not answer\n" {
		t.Errorf("it says %q", got)
	}
	if c.ended() {
		t.Error("it has ended while processes run")
	}
	catalog.Remove(good)
	catalog.Remove(bad)
	if !c.ended() {
		t.Error("it goes on without a process")
	}
}

// TestOnce: the metrics as OpenMetrics has them.
func TestOnce(t *testing.T) {
	catalog, out := &schema.Catalog{}, &bytes.Buffer{}
	catalog.Add(served())
	if err := Once(catalog, Options{}, time.Millisecond, out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"# TYPE ftrace_calls counter\n", `ftrace_calls_total{function="hash",package="main",process="42",program="shop"} 1000.0` + "\n"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("there is no %s", part)
		}
	}
	if !strings.HasSuffix(out.String(), "# EOF\n") {
		t.Error("it does not end")
	}
}
