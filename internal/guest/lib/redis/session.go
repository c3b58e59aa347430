//go:build ftrace_core && go1.22

// This file is added to packages github.com/redis/go-redis/v9/internal/pool and .../proto. They
// know the connections and what goes over them. The file follows Redis's protocol on each
// connection that is traced. In package pool a goroutine begins to write or to read on a
// connection; in package proto the words come.
//
// A packet is a command, or one line of a reply. A reply that consists of others is as many
// packets.

package definition

import "unsafe"

// ftraceSession is a connection that is traced. Both packages have this type.
type ftraceSession struct {
	conn  unsafe.Pointer // the core's
	wants uint32
	stage string

	refused  bool // the last reply was an error
	greeting bool // the commands that introduce the client are sent, and not answered yet
	accepted bool // AUTHENTICATED was delivered
	left     int  // replies still to come that belong to the one being read
	id       uint64
	failure  string // of the last reply
	hooks    *[ftraceProbes]any
	args     ftraceArgs // of the event being delivered, so that each event takes no new memory
}

// Static probes, by their places in hooks.
const (
	ftraceProbeConnectionStart = iota
	ftraceProbeConnectionDone
	ftraceProbeCommandStart
	ftraceProbeCommandDone
	ftraceProbes
)

func (s *ftraceSession) started() {
	if s.hooks[ftraceProbeConnectionStart] != nil {
		ftraceFire(&s.hooks[ftraceProbeConnectionStart], s.id)
	}
}

// ended is called when the connection's tracing has ended.
func (s *ftraceSession) ended() {
	if s.hooks[ftraceProbeConnectionDone] != nil {
		ftraceFire(&s.hooks[ftraceProbeConnectionDone], s.id)
	}
}

// begun is called when a command is about to be sent.
func (s *ftraceSession) begun(name string, packet []byte, secret bool) {
	if s.hooks[ftraceProbeCommandStart] != nil {
		text := name
		if !secret {
			text = ftraceWords(packet)
		}
		ftraceFire(&s.hooks[ftraceProbeCommandStart], s.id, name, text)
	}
}

// done is called when a reply is complete.
func (s *ftraceSession) done() {
	if s.hooks[ftraceProbeCommandDone] != nil {
		ftraceFire(&s.hooks[ftraceProbeCommandDone], s.id, s.failure)
	}
}

const (
	ftraceConnecting   = "CONNECTING"
	ftraceAuthenticate = "AUTHENTICATE"
	ftraceReady        = "READY_FOR_COMMAND"
	ftraceWaitResult   = "WAIT_FOR_RESULT"
	ftraceWaitRow      = "WAIT_FOR_ROW"
)

// ftraceRefusal is an error that a server sent.
type ftraceRefusal string

func (e ftraceRefusal) Error() string { return string(e) }

func (s *ftraceSession) to(stage string) {
	s.stage = stage
	ftraceStage(s.conn, stage)
}

func (s *ftraceSession) event(event string, args ftraceArgs) {
	s.args = args
	ftraceEvent(s.conn, event, &s.args)
}

// leave ends what ftraceWait began.
func (s *ftraceSession) leave() {
	if ftracePrintExit(s.conn) {
		s.ended()
	}
}

func (s *ftraceSession) note(note string) {
	if s.wants&ftraceWantsNotes != 0 {
		ftraceNote(s.conn, note)
	}
}

// command reports a command that is about to be sent.
func (s *ftraceSession) command(name string, packet []byte, secret bool) {
	args := ftraceArgs{Name: name, Packet: packet, Length: len(packet)}
	if secret && s.wants&ftraceWantsSecrets == 0 {
		args.Packet, args.Redacted = nil, true
	}
	s.begun(name, packet, secret)
	if !s.accepted && (secret || name == "HELLO") {
		s.greeting = true
		s.to(ftraceAuthenticate)
		s.event("SEND_AUTH_RESPONSE", args)
		return
	}
	if s.stage != ftraceAuthenticate {
		s.to(ftraceReady)
	}
	s.event("SEND_COMMAND", args)
	if args.Redacted {
		s.note(name + " (not shown: it authenticates; FTRACE_PROTOCOL=test_trace,secrets shows it)")
	} else {
		s.note(ftraceWords(packet))
	}
}

// line reports one line of a reply.
func (s *ftraceSession) line(line []byte) {
	s.event("PACKET_RECEIVED", ftraceArgs{Packet: line, Length: len(line)})
	if len(line) == 0 {
		return
	}
	if s.left > 0 {
		s.left--
	}
	s.refused, s.failure = false, ""
	switch line[0] {
	case '-', '!':
		s.refused, s.failure = true, string(line[1:])
		s.event("ERROR", ftraceArgs{Err: ftraceRefusal(line[1:])})
	case '*', '~', '>', '%', '|':
		n := 0
		for _, c := range line[1:] {
			if '0' <= c && c <= '9' && n < 1<<30 {
				n = 10*n + int(c-'0')
			}
		}
		if line[0] == '%' || line[0] == '|' {
			n *= 2
		}
		if len(line) > 1 && line[1] != '-' {
			s.left += n
		}
		s.note("Expecting " + string(line[1:]) + " elements")
	case '$', '=':
		s.note("Expecting " + string(line[1:]) + " bytes")
	}
	if s.greeting && !s.refused {
		s.greeting, s.accepted = false, true
		s.event("AUTHENTICATED", ftraceArgs{})
		s.started()
	}
	if s.left > 0 {
		s.to(ftraceWaitRow)
		return
	}
	s.done()
	if s.stage == ftraceWaitRow {
		s.to(ftraceWaitResult)
	}
}

// ftraceWords shows a command, an array of strings, as words.
func ftraceWords(packet []byte) string {
	text := ""
	for words := 0; ; words++ {
		at := 0
		for at < len(packet) && packet[at] != '\n' {
			at++
		}
		if at >= len(packet) {
			return text
		}
		head, rest := packet[:at], packet[at+1:]
		packet = rest
		if len(head) == 0 || head[0] != '$' {
			continue
		}
		n := 0
		for _, c := range head[1:] {
			if '0' <= c && c <= '9' && n < len(rest) {
				n = 10*n + int(c-'0')
			}
		}
		n = min(n, len(rest))
		if text != "" {
			text += " "
		}
		text += string(rest[:min(n, 200)])
		if n > 200 {
			text += "..."
		}
		packet = rest[n:]
		if words > 100 {
			return text + " ..."
		}
	}
}
