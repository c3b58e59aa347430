// Command spans asks itself by HTTP and gRPC, and sends itself a message by NATS, with
// OpenTelemetry's SDK and instrumentation, and writes the SDK's spans. NATS_URL is that of a
// server.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	spans := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	server := grpc.NewServer(grpc.StatsHandler(otelgrpc.NewServerHandler()))
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go server.Serve(listener)
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStatsHandler(otelgrpc.NewClientHandler()))
	check(err)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /work", func(w http.ResponseWriter, r *http.Request) {
		ctx, span := otel.Tracer("shop").Start(r.Context(), "check")
		defer span.End()
		_, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{})
		check(err)
	})
	web := httptest.NewServer(otelhttp.NewHandler(mux, "web"))

	ctx, root := otel.Tracer("shop").Start(context.Background(), "root")
	get(ctx, &http.Client{Transport: otelhttp.NewTransport(http.DefaultTransport)}, web.URL) // by OpenTelemetry's Transport
	get(ctx, http.DefaultClient, web.URL)                                                    // the context alone has the span
	root.End()
	get(context.Background(), http.DefaultClient, web.URL) // no span is around it
	publish()
	web.Close()
	server.GracefulStop()
	for _, s := range spans.GetSpans() {
		parent := s.Parent.SpanID().String()
		if !s.Parent.IsValid() {
			parent = ""
		}
		fmt.Printf("%s\t%s\tsdk/%s/%s\t%s\n", s.SpanContext.TraceID(), s.SpanContext.SpanID(), s.SpanKind, s.Name, parent)
	}
}

func get(ctx context.Context, client *http.Client, url string) {
	req, err := http.NewRequestWithContext(ctx, "GET", url+"/work", nil)
	check(err)
	resp, err := client.Do(req)
	check(err)
	resp.Body.Close()
}

// publish sends a message whose header says which span is around it, and handles that.
func publish() {
	nc, err := nats.Connect(os.Getenv("NATS_URL"))
	check(err)
	defer nc.Close()
	handled := make(chan bool)
	_, err = nc.Subscribe("work", func(msg *nats.Msg) {
		_, span := otel.Tracer("shop").Start(otel.GetTextMapPropagator().Extract(context.Background(), propagation.HeaderCarrier(msg.Header)), "handle")
		span.End()
		close(handled)
	})
	check(err)
	ctx, span := otel.Tracer("shop").Start(context.Background(), "order")
	msg := nats.NewMsg("work")
	otel.GetTextMapPropagator().Inject(ctx, propagation.HeaderCarrier(msg.Header))
	check(nc.PublishMsg(msg))
	span.End()
	<-handled
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
