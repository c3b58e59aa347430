// These tests are of what messages carry: they are built with ftrace-wrap, and need a broker with
// the topics headers and own, whose address is in KAFKA_ADDR. The program is within a request:
// TRACEPARENT. TestKafka in the folder above the module runs them so.
package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
)

// The context in which the program was started.
const (
	trace       = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + trace + "-00f067aa0ba902b7-01"
	foreign     = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
)

func connect(t *testing.T, topic string) (*kafka.Writer, *kafka.Reader) {
	t.Helper()
	broker := os.Getenv("KAFKA_ADDR")
	if broker == "" {
		t.Skip("KAFKA_ADDR is not set")
	}
	if got := os.Getenv("TRACEPARENT"); got != traceparent {
		t.Fatalf("TRACEPARENT is %q", got)
	}
	w := &kafka.Writer{Addr: kafka.TCP(broker), BatchSize: 1}
	r := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Topic: topic, MaxWait: time.Second})
	t.Cleanup(func() {
		w.Close()
		r.Close()
	})
	return w, r
}

func write(t *testing.T, w *kafka.Writer, messages ...kafka.Message) {
	t.Helper()
	if err := w.WriteMessages(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, r *kafka.Reader) kafka.Message {
	t.Helper()
	m, err := r.ReadMessage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// headers returns headers as pairs of a name and a value.
func headers(pairs ...string) (list []kafka.Header) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, kafka.Header{Key: pairs[i], Value: []byte(pairs[i+1])})
	}
	return list
}

func same(a, b []kafka.Header) bool {
	return slices.EqualFunc(a, b, func(a, b kafka.Header) bool { return a.Key == b.Key && bytes.Equal(a.Value, b.Value) })
}

// carried returns the traceparent that a message carries, which is to be of the trace, under an id
// of its own.
func carried(t *testing.T, m kafka.Message, trace string) (id string) {
	t.Helper()
	for _, h := range m.Headers {
		if h.Key == "traceparent" {
			id += string(h.Value)
		}
	}
	if len(id) != len(traceparent) || !strings.HasPrefix(id, "00-"+trace+"-") || id == traceparent || id == foreign {
		t.Errorf("%s came with %v", m.Value, m.Headers)
	}
	return id
}

// TestHeaders writes all messages before it reads one, so they belong to the program.
func TestHeaders(t *testing.T) {
	w, r := connect(t, "headers")
	w.Topic = "headers"
	tests := []struct {
		name string
		set  []kafka.Header
		want []string // behind the others
	}{
		{"none", nil, []string{"traceparent", "", "tracestate", "vendor=1"}},
		{"others", headers("A", "b", "A", "c"), []string{"traceparent", "", "tracestate", "vendor=1"}},
		{"state", headers("Tracestate", "own=2"), []string{"traceparent", ""}},
		{"foreign", headers("traceparent", foreign, "A", "b"), nil},
		{"case", headers("Traceparent", foreign), nil},
		{"bad", headers("TRACEPARENT", "x"), nil},
		{"two", headers("traceparent", foreign, "traceparent", foreign), nil},
	}
	var batch []kafka.Message
	for _, test := range tests {
		before := slices.Clone(test.set)
		m := kafka.Message{Key: []byte("key"), Value: []byte(test.name), Headers: slices.Grow(before, 4)}
		write(t, w, m)
		if !same(m.Headers, test.set) || len(m.Headers[:cap(m.Headers)]) > len(before) && m.Headers[:len(before)+1][len(before)].Key != "" {
			t.Errorf("%s: the program's message has %v now", test.name, m.Headers[:cap(m.Headers)])
		}
		m.Headers = before
		batch = append(batch, m)
	}
	written := slices.Clone(batch)
	write(t, w, batch...)
	for i := range batch {
		if !same(batch[i].Headers, written[i].Headers) {
			t.Errorf("the program's messages have %v now", batch[i].Headers)
		}
	}
	for _, together := range []bool{false, true} {
		ids := map[string]string{}
		for _, test := range tests {
			m := read(t, r)
			want := append(slices.Clone(test.set), headers(test.want...)...)
			if test.want != nil {
				ids[test.name] = carried(t, m, trace)
				for i := range want {
					if want[i].Key == "traceparent" {
						want[i].Value = []byte(ids[test.name])
					}
				}
			}
			if !same(m.Headers, want) || string(m.Key) != "key" || string(m.Value) != test.name {
				t.Errorf("%s: %s %s came with %v, want %v", test.name, m.Key, m.Value, m.Headers, want)
			}
		}
		if (ids["none"] == ids["others"]) != together || len(ids) != 3 {
			t.Errorf("messages that are published together (%t) have the ids %v", together, ids)
		}
	}
}

// TestReceived: what a goroutine does belongs to the message that it took last.
func TestReceived(t *testing.T) {
	w, r := connect(t, "own")
	w.Topic = "own"
	w.BatchBytes = 2000
	write(t, w, kafka.Message{Value: []byte("first"), Headers: headers("Traceparent", foreign)})
	write(t, w, kafka.Message{Value: make([]byte, 1990-14)}) // which has no room for a header
	m := read(t, r)
	write(t, w, kafka.Message{Value: []byte("within"), Headers: m.Headers})
	if m = read(t, r); len(m.Headers) != 0 || len(m.Value) != 1976 {
		t.Errorf("%d bytes came with %v", len(m.Value), m.Headers)
	}
	write(t, w, kafka.Message{Value: []byte("after")})
	within := read(t, r)
	if len(within.Headers) != 1 || within.Headers[0].Key != "Traceparent" {
		t.Fatalf("what was passed on came with %v", within.Headers)
	}
	within.Headers[0].Key = "traceparent"
	carried(t, within, foreign[3:35])
	carried(t, read(t, r), trace)
}
