//go:build ftrace_core && go1.23

// This file is added to client libraries of Kafka, with one for each of them. It tells the core of
// messages that are published and received, and has them belong to a trace, with FTRACE_PROPAGATE.

package definition

import "strings"

const (
	ftracePublish = "stage/kafka/publish" // messages are given to the library
	ftraceReceive = "stage/kafka/receive" // the library has given one to the program
)

var _ = func() bool {
	names, types := "topic", "string"
	if ftracePropagate {
		names, types = "topic,span,parent", "string,string,string"
	}
	ftraceDeclareSpan(ftracePublish, "other", names+";err!;func("+types+")(error)")
	ftraceDeclareSpan(ftraceReceive, "other", names+";;func("+types+")")
	return true
}()

// An ftraceMessages is messages that are published together, or one that is received.
type ftraceMessages struct {
	ftraceSpan
	ftracePlace
}

// ftraceTopic returns the topic of messages, and the name of their stage: "" and other if they go
// to several.
func ftraceTopic(n int, of func(i int) string) (topic, kind string) {
	topic = of(0)
	for i := 1; i < n; i++ {
		if of(i) != topic {
			return "", "other"
		}
	}
	return topic, topic
}

// begin begins the publishing of messages. headers are those of the only one, nil if there are
// several: each has its own. ctx is their context.Context, or nil.
func (m *ftraceMessages) begin(ctx any, topic, kind string, headers []ftraceHeader) {
	if ftracePropagate {
		m.ftracePlace = ftraceSent(ctx, func(c *ftrace_tracecontext_Context) []string { return ftraceTraceparent(headers, c) })
	}
	span, parent, n := m.recorded()
	m.token, m.number = ftraceBeginSpan(ftracePublish, kind, topic, []any{topic, span, parent}[:n]...)
	m.enter(m.token != 0)
}

// end is called when the function returns that publishes messages.
func (m ftraceMessages) end(err *error) {
	m.leave()
	ftraceEndSpan(m.token, m.number, 0, *err, err)
}

// ftraceTakes is called when a goroutine has taken a message. What it does from then on belongs to
// that, until it takes the next message.
func ftraceTakes(topic string, headers []ftraceHeader) {
	var m ftraceMessages
	if ftracePropagate {
		ftraceSetTrace(nil) // that of the message before has nothing to do with it
		m.ftracePlace = ftraceReceived(nil, ftraceValues(headers, "traceparent"), ftraceValues(headers, "tracestate"), ftraceValues(headers, "baggage"))
	}
	span, parent, n := m.recorded()
	m.token, m.number = ftraceBeginSpan(ftraceReceive, topic, topic, []any{topic, span, parent}[:n]...)
	m.enter(m.token != 0)
	ftraceEndSpan(m.token, m.number, 0, nil)
}

// ftraceValues returns the values of a header, in whatever case its name is.
func ftraceValues(headers []ftraceHeader, name string) (values []string) {
	for _, h := range headers {
		if strings.EqualFold(string(h.Key), name) {
			values = append(values, string(h.Value))
		}
	}
	return values
}

// ftraceTraceparent returns what the program itself has set as traceparent. c is what is around the
// message. To pass on what was received is not to set one.
func ftraceTraceparent(headers []ftraceHeader, c *ftrace_tracecontext_Context) []string {
	values := ftraceValues(headers, "traceparent")
	if c != nil && len(values) == 1 && c.PassesOn(values[0]) {
		return nil
	}
	return values
}

// with returns the headers by which a message is sent: with the trace. It returns nil if the
// program has set a traceparent, or if the message would have more than most bytes. size is that of
// its key and value.
func (m ftraceMessages) with(headers []ftraceHeader, size, most int) (with []ftraceHeader) {
	c := ftraceTrace()
	if m.own == nil || c == nil || ftraceTraceparent(headers, c) != nil {
		return nil
	}
	with = make([]ftraceHeader, 0, len(headers)+3)
	parent, state, baggage := "traceparent", c.State, c.Baggage
	for _, h := range headers {
		switch name := string(h.Key); {
		case strings.EqualFold(name, "traceparent"):
			parent = name // who receives it may ask for that
			continue
		case strings.EqualFold(name, "tracestate"):
			state = ""
		case strings.EqualFold(name, "baggage"):
			baggage = ""
		}
		with = append(with, h)
	}
	for _, field := range [...][2]string{{parent, c.Header}, {"tracestate", state}, {"baggage", baggage}} {
		if field[1] != "" {
			with = append(with, ftraceNewHeader(field[0], field[1]))
		}
	}
	size += 50 // what else is in a message takes no more
	for _, h := range with {
		size += 20 + len(h.Key) + len(h.Value)
	}
	if size > most {
		return nil
	}
	return with
}
