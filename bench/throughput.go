package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
)

// A serverWay is how the server is built and run: a row of the table of throughput.
type serverWay struct {
	name     string
	packages string // with hooks, "": it is built plainly
	rules    string // "": in and off
	sums     bool   // the global summary alone, not all that is on at the start
}

// requestRules are a choice from net/http by which one sees what becomes of each request: the
// methods of the connection, the multiplexer, the handlers and the response.
const requestRules = "main.*;net/http.(*conn).*;net/http.(*ServeMux).*;net/http.serverHandler.*;net/http.HandlerFunc.*;net/http.(*response).*"

// Those without packages are what all are compared with, together. How much each of them differs
// from that says how much a difference must be to mean anything.
var serverWays = []serverWay{
	{"out", "", "", false},
	{"out, another process", "", "", false},
	{"out, a third", "", "", false},
	{"package main: in and off", "main", "", false},
	{"in and on", "main", "main.*", false},
	{"in and on, the global summary alone", "main", "main.*", true},
	{"and net/http: in and off", "main,net/http", "", false},
	{"a choice from it on", "main,net/http", requestRules, false},
	{"a choice from it on, the global summary alone", "main,net/http", requestRules, true},
	{"all on", "main,net/http", "main.*;net/http.*", false},
	{"all on, the global summary alone", "main,net/http", "main.*;net/http.*", true},
}

// waitServerWays are those of the table of waits.
var waitServerWays = []serverWay{
	{"out", "", "", false},
	{"out, another process", "", "", false},
	{"in and off", "main", "", false},
	{"operations on files and sockets", "main", "wait/io", false},
	{"all waits", "main", "wait/*", false},
	{"all waits, the global summary alone", "main", "wait/*", true},
	{"all waits and requests", "main", "stage/*;wait/*", false},
	{"all waits and requests, the global summary alone", "main", "stage/*;wait/*", true},
	{"all waits, and net/http's part in requests", "main,net/http", requestRules + ";wait/*", false},
}

const (
	layouts        = 8 // in which order functions are in memory
	startsPerRound = 8
	turnsPerStart  = 12
	connections    = 8
	warming        = 1000 // requests of a connection before the first turn: the long history of each processor is filled once, whose memory is new until then
	requestsATurn  = 100  // of a connection: some 25 ms in all
)

// measureServer prints what a request costs. All servers run at once and have nothing to do but in
// turn, for a moment, in an order that changes; so whatever else the machine does, and however fast
// it is, concerns neighbours alike, and each is compared with those that are out in the same turn.
// Now and then they are started anew, linked in another order: a process has its addresses, and a
// program the places of its functions, by which alone it may be a percent faster or slower than
// another.
func measureServer(w io.Writer, dir, wrap string, ways []serverWay, rounds int, short bool) error {
	starts, turns, n, layouts := startsPerRound*rounds, turnsPerStart, requestsATurn, layouts
	if short {
		starts, turns, n, layouts = 1, 2, 20, 1
	}
	exes := make([]map[string]string, layouts)
	for layout := range exes {
		var err error
		if exes[layout], err = buildServers(dir, wrap, ways, layout); err != nil {
			return fmt.Errorf("building the server: %v", err)
		}
	}
	figures := make([]serverFigures, len(ways))
	for i := range starts {
		if err := measureStart(figures, ways, exes[i%layouts], turns, n); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "| a request, of %d starts with %d turns | calls seen | µs of the server's CPU | more than out: median of the starts | half of them | requests a second |\n|---|--:|--:|--:|--:|--:|\n", starts, turns)
	for i, way := range ways {
		f := &figures[i]
		sorted := slices.Sorted(slices.Values(f.ratios))
		more := func(quarters int) float64 { return (sorted[quarters*(len(sorted)-1)/4] - 1) * 100 }
		fmt.Fprintf(w, "| %s | %.0f | %.2f | %+.1f %% | %+.1f to %+.1f | %.0f |\n", way.name, f.calls, median(f.costs), more(2), more(1), more(3), median(f.speeds))
	}
	return nil
}

// buildServers builds the servers, with the functions in memory in that order, and returns them by
// the packages that have hooks.
func buildServers(dir, wrap string, ways []serverWay, layout int) (map[string]string, error) {
	exes := map[string]string{}
	for i, way := range ways {
		if exes[way.packages] != "" {
			continue
		}
		exe := filepath.Join(dir, fmt.Sprint("served", i, ".", layout))
		args := []string{"build", "-o", exe, fmt.Sprint("-ldflags=-randlayout=", layout+1)}
		if way.packages != "" {
			args = append(args, "-toolexec="+wrap)
		}
		if err := command("", []string{"FTRACE_PACKAGES=" + way.packages}, "go", append(args, "github.com/ftrace-wrap/ftrace-wrap/bench/served")...).Run(); err != nil {
			return nil, err
		}
		exes[way.packages] = exe
	}
	return exes, nil
}

