package forward

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/export"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// itemsOf returns what a message of a signal consists of, in its order, each as text.
func itemsOf(t *testing.T, signal string, body []byte) (list []string) {
	t.Helper()
	add := func(m proto.Message) {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Error(err)
		}
		list = append(list, string(b))
	}
	var err error
	switch signal {
	case "traces":
		var of tracepb.TracesData
		err = proto.Unmarshal(body, &of)
		for _, s := range of.ResourceSpans[0].ScopeSpans[0].Spans {
			if proto.Size(s.Status) == 0 { // a collector has an empty one where there is none
				s.Status = nil
			}
			add(s)
		}
	case "logs":
		var of logspb.LogsData
		err = proto.Unmarshal(body, &of)
		for _, l := range of.ResourceLogs[0].ScopeLogs[0].LogRecords {
			add(l)
		}
	case "metrics":
		var of metricspb.MetricsData
		err = proto.Unmarshal(body, &of)
		for _, m := range of.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			for _, p := range m.GetSum().GetDataPoints() {
				add(&metricspb.Metric{Name: m.Name, Unit: m.Unit, Description: m.Description, Data: &metricspb.Metric_Sum{Sum: &metricspb.Sum{
					AggregationTemporality: m.GetSum().AggregationTemporality, IsMonotonic: m.GetSum().IsMonotonic, DataPoints: []*metricspb.NumberDataPoint{p}}}})
			}
			for _, p := range m.GetHistogram().GetDataPoints() {
				add(&metricspb.Metric{Name: m.Name, Unit: m.Unit, Description: m.Description, Data: &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{
					AggregationTemporality: m.GetHistogram().AggregationTemporality, DataPoints: []*metricspb.HistogramDataPoint{p}}}})
			}
		}
	}
	if err != nil {
		t.Error(err)
	}
	return list
}

// signalsWanted returns what is to arrive of each signal.
func signalsWanted(t *testing.T, r *recording.Recording) map[string][]string {
	t.Helper()
	want := map[string][]string{}
	from := walk.Source{Recording: r}
	spans, logs, metrics := export.NewSpans(from, least), export.NewLogs(from, least), export.NewMetrics(from, step)
	spans.Emit = func(s *tracepb.Span) {
		b, err := proto.Marshal(spans.Traces([]*tracepb.Span{s}))
		if err != nil {
			t.Fatal(err)
		}
		want["traces"] = append(want["traces"], itemsOf(t, "traces", b)...)
	}
	logs.Emit = func(_ uint64, l *logspb.LogRecord) {
		b, err := proto.Marshal(logs.Data([]*logspb.LogRecord{l}))
		if err != nil {
			t.Fatal(err)
		}
		want["logs"] = append(want["logs"], itemsOf(t, "logs", b)...)
	}
	metrics.Emit = func(_ uint64, m *metricspb.Metric) {
		b, err := proto.Marshal(metrics.Data([]*metricspb.Metric{m}))
		if err != nil {
			t.Fatal(err)
		}
		want["metrics"] = append(want["metrics"], itemsOf(t, "metrics", b)...)
	}
	for _, m := range []maker{spans, logs, metrics} {
		s := r.Events(recording.Window{})
		var e recording.Event
		for s.Next(&e) {
			m.Event(&e)
		}
		s.Close()
		m.Close()
	}
	return want
}

// A signalReceiver takes all signals, and puts down what arrives. Of a batch whose answer got lost
// it expects that it comes again, and puts it down once.
type signalReceiver struct {
	t    *testing.T
	lock sync.Mutex
	got  map[string][]string
	last map[string][]string // by signal, the last batch
	lost map[string][]string // by signal, that one if its answer got lost
	n    map[string]int      // requests
}

// take takes a batch. answered: its answer arrives.
func (v *signalReceiver) take(signal string, body []byte, answered bool) {
	list := itemsOf(v.t, signal, body)
	if !slices.Equal(list, v.lost[signal]) {
		v.got[signal] = append(v.got[signal], list...)
	}
	v.last[signal] = list
	if v.lost[signal] = nil; !answered {
		v.lost[signal] = list
	}
}

