//go:build ftrace_core && go1.24

// This file is added to the packages of NATS's client: to nats.go, and to jetstream within it. It
// tells the core of messages that a program takes itself, by calls that return them.

package definition

import "strings"

const ftraceReceive = "stage/nats/receive" // a call returns a message

var _ = func() bool {
	ftraceDeclareMessages(ftraceReceive, "", "")
	return true
}()

// ftraceDeclareMessages declares what is done with messages, given its results' names and types.
func ftraceDeclareMessages(family, results, types string) {
	if ftracePropagate {
		ftraceDeclareSpan(family, "other", "subject,span,parent;"+results+";func(string,string,string)"+types)
	} else {
		ftraceDeclareSpan(family, "other", "subject;"+results+";func(string)"+types)
	}
}

// An ftraceMessage is a message that is published, handled or received.
type ftraceMessage struct {
	ftraceSpan
	ftracePlace
}

// ftraceTakes is called before a message is returned. What its goroutine does from then on belongs
// to it, until it takes the next one.
func ftraceTakes(subject string, header map[string][]string) {
	var m ftraceMessage
	if ftracePropagate {
		ftraceSetTrace(nil) // that of the message before has nothing to do with it
		m.ftracePlace = ftraceReceived(nil, ftraceValues(header, "traceparent"), ftraceValues(header, "tracestate"), ftraceValues(header, "baggage"))
	}
	span, parent, n := m.recorded()
	m.token, m.number = ftraceBeginSpan(ftraceReceive, ftracePattern(subject), subject, []any{subject, span, parent}[:n]...)
	m.enter(m.token != 0)
	ftraceEndSpan(m.token, m.number, 0, nil)
}

// ftracePattern returns a subject with asterisks in place of what looks like an identifier: what is
// longer than a word, or has a number of several digits in it.
func ftracePattern(subject string) string {
	tokens := strings.Split(subject, ".")
	for i, token := range tokens {
		digits := 0
		for j := range len(token) {
			if '0' <= token[j] && token[j] <= '9' {
				digits++
			}
		}
		if digits > 1 || len(token) > 20 {
			tokens[i] = "*"
		}
	}
	return strings.Join(tokens, ".")
}

// ftraceValues returns the values of a header, in whatever case its name is.
func ftraceValues(h map[string][]string, name string) (values []string) {
	for key, v := range h {
		if strings.EqualFold(key, name) {
			values = append(values, v...)
		}
	}
	return values
}
