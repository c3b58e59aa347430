package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
)

// follows checks that the headers that a message came with are those that the program has set, and
// behind them those of the trace, which is one of its own.
func follows(t *testing.T, name string, set, got [][2]string, trace string) {
	t.Helper()
	if n := len(set); len(got) < n || !slices.Equal(got[:n], set) {
		t.Errorf("%s: it came with %v, want %v first", name, got, set)
		return
	}
	got = got[len(set):]
	if trace == "" {
		if len(got) != 0 {
			t.Errorf("%s: it came with %v, too", name, got)
		}
		return
	}
	if len(got) == 0 || got[0][0] != "traceparent" || !strings.HasPrefix(got[0][1], "00-"+trace+"-") || got[0][1] == traceparent || got[0][1] == foreign {
		t.Errorf("%s: it came with %v, want the trace %s", name, got, trace)
	}
}

// messages are those that each library sends. large has no room for headers.
func messages(large int) []message {
	return []message{
		{"none", nil, trace},
		{"others", [][2]string{{"A", "b"}, {"A", "c"}}, trace},
		{"foreign", [][2]string{{"Traceparent", foreign}, {"A", "b"}}, ""},
		{"bad", [][2]string{{"TRACEPARENT", "x"}}, ""},
		{strings.Repeat("x", large), nil, ""},
		{"last", nil, trace},
	}
}

type message struct {
	text string
	set  [][2]string
	want string
}

// hooks notes the records that the client has.
type hooks struct{ buffered, done []*kgo.Record }

func (h *hooks) OnProduceRecordBuffered(r *kgo.Record)            { h.buffered = append(h.buffered, r) }
func (h *hooks) OnProduceRecordUnbuffered(r *kgo.Record, _ error) { h.done = append(h.done, r) }

