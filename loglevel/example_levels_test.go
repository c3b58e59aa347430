package loglevel_test

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/ftrace-wrap/ftrace-wrap/loglevel"
)

func ExampleParseLevels() {
	levels, err := loglevel.ParseLevels("info,net/...=trace,db.go=debug")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(levels.Of("net/http", "/go/src/net/http/server.go"))
	fmt.Println(levels.Of("example.com/app/store", "/src/app/store/db.go"))
	fmt.Println(levels.Of("main", "/src/app/main.go"))
	_, err = loglevel.ParseLevels("info,net/...=loud")
	fmt.Println(err.(*loglevel.SyntaxError).Offset)
	// Output:
	// TRACE
	// DEBUG
	// INFO
	// 13
}

// Levels by file, from an environment variable.
func ExampleNewFilter() {
	os.Setenv("APP_LOG", "warn,example_levels_test.go=debug")
	levels, err := loglevel.FromEnv("APP_LOG", "info")
	if err != nil {
		fmt.Println(err)
	}
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: levels, ReplaceAttr: withoutTime})
	logger := slog.New(loglevel.NewFilter(handler, levels))
	logger.Debug("from this file")
	levels.Set("warn")
	logger.Debug("no more")
	// Output: level=DEBUG msg="from this file"
}
