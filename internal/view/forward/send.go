package forward

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A sender sends batches of spans by OTLP/HTTP
// (https://opentelemetry.io/docs/specs/otlp/#otlphttp). A message of type TracesData is a request:
// it has the fields of ExportTraceServiceRequest.
type sender struct {
	to     string
	header http.Header
	client *http.Client
	pause  time.Duration // the first one between two attempts
	tell   func(format string, args ...any)
}

const (
	answerWithin = 10 * time.Second // as OTEL_EXPORTER_OTLP_TIMEOUT is without being set
	pauseMost    = 30 * time.Second
	answerMost   = 64 << 10 // bytes of an answer that are read
)

func newSender(o Options) *sender {
	return &sender{to: o.To, header: o.Header, pause: o.pause, tell: o.tell, client: &http.Client{
		Timeout:       answerWithin,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // tokens are for who was named
	}}
}

// send sends a batch until there is an answer. It returns how many of the spans were refused.
// Errors say that all others would be refused too, or that the context has ended.
func (s *sender) send(ctx context.Context, batch *tracepb.TracesData, spans int) (refused uint64, err error) {
	plain, err := proto.Marshal(batch)
	if err != nil {
		return 0, err
	}
	var body bytes.Buffer
	z := gzip.NewWriter(&body)
	z.Write(plain)
	z.Close()
	told := false
	for pause := s.pause; ; pause = min(2*pause, pauseMost) {
		answer, err := s.once(ctx, body.Bytes())
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err == nil && answer.again:
			err = errors.New(answer.status)
			fallthrough
		case err != nil:
			if !told {
				told = true
				s.tell("%v: it is tried again until it works", s.hide(err.Error()))
			}
			wait := time.NewTimer(max(pause, answer.after))
			select {
			case <-ctx.Done():
				wait.Stop()
				return 0, ctx.Err()
			case <-wait.C:
			}
			continue
		case answer.never:
			return 0, fmt.Errorf("%s answers %s: is that where spans are received, and what -header says right?", s.shown(), s.hide(answer.text()))
		case answer.refused > 0:
			s.tell("%s: %s", words(min(answer.refused, uint64(spans)), "span was refused", "spans were refused"), s.hide(answer.text()))
		}
		if told {
			s.tell("%s answers again", s.shown())
		}
		return min(answer.refused, uint64(spans)), nil
	}
}

// An answer is what there is to know of a response.
type answer struct {
	status, message string
	again           bool          // the same can be sent again
	after           time.Duration // at the earliest
	never           bool          // it is about the address, or who sends
	refused         uint64
}

func (a answer) text() string {
	if a.message == "" {
		return a.status
	}
	return a.status + ": " + a.message
}

// once sends a batch.
func (s *sender) once(ctx context.Context, body []byte) (a answer, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.to, bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	r.Header = s.header.Clone()
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "ftrace")
	response, err := s.client.Do(r)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, answerMost))
	a.status = response.Status
	switch code := response.StatusCode; {
	case code/100 == 2:
		if err != nil { // it may not have been received
			return a, err
		}
		a.refused, a.message = partial(text)
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		a.again, a.after = true, retryAfter(response.Header.Get("Retry-After"), time.Now())
	case code/100 == 3, code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound, code == http.StatusMethodNotAllowed:
		a.never, a.message = true, response.Header.Get("Location")
	default:
		a.refused, a.message = ^uint64(0), status(text)
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

// fields calls f with the fields of a message.
func fields(b []byte, f func(number protowire.Number, n uint64, text []byte)) {
	for len(b) > 0 {
		number, typ, size := protowire.ConsumeTag(b)
		if size < 0 {
			return
		}
		b = b[size:]
		var n uint64
		var text []byte
		switch typ {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			text, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(number, typ, b)
		}
		if size < 0 {
			return
		}
		b = b[size:]
		f(number, n, text)
	}
}

// partial returns how many spans an ExportTraceServiceResponse says were refused, and why. That
// type is in a package that comes with gRPC.
func partial(response []byte) (refused uint64, why string) {
	fields(response, func(number protowire.Number, _ uint64, text []byte) {
		if number == 1 { // partial_success
			fields(text, func(number protowire.Number, n uint64, text []byte) {
				switch number {
				case 1: // rejected_spans
					refused = n
				case 2: // error_message
					why = string(text)
				}
			})
		}
	})
	return refused, why
}

// status returns the message of a google.rpc.Status, which answers have that are errors.
func status(response []byte) (message string) {
	fields(response, func(number protowire.Number, _ uint64, text []byte) {
		if number == 2 {
			message = string(text)
		}
	})
	return message
}

// shown returns the address without a password.
func (s *sender) shown() string {
	u, err := url.Parse(s.to)
	if err != nil {
		return "?"
	}
	return u.Redacted()
}

// hide returns a text without the values of headers, which can be tokens.
func (s *sender) hide(text string) string {
	for _, values := range s.header {
		for _, v := range values {
			if v != "" {
				text = strings.ReplaceAll(text, v, "***")
			}
		}
	}
	return text
}
