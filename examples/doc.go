// Package examples has small programs to try ftrace-wrap on. Each has its trace in expected.txt.
//
//	hello     a bit of everything: the first program to run
//	parser    recursive descent: depth, errors, and panics that become errors
//	workers   a pool of goroutines, each with a tree of its own
//	httpecho  an HTTP server and its client, with notes from the developer
//	slow      a page that asks its database too often
//	levels    a log level that is changed by HTTP, and with it what is traced
//	logging   a module of its own: the lines of log/slog, log, zap, logrus, zerolog and of plain prints in the trace
//
// See the calls of one of them:
//
//	ftrace-wrap run ./examples/hello
//
// docs/getting-started.md walks through them. The test here builds each with and without ftrace-wrap and compares what they print.
package examples
