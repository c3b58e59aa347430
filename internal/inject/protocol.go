package inject

import (
	"bytes"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
	"github.com/ftrace-wrap/ftrace-wrap/protocol"
	"github.com/ftrace-wrap/ftrace-wrap/rewrite"
)

// A definition says where a package of a client library makes a protocol's events: in which
// functions, and which small functions these call at their entry or where they return. The small
// functions are in files that are added to the package. Of its types they know only what the calls
// hand them.
//
// Functions are looked up by name and type, so other changes in a release of the library make no
// difference.
type definition struct {
	files      []string // added, from package guest
	insertions []rewrite.Insertion
	fields     []rewrite.Field
}

// definitions are the known client libraries, by import path. The first definition is used for
// which the package has all the functions.
var definitions = map[string][]definition{
	"github.com/go-sql-driver/mysql": {
		{
			files:  mysqlFiles,
			fields: mysqlFields,
			insertions: append([]rewrite.Insertion{
				// A connection is made, and all of that is over at the return. A connection that
				// the server did not accept is closed before that, and reported here.
				{Func: "(*connector).Connect", Type: "func(context.Context) (driver.Conn, error)", Entry: "if ftraceProtocols!=0||ftraceProbed(){defer ftraceConnect({recv}.cfg.Addr,{recv}.cfg.User,{recv}.cfg.DBName).made(&{r1})};"},
				// The first call for a connection that exists.
				{Func: "(*mysqlConn).startWatcher", Type: "func()", Entry: "if ftraceProtocols!=0{ftraceDialed(&{recv}.ftrace,{recv})};"},
				// Commands begin; nothing is in the buffers yet.
				{Func: "(*mysqlConn).writeCommandPacket", Type: "func(byte) error", Entry: "if {recv}.ftrace!=nil{{recv}.ftrace.ready()};"},
				{Func: "(*mysqlConn).writeCommandPacketStr", Type: "func(byte, string) error", Entry: "if {recv}.ftrace!=nil{{recv}.ftrace.ready()};"},
				{Func: "(*mysqlConn).writeCommandPacketUint32", Type: "func(byte, uint32) error", Entry: "if {recv}.ftrace!=nil{{recv}.ftrace.ready()};"},
				// What fails although no packet says so.
				{Func: "(*okHandler).handleInFileRequest", Type: "func(string) error", Entry: "if {recv}.ftrace!=nil{defer {recv}.ftrace.fileSent(&{r0})};"},
				{Func: "(*mysqlConn).cancel", Type: "func(error)", Entry: "if {recv}.ftrace!=nil{{recv}.ftrace.canceled({p0})};"},
				{Func: "(*mysqlConn).cleanup", Type: "func()", Exit: "if {recv}.ftrace!=nil{{recv}.ftrace.closed()};"},
				{Func: "(*mysqlConn).readPacket", Type: "func() ([]byte, error)",
					Entry: "ftraced:={recv}.ftrace;if ftraced!=nil{ftraced=ftraced.reading()};", Exit: "if ftraced!=nil{ftraced.read({r0},{r1})};"},
			}, mysqlWrite),
		},
		// By packets alone: connections are noticed when the server greets, and refused ones not at
		// all.
		{
			files:  mysqlFiles,
			fields: mysqlFields,
			insertions: []rewrite.Insertion{
				{Func: "(*mysqlConn).readPacket", Type: "func() ([]byte, error)",
					Entry: "ftraced:={recv}.ftrace;if ftraced!=nil{ftraced=ftraced.reading()};",
					Exit:  "if ftraced!=nil{ftraced.read({r0},{r1})}else if {recv}.ftrace==nil&&(ftraceProtocols!=0||ftraceProbed()){ftraceGreeted(&{recv}.ftrace,{r0},{r1})};"},
				mysqlWrite,
			},
		},
	},
	// Connections are in one package, what is read and written in the other. The goroutine tells
	// which connection is in use.
	"github.com/redis/go-redis/v9/internal/pool": {{
		files:  []string{"lib/redis/session.go", "lib/redis/pool.go"},
		fields: []rewrite.Field{{Type: "Conn", Text: "ftrace *ftraceSession"}},
		insertions: []rewrite.Insertion{
			{Func: "(*ConnPool).dialConn", Type: "func(context.Context, bool) (*Conn, error)", Entry: "if ftraceProtocols!=0||ftraceProbed(){defer ftraceDialed(ftraceDial(),&{r0},&{r1})};"},
			{Func: "(*Conn).WithWriter", Type: "func(context.Context, time.Duration, func(wr *proto.Writer) error) error",
				Entry: "if {recv}.ftrace!=nil{defer {recv}.ftrace.write().wrote(&{r0})};"},
			{Func: "(*Conn).WithReader", Type: "func(context.Context, time.Duration, func(rd *proto.Reader) error) error",
				Entry: "if {recv}.ftrace!=nil{defer {recv}.ftrace.read().done(&{r0})};"},
			{Func: "(*Conn).Close", Type: "func() error", Exit: "if {recv}.ftrace!=nil{{recv}.ftrace.closed()};"},
		},
	}},
	"github.com/redis/go-redis/v9": {{
		files: []string{"link/spanlinks.go", "lib/redis/spans.go"},
		insertions: []rewrite.Insertion{
			{Func: "(*baseClient).process", Type: "func(context.Context, Cmder) error", Entry: "if ftraceSpans!=0{defer ftraceProcesses({p1}).end(&{r0})};"},
			{Func: "(*baseClient).processPipeline", Type: "func(context.Context, []Cmder) error", Entry: "if ftraceSpans!=0{defer ftraceProcessesAll({p1}).end(&{r0})};"},
			{Func: "(*baseClient).processTxPipeline", Type: "func(context.Context, []Cmder) error", Entry: "if ftraceSpans!=0{defer ftraceProcessesAll({p1}).end(&{r0})};"},
		},
	}},
	// Of calls that are served, and made. The signatures are those of releases from 1.85 on, from
	// 1.69, from 1.59, of 1.58, and before.
	"google.golang.org/grpc": {
		grpcDefinition("any",
			rewrite.Insertion{Func: "(*Server).processRPC", Type: "func(context.Context, *transport.ServerStream, *serviceInfo, *StreamDesc, *traceInfo) error", Entry: "if ftraceSpans!=0{defer ftraceServes({p1}.Method(),{p0}).end(&{r0})};"}),
		grpcDefinition("any",
			rewrite.Insertion{Func: "(*Server).processUnaryRPC", Type: "func(context.Context, *transport.ServerStream, *serviceInfo, *MethodDesc, *traceInfo) error", Entry: "if ftraceSpans!=0{defer ftraceServes({p1}.Method(),{p0}).end(&{r0})};"},
			rewrite.Insertion{Func: "(*Server).processStreamingRPC", Type: "func(context.Context, *transport.ServerStream, *serviceInfo, *StreamDesc, *traceInfo) error", Entry: "if ftraceSpans!=0{defer ftraceServes({p1}.Method(),{p0}).end(&{r0})};"}),
		grpcDefinition("any",
			rewrite.Insertion{Func: "(*Server).processUnaryRPC", Type: "func(context.Context, transport.ServerTransport, *transport.Stream, *serviceInfo, *MethodDesc, *traceInfo) error", Entry: "if ftraceSpans!=0{defer ftraceServes({p2}.Method(),{p0}).end(&{r0})};"},
			rewrite.Insertion{Func: "(*Server).processStreamingRPC", Type: "func(context.Context, transport.ServerTransport, *transport.Stream, *serviceInfo, *StreamDesc, *traceInfo) error", Entry: "if ftraceSpans!=0{defer ftraceServes({p2}.Method(),{p0}).end(&{r0})};"}),
		grpcDefinition("any", grpcFirst...),
		grpcDefinition("interface{}", grpcFirst...),
	},
	// Of messages that are published, given to handlers, and returned. The signatures are those of
	// releases from 1.48 on, from 1.38, from 1.24, and from 1.12.
	"github.com/nats-io/nats.go": {
		natsDefinition(rewrite.Insertion{Type: "func(string, string, bool, []byte, []byte) error",
			Entry: "if ftraceSpans!=0&&{recv}!=nil{ftraced:=ftracePublishes({recv},{p0},{p3});defer ftraced.end(&{r0});{p3}=ftraced.carry({recv},{p3},len({p4}))};"}, natsIterates, natsBatch),
		natsDefinition(natsPublish, natsIterates, natsBatch),
		natsDefinition(natsPublish, natsBatch),
		natsDefinition(natsPublish),
	},
	// Messages of streams that are returned. The signatures are those of releases from 1.46 on, and
	// before.
	"github.com/nats-io/nats.go/jetstream": {jetstreamDefinition("...NextOpt"), jetstreamDefinition("")},
	// Records that are published, and those that are handed to the program. The signatures are
	// those of releases from 1.4 on, and before.
	"github.com/twmb/franz-go/pkg/kgo": {
		franzDefinition("produce", "func(context.Context, *Record, func(*Record, error), bool)"),
		franzDefinition("Produce", "func(context.Context, *Record, func(*Record, error))"),
	},
	// Messages that are published by calls, and those that a consumer's channel has.
	"github.com/IBM/sarama": {saramaDefinition},
	// A Writer's messages, and those that a Reader returns.
	"github.com/segmentio/kafka-go": {{
		files:  []string{"link/spanlinks.go", placeFile, "lib/kafka/messages.go", "lib/kafka/segmentio.go"},
		fields: []rewrite.Field{{Type: "Writer", Has: "BatchBytes"}, {Type: "Writer", Has: "Topic"}, {Type: "Message", Has: "Headers"}},
		insertions: []rewrite.Insertion{
			{Func: "(*Writer).WriteMessages", Type: "func(context.Context, ...Message) error",
				Entry: "if ftraceSpans!=0&&len({p1})>0{ftraced:=ftracePublishes({p0},{recv},{p1});defer ftraced.end(&{r0});{p1}=ftraced.carry({recv},{p1})};"},
			{Func: "(*Reader).FetchMessage", Type: "func(context.Context) (Message, error)", Exit: "if ftraceSpans!=0{ftraceReceives(&{r0},{r1})};"},
		},
	}},
	// The span that a context.Context has.
	"go.opentelemetry.io/otel/trace": {{
		files:      []string{placeFile, "lib/otel/span.go"},
		insertions: []rewrite.Insertion{{Func: "SpanContextFromContext", Type: "func(context.Context) SpanContext"}},
	}},
	// Spans that begin within a request.
	"go.opentelemetry.io/otel/sdk/trace": {{
		files: []string{placeFile, "lib/otel/sdk.go"},
		insertions: []rewrite.Insertion{
			{Func: "(*tracer).newSpan", Type: "func(context.Context, string, *trace.SpanConfig) trace.Span", Entry: "if ftracePropagate&&!{p2}.NewRoot(){{p0}=ftraceWithin({p0})};"},
		},
	}},
	"github.com/redis/go-redis/v9/internal/proto": {{
		files:  []string{"lib/redis/session.go", "lib/redis/proto.go"},
		fields: []rewrite.Field{{Type: "Writer", Has: "writer"}},
		insertions: []rewrite.Insertion{
			{Func: "(*Writer).WriteArgs", Type: "func([]interface{}) error",
				Entry: "var ftraced *ftraceTee;if ftraceProtocols!=0{ftraced=ftraceCommand({recv})};", Exit: "if ftraced!=nil{ftraced.wrote({recv},{p0},{r0})};"},
			{Func: "(*Reader).readLine", Type: "func() ([]byte, error)", Exit: "if ftraceProtocols!=0{ftraceLine({r0},{r1})};"},
		},
	}},
}

