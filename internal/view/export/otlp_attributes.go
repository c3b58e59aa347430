package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// emit makes the span of a call that has ended.
func (x *Spans) emit(s *span) {
	if x.Emit == nil {
		return
	}
	f, id := s.f, x.id(s)
	to := &tracepb.Span{
		TraceId: s.trace[:], SpanId: id[:], Name: valid(f.ShortName()), Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		StartTimeUnixNano: uint64(s.begin), EndTimeUnixNano: uint64(s.end), Events: s.events, DroppedEventsCount: s.dropped,
	}
	to.TraceId = slices.Clone(to.TraceId) // the span's memory is used again
	switch around := s.parent; {
	case around != nil && around.trace == s.trace && !x.elsewhere(s):
		id := x.id(around)
		to.ParentSpanId = id[:]
	case around != nil && around.trace != s.trace: // the program was told of another trace, or began one
		id := x.id(around)
		to.Links = []*tracepb.Span_Link{{TraceId: slices.Clone(around.trace[:]), SpanId: id[:]}}
		fallthrough
	default:
		if s.remote != (spanID{}) {
			to.ParentSpanId = slices.Clone(s.remote[:])
		}
	}
	add := func(attributes ...*commonpb.KeyValue) { to.Attributes = append(to.Attributes, attributes...) }
	add(intAttr("thread.id", int64(s.goroutine)), intAttr("ftrace.call", int64(s.number)))
	if f.Span {
		x.describe(s, to)
	} else {
		add(textAttr("code.function.name", f.FullName()))
		if f.File != "" {
			add(textAttr("code.file.path", f.File), intAttr("code.line.number", int64(f.Line)))
		}
		if s.detailed {
			add(attributes("ftrace.param.", x.structured(&s.entry, f.Params))...)
			add(attributes("ftrace.after.", x.structured(&s.after, f.Params))...)
			add(attributes("ftrace.result.", x.results(s))...)
		}
		if s.note != "" {
			add(textAttr("ftrace.note", s.note))
		}
	}
	for _, flag := range []struct {
		name string
		is   bool
	}{{"mock", s.mock}, {"untimed", s.untimed}, {"begin_unseen", s.late}, {"end_unseen", s.unseen}, {"goexit", s.exit.kind == recording.ExitGoexit}} {
		if flag.is {
			add(trueAttr("ftrace." + flag.name))
		}
	}
	x.judge(s, to)
	x.Emit(to)
}

// elsewhere reports whether a request belongs to a span that the program has made otherwise, as by
// OpenTelemetry's SDK, within the spans around it. If rules choose, it may also belong to a request
// that they leave out.
func (x *Spans) elsewhere(s *span) bool {
	if s.remote == (spanID{}) || x.w.Ruled() {
		return false
	}
	for around := s.parent; around != nil; around = around.parent {
		if around.given == s.remote {
			return false
		}
	}
	return true
}

// judge has a span say that its call failed, if it did.
func (x *Spans) judge(s *span, to *tracepb.Span) {
	e := s.exit.event()
	var failure *tracepb.Span_Event
	switch {
	case e.Kind == recording.ExitPanic:
		failure = x.exception(s, e, s.end)
	case e.Kind != recording.ExitResults || !x.printer.Fails(e, s.f):
		return
	case s.detailed:
		typ, message := errorOf(x.printer, e, s.f)
		failure = failed(s.end, typ, message)
	}
	to.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
	if failure != nil {
		to.Events = append(to.Events, failure)
		to.Status.Message = failure.Attributes[1].Value.GetStringValue()
		to.Attributes = append(to.Attributes, &commonpb.KeyValue{Key: "error.type", Value: failure.Attributes[0].Value})
	}
}

