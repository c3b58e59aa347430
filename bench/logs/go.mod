// Log lines by several loggers, apart from the main module so that it depends on none of them.
module github.com/ftrace-wrap/ftrace-wrap/bench/logs

go 1.25.0

require (
	github.com/rs/zerolog v1.35.1
	go.uber.org/zap v1.28.0
)

require (
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	go.uber.org/multierr v1.10.0 // indirect
	golang.org/x/sys v0.29.0 // indirect
)
