package export

import (
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Metrics makes metrics of OpenTelemetry of a recording: of calls and waits by what they are of,
// and of requests and statements as the semantic conventions have them. They are sums since the
// recording began, at fixed steps of recorded time. So the same points are made whenever a
// recording is read.
type Metrics struct {
	// Emit takes a metric with one point. at says which one it is: it ascends, and is the same
	// whenever the recording is read.
	Emit func(at uint64, point *metricspb.Metric)

	x       *Spans
	step    time.Duration
	ticks   uint64  // in a step
	perTick float64 // ns
	begin   recording.Clock
	start   uint64 // ns since 1970, of the first event
	steps   uint64 // that have ended and been told
	changed bool   // since then
	last    uint64 // ticks of the last event
	emitted *tracepb.Span

	functions map[uint32]*functionSums
	requests  map[string]*sums // by metric and attributes
	sets      map[*metric]int  // of attributes
	all       []*sums          // by metric, and the oldest first
}

// A metric is one of those that there are.
type metric struct {
	name, unit, about string
	bounds            []float64 // of a histogram; nil: it is a counter
	perSecond         float64   // of the unit, of a histogram
}

// functionSums are of the calls of a function, or of waits of a kind; nil: there are none yet.
type functionSums struct {
	calls, errors, panics, times *sums

	noted uint64 // calls that were left out and recorded at their end, which are yet to be taken off those that were counted
}

// sums are those of one set of attributes.
type sums struct {
	of         *metric
	attributes []*commonpb.KeyValue
	count      uint64
	ticks      uint64
	buckets    []uint64
}

var (
	// Bounds in seconds: of ftrace exporter, and as the semantic conventions advise.
	callBounds    = []float64{1e-6, 4e-6, 16e-6, 64e-6, 256e-6, 1.024e-3, 4.096e-3, 16.384e-3, 65.536e-3, 262.144e-3, 1.048576, 4.194304, 16.777216, 67.108864}
	requestBounds = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	queryBounds   = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}

	callsMetric  = &metric{name: "ftrace.calls", unit: "{call}", about: "How many calls of functions have ended."}
	errorsMetric = &metric{name: "ftrace.call.errors", unit: "{call}", about: "How many calls of functions returned an error."}
	panicsMetric = &metric{name: "ftrace.call.panics", unit: "{call}", about: "How many calls of functions ended in a panic."}
	callMetric   = &metric{"ftrace.call.duration", "s", "How long calls of functions took.", callBounds, 1}
	waitMetric   = &metric{"ftrace.wait.duration", "s", "How long goroutines waited.", callBounds, 1}
	stageMetric  = &metric{"ftrace.stage.duration", "s", "How long stages took.", callBounds, 1}

	httpServerMetric = &metric{"http.server.request.duration", "s", "Duration of HTTP server requests.", requestBounds, 1}
	httpClientMetric = &metric{"http.client.request.duration", "s", "Duration of HTTP client requests.", requestBounds, 1}
	dbClientMetric   = &metric{"db.client.operation.duration", "s", "Duration of database client operations.", queryBounds, 1}
	rpcServerMetric  = &metric{"rpc.server.duration", "ms", "Measures the duration of inbound RPC.", inMilliseconds(requestBounds), 1000}
	rpcClientMetric  = &metric{"rpc.client.duration", "ms", "Measures the duration of outbound RPC.", inMilliseconds(requestBounds), 1000}
	publishMetric    = &metric{"messaging.client.operation.duration", "s", "Duration of messaging operation initiated by a producer or consumer client.", requestBounds, 1}
	receiveMetric    = &metric{name: "messaging.client.consumed.messages", unit: "{message}", about: "Number of messages that were delivered to the application."}
	processMetric    = &metric{"messaging.process.duration", "s", "Duration of processing operation.", requestBounds, 1}
)

func inMilliseconds(seconds []float64) []float64 {
	list := slices.Clone(seconds)
	for i := range list {
		list[i] *= 1000
	}
	return list
}

