package main

import (
	"bufio"
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

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receive is the scripts' command
//
//	receive DIR
//
// which receives spans of OpenTelemetry. DIR/address has its URL. It adds a line to DIR/spans for
// each span, as the command spans prints it. If there is a file DIR/status it answers with that
// status, and takes nothing. With -port it prints a free port of 127.0.0.1.
func receive() {
	log.SetFlags(0)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	if os.Args[1] == "-port" {
		fmt.Println(listener.Addr().(*net.TCPAddr).Port)
		return
	}
	dir := os.Args[1]
	temp := filepath.Join(dir, "address.new")
	if err := os.WriteFile(temp, []byte("http://"+listener.Addr().String()), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(temp, filepath.Join(dir, "address")); err != nil {
		log.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "spans"))
	if err != nil {
		log.Fatal(err)
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
		var batch tracepb.TracesData
		if err := proto.Unmarshal(body, &batch); err != nil {
			log.Fatal(err)
		}
		for _, s := range batch.ResourceSpans[0].ScopeSpans[0].Spans {
			fmt.Fprintf(out, "%x %x %x %s\n", s.TraceId, s.SpanId, s.ParentSpanId, s.Name)
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
	log.SetFlags(0)
	f, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var batch struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct{ TraceID, SpanID, ParentSpanID, Name string }
				}
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &batch); err != nil {
			log.Fatal(err)
		}
		for _, r := range batch.ResourceSpans {
			for _, scope := range r.ScopeSpans {
				for _, s := range scope.Spans {
					fmt.Println(s.TraceID, s.SpanID, s.ParentSpanID, s.Name)
				}
			}
		}
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
