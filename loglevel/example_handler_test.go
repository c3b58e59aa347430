package loglevel_test

import (
	"log"
	"log/slog"
	"os"

	"github.com/ftrace-wrap/ftrace-wrap/loglevel"
)

// In a program built with ftrace-wrap the goroutine and the depth come first:
//
//	G1     - info listening addr=:8080
func ExampleNewTextHandler() {
	logger := slog.New(loglevel.NewTextHandler(os.Stdout, nil))
	logger.Info("listening", "addr", ":8080")
	// Output: - info listening addr=:8080
}

// In a program built with ftrace-wrap "goroutine":1,"depth":1 follow the level.
func ExampleNewJSONHandler() {
	logger := slog.New(loglevel.NewJSONHandler(os.Stdout, &loglevel.HandlerOptions{ReplaceAttr: withoutTime}))
	logger.Info("listening", "addr", ":8080")
	// Output: {"level":"INFO","msg":"listening","addr":":8080"}
}

func ExampleNewTextWriter() {
	logger := log.New(loglevel.NewTextWriter(os.Stdout), "app: ", 0)
	logger.Print("listening")
	// Output: - app: listening
}
