package forward

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	tracecollector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
)

// byHTTP sends by OTLP/HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp). A message of type
// TracesData is a request: it has the fields of ExportTraceServiceRequest. So it is for the other
// signals. Their answers differ from that to spans in names alone.
type byHTTP struct {
	to     string
	header http.Header
	client *http.Client
}

// maxAnswer is how many bytes of an answer are read.
const maxAnswer = 64 << 10

func newHTTP(to string, header http.Header) *byHTTP {
	return &byHTTP{to, header, &http.Client{
		Timeout:       answerTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // tokens are for who was named
	}}
}

func (c *byHTTP) prepare(batch proto.Message) (func(context.Context) (answer, error), error) {
	plain, err := proto.Marshal(batch)
	if err != nil {
		return nil, err
	}
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	z.Write(plain)
	z.Close()
	return func(ctx context.Context) (answer, error) { return c.post(ctx, body.Bytes()) }, nil
}

func (c *byHTTP) close() { c.client.CloseIdleConnections() }

// post sends a body.
func (c *byHTTP) post(ctx context.Context, body []byte) (a answer, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.to, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	r.Header = c.header.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "ftrace")
	response, err := c.client.Do(r)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	a.status = response.Status
	switch code := response.StatusCode; {
	case code/100 == 2:
		if err != nil { // it may not have been received
			return a, err
		}
		var said tracecollector.ExportTraceServiceResponse
		proto.Unmarshal(text, &said) // what is no such message says nothing
		a.refused, a.message = partial(&said)
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		a.again, a.after = true, retryAfter(response.Header.Get("Retry-After"), time.Now())
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		a.unknown = true
	case code/100 == 3, code == http.StatusUnauthorized, code == http.StatusForbidden:
		a.never, a.message = true, response.Header.Get("Location")
	default:
		var said statuspb.Status
		proto.Unmarshal(text, &said)
		a.refused, a.message = ^uint64(0), said.Message
	}
	return a, nil
}

// retryAfter reads the header of that name: seconds, or a time.
func retryAfter(text string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		return min(time.Duration(n), 3600) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(at.Sub(now), time.Hour)
	}
	return 0
}

// partial returns how many spans, lines or points an answer says were refused, and why.
func partial(said *tracecollector.ExportTraceServiceResponse) (refused uint64, why string) {
	return uint64(max(said.GetPartialSuccess().GetRejectedSpans(), 0)), said.GetPartialSuccess().GetErrorMessage()
}
