package forward

import (
	"fmt"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/export"
)

// A Signal is a kind of what OpenTelemetry receives. Each is sent on its own, so that nobody who
// refuses one holds up the others.
type Signal struct {
	Name string // as ftrace forward has it
	OTLP string // as paths and variables of OpenTelemetry have it

	one, many string // what it consists of
	method    string // of gRPC
	ends      bool   // what is made at the end of a recording has no place in the order but its number
	// make returns what makes it for a forwarding, and what makes a message of a batch.
	make func(f *forwarding) (maker, func([]proto.Message) proto.Message)
}

// A maker makes what is sent, of a recording's events.
type maker interface {
	Event(*recording.Event)
	Refresh()
	Quiet(since time.Duration)
	Close()
	MinTicks() uint64
	SetMinTicks(uint64)
}

var (
	Spans = &Signal{
		Name: "spans", OTLP: "traces", one: "span", many: "spans", ends: true, method: grpcMethod("trace", "Trace"),
		make: func(f *forwarding) (maker, func([]proto.Message) proto.Message) {
			x := export.NewSpans(f.from, f.options.Least)
			x.Emit = func(s *tracepb.Span) { f.take(f.ticks, s) }
			f.left = func() (outside, beginless uint64) { return x.Outside, x.Beginless }
			return x, func(batch []proto.Message) proto.Message { return x.Traces(typed[*tracepb.Span](batch)) }
		},
	}
	Logs = &Signal{
		Name: "logs", OTLP: "logs", one: "line", many: "lines", method: grpcMethod("logs", "Logs"),
		make: func(f *forwarding) (maker, func([]proto.Message) proto.Message) {
			x := export.NewLogs(f.from, f.options.Least)
			x.Emit = func(ticks uint64, line *logspb.LogRecord) { f.take(ticks, line) }
			return x, func(batch []proto.Message) proto.Message { return x.Data(typed[*logspb.LogRecord](batch)) }
		},
	}
	Metrics = &Signal{
		Name: "metrics", OTLP: "metrics", one: "point", many: "points", method: grpcMethod("metrics", "Metrics"),
		make: func(f *forwarding) (maker, func([]proto.Message) proto.Message) {
			x := export.NewMetrics(f.from, f.options.Step)
			x.Emit = func(at uint64, point *metricspb.Metric) { f.take(at, point) }
			f.left = func() (outside, beginless uint64) { return 0, x.Beginless() }
			return x, func(batch []proto.Message) proto.Message { return x.Data(typed[*metricspb.Metric](batch)) }
		},
	}
	// Signals are all that there are.
	Signals = []*Signal{Spans, Logs, Metrics}
)

// grpcMethod returns the method of gRPC by which a signal is sent.
func grpcMethod(area, service string) string {
	return fmt.Sprintf("/opentelemetry.proto.collector.%s.v1.%sService/Export", area, service)
}

// typed returns the messages of a batch, all of one type.
func typed[T proto.Message](batch []proto.Message) []T {
	list := make([]T, len(batch))
	for i, m := range batch {
		list[i] = m.(T)
	}
	return list
}