// definitionsOf returns the definitions of a package, which may be under a path of earlier
// releases.
func definitionsOf(importPath string) []definition {
	if importPath == "github.com/Shopify/sarama" { // before 1.40
		importPath = "github.com/IBM/sarama"
	}
	return definitions[importPath]
}

var (
	mysqlFiles  = []string{"lib/mysql/session.go", "lib/mysql/packets.go", "lib/mysql/text.go", "lib/mysql/statements.go"}
	mysqlFields = []rewrite.Field{{Type: "mysqlConn", Text: "ftrace *ftraceSession"}}
	mysqlWrite  = rewrite.Insertion{Func: "(*mysqlConn).writePacket", Type: "func([]byte) error",
		Entry: "ftraced:={recv}.ftrace;if ftraced!=nil{ftraced=ftraced.writing({p0})};", Exit: "if ftraced!=nil{ftraced.wrote({r0})};"}
)

var grpcFirst = []rewrite.Insertion{
	{Func: "(*Server).processUnaryRPC", Type: "func(transport.ServerTransport, *transport.Stream, *serviceInfo, *MethodDesc, *traceInfo) error", Entry: "if ftraceSpans!=0{defer ftraceServes({p1}.Method(),{p1}.Context()).end(&{r0})};"},
	{Func: "(*Server).processStreamingRPC", Type: "func(transport.ServerTransport, *transport.Stream, *serviceInfo, *StreamDesc, *traceInfo) error", Entry: "if ftraceSpans!=0{defer ftraceServes({p1}.Method(),{p1}.Context()).end(&{r0})};"},
}

