module github.com/ftrace-wrap/ftrace-wrap

go 1.25.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe
	github.com/rogpeppe/go-internal v1.15.0
	golang.org/x/mod v0.37.0
	golang.org/x/tools v0.46.0
	google.golang.org/protobuf v1.36.11
)

require (
	golang.org/x/sync v0.21.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
)
