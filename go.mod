module github.com/ftrace-wrap/ftrace-wrap

go 1.25.0

require (
	github.com/google/go-cmp v0.7.0
	golang.org/x/mod v0.37.0
)
