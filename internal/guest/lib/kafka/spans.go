//go:build ftrace_core && go1.23

// This file is added to package github.com/segmentio/kafka-go. It tells the core of messages that
// are published and received, and has them belong to a trace, with FTRACE_PROPAGATE.

package definition

import "strings"

const (
	ftracePublish = "stage/kafka/publish" // messages are given to a Writer
	ftraceReceive = "stage/kafka/receive" // a Reader returns one
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

// ftracePublishes is called by the function that publishes messages. end is called when it returns.
//
//go:noinline
func ftracePublishes(w *Writer, messages []Message) (m ftraceMessages) {
	topic := w.Topic
	if topic == "" {
		topic = messages[0].Topic
	}
	kind := topic
	for i := range messages {
		if own := messages[i].Topic; own != "" && own != topic { // they go to several
			topic, kind = "", "other"
			break
		}
	}
	if ftracePropagate {
		m.ftracePlace = ftraceSent(func(c *ftrace_tracecontext_Context) []string {
			if len(messages) != 1 {
				return nil // each has its own
			}
			return ftraceTraceparent(messages[0].Headers, c)
		})
	}
	span, parent, n := m.recorded()
	m.token, m.number = ftraceBeginSpan(ftracePublish, kind, topic, []any{topic, span, parent}[:n]...)
	m.enter(m.token != 0)
	return m
}

func (m ftraceMessages) end(err *error) {
	m.leave()
	ftraceEndSpan(m.token, m.number, 0, *err, err)
}

// ftraceReceives is called by the function that returns a message. What its caller does from then
// on belongs to it, until it takes the next message.
//
//go:noinline
func ftraceReceives(message *Message, err error) {
	if err != nil {
		return
	}
	var m ftraceMessages
	if ftracePropagate {
		ftraceSetTrace(nil) // that of the message before has nothing to do with it
		h := message.Headers
		m.ftracePlace = ftraceReceived(ftraceValues(h, "traceparent"), ftraceValues(h, "tracestate"), ftraceValues(h, "baggage"))
	}
	span, parent, n := m.recorded()
	m.token, m.number = ftraceBeginSpan(ftraceReceive, message.Topic, message.Topic, []any{message.Topic, span, parent}[:n]...)
	m.enter(m.token != 0)
	ftraceEndSpan(m.token, m.number, 0, nil)
}

// ftraceValues returns the values of a header, in whatever case its name is.
func ftraceValues(headers []Header, name string) (values []string) {
	for _, h := range headers {
		if strings.EqualFold(h.Key, name) {
			values = append(values, string(h.Value))
		}
	}
	return values
}

// ftraceTraceparent returns what the program itself has set as traceparent. c is what is around the
// message. To pass on what was received is not to set one.
func ftraceTraceparent(headers []Header, c *ftrace_tracecontext_Context) []string {
	values := ftraceValues(headers, "traceparent")
	if c != nil && len(values) == 1 && values[0] == c.Received {
		return nil
	}
	return values
}

// carry returns the messages that are sent, which are others than those of the program: with the
// trace, unless the program has set a traceparent, or a message would be too large.
func (m ftraceMessages) carry(w *Writer, messages []Message) []Message {
	c := ftraceTrace()
	if m.own == nil || c == nil {
		return messages
	}
	most := w.BatchBytes
	if most <= 0 {
		most = 1 << 20
	}
	sent := make([]Message, len(messages))
	for i, message := range messages {
		sent[i] = message
		if ftraceTraceparent(message.Headers, c) != nil {
			continue
		}
		with, state, baggage := make([]Header, 0, len(message.Headers)+3), c.State, c.Baggage
		for _, h := range message.Headers {
			switch {
			case strings.EqualFold(h.Key, "traceparent"):
				continue
			case strings.EqualFold(h.Key, "tracestate"):
				state = ""
			case strings.EqualFold(h.Key, "baggage"):
				baggage = ""
			}
			with = append(with, h)
		}
		size := 50 + len(message.Key) + len(message.Value) // what else is in a message takes no more
		for _, field := range [...][2]string{{"traceparent", c.Header}, {"tracestate", state}, {"baggage", baggage}} {
			if field[1] != "" {
				with = append(with, Header{Key: field[0], Value: []byte(field[1])})
			}
		}
		for _, h := range with {
			size += 20 + len(h.Key) + len(h.Value)
		}
		if int64(size) <= most {
			sent[i].Headers = with
		}
	}
	return sent
}
