package exporter

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// collector collects the metrics of a catalog's sources.
type collector struct {
	catalog *schema.Catalog
	rules   []rule.Clause
	budget  float64
	warn    io.Writer

	mu    sync.Mutex
	looks map[source.Source]*source.Looks
	said  map[string]bool // what warn was told
}

func newCollector(catalog *schema.Catalog, o Options, warn io.Writer) *collector {
	c := &collector{catalog: catalog, budget: o.Budget, warn: warn, looks: map[source.Source]*source.Looks{}, said: map[string]bool{}}
	c.rules, _, _ = rule.Parse(o.Rules) // whoever gives them has checked them
	return c
}

// sources returns the sources that there are now: one of a process, though it may be in the catalog
// by its number and by its name.
func (c *collector) sources() []source.Source {
	if c.catalog.Find != nil {
		c.catalog.Find()
	}
	known := map[string]bool{}
	return slices.DeleteFunc(c.catalog.Sources(), func(s source.Source) bool {
		again := known[s.Name()] && s.Alive()
		known[s.Name()] = true
		return again
	})
}

// ended reports whether there is nothing to be exported any more, nor may there be.
func (c *collector) ended() bool {
	return c.catalog.Find == nil && !c.catalog.Recorded() && !slices.ContainsFunc(c.sources(), source.Source.Alive)
}

// check lets what the rules match be counted in processes that are new, and no longer what is
// called too often. It returns when to check again.
func (c *collector) check() (pause time.Duration) {
	pause = time.Second
	if len(c.rules) == 0 {
		return pause
	}
	sources := c.sources()
	c.mu.Lock()
	maps.DeleteFunc(c.looks, func(s source.Source, _ *source.Looks) bool { return !slices.Contains(sources, s) })
	c.mu.Unlock()
	for _, s := range sources {
		if snap, err := s.Snapshot(live.SumsByFunction); err == nil && c.look(s, snap) {
			pause = source.Soon
		}
	}
	return pause
}

// look lets what the rules match be counted in a process, and reports whether that changed
// anything.
func (c *collector) look(s source.Source, snap *source.Snapshot) (changed bool) {
	if len(c.rules) == 0 || !s.Alive() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.looks[s]
	if l == nil {
		l = &source.Looks{Budget: c.budget}
		c.looks[s] = l
		if err := s.Want(source.SummaryGlobal | source.WaitSummaryGlobal); err != nil {
			c.tell(s, err)
		}
	}
	changes := l.Choose(snap, c.wanted)
	if len(changes) == 0 {
		return false
	}
	if err := s.Look(changes); err != nil {
		c.tell(s, err)
		delete(c.looks, s) // it may be possible later
		return false
	}
	return true
}

// wanted reports whether the rules match a function that is not counted anyway.
func (c *collector) wanted(f *source.Function) bool {
	i := rule.Decide(c.rules, &rule.Func{Wait: f.Wait, Span: f.Span, Package: f.Package, ImportPath: f.Package, Name: f.Name, File: f.File, Line: f.Line})
	return i >= 0 && c.rules[i].Detail != rule.Off && !f.Enabled
}

// tooOften returns what is left alone in a process because it is called too often.
func (c *collector) tooOften(s source.Source, snap *source.Snapshot) (left map[uint32]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left = map[uint32]bool{}
	if l := c.looks[s]; l != nil {
		for _, key := range l.AllTooOften() {
			left[key] = !snap.Function(key).Enabled
		}
	}
	return left
}

// tell tells warn what failed, once.
func (c *collector) tell(s source.Source, err error) {
	text := fmt.Sprintf("ftrace: exporter: process %s: %v\n", s.Name(), err)
	if errors.Is(err, source.ErrGone) || c.said[text] {
		return
	}
	c.said[text] = true
	io.WriteString(c.warn, text)
}

// Describe describes nothing: what there is differs from one process to another.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the metrics of all sources, each as it is at one moment.
func (c *collector) Collect(to chan<- prometheus.Metric) {
	var all sync.WaitGroup
	for _, s := range c.sources() {
		all.Go(func() {
			snap, err := s.Snapshot(live.SumsByFunction | live.Histograms)
			if err != nil {
				c.mu.Lock()
				c.tell(s, err)
				c.mu.Unlock()
				return
			}
			c.look(s, snap)
			p := &process{to: to, snap: snap, left: c.tooOften(s, snap), labels: []string{s.Name(), valid(filepath.Base(snap.Process.Executable))}, alive: s.Alive()}
			p.send()
		})
	}
	all.Wait()
}

