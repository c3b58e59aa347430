package main

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/inspect"
)

// showVerb is "ftrace-wrap show [-func NAME] [BUILD FLAGS] FILE|PKG".
func showVerb(args []string) (status int, err error) {
	name := ""
	var others []string
	for i := 0; i < len(args); i++ {
		flag, value, inline := gocmd.FlagName(args[i])
		switch {
		case flag == "func" && inline:
			name = value
		case flag == "func" && i+1 < len(args):
			i++
			name = args[i]
		default:
			others = append(others, args[i])
		}
	}
	flags, targets := gocmd.SplitFlags(others)
	return 0, inspect.Show(stdout, name, flags, targets)
}