func (v *signalReceiver) compare(want map[string][]string) {
	v.t.Helper()
	v.lock.Lock()
	defer v.lock.Unlock()
	for _, signal := range []string{"traces", "logs", "metrics"} {
		if len(want[signal]) < 100 || !slices.Equal(v.got[signal], want[signal]) {
			v.t.Errorf("%d %s arrived, want %d, or they are others", len(v.got[signal]), signal, len(want[signal]))
		}
	}
}

// byAllSignals are options that send all signals to an address: of HTTP, or of gRPC.
func byAllSignals(address string) Options {
	o := Options{Least: least, Step: step, pause: time.Millisecond}
	for _, signal := range Signals {
		to := address
		if strings.HasPrefix(to, "http:") {
			to += "/v1/" + signal.OTLP
		}
		o.Send = append(o.Send, Destination{Signal: signal, To: to, Header: http.Header{}, Settings: "all"})
	}
	return o
}

// changes returns the points of metrics that say something else than those of their kind before,
// without their times. While a recording is followed, points come also when nothing happens.
func changes(t *testing.T, points []string) (list []string) {
	t.Helper()
	last := map[string]string{}
	for _, text := range points {
		var m metricspb.Metric
		if err := proto.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		key := m.Name
		for _, p := range m.GetSum().GetDataPoints() {
			p.TimeUnixNano = 0
			key += p.Attributes[0].String()
		}
		for _, p := range m.GetHistogram().GetDataPoints() {
			p.TimeUnixNano = 0
			key += p.Attributes[0].String()
		}
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		if last[key] != string(b) {
			last[key] = string(b)
			list = append(list, string(b))
		}
	}
	return list
}

// TestSignals: whatever goes wrong, at both ends, all that there is of each signal arrives, once
// and in order.
func TestSignals(t *testing.T) { testSignals(t, false) }

// TestSignalsFollowed: so it does while the recording is followed, if this end goes on.
func TestSignalsFollowed(t *testing.T) { testSignals(t, true) }

func testSignals(t *testing.T, following bool) {
	r := viewtest.MadeUp(t)
	want := signalsWanted(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	v := &signalReceiver{t: t, got: map[string][]string{}, last: map[string][]string{}, lost: map[string][]string{}, n: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.lock.Lock()
		defer v.lock.Unlock()
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(z)
		if err != nil {
			return // it was given up
		}
		signal := strings.TrimPrefix(r.URL.Path, "/v1/")
		v.n[signal]++
		switch n := v.n[signal]; {
		case n%3 == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		case n%3 == 2:
			killed(w)
			v.take(signal, body, false)
		default:
			v.take(signal, body, true)
		}
		if !following && v.n["traces"] > 10 && v.n["metrics"] > 2 && v.n["logs"] > 2 {
			cancel()
		}
	}))
	defer server.Close()
	o := byAllSignals(server.URL)
	var looks atomic.Int32
	o.writing = func(*recording.Recording) bool { return following && looks.Add(1) < 12 }
	from := []walk.Source{{Recording: r}}
	var out, warn bytes.Buffer
	if err := Recordings(ctx, from, o, &out, &warn); following && err != nil || !following && (err == nil || !strings.Contains(err.Error(), "interrupted")) {
		t.Errorf("%v: %s", err, &out)
	}
	v.lock.Lock()
	for signal, batch := range v.last { // its answer may have been on its way
		v.lost[signal] = batch
	}
	v.lock.Unlock()
	if err := Recordings(t.Context(), from, o, &out, &warn); err != nil {
		t.Fatal(err)
	}
	if following {
		want["metrics"], v.got["metrics"] = changes(t, want["metrics"]), changes(t, v.got["metrics"])
	}
	v.compare(want)
	for _, file := range []string{".forward", ".logs.forward", ".metrics.forward"} {
		if _, err := os.Stat(r.Dir + file); err != nil {
			t.Error(err)
		}
	}
}

