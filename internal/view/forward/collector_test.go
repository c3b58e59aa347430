package forward

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/export"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A collector is OpenTelemetry's, in a process of its own, which is killed and started again. With
// a rotation its exporter writes each batch to the file before the batch is answered. Each process
// has files of its own, as the last batch in these may be half of one.
type collector struct {
	t       *testing.T
	dir     string
	starts  int
	process *exec.Cmd
	port    map[string]int // by protocol
}

const collectorConfig = `
receivers:
  otlp:
    protocols:
      http: {endpoint: "127.0.0.1:%d"}
      grpc: {endpoint: "127.0.0.1:%d"}
exporters:
  file/traces: {path: traces.%[3]d, format: proto, rotation: {max_megabytes: 1000}}
  file/logs: {path: logs.%[3]d, format: proto, rotation: {max_megabytes: 1000}}
  file/metrics: {path: metrics.%[3]d, format: proto, rotation: {max_megabytes: 1000}}
service:
  telemetry: {metrics: {level: none}}
  pipelines:
    traces: {receivers: [otlp], exporters: [file/traces]}
    logs: {receivers: [otlp], exporters: [file/logs]}
    metrics: {receivers: [otlp], exporters: [file/metrics]}
`

// start starts it, on ports that are free.
func (c *collector) start() {
	for range 10 { // somebody else may take a port meanwhile
		c.starts++
		for _, protocol := range []string{"http", "grpc"} {
			port, err := testenv.Port()
			if err != nil {
				c.t.Error(err)
				return
			}
			c.port[protocol] = port
		}
		config := filepath.Join(c.dir, "config.yaml")
		if err := os.WriteFile(config, fmt.Appendf(nil, collectorConfig, c.port["http"], c.port["grpc"], c.starts), 0o600); err != nil {
			c.t.Error(err)
			return
		}
		c.process = exec.Command(collectorProgram(), "--config", config)
		c.process.Dir = c.dir
		log, err := c.process.StderrPipe()
		if err == nil {
			err = c.process.Start()
		}
		if err != nil {
			c.t.Error(err)
			return
		}
		var said bytes.Buffer
		lines := bufio.NewScanner(io.TeeReader(log, &said))
		for lines.Scan() {
			if strings.Contains(lines.Text(), "Everything is ready") {
				go io.Copy(io.Discard, log)
				return
			}
		}
		c.process.Wait()
		c.t.Logf("%s", &said)
	}
	c.t.Error("the collector does not start")
}

// kill kills it.
func (c *collector) kill() {
	c.process.Process.Kill()
	c.process.Wait()
}

// written returns what all processes have written of a signal, each item as often as it is there.
func (c *collector) written(signal string) map[string]int {
	items := map[string]int{}
	for n := range c.starts {
		data, err := os.ReadFile(filepath.Join(c.dir, fmt.Sprint(signal, ".", n+1)))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			c.t.Error(err)
		}
		for len(data) >= 4 {
			size := int(binary.BigEndian.Uint32(data))
			if data = data[4:]; size > len(data) { // it was killed meanwhile
				break
			}
			for _, item := range itemsOf(c.t, signal, data[:size]) {
				items[item]++
			}
			data = data[size:]
		}
	}
	return items
}

func collectorProgram() string {
	return filepath.Join(os.Getenv("READERS"), "otelcol", "otelcol"+testenv.Exe())
}

// A killer stands between a forwarding and the collector, and kills that by kill -9: in the middle
// of a batch, when it has answered one and nobody has heard of that, and when somebody has.
type killer struct {
	collector collector
	protocol  string
	transport http.RoundTripper

	lock     sync.Mutex // one batch at a time
	requests map[string]int
	unheard  map[string]map[string]bool // by signal, the items of batches that were answered while nobody heard of it
	kills    int
}

type connectionKey struct{}