// attributesMax is how many sets of attributes a metric of requests has, as OpenTelemetry's own
// libraries have it. What is beyond has the attribute otel.metric.overflow alone.
const attributesMax = 2000

// pointAttributes are those of a request's span that its metric has: they have few values.
var pointAttributes = []string{
	"http.request.method", "http.route", "http.response.status_code", "server.address", "server.port", "error.type",
	"rpc.system", "rpc.service", "rpc.method", "rpc.grpc.status_code", "db.system.name", "db.operation.name",
	"messaging.system", "messaging.operation.name", "messaging.destination.template",
}

// NewMetrics returns what makes metrics of a source, at such steps.
func NewMetrics(from walk.Source, step time.Duration) *Metrics {
	m := &Metrics{x: NewSpans(from, 0), step: step, functions: map[uint32]*functionSums{}, requests: map[string]*sums{}, sets: map[*metric]int{}}
	x := m.x
	m.begin, _ = from.Recording.Clocks()
	m.SetMinTicks(max(x.clock.Ticks(step)-x.clock.Ticks(0), 1))
	x.SetMinTicks(math.MaxUint64) // requests alone are of interest
	x.Emit = func(s *tracepb.Span) { m.emitted = s }
	x.w.End, x.w.Wait = m.end, m.wait
	x.w.More = func(st *spanCalls, c *spanFrame, e *recording.Event) {
		switch e.Kind {
		case recording.GoroutineStart:
			x.more(st, c, e)
		case recording.On:
			m.leftOut(e)
		}
	}
	return m
}

// MinTicks returns how long a step is, in ticks of the recording. What is summed up must not depend
// on how well the clock is known.
func (m *Metrics) MinTicks() uint64 { return m.ticks }

// SetMinTicks sets that.
func (m *Metrics) SetMinTicks(ticks uint64) {
	m.ticks, m.perTick = ticks, float64(m.step)/float64(ticks)
}

// Refresh takes in that the recording, which is being written, has other tables.
func (m *Metrics) Refresh() { m.x.Refresh() }

// Beginless returns how many calls are not counted, since there is only their end.
func (m *Metrics) Beginless() uint64 { return m.x.Beginless }

// Event takes in an event.
func (m *Metrics) Event(e *recording.Event) {
	if m.start == 0 {
		m.start = m.time(e.Ticks)
	}
	m.until(e.Ticks)
	m.last = max(m.last, e.Ticks)
	m.x.Event(e)
}

// Quiet takes in that nothing has happened since the last event, for so long.
func (m *Metrics) Quiet(since time.Duration) { m.until(m.last + uint64(float64(since)/m.perTick)) }

// Close tells the sums at the end.
func (m *Metrics) Close() {
	if m.changed {
		m.tell(m.steps+1, m.time(m.last))
	}
}

// Data returns points with what they are of. It puts those of a metric together, in place of the
// first one.
func (m *Metrics) Data(points []*metricspb.Metric) *metricspb.MetricsData {
	var list []*metricspb.Metric
	for _, p := range points {
		if len(list) == 0 || list[len(list)-1].Name != p.Name {
			list = append(list, p)
			continue
		}
		switch to := list[len(list)-1].Data.(type) {
		case *metricspb.Metric_Sum:
			to.Sum.DataPoints = append(to.Sum.DataPoints, p.GetSum().DataPoints...)
		case *metricspb.Metric_Histogram:
			to.Histogram.DataPoints = append(to.Histogram.DataPoints, p.GetHistogram().DataPoints...)
		}
	}
	return &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
		Resource: m.x.resource(), ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: scope(), Metrics: list}},
	}}}
}

// time returns the time of day of an event, in ns. It goes by the length of a step, as all sums do.
func (m *Metrics) time(ticks uint64) uint64 {
	return uint64(m.begin.Wall) + uint64(float64(ticks-min(ticks, m.begin.Ticks))*m.perTick)
}