// TestSignalRefused: who takes no logs gets the spans and the metrics.
func TestSignalRefused(t *testing.T) {
	r := viewtest.MadeUp(t)
	want := signalsWanted(t, r)
	v := &signalReceiver{t: t, got: map[string][]string{}, last: map[string][]string{}, lost: map[string][]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(z)
		if err != nil {
			t.Error(err)
		}
		signal := strings.TrimPrefix(r.URL.Path, "/v1/")
		if signal == "logs" {
			http.NotFound(w, r)
			return
		}
		v.lock.Lock()
		defer v.lock.Unlock()
		v.take(signal, body, true)
	}))
	defer server.Close()
	var out, warn bytes.Buffer
	err := Recordings(t.Context(), []walk.Source{{Recording: r}}, byAllSignals(server.URL), &out, &warn)
	if told := "logs: " + server.URL + "/v1/logs answers 404 Not Found: is that where lines are received"; err == nil || !strings.Contains(err.Error(), told) || !strings.Contains(warn.String(), told) {
		t.Errorf("%v: %s", err, &warn)
	}
	if !strings.Contains(out.String(), "0 lines were sent") {
		t.Errorf("%s", &out)
	}
	v.got["logs"] = want["logs"]
	v.compare(want)
}

// plainCodec passes messages on as they are.
type plainCodec struct{}

func (plainCodec) Name() string { return "proto" }
func (plainCodec) Marshal(v any) ([]byte, error) {
	return v.([]byte), nil
}
func (plainCodec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = bytes.Clone(data)
	return nil
}

var _ encoding.Codec = plainCodec{}

// TestSignalsGRPC: by gRPC each signal goes to its own service.
func TestSignalsGRPC(t *testing.T) {
	r := viewtest.MadeUp(t)
	want := signalsWanted(t, r)
	v := &signalReceiver{t: t, got: map[string][]string{}, last: map[string][]string{}, lost: map[string][]string{}, n: map[string]int{}}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(plainCodec{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		signal := map[string]string{
			"/opentelemetry.proto.collector.trace.v1.TraceService/Export":     "traces",
			"/opentelemetry.proto.collector.logs.v1.LogsService/Export":       "logs",
			"/opentelemetry.proto.collector.metrics.v1.MetricsService/Export": "metrics",
		}[method]
		var body []byte
		if err := stream.RecvMsg(&body); err != nil {
			return err
		}
		v.lock.Lock()
		defer v.lock.Unlock()
		if v.n[signal]++; v.n[signal]%2 == 1 {
			return status.Error(codes.Unavailable, "later")
		}
		v.take(signal, body, true)
		return stream.SendMsg([]byte{})
	}))
	go server.Serve(listener)
	defer server.Stop()
	if err := Recordings(t.Context(), []walk.Source{{Recording: r}}, byAllSignals("grpc://"+listener.Addr().String()), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	v.compare(want)
}

// TestOneAtATime: of each signal one batch is on its way at a time, of all recordings, and it is
// not larger than it is said to be. So that is all that a receiver which is killed can get twice.
func TestOneAtATime(t *testing.T) {
	var list []walk.Source
	for range 3 {
		list = append(list, walk.Source{Recording: viewtest.MadeUp(t)})
	}
	var lock sync.Mutex
	under, requests := map[string]int{}, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		signal := strings.TrimPrefix(r.URL.Path, "/v1/")
		lock.Lock()
		under[signal]++
		requests++
		if under[signal] > 1 {
			t.Errorf("%d batches of %s are on their way", under[signal], signal)
		}
		lock.Unlock()
		defer func() {
			lock.Lock()
			under[signal]--
			lock.Unlock()
		}()
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(z)
		if n := len(itemsOf(t, signal, body)); err != nil || n == 0 || n > export.SpansAtOnce {
			t.Errorf("%d %s in a batch: %v", n, signal, err)
		}
	}))
	defer server.Close()
	if err := Recordings(t.Context(), list, byAllSignals(server.URL), io.Discard, io.Discard); err != nil {
		t.Error(err)
	}
	if requests < 10 {
		t.Errorf("%d requests came", requests)
	}
}