// valid returns a text as the value of a label.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// A family is a metric of all processes.
type family struct {
	desc    *prometheus.Desc
	counter bool
}

// newFamily returns a family. Its labels follow those of the process.
func newFamily(name, help string, labels ...string) family {
	return family{prometheus.NewDesc("ftrace_"+name, help, append([]string{"process", "program"}, labels...), nil), strings.HasSuffix(name, "_total")}
}

// class has the families of a class of functions.
type class struct {
	calls, times, self, errors, panics, bytes family
}

// newClass returns the families of a class.
func newClass(name, what string, labels ...string) class {
	return class{
		newFamily(name+"s_total", "How many "+what+" have ended.", labels...),
		newFamily(name+"_duration_seconds", "How long "+what+" took. Buckets are of powers of two of the process's timer: a bound may be off by up to 1.41 times.", labels...),
		newFamily(name+"_self_seconds_total", "How long "+what+" took without what they called.", labels...),
		newFamily(name+"_errors_total", "How many "+what+" returned an error.", labels...),
		newFamily(name+"_panics_total", "How many "+what+" ended in a panic.", labels...),
		newFamily(name+"_bytes_total", "How many bytes "+what+" have read or written.", labels...),
	}
}

var (
	calls      = newClass("call", "calls of functions", "package", "function")
	waits      = newClass("wait", "waits of goroutines", "wait")
	statements = newClass("statement", "statements sent to servers", "statement")
	stages     = newClass("stage", "requests served and made", "stage")
	probes     = newFamily("probes_total", "How often static probes have fired.", "provider", "probe")

	info       = newFamily("process_info", "1 for each process.", "pid", "release")
	started    = newFamily("process_start_time_seconds", "When the process started.")
	goroutines = newFamily("goroutines", "How many goroutines there are.")
	leftAlone  = newFamily("left_alone", "1 for what the rules of ftrace exporter match but is called too often to be counted.", "name")
	lost       = newFamily("lost_total", "What was lost because a table was full, or left out within a budget.", "what")
)

// process sends the metrics of a process.
type process struct {
	to     chan<- prometheus.Metric
	snap   *source.Snapshot
	left   map[uint32]bool // what is not counted any more
	labels []string
	alive  bool
	traced map[uint32]map[float64]*source.Span // the last requests that are in a trace, by kind and bound
}

func (p *process) values(more []string) []string { return append(slices.Clip(p.labels), more...) }

// value sends a value.
func (p *process) value(f family, value float64, labels ...string) {
	kind := prometheus.GaugeValue
	if f.counter {
		kind = prometheus.CounterValue
	}
	p.to <- prometheus.MustNewConstMetric(f.desc, kind, value, p.values(labels)...)
}

// send sends all that there is of the process.
func (p *process) send() {
	snap := p.snap
	p.findTraced()
	p.value(info, 1, strconv.Itoa(snap.Process.PID), valid(snap.Process.Release))
	p.value(started, float64(snap.Process.Start.UnixNano())/1e9)
	p.value(goroutines, float64(snap.Running))
	for _, c := range snap.Lost {
		p.value(lost, float64(c.Value), c.Name)
	}
	for i := range snap.Global {
		s := &snap.Global[i]
		if s.Count == 0 {
			continue
		}
		switch f := snap.Function(s.Function); {
		case p.left[s.Function]: // its counts stand still
			p.value(leftAlone, 1, valid(f.Instrument()))
		case f.Probe:
			p.value(probes, float64(s.Count), valid(f.Package), valid(f.Name))
		case f.Wait:
			p.summary(&waits, s, f.Name)
		case f.Span && f.Package == "statement":
			p.summary(&statements, s, f.Name)
		case f.Span:
			p.summary(&stages, s, f.Name)
		default:
			p.summary(&calls, s, valid(f.Package), valid(f.Name))
		}
	}
}

// summary sends the metrics of a function, or of a kind of events.
func (p *process) summary(c *class, s *source.Summary, labels ...string) {
	p.value(c.calls, float64(s.Count), labels...)
	if s.Timed > 0 {
		p.to <- p.histogram(c.times, s, labels)
	}
	if c == &calls {
		p.value(c.self, seconds(s.Self), labels...)
		p.value(c.panics, float64(s.Panics), labels...)
	}
	if c == &waits {
		if s.Bytes > 0 {
			p.value(c.bytes, float64(s.Bytes), labels...)
		}
		return
	}
	p.value(c.errors, float64(s.Errors), labels...)
}

