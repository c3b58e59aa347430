// Package loglevel adds a log level below DEBUG: at TRACE, a program that was built with
// ftrace-wrap shows its calls. Levels can differ by package and file, and change while the program
// runs.
//
//	package main
//
//	import (
//		"fmt"
//		"log/slog"
//		"os"
//
//		"github.com/ftrace-wrap/ftrace-wrap/loglevel"
//	)
//
//	func main() {
//		levels, err := loglevel.FromEnv("LOG", "info")
//		if err != nil {
//			slog.Error("level", "err", err)
//		}
//		loglevel.Bind(levels) // the error is that there is nothing to show at TRACE
//		slog.SetDefault(slog.New(loglevel.NewFilter(
//			loglevel.NewTextHandler(os.Stderr, &loglevel.HandlerOptions{Level: levels}), levels)))
//		slog.Info("listening", "addr", addr(8080))
//	}
//
//	func addr(port int) string { return fmt.Sprint(":", port) }
//
// LOG=debug ./app logs from DEBUG on. LOG=info,net/...=debug does so in net and the packages below
// it only. LOG=info,main=trace shows the calls of package main, with the log lines among them:
//
//	G1   + main.addr(port=8080) { // #1
//	G1     } = ":8080" // main.addr
//	G1   - info listening addr=:8080
//
// Built by plain go build the program logs all the same. It shows no calls then, and [Bind] returns
// an error.
//
// # Levels
//
// A [Level] is a number as in package slog: ERROR 8, WARN 4, NOTICE 2, INFO 0, DEBUG -4, TRACE -8.
// [Parse] reads names, short forms, offsets and numbers. A [LevelVar] can be changed while loggers
// use it, for example as the Level of [slog.HandlerOptions]. [ReplaceAttr] makes package slog's
// handlers print NOTICE and TRACE. Level and LevelVar can be flags, and fields in JSON.
//
//	var level loglevel.LevelVar
//	flag.Var(&level, "log", "level: err, warn, notice, info, debug or trace")
//
// # Levels of packages and files
//
// [Levels] are read from one string such as info,net/...=trace,db.go=debug; a [LevelsVar] can be
// changed. [NewFilter] makes a handler that looks where a record was made. Other loggers can use
// [LevelsVar.At].
//
// # TRACE
//
// [Bind] arms functions while their package or file is at TRACE, in addition to what FTRACE names.
// [As] chooses what is shown of a call.
//
// # While the program runs
//
// Set and Store change levels from anywhere in the program, [NotifySignals] by signals, and package
// levelhttp by HTTP requests. What is traced changes at once.
//
// # Lines of the trace
//
// While calls are shown, the trace has what the program prints and logs, whatever its logger:
// docs/log.md. [NewTextHandler] and [NewTextWriter] write lines of this form at any time and
// anywhere, such as to a file of their own. [NewJSONHandler] and [NewJSONWriter] write JSON with
// the goroutine and the depth.
package loglevel
