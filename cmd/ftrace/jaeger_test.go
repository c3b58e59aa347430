package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// jaeger is the scripts' command
//
//	jaeger [-untimed] URL FILE...
//
// which asks Jaeger's query service for all spans of the services that files of OpenTelemetry's
// JSON have spans of. It fails unless these are the same: the resource, the ids, the parent, the
// name, the times, the attributes, the events. It waits until they are there, for up to a minute.
// With -untimed the times may differ: while a program runs the rate of its clock is known less
// well.
func jaeger() {
	log.SetFlags(0)
	args := os.Args[1:]
	untimed := args[0] == "-untimed"
	if untimed {
		args = args[1:]
	}
	want := jaegerSpans{}
	for _, name := range args[1:] {
		text, err := os.ReadFile(name)
		if err != nil {
			log.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			want.add([]byte(line), "")
		}
	}
	services, n := map[string]bool{}, 0
	for key, list := range want {
		services[strings.Fields(key)[0]] = true
		n += len(list)
	}
	if n == 0 {
		log.Fatal("no spans are wanted")
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		got := jaegerSpans{}
		for _, service := range slices.Sorted(maps.Keys(services)) {
			got.ask(args[0], service)
		}
		if untimed {
			want.untime()
			got.untime()
		}
		diff := cmp.Diff(want, got)
		if diff == "" {
			fmt.Printf("%d spans of %d services are the same\n", n, len(services))
			return
		}
		if time.Now().After(deadline) {
			log.Fatal("-wanted +got:\n", diff)
		}
	}
}

// jaegerSpans has spans as text, by their service, the trace's id and their own. One that is there
// twice has two.
type jaegerSpans map[string][]string

var isTime = regexp.MustCompile(`TimeUnixNano": "\d+"`)

// untime removes the times.
func (v jaegerSpans) untime() {
	for _, list := range v {
		for i := range list {
			list[i] = isTime.ReplaceAllString(list[i], `TimeUnixNano": ""`)
		}
	}
}

// ask adds what Jaeger has of a service.
func (v jaegerSpans) ask(address, service string) {
	r, err := http.Get(address + "/api/v3/traces?" + url.Values{
		"query.service_name": {service}, "query.num_traces": {"1000000"},
		"query.start_time_min": {"2000-01-01T00:00:00Z"}, "query.start_time_max": {"2200-01-01T00:00:00Z"},
	}.Encode())
	if err != nil {
		log.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		log.Fatal(err)
	}
	switch r.StatusCode {
	case http.StatusOK:
		var answer struct{ Result json.RawMessage }
		if err := json.Unmarshal(body, &answer); err != nil {
			log.Fatal(err)
		}
		v.add(answer.Result, service)
	case http.StatusNotFound: // it has none yet
	default:
		log.Fatalf("%s: %s", r.Status, body)
	}
}

// add adds the spans of a message, in OpenTelemetry's JSON: of one service, if it is not "". A
// trace has those of others, too.
func (v jaegerSpans) add(message []byte, service string) {
	type attribute struct {
		Key   string          `json:"key"`
		Value json.RawMessage `json:"value"`
	}
	sorted := func(list []attribute) []attribute {
		list = slices.DeleteFunc(list, func(a attribute) bool {
			return a.Key == "internal.span.format" // this is Jaeger's own
		})
		slices.SortStableFunc(list, func(a, b attribute) int { return strings.Compare(a.Key, b.Key) })
		return list
	}
	type link struct {
		TraceID, SpanID string
	}
	type event struct {
		Name, TimeUnixNano string
		Attributes         []attribute
	}
	var data struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []attribute }
			ScopeSpans []struct {
				Scope struct{ Name string }
				Spans []struct {
					TraceID, SpanID, ParentSpanID, Name string
					Kind                                int
					StartTimeUnixNano, EndTimeUnixNano  string
					Attributes                          []attribute
					Events                              []event
					Links                               []link
					Status                              struct {
						Code    int
						Message string
					}
				}
			}
		}
	}
	if err := json.Unmarshal(message, &data); err != nil {
		log.Fatalf("%v: %.1000s", err, message)
	}
	for _, r := range data.ResourceSpans {
		name := "?"
		for _, a := range r.Resource.Attributes {
			if a.Key == "service.name" {
				var is struct{ StringValue string }
				if err := json.Unmarshal(a.Value, &is); err != nil {
					log.Fatal(err)
				}
				name = is.StringValue
			}
		}
		if service != "" && service != name {
			continue
		}
		for _, scope := range r.ScopeSpans {
			for _, s := range scope.Spans {
				s.Attributes = sorted(s.Attributes)
				for i := range s.Events {
					s.Events[i].Attributes = sorted(s.Events[i].Attributes)
				}
				text, err := json.MarshalIndent([]any{sorted(r.Resource.Attributes), scope.Scope, s}, "", " ")
				if err != nil {
					log.Fatal(err)
				}
				key := name + " " + s.TraceID + " " + s.SpanID
				v[key] = append(v[key], string(text))
			}
		}
	}
}
