//go:build ftrace_core

// Reading settings, and complaining about them on stderr.

package runtime

import "unsafe"

// ftraceComplain tells the user on stderr what is wrong.
func ftraceComplain(message string) {
	ftraceWriteHeldFirst(2)
	line := "ftrace: "
	for len(message) > 0 {
		n := ftrace_escape_Plain(message)
		line += message[:n]
		if message = message[n:]; message != "" {
			code, size := ftrace_escape_Code(message[0])
			line += string(code[:size])
			message = message[1:]
		}
	}
	line += "\n"
	write(2, unsafe.Pointer(unsafe.StringData(line)), int32(len(line)))
}

// ftraceErrno names the errors that a user is likely to see.
func ftraceErrno(errno int32) string {
	if errno > ftraceRefused {
		return ftrace_ownfile_Refusal(errno - ftraceRefused).String()
	}
	for _, e := range ftraceErrors {
		if e.errno == errno {
			return e.text
		}
	}
	var digits [20]byte
	return "error " + string(ftraceItoa(digits[:], uint64(uint32(errno))))
}

// ftraceItem cuts the first of comma-separated items off.
func ftraceItem(s string) (item, rest string) {
	for i := range len(s) {
		if s[i] == ',' {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func ftraceParseInt(s string) (int, bool) {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' || n > 1<<30 {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, s != ""
}

// ftraceParseSwitch reads a variable that is on or off.
func ftraceParseSwitch(variable, s string) bool {
	switch s {
	case "", "0", "off", "false":
		return false
	case "1", "on", "true":
		return true
	}
	ftraceComplain(variable + ": " + s + " is neither on nor off")
	return false
}

// ftraceVariableName returns the name in an entry of the environment.
func ftraceVariableName(entry string) string {
	for i := range len(entry) {
		if entry[i] == '=' {
			return entry[:i]
		}
	}
	return entry
}

// ftraceArg0 returns the program's name as it was started.
func ftraceArg0() string {
	if len(argslice) > 0 {
		return argslice[0]
	}
	return ""
}

// ftraceComplainRules shows where a rule in an environment variable is wrong, and says what follows
// from it.
func ftraceComplainRules(variable, rules, so string, err *ftrace_rule_Error) {
	ftraceComplain(variable + ": " + err.Message + "; " + so)
	marks := make([]byte, 0, len(rules)+1)
	for i := 0; i < err.Offset; i++ {
		marks = append(marks, ' ')
	}
	for range max(err.Length, 1) {
		marks = append(marks, '^')
	}
	ftraceComplain("  " + rules)
	ftraceComplain("  " + string(marks))
}