// serverFigures are what was measured of a way.
type serverFigures struct {
	costs, speeds []float64 // of each turn, see server.measure
	ratios        []float64 // of each start: the median ratio of its costs to those of the ways that are out
	calls         float64   // of a request
}

// measureStart starts a server for each way, lets them have their turns, and adds what they took to
// figures.
func measureStart(figures []serverFigures, ways []serverWay, exes map[string]string, turns, n int) error {
	servers := make([]*server, len(ways))
	for _, i := range rand.Perm(len(servers)) { // the first to be started may be the fastest
		way := ways[i]
		var err error
		if servers[i], err = way.start(exes[way.packages]); err != nil {
			return fmt.Errorf("%s: %v", way.name, err)
		}
		defer servers[i].stop()
		if err := servers[i].ask(warming); err != nil {
			return fmt.Errorf("%s: %v", way.name, err)
		}
	}
	ratios := make([][]float64, len(servers))
	for range turns {
		costs := make([]float64, len(servers))
		for _, i := range rand.Perm(len(servers)) {
			cost, speed, err := servers[i].measure(n)
			if err != nil {
				return fmt.Errorf("%s: %v", ways[i].name, err)
			}
			costs[i] = cost
			figures[i].costs, figures[i].speeds = append(figures[i].costs, cost), append(figures[i].speeds, speed)
		}
		out, n := 1.0, 0.0 // their geometric mean
		for i, way := range ways {
			if way.packages == "" {
				out, n = out*costs[i], n+1
			}
		}
		out = math.Pow(out, 1/n)
		for i, cost := range costs {
			ratios[i] = append(ratios[i], cost/out)
		}
	}
	for i, s := range servers {
		figures[i].ratios = append(figures[i].ratios, median(ratios[i]))
		var err error
		if figures[i].calls, err = s.calls(); err != nil {
			return fmt.Errorf("%s: %v", ways[i].name, err)
		}
	}
	return nil
}

// A server is one that runs, with connections to it.
type server struct {
	way     serverWay
	process *exec.Cmd
	conns   []net.Conn
	asked   int
}

// start starts a server and connects to it.
func (way serverWay) start(exe string) (*server, error) {
	var env []string
	if way.rules != "" {
		env = []string{"FTRACE=" + way.rules, "FTRACE_OUT=off", "FTRACE_BUDGET=off"}
	}
	if way.sums {
		env = append(env, "FTRACE_CONSUMERS=summary")
	}
	s := &server{way: way, process: command("", env, exe)}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	for range connections {
		if err != nil {
			break
		}
		var conn net.Conn
		if conn, err = net.Dial("tcp", strings.TrimSpace(address)); err == nil {
			s.conns = append(s.conns, conn)
		}
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) stop() {
	for _, conn := range s.conns {
		conn.Close()
	}
	s.process.Process.Kill()
	s.process.Wait()
}

// ask sends n requests over each connection, one after the other, and reads the answers.
func (s *server) ask(n int) error {
	errs := make([]error, len(s.conns))
	var all sync.WaitGroup
	for i, conn := range s.conns {
		all.Go(func() {
			in := bufio.NewReader(conn)
			for range n {
				if errs[i] = ask(conn, in); errs[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	s.asked += n * len(s.conns)
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func ask(conn net.Conn, in *bufio.Reader) error {
	if _, err := io.WriteString(conn, "GET /words?text=a+quick+brown+fox HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err
	}
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(body, []byte("4 words, the longest is quick\n")) {
		return fmt.Errorf("the server answers %q (%v)", body, err)
	}
	return nil
}

// measure returns the microseconds of processor time that a request takes the server, and the
// requests a second.
func (s *server) measure(n int) (cost, speed float64, err error) {
	before, err := processorTime(s.process.Process.Pid)
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	if err := s.ask(n); err != nil {
		return 0, 0, err
	}
	took := time.Since(began)
	after, err := processorTime(s.process.Process.Pid)
	requests := float64(n * len(s.conns))
	return float64(after-before) / 1e3 / requests, requests / took.Seconds(), err
}

// calls returns how many calls of a request are seen.
func (s *server) calls() (float64, error) {
	if s.way.rules == "" {
		return 0, nil
	}
	p, err := live.Attach(s.process.Process.Pid)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	look, err := p.Snapshot(live.SumsByFunction)
	if err != nil {
		return 0, err
	}
	n := uint64(0)
	for _, f := range look.Functions {
		n += f.Summary.Count
	}
	return float64(n) / float64(s.asked), nil
}
