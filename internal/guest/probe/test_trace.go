//go:build ftrace_core

// test_trace: the plugin that writes down the events that it gets (FTRACE_PROTOCOL=test_trace), in
// the form of the plugin of the same name in MySQL's client library.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceTestTraced says that the plugin has said goodbye; atomic.
var ftraceTestTraced uint32

var ftraceTestTrace *ftracePlugin

// ftraceParseProtocol reads FTRACE_PROTOCOL. It returns the plugin that it names, or nil.
func ftraceParseProtocol(setting, out string) *ftracePlugin {
	if setting == "" || setting == "off" || setting == "0" {
		return nil
	}
	const known = "; known are test_trace, test_trace,secrets, test_trace,params and off; no protocol is traced"
	p := new(ftracePlugin)
	p.name, p.builtin, p.wants = "test_trace", true, ftraceWantsNotes
	p.start, p.stop, p.event = ftraceTestTraceStart, ftraceTestTraceStop, ftraceTestTraceEvent
	item, rest := ftraceItem(setting)
	if item != "test_trace" {
		ftraceComplain("FTRACE_PROTOCOL: unknown plugin " + item + known)
		return nil
	}
	for rest != "" {
		item, rest = ftraceItem(rest)
		switch item {
		case "secrets":
			p.wants |= ftraceWantsSecrets
		case "params":
			p.wants |= ftraceWantsParameters
		default:
			ftraceComplain("FTRACE_PROTOCOL: unknown option " + item + known)
			return nil
		}
	}
	if out == "off" || ftraceFormat.json {
		ftraceComplain("FTRACE_PROTOCOL: test_trace writes lines of text to FTRACE_OUT, which FTRACE_OUT=off and FTRACE_FORMAT=json don't allow; no protocol is traced")
		return nil
	}
	return p
}

// ftraceStartTestTrace loads the plugin once the output is open.
func ftraceStartTestTrace(p *ftracePlugin) {
	ftraceTestTrace = p
	b := ftraceTestTraceLine(nil)
	b.str("Test trace plugin initialized\n")
	b.write()
	ftraceLoadPlugin(p)
}

// ftraceFinishTestTrace is called when the program ends.
func ftraceFinishTestTrace() {
	if ftraceTestTrace != nil && atomic.Cas(&ftraceTestTraced, 0, 1) {
		b := ftraceTestTraceLine(nil)
		b.str("Test trace plugin de-initialized\n")
		b.write()
	}
}

// ftraceTestTraceLine begins a line about a connection.
func ftraceTestTraceLine(c *ftraceConn) *ftraceText {
	b := ftraceNewText()
	b.testTrace(c)
	return b
}

func (b *ftraceText) testTrace(c *ftraceConn) {
	b.str("test_trace: ")
	if c != nil && c.id != 0 {
		for least := uint64(100); least > 1 && c.id < least; least /= 10 {
			b.byte('0')
		}
		b.uint(c.id)
		b.str(": ")
	}
}

// write writes the lines at once.
func (b *ftraceText) write() {
	ftraceWrite(unsafe.Pointer(&b.data), b.n)
	ftraceFreeText(b)
}

func ftraceTestTraceStart(p unsafe.Pointer, protocol string) any {
	b := ftraceTestTraceLine(nil)
	b.str("Starting tracing in stage CONNECTING\n")
	b.write()
	return nil
}

func ftraceTestTraceStop(p unsafe.Pointer, data any) {
	b := ftraceTestTraceLine((*ftraceConn)(p))
	b.str("Tracing connection has ended\n")
	b.write()
}

func ftraceTestTraceEvent(p unsafe.Pointer, data any, stage, event string, args *ftrace_protocol_Args) bool {
	c := (*ftraceConn)(p)
	b := ftraceTestTraceLine(c)
	b.str("stage: ")
	b.str(stage)
	b.str(", event: ")
	b.str(event)
	b.byte('\n')
	switch event {
	case "PACKET_RECEIVED":
		b.packet(c, "received", args)
	case "SEND_SSL_REQUEST", "SEND_AUTH_RESPONSE", "SEND_AUTH_DATA", "SEND_FILE":
		b.packet(c, "sent", args)
	case "ERROR":
		b.testTrace(c)
		b.str("error")
		if args.Code != 0 {
			b.byte(' ')
			b.uint(uint64(args.Code))
		}
		b.str(": ")
		if args.Err != nil {
			text, _ := ftraceCallError(args.Err)
			b.printable(text)
		}
		b.byte('\n')
	case "AUTH_PLUGIN":
		b.testTrace(c)
		b.str("Using authentication plugin: ")
		b.printable(args.Plugin)
		b.byte('\n')
	case "DISCONNECTED":
		b.testTrace(c)
		b.str("Connection  closed\n")
	}
	b.write()
	return false
}

// ftraceTestTraceNote writes a remark, with the bytes that it is about if there are any.
func ftraceTestTraceNote(c *ftraceConn, note string) {
	b := ftraceTestTraceLine(c)
	b.printable(note)
	b.byte('\n')
	b.write()
}

// packet shows the first bytes of a packet.
func (b *ftraceText) packet(c *ftraceConn, way string, args *ftrace_protocol_Args) {
	b.testTrace(c)
	b.str("packet ")
	b.str(way)
	b.str(": ")
	b.uint(uint64(args.Length))
	b.str(" bytes\n")
	if args.Redacted {
		b.str("  (not shown: there is a secret in it; FTRACE_PROTOCOL=test_trace,secrets shows it)\n")
		return
	}
	b.dump(args.Packet[:min(len(args.Packet), 32)])
}

// dump writes bytes in lines of 16, as numbers and as characters.
func (b *ftraceText) dump(p []byte) {
	for len(p) > 0 {
		line := p[:min(len(p), 16)]
		p = p[len(line):]
		from := b.n
		b.byte(' ')
		for i, c := range line {
			b.byte(' ')
			if i == 8 {
				b.byte(' ')
			}
			b.byte("0123456789ABCDEF"[c>>4])
			b.byte("0123456789ABCDEF"[c&15])
		}
		b.pad(from, 53)
		for _, c := range line {
			if c < ' ' || c >= 0x7F {
				c = '.'
			}
			b.byte(c)
		}
		b.byte('\n')
	}
}

// printable appends text of the program or the server, as much as fits, without what would steer a
// terminal. Lines stay lines.
func (b *ftraceText) printable(s string) {
	room := max(0, len(b.data)-b.n-256)
	for rest := s[:min(len(s), room)]; rest != ""; {
		n, safe := ftrace_escape_Next(rest)
		switch c := rest[0]; {
		case safe || c == '\n' || c == '\t':
			b.str(rest[:n])
		default:
			b.byte('.')
		}
		rest = rest[n:]
	}
	if len(s) > room {
		b.str("...")
	}
}
