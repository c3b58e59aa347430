package main

import (
	"slices"

	"github.com/ftrace-wrap/ftrace-wrap/internal/gocmd"
	"github.com/ftrace-wrap/ftrace-wrap/internal/targets"
)

// toolexecVerbs are the verbs of the go command that compile, so that -toolexec makes sense.
var toolexecVerbs = []string{"build", "fix", "install", "list", "run", "test", "vet"}

// goVerb is "ftrace-wrap go VERB ARGS": the go command with us as -toolexec.
func goVerb(args []string) (status int, err error) {
	if len(args) > 0 && slices.Contains(toolexecVerbs, args[0]) {
		flag, err := gocmd.ToolexecFlag(args[0], args[1:])
		if err != nil {
			return 0, err
		}
		if args[0] == "test" {
			targets.Select(args[1:])
		}
		args = gocmd.InsertFlags(args, flag)
		gocmd.AnnounceFirst()
	}
	return gocmd.Exec(args)
}
