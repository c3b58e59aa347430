package export

import (
	"fmt"
	"maps"
	"math"
	"sort"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A counted call or wait has ended.
type counted struct {
	name      string // of the metric, and of what it is of
	end, took uint64 // ticks
}

// countedOf returns what a recording's metrics count, in the order of its end.
func countedOf(t *testing.T, r *recording.Recording) (list []counted) {
	t.Helper()
	type stack = walk.Stack[struct{}, struct{}]
	printer := r.Printer(recording.DefaultFormat)
	w := walk.New[struct{}, struct{}](walk.Source{Recording: r})
	w.Begin = func(*stack, *frame, *recording.Event) {}
	w.More = func(*stack, *frame, *recording.Event) {}
	w.End = func(_ *stack, c *frame, e *recording.Event) {
		if c == nil || e == nil {
			return
		}
		f := r.Function(c.Function)
		add := func(name string) { list = append(list, counted{name + " " + f.FullName(), e.Ticks, e.Ticks - c.Start}) }
		add("ftrace.calls")
		if !c.Untimed && !c.AtEnd {
			add("ftrace.call.duration")
		}
		switch {
		case e.Kind == recording.ExitPanic:
			add("ftrace.call.panics")
		case e.Kind == recording.ExitResults && printer.Fails(e, f):
			add("ftrace.call.errors")
		}
	}
	w.Wait = func(_ *stack, e *recording.Event) {
		if e.Call != 0 {
			list = append(list, counted{"ftrace.wait.duration " + r.Function(e.Function).Name, e.Ticks, e.Ticks - e.Wait().Begin})
		}
	}
	if err := w.Run(nil); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestMetrics compares each point with what had ended by then: how often, how long in all, and in
// which buckets.
func TestMetrics(t *testing.T) {
	for name, r := range testRecordings(t) {
		t.Run(name, func(t *testing.T) {
			const step = 3 * time.Millisecond
			list, clock := countedOf(t, r), r.Converter()
			first, _ := r.Clocks()
			m := NewMetrics(walk.Source{Recording: r}, step)
			type total struct {
				count, ticks uint64
				buckets      []uint64
			}
			totals := map[string]*total{}
			known, last, points, steps := 0, uint64(0), 0, map[uint64]bool{}
			ends := m.time
			m.Emit = func(at uint64, got *metricspb.Metric) {
				if at <= last {
					t.Fatalf("%d comes after %d", at, last)
				}
				last = at
				points++
				number, duration := &metricspb.NumberDataPoint{}, &metricspb.HistogramDataPoint{}
				var attributes = duration.Attributes
				var time, start uint64
				if h := got.GetHistogram(); h != nil {
					duration = h.DataPoints[0]
					attributes, time, start = duration.Attributes, duration.TimeUnixNano, duration.StartTimeUnixNano
				} else {
					number = got.GetSum().DataPoints[0]
					attributes, time, start = number.Attributes, number.TimeUnixNano, number.StartTimeUnixNano
				}
				if start != m.start || (time-uint64(first.Wall))%uint64(step) != 0 && time != ends(m.last) {
					t.Fatalf("it is from %d to %d: %v", start, time, got)
				}
				steps[time] = true
				for ; known < len(list) && (ends(list[known].end) < time || time == ends(m.last)); known++ {
					c := list[known]
					if totals[c.name] == nil {
						totals[c.name] = &total{buckets: make([]uint64, len(callBounds)+1)}
					}
					to := totals[c.name]
					to.count++
					to.ticks += c.took
					to.buckets[sort.SearchFloat64s(callBounds, float64(c.took)*m.perTick/1e9)]++
				}
				of := attribute(attributes, "code.function.name").GetStringValue() + attribute(attributes, "ftrace.wait.name").GetStringValue()
				want := totals[got.Name+" "+of]
				switch {
				case want == nil:
					t.Fatalf("there was none: %v", got)
				case got.GetSum() != nil:
					if uint64(number.GetAsInt()) != want.count {
						t.Fatalf("%s %s at %d: %d, want %d", got.Name, of, time, number.GetAsInt(), want.count)
					}
				case duration.Count != want.count || fmt.Sprint(duration.BucketCounts) != fmt.Sprint(want.buckets) || math.Abs(duration.GetSum()-clock.Between(0, want.ticks).Seconds()) > 1e-6:
					t.Fatalf("%s %s at %d: %v, want %+v", got.Name, of, time, duration, want)
				}
			}
			s := r.Events(recording.Window{})
			defer s.Close()
			var e recording.Event
			for s.Next(&e) {
				m.Event(&e)
			}
			m.Close()
			if known != len(list) || points == 0 || len(totals) == 0 {
				t.Errorf("%d of %d in %d points", known, len(list), points)
			}
			t.Logf("%d points of %d at %d times", points, len(totals), len(steps))
		})
	}
}

// TestMetricsQuiet: while nothing happens, the end of the step in which something did comes
// nevertheless, and comes once.
func TestMetricsQuiet(t *testing.T) {
	r, err := recording.Open("../../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	first, _ := r.Clocks()
	m := NewMetrics(walk.Source{Recording: r}, time.Second)
	m.SetMinTicks(1000)
	var got []uint64
	m.Emit = func(at uint64, p *metricspb.Metric) {
		if p.Name == "ftrace.calls" {
			got = append(got, at>>stepShift)
		}
	}
	call := func(ticks uint64) {
		m.Event(&recording.Event{Kind: recording.Entry, Ticks: first.Ticks + ticks, Goroutine: 1, Function: 2, Call: ticks})
		m.Event(&recording.Event{Kind: recording.Exit, Ticks: first.Ticks + ticks + 10, Goroutine: 1, Function: 2})
	}
	call(100)
	m.Quiet(time.Second / 2)
	if len(got) != 0 {
		t.Errorf("a step has ended before its end: %d", got)
	}
	m.Quiet(time.Second)
	m.Quiet(time.Second + time.Second/100)
	call(1500)
	call(7500)
	m.Close()
	if want := fmt.Sprint([]uint64{1, 2, 7, 8}); fmt.Sprint(got) != want {
		t.Errorf("points came at the steps %d, want %s", got, want)
	}
}

// TestMetricsOfRequests: a request's metric is the one of OpenTelemetry's conventions, with those
// of its attributes that have few values. When there are too many nevertheless, the rest is one.
func TestMetricsOfRequests(t *testing.T) {
	r, err := recording.Open("../../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	m := NewMetrics(walk.Source{Recording: r}, time.Second)
	f := &recording.Function{Package: "stage", Name: "other/kind", Span: true}
	server := tracepb.Span_SPAN_KIND_SERVER
	for _, s := range []*tracepb.Span{
		{Kind: server, Attributes: []*commonpb.KeyValue{textAttr("http.request.method", "GET"), textAttr("http.route", "/a"), textAttr("url.path", "/a/1")}},
		{Kind: server, Attributes: []*commonpb.KeyValue{textAttr("http.request.method", "GET"), textAttr("http.route", "/a"), textAttr("url.path", "/a/2")}},
		{Kind: server, Attributes: []*commonpb.KeyValue{textAttr("rpc.system", "grpc")}},
		{Attributes: []*commonpb.KeyValue{textAttr("rpc.system", "grpc")}},
		{Attributes: []*commonpb.KeyValue{textAttr("db.system.name", "mysql"), textAttr("db.query.text", "SELECT 1")}},
		{Kind: tracepb.Span_SPAN_KIND_PRODUCER, Attributes: []*commonpb.KeyValue{textAttr("messaging.system", "nats"), textAttr("messaging.destination.name", "orders.4711")}},
		{Kind: tracepb.Span_SPAN_KIND_CONSUMER, Attributes: []*commonpb.KeyValue{textAttr("messaging.system", "nats")}},
		{Kind: tracepb.Span_SPAN_KIND_CONSUMER, Attributes: []*commonpb.KeyValue{textAttr("messaging.system", "kafka"), textAttr("messaging.operation.name", "receive")}},
		{},
	} {
		m.request(f, s, 1)
	}
	for n := range attributesMax + 5 {
		m.request(f, &tracepb.Span{Attributes: []*commonpb.KeyValue{textAttr("http.request.method", "GET"), intAttr("server.port", int64(n))}}, 1)
	}
	got := map[string]uint64{}
	for _, s := range m.all {
		got[s.of.name] += s.count
		if attribute(s.attributes, "url.path") != nil || attribute(s.attributes, "db.query.text") != nil || attribute(s.attributes, "messaging.destination.name") != nil {
			t.Errorf("%s has %v", s.of.name, s.attributes)
		}
		if attribute(s.attributes, "otel.metric.overflow") != nil && s.count != 5 {
			t.Errorf("%d are in none of their own", s.count)
		}
	}
	want := map[string]uint64{"http.server.request.duration": 2, "rpc.server.duration": 1, "rpc.client.duration": 1, "db.client.operation.duration": 1, "messaging.client.operation.duration": 1, "messaging.process.duration": 1, "messaging.client.consumed.messages": 1, "ftrace.stage.duration": 1, "http.client.request.duration": attributesMax + 5}
	if !maps.Equal(got, want) || len(m.all) != 8+attributesMax+1 {
		t.Errorf("%v of %d, want %v", got, len(m.all), want)
	}
}

// TestMetricsLeftOut: calls that a budget left out and that were counted are among the sums, those
// that were recorded at their end only once.
func TestMetricsLeftOut(t *testing.T) {
	r, err := recording.Open("../../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	s := r.Events(recording.Window{})
	defer s.Close()
	var e recording.Event
	for s.Next(&e) && e.Kind != recording.Entry {
	}
	m := NewMetrics(walk.Source{Recording: r}, time.Second)
	sums := map[string]int64{}
	m.Emit = func(_ uint64, p *metricspb.Metric) {
		sums[p.Name] = p.GetSum().DataPoints[0].GetAsInt()
	}
	for i, on := range []recording.Event{
		{Call: 100, Noted: 3, Failed: 5},
		{Call: 1, Noted: 4},
		{Call: 10},
	} {
		on.Kind, on.Function, on.Goroutine, on.Ticks = recording.On, e.Function, e.Goroutine, e.Ticks+uint64(i)
		m.Event(&on)
	}
	m.Close()
	if want := map[string]int64{"ftrace.calls": 100 + 1 + 10 - 3 - 4, "ftrace.call.errors": 5}; !maps.Equal(sums, want) {
		t.Errorf("%v, want %v", sums, want)
	}
}
