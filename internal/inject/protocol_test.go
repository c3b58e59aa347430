package inject

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// TestOldLanguage checks what packages of modules get that ask for an old Go.
func TestOldLanguage(t *testing.T) {
	for _, make := range []func(string) (File, error){sqlText, traceContext} {
		f, err := make("p")
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, f.Name, f.Source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (&types.Config{GoVersion: "go1.10"}).Check("p", fset, []*ast.File{tree}, nil); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// TestNATS checks that each release's functions are known, and that one without headers is not
// changed.
func TestNATS(t *testing.T) {
	const source = `package nats
type Options struct { %s string }
type Conn struct { info serverInfo }
type Subscription struct { conn *Conn }
func (s *Subscription) NextMsg(timeout time.Duration) (*Msg, error) { return msg, nil }
func (s *Subscription) NextMsgWithContext(ctx context.Context) (*Msg, error) { return msg, nil }
func (sub *Subscription) Fetch(batch int, opts ...PullOpt) ([]*Msg, error) { return msgs, nil }
func (nc *Conn) request(subj string, hdr, data []byte, timeout time.Duration) (*Msg, error) { return m, err }
func (nc *Conn) requestWithContext(ctx context.Context, subj string, hdr, data []byte) (*Msg, error) { return m, err }
func (nc *Conn) ChanSubscribe(subj string, ch chan *Msg) (*Subscription, error) { return s, nil }
func (nc *Conn) ChanQueueSubscribe(subj, group string, ch chan *Msg) (*Subscription, error) { return s, nil }
func (nc *Conn) QueueSubscribeSyncWithChan(subj, queue string, ch chan *Msg) (*Subscription, error) { return s, nil }
func (js *js) ChanSubscribe(subj string, ch chan *Msg, opts ...SubOpt) (*Subscription, error) { return s, nil }
func (js *js) ChanQueueSubscribe(subj, queue string, ch chan *Msg, opts ...SubOpt) (*Subscription, error) { return s, nil }
%s
func (nc *Conn) publish(subj, reply string, %s) error { return nil }
func (nc *Conn) waitForMsgs(s *Subscription) {
	for {
		if m != nil && (max == 0 || delivered <= max) {
			mcb(m)
		}
	}
}
`
	const batch = "func (mb *messageBatch) Messages() <-chan *Msg { return mb.msgs }\n"
	const iterates = batch + "func (s *Subscription) nextMsgNoTimeout() (*Msg, error) { return msg, nil }"
	for _, test := range []struct{ release, prefix, iterates, params, want string }{
		{"v1.9.1", "InboxPrefix", "", "data []byte", ""},
		{"v1.11.0", "Name", "", "hdr, data []byte", ""},
		{"v1.12.1", "InboxPrefix", "", "hdr, data []byte", "ftraced:=ftracePublishes(nc,subj,hdr);defer ftraced.end(&_ftraced_r0);hdr=ftraced.carry(nc,hdr,len(data))"},
		{"v1.24.0", "InboxPrefix", batch, "hdr, data []byte", "ftraced:=ftracePublishes(nc,subj,hdr);defer ftraced.end(&_ftraced_r0);hdr=ftraced.carry(nc,hdr,len(data))"},
		{"v1.38.0", "InboxPrefix", iterates, "hdr, data []byte", "ftraced:=ftracePublishes(nc,subj,hdr);defer ftraced.end(&_ftraced_r0);hdr=ftraced.carry(nc,hdr,len(data))"},
		{"v1.55.0", "InboxPrefix", iterates, "validateReply bool, hdr, data []byte", "ftraced:=ftracePublishes(nc,subj,hdr);defer ftraced.end(&_ftraced_r0);hdr=ftraced.carry(nc,hdr,len(data))"},
	} {
		changed, added, err := define("github.com/nats-io/nats.go", []File{{Name: "nats.go", Source: fmt.Appendf(nil, source, test.prefix, test.iterates, test.params)}})
		if err != nil {
			t.Fatal(err)
		}
		text := string(changed[0])
		switch {
		case test.want == "":
			if len(changed) != 0 || len(added) != 1 {
				t.Errorf("%s: %d files are added, and this is changed:\n%s", test.release, len(added), text)
			}
		case strings.Count(text, "ftraceReceives(s,&_ftraced_r0)") != 2+strings.Count(test.iterates, "nextMsgNoTimeout") || strings.Count(text, "ftraceMark(ch,ftraceTaken)") != 5 || strings.Contains(text, "ftraceMark(mb.msgs,ftraceTaken)") != (test.iterates != "") || strings.Count(text, "ftraceRequests(nc,subj,") != 2 || !strings.Contains(text, "ftraceFetches(sub,&_ftraced_r0)"):
			t.Errorf("%s: not all that is returned is seen:\n%s", test.release, text)
		case !strings.Contains(text, test.want) || !strings.Contains(text, "ftraced=ftraceProcesses(nc,s,m)};mcb(m);ftraced.processed()") || len(added) < 5:
			t.Errorf("%s: %d files are added:\n%s", test.release, len(added), text)
		}
	}
}

// TestKafka checks what kafka-go gets.
func TestKafka(t *testing.T) {
	const source = `package kafka
type Message struct { Headers []Header }
type Writer struct { Topic string; BatchBytes int64 }
func (w *Writer) WriteMessages(ctx context.Context, msgs ...Message) error { return nil }
func (r *Reader) FetchMessage(ctx context.Context) (Message, error) { return m.message, m.error }
`
	changed, added, err := define("github.com/segmentio/kafka-go", []File{{Name: "kafka.go", Source: []byte(source)}})
	if err != nil {
		t.Fatal(err)
	}
	text := string(changed[0])
	for _, want := range []string{"ftraced:=ftracePublishes(ctx,w,msgs);defer ftraced.end(&_ftraced_r0);msgs=ftraced.carry(w,msgs)", "_ftraced_r0,_ftraced_r1= m.message, m.error;if ftraceSpans!=0{ftraceReceives(&_ftraced_r0,_ftraced_r1)};return"} {
		if !strings.Contains(text, want) || len(added) < 5 {
			t.Errorf("%d files are added, and there is no %s:\n%s", len(added), want, text)
		}
	}
	changed, _, err = define("github.com/segmentio/kafka-go", []File{{Name: "kafka.go", Source: []byte(strings.Replace(source, "Headers", "Other", 1))}})
	if err != nil || len(changed) != 0 {
		t.Errorf("a release without headers is changed: %v", err)
	}
}

// TestFranz checks what each release of franz-go gets.
func TestFranz(t *testing.T) {
	const source = `package kgo
type cfg struct { defaultProduceTopic string }
type Client struct { cfg cfg }
type Record struct { Headers []RecordHeader }
func (cl *Client) Produce(ctx context.Context, r *Record, promise func(*Record, error)) { cl.produce(ctx, r, promise, true) }
%s
func (cl *Client) maxRecordBatchBytesForTopic(topic string) int32 { return 0 }
func (i *FetchesRecordIter) Next() *Record { return next }
func (fs Fetches) Records() []*Record { return rs }
func (r *FetchTopicPartition) EachRecord(fn func(*Record)) {
	for _, r := range r.Records {
		fn(r)
	}
}
`
	const publishes = "{if ftraceSpans!=0&&r!=nil{ftraced:=ftracePublishes(ctx,cl,r);defer ftraced.ended();r,promise=ftraced.carry(cl,r,promise)};"
	for release, produce := range map[string]string{
		"v1.0.0":  "",
		"v1.20.0": "func (cl *Client) produce(ctx context.Context, r *Record, promise func(*Record, error), block bool) { return }",
	} {
		changed, added, err := define("github.com/twmb/franz-go/pkg/kgo", []File{{Name: "kgo.go", Source: fmt.Appendf(nil, source, produce)}})
		if err != nil {
			t.Fatal(err)
		}
		text := string(changed[0])
		for _, want := range []string{publishes, "ftraceReceives(_ftraced_r0)};return", "ftraceReceivesAll(_ftraced_r0)};return", "ftraceReceives(r)};fn(r)"} {
			if strings.Count(text, want) != 1 || len(added) < 6 {
				t.Errorf("%s: %d files are added, and there is not once %s:\n%s", release, len(added), want, text)
			}
		}
	}
	changed, _, err := define("github.com/twmb/franz-go/pkg/kgo", []File{{Name: "kgo.go", Source: []byte(strings.Replace(fmt.Sprintf(source, ""), "r *Record, promise", "r Record, promise", 1))}})
	if err != nil || len(changed) != 0 {
		t.Errorf("a release that publishes otherwise is changed: %v", err)
	}
}

// TestSarama checks what sarama gets, under both its paths.
func TestSarama(t *testing.T) {
	const source = `package sarama
type syncProducer struct { producer *asyncProducer }
type asyncProducer struct { conf *Config }
type partitionConsumer struct { messages chan *ConsumerMessage }
type ConsumerMessage struct { Headers []*RecordHeader }
func (sp *syncProducer) SendMessage(msg *ProducerMessage) (partition int32, offset int64, err error) { return 0, 0, nil }
func (sp *syncProducer) SendMessages(msgs []*ProducerMessage) error { return nil }
func (child *partitionConsumer) Messages() <-chan *ConsumerMessage { return child.messages }
`
	for _, path := range []string{"github.com/IBM/sarama", "github.com/Shopify/sarama"} {
		changed, added, err := define(path, []File{{Name: "sarama.go", Source: []byte(source)}})
		if err != nil {
			t.Fatal(err)
		}
		text := string(changed[0])
		for _, want := range []string{"defer ftraced.end(&err);defer ftraced.carry(sp.producer.conf,ftraces)()", "ftraced:=ftracePublishes(msgs);", "{ftraceMark(child.messages,ftraceTaken);"} {
			if strings.Count(text, want) != 1 || len(added) < 7 {
				t.Errorf("%s: %d files are added, and there is not once %s:\n%s", path, len(added), want, text)
			}
		}
	}
	changed, _, err := define("github.com/IBM/sarama", []File{{Name: "sarama.go", Source: []byte(strings.Replace(source, "Headers", "Other", 1))}})
	if err != nil || len(changed) != 0 {
		t.Errorf("a release without headers is changed: %v", err)
	}
}

// TestGRPC checks that each release's functions are known.
func TestGRPC(t *testing.T) {
	const client = `package grpc
func invoke(ctx context.Context, method string, req, reply %[1]s, cc *ClientConn, opts ...CallOption) error { return nil }
func newClientStream(ctx context.Context, desc *StreamDesc, cc *ClientConn, method string, opts ...CallOption) (_ ClientStream, err error) { return nil, nil }
`
	both := func(before string) string {
		return fmt.Sprintf(`func (s *Server) processUnaryRPC(%[1]s, info *serviceInfo, md *MethodDesc, trInfo *traceInfo) (err error) { return nil }
func (s *Server) processStreamingRPC(%[1]s, info *serviceInfo, sd *StreamDesc, trInfo *traceInfo) (err error) { return nil }
`, before)
	}
	const (
		first  = "t transport.ServerTransport, stream *transport.Stream"
		second = "ctx context.Context, t transport.ServerTransport, stream *transport.Stream"
		third  = "ctx context.Context, stream *transport.ServerStream"
	)
	for _, test := range []struct {
		release, empty, server string
		serves                 int // functions that do
		want                   string
	}{
		{"v1.40.0", "interface{}", both(first), 2, "ftraceServes(stream.Method(),stream.Context())"},
		{"v1.58.0", "any", both(first), 2, "ftraceServes(stream.Method(),stream.Context())"},
		{"v1.65.0", "any", both(second), 2, "ftraceServes(stream.Method(),ctx)"},
		{"v1.84.0", "any", both(third), 2, "ftraceServes(stream.Method(),ctx)"},
		{"v1.85.0", "any", "func (s *Server) processRPC(" + third + ", info *serviceInfo, sd *StreamDesc, trInfo *traceInfo) (err error) { return nil }\n", 1, "ftraceServes(stream.Method(),ctx)"},
	} {
		changed, added, err := define("google.golang.org/grpc", []File{{Name: "grpc.go", Source: []byte(fmt.Sprintf(client, test.empty) + test.server)}})
		if err != nil {
			t.Fatal(err)
		}
		text := string(changed[0])
		if n := strings.Count(text, test.want); n != test.serves || !strings.Contains(text, "ftraceMakes(ftraceClient,method,ctx)") || !strings.Contains(text, "ctx=ftraceCarry(ctx)") {
			t.Errorf("%s: %d functions serve:\n%s", test.release, n, text)
		}
		if len(added) < 5 {
			t.Errorf("%s: %d files are added", test.release, len(added))
		}
	}
	changed, _, err := define("google.golang.org/grpc", []File{{Name: "grpc.go", Source: []byte(fmt.Sprintf(client, "any"))}})
	if err != nil || len(changed) != 0 {
		t.Errorf("a release without servers is changed: %v", err)
	}
}