// grpcDefinition is that of a release of gRPC, given how it spells the empty interface and how it
// serves calls. A call is made by a stream, too, so the context is given its headers there.
func grpcDefinition(empty string, serves ...rewrite.Insertion) definition {
	return definition{
		files: []string{"link/spanlinks.go", placeFile, "lib/grpc/spans.go"},
		insertions: append([]rewrite.Insertion{
			{Func: "invoke", Type: "func(context.Context, string, " + empty + ", " + empty + ", *ClientConn, ...CallOption) error",
				Entry: "if ftraceSpans!=0{defer ftraceMakes(ftraceClient,{p1},{p0}).end(&{r0})};"},
			{Func: "newClientStream", Type: "func(context.Context, *StreamDesc, *ClientConn, string, ...CallOption) (ClientStream, error)",
				Entry: "if ftraceSpans!=0{if {p1}!=unaryStreamDesc{defer ftraceMakes(ftraceStream,{p3},{p0}).end(&{r1})};{p0}=ftraceCarry({p0})};"},
		}, serves...),
	}
}

var (
	natsPublish = rewrite.Insertion{Type: "func(string, string, []byte, []byte) error",
		Entry: "if ftraceSpans!=0&&{recv}!=nil{ftraced:=ftracePublishes({recv},{p0},{p2});defer ftraced.end(&{r0});{p2}=ftraced.carry({recv},{p2},len({p3}))};"}
	natsIterates = rewrite.Insertion{Func: "(*Subscription).nextMsgNoTimeout", Type: "func() (*Msg, error)", Entry: natsReceives}
	natsBatch    = rewrite.Insertion{Func: "(*messageBatch).Messages", Type: "func() <-chan *Msg", Entry: "ftraceMark({recv}.msgs,ftraceTaken);"}
)

