// Package exporter serves what running programs count as metrics, for Prometheus and what reads its
// formats.
//
// It takes a catalog of package schema, of whose sources it takes a snapshot each time someone asks
// for /metrics, and lets Prometheus's own library write it: as text, as OpenMetrics, or, for native
// histograms, as protocol buffers. cmd/ftrace calls it. What is turned on in a program is exported.
// If rules are given, what they match is counted too, within a budget, and no longer than this
// runs; nothing else changes in the program.
package exporter

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/expfmt"

	"github.com/ftrace-wrap/ftrace-wrap/internal/listen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
)

// Options are what is exported, and where.
type Options struct {
	Address  string  // HOST:PORT or :PORT
	Anywhere bool    // addresses are allowed that are reached from other machines
	Rules    string  // what is counted that nobody turned on, in the grammar of FTRACE; "": nothing
	Budget   float64 // calls a second that this may cause to be counted
}

// A Server has its address and waits for those who ask.
type Server struct {
	options  Options
	listener net.Listener
}

// Listen returns a server that listens.
func Listen(o Options) (*Server, error) {
	l, err := listen.On(listen.Options{Flag: "-listen", Address: o.Address, Anywhere: o.Anywhere, Instead: ": -anywhere allows that"})
	return &Server{o, l}, err
}

// Close ends the listening of a server that does not run.
func (s *Server) Close() { s.listener.Close() }

// Run lets what the rules match be counted, writes where the metrics are, and serves them until a
// signal comes, or the catalog's processes have ended. It closes the catalog. What fails meanwhile
// is told to warn.
func (s *Server) Run(catalog *schema.Catalog, out, warn io.Writer) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := newCollector(catalog, s.options, warn)
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, `<!doctype html><title>ftrace exporter</title><p>The metrics are at <a href="/metrics">/metrics</a>.`)
	})
	server := http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	pause := c.check()
	fmt.Fprintf(out, "serving on http://%s/metrics\n", s.listener.Addr())
	served := make(chan error, 1)
	go func() { served <- server.Serve(s.listener) }()
	for err == nil && ctx.Err() == nil && !c.ended() {
		select {
		case err = <-served:
		case <-ctx.Done():
		case <-time.After(pause):
			pause = c.check()
		}
	}
	if err == nil && ctx.Err() == nil {
		fmt.Fprintln(warn, "ftrace: exporter: the process has ended")
	}
	server.Close()
	catalog.Close()
	return err
}

// Once writes the metrics as OpenMetrics has them, after what the rules match was counted for some
// time. It closes the catalog.
func Once(catalog *schema.Catalog, o Options, counted time.Duration, out, warn io.Writer) error {
	defer catalog.Close()
	c := newCollector(catalog, o, warn)
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		return err
	}
	until := time.Now().Add(counted)
	for pause := c.check(); len(c.rules) > 0 && time.Now().Before(until); pause = c.check() {
		time.Sleep(min(pause, time.Until(until)))
	}
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	encoder := expfmt.NewEncoder(out, expfmt.NewFormat(expfmt.TypeOpenMetrics))
	for _, f := range families {
		if err := encoder.Encode(f); err != nil {
			return err
		}
	}
	return encoder.(expfmt.Closer).Close()
}
