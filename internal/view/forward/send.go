package forward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
)

// A sender sends batches of a signal, of all recordings, one at a time: if the receiver is killed
// it may have taken that one without an answer.
type sender struct {
	Destination
	pause   time.Duration // the first one between two attempts
	channel channel

	turn    sync.Mutex
	silent  bool  // nobody answers
	refuses error // what there is to say of a receiver that will never take any
}

// errNotReceived is that nobody receives a signal that is optional.
var errNotReceived = errors.New("nobody receives it")

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
	s := &sender{Destination: to, pause: o.pause}
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
func (s *sender) send(ctx context.Context, batch proto.Message, n int, tell func(format string, args ...any)) (refused uint64, err error) {
	once, err := s.channel.prepare(batch)
	if err != nil {
		return 0, err
	}
	longer, cancel := outlive(ctx, lastAnswer)
	defer cancel()
	for pause := s.pause; ; pause = min(2*pause, maxPause) {
		again, after, refused, err := s.try(ctx, longer, once, uint64(n), tell)
		if !again {
			return refused, err
		}
		wait := time.NewTimer(max(pause, after))
		select {
		case <-ctx.Done():
			wait.Stop()
			return 0, ctx.Err()
		case <-wait.C:
		}
	}
}

// try sends a batch once when it is its turn. It reports whether, and when at the earliest, that is
// to be done again.
func (s *sender) try(ctx, longer context.Context, once func(context.Context) (answer, error), n uint64, tell func(format string, args ...any)) (again bool, after time.Duration, refused uint64, err error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	if err := cmp.Or(ctx.Err(), s.refuses); err != nil {
		return false, 0, 0, err
	}
	answer, err := once(longer)
	if err == nil && answer.again {
		err = errors.New(answer.text())
	}
	switch {
	case ctx.Err() != nil && err != nil:
		return false, 0, 0, ctx.Err()
	case err != nil:
		if !s.silent {
			s.silent = true
			tell("%v: it is tried again until it works", s.hide(err.Error()))
		}
		return true, answer.after, 0, nil
	case answer.unknown && s.Optional:
		s.refuses = errNotReceived
		tell("no %s are sent: %s does not receive any, it answers %s", s.Signal.many, s.shown(), s.hide(answer.text()))
		return false, 0, 0, s.refuses
	case answer.never || answer.unknown:
		s.refuses = fmt.Errorf("%s answers %s: is that where %s are received, and what -header says right?", s.shown(), s.hide(answer.text()), s.Signal.many)
		return false, 0, 0, s.refuses
	}
	refused = min(answer.refused, n)
	if refused > 0 {
		tell("%s: %s", words(refused, s.Signal.one+" was refused", s.Signal.many+" were refused"), s.hide(answer.text()))
	}
	if s.silent {
		s.silent = false
		tell("%s answers again", s.shown())
	}
	return false, 0, refused, nil
}

// refused returns why no batch will ever be taken, nil if one may.
func (s *sender) refused() error {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.refuses
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
	never           bool          // it is about who sends, or the address
	unknown         bool          // the address is none where the signal is received
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
	u, err := url.Parse(s.To)
	if err != nil {
		return "?"
	}
	return u.Redacted()
}

// hide returns a text without the values of headers, which can be tokens.
func (s *sender) hide(text string) string {
	for _, values := range s.Header {
		for _, v := range values {
			if v != "" {
				text = strings.ReplaceAll(text, v, "***")
			}
		}
	}
	return text
}