func TestFranz(t *testing.T) {
	broker := os.Getenv("KAFKA_ADDR")
	if broker == "" {
		t.Skip("KAFKA_ADDR is not set")
	}
	pairs := func(headers []kgo.RecordHeader) (pairs [][2]string) {
		for _, h := range headers {
			pairs = append(pairs, [2]string{h.Key, string(h.Value)})
		}
		return pairs
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	noted := &hooks{}
	cl, err := kgo.NewClient(kgo.SeedBrokers(broker), kgo.DefaultProduceTopic("franz"), kgo.ConsumeTopics("franz"), kgo.ProducerBatchMaxBytes(2000), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.WithHooks(noted))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	sent := messages(1850)
	for i, m := range sent {
		r := &kgo.Record{Value: []byte(m.text)}
		for _, pair := range m.set {
			r.Headers = append(r.Headers, kgo.RecordHeader{Key: pair[0], Value: []byte(pair[1])})
		}
		if i == 0 { // with a promise
			done := make(chan *kgo.Record)
			cl.Produce(ctx, r, func(r *kgo.Record, err error) {
				if err != nil {
					t.Error(err)
				}
				done <- r
			})
			if got := <-done; got != r {
				t.Errorf("the promise is of another record")
			}
		} else if result := cl.ProduceSync(ctx, r); result[0].Record != r || result[0].Err != nil {
			t.Fatalf("%s: %v, of another record: %t", m.text, result[0].Err, result[0].Record != r)
		}
		if !slices.Equal(pairs(r.Headers), m.set) || r.Offset != int64(i) || r.Topic != "franz" || r.Timestamp.IsZero() || r.Context != ctx {
			t.Errorf("%s: the program's record has %v, offset %d, topic %s, time %v now", m.text, r.Headers, r.Offset, r.Topic, r.Timestamp)
		}
	}
	if !slices.Equal(noted.buffered, noted.done) {
		t.Error("hooks see different records before and after")
	}
	canceled, stop := context.WithCancel(ctx)
	stop()
	failing := &kgo.Record{Topic: "absent", Value: []byte("x")}
	if result := cl.ProduceSync(canceled, failing); !errors.Is(result[0].Err, context.Canceled) || result[0].Record != failing || failing.Headers != nil {
		t.Errorf("it fails with %v, and the record has %v", result[0].Err, failing.Headers)
	}
	var got []*kgo.Record
	for len(got) < len(sent) {
		fetched := cl.PollRecords(ctx, 2)
		if err := fetched.Err(); err != nil {
			t.Fatal(err)
		}
		// Each way in turn. What is done then belongs to the record.
		after := func(r *kgo.Record) {
			got = append(got, r)
			within := &kgo.Record{Topic: "after", Value: r.Value[:min(len(r.Value), 9)]}
			span := pairs(r.Headers)
			if err := cl.ProduceSync(ctx, within).FirstErr(); err != nil {
				t.Error(err)
			}
			carries := noted.buffered[len(noted.buffered)-1]
			switch value := ""; {
			case string(r.Value) == "foreign":
				follows(t, "after foreign", nil, pairs(carries.Headers), foreign[3:35])
			case len(span) > 0 && span[len(span)-1][0] == "tracestate":
				value = span[len(span)-2][1]
				follows(t, "after "+string(r.Value), nil, pairs(carries.Headers), trace)
				if pairs(carries.Headers)[0][1] == value {
					t.Error("a record has the id of the one before")
				}
			}
		}
		switch len(got) / 2 {
		case 0:
			fetched.EachRecord(after)
		case 1:
			fetched.EachPartition(func(p kgo.FetchTopicPartition) { p.EachRecord(after) })
		default:
			if all := fetched.Records(); len(all) > 0 {
				got = append(got, all[:len(all)-1]...)
				after(all[len(all)-1])
			}
		}
	}
	for i, m := range sent {
		if string(got[i].Value) != m.text {
			t.Fatalf("%s came for %s", got[i].Value, m.text)
		}
		follows(t, m.text[:min(len(m.text), 9)], m.set, pairs(got[i].Headers), m.want)
	}
}

// adds is an interceptor that adds a header, as those do that trace.
type adds struct{}

func (adds) OnSend(m *sarama.ProducerMessage) {
	if m.Value == sarama.StringEncoder("last") {
		m.Headers = append(m.Headers, sarama.RecordHeader{Key: []byte("added"), Value: []byte("here")})
	}
}

func TestSarama(t *testing.T) {
	broker := os.Getenv("KAFKA_ADDR")
	if broker == "" {
		t.Skip("KAFKA_ADDR is not set")
	}
	config := sarama.NewConfig()
	config.Version = sarama.V2_1_0_0
	config.Producer.Return.Successes = true
	config.Producer.MaxMessageBytes = 2000
	config.Producer.Interceptors = []sarama.ProducerInterceptor{adds{}}
	cl, err := sarama.NewClient([]string{broker}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	producer, err := sarama.NewSyncProducerFromClient(cl)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	pairs := func(headers []sarama.RecordHeader) (pairs [][2]string) {
		for _, h := range headers {
			pairs = append(pairs, [2]string{string(h.Key), string(h.Value)})
		}
		return pairs
	}
	sent := messages(1900)
	var batch []*sarama.ProducerMessage
	for _, m := range sent {
		one := &sarama.ProducerMessage{Topic: "sarama", Value: sarama.StringEncoder(m.text)}
		for _, pair := range m.set {
			one.Headers = append(one.Headers, sarama.RecordHeader{Key: []byte(pair[0]), Value: []byte(pair[1])})
		}
		batch = append(batch, one)
	}
	check := func(first int) {
		for i, m := range sent {
			want := m.set
			if m.text == "last" {
				want = [][2]string{{"added", "here"}}
				batch[i].Headers = batch[i].Headers[:1:1]
			}
			if !slices.Equal(pairs(batch[i].Headers), want) || batch[i].Offset != int64(first+i) {
				t.Errorf("%s: the program's message has %v, and offset %d now", m.text, pairs(batch[i].Headers), batch[i].Offset)
			}
		}
	}
	for _, m := range batch {
		if _, _, err := producer.SendMessage(m); err != nil {
			t.Fatal(err)
		}
	}
	check(0)
	batch[len(batch)-1].Headers = nil
	for i, m := range batch {
		batch[i] = &sarama.ProducerMessage{Topic: m.Topic, Value: m.Value, Headers: m.Headers}
	}
	if err := producer.SendMessages(batch); err != nil {
		t.Fatal(err)
	}
	check(len(sent))

	consumer, err := sarama.NewConsumerFromClient(cl)
	if err != nil {
		t.Fatal(err)
	}
	defer consumer.Close()
	partition, err := consumer.ConsumePartition("sarama", 0, sarama.OffsetOldest)
	if err != nil {
		t.Fatal(err)
	}
	defer partition.Close()
	for i := range 2 * len(sent) {
		var got *sarama.ConsumerMessage
		if i%2 == 0 {
			got = <-partition.Messages()
		} else {
			select {
			case got = <-partition.Messages():
			case err := <-partition.Errors():
				t.Fatal(err)
			}
		}
		var headers []sarama.RecordHeader
		for _, h := range got.Headers {
			headers = append(headers, *h)
		}
		m := sent[i%len(sent)]
		if string(got.Value) != m.text {
			t.Fatalf("%s came for %s", got.Value, m.text)
		}
		name := m.text[:min(len(m.text), 9)]
		follows(t, name, m.set, pairs(headers), m.want)
		// What is done now belongs to it.
		if name != "foreign" {
			continue
		}
		after := &sarama.ProducerMessage{Topic: "after", Value: sarama.StringEncoder("after")}
		var carries [][2]string // SendMessage waits for what calls this
		after.Key = keyed(func() { carries = pairs(after.Headers) })
		if _, _, err := producer.SendMessage(after); err != nil {
			t.Fatal(err)
		}
		follows(t, "after "+name, nil, carries, foreign[3:35])
	}
}

// keyed is a key that calls a function when the producer encodes it.
type keyed func()

func (k keyed) Encode() ([]byte, error) {
	k()
	return []byte("key"), nil
}

func (k keyed) Length() int { return len("key") }