// franzDefinition is that of a release of franz-go, given the method that takes a record to be
// published.
func franzDefinition(name, typ string) definition {
	return definition{
		files:  []string{"link/spanlinks.go", placeFile, "lib/kafka/messages.go", "lib/kafka/franz.go"},
		fields: []rewrite.Field{{Type: "cfg", Has: "defaultProduceTopic"}, {Type: "Client", Has: "cfg"}, {Type: "Record", Has: "Headers"}},
		insertions: []rewrite.Insertion{
			{Func: "(*Client)." + name, Type: typ,
				Entry: "if ftraceSpans!=0&&{p1}!=nil{ftraced:=ftracePublishes({p0},{recv},{p1});defer ftraced.ended();{p1},{p2}=ftraced.carry({recv},{p1},{p2})};"},
			{Func: "(*Client).maxRecordBatchBytesForTopic", Type: "func(string) int32"},
			{Func: "(*FetchesRecordIter).Next", Type: "func() *Record", Exit: "if ftraceSpans!=0{ftraceReceives({r0})};"},
			{Func: "Fetches.Records", Type: "func() []*Record", Exit: "if ftraceSpans!=0{ftraceReceivesAll({r0})};"},
			{Func: "(*FetchTopicPartition).EachRecord", Type: "func(func(*Record))", Around: "fn(r)", Entry: "if ftraceSpans!=0{ftraceReceives(r)};"},
		},
	}
}

var saramaDefinition = definition{
	files:  []string{"link/spanlinks.go", "link/channels.go", placeFile, "lib/kafka/messages.go", "lib/kafka/sarama.go"},
	fields: []rewrite.Field{{Type: "syncProducer", Has: "producer"}, {Type: "asyncProducer", Has: "conf"}, {Type: "partitionConsumer", Has: "messages"}, {Type: "ConsumerMessage", Has: "Headers"}},
	insertions: []rewrite.Insertion{
		{Func: "(*syncProducer).SendMessage", Type: "func(*ProducerMessage) (int32, int64, error)",
			Entry: "if ftraceSpans!=0&&{p0}!=nil{ftraces:=[]*ProducerMessage{ {p0} };ftraced:=ftracePublishes(ftraces);defer ftraced.end(&{r2});defer ftraced.carry({recv}.producer.conf,ftraces)()};"},
		{Func: "(*syncProducer).SendMessages", Type: "func([]*ProducerMessage) error",
			Entry: "if ftraceSpans!=0&&len({p0})>0{ftraced:=ftracePublishes({p0});defer ftraced.end(&{r0});defer ftraced.carry({recv}.producer.conf,{p0})()};"},
		{Func: "(*partitionConsumer).Messages", Type: "func() <-chan *ConsumerMessage", Entry: "ftraceMark({recv}.messages,ftraceTaken);"},
	},
}

