package examples

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// natsServer builds a server, and returns what starts one for the test and returns its URL.
func natsServer(t *testing.T) (start func(settings string) (url string)) {
	t.Helper()
	dir := t.TempDir()
	// go install would ask for a list of the versions, which not every proxy has.
	of := exec.Command("go", "mod", "download", "-json", "github.com/nats-io/nats-server/v2@v2.12.3")
	of.Env = append(testenv.Environ(), "GOFLAGS=")
	var module struct{ Dir string }
	out, err := of.Output()
	if err == nil {
		err = json.Unmarshal(out, &module)
	}
	if err == nil {
		build := exec.Command("go", "build", "-C", module.Dir, "-o", dir+string(filepath.Separator), ".")
		build.Env = of.Env
		out, err = build.CombinedOutput()
	}
	if err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("no NATS server could be built: %v\n%s", err, out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return func(settings string) (url string) {
		t.Helper()
		config := filepath.Join(t.TempDir(), "nats.conf")
		if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		server := exec.Command(filepath.Join(dir, "nats-server"+testenv.Exe()), "-a", "127.0.0.1", "-p", "-1", "-c", config)
		log, err := server.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			if _, address, ok := strings.Cut(lines.Text(), "Listening for client connections on "); ok {
				url = "nats://" + address
			}
			if strings.HasSuffix(lines.Text(), "Server is ready") {
				break
			}
		}
		go io.Copy(io.Discard, log)
		t.Cleanup(func() {
			server.Process.Kill()
			server.Wait()
		})
		if url == "" {
			t.Fatal("nats-server does not start")
		}
		return url
	}
}

// TestMessages follows requests that two services exchange messages for, in what both have
// recorded.
func TestMessages(t *testing.T) {
	bin, toolexec := protocolPrograms(t)
	start := natsServer(t)
	server := start("jetstream: {store_dir: '" + filepath.ToSlash(t.TempDir()) + "'}")
	t.Run("headers", func(t *testing.T) {
		testIn(t, "protocol", []string{
			"FTRACE=stage/nats/*", "FTRACE_PROPAGATE=on", "FTRACE_OUT=off",
			"TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "TRACESTATE=vendor=1",
			"NATS_URL=" + server, "NATS_PLAIN_URL=" + start("no_header_support: true"),
		}, toolexec, "./orders")
	})

	dir := t.TempDir()
	program, ftrace := filepath.Join(bin, "orders"), filepath.Join(bin, "ftrace")
	_, stopStock := startService(t, program, filepath.Join(dir, "stock"), "on", "-nats", server, "-stock")
	shop, stopShop := startService(t, program, filepath.Join(dir, "shop"), "on", "-nats", server)
	const each = 100
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range each {
				asked, err := http.Get("http://" + shop + "/items/bread")
				if err != nil {
					t.Error(err)
					return
				}
				said, err := io.ReadAll(asked.Body)
				asked.Body.Close()
				if string(said) != "5 of bread\n" || err != nil {
					t.Errorf("%s, %q, %v", asked.Status, said, err)
				}
				ordered, err := http.Post("http://"+shop+"/orders/4711", "", nil)
				if err != nil {
					t.Error(err)
					return
				}
				ordered.Body.Close()
				if ordered.StatusCode != http.StatusAccepted {
					t.Error(ordered.Status)
				}
			}
		})
	}
	wg.Wait()
	stopShop() // it has sent all
	stopStock()
	spans := map[string]*serviceSpan{}
	for _, service := range []string{"shop", "stock"} {
		addExported(t, spans, ftrace, service, filepath.Join(dir, service))
	}
	const n, client, producer, consumer = 4 * each, 3, 4, 5
	want := map[string]int{}
	for _, steps := range [][]string{
		{"shop 2 GET /items/{item}", fmt.Sprint("shop ", client, " request stock.count"), fmt.Sprint("shop ", producer, " publish stock.count"), fmt.Sprint("stock ", consumer, " process stock.count")},
		{"shop 2 POST /orders/{item}", fmt.Sprint("shop ", producer, " publish orders.*.new"), fmt.Sprint("stock ", consumer, " process orders.*.new"), fmt.Sprint("stock ", producer, " publish orders.*.packed")},
	} {
		path := ""
		for _, step := range steps {
			path += step + " < "
			want[path] = n
		}
	}
	follow(t, spans, 2*n, want)
	for _, s := range spans {
		operation, pattern, _ := strings.Cut(s.Name, " ")
		if s.Kind != client && s.Kind != producer && s.Kind != consumer {
			continue
		}
		says := map[string]string{}
		for _, a := range s.Attributes {
			says[a.Key] = a.Value.StringValue
		}
		kind := map[string]string{"request": "send", "publish": "send", "process": "process"}[operation]
		if says["messaging.system"] != "nats" || says["messaging.operation.name"] != operation || says["messaging.operation.type"] != kind ||
			says["messaging.destination.template"] != pattern || says["messaging.destination.name"] != strings.Replace(pattern, "*", "4711", 1) {
			t.Errorf("%s %s: %v", s.service, s.Name, says)
			break
		}
	}
}

