//go:build ftrace_core && go1.22

// This file and those beside it are added to package github.com/go-sql-driver/mysql. They follow
// the protocol of each connection that is traced. The driver's functions call them when they begin
// and return (see internal/inject/protocol.go). What happens is read from the packets.

package definition

import "unsafe"

// ftraceSession is a connection that is traced.
type ftraceSession struct {
	conn  unsafe.Pointer // the core's
	wants uint32
	stage string

	making        bool // Connect is under way: it keeps other goroutines out
	dialed        bool
	packetsOnly   bool // only packets are known
	authenticated bool // AUTHENTICATED is to come once a command can be sent
	reported      bool // ERROR was delivered since the last command began: errors that outer functions return are the same

	capabilities uint32 // that the client sent to the server
	extended     uint32 // MariaDB's
	sending      string // the event of the packet that is being sent
	length       int    // of that packet
	command      byte
	lastFile     bool       // the packet ends a file
	params       int        // definitions of parameters still to come
	fields       int        // and of columns; -1 if the server does not say how many
	described    bool       // no rows follow the definitions
	args         ftraceArgs // of the event being delivered, so that each event takes no new memory
	secretive    bool       // the command has a password in it, which must not be seen
	ftraceStatement
}

const (
	ftraceConnecting     = "CONNECTING"
	ftraceInitPacket     = "WAIT_FOR_INIT_PACKET"
	ftraceAuthenticate   = "AUTHENTICATE"
	ftraceSSLNegotiation = "SSL_NEGOTIATION"
	ftraceReady          = "READY_FOR_COMMAND"
	ftraceWaitPacket     = "WAIT_FOR_PACKET"
	ftraceWaitResult     = "WAIT_FOR_RESULT"
	ftraceWaitField      = "WAIT_FOR_FIELD_DEF"
	ftraceWaitRow        = "WAIT_FOR_ROW"
	ftraceFileRequest    = "FILE_REQUEST"
	ftraceDescription    = "WAIT_FOR_PS_DESCRIPTION"
	ftraceParameter      = "WAIT_FOR_PS_PARAMETER"
)

// The numbers of MySQL's client library for errors that no server sent.
const (
	ftraceUnknownError = 2000
	ftraceCantConnect  = 2003
	ftraceServerGone   = 2006
	ftraceServerLost   = 2013
	ftraceTLSError     = 2026
)

// ftraceMaking is a call of Connect under way.
type ftraceMaking struct {
	session       *ftraceSession // nil if it is not traced
	outerProtocol string         // what the goroutine was making before: a dialer may itself need a connection
	outer         unsafe.Pointer
}

// ftraceConnect is called when Connect begins, with what it connects to; made is called when it
// ends.
func ftraceConnect(address, user, database string) *ftraceMaking {
	m := new(ftraceMaking)
	if conn, wants := ftraceBegin("mysql", ftraceProbed(), address, user, database); conn != nil {
		m.session = &ftraceSession{conn: conn, wants: wants, stage: ftraceConnecting, making: true}
		m.session.event("CONNECTING", ftraceArgs{})
	}
	m.outerProtocol, m.outer = ftracePend("mysql", unsafe.Pointer(m.session))
	return m
}

func (m *ftraceMaking) made(err *error) {
	ftracePend(m.outerProtocol, m.outer)
	s := m.session
	if s == nil {
		return
	}
	switch {
	case *err != nil:
		if !s.reported {
			s.fail(s.codeHere(), *err)
		}
		ftraceClose(s.conn)
	case !s.dialed: // a panic
		ftraceClose(s.conn)
	default:
		s.ready()
	}
	s.making = false
	s.leave()
}

// codeHere returns the number of an error that ends the making of a connection.
func (s *ftraceSession) codeHere() int {
	switch s.stage {
	case ftraceConnecting:
		return ftraceCantConnect
	case ftraceSSLNegotiation:
		return ftraceTLSError
	}
	return ftraceUnknownError
}

// ftraceDialed is called when there is a physical connection, in Connect.
func ftraceDialed(to **ftraceSession, driver any) {
	s := (*ftraceSession)(ftracePending("mysql"))
	if s == nil || *to != nil || s.dialed {
		return
	}
	*to = s
	s.dialed = true
	ftraceDriver(s.conn, driver)
	s.event("CONNECTED", ftraceArgs{})
	s.to(ftraceInitPacket)
}

