//go:build !windows && !darwin

package symbols

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Program returns the executable that a process of this system runs, "" if it is unknown, and the
// program's arguments with its name. If the process is an emulator for programs of other
// processors, as qemu-aarch64 is, these are the emulated program's.
func Program(pid int) (executable string, args []string) {
	executable, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	args = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	if !emulates(executable) || len(args) < 2 || strings.HasPrefix(args[1], "-") {
		return executable, args
	}
	args = args[1:]
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil || filepath.IsAbs(args[0]) {
		return args[0], args
	}
	return filepath.Join(dir, args[0]), args
}

func emulates(executable string) bool { return strings.HasPrefix(filepath.Base(executable), "qemu-") }

// executableOf returns a name by which the executable of a process can be opened, also if it has
// been removed.
func executableOf(pid int) string {
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	if run, err := os.Readlink(exe); err == nil && emulates(run) {
		exe, _ = Program(pid)
	}
	return exe
}