const natsReceives = "if ftraceSpans!=0{defer ftraceReceives({recv},&{r0})};"

// natsDefinition is that of a release of NATS's client, given how it publishes, and what else it
// has.
func natsDefinition(publish rewrite.Insertion, others ...rewrite.Insertion) definition {
	publish.Func = "(*Conn).publish"
	return definition{
		files:  []string{"link/spanlinks.go", "link/channels.go", placeFile, "lib/nats/receive.go", "lib/nats/spans.go"},
		fields: []rewrite.Field{{Type: "Options", Has: "InboxPrefix"}, {Type: "Conn", Has: "info"}, {Type: "Subscription", Has: "conn"}},
		insertions: append([]rewrite.Insertion{
			publish,
			{Func: "(*Conn).request", Type: "func(string, []byte, []byte, time.Duration) (*Msg, error)", Entry: "if ftraceSpans!=0&&{recv}!=nil{defer ftraceRequests({recv},{p0},nil).end(&{r1})};"},
			{Func: "(*Conn).requestWithContext", Type: "func(context.Context, string, []byte, []byte) (*Msg, error)", Entry: "if ftraceSpans!=0&&{recv}!=nil{defer ftraceRequests({recv},{p1},{p0}).end(&{r1})};"},
			{Func: "(*Conn).ChanSubscribe", Type: "func(string, chan *Msg) (*Subscription, error)", Entry: "ftraceMark({p1},ftraceTaken);"},
			{Func: "(*Conn).ChanQueueSubscribe", Type: "func(string, string, chan *Msg) (*Subscription, error)", Entry: "ftraceMark({p2},ftraceTaken);"},
			{Func: "(*Conn).QueueSubscribeSyncWithChan", Type: "func(string, string, chan *Msg) (*Subscription, error)", Entry: "ftraceMark({p2},ftraceTaken);"},
			{Func: "(*js).ChanSubscribe", Type: "func(string, chan *Msg, ...SubOpt) (*Subscription, error)", Entry: "ftraceMark({p1},ftraceTaken);"},
			{Func: "(*js).ChanQueueSubscribe", Type: "func(string, string, chan *Msg, ...SubOpt) (*Subscription, error)", Entry: "ftraceMark({p2},ftraceTaken);"},
			{Func: "(*Conn).waitForMsgs", Type: "func(*Subscription)", Around: "mcb(m)",
				Entry: "var ftraced ftraceMessage;if ftraceSpans!=0{ftraced=ftraceProcesses({recv},{p0},m)};", Exit: "ftraced.processed()"},
			{Func: "(*Subscription).NextMsg", Type: "func(time.Duration) (*Msg, error)", Entry: natsReceives},
			{Func: "(*Subscription).NextMsgWithContext", Type: "func(context.Context) (*Msg, error)", Entry: natsReceives},
			{Func: "(*Subscription).Fetch", Type: "func(int, ...PullOpt) ([]*Msg, error)", Entry: "if ftraceSpans!=0{defer ftraceFetches({recv},&{r0})};"},
		}, others...),
	}
}

// jetstreamDefinition is that of a release of package jetstream, given what Next of an iterator
// takes. Next of a consumer takes a message from the channel that Fetch makes.
func jetstreamDefinition(takes string) definition {
	return definition{
		files:  []string{"link/spanlinks.go", "link/channels.go", placeFile, "lib/nats/receive.go", "lib/nats/jetstream.go"},
		fields: []rewrite.Field{{Type: "fetchResult", Has: "msgs"}},
		insertions: []rewrite.Insertion{
			{Func: "(*pullSubscription).Next", Type: "func(" + takes + ") (Msg, error)", Entry: "if ftraceSpans!=0{defer ftraceReceives(&{r0})};"},
			{Func: "(*fetchResult).Messages", Type: "func() <-chan Msg", Entry: "ftraceMark({recv}.msgs,ftraceTaken);"},
		},
	}
}

