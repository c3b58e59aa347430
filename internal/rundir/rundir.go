// Package rundir makes the directory for the recordings of one run of a command. The next run
// replaces it, and nothing else is ever removed. The verbs flake and test of command ftrace-wrap
// call it.
package rundir

import (
	"fmt"
	"os"
	"path/filepath"
)

// Make makes the directory dir, empty but for a marker, with access for its owner only. One that an
// earlier run of the verb has made is removed first. Any other that is not empty is an error, which
// advises to name another directory with the flag.
func Make(dir, verb, flag string) error {
	marker := "ftrace-" + verb
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, marker)); err != nil {
			return fmt.Errorf("%s is not of an earlier run of ftrace-wrap %s: name another directory with %s", dir, verb, flag)
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("removing the recordings of an earlier run: %v", err)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making a directory for recordings: %v: name another one with %s", err, flag)
	}
	return os.WriteFile(filepath.Join(dir, marker), nil, 0o600)
}
