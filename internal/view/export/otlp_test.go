package export

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A walkedCall is what the walker says of a call.
type walkedCall struct {
	name       string
	around     *walkedCall
	begin, end uint64 // ticks
	kept       bool
	ended      recording.Kind // 0: that was not seen
	fails      bool
	mock       bool
	note       string
}

// callOf names a call.
func callOf(goroutine, number uint64, name string) string {
	return fmt.Sprintf("G%d %s #%d", goroutine, name, number)
}

// walked returns the calls whose beginnings were seen, by what callOf makes of them, and with kept
// which of them are to be spans.
func walked(t *testing.T, r *recording.Recording, least time.Duration) map[string]*walkedCall {
	t.Helper()
	w := walk.New[[]*walkedCall, struct{}](walk.Source{Recording: r})
	clock, printer := r.Converter(), r.Printer(recording.DefaultFormat)
	all := map[string]*walkedCall{}
	w.Begin = func(st *walk.Stack[[]*walkedCall, struct{}], c *frame, e *recording.Event) {
		call := &walkedCall{name: r.Function(c.Function).FullName(), begin: c.Start}
		if n := len(st.Data.View); n > 0 {
			call.around = st.Data.View[n-1]
		}
		st.Data.View = append(st.Data.View, call)
		all[callOf(st.Goroutine, c.Number, call.name)] = call
	}
	w.End = func(st *walk.Stack[[]*walkedCall, struct{}], c *frame, e *recording.Event) {
		if c == nil {
			return
		}
		n := len(st.Data.View) - 1
		call := st.Data.View[n]
		st.Data.View = st.Data.View[:n]
		call.mock, call.note = c.Mock, c.Note
		if call.end = w.Last; e != nil {
			call.end, call.ended = e.Ticks, e.Kind
			call.fails = e.Kind == recording.ExitPanic || e.Kind == recording.ExitResults && printer.Fails(e, r.Function(c.Function))
		}
		if clock.Between(call.begin, call.end) >= least {
			for around := call; around != nil; around = around.around {
				around.kept = true
			}
		}
	}
	w.More = func(*walk.Stack[[]*walkedCall, struct{}], *frame, *recording.Event) {}
	w.Wait = func(*walk.Stack[[]*walkedCall, struct{}], *recording.Event) {}
	if err := w.Run(nil); err != nil {
		t.Fatal(err)
	}
	return all
}

// attribute returns an attribute, nil if there is none.
func attribute(list []*commonpb.KeyValue, name string) *commonpb.AnyValue {
	for _, a := range list {
		if a.Key == name {
			return a.Value
		}
	}
	return nil
}

