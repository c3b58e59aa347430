module jaeger

go 1.26.0

require (
	github.com/jaegertracing/jaeger v1.62.0
	go.opentelemetry.io/collector/component/componentstatus v0.111.0
	go.opentelemetry.io/otel/trace v1.30.0
	go.uber.org/zap v1.27.0
)
