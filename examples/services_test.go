package examples

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	_ "github.com/go-sql-driver/mysql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// A serviceSpan is a span as OTLP has it in JSON.
type serviceSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	Status                              struct{ Code int }
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
	service string
}

// startService starts a service, which prints its address. stop ends it.
func startService(t *testing.T, program, recording, propagate string, args ...string) (address string, stop func()) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(testenv.Environ(), "FTRACE=stage/*;statement/*", "FTRACE_PROPAGATE="+propagate, "FTRACE_OUT=off", "FTRACE_RECORD="+recording)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return line[:len(line)-1], func() {
		cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
}

// TestServicesBaggage has the shop ask a stock that notes the baggage it receives. With
// FTRACE_PROPAGATE=baggage that is what came with the request to the shop, and else there is none.
func TestServicesBaggage(t *testing.T) {
	bin, _ := protocolPrograms(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan metadata.MD, 1)
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		md, _ := metadata.FromIncomingContext(stream.Context())
		heard <- md
		return status.Error(codes.NotFound, "there is none")
	}))
	go server.Serve(listener)
	defer server.Stop()
	for propagate, want := range map[string][]string{"on": nil, "baggage": {"user=7"}} {
		shop, stop := startService(t, filepath.Join(bin, "services"), filepath.Join(t.TempDir(), "shop"), propagate, "-stock", listener.Addr().String())
		r, err := http.NewRequest(http.MethodGet, "http://"+shop+"/items/bread", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Baggage", "user=7")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if md := <-heard; !slices.Equal(md["baggage"], want) || len(md["traceparent"]) != 1 {
			t.Errorf("%s: the stock heard %v, want baggage %v", propagate, md, want)
		}
		stop()
	}
}

// TestServices sends requests through three services, and follows each of them in what two of the
// services have recorded. SERVICES_REQUESTS says how many, by default 1000.
func TestServices(t *testing.T) {
	bin, _ := protocolPrograms(t)
	requests := 1000
	if n := os.Getenv("SERVICES_REQUESTS"); n != "" {
		var err error
		if requests, err = strconv.Atoi(n); err != nil {
			t.Fatal(err)
		}
	}
	dsn := "root@tcp(" + testenv.MariaDB(t) + ")/"
	items(t, dsn)
	program := filepath.Join(bin, "services")
	dir := t.TempDir()
	start := func(name string, args ...string) (address string, stop func() string) {
		recording := filepath.Join(dir, name)
		address, end := startService(t, program, recording, "on", args...)
		return address, func() string {
			end()
			return recording
		}
	}
	stock, stopStock := start("stock", "-dsn", dsn+"shop")
	shop, stopShop := start("shop", "-stock", stock)

	// Of three requests one is for an item that there is, one for one that there is not, and one for
	// the list.
	asked := make(chan int)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range asked {
				path, want := [...]string{"items/bread", "items/none", "items"}[i%3], [...]int{200, 404, 200}[i%3]
				resp, err := http.Get("http://" + shop + "/" + path)
				if err != nil {
					t.Error(err)
					continue
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode != want {
					t.Errorf("%s: %s", path, resp.Status)
				}
			}
		})
	}
	for i := range requests {
		asked <- i
	}
	close(asked)
	wg.Wait()
	spans := map[string]*serviceSpan{}
	for service, recording := range map[string]string{"shop": stopShop(), "stock": stopStock()} {
		addExported(t, spans, filepath.Join(bin, "ftrace"), service, recording)
	}
	shows, lists := requests-requests/3, requests/3
	want := map[string]int{}
	for path, n := range map[string]int{"shop 2 GET /items/{item}": shows, "shop 2 GET /items": lists} {
		want[path+" < "] = n
		method := map[int]string{shows: "shop.Stock/Count", lists: "shop.Stock/List"}[n]
		for _, next := range []string{"shop 3 " + method, "stock 2 " + method, "stock 3 SELECT"} {
			path += " < " + next
			want[path+" < "] = n
		}
	}
	follow(t, spans, requests, want)
	for _, s := range spans {
		says := map[string]string{}
		for _, a := range s.Attributes {
			says[a.Key] = a.Value.StringValue + a.Value.IntValue
		}
		if s.Name == "shop.Stock/Count" && (says["rpc.system"] != "grpc" || says["rpc.service"] != "shop.Stock" || says["rpc.method"] != "Count" || (says["rpc.grpc.status_code"] == "5") != (s.Status.Code == 2)) {
			t.Errorf("%s %s: %v, status %d", s.service, s.Name, says, s.Status.Code)
			break
		}
	}
	t.Logf("%d requests, %d spans", requests, len(spans))
}

// follow checks that each span is within that which asked for it, in the same trace, up to the
// request that the shop serves, and that there are as many of each path as are wanted.
func follow(t *testing.T, spans map[string]*serviceSpan, requests int, want map[string]int) {
	t.Helper()
	traces, paths, broken := map[string]bool{}, map[string]int{}, 0
	for _, s := range spans {
		path := ""
		for at := s; ; {
			path = fmt.Sprintf("%s %d %s < ", at.service, at.Kind, at.Name) + path
			if at.ParentSpanID == "" {
				traces[at.TraceID] = true
				break
			}
			around := spans[at.ParentSpanID]
			if around == nil || around.TraceID != at.TraceID {
				broken++
				break
			}
			at = around
		}
		paths[path]++
	}
	if broken != 0 || len(traces) != requests {
		t.Errorf("%d spans have no parent in their trace; %d requests are %d traces", broken, requests, len(traces))
	}
	for path, n := range want {
		if paths[path] != n {
			t.Errorf("%d spans %s, want %d", paths[path], path, n)
		}
	}
	for path, n := range paths {
		if want[path] == 0 {
			t.Errorf("%d spans %s", n, path)
		}
	}
}

// items makes the stock's table.
func items(t *testing.T, dsn string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{"CREATE DATABASE shop", "CREATE TABLE shop.items (name VARCHAR(20) PRIMARY KEY, n INT)", "INSERT INTO shop.items VALUES ('bread', 5), ('cheese', 6)"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}

// addExported adds the spans of a service's recording, by their ids.
func addExported(t *testing.T, spans map[string]*serviceSpan, ftrace, service, recording string, flags ...string) {
	t.Helper()
	cmd := exec.Command(ftrace, slices.Concat([]string{"export", "-format", "otlp"}, flags, []string{recording})...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var batch struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []*serviceSpan }
			}
		}
		if err := d.Decode(&batch); err != nil {
			t.Fatal(err)
		}
		for _, r := range batch.ResourceSpans {
			for _, s := range r.ScopeSpans {
				for _, one := range s.Spans {
					one.service = service
					spans[one.SpanID] = one
				}
			}
		}
	}
}
