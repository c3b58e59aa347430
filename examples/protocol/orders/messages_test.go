// These tests are of what messages carry: they are built with ftrace-wrap, and need the servers
// whose addresses are in NATS_URL and, for one that takes no headers, NATS_PLAIN_URL. The program
// is within a request: TRACEPARENT. TestMessages in the folder above the module runs them so.
package main

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The context in which the program was started.
const (
	trace       = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + trace + "-00f067aa0ba902b7-01"
	foreign     = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
)

func connect(t *testing.T, server string, options ...nats.Option) *nats.Conn {
	t.Helper()
	url := os.Getenv(server)
	if url == "" {
		t.Skip(server + " is not set")
	}
	if got := os.Getenv("TRACEPARENT"); got != traceparent {
		t.Fatalf("TRACEPARENT is %q", got)
	}
	nc, err := nats.Connect(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// subscribed returns messages as they come, to no handler.
func subscribed(t *testing.T, nc *nats.Conn, subject string) *nats.Subscription {
	t.Helper()
	s, err := nc.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// next takes a message, in a goroutine of its own: what that does then belongs to the message.
func next(t *testing.T, s *nats.Subscription) (m *nats.Msg) {
	t.Helper()
	var err error
	taken := make(chan struct{})
	go func() {
		m, err = s.NextMsgWithContext(t.Context())
		close(taken)
	}()
	if <-taken; err != nil {
		t.Fatal(err)
	}
	return m
}

// ours checks that a message carries the trace, under an id of its own, which it returns.
func ours(t *testing.T, m *nats.Msg) (id string) {
	t.Helper()
	values := m.Header["traceparent"]
	if len(values) != 1 || len(values[0]) != len(traceparent) || !strings.HasPrefix(values[0], "00-"+trace+"-") || values[0] == traceparent {
		t.Errorf("%s has traceparent %q", m.Subject, values)
		return ""
	}
	return values[0]
}

func TestHeaders(t *testing.T) {
	nc := connect(t, "NATS_URL")
	s := subscribed(t, nc, "headers.>")
	if err := nc.Publish("headers.none", []byte("text")); err != nil {
		t.Fatal(err)
	}
	m := next(t, s)
	first := ours(t, m)
	if len(m.Header) != 2 || m.Header.Get("tracestate") != "vendor=1" || string(m.Data) != "text" {
		t.Errorf("it came with %v, %q", m.Header, m.Data)
	}
	for _, test := range []struct {
		name string
		set  nats.Header
		want nats.Header // nil: the trace as well
	}{
		{"others", nats.Header{"A": {"b", "c: d"}, "Nats-Msg-Id": {""}}, nil},
		{"state", nats.Header{"Tracestate": {"own=2"}}, nil},
		{"foreign", nats.Header{"traceparent": {foreign}, "A": {"b"}}, nats.Header{"traceparent": {foreign}, "A": {"b"}}},
		{"case", nats.Header{"Traceparent": {foreign}}, nats.Header{"traceparent": {foreign}}}, // the server changes the case
		{"bad", nats.Header{"TRACEPARENT": {"x"}}, nats.Header{"traceparent": {"x"}}},
		{"two", nats.Header{"traceparent": {foreign, foreign}}, nats.Header{"traceparent": {foreign, foreign}}},
	} {
		set := maps.Clone(test.set)
		if err := nc.PublishMsg(&nats.Msg{Subject: "headers." + test.name, Header: set, Data: []byte("text")}); err != nil {
			t.Fatal(err)
		}
		m, want := next(t, s), test.want
		if want == nil {
			if ours(t, m) == first {
				t.Errorf("%s: two messages have one id", test.name)
			}
			want = maps.Clone(test.set)
			want["traceparent"] = m.Header["traceparent"]
			if test.name != "state" {
				want["tracestate"] = []string{"vendor=1"}
			}
		}
		if !maps.EqualFunc(m.Header, want, slices.Equal) || string(m.Data) != "text" {
			t.Errorf("%s: it came with %v, %q, want %v", test.name, m.Header, m.Data, want)
		}
		if !maps.EqualFunc(set, test.set, slices.Equal) {
			t.Errorf("%s: the caller's header is %v now", test.name, set)
		}
	}
}

// TestPassedOn: a message that is passed on with the header that it came with belongs to the
// handler. So does one that its handler makes, and one of a goroutine that it starts.
func TestPassedOn(t *testing.T) {
	nc := connect(t, "NATS_URL")
	s := subscribed(t, nc, "out.>")
	failed := make(chan error, 3)
	if _, err := nc.Subscribe("in", func(m *nats.Msg) {
		failed <- nc.PublishMsg(&nats.Msg{Subject: "out.same", Header: m.Header})
		failed <- nc.Publish("out.new", nil)
		go func() { failed <- nc.Publish("out.started", nil) }()
	}); err != nil {
		t.Fatal(err)
	}
	if err := nc.PublishMsg(&nats.Msg{Subject: "in", Header: nats.Header{"Traceparent": {foreign}, "A": {"b"}}}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		m := next(t, s)
		got := m.Header["traceparent"]
		if len(got) != 1 || !strings.HasPrefix(got[0], foreign[:36]) || got[0] == foreign || m.Header["Traceparent"] != nil || (m.Header.Get("A") == "b") != (m.Subject == "out.same") {
			t.Errorf("%s came with %v", m.Subject, m.Header)
		}
	}
}

// received returns an error if no message was received from a channel.
func received(m *nats.Msg) error {
	if m == nil {
		return errors.New("no message")
	}
	return nil
}

// TestTaken: what a goroutine does when it has taken a message belongs to that message, by whichever
// call it has taken it, until it takes the next one.
func TestTaken(t *testing.T) {
	nc := connect(t, "NATS_URL")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	old, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "taken", Subjects: []string{"taken.>"}}); err != nil {
		t.Fatal(err)
	}
	pull, err := old.PullSubscribe("taken.>", "pull")
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.CreateConsumer(ctx, "taken", jetstream.ConsumerConfig{Durable: "next", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	iterated, err := js.CreateConsumer(ctx, "taken", jetstream.ConsumerConfig{Durable: "iterated", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := iterated.Messages()
	if err != nil {
		t.Fatal(err)
	}
	defer messages.Stop()
	ordered, err := js.OrderedConsumer(ctx, "taken", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	channel, grouped, shared := make(chan *nats.Msg, 9), make(chan *nats.Msg, 9), make(chan *nats.Msg, 9)
	for _, subscribe := range []func() (*nats.Subscription, error){
		func() (*nats.Subscription, error) { return nc.ChanSubscribe("taken.>", channel) },
		func() (*nats.Subscription, error) { return nc.ChanQueueSubscribe("taken.>", "group", grouped) },
		func() (*nats.Subscription, error) { return nc.QueueSubscribeSyncWithChan("taken.>", "shared", shared) },
	} {
		if _, err := subscribe(); err != nil {
			t.Fatal(err)
		}
	}
	streamed := make(chan *nats.Msg, 9)
	if _, err := old.ChanSubscribe("taken.>", streamed); err != nil {
		t.Fatal(err)
	}
	batched, err := old.PullSubscribe("taken.>", "batched")
	if err != nil {
		t.Fatal(err)
	}
	fetched, err := js.CreateConsumer(ctx, "taken", jetstream.ConsumerConfig{Durable: "fetched", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	timed, within, ranged := subscribed(t, nc, "taken.>"), subscribed(t, nc, "taken.>"), subscribed(t, nc, "taken.>")
	out := subscribed(t, nc, "after.>")
	for _, given := range []string{"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"} {
		if _, err := js.PublishMsg(ctx, &nats.Msg{Subject: "taken.one", Header: nats.Header{"traceparent": {given}}}); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			name string
			take func() error
		}{
			{"NextMsg", func() error { _, err := timed.NextMsg(time.Minute); return err }},
			{"NextMsgWithContext", func() error { _, err := within.NextMsgWithContext(ctx); return err }},
			{"Msgs", func() error {
				for _, err := range ranged.Msgs() {
					return err
				}
				return nil
			}},
			{"Fetch", func() error {
				all, err := pull.Fetch(1, nats.Context(ctx))
				if err == nil && len(all) != 1 {
					t.Errorf("Fetch returns %d messages", len(all))
				}
				return err
			}},
			{"Consumer.Next", func() error { _, err := consumer.Next(); return err }},
			{"MessagesContext.Next", func() error { _, err := messages.Next(); return err }},
			{"OrderedConsumer.Next", func() error { _, err := ordered.Next(); return err }},
			{"ChanSubscribe", func() error { return received(<-channel) }},
			{"ChanQueueSubscribe", func() error {
				for m := range grouped {
					return received(m)
				}
				return nil
			}},
			{"QueueSubscribeSyncWithChan", func() error {
				select {
				case m := <-shared:
					return received(m)
				case <-ctx.Done():
					return ctx.Err()
				}
			}},
			{"JetStream.ChanSubscribe", func() error {
				for {
					select {
					case m, ok := <-streamed:
						if !ok {
							return errors.New("closed")
						}
						return received(m)
					default:
						time.Sleep(time.Millisecond)
					}
				}
			}},
			{"FetchBatch", func() error {
				batch, err := batched.FetchBatch(1, nats.Context(ctx))
				if err != nil {
					return err
				}
				for m := range batch.Messages() {
					return received(m)
				}
				return batch.Error()
			}},
			{"Consumer.Fetch", func() error {
				batch, err := fetched.Fetch(1)
				if err != nil {
					return err
				}
				for m := range batch.Messages() {
					return m.Ack()
				}
				return batch.Error()
			}},
		} {
			if err := test.take(); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			if err := nc.Publish("after."+test.name, nil); err != nil {
				t.Fatal(err)
			}
			m := next(t, out)
			if got := m.Header.Get("traceparent"); !strings.HasPrefix(got, given[:36]) || got == given {
				t.Errorf("after %s a message came with %v, want the trace of %s", test.name, m.Header, given)
			}
		}
	}
}

// TestOwn: what the program itself sends to a channel of a subscription is no message of NATS.
func TestOwn(t *testing.T) {
	nc := connect(t, "NATS_URL")
	out := subscribed(t, nc, "own.after")
	channel := make(chan *nats.Msg, 2)
	if _, err := nc.ChanSubscribe("own.in", channel); err != nil {
		t.Fatal(err)
	}
	channel <- &nats.Msg{Header: nats.Header{"traceparent": {foreign}}}
	channel <- nil
	for range cap(channel) {
		<-channel
		if err := nc.Publish("own.after", nil); err != nil {
			t.Fatal(err)
		}
		ours(t, next(t, out))
	}
}

// TestReserved: neither answers nor what is NATS's own carry the trace.
func TestReserved(t *testing.T) {
	nc := connect(t, "NATS_URL", nats.CustomInboxPrefix("own.inbox"))
	if _, err := nc.Subscribe("ask", func(m *nats.Msg) { m.Respond([]byte("answer")) }); err != nil {
		t.Fatal(err)
	}
	m, err := nc.RequestWithContext(t.Context(), "ask", nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Header != nil || string(m.Data) != "answer" {
		t.Errorf("the answer is %v, %q", m.Header, m.Data)
	}
	for _, subject := range []string{"$KV.bucket.key", nats.InboxPrefix + "x", "own.inbox.x"} {
		s := subscribed(t, nc, subject)
		if err := nc.Publish(subject, []byte("text")); err != nil {
			t.Fatal(err)
		}
		if m := next(t, s); m.Header != nil || string(m.Data) != "text" {
			t.Errorf("%s came with %v, %q", subject, m.Header, m.Data)
		}
	}
}

// TestRoom: a message that the server takes is taken still, if it has no room for a header, or the
// server takes none.
func TestRoom(t *testing.T) {
	nc := connect(t, "NATS_URL")
	s := subscribed(t, nc, "large")
	largest := int(nc.MaxPayload())
	for _, size := range []int{largest, largest - len("NATS/1.0\r\ntraceparent: "+traceparent+"\r\ntracestate: vendor=1\r\n\r\n")} {
		if err := nc.Publish("large", make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		m := next(t, s)
		if (m.Header == nil) != (size == largest) || len(m.Data) != size {
			t.Errorf("%d bytes came as %d, with %v", size, len(m.Data), m.Header)
		}
	}
	plain := connect(t, "NATS_PLAIN_URL")
	s = subscribed(t, plain, "plain")
	if err := plain.Publish("plain", []byte("text")); err != nil {
		t.Fatal(err)
	}
	if m := next(t, s); m.Header != nil || string(m.Data) != "text" {
		t.Errorf("a server that takes no headers: it came with %v, %q", m.Header, m.Data)
	}
}

// TestStream: a message that JetStream keeps belongs to who published it, and so does what its
// handler publishes. A key's value has no header.
func TestStream(t *testing.T) {
	nc := connect(t, "NATS_URL")
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "jobs", Subjects: []string{"jobs.>"}})
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "worker", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	s := subscribed(t, nc, "done.>")
	consuming, err := consumer.Consume(func(m jetstream.Msg) {
		if err := nc.Publish("done."+cmp.Or(m.Headers().Get("traceparent"), "none"), nil); err != nil {
			t.Error(err)
		}
		if err := m.Ack(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer consuming.Stop()
	if _, err := js.Publish(ctx, "jobs.one", nil); err != nil {
		t.Fatal(err)
	}
	done := next(t, s)
	if published := strings.TrimPrefix(done.Subject, "done."); !strings.HasPrefix(published, "00-"+trace+"-") || published == ours(t, done) {
		t.Errorf("it was published with %q, and its handler publishes with %v", published, done.Header)
	}

	kv, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "settings"})
	if err != nil {
		t.Fatal(err)
	}
	revision, err := kv.PutString(ctx, "color", "red")
	if err != nil {
		t.Fatal(err)
	}
	bucket, err := js.Stream(ctx, "KV_settings")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := bucket.GetMsg(ctx, revision)
	if err != nil {
		t.Fatal(err)
	}
	if kept.Header["traceparent"] != nil || string(kept.Data) != "red" {
		t.Errorf("the key's value is kept with %v, %q", kept.Header, kept.Data)
	}
}