func seconds(picoseconds int64) float64 { return float64(picoseconds) / 1e12 }

// bounds are those of classic histograms, in seconds.
var bounds = prometheus.ExponentialBuckets(1e-6, 4, 14)

// A histogram is a native and a classic one: which of them is used is for those who ask.
type histogram struct {
	native, classic prometheus.Metric
	exemplars       map[float64]*dto.Exemplar // by bound
}

func (h histogram) Desc() *prometheus.Desc { return h.native.Desc() }

func (h histogram) Write(to *dto.Metric) error {
	var classic dto.Metric
	if err := errors.Join(h.native.Write(to), h.classic.Write(&classic)); err != nil {
		return err
	}
	to.Histogram.Bucket = classic.Histogram.Bucket
	for _, b := range to.Histogram.Bucket {
		if b.Exemplar = h.exemplars[b.GetUpperBound()]; b.Exemplar != nil {
			to.Histogram.Exemplars = append(to.Histogram.Exemplars, b.Exemplar)
		}
	}
	return nil
}

// findTraced finds the last request in a trace of each kind, for each bucket of its histogram.
func (p *process) findTraced() {
	p.traced = map[uint32]map[float64]*source.Span{}
	for i := range p.snap.Spans {
		s := &p.snap.Spans[i]
		at, _ := slices.BinarySearch(bounds, seconds(s.End-s.Start))
		if s.Trace == "" || s.Inside || !s.Timed || at == len(bounds) {
			continue
		}
		of := p.traced[s.Function]
		if of == nil {
			of = map[float64]*source.Span{}
			p.traced[s.Function] = of
		}
		if last := of[bounds[at]]; last == nil || last.End < s.End {
			of[bounds[at]] = s
		}
	}
}

// exemplars returns those of a kind of requests: each names the trace of one, and says how long it
// took. Of a running process it says when that was.
func (p *process) exemplars(kind uint32) map[float64]*dto.Exemplar {
	now, all := time.Now(), map[float64]*dto.Exemplar{}
	for bound, s := range p.traced[kind] {
		trace, id, _ := strings.Cut(s.Trace, "-")
		took := seconds(s.End - s.Start)
		e := &dto.Exemplar{Value: &took}
		for name, value := range map[string]string{"trace_id": trace, "span_id": id} {
			e.Label = append(e.Label, &dto.LabelPair{Name: &name, Value: &value})
		}
		slices.SortFunc(e.Label, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
		if p.alive {
			e.Timestamp = timestamppb.New(now.Add(-time.Duration((p.snap.Now - s.End) / 1000)))
		}
		all[bound] = e
	}
	return all
}

// histogram returns how long calls took. A bucket of the process's becomes one of a histogram as a
// whole, that which has its middle: else counts could decrease.
func (p *process) histogram(f family, s *source.Summary, labels []string) prometheus.Metric {
	values, count, zero := p.values(labels), uint64(0), uint64(0)
	native, classic := map[int]int64{}, map[float64]uint64{}
	if s.Buckets != nil {
		for i, n := range s.Buckets {
			if n == 0 {
				continue
			}
			count += n
			middle := seconds(p.snap.Buckets[i]) / math.Sqrt2
			if middle > 0 {
				native[int(math.Ceil(math.Log2(middle)))] += int64(n)
			} else { // shorter than the timer's tick
				zero += n
			}
			if at, _ := slices.BinarySearch(bounds, middle); at < len(bounds) {
				classic[bounds[at]] += n
			}
		}
	}
	below := uint64(0)
	for _, bound := range bounds {
		below += classic[bound]
		classic[bound] = below
	}
	n, err := prometheus.NewConstNativeHistogram(f.desc, count, seconds(s.Sum), native, nil, zero, 0, prometheus.DefNativeHistogramZeroThreshold, p.snap.Process.Start, values...)
	if err != nil {
		return prometheus.NewInvalidMetric(f.desc, err)
	}
	return histogram{n, prometheus.MustNewConstHistogram(f.desc, count, seconds(s.Sum), classic, values...), p.exemplars(s.Function)}
}
