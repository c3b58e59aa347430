//go:build ftrace_core && go1.23

// This file is added to package github.com/segmentio/kafka-go, with messages.go.

package definition

type ftraceHeader = Header

func ftraceNewHeader(key, value string) ftraceHeader {
	return ftraceHeader{Key: key, Value: []byte(value)}
}

// ftracePublishes is called by the function that publishes messages. end is called when it returns.
//
//go:noinline
func ftracePublishes(ctx any, w *Writer, messages []Message) (m ftraceMessages) {
	topic, kind := ftraceTopic(len(messages), func(i int) string {
		if own := messages[i].Topic; own != "" {
			return own
		}
		return w.Topic
	})
	var headers []Header
	if len(messages) == 1 {
		headers = messages[0].Headers
	}
	m.begin(ctx, topic, kind, headers)
	return m
}

// ftraceReceives is called by the function that returns a message.
//
//go:noinline
func ftraceReceives(message *Message, err error) {
	if err == nil {
		ftraceTakes(message.Topic, message.Headers)
	}
}

// carry returns the messages that are sent, which are others than those of the program.
func (m ftraceMessages) carry(w *Writer, messages []Message) []Message {
	if m.own == nil {
		return messages
	}
	most := int(w.BatchBytes)
	if most <= 0 {
		most = 1 << 20
	}
	sent := make([]Message, len(messages))
	for i, message := range messages {
		sent[i] = message
		if with := m.with(message.Headers, len(message.Key)+len(message.Value), most); with != nil {
			sent[i].Headers = with
		}
	}
	return sent
}
