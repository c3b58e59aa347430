package examples

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestOpenTelemetry has a program ask itself by HTTP, and then by gRPC, and send itself a message
// by NATS, with the SDK and the instrumentation of OpenTelemetry. The SDK's spans and ours are one
// tree: each begins within the one that is around it, whosever that is.
func TestOpenTelemetry(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	testenv.NeedAll(t)
	bin := testenv.Build(t, "ftrace-wrap", "ftrace")
	program := filepath.Join(bin, "spans"+testenv.Exe())
	watch(t, "testdata/spans")
	buildIn(t, filepath.Join("testdata", "spans"), "-o", program, testenv.Toolexec(t, bin), ".")
	recording := filepath.Join(t.TempDir(), "spans.ftrace")
	got := runProgram(t, []string{"FTRACE=stage/*", "FTRACE_PROPAGATE=on", "FTRACE_OUT=off", "FTRACE_RECORD=" + recording, "NATS_URL=" + natsServer(t)("")}, program)
	if got.Stderr != "" {
		t.Fatal(got.Stderr)
	}

	// Of each span the trace, its name and its parent.
	type span struct{ trace, name, parent string }
	spans := map[string]span{}
	add := func(id string, s span) {
		if before, ok := spans[id]; ok {
			t.Errorf("%+v and %+v have the same id", before, s)
		}
		spans[id] = s
	}
	for line := range strings.Lines(got.Stdout) {
		trace, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		id, rest, _ := strings.Cut(rest, "\t")
		name, parent, _ := strings.Cut(rest, "\t")
		add(id, span{trace, name, parent})
	}
	sql := runProgram(t, nil, filepath.Join(bin, "ftrace"), "sql", "-batch", recording,
		"SELECT TRACE_ID, SPAN_ID, EVENT_NAME, COALESCE(PARENT_SPAN_ID, '') FROM events_stages_history_long")
	for i, line := range strings.Split(strings.TrimSuffix(sql.Stdout, "\n"), "\n") {
		if f := strings.Split(line, "\t"); i > 0 {
			add(f[1], span{f[0], "ours/" + strings.Split(f[2], "/")[2], f[3]})
		}
	}

	// What is exported has the same parents.
	export := runProgram(t, nil, filepath.Join(bin, "ftrace"), "export", "-format", "otlp", recording)
	exported := 0
	for line := range strings.Lines(export.Stdout) {
		var batch struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct{ TraceID, SpanID, ParentSpanID string }
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &batch); err != nil {
			t.Fatal(err)
		}
		for _, resource := range batch.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					if own := spans[s.SpanID]; own.trace != s.TraceID || own.parent != s.ParentSpanID {
						t.Errorf("%+v is exported as %+v", own, s)
					}
					exported++
				}
			}
		}
	}
	if ours := strings.Count(sql.Stdout, "stage/"); exported != ours {
		t.Errorf("%d spans are exported, want %d", exported, ours)
	}

	paths := map[string]int{}
	for _, s := range spans {
		path := s.name
		for at := s; at.parent != ""; {
			around, ok := spans[at.parent]
			if !ok || around.trace != at.trace {
				t.Errorf("the parent of %+v is %+v", at, around)
				break
			}
			at = around
			path = at.name + " < " + path
		}
		paths[path]++
	}
	served := "ours/client < ours/server < sdk/server/GET /work < ours/server < sdk/internal/check < ours/client < sdk/client/grpc.health.v1.Health/Check < sdk/server/grpc.health.v1.Health/Check < ours/server"
	for _, around := range []string{"sdk/internal/root < sdk/client/HTTP GET < ", "sdk/internal/root < ", ""} {
		names := strings.Split(around+served, " < ")
		for n := range names {
			path := strings.Join(names[:n+1], " < ")
			if paths[path] == 0 {
				t.Errorf("there is no %s", path)
			}
		}
		if paths[around+served] != 1 {
			t.Errorf("there are %d of %s", paths[around+served], around+served)
		}
	}
	if message := "sdk/internal/order < ours/publish < ours/process < sdk/internal/handle"; paths[message] != 1 {
		t.Errorf("there are %d of %s", paths[message], message)
	}
	if want := 3*9 + 2 + 4; len(spans) != want { // root, what otelhttp's Transport makes, and the message
		t.Errorf("there are %d spans, want %d: %v", len(spans), want, paths)
	}
}
