package tables

import (
	"math"
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// summaryTables have a row for all calls of a function, and of what else they are grouped by.
var summaryTables = slices.Concat([]*Table{
	withParts(reading(live.SumsByFunction, New("events_calls_summary_global_by_event_name", everyFunction, append(summaryColumns(),
		id("COUNT_LEFT_OUT", func(s *source.Summary) uint64 { return s.LeftOut }),
		yesNo("COUNTED", func(s *source.Summary) bool { return !s.More }))...)), source.GlobalPart, source.HistogramPart),
	withParts(reading(live.SumsByReceiver, New("events_calls_summary_by_instance", func(v *View) []source.Summary { return v.only(v.ByInstance(), source.CallClass) },
		summaryColumns(id("OBJECT_INSTANCE_BEGIN", func(s *source.Summary) uint64 { return s.Object }))...)), source.ByInstancePart),
	withParts(reading(live.SumsByFunction|live.Histograms, New("events_calls_histogram_by_event_name", buckets,
		append([]Column[bucket]{Text("EVENT_NAME", NameKind, func(v *View, b *bucket) string { return v.Function(b.function).Instrument() })}, bucketColumns...)...)), source.HistogramPart),
	withParts(reading(live.SumsByFunction|live.Histograms, New("events_calls_histogram_global", globalBuckets, bucketColumns...)), source.HistogramPart),
}, summariesBy(source.CallClass, summaryColumns, source.ByThreadPart, source.ByCallerPart))

// summariesBy are the summaries of a class by thread and by caller, and what TRUNCATE empties of
// them.
func summariesBy(class string, columns func(by ...Column[source.Summary]) []Column[source.Summary], parts ...source.Part) []*Table {
	name, half := "events_"+class+"s_summary_by_", len(parts)/2
	return []*Table{
		withParts(reading(live.SumsByGoroutine, New(name+"thread_by_event_name", func(v *View) []source.Summary { return v.only(v.ByThread(), class) },
			columns(id("THREAD_ID", func(s *source.Summary) uint64 { return s.Thread }))...)), parts[:half]...),
		withParts(reading(live.SumsByCaller, New(name+"caller_by_event_name", func(v *View) []source.Summary { return v.only(v.ByCaller(), class) },
			columns(Known("CALLER_NAME", NameKind, func(v *View, s *source.Summary) string { return v.functionOr(s.Caller, "") }))...)), parts[half:]...),
	}
}

// only returns the summaries of a class. It copies none if they are beside each other.
func (v *View) only(list []source.Summary, class string) []source.Summary {
	is := func(i int) bool { return v.Function(list[i].Function).Class() == class }
	first := 0
	for first < len(list) && !is(first) {
		first++
	}
	end := first
	for end < len(list) && is(end) {
		end++
	}
	rows := slices.Clip(list[first:end])
	for i := end; i < len(list); i++ {
		if is(i) {
			rows = append(rows, list[i])
		}
	}
	return rows
}

// everyFunction returns the summaries by function, including functions that were not called.
func everyFunction(v *View) []source.Summary {
	return every(v.only(v.Global, source.CallClass), v.Functions)
}

// every adds empty summaries for the functions that have none.
func every(rows []source.Summary, functions []source.Function) []source.Summary {
	last := uint32(0)
	for i := range rows {
		last = max(last, rows[i].Function)
	}
	called := make([]bool, last+1) // by key
	for i := range rows {
		called[rows[i].Function] = true
	}
	for i := range functions {
		if key := functions[i].Key; key > last || !called[key] {
			rows = append(rows, source.Summary{Function: key})
		}
	}
	return rows
}

// summaryColumns returns the columns of a summary, beginning with what it is grouped by.
func summaryColumns(by ...Column[source.Summary]) []Column[source.Summary] {
	return slices.Concat(by, []Column[source.Summary]{
		Text("EVENT_NAME", NameKind, func(v *View, s *source.Summary) string { return v.Function(s.Function).Instrument() }),
	}, sumColumns("STAR", "WAIT", func(s *source.Summary) *source.Summary { return s }), []Column[source.Summary]{
		Number("SUM_TIMER_SELF", func(s *source.Summary) int64 { return s.Self }),
		id("SUM_ERRORS", func(s *source.Summary) uint64 { return s.Errors }),
		id("SUM_PANICS", func(s *source.Summary) uint64 { return s.Panics }),
	})
}

// sumColumns are how many there were and how long they took, as all summaries have it.
func sumColumns[T any](count, timer string, of func(*T) *source.Summary) []Column[T] {
	return []Column[T]{
		id("COUNT_"+count, func(r *T) uint64 { return of(r).Count }),
		Number("SUM_TIMER_"+timer, func(r *T) int64 { return of(r).Sum }),
		Number("MIN_TIMER_"+timer, func(r *T) int64 { return of(r).Min }),
		Number("AVG_TIMER_"+timer, func(r *T) int64 { return of(r).Sum / int64(max(of(r).Timed, 1)) }),
		Number("MAX_TIMER_"+timer, func(r *T) int64 { return of(r).Max }),
	}
}

// A bucket of a histogram.
type bucket struct {
	function  uint32
	number    int
	low, high int64
	count     uint64
	lower     uint64 // including all buckets below
	total     uint64
}

var bucketColumns = []Column[bucket]{
	Number("BUCKET_NUMBER", func(b *bucket) int64 { return int64(b.number) }),
	Number("BUCKET_TIMER_LOW", func(b *bucket) int64 { return b.low }),
	Number("BUCKET_TIMER_HIGH", func(b *bucket) int64 { return b.high }),
	id("COUNT_BUCKET", func(b *bucket) uint64 { return b.count }),
	id("COUNT_BUCKET_AND_LOWER", func(b *bucket) uint64 { return b.lower }),
	{Head{Name: "BUCKET_QUANTILE", Kind: "double(7,6)"}, func(_ *View, b *bucket) value {
		return math.Round(float64(b.lower)/float64(max(b.total, 1))*1e6) / 1e6
	}},
}

// buckets returns the buckets of every function that was called, from the first to the last with
// calls.
func buckets(v *View) []bucket {
	var rows []bucket
	for i := range v.Global {
		if s := &v.Global[i]; s.Buckets != nil && v.Function(s.Function).Class() == source.CallClass {
			rows = appendBuckets(rows, v, s.Function, s.Buckets)
		}
	}
	return rows
}

// globalBuckets returns the buckets of all calls together.
func globalBuckets(v *View) []bucket {
	var all [64]uint64
	for i := range v.Global {
		if b := v.Global[i].Buckets; b != nil && v.Function(v.Global[i].Function).Class() == source.CallClass {
			for j, n := range b {
				all[j] += n
			}
		}
	}
	return appendBuckets(nil, v, 0, all[:])
}

func appendBuckets(rows []bucket, v *View, function uint32, counts []uint64) []bucket {
	first, last, total := -1, -1, uint64(0)
	for i, n := range counts {
		if n == 0 {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		total += n
	}
	if total == 0 {
		return rows
	}
	lower := uint64(0)
	for i := first; i <= last; i++ {
		b := bucket{function: function, number: i, high: v.Buckets[i], count: counts[i], total: total}
		if i > 0 {
			b.low = v.Buckets[i-1]
		}
		lower += b.count
		b.lower = lower
		rows = append(rows, b)
	}
	return rows
}
