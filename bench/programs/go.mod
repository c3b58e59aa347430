// The programs that bench measures, apart from the main module so that it depends on none of them.
module github.com/ftrace-wrap/ftrace-wrap/bench/programs

go 1.25.0

require (
	github.com/yuin/goldmark v1.8.7
	github.com/yuin/gopher-lua v1.1.2
)

require (
	github.com/evanw/esbuild v0.28.2 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/cobra v1.10.2 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	golang.org/x/sys v0.45.0 // indirect
)

tool (
	github.com/evanw/esbuild/cmd/esbuild
	go.etcd.io/bbolt/cmd/bbolt
)
