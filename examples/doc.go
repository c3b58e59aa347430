// Package examples has small programs to try ftrace-wrap on. Those that have an expected.txt are
// tested: that is their trace.
//
//	hello     a bit of everything: the first program to run
//	parser    recursive descent: depth, errors, and panics that become errors
//	workers   a pool of goroutines, each with a tree of its own
//	httpecho  an HTTP server and its client, with notes from the developer
//	books     a request, its function, its statement, its wait
//	relay     a request that passes through two processes
//	slow      a page that asks its database too often
//	levels    a log level that is changed by HTTP, and with it what is traced
//	stuck     two goroutines that wait for each other
//	circle    a loop without an end
//	convoy    a queue at a lock, a forgotten receiver, and a slow file
//	busy      more to compute than there are processors, and a system call that takes long
//	shop      a package whose tests replace functions
//	protocol  a module of its own: programs that talk to MySQL, MariaDB and Redis servers
//	kubernetes
//	          a module of its own: manifests, and the test that checks them
//	logging   a module of its own: the lines of log/slog, log, zap, logrus, zerolog and of plain
//	          prints in the trace
//
// See the calls of one of them:
//
//	ftrace-wrap run ./examples/hello
//
// docs/getting-started.md begins with some of them. The test here builds programs with and without
// ftrace-wrap, and compares what they print.
package examples
