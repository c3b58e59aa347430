package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// receive is the scripts' command
//
//	receive DIR
//
// which receives what OpenTelemetry sends. DIR/address has its URL. It adds a line to DIR/spans for
// each span, as the command spans prints it, and likewise to DIR/logs and DIR/metrics. If there is
// a file DIR/status it answers with that status, and takes nothing. With -port it prints a free
// port of 127.0.0.1.
func receive() {
	log.SetFlags(0)
	if os.Args[1] == "-port" {
		port, err := testenv.Port()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(port)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	dir := os.Args[1]
	temp := filepath.Join(dir, "address.new")
	if err := os.WriteFile(temp, []byte("http://"+listener.Addr().String()), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(temp, filepath.Join(dir, "address")); err != nil {
		log.Fatal(err)
	}
	out := map[string]*os.File{}
	for path, name := range map[string]string{"/v1/traces": "spans", "/v1/logs": "logs", "/v1/metrics": "metrics"} {
		if out[path], err = os.Create(filepath.Join(dir, name)); err != nil {
			log.Fatal(err)
		}
	}
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, err := os.ReadFile(filepath.Join(dir, "status")); err == nil {
			status, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			w.WriteHeader(status)
			return
		}
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			log.Fatal(err)
		}
		body, err := io.ReadAll(z)
		if err != nil {
			return // who sent it has ended
		}
		switch r.URL.Path {
		case "/v1/traces":
			var batch tracepb.TracesData
			if err := proto.Unmarshal(body, &batch); err != nil {
				log.Fatal(err)
			}
			for _, s := range batch.ResourceSpans[0].ScopeSpans[0].Spans {
				fmt.Fprintf(out[r.URL.Path], "%x %x %x %s\n", s.TraceId, s.SpanId, s.ParentSpanId, s.Name)
			}
		case "/v1/logs":
			var batch logspb.LogsData
			if err := proto.Unmarshal(body, &batch); err != nil {
				log.Fatal(err)
			}
			for _, l := range batch.ResourceLogs[0].ScopeLogs[0].LogRecords {
				fmt.Fprintf(out[r.URL.Path], "%x %x %d %d %s %s\n", l.TraceId, l.SpanId, l.TimeUnixNano, l.SeverityNumber, l.SeverityText, l.Body.GetStringValue())
			}
		case "/v1/metrics":
			var batch metricspb.MetricsData
			if err := proto.Unmarshal(body, &batch); err != nil {
				log.Fatal(err)
			}
			printMetrics(out[r.URL.Path], &batch)
		}
	})))
}

// spans is the scripts' command
//
//	spans FILE
//
// which prints a line for each span in a file of OpenTelemetry's JSON: the ids of its trace, its
// own and its parent's, and its name.
func spans() {
	fileLines(func(line []byte) error {
		var batch struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct{ TraceID, SpanID, ParentSpanID, Name string }
				}
			}
		}
		err := json.Unmarshal(line, &batch)
		for _, r := range batch.ResourceSpans {
			for _, scope := range r.ScopeSpans {
				for _, s := range scope.Spans {
					fmt.Println(s.TraceID, s.SpanID, s.ParentSpanID, s.Name)
				}
			}
		}
		return err
	})
}

// logs is the scripts' command
//
//	logs FILE
//
// which prints a line for each log record in a file of OpenTelemetry's JSON: the ids of its trace
// and its span, its time, its severity and its text.
func logs() {
	fileLines(func(line []byte) error {
		var batch struct {
			ResourceLogs []struct {
				ScopeLogs []struct {
					LogRecords []struct {
						TraceID, SpanID, TimeUnixNano, SeverityText string
						SeverityNumber                              int
						Body                                        struct{ StringValue string }
					}
				}
			}
		}
		err := json.Unmarshal(line, &batch)
		for _, r := range batch.ResourceLogs {
			for _, scope := range r.ScopeLogs {
				for _, l := range scope.LogRecords {
					fmt.Println(l.TraceID, l.SpanID, l.TimeUnixNano, l.SeverityNumber, l.SeverityText, l.Body.StringValue)
				}
			}
		}
		return err
	})
}

// metrics is the scripts' command
//
//	metrics FILE
//
// which prints a line for each point of a metric in a file of OpenTelemetry's JSON: the metric's
// name and unit, the attributes, when it begins and ends, how many there were, and of a histogram
// how long they took in all, and how many are in each bucket.
func metrics() {
	fileLines(func(line []byte) error {
		if !bytes.Contains(line, []byte(`"resourceMetrics"`)) {
			return nil
		}
		var batch metricspb.MetricsData
		err := protojson.Unmarshal(line, &batch)
		printMetrics(os.Stdout, &batch)
		return err
	})
}

// printMetrics prints a line for each point.
func printMetrics(to io.Writer, batch *metricspb.MetricsData) {
	text := func(list []*commonpb.KeyValue) (s string) {
		for _, a := range list {
			value := a.Value.GetStringValue()
			if n, ok := a.Value.Value.(*commonpb.AnyValue_IntValue); ok {
				value = strconv.FormatInt(n.IntValue, 10)
			}
			s += " " + a.Key + "=" + value
		}
		return s
	}
	for _, r := range batch.ResourceMetrics {
		for _, scope := range r.ScopeMetrics {
			for _, m := range scope.Metrics {
				for _, p := range m.GetSum().GetDataPoints() {
					fmt.Fprintf(to, "%s %s%s %d %d %d - -\n", m.Name, m.Unit, text(p.Attributes), p.StartTimeUnixNano, p.TimeUnixNano, p.GetAsInt())
				}
				for _, p := range m.GetHistogram().GetDataPoints() {
					fmt.Fprintf(to, "%s %s%s %d %d %d %v %s\n", m.Name, m.Unit, text(p.Attributes), p.StartTimeUnixNano, p.TimeUnixNano, p.Count, p.GetSum(), strings.ReplaceAll(fmt.Sprint(p.BucketCounts), " ", ","))
				}
			}
		}
	}
}

// fileLines calls f with each line of the file that the command was given.
func fileLines(f func(line []byte) error) {
	log.SetFlags(0)
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		if err := f(lines.Bytes()); err != nil {
			log.Fatal(err)
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
