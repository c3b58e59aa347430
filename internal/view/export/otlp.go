package export

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// SpansAtOnce is how many spans are passed on together.
const SpansAtOnce = 512

// exportOTLP writes lines of JSON, each a batch of spans, as OpenTelemetry's collector writes and
// reads files (https://opentelemetry.io/docs/specs/otel/protocol/file-exporter).
func exportOTLP(from walk.Source, out *output) error {
	x := NewSpans(from, out.least)
	var batch []*tracepb.Span
	var line bytes.Buffer
	write := func() error {
		b, err := otlpJSON.Marshal(x.Traces(batch))
		if err != nil {
			return err
		}
		line.Reset()
		if err := json.Compact(&line, b); err != nil { // where protojson has blanks, it does not promise
			return err
		}
		line.WriteByte('\n')
		batch = batch[:0]
		_, err = out.Write(line.Bytes())
		return err
	}
	var failed error
	x.Emit = func(s *tracepb.Span) {
		inHex(s)
		if batch = append(batch, s); len(batch) == SpansAtOnce && failed == nil {
			failed = write()
		}
	}
	err := x.Run(func() bool { return failed == nil && out.fits() })
	if err == nil {
		err = failed
	}
	if err == nil && len(batch) > 0 {
		err = write()
	}
	return err
}

// otlpJSON has numbers in place of the names of constants, as OTLP has it.
var otlpJSON = protojson.MarshalOptions{UseEnumNumbers: true}

// inHex changes the ids of a span so that JSON has them in hex, as OTLP does, where protojson
// writes bytes in base64: the ids become what the text in hex is the base64 of.
func inHex(s *tracepb.Span) {
	ids := []*[]byte{&s.TraceId, &s.SpanId, &s.ParentSpanId}
	for _, l := range s.Links {
		ids = append(ids, &l.TraceId, &l.SpanId)
	}
	for _, id := range ids {
		*id, _ = base64.StdEncoding.DecodeString(hex.EncodeToString(*id)) // it has so many letters that it can't fail
	}
}
