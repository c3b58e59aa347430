package forward

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A grpcReceiver takes spans by gRPC, or answers as answer says to the nth request.
type grpcReceiver struct {
	tracecollector.UnimplementedTraceServiceServer
	t       *testing.T
	lock    sync.Mutex
	n       int
	got     map[string]*tracepb.Span
	refused map[string]bool
	answer  func(ctx context.Context, n int) error
}

func (v *grpcReceiver) Export(ctx context.Context, r *tracecollector.ExportTraceServiceRequest) (*tracecollector.ExportTraceServiceResponse, error) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.n++
	if header, _ := metadata.FromIncomingContext(ctx); !slices.Equal(header.Get("api-key"), []string{"hunter2"}) || !strings.HasPrefix(header.Get("user-agent")[0], "ftrace ") {
		v.t.Errorf("headers are %v", header)
	}
	spans := r.ResourceSpans[0].ScopeSpans[0].Spans
	err := v.answer(ctx, v.n)
	switch status.Code(err) {
	case codes.OK:
	case codes.InvalidArgument:
		for _, s := range spans {
			v.refused[string(s.SpanId)] = true
		}
		fallthrough
	default:
		return nil, err
	}
	said := &tracecollector.ExportTraceServiceResponse{}
	if v.n%5 == 0 {
		v.refused[string(spans[0].SpanId)] = true
		spans = spans[1:]
		said.PartialSuccess = &tracecollector.ExportTracePartialSuccess{RejectedSpans: 1, ErrorMessage: "too old"}
	}
	for _, s := range spans {
		if v.got[string(s.SpanId)] != nil {
			v.t.Errorf("%x came twice", s.SpanId)
		}
		v.got[string(s.SpanId)] = s
	}
	return said, nil
}

// serveGRPC begins to serve at an address.
func serveGRPC(t *testing.T, v *grpcReceiver, address string) (*grpc.Server, string) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	tracecollector.RegisterTraceServiceServer(server, v)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return server, listener.Addr().String()
}

// TestForwardGRPC: by gRPC spans arrive once, too, whatever receivers answer, and also if this end
// is ended meanwhile.
func TestForwardGRPC(t *testing.T) {
	from, want := madeUp(t, viewtest.MadeUp(t))
	v := &grpcReceiver{t: t, got: map[string]*tracepb.Span{}, refused: map[string]bool{}}
	var asked time.Time
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	later, err := status.New(codes.ResourceExhausted, "later").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(300 * time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	v.answer = func(_ context.Context, n int) error {
		if !asked.IsZero() {
			if early := time.Until(asked.Add(300 * time.Millisecond)); early > 0 {
				t.Errorf("a request came %v early", early)
			}
			asked = time.Time{}
		}
		switch n {
		case 2:
			return status.Error(codes.Unavailable, "it begins")
		case 4:
			asked = time.Now()
			return later.Err()
		case 6:
			return status.Error(codes.InvalidArgument, "what is that")
		case 8:
			cancel()
			return status.Error(codes.Aborted, "again")
		}
		return nil
	}
	_, address := serveGRPC(t, v, "127.0.0.1:0")
	o := options("grpc://" + address)
	o.Send[0].To = "grpc://" + address
	var out, warn bytes.Buffer
	if err := Recordings(ctx, []walk.Source{from}, o, &out, &warn); err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("%v: %s", err, &out)
	}
	if err := Recordings(t.Context(), []walk.Source{from}, o, &out, &warn); err != nil {
		t.Fatal(err)
	}
	for id, s := range want {
		if got := v.got[id]; !v.refused[id] && !proto.Equal(got, s) {
			t.Fatalf("got %v, want %v", got, s)
		}
	}
	p := positionOf(t, from)
	if !p.Done || p.Sent != uint64(len(v.got)) || p.Refused != uint64(len(v.refused)) || len(v.got)+len(v.refused) != len(want) {
		t.Errorf("%d spans came and %d were refused of %d: %+v", len(v.got), len(v.refused), len(want), p)
	}
	for _, told := range []string{"Unavailable: it begins: it is tried again", "InvalidArgument: what is that", "1 span was refused: OK: too old", "answers again"} {
		if !strings.Contains(warn.String(), told) {
			t.Errorf("%q is not in %s", told, &warn)
		}
	}
}

// TestForwardGRPCRestart: a receiver that ends, and comes back, gets the rest.
func TestForwardGRPCRestart(t *testing.T) {
	from, want := madeUp(t, viewtest.Deep(t, filepath.Join(t.TempDir(), "deep"), 3000, 2000))
	v := &grpcReceiver{t: t, got: map[string]*tracepb.Span{}, refused: map[string]bool{}}
	stop := make(chan bool)
	v.answer = func(ctx context.Context, n int) error {
		if n == 2 {
			close(stop)
			<-ctx.Done() // no other request is under way then
			return status.Error(codes.Unavailable, "it ends")
		}
		return nil
	}
	server, address := serveGRPC(t, v, "127.0.0.1:0")
	ended := make(chan error, 1)
	o := options("")
	o.Send[0].To = "grpc://" + address
	go func() { ended <- Recordings(t.Context(), []walk.Source{from}, o, &bytes.Buffer{}, &bytes.Buffer{}) }()
	<-stop
	server.Stop()
	serveGRPC(t, v, address)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if len(v.got)+len(v.refused) != len(want) {
		t.Errorf("%d spans came and %d were refused of %d", len(v.got), len(v.refused), len(want))
	}
}

// TestForwardGRPCRefused: where nothing will ever be received nothing counts as sent, and no
// message has a token. Headers that gRPC does not have are said to be so.
func TestForwardGRPCRefused(t *testing.T) {
	from, _ := madeUp(t, workers(t))
	v := &grpcReceiver{t: t}
	_, address := serveGRPC(t, v, "127.0.0.1:0")
	send := func(header http.Header) (string, error) {
		o := options("")
		o.Send[0].To, o.Send[0].Header, o.Positions = "grpc://"+address, header, t.TempDir()
		var out bytes.Buffer
		err := Recordings(t.Context(), []walk.Source{from}, o, &out, &out)
		return out.String(), err
	}
	for _, code := range []codes.Code{codes.Unauthenticated, codes.PermissionDenied, codes.Unimplemented} {
		v.answer = func(context.Context, int) error { return status.Error(code, "not with hunter2") }
		out, err := send(http.Header{"Api-Key": {"hunter2"}})
		if err == nil || !strings.Contains(err.Error(), code.String()+": not with ***") || !strings.Contains(out, "0 spans were sent") {
			t.Errorf("%v: %v: %s", code, err, out)
		}
	}
	for name, value := range map[string]string{"Grpc-Timeout": "1", "A+b": "1", "Key": "hüter"} {
		if _, err := send(http.Header{name: {value}}); err == nil || !strings.Contains(err.Error(), "can't be sent by gRPC") || strings.Contains(err.Error(), "hüter") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
