//go:build ftrace_core && go1.22

// This file is added to package github.com/redis/go-redis/v9. It tells the core of commands.

package definition

// The usual commands are declared before any is sent.
var _ = func() bool {
	for _, own := range [...]string{"other", "get", "set", "del", "pipeline"} {
		ftraceDeclareSpan("statement/redis", own, "text;err!;func(string)(error)")
	}
	return true
}()

// ftraceProcesses is called by the function that sends a command. end is called when it ends.
//
//go:noinline
func ftraceProcesses(cmd Cmder) (s ftraceSpan) {
	text := ftraceCommandText(cmd)
	s.token, s.number = ftraceBeginSpan("statement/redis", ftraceWord(cmd.Name()), text, text)
	return s
}

// ftraceProcessesAll is ftraceProcesses for a pipeline. Its text has the names of its commands.
//
//go:noinline
func ftraceProcessesAll(cmds []Cmder) (s ftraceSpan) {
	text := ""
	for i, cmd := range cmds {
		if i > 0 {
			text += "; "
		}
		if len(text) > 300 {
			text += "..."
			break
		}
		text += cmd.Name()
	}
	s.token, s.number = ftraceBeginSpan("statement/redis", "pipeline", text, text)
	return s
}

// ftraceCommandText returns a command as words. Those that authenticate have a name only.
func ftraceCommandText(cmd Cmder) string {
	switch name := ftraceWord(cmd.Name()); name {
	case "auth", "hello", "acl", "config", "migrate":
		return name
	}
	text := ""
	for i, arg := range cmd.Args() {
		if i > 0 {
			text += " "
		}
		if len(text) > 300 {
			return text + "..."
		}
		switch v := arg.(type) {
		case string:
			text += v[:min(len(v), 200)]
		case []byte:
			text += string(v[:min(len(v), 200)])
		case int:
			text += ftraceDecimal(int64(v))
		case int64:
			text += ftraceDecimal(v)
		default:
			text += "?"
		}
	}
	return text
}

func ftraceDecimal(v int64) string {
	var digits [20]byte
	i, n := len(digits), uint64(v)
	if v < 0 {
		n = -n
	}
	for n > 0 || i == len(digits) {
		i--
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	if v < 0 {
		i--
		digits[i] = '-'
	}
	return string(digits[i:])
}

// end is called with the error, which says too that there is no such key.
func (s ftraceSpan) end(err *error) {
	failure := *err
	if failure == Nil {
		failure = nil
	}
	ftraceEndSpan(s.token, s.number, 0, failure, &failure)
}