// until tells the sums at the end of the steps that have ended: of the first one, in which they
// changed, and of the last one, so that it is seen that they changed no more.
func (m *Metrics) until(ticks uint64) {
	passed := (ticks - min(ticks, m.begin.Ticks)) / m.ticks
	if passed <= m.steps {
		return
	}
	if m.changed && passed > m.steps+1 {
		m.tell(m.steps+1, m.stepTime(m.steps+1))
	}
	m.tell(passed, m.stepTime(passed))
	m.steps, m.changed = passed, false
}

func (m *Metrics) stepTime(step uint64) uint64 { return uint64(m.begin.Wall) + step*uint64(m.step) }

// stepShift is where the number of a step begins in what Emit is told.
const stepShift = 24

// tell tells all sums as they are at the end of a step.
func (m *Metrics) tell(step, at uint64) {
	for i, s := range m.all {
		m.Emit(step<<stepShift|uint64(i), m.point(s, at))
	}
}

// point returns sums as a metric with one point.
func (m *Metrics) point(s *sums, at uint64) *metricspb.Metric {
	to := &metricspb.Metric{Name: s.of.name, Unit: s.of.unit, Description: s.of.about}
	if s.of.bounds == nil {
		to.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{
			AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, IsMonotonic: true,
			DataPoints: []*metricspb.NumberDataPoint{{
				Attributes: s.attributes, StartTimeUnixNano: m.start, TimeUnixNano: at,
				Value: &metricspb.NumberDataPoint_AsInt{AsInt: int64(s.count)},
			}},
		}}
		return to
	}
	sum := m.in(s.of, s.ticks)
	to.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{
		AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
		DataPoints: []*metricspb.HistogramDataPoint{{
			Attributes: s.attributes, StartTimeUnixNano: m.start, TimeUnixNano: at,
			Count: s.count, Sum: &sum, BucketCounts: slices.Clone(s.buckets), ExplicitBounds: s.of.bounds,
		}},
	}}
	return to
}

// in returns a time in the unit of a metric.
func (m *Metrics) in(of *metric, ticks uint64) float64 {
	return float64(ticks) * m.perTick / 1e9 * of.perSecond
}

// count counts a call in a counter, which is made if there is none.
func (m *Metrics) count(to **sums, of *metric, attributes func() []*commonpb.KeyValue) *sums {
	if *to == nil {
		s := &sums{of: of, attributes: attributes()}
		if of.bounds != nil {
			s.buckets = make([]uint64, len(of.bounds)+1)
		}
		at := sort.Search(len(m.all), func(i int) bool { return m.all[i].of.name > of.name })
		m.all = slices.Insert(m.all, at, s)
		*to = s
	}
	(*to).count++
	m.changed = true
	return *to
}

// lasted counts a call in a histogram.
func (m *Metrics) lasted(to **sums, of *metric, ticks uint64, attributes func() []*commonpb.KeyValue) {
	s := m.count(to, of, attributes)
	s.ticks += ticks
	s.buckets[sort.SearchFloat64s(of.bounds, m.in(of, ticks))]++
}

// of returns the sums of a function.
func (m *Metrics) of(function uint32) *functionSums {
	s := m.functions[function]
	if s == nil {
		s = &functionSums{}
		m.functions[function] = s
	}
	return s
}

// end counts a call that has ended.
func (m *Metrics) end(st *spanCalls, c *spanFrame, e *recording.Event) {
	if c == nil || e == nil {
		m.x.end(st, c, e)
		return
	}
	f, timed, took := m.x.w.Recording.Function(c.Function), !c.Untimed && !c.AtEnd, e.Ticks-min(c.Start, e.Ticks)
	m.emitted = nil
	m.x.end(st, c, e)
	switch {
	case !f.Span:
		s, named := m.of(f.Key), naming(f)
		m.count(&s.calls, callsMetric, named)
		if e.Kind == recording.ExitPanic {
			m.count(&s.panics, panicsMetric, named)
		} else if e.Kind == recording.ExitResults && m.x.printer.Fails(e, f) {
			m.count(&s.errors, errorsMetric, named)
		}
		if timed {
			m.lasted(&s.times, callMetric, took, named)
		}
	case timed && m.emitted != nil:
		m.request(f, m.emitted, took)
	}
}