// describe says what a request or a statement is, as OpenTelemetry's semantic conventions have it.
func (x *Spans) describe(s *span, to *tracepb.Span) {
	add := func(attributes ...*commonpb.KeyValue) { to.Attributes = append(to.Attributes, attributes...) }
	family, kind, _ := strings.Cut(s.f.Name, "/") // sql, select; http, server/GET /
	said, note := "", s.note
	for i, v := range x.structured(&s.entry, s.f.Params) {
		switch {
		case !s.detailed:
		case v.Name == "request" || v.Name == "text" || v.Name == "subject" || v.Name == "topic":
			said = plain(v)
			if begins := x.datum(s.entry.event(), i).Text; strings.HasPrefix(note, begins) && note != "" {
				said, note = note, "" // all of a long text
			}
		case v.Name != "span" && v.Name != "parent":
			add(&commonpb.KeyValue{Key: valid("ftrace.param." + v.Name), Value: anyOf(v)})
		}
	}
	if note != "" {
		add(textAttr("ftrace.note", note))
	}
	switch {
	case s.f.Package == "statement":
		system, operation := family, strings.ToUpper(kind)
		if family == "sql" {
			system = "other_sql" // the recording does not tell which
		}
		to.Kind, to.Name = tracepb.Span_SPAN_KIND_CLIENT, valid(operation)
		add(textAttr("db.system.name", system), textAttr("db.operation.name", operation))
		if said != "" {
			add(textAttr("db.query.text", said))
		}
	case family == "http":
		x.describeHTTP(s, to, kind, said)
	case family == "grpc":
		x.describeGRPC(s, to, kind)
	case family == "nats" || family == "kafka":
		x.describeMessage(to, family, kind, said)
	}
}

// describeMessage says what a message is: kind is what is done with it, and where it goes, or those
// that go there, as a pattern.
func (x *Spans) describeMessage(to *tracepb.Span, system, kind, destination string) {
	add := func(attributes ...*commonpb.KeyValue) { to.Attributes = append(to.Attributes, attributes...) }
	operation, pattern, _ := strings.Cut(kind, "/")
	to.Name = valid(operation)
	kinds := operation
	switch to.Kind = tracepb.Span_SPAN_KIND_CONSUMER; operation {
	case "publish":
		to.Kind, kinds = tracepb.Span_SPAN_KIND_PRODUCER, "send"
	case "request": // which awaits the answer
		to.Kind, kinds = tracepb.Span_SPAN_KIND_CLIENT, "send"
	}
	add(textAttr("messaging.system", system), textAttr("messaging.operation.name", operation), textAttr("messaging.operation.type", kinds))
	if pattern != "other" {
		to.Name = valid(operation + " " + pattern)
		add(textAttr("messaging.destination.template", pattern))
	}
	if destination != "" {
		add(textAttr("messaging.destination.name", destination))
	}
}

// describeGRPC says what a call by gRPC is: kind is its side and its method.
func (x *Spans) describeGRPC(s *span, to *tracepb.Span, kind string) {
	side, method, _ := strings.Cut(kind, "/")
	if to.Kind = tracepb.Span_SPAN_KIND_CLIENT; side == "server" {
		to.Kind = tracepb.Span_SPAN_KIND_SERVER
	}
	to.Name = valid(method)
	to.Attributes = append(to.Attributes, textAttr("rpc.system", "grpc"))
	if at := strings.LastIndexByte(method, '/'); at >= 0 {
		to.Attributes = append(to.Attributes, textAttr("rpc.service", method[:at]), textAttr("rpc.method", method[at+1:]))
	}
	if status, ok := x.status(s); ok {
		to.Attributes = append(to.Attributes, intAttr("rpc.grpc.status_code", status))
	}
}

// status returns the status with which a request was answered, if that was recorded.
func (x *Spans) status(s *span) (status int64, ok bool) {
	for _, v := range x.results(s) {
		if v.Name == "status" {
			return anyOf(v).GetIntValue(), true
		}
	}
	return 0, false
}

// describeHTTP says what an HTTP request is: kind is its side and its pattern, or what it is made
// to.
func (x *Spans) describeHTTP(s *span, to *tracepb.Span, kind, said string) {
	add := func(attributes ...*commonpb.KeyValue) { to.Attributes = append(to.Attributes, attributes...) }
	side, named, _ := strings.Cut(kind, "/")
	method, target, known := strings.Cut(said, " ")
	if !known {
		if method, _, known = strings.Cut(named, " "); !known {
			method = "HTTP"
		}
	}
	to.Name = valid(method)
	add(textAttr("http.request.method", method))
	fails := int64(400)
	if to.Kind = tracepb.Span_SPAN_KIND_CLIENT; side == "server" {
		to.Kind, fails = tracepb.Span_SPAN_KIND_SERVER, 500
		if at := strings.IndexByte(named, '/'); at >= 0 {
			to.Name = valid(method + " " + named[at:])
			add(textAttr("http.route", named[at:]))
		}
		if target != "" {
			add(textAttr("url.path", target))
		}
	} else if u, err := url.Parse(target); err == nil && u.Host != "" {
		port, err := strconv.Atoi(u.Port())
		if err != nil {
			port = map[string]int{"http": 80, "https": 443}[u.Scheme]
		}
		add(textAttr("url.full", target), textAttr("server.address", u.Hostname()), intAttr("server.port", int64(port)), textAttr("url.path", u.Path))
	}
	status, _ := x.status(s)
	if status != 0 {
		add(intAttr("http.response.status_code", status))
	}
	if status >= fails {
		to.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
		add(textAttr("error.type", strconv.FormatInt(status, 10)))
	}
}