func spansOf(t *testing.T, r *recording.Recording, least time.Duration) (list []*tracepb.Span, x *Spans) {
	t.Helper()
	x = NewSpans(walk.Source{Recording: r}, least)
	x.Emit = func(s *tracepb.Span) { list = append(list, s) }
	if err := x.Run(func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	return list, x
}

func testRecordings(t *testing.T) map[string]*recording.Recording {
	t.Helper()
	list := map[string]*recording.Recording{"made up": viewtest.MadeUp(t)}
	for _, name := range []string{"workers", "parser", "convoy"} {
		r, err := recording.Open("../../../testdata/recordings/" + name)
		if err != nil {
			t.Fatal(err)
		}
		list[name] = r
	}
	return list
}

// TestSpans compares the spans with the calls, one by one: which there are, within which, when, and
// how they ended.
func TestSpans(t *testing.T) {
	for name, r := range testRecordings(t) {
		for _, least := range []time.Duration{0, 30 * time.Microsecond, time.Millisecond} {
			t.Run(fmt.Sprint(name, least), func(t *testing.T) {
				calls := walked(t, r, least)
				list, x := spansOf(t, r, least)
				clock := r.Converter()
				byID, found, around := map[string]*tracepb.Span{}, map[*walkedCall]*tracepb.Span{}, map[string]bool{}
				for _, s := range list {
					key := callOf(uint64(attribute(s.Attributes, "thread.id").GetIntValue()), uint64(attribute(s.Attributes, "ftrace.call").GetIntValue()),
						attribute(s.Attributes, "code.function.name").GetStringValue())
					call := calls[key]
					switch {
					case call == nil:
						t.Fatalf("%s is no call", key)
					case byID[string(s.SpanId)] != nil:
						t.Fatalf("%s: its id is there twice", key)
					case len(s.TraceId) != 16 || len(s.SpanId) != 8:
						t.Errorf("%s: ids %x, %x", key, s.TraceId, s.SpanId)
					}
					byID[string(s.SpanId)], found[call], around[string(s.ParentSpanId)] = s, s, true
					if begin, end := clock.Wall(call.begin).UnixNano(), clock.Wall(call.end).UnixNano(); int64(s.StartTimeUnixNano) != begin || int64(s.EndTimeUnixNano) != end {
						t.Errorf("%s: from %d to %d, want %d to %d", key, s.StartTimeUnixNano, s.EndTimeUnixNano, begin, end)
					}
					if fails := s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR; fails != call.fails {
						t.Errorf("%s: fails: %v, want %v", key, fails, call.fails)
					}
					if call.fails {
						e := s.Events[len(s.Events)-1]
						if e.Name != "exception" || attribute(e.Attributes, "exception.type").GetStringValue() == "" || attribute(e.Attributes, "exception.message") == nil {
							t.Errorf("%s: %v", key, s.Events)
						}
					}
					if unseen := attribute(s.Attributes, "ftrace.end_unseen") != nil; unseen != (call.ended == 0) {
						t.Errorf("%s: its end is unseen: %v", key, unseen)
					}
					if mock := attribute(s.Attributes, "ftrace.mock") != nil; mock != call.mock {
						t.Errorf("%s: mock: %v", key, mock)
					}
					if note := attribute(s.Attributes, "ftrace.note").GetStringValue(); note != call.note {
						t.Errorf("%s: note: %q, want %q", key, note, call.note)
					}
				}
				for key, call := range calls {
					s := found[call]
					if s == nil {
						if call.kept {
							t.Errorf("%s is no span", key)
						}
						continue
					}
					parent := byID[string(s.ParentSpanId)]
					switch {
					case call.around != nil && parent != found[call.around]:
						t.Errorf("%s is within %v", key, parent)
					case call.around == nil && len(s.ParentSpanId) > 0 && parent == nil:
						t.Errorf("%s: its parent is no span", key)
					case parent != nil && !bytes.Equal(parent.TraceId, s.TraceId):
						t.Errorf("%s: another trace than its parent's", key)
					case call.around != nil && (s.StartTimeUnixNano < parent.StartTimeUnixNano || s.EndTimeUnixNano > parent.EndTimeUnixNano):
						t.Errorf("%s: %v is not within %v", key, s, parent)
					}
					if !call.kept && !around[string(s.SpanId)] { // it may have started a goroutine
						t.Errorf("%s is a span", key)
					}
				}
				if least == 0 && len(list) != len(calls) {
					t.Errorf("%d spans of %d calls", len(list), len(calls))
				}
				if name == "made up" && x.Beginless == 0 {
					t.Error("no call was without beginning")
				}
				if least == 0 {
					return // that takes long
				}
				again, _ := spansOf(t, r, least)
				if len(again) != len(list) {
					t.Fatalf("%d spans the second time, %d the first", len(again), len(list))
				}
				for i, s := range again {
					if !bytes.Equal(s.SpanId, list[i].SpanId) || !bytes.Equal(s.TraceId, list[i].TraceId) {
						t.Fatal("the ids are others the second time")
					}
				}
			})
		}
	}
}

// TestSpansChosen has rules say which calls are spans: these are, and what is around them, and
// nothing else.
func TestSpansChosen(t *testing.T) {
	r := testRecordings(t)["workers"]
	for rules, want := range map[string]map[string]int{
		"*": {},
		"*; main.add=span": {
			"main.add": 4, "main.worker": 3, "main.sum.func1": 3, "main.(*group).start.func1": 3, "main.(*group).start": 3, "main.sum": 1, "main.main": 1},
		"*; main.newGroup=span":          {"main.newGroup": 1, "main.sum": 1, "main.main": 1},
		"main.sum=span; main.(*group).*": {"main.sum": 1},
		"main.sum=tree,span": {
			"main.sum": 1, "main.newGroup": 1, "main.(*group).start": 3, "main.(*group).start.func1": 3, "main.(*group).wait": 1,
			"main.sum.func1": 3, "main.worker": 3, "main.add": 4, "main.send[...]": 7},
	} {
		chosen, err := walk.NewRules(rules, r, "")
		if err != nil {
			t.Fatal(err)
		}
		x := NewSpans(walk.Source{Recording: r, Rules: chosen}, time.Hour)
		got := map[string]int{}
		x.Emit = func(s *tracepb.Span) { got[attribute(s.Attributes, "code.function.name").GetStringValue()]++ }
		if err := x.Run(func() bool { return true }); err != nil {
			t.Fatal(err)
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: spans %v, want %v", rules, got, want)
		}
	}
}

// TestSpansGoroutines: what a goroutine does is within the call that started it, if the recording
// says which.
func TestSpansGoroutines(t *testing.T) {
	r, err := recording.Open("../../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	starts := map[int64]recording.Event{}
	s := r.Events(recording.Window{})
	defer s.Close()
	for e := (recording.Event{}); s.Next(&e); {
		if e.Kind == recording.GoroutineStart && e.Function != 0 {
			starts[int64(e.Goroutine)] = e
		}
	}
	list, _ := spansOf(t, r, 0)
	of := func(s *tracepb.Span) int64 { return attribute(s.Attributes, "thread.id").GetIntValue() }
	byID := map[string]*tracepb.Span{}
	for _, s := range list {
		byID[string(s.SpanId)] = s
	}
	within := map[int64]bool{}
	for _, s := range list {
		parent := byID[string(s.ParentSpanId)]
		start, started := starts[of(s)]
		if !started || parent != nil && of(parent) == of(s) {
			continue
		}
		if parent == nil || of(parent) != int64(start.Parent) || attribute(parent.Attributes, "ftrace.call").GetIntValue() != int64(start.Call) ||
			attribute(parent.Attributes, "code.function.name").GetStringValue() != r.Function(start.Function).FullName() {
			t.Errorf("%v is within %v, want G%d", s, parent, start.Parent)
		}
		within[of(s)] = true
	}
	if len(within) != len(starts) || len(starts) < 2 {
		t.Errorf("spans of %d goroutines are within what started them, want %d", len(within), len(starts))
	}
}

// TestSpansGiven: ids that a program told others are those of the request, and of what is in it.
func TestSpansGiven(t *testing.T) {
	r, err := recording.Open("../../../testdata/recordings/workers")
	if err != nil {
		t.Fatal(err)
	}
	const trace, id, remote = "0123456789abcdef0123456789abcdef", "0123456789abcdef", "fedcba9876543210"
	x := NewSpans(walk.Source{Recording: r}, 0)
	var got []*tracepb.Span
	x.Emit = func(s *tracepb.Span) { got = append(got, s) }
	f := r.Functions()[0]
	begin := func(number uint64, parent *span, given, by string) *span {
		s := &span{f: f, goroutine: 1, number: number, parent: parent}
		x.identify(s, []recording.Value{{Name: "request", Text: trace + "-" + id}, {Name: "span", Text: given}, {Name: "parent", Text: by}})
		x.emit(s)
		return s
	}
	around := begin(1, nil, "", "")
	request := begin(2, around, trace+"-"+id, remote)
	within := begin(3, request, "", "")
	begin(4, within, trace+"-1123456789abcdef", id)
	for i, bad := range []string{"", "-", trace, trace + "-", trace + "-0000000000000000", "00000000000000000000000000000000-" + id, trace[1:] + "-" + id, strings.ToUpper(trace) + "-" + id, trace + "-" + id + "-0", trace + "-0123456789abcdeg"} {
		if s := begin(uint64(10+i), around, bad, "no id"); s.trace != around.trace || s.given != (spanID{}) || s.remote != (spanID{}) {
			t.Errorf("%q: %+v", bad, s)
		}
	}
	own := hex.EncodeToString(got[0].TraceId)
	for i, want := range []string{
		own + " " + hex.EncodeToString(got[0].SpanId) + "  []",
		trace + " " + id + " " + remote + " [" + own + " " + hex.EncodeToString(got[0].SpanId) + "]",
		trace + " " + hex.EncodeToString(got[2].SpanId) + " " + id + " []",
		trace + " 1123456789abcdef " + hex.EncodeToString(got[2].SpanId) + " []",
	} {
		var links []string
		for _, l := range got[i].Links {
			links = append(links, fmt.Sprintf("%x %x", l.TraceId, l.SpanId))
		}
		if got := fmt.Sprintf("%x %x %x %v", got[i].TraceId, got[i].SpanId, got[i].ParentSpanId, links); got != want {
			t.Errorf("span %d: %s, want %s", i, got, want)
		}
	}
}

// TestServed: what is served is not part of what began to listen, and what is made is.
func TestServed(t *testing.T) {
	for name, want := range map[string]bool{
		"http/server/GET /": true, "http/client/GET host": false, "grpc/server/shop.Stock/Count": true, "grpc/client/shop.Stock/Count": false,
		"grpc/stream/shop.Stock/List": false, "nats/process/orders.*.new": true, "nats/publish/orders.*.new": false, "nats/request/stock.count": false,
		"kafka/receive/parcels": true, "nats/receive/parcels": true, "kafka/publish/parcels": false,
	} {
		if got := served(&recording.Function{Package: "stage", Name: name, Span: true}); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if served(&recording.Function{Package: "stage", Name: "nats/process/f"}) {
		t.Error("a function of a package called stage")
	}
}

// TestSpansDeep: of a very deep recursion the outer calls are spans, and nothing is kept of the
// others.
func TestSpansDeep(t *testing.T) {
	r := viewtest.Deep(t, filepath.Join(t.TempDir(), "deep"), 70_000, 2)
	if list, _ := spansOf(t, r, 0); len(list) != spanDepth {
		t.Errorf("%d spans, want %d", len(list), spanDepth)
	}
}

// TestOTLP reads lines as OpenTelemetry's specification has them, and compares them with the spans.
func TestOTLP(t *testing.T) {
	for name, r := range testRecordings(t) {
		want, _ := spansOf(t, r, 0)
		var out bytes.Buffer
		if err := Named("otlp").Write(walk.Source{Recording: r}, &out, 0); err != nil {
			t.Fatal(err)
		}
		n := 0
		lines := bufio.NewScanner(&out)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var batch struct {
				ResourceSpans []struct {
					Resource struct {
						Attributes []struct{ Key string }
					}
					ScopeSpans []struct {
						Spans []struct {
							TraceID, SpanID, ParentSpanID      string
							Name                               string
							Kind                               int
							StartTimeUnixNano, EndTimeUnixNano string
							Attributes                         []struct{ Key string }
							Status                             struct{ Code int }
						}
					}
				}
			}
			d := json.NewDecoder(strings.NewReader(lines.Text()))
			if err := d.Decode(&batch); err != nil {
				t.Fatal(err)
			}
			if of := batch.ResourceSpans[0]; of.Resource.Attributes[0].Key != "service.name" || len(of.ScopeSpans[0].Spans) > SpansAtOnce {
				t.Errorf("%d spans of %v", len(of.ScopeSpans[0].Spans), of.Resource)
			}
			for _, s := range batch.ResourceSpans[0].ScopeSpans[0].Spans {
				w := want[n]
				if s.TraceID != hex.EncodeToString(w.TraceId) || s.SpanID != hex.EncodeToString(w.SpanId) || s.ParentSpanID != hex.EncodeToString(w.ParentSpanId) || s.Name != w.Name || s.Kind != int(w.Kind) ||
					s.StartTimeUnixNano != fmt.Sprint(w.StartTimeUnixNano) || s.EndTimeUnixNano != fmt.Sprint(w.EndTimeUnixNano) || len(s.Attributes) != len(w.Attributes) || s.Status.Code != int(w.GetStatus().GetCode()) {
					t.Fatalf("%s: span %d is %v, want %v", name, n, s, w)
				}
				n++
			}
		}
		if n != len(want) || lines.Err() != nil {
			t.Errorf("%s: %d spans, want %d: %v", name, n, len(want), lines.Err())
		}
	}
}