// leftOut counts the calls that a budget left out until e, as far as they were counted. Those that
// were recorded at their end were counted by that.
func (m *Metrics) leftOut(e *recording.Event) {
	f := m.x.w.Recording.Function(e.Function)
	s, named := m.of(f.Key), naming(f)
	s.noted += e.Noted
	noted := min(s.noted, e.Call)
	s.noted -= noted
	if n := e.Call - noted; n > 0 {
		m.count(&s.calls, callsMetric, named).count += n - 1
	}
	if e.Failed > 0 {
		m.count(&s.errors, errorsMetric, named).count += e.Failed - 1
	}
}

// naming returns what makes the attributes of a function.
func naming(f *recording.Function) func() []*commonpb.KeyValue {
	return func() []*commonpb.KeyValue {
		list := []*commonpb.KeyValue{textAttr("code.function.name", f.FullName())}
		if f.File != "" {
			list = append(list, textAttr("code.file.path", f.File))
		}
		return list
	}
}

// request counts a request or a statement, by its span.
func (m *Metrics) request(f *recording.Function, is *tracepb.Span, took uint64) {
	var list []*commonpb.KeyValue
	of, serves := stageMetric, is.Kind == tracepb.Span_SPAN_KIND_SERVER
	for _, a := range is.Attributes {
		if !slices.Contains(pointAttributes, a.Key) {
			continue
		}
		list = append(list, a)
		switch {
		case a.Key == "http.request.method" && serves:
			of = httpServerMetric
		case a.Key == "http.request.method":
			of = httpClientMetric
		case a.Key == "rpc.system" && serves:
			of = rpcServerMetric
		case a.Key == "rpc.system":
			of = rpcClientMetric
		case a.Key == "db.system.name":
			of = dbClientMetric
		case a.Key == "messaging.system" && is.Kind == tracepb.Span_SPAN_KIND_CONSUMER:
			of = processMetric
		case a.Key == "messaging.system":
			of = publishMetric
		case a.Key == "messaging.operation.name" && a.Value.GetStringValue() == "receive": // which takes no time
			of = receiveMetric
		}
	}
	if of == stageMetric {
		list = append(list, textAttr("ftrace.stage.name", f.FullName()))
	}
	key := keyOf(of, list)
	if m.requests[key] == nil {
		if m.sets[of]++; m.sets[of] > attributesMax {
			list = []*commonpb.KeyValue{trueAttr("otel.metric.overflow")}
			key = keyOf(of, list)
		}
	}
	s := m.requests[key]
	attributes := func() []*commonpb.KeyValue { return list }
	if of.bounds == nil {
		m.count(&s, of, attributes)
	} else {
		m.lasted(&s, of, took, attributes)
	}
	m.requests[key] = s
}

// keyOf names a metric with attributes.
func keyOf(of *metric, list []*commonpb.KeyValue) string {
	var b strings.Builder
	b.WriteString(of.name)
	for _, a := range list {
		b.WriteString("\x00" + a.Key + "\x00")
		if text, ok := a.Value.Value.(*commonpb.AnyValue_StringValue); ok {
			b.WriteString(text.StringValue)
		} else {
			b.WriteString(a.Value.String())
		}
	}
	return b.String()
}

// wait counts a wait that has ended.
func (m *Metrics) wait(_ *spanCalls, e *recording.Event) {
	if e.Call == 0 {
		return // it is under way
	}
	f := m.x.w.Recording.Function(e.Function)
	m.lasted(&m.of(f.Key).times, waitMetric, e.Ticks-e.Wait().Begin, func() []*commonpb.KeyValue {
		return []*commonpb.KeyValue{textAttr("ftrace.wait.name", f.Name)}
	})
}
