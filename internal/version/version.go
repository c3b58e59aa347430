// Package version tells which build of this module a command is.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// String returns two lines about the running executable: its version and commit, and the Go
// release and platform that it was built with. The version is the one that go install was given,
// such as v0.1.0. In a clone it is the one that the go command derives from the commit.
func String(command string) string {
	version, commit, modified := "(unknown)", "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = " commit " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = " with local changes"
			}
		}
	}
	return fmt.Sprintf("%s %s%s%s\nbuilt with %s for %s/%s\n",
		command, version, commit, modified, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
