package loglevel_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/ftrace-wrap/ftrace-wrap/loglevel"
)

func ExampleParse() {
	for _, text := range []string{"trace", "W", "info+1", "-8"} {
		level, err := loglevel.Parse(text)
		fmt.Println(level, int(level), err)
	}
	_, err := loglevel.Parse("loud")
	fmt.Println(err)
	// Output:
	// TRACE -8 <nil>
	// WARN 4 <nil>
	// INFO+1 1 <nil>
	// TRACE -8 <nil>
	// loglevel: "loud" is no level (one of err, warn, notice, info, debug, trace, one of these with an offset such as info+1, or a number)
}

// A logger of package slog with a level that changes, and with names for NOTICE and TRACE.
func ExampleLevelVar() {
	var level loglevel.LevelVar
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: &level, ReplaceAttr: withoutTime}))
	logger.Debug("not this one")
	level.Store(loglevel.Debug)
	logger.Debug("but this one")
	logger.Log(context.Background(), loglevel.Notice.Level(), "of note")
	// Output:
	// level=DEBUG msg="but this one"
	// level=NOTICE msg="of note"
}

// withoutTime makes the output of examples the same each time.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return loglevel.ReplaceAttr(groups, a)
}

func ExampleLevelVar_flag() {
	var level loglevel.LevelVar
	flags := flag.NewFlagSet("app", flag.ContinueOnError)
	flags.Var(&level, "log", "level")
	flags.Parse([]string{"-log=debug"})
	fmt.Println(&level)
	// Output: DEBUG
}

func ExampleLevel_json() {
	var config struct {
		Log loglevel.Level `json:"log"`
	}
	err := json.Unmarshal([]byte(`{"log":"notice"}`), &config)
	fmt.Println(config.Log, err)
	// Output: NOTICE <nil>
}
