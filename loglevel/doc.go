// Package loglevel has log levels with one below DEBUG, TRACE, at which a program that was built
// with ftrace-wrap shows its calls.
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
//		loglevel.Bind(levels) // an error says that there is nothing to show at TRACE
//		slog.SetDefault(slog.New(loglevel.NewFilter(
//			loglevel.NewTextHandler(os.Stderr, &loglevel.HandlerOptions{Level: levels}), levels)))
//		slog.Info("listening", "addr", addr(8080))
//	}
//
//	func addr(port int) string { return fmt.Sprint(":", port) }
//
// LOG=debug ./app logs from DEBUG on, LOG=info,net/...=debug from DEBUG on in the packages below
// net only, and LOG=info,main=trace shows the calls of package main with the log lines among them:
//
//	G1   + main.addr(port=8080) { // #1
//	G1     } = ":8080" // main.addr
//	G1   - info listening addr=:8080
//
// Built by plain go build the program logs all the same; there are no calls to be shown then, and
// [Bind] says so.
//
// # Levels
//
// A [Level] is a number as that of package slog: ERROR 8, WARN 4, NOTICE 2, INFO 0, DEBUG -4, TRACE
// -8. [Parse] reads names, short forms, offsets and numbers. A [LevelVar] is one that can be
// changed while loggers use it, as [slog.HandlerOptions].Level for one; [ReplaceAttr] lets package
// slog's handlers print NOTICE and TRACE. Level and LevelVar are values of flags and of text
// formats such as JSON.
//
//	var level loglevel.LevelVar
//	flag.Var(&level, "log", "level: err, warn, notice, info, debug or trace")
//
// # Levels of packages and files
//
// [Levels] are read from one string, info,net/...=trace,db.go=debug; a [LevelsVar] can be changed.
// A handler made by [NewFilter] looks where a record was made. For other loggers there is
// [LevelsVar.At].
//
// # TRACE
//
// [Bind] arms functions while their package or file is at TRACE, with what FTRACE names in
// addition. What is shown of a call, [As] can say.
//
// # While the program runs
//
// Set or Store change levels from anywhere in the program. [NotifySignals] lets signals do it,
// package levelhttp requests. All of them change what is traced at once.
//
// # Lines of the trace
//
// What a program prints and logs is woven into its trace by itself (docs/log.md), whatever its
// logger. [NewTextHandler] and [NewTextWriter] are for programs that want this form at any time and
// anywhere, such as in a file of their own; [NewJSONHandler] and [NewJSONWriter] for JSON with
// goroutine and depth.
package loglevel
