// Jaeger is the parts of a release of Jaeger that tests need: its collector, with the receiver of
// OTLP, its storage in memory, and its query service. All of Jaeger takes minutes to download.
package main

import (
	"fmt"
	"log"
	"os"

	collector "github.com/jaegertracing/jaeger/cmd/collector/app"
	"github.com/jaegertracing/jaeger/cmd/collector/app/flags"
	query "github.com/jaegertracing/jaeger/cmd/query/app"
	"github.com/jaegertracing/jaeger/cmd/query/app/querysvc"
	"github.com/jaegertracing/jaeger/pkg/healthcheck"
	"github.com/jaegertracing/jaeger/pkg/metrics"
	"github.com/jaegertracing/jaeger/pkg/telemetery"
	"github.com/jaegertracing/jaeger/pkg/tenancy"
	"github.com/jaegertracing/jaeger/plugin/storage/memory"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

// It is given the addresses of OTLP by HTTP, of OTLP by gRPC, and of the query service, prints a
// line when it serves these, and does so until it is killed.
func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: jaeger HTTP GRPC QUERY")
	}
	logger, err := zap.NewProduction()
	if err != nil {
		log.Fatal(err)
	}
	store, tenants, health := memory.NewStore(), tenancy.NewManager(&tenancy.Options{}), healthcheck.New()

	options := &flags.CollectorOptions{QueueSize: flags.DefaultQueueSize, NumWorkers: flags.DefaultNumWorkers}
	options.HTTP.HostPort, options.GRPC.HostPort = "127.0.0.1:0", "127.0.0.1:0"
	options.OTLP.Enabled = true
	options.OTLP.HTTP.HostPort, options.OTLP.GRPC.HostPort = os.Args[1], os.Args[2]
	err = collector.New(&collector.CollectorParams{
		ServiceName: "jaeger", Logger: logger, SpanWriter: store, HealthCheck: health, TenancyMgr: tenants, MetricsFactory: metrics.NullFactory,
	}).Start(options)
	if err != nil {
		log.Fatal(err)
	}

	asked := &query.QueryOptions{BasePath: "/"}
	asked.HTTP.Endpoint, asked.GRPC.NetAddr.Endpoint = os.Args[3], "127.0.0.1:0"
	server, err := query.NewServer(querysvc.NewQueryService(store, store, querysvc.QueryServiceOptions{}), nil, asked, tenants, telemetery.Setting{
		Logger: logger, TracerProvider: noop.NewTracerProvider(), ReportStatus: func(*componentstatus.Event) {},
	})
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("serving")
	select {}
}