// ftraceGreeted is called with what was read on a connection that is not traced, in releases of
// which only packets are known. If it is the server's first packet, tracing begins with the events
// that must have come before.
//
//lint:ignore U1000 releases of the library that are known by their packets alone call it
func ftraceGreeted(to **ftraceSession, packet []byte, err error) {
	if _, _, ok := ftraceGreeting(packet); !ok || err != nil {
		return
	}
	conn, wants := ftraceBegin("mysql", ftraceProbed(), "", "", "")
	if conn == nil {
		return
	}
	s := &ftraceSession{conn: conn, wants: wants, stage: ftraceConnecting, dialed: true, packetsOnly: true}
	*to = s
	s.event("CONNECTING", ftraceArgs{})
	s.event("CONNECTED", ftraceArgs{})
	s.to(ftraceInitPacket)
	s.event("READ_PACKET", ftraceArgs{})
	s.received(packet)
	s.leave()
}

// enter reports whether what begins now makes events.
func (s *ftraceSession) enter() bool {
	if s.making {
		return !ftraceQuiet()
	}
	return ftraceEnter(s.conn)
}

func (s *ftraceSession) leave() {
	if !s.making && ftracePrintExit(s.conn) {
		s.ended()
	}
}

// reading is called when readPacket begins; read is called when it returns.
func (s *ftraceSession) reading() *ftraceSession {
	if !s.enter() {
		return nil
	}
	s.event("READ_PACKET", ftraceArgs{})
	return s
}

func (s *ftraceSession) read(packet []byte, err error) {
	if err != nil {
		s.fail(ftraceServerLost, err)
		if s.packetsOnly {
			ftraceClose(s.conn)
		}
	} else {
		s.received(packet)
	}
	s.leave()
}

// writing is called when writePacket begins; wrote is called when it returns. A head of 4 bytes is
// before the packet.
func (s *ftraceSession) writing(data []byte) *ftraceSession {
	if len(data) < 4 || !s.enter() {
		return nil
	}
	s.send(data[4:])
	return s
}

func (s *ftraceSession) wrote(err error) {
	if err != nil {
		s.fail(ftraceServerGone, err)
		if s.packetsOnly {
			ftraceClose(s.conn)
		}
	} else {
		s.sent()
	}
	s.leave()
}

// ready is called when a command is about to be made, and when the connection is ready. If the
// server has accepted the connection since, a plugin can send commands now.
func (s *ftraceSession) ready() {
	if s.authenticated && s.making && !ftraceQuiet() {
		s.accepted()
	}
}

func (s *ftraceSession) accepted() {
	s.authenticated = false
	s.event("AUTHENTICATED", ftraceArgs{})
	s.to(ftraceReady)
	s.started()
}

// fileSent is called when handleInFileRequest returns.
func (s *ftraceSession) fileSent(err *error) {
	if !s.enter() {
		return
	}
	if *err != nil && !s.reported {
		s.fail(ftraceUnknownError, *err)
	}
	s.filing = false
	if s.stage == ftraceReady {
		s.done()
	}
	s.leave()
}

// canceled is called when a context ends with which the connection was used, on a goroutine of the
// driver's. A goroutine that waits for a packet reports the error; if there is none, canceled does.
func (s *ftraceSession) canceled(err error) {
	if ftraceEnter(s.conn) {
		s.fail(ftraceServerLost, err)
		if ftracePrintExit(s.conn) {
			s.ended()
		}
	}
}

// closed is called when the connection was closed, on any goroutine.
func (s *ftraceSession) closed() {
	if !ftraceQuiet() && ftraceClose(s.conn) {
		s.ended()
	}
}

// to goes on to another stage.
func (s *ftraceSession) to(stage string) {
	s.stage = stage
	ftraceStage(s.conn, stage)
	if stage == ftraceReady {
		s.done()
	}
}

func (s *ftraceSession) event(event string, args ftraceArgs) {
	if ftraceHooks[ftraceProbeEvent] != nil {
		ftraceFire(&ftraceHooks[ftraceProbeEvent], s.id, s.stage, event, args.Length)
	}
	s.args = args
	ftraceEvent(s.conn, event, &s.args)
}

func (s *ftraceSession) fail(code int, err error) {
	s.reported = true
	s.code, s.failure = code, err
	s.event("ERROR", ftraceArgs{Code: code, Err: err})
}
