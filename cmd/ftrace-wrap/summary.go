package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/summary"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// sumUp runs the go command with a test's arguments, and appends a summary of what it prints to a
// file.
func sumUp(name string, args []string) (status int, err error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		return 2, fmt.Errorf("-summary: %v: name a file that you may write to", err)
	}
	tests := summary.New(asJSON(args))
	status, err = gocmd.Tee(args, tests.Stdout(), tests.Stderr())
	return status, errors.Join(err, appendTo(file, tests, status))
}

// appendTo appends the summary to a file, and closes it. The file stays below GitHub's limit.
func appendTo(file *os.File, tests *summary.Run, status int) error {
	info, err := file.Stat()
	if err == nil {
		_, err = file.Write(tests.Markdown(status, max(summary.Limit-int(min(info.Size(), summary.Limit)), summary.Least)))
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("-summary: %v: the summary is not complete", err)
	}
	return nil
}

// asJSON reports whether go test prints JSON.
func asJSON(args []string) (on bool) {
	for _, arg := range slices.Concat(words.GoFlags(os.Getenv("GOFLAGS")), args) {
		switch name, value, inline := gocmd.FlagName(arg); name {
		case "args":
			return on
		case "json":
			set, err := strconv.ParseBool(value)
			on = !inline || set && err == nil
		}
	}
	return on
}