func (k *killer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.lock.Lock()
	defer k.lock.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	signal := ""
	for _, s := range Signals {
		if r.URL.Path == s.method || r.URL.Path == "/v1/"+s.OTLP {
			signal = s.OTLP
		}
	}
	k.requests[signal]++
	kill := func() {
		k.kills++
		k.collector.kill()
	}
	again := func() {
		k.collector.start()
		r.Context().Value(connectionKey{}).(net.Conn).Close()
	}
	switch k.requests[signal] {
	case 1: // in the middle
		_, err := k.pass(r, io.MultiReader(bytes.NewReader(body[:len(body)/2]), readerFunc(func([]byte) (int, error) {
			kill()
			return 0, io.ErrUnexpectedEOF
		})), len(body))
		if err == nil {
			k.collector.t.Error("half a batch was answered")
		}
		again()
		return
	case 2: // it is taken, and nobody hears of that
		before := k.collector.written(signal)
		if response, err := k.pass(r, bytes.NewReader(body), len(body)); err != nil || response.StatusCode != http.StatusOK {
			k.collector.t.Error(response, err)
		}
		kill()
		k.unheard[signal] = map[string]bool{}
		for item, n := range k.collector.written(signal) {
			if n > before[item] {
				k.unheard[signal][item] = true
			}
		}
		again()
		return
	}
	response, err := k.pass(r, bytes.NewReader(body), len(body))
	if err != nil {
		k.collector.t.Error(err)
		return
	}
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.StatusCode)
	io.Copy(w, response.Body)
	for name, values := range response.Trailer {
		w.Header()[http.TrailerPrefix+name] = values
	}
	if k.requests[signal] == 3 { // what it has answered is to be there
		kill()
		k.collector.start()
	}
}

// pass passes a request on, and returns the answer, which has been read.
func (k *killer) pass(r *http.Request, body io.Reader, size int) (*http.Response, error) {
	to, err := http.NewRequest(r.Method, fmt.Sprintf("http://127.0.0.1:%d%s", k.collector.port[k.protocol], r.URL.Path), body)
	if err != nil {
		return nil, err
	}
	to.Header, to.ContentLength = r.Header.Clone(), int64(size)
	response, err := k.transport.RoundTrip(to)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	response.Body = io.NopCloser(bytes.NewReader(answer))
	return response, err
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestCollectorKilled: however OpenTelemetry's collector is killed, it has all in the end. What it
// has twice are the batches that it had written when it was killed, and had not answered, and these
// have the same ids both times.
func TestCollectorKilled(t *testing.T) {
	testenv.NeedAll(t)
	if _, err := os.Stat(collectorProgram()); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("%v: READERS names the directory that .ci/run puts it in", err)
	}
	for _, protocol := range []string{"http", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			r := viewtest.MadeUp(t)
			want := signalsWanted(t, r)
			k := &killer{
				collector: collector{t: t, dir: t.TempDir(), port: map[string]int{}},
				protocol:  protocol, requests: map[string]int{}, unheard: map[string]map[string]bool{},
			}
			k.collector.start()
			defer func() { k.collector.kill() }()
			protocols := &http.Protocols{}
			protocols.SetHTTP1(protocol == "http")
			protocols.SetUnencryptedHTTP2(protocol == "grpc")
			k.transport = &http.Transport{Protocols: protocols, DisableCompression: true, DisableKeepAlives: protocol == "http"}
			server := httptest.NewUnstartedServer(k)
			server.Config.Protocols = protocols
			server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
				return context.WithValue(ctx, connectionKey{}, c)
			}
			server.Start()
			defer server.Close()
			address := server.URL
			if protocol == "grpc" {
				address = strings.Replace(address, "http:", "grpc:", 1)
			}
			var out, warn bytes.Buffer
			if err := Recordings(t.Context(), []walk.Source{{Recording: r}}, byAllSignals(address), &out, &warn); err != nil {
				t.Fatalf("%v\n%s", err, &warn)
			}
			k.lock.Lock()
			defer k.lock.Unlock()
			if k.kills != 3*len(Signals) {
				t.Errorf("it was killed %d times", k.kills)
			}
			for _, s := range Signals {
				got, twice := k.collector.written(s.OTLP), map[string]bool{}
				for item, n := range got {
					if n > 1 {
						twice[item] = true
					}
					if n > 2 {
						t.Errorf("%s: one is there %d times", s.Name, n)
					}
				}
				for _, item := range want[s.OTLP] {
					if got[item] == 0 {
						t.Fatalf("%s: one was lost: %q", s.Name, item)
					}
				}
				t.Logf("%s: killed 3 times, and %d of %d are there twice", s.Name, len(twice), len(got))
				if len(twice) > export.SpansAtOnce { // one batch was written and not answered
					t.Errorf("%s: %d are there twice", s.Name, len(twice))
				}
				if len(want[s.OTLP]) < 100 || len(got) != len(want[s.OTLP]) || len(twice) == 0 || !maps.Equal(twice, k.unheard[s.OTLP]) {
					t.Errorf("%s: %d are there of %d, %d twice, and %d could be", s.Name, len(got), len(want[s.OTLP]), len(twice), len(k.unheard[s.OTLP]))
				}
				if line := fmt.Sprintf("%d %s were sent to", len(want[s.OTLP]), s.many); !strings.Contains(out.String(), line) {
					t.Errorf("%q is not in %s", line, &out)
				}
			}
		})
	}
}
