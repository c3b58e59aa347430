//go:build ftrace_core && go1.22

// What is read from packets, and how they are described. A packet may hold anything: what is
// missing counts as zero.

package definition

// ftraceInt returns n bytes of a packet as a number.
func ftraceInt(packet []byte, at, n int) (v uint64) {
	for i := at + n - 1; i >= at; i-- {
		v <<= 8
		if i < len(packet) {
			v |= uint64(packet[i])
		}
	}
	return v
}

// ftraceLength reads a number that tells its own length, and returns both. After the packet's end
// there is none.
func ftraceLength(packet []byte) (v uint64, n int) {
	if len(packet) == 0 {
		return 0, 0
	}
	switch packet[0] {
	case 0xFC:
		n = 2
	case 0xFD:
		n = 3
	case 0xFE:
		n = 8
	default:
		return uint64(packet[0]), 1
	}
	return ftraceInt(packet, 1, n), min(1+n, len(packet))
}

// ftraceCString returns the text before the first zero byte.
func ftraceCString(p []byte) string {
	for i, c := range p {
		if c == 0 {
			return string(p[:i])
		}
	}
	return string(p)
}

func ftraceIsEOF(packet []byte) bool { return packet[0] == 0xFE && len(packet) < 9 }

// ftraceGreeting reads the server's first packet: the connection's number, and the server's
// version.
func ftraceGreeting(packet []byte) (id uint64, version string, ok bool) {
	if len(packet) < 34 || packet[0] != 10 {
		return 0, "", false
	}
	version = ftraceCString(packet[1:min(len(packet), 100)])
	at := 1 + len(version) + 1
	for i := range len(version) {
		if version[i] < ' ' || version[i] >= 0x7F {
			return 0, "", false
		}
	}
	if version == "" || at+4+8 >= len(packet) || packet[at+4+8] != 0 {
		return 0, "", false
	}
	return ftraceInt(packet, at, 4), version, true
}

// ftraceChosenPlugin returns the authentication plugin that the answer to the greeting names.
func ftraceChosenPlugin(packet []byte, capabilities uint32) string {
	if len(packet) < 32 {
		return ""
	}
	rest := packet[32:]
	skip := func(n int) { rest = rest[min(max(n, 0), len(rest)):] }
	skip(len(ftraceCString(rest)) + 1) // user
	length, n := ftraceLength(rest)
	skip(n)
	skip(int(min(length, uint64(len(rest))))) // the answer
	if capabilities&ftraceWithDB != 0 {
		skip(len(ftraceCString(rest)) + 1)
	}
	return ftraceCString(rest)
}

// ftraceRefusal is an error that a server sent.
type ftraceRefusal string

func (e ftraceRefusal) Error() string { return string(e) }

// ftraceServerError reads an error's number and text.
func ftraceServerError(packet []byte) (code int, message error) {
	text := packet[min(3, len(packet)):]
	if len(text) >= 6 && text[0] == '#' {
		text = text[6:]
	}
	return int(ftraceInt(packet, 1, 2)), ftraceRefusal(text)
}

// ftraceCommandNote says what a command is.
func ftraceCommandNote(args *ftraceArgs) string {
	number := func() string { return ftraceDecimal(ftraceInt(args.Header, 0, 4)) }
	bytes := ", " + ftraceDecimal(uint64(args.Length)) + " bytes"
	switch args.Command {
	case ftraceQuery, ftracePrepare, ftraceInitDB, ftraceFieldList:
		return args.Name + ": " + string(args.Packet)
	case ftraceExecute:
		if args.Length == 0 {
			return args.Name + ": statement " + number()
		}
		return args.Name + ": statement " + number() + ", parameters" + ftraceParameters(args, bytes)
	case ftraceLongData:
		return args.Name + ": statement " + number() + ", parameter " + ftraceDecimal(ftraceInt(args.Header, 4, 2)) + ftraceParameters(args, bytes)
	case ftraceStmtClose:
		return args.Name + ": statement " + ftraceDecimal(ftraceInt(args.Packet, 0, 4))
	}
	return args.Name
}

// ftraceParameters shows parameters as bytes, if they may be seen.
func ftraceParameters(args *ftraceArgs, bytes string) string {
	if args.Redacted {
		return bytes + " (not shown: FTRACE_PROTOCOL=test_trace,params shows them)"
	}
	text := bytes + ":"
	for _, c := range args.Packet[:min(len(args.Packet), 256)] {
		text += " " + "0123456789ABCDEF"[c>>4:c>>4+1] + "0123456789ABCDEF"[c&15:c&15+1]
	}
	if len(args.Packet) > 256 {
		text += " ..."
	}
	return text
}

func (s *ftraceSession) note(note, of string) {
	if s.wants&ftraceWantsNotes != 0 {
		ftraceNote(s.conn, note+of)
	}
}

func ftraceDecimal(v uint64) string {
	var digits [20]byte
	i := len(digits)
	for {
		i--
		digits[i] = byte('0' + v%10)
		v /= 10
		if v == 0 {
			return string(digits[i:])
		}
	}
}
