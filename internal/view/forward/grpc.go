package forward

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// byGRPC sends by OTLP/gRPC (https://opentelemetry.io/docs/specs/otlp/#otlpgrpc), with the messages
// that byHTTP sends.
type byGRPC struct {
	connection *grpc.ClientConn
	method     string
	header     metadata.MD
}

// newGRPC returns what sends to the host of an address, by a method: of scheme grpcs by TLS, of
// grpc without.
func newGRPC(to *url.URL, header http.Header, method string) (*byGRPC, error) {
	c := &byGRPC{method: method, header: metadata.MD{}}
	for name, values := range header {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "grpc-") || strings.ContainsFunc(name, func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
		}) {
			return nil, fmt.Errorf("a header named %s can't be sent by gRPC", name)
		}
		for _, v := range values {
			if !strings.HasSuffix(name, "-bin") && strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' }) {
				return nil, fmt.Errorf("the value of the header %s can't be sent by gRPC: it is not ASCII", name)
			}
		}
		c.header[name] = values
	}
	secure := insecure.NewCredentials()
	if to.Scheme == "grpcs" {
		secure = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	host := to.Host
	if to.Port() == "" {
		host += ":4317"
	}
	pauses := backoff.DefaultConfig
	pauses.MaxDelay = maxPause
	var err error
	c.connection, err = grpc.NewClient(host,
		grpc.WithTransportCredentials(secure),
		grpc.WithUserAgent("ftrace"),
		grpc.WithDisableServiceConfig(),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: pauses, MinConnectTimeout: answerTimeout}),
		grpc.WithDefaultCallOptions(grpc.UseCompressor(gzip.Name), grpc.MaxCallRecvMsgSize(maxAnswer)))
	return c, err
}

func (c *byGRPC) close() { c.connection.Close() }

func (c *byGRPC) prepare(batch proto.Message) (func(context.Context) (answer, error), error) {
	return func(ctx context.Context) (a answer, err error) {
		ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(ctx, c.header), answerTimeout)
		defer cancel()
		var said tracecollector.ExportTraceServiceResponse
		s := status.Convert(c.connection.Invoke(ctx, c.method, batch, &said))
		a.status, a.message = s.Code().String(), s.Message()
		switch s.Code() {
		case codes.OK:
			a.refused, a.message = partial(&said)
		case codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.OutOfRange, codes.Unavailable, codes.DataLoss: // as the specification has it
			_, a.after = pauseOf(s)
			a.again = true
		case codes.ResourceExhausted: // it is too large, unless the receiver says when to send it again
			if a.again, a.after = pauseOf(s); !a.again {
				a.refused = ^uint64(0)
			}
		case codes.Unimplemented:
			a.unknown = true
		case codes.Unauthenticated, codes.PermissionDenied:
			a.never = true
		default:
			a.refused = ^uint64(0)
		}
		return a, nil
	}, nil
}

// pauseOf returns how long a receiver asks to wait before the same is sent again, and whether it
// asks for that.
func pauseOf(s *status.Status) (asks bool, pause time.Duration) {
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return true, min(info.GetRetryDelay().AsDuration(), time.Hour)
		}
	}
	return false, 0
}