// datum returns a value of an event, taken apart; of a damaged recording it may lack.
func (x *Spans) datum(e *recording.Event, i int) *recording.Datum {
	if values := x.printer.Data(e); i < len(values) {
		return values[i]
	}
	return &recording.Datum{}
}

// structured returns values, none if there are none.
func (x *Spans) structured(v *recorded, names []recording.Param) []recording.Value {
	if v.layout == 0 {
		return nil
	}
	return x.printer.Structured(v.event(), names)
}

// results returns the values that a call returned.
func (x *Spans) results(s *span) []recording.Value {
	if s.exit.kind != recording.ExitResults {
		return nil
	}
	return x.structured(&s.exit, s.f.Results)
}

// attributes returns values as attributes. Of several with one name the later ones have their
// places behind it.
func attributes(prefix string, all []recording.Value) (list []*commonpb.KeyValue) {
	for i, v := range all {
		name := v.Name
		if name == "" || slices.ContainsFunc(all[:i], func(v recording.Value) bool { return v.Name == name }) {
			name += strconv.Itoa(i)
		}
		list = append(list, &commonpb.KeyValue{Key: valid(prefix + name), Value: anyOf(v)})
	}
	return list
}

// anyOf returns a value: numbers, true, false and strings as such, structs as JSON, all else as its
// text.
func anyOf(v recording.Value) *commonpb.AnyValue {
	v.Name = ""
	b := recording.AppendJSON(nil, []recording.Value{v})
	b = b[1 : len(b)-1]
	var is any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&is); err == nil {
		switch is := is.(type) {
		case bool:
			return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: is}}
		case string:
			return stringOf(is)
		case json.Number:
			if n, err := is.Int64(); err == nil {
				return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
			}
			if f, err := is.Float64(); err == nil && strings.ContainsAny(is.String(), ".eE") {
				return double(f)
			}
		case map[string]any:
			return stringOf(string(b))
		}
	}
	return stringOf(v.Text)
}

// plain returns a value if it is a string, or "".
func plain(v recording.Value) string { return anyOf(v).GetStringValue() }

func stringOf(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: valid(s)}}
}

func double(f float64) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: f}}
}

func textAttr(name, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: name, Value: stringOf(value)}
}

func intAttr(name string, n int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: name, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}}
}

func trueAttr(name string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: name, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: true}}}
}

// Traces returns spans with what they are of.
func (x *Spans) Traces(spans []*tracepb.Span) *tracepb.TracesData {
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: x.resource(), ScopeSpans: []*tracepb.ScopeSpans{{Scope: scope(), Spans: spans}},
	}}}
}

// resource returns what a recording is of: the process.
func (x *Spans) resource() *resourcepb.Resource {
	env := x.w.Recording.Env
	return &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
		textAttr("service.name", filepath.Base(env.Executable)), textAttr("service.instance.id", fmt.Sprintf("%x", env.UUID)),
		textAttr("process.executable.path", env.Executable), intAttr("process.pid", int64(env.PID)),
		textAttr("process.runtime.name", "go"), textAttr("process.runtime.version", env.Release),
	}}
}

// scope returns what made the spans, lines and points.
func scope() *commonpb.InstrumentationScope { return &commonpb.InstrumentationScope{Name: "ftrace"} }

// exception returns the event of a panic.
func (x *Spans) exception(s *span, e *recording.Event, at int64) *tracepb.Span_Event {
	typ, message := "?", "?"
	if e.Layout != 0 && s.detailed {
		typ, message = string(x.printer.AppendPanicType(nil, e)), string(x.printer.AppendPanic(nil, 0, e))
		switch d := within(x.datum(e, 0)); {
		case d.HasMessage:
			message = d.Message
		case d.Type != nil && d.Type.Kind == reflect.String && d.Lack == "":
			message = d.Text
		}
	}
	return failed(at, typ, message)
}

// failed returns the event of an error.
func failed(at int64, typ, message string) *tracepb.Span_Event {
	return &tracepb.Span_Event{Name: "exception", TimeUnixNano: uint64(at), Attributes: []*commonpb.KeyValue{textAttr("exception.type", typ), textAttr("exception.message", message)}}
}
