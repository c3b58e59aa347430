//go:build ftrace_core && go1.23

// This file is added to package github.com/IBM/sarama, and under its former path, with messages.go.

package definition

import "unsafe"

type ftraceHeader = RecordHeader

func ftraceNewHeader(key, value string) ftraceHeader {
	return ftraceHeader{Key: []byte(key), Value: []byte(value)}
}

// ftracePublishes is called by the functions that publish messages and wait for that. end is called
// when they return.
//
//go:noinline
func ftracePublishes(messages []*ProducerMessage) (m ftraceMessages) {
	topic, kind := ftraceTopic(len(messages), func(i int) string { return messages[i].Topic })
	var headers []RecordHeader
	if len(messages) == 1 {
		headers = messages[0].Headers
	}
	m.begin(nil, topic, kind, headers)
	return m
}

// carry has the messages carry the trace. What it returns takes that from them again. They belong
// to the producer until then.
func (m ftraceMessages) carry(conf *Config, messages []*ProducerMessage) (restore func()) {
	if m.own == nil || !conf.Version.IsAtLeast(V0_11_0_0) { // brokers before that take no headers
		return func() {}
	}
	own, sent := make([][]RecordHeader, len(messages)), make([]int, len(messages))
	for i, message := range messages {
		size := 0
		for _, e := range [...]Encoder{message.Key, message.Value} {
			if e != nil {
				size += e.Length()
			}
		}
		if with := m.with(message.Headers, size, conf.Producer.MaxMessageBytes); with != nil {
			own[i], sent[i], message.Headers = message.Headers, len(with), with
		}
	}
	return func() {
		for i, message := range messages {
			switch now := message.Headers; {
			case sent[i] == 0:
			case len(now) > sent[i]: // an interceptor has added some
				message.Headers = append(own[i][:len(own[i]):len(own[i])], now[sent[i]:]...)
			default:
				message.Headers = own[i]
			}
		}
	}
}

// ftraceTaken is called when a goroutine has received a message from a channel.
//
//go:noinline
func ftraceTaken(at unsafe.Pointer) {
	message := *(**ConsumerMessage)(at)
	if message == nil {
		return
	}
	headers := make([]RecordHeader, 0, len(message.Headers))
	for _, h := range message.Headers {
		if h != nil {
			headers = append(headers, *h)
		}
	}
	ftraceTakes(message.Topic, headers)
}
