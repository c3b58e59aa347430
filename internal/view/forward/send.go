package forward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
)

// A sender sends batches of a signal.
type sender struct {
	signal  *Signal
	to      string
	header  http.Header
	pause   time.Duration // the first one between two attempts
	tell    func(format string, args ...any)
	channel channel
}

// A channel is a protocol by which batches are sent.
type channel interface {
	// prepare returns what sends a batch, once.
	prepare(batch proto.Message) (func(context.Context) (answer, error), error)
	close()
}

const (
	answerTimeout = 10 * time.Second // as OTEL_EXPORTER_OTLP_TIMEOUT is without being set
	maxPause      = 30 * time.Second
	lastAnswer    = 2 * time.Second // to what is on its way when the forwarding is ended
)

// newSender returns what sends to an address: of scheme grpc or grpcs by gRPC, else by HTTP.
func newSender(to Destination, o Options) (*sender, error) {
	s := &sender{signal: to.Signal, to: to.To, header: to.Header, pause: o.pause, tell: o.tell}
	u, err := url.Parse(to.To)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "grpc" || u.Scheme == "grpcs" {
		s.channel, err = newGRPC(u, to.Header, to.Signal.method)
	} else {
		s.channel = newHTTP(to.To, to.Header)
	}
	return s, err
}

// send sends a batch of n spans, lines or points until there is an answer. It returns how many of
// these were refused. Errors say that all others would be refused too, or that the context has
// ended. A batch that is on its way then is still waited for, but not for long: without its answer
// it would be sent again.
func (s *sender) send(ctx context.Context, batch proto.Message, n int) (refused uint64, err error) {
	once, err := s.channel.prepare(batch)
	if err != nil {
		return 0, err
	}
	longer, cancel := outlive(ctx, lastAnswer)
	defer cancel()
	told := false
	for pause := s.pause; ; pause = min(2*pause, maxPause) {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		answer, err := once(longer)
		switch {
		case ctx.Err() != nil && (err != nil || answer.again):
			return 0, ctx.Err()
		case err == nil && answer.again:
			err = errors.New(answer.text())
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
			return 0, fmt.Errorf("%s answers %s: is that where %s are received, and what -header says right?", s.shown(), s.hide(answer.text()), s.signal.many)
		case answer.refused > 0:
			s.tell("%s: %s", words(min(answer.refused, uint64(n)), s.signal.one+" was refused", s.signal.many+" were refused"), s.hide(answer.text()))
		}
		if told {
			s.tell("%s answers again", s.shown())
		}
		return min(answer.refused, uint64(n)), nil
	}
}

// outlive returns a context that ends some time after another one has ended.
func outlive(ctx context.Context, by time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, cancel) })
	return longer, func() {
		stop()
		cancel()
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