// protocolSource declares type Args of package protocol for the core and the libraries, which can't
// import it.
var protocolSource = func() []byte {
	var b bytes.Buffer
	b.WriteString("package protocol\n\ntype Args struct {\n")
	for _, f := range reflect.VisibleFields(reflect.TypeFor[protocol.Args]()) {
		fmt.Fprintf(&b, "\t%s %s\n", f.Name, f.Type)
	}
	b.WriteString("}\n")
	return b.Bytes()
}()

// linksFile is in each package that follows a protocol: the links into the core.
const linksFile = "link/libraries.go"

// placeFile is in each package that has requests belong to a trace. It needs package tracecontext.
const placeFile = "link/place.go"

// define makes the package with this import path report its protocol's events, if it has the
// functions for that.
func define(importPath string, files []File) (changed map[int][]byte, added []File, err error) {
	var sources []rewrite.File
	for _, f := range files {
		sources = append(sources, rewrite.File{Name: f.Name, Source: f.Source})
	}
	changed = map[int][]byte{}
	var missing []string
	var made *definition
	known := definitionsOf(importPath)
	for i, d := range known {
		texts, lacks, err := rewrite.Insert(sources, d.insertions, d.fields)
		if err != nil {
			return nil, nil, err // the compiler words it best
		}
		if lacks != nil {
			missing = append(missing, lacks...)
			continue
		}
		for i, text := range texts {
			if text != nil {
				changed[i] = text
			}
		}
		made = &known[i]
		break
	}
	pkg := packageName(files)
	define := File{Name: "ftrace_define.go"}
	if made == nil {
		define.Source = defining(pkg, "package "+importPath+version(importPath, files)+" is not one that this ftrace-wrap knows ("+reasons(missing)+"): what it says to its servers is not traced")
		return changed, []File{define}, nil
	}
	lacks := ""
	if missing != nil {
		lacks = "package " + importPath + version(importPath, files) + " is not quite one that this ftrace-wrap knows (" + reasons(missing) + "): what its packets tell is traced, and no more"
	}
	define.Source = defining(pkg, lacks)
	args, err := renamed(protocolSource, pkg, "ftrace")
	if err != nil {
		return nil, nil, fmt.Errorf("package protocol: %v", err)
	}
	for _, name := range append([]string{linksFile}, made.files...) {
		f, err := embedded(name)
		if err != nil {
			return nil, nil, err
		}
		f.Source = into(f.Source, pkg)
		added = append(added, f)
	}
	if slices.Contains(made.files, placeFile) {
		context, err := traceContext(pkg)
		if err != nil {
			return nil, nil, err
		}
		added = append(added, context)
	}
	text, err := sqlText(pkg)
	if err != nil {
		return nil, nil, err
	}
	return changed, append(added, File{Name: "ftrace_args.go", Source: args}, text, define), nil
}

// defining returns a file that tells the core, when the package is initialised, what can't be
// traced. It adds no package variable that others could wait for.
func defining(pkg, missing string) []byte {
	return fmt.Appendf(nil, `package %s

import _ "unsafe" // for go:linkname

//go:linkname ftraceDefine runtime.ftrace_protocol_define
func ftraceDefine(missing string) bool

var _ = ftraceDefine(%q)
`, pkg, missing)
}

// reasons lists what is missing, each once.
func reasons(missing []string) string {
	slices.Sort(missing)
	return strings.Join(slices.Compact(missing), ", ")
}

var versionInPath = words.Regexp(`@(v[0-9][^/\\]*)`)

// version returns " v1.2.3" if the names of the package's files show it, as they do in the module
// cache.
func version(importPath string, files []File) string {
	for _, f := range files {
		if m := versionInPath().FindAllStringSubmatch(path.Dir(strings.ReplaceAll(f.Name, `\`, "/")), -1); m != nil {
			return " " + m[len(m)-1][1]
		}
	}
	return ""
}

// packageName returns the name in the package clauses.
func packageName(files []File) string {
	for _, f := range files {
		if m := packageClause().FindSubmatch(f.Source); m != nil {
			return string(m[1])
		}
	}
	return ""
}

var packageClause = words.Regexp(`(?m)^package\s+(\w+)`)
