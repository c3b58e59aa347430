package symbols

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

// Program returns the executable that a process of this system runs, "" if it is unknown, and the
// program's arguments with its name.
func Program(pid int) (executable string, args []string) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return "", []string{""}
	}
	return parseProgram(int(int32(binary.LittleEndian.Uint32(b))), string(b[4:]))
}

// parseProgram takes apart what the system tells: the executable, zeros, and each argument with a
// zero.
func parseProgram(count int, text string) (executable string, args []string) {
	executable, text, _ = strings.Cut(text, "\x00")
	text = strings.TrimLeft(text, "\x00")
	for range count {
		arg, rest, ok := strings.Cut(text, "\x00")
		if !ok {
			break
		}
		args, text = append(args, arg), rest
	}
	if len(args) == 0 {
		args = []string{executable}
	}
	return executable, args
}

// executableOf returns the executable of a process.
func executableOf(pid int) string {
	executable, _ := Program(pid)
	return executable
}
