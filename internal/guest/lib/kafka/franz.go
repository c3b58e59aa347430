//go:build ftrace_core && go1.23

// This file is added to package github.com/twmb/franz-go/pkg/kgo, with messages.go.

package definition

type ftraceHeader = RecordHeader

func ftraceNewHeader(key, value string) ftraceHeader {
	return ftraceHeader{Key: key, Value: []byte(value)}
}

// ftracePublishes is called by the function that takes a record to be published. end is called when
// it returns.
//
//go:noinline
func ftracePublishes(ctx any, cl *Client, r *Record) (m ftraceMessages) {
	topic := r.Topic
	if topic == "" {
		topic = cl.cfg.defaultProduceTopic
	}
	m.begin(ctx, topic, topic, r.Headers)
	return m
}

// ended is end where errors are known later.
func (m ftraceMessages) ended() { m.end(new(error)) }

// carry returns the record that is sent, which is another one than that of the program, and what is
// called in place of promise. The program's gets what the client finds out about it.
func (m ftraceMessages) carry(cl *Client, r *Record, promise func(*Record, error)) (*Record, func(*Record, error)) {
	if m.own == nil || r.Topic == "" && cl.cfg.defaultProduceTopic == "" {
		return r, promise
	}
	topic := r.Topic
	if topic == "" {
		topic = cl.cfg.defaultProduceTopic
	}
	with := m.with(r.Headers, len(r.Key)+len(r.Value), int(cl.maxRecordBatchBytesForTopic(topic)))
	if with == nil {
		return r, promise
	}
	sent := new(Record)
	*sent = *r
	sent.Headers = with
	return sent, func(done *Record, err error) {
		own := r.Headers
		*r = *done
		r.Headers = own
		if promise != nil {
			promise(r, err)
		}
	}
}

// ftraceReceives is called when the program gets a record.
//
//go:noinline
func ftraceReceives(r *Record) { ftraceTakes(r.Topic, r.Headers) }

// ftraceReceivesAll is called when it gets several. What it does then belongs to the last one.
//
//go:noinline
func ftraceReceivesAll(records []*Record) {
	for _, r := range records {
		ftraceReceives(r)
	}
}