// TestKafka follows parcels that a program sends to itself, in what it has recorded, with each
// client library. The broker is one for tests.
func TestKafka(t *testing.T) {
	bin, toolexec := protocolPrograms(t)
	broker := filepath.Join(t.TempDir(), "kafka"+testenv.Exe())
	watch(t, "testdata/kafka")
	build := exec.Command("go", "build", "-o", broker, ".")
	build.Dir, build.Env = filepath.Join("testdata", "kafka"), append(testenv.Environ(), "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=auto")
	if out, err := build.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("no Kafka broker could be built: %v\n%s", err, out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("headers", func(t *testing.T) {
		address, _ := startService(t, broker, "", "off")
		testIn(t, "protocol", []string{
			"FTRACE=stage/kafka/*", "FTRACE_PROPAGATE=on", "FTRACE_OUT=off", "KAFKA_ADDR=" + address,
			"TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "TRACESTATE=vendor=1",
		}, toolexec, "./parcels")
	})
	for _, library := range []string{"kafka-go", "franz-go", "sarama"} {
		t.Run(library, func(t *testing.T) {
			address, _ := startService(t, broker, "", "off")
			testParcels(t, bin, library, address)
		})
	}
}

func testParcels(t *testing.T, bin, library, address string) {
	recording := filepath.Join(t.TempDir(), "parcels")
	const n = 50
	got := runProgram(t, []string{"FTRACE=stage/*;main.deliver;main.label;main.number", "FTRACE_PROPAGATE=on", "FTRACE_OUT=off", "FTRACE_RECORD=" + recording}, filepath.Join(bin, "parcels"),
		"-client", library, "-kafka", address, "-n", fmt.Sprint(n))
	if strings.Count(got.Stdout, "is delivered\n") != n || got.Stderr != "" {
		t.Errorf("%s%s", got.Stdout, got.Stderr)
	}
	spans := map[string]*serviceSpan{}
	addExported(t, spans, filepath.Join(bin, "ftrace"), "parcels", recording, "-min", "1ns")
	want := map[string]int{"parcels 1 main.deliver < ": 1} // around all that is received, and no part of a trace
	for _, steps := range [][]string{
		{"4 publish parcels", "5 receive parcels", "4 publish delivered", "5 receive delivered"},
		{"4 publish parcels", "5 receive parcels", "1 main.number"}, // which the goroutine calls that has taken the message
		{"4 publish parcels", "5 receive parcels", "1 main.label"},  // which one calls that it starts
	} {
		path := ""
		for _, step := range steps {
			path += "parcels " + step + " < "
			want[path] = n
		}
	}
	follow(t, spans, n+1, want)
	for _, s := range spans {
		says := map[string]string{}
		for _, a := range s.Attributes {
			says[a.Key] = a.Value.StringValue
		}
		if s.Kind == 1 {
			continue
		}
		operation, topic, _ := strings.Cut(s.Name, " ")
		kind := map[string]string{"publish": "send", "receive": "receive"}[operation]
		if says["messaging.system"] != "kafka" || says["messaging.operation.name"] != operation || says["messaging.operation.type"] != kind || says["messaging.destination.name"] != topic {
			t.Errorf("%s: %v", s.Name, says)
			break
		}
	}
}
