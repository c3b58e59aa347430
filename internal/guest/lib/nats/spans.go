//go:build ftrace_core && go1.24

// This file is added to package github.com/nats-io/nats.go. It tells the core of messages that are
// published, handled and received, and has them belong to a trace, with FTRACE_PROPAGATE.

package definition

import (
	"strings"
	"unsafe"
)

const (
	ftraceRequest = "stage/nats/request" // a message is published, and its answer awaited
	ftracePublish = "stage/nats/publish" // a message is given to the connection
	ftraceProcess = "stage/nats/process" // a handler is called with one
)

var _ = func() bool {
	ftraceDeclareMessages(ftraceRequest, "err!", "(error)")
	ftraceDeclareMessages(ftracePublish, "err!", "(error)")
	ftraceDeclareMessages(ftraceProcess, "", "")
	return true
}()

// ftracePublishes is called by the function that publishes messages, given the header as it is
// sent. end is called when it returns.
//
//go:noinline
func ftracePublishes(nc *Conn, subject string, header []byte) (m ftraceMessage) {
	if ftraceReserved(nc, subject) {
		return m
	}
	if ftracePropagate {
		m.ftracePlace = ftraceSent(nil, func(c *ftrace_tracecontext_Context) []string { return ftraceTraceparent(header, c) })
	}
	span, parent, n := m.recorded()
	m.token, m.number = ftraceBeginSpan(ftracePublish, ftracePattern(subject), subject, []any{subject, span, parent}[:n]...)
	m.enter(m.token != 0)
	return m
}

// ftraceRequests is called by the functions that make a request. The message that they publish
// belongs to it. ctx is their context.Context, or nil. end is called when they return.
//
//go:noinline
func ftraceRequests(nc *Conn, subject string, ctx any) (m ftraceMessage) {
	if ftraceReserved(nc, subject) {
		return m
	}
	if ftracePropagate {
		m.ftracePlace = ftraceSent(ctx, func(*ftrace_tracecontext_Context) []string { return nil })
	}
	span, parent, n := m.recorded()
	m.token, m.number = ftraceBeginSpan(ftraceRequest, ftracePattern(subject), subject, []any{subject, span, parent}[:n]...)
	m.enter(m.token != 0)
	return m
}

func (m ftraceMessage) end(err *error) {
	m.leave()
	ftraceEndSpan(m.token, m.number, 0, *err, err)
}

// ftraceProcesses is called by the function that calls the handler of a subscription. processed is
// called when the handler returns.
//
//go:noinline
func ftraceProcesses(nc *Conn, sub *Subscription, msg *Msg) (m ftraceMessage) {
	if ftraceReserved(nc, msg.Subject) {
		return m
	}
	if ftracePropagate {
		// That of the goroutine that subscribed has nothing to do with it.
		ftraceSetTrace(nil)
		h := msg.Header
		m.ftracePlace = ftraceReceived(nil, ftraceValues(h, "traceparent"), ftraceValues(h, "tracestate"), ftraceValues(h, "baggage"))
	}
	pattern := sub.Subject
	if ftraceReserved(nc, pattern) { // JetStream sends all to an inbox
		pattern = msg.Subject
	}
	span, parent, n := m.recorded()
	m.token, m.number = ftraceBeginSpan(ftraceProcess, ftracePattern(pattern), msg.Subject, []any{msg.Subject, span, parent}[:n]...)
	m.enter(m.token != 0)
	return m
}

func (m ftraceMessage) processed() {
	m.leave()
	ftraceEndSpan(m.token, m.number, 0, nil)
}

// ftraceReceives is called when a function returns a message of a subscription, nil if there is
// none.
//
//go:noinline
func ftraceReceives(sub *Subscription, msg **Msg) {
	if *msg != nil && !ftraceReserved(sub.conn, (*msg).Subject) { // an answer belongs to who has asked
		ftraceTakes((*msg).Subject, (*msg).Header)
	}
}

// ftraceFetches is called when a function returns several.
//
//go:noinline
func ftraceFetches(sub *Subscription, messages *[]*Msg) {
	for i := range *messages {
		ftraceReceives(sub, &(*messages)[i])
	}
}

// ftraceTaken is called when a goroutine has received a message from a channel. One that the
// program itself has sent there is of no subscription.
//
//go:noinline
func ftraceTaken(at unsafe.Pointer) {
	if msg := *(**Msg)(at); msg != nil && msg.Sub != nil {
		ftraceReceives(msg.Sub, &msg)
	}
}

// ftraceReserved reports whether a subject is one by which NATS itself speaks, JetStream's for
// instance, or that of an answer.
func ftraceReserved(nc *Conn, subject string) bool {
	own := nc.Opts.InboxPrefix
	return strings.HasPrefix(subject, "$") || strings.HasPrefix(subject, InboxPrefix) || own != "" && strings.HasPrefix(subject, own+".")
}

// ftraceTraceparent returns what the program itself has set as traceparent. c is what is around the
// message. To pass on what was received is not to set one.
func ftraceTraceparent(header []byte, c *ftrace_tracecontext_Context) (values []string) {
	for line := range strings.SplitSeq(string(header), crlf) {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "traceparent") {
			values = append(values, strings.TrimSpace(value))
		}
	}
	if c != nil && len(values) == 1 && c.PassesOn(values[0]) {
		return nil
	}
	return values
}

// carry returns the header by which a message is sent: with the trace, unless the program has set a
// traceparent, or the server would not take it. size is that of what follows the header.
func (m ftraceMessage) carry(nc *Conn, header []byte, size int) []byte {
	c := ftraceTrace()
	if m.own == nil || c == nil || ftraceTraceparent(header, c) != nil {
		return header
	}
	parent, state, baggage, before := "traceparent", c.State, c.Baggage, hdrLine
	if len(header) > 0 {
		before = strings.TrimSuffix(string(header), crlf)
	}
	with := make([]byte, 0, len(before)+len(c.Header)+len(state)+len(baggage)+64)
	for line := range strings.SplitAfterSeq(before, crlf) {
		switch name, _, _ := strings.Cut(line, ":"); {
		case strings.EqualFold(name, "traceparent"):
			parent = name // who receives it may ask for that
			continue
		case strings.EqualFold(name, "tracestate"):
			state = ""
		case strings.EqualFold(name, "baggage"):
			baggage = ""
		}
		with = append(with, line...)
	}
	for _, field := range [...][2]string{{parent, c.Header}, {"tracestate", state}, {"baggage", baggage}} {
		if field[1] != "" {
			with = append(append(append(append(with, field[0]...), ": "...), field[1]...), crlf...)
		}
	}
	with = append(with, crlf...)
	nc.mu.RLock()
	defer nc.mu.RUnlock()
	// What is sent when the connection is back may go to a server that takes no headers.
	if !nc.info.Headers || nc.isReconnecting() || int64(len(with)+size) > nc.info.MaxPayload {
		return header
	}
	return with
}
