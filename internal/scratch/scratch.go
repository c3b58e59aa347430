// Package scratch makes directories for what is to be removed in the end. It also removes those
// that are left of processes that were killed, and could not do that themselves.
//
// A directory belongs to a process as long as the process has it locked, which ends with the
// process. That holds for processes in containers that share it, too. Where there are no such
// locks, as on Windows, what is left stays.
package scratch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	prefix = "ftrace-scratch-"
	young  = time.Minute // a directory may not be locked yet
)

// New makes a directory, among the system's temporary ones, that nobody else may use. remove
// removes it with what is in it. The error says what to do.
func New() (dir string, remove func(), err error) {
	sweep(os.TempDir(), time.Now().Add(-young))
	if dir, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, fmt.Errorf("making a directory for what is recorded: %w: set TMPDIR to a writable one", err)
	}
	unlock, _ := lock(dir) // without a lock another process takes it for left, and that is rare
	return dir, func() {
		os.RemoveAll(dir)
		unlock()
	}, nil
}

// sweep removes directories that were left before a time. It reports nothing: there may be others
// that are not ours to remove.
func sweep(temp string, before time.Time) {
	entries, _ := os.ReadDir(temp)
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		info, err := e.Info()
		if err != nil || info.ModTime().After(before) {
			continue
		}
		dir := filepath.Join(temp, e.Name())
		if unlock, ok := lock(dir); ok {
			os.RemoveAll(dir)
			unlock()
		}
	}
}
