//go:build ftrace_core && go1.22

// Connections, in package pool.

package definition

import "unsafe"

var ftraceHooks [ftraceProbes]any

// The probes are declared before any other package can make a connection.
var _ = func() bool {
	ftraceDeclare("redis", "", "0 0 connection-start connection;;func(connection uint64)\n"+
		"0 0 connection-done connection;;func(connection uint64)\n"+
		"0 0 command-start connection,command,text;;func(connection uint64, command string, text string)\n"+
		"0 0 command-done connection,error;;func(connection uint64, error string)\n",
		&ftraceHooks[0], ftraceProbes, "", nil)
	return true
}()

// ftraceProbed reports whether a probe is armed.
func ftraceProbed() bool {
	for i := range ftraceHooks {
		if ftraceHooks[i] != nil {
			return true
		}
	}
	return false
}

// ftraceMaking is a call of dialConn under way.
type ftraceMaking struct {
	session       *ftraceSession // nil if it is not traced
	outerProtocol string         // what the goroutine was making before
	outer         unsafe.Pointer
}

// ftraceDial is called when dialConn begins, ftraceDialed when it ends.
func ftraceDial() *ftraceMaking {
	m := new(ftraceMaking)
	if conn, wants := ftraceBegin("redis", ftraceProbed(), "", "", ""); conn != nil {
		m.session = &ftraceSession{conn: conn, wants: wants, stage: ftraceConnecting, id: ftraceNumber(), hooks: &ftraceHooks}
		ftraceIdentify(conn, m.session.id)
		m.session.event("CONNECTING", ftraceArgs{})
	}
	m.outerProtocol, m.outer = ftracePend("", nil)
	return m
}

func ftraceDialed(m *ftraceMaking, cn **Conn, err *error) {
	ftracePend(m.outerProtocol, m.outer)
	s := m.session
	if s == nil {
		return
	}
	if *err == nil && *cn != nil {
		if at := (*cn).RemoteAddr(); at != nil {
			ftraceAddress(s.conn, at.String())
		}
		s.event("CONNECTED", ftraceArgs{})
		s.to(ftraceReady)
		(*cn).ftrace = s
	} else {
		if *err != nil {
			s.event("ERROR", ftraceArgs{Err: *err})
		}
		ftraceClose(s.conn)
	}
	s.leave()
}

// ftraceUse is what a goroutine does on a connection between two calls of package pool's.
type ftraceUse struct {
	session       *ftraceSession
	outerProtocol string
	outer         unsafe.Pointer
}

// use says that the goroutine uses the connection, so that package proto knows whose words it
// handles.
func (s *ftraceSession) use() ftraceUse {
	protocol, outer := ftracePend("redis", unsafe.Pointer(s))
	return ftraceUse{s, protocol, outer}
}

// write is called when WithWriter begins; wrote is called when it returns.
func (s *ftraceSession) write() ftraceUse { return s.use() }

func (u ftraceUse) wrote(err *error) {
	ftracePend(u.outerProtocol, u.outer)
	s := u.session
	if !ftraceWait(s.conn) {
		return
	}
	if *err != nil {
		s.event("ERROR", ftraceArgs{Err: *err})
	} else {
		s.event("PACKET_SENT", ftraceArgs{})
		if s.stage == ftraceReady {
			s.to(ftraceWaitResult)
		}
	}
	s.leave()
}

// read is called when WithReader begins; done is called when it returns.
func (s *ftraceSession) read() ftraceUse {
	if ftraceWait(s.conn) {
		s.left, s.refused = 0, false
		s.event("READ_PACKET", ftraceArgs{})
		s.leave()
	}
	return s.use()
}

func (u ftraceUse) done(err *error) {
	ftracePend(u.outerProtocol, u.outer)
	s := u.session
	if !ftraceWait(s.conn) {
		return
	}
	if *err != nil && !s.refused && (*err).Error() != "redis: nil" {
		s.event("ERROR", ftraceArgs{Err: *err})
	}
	if !s.greeting {
		s.to(ftraceReady)
	}
	s.leave()
}

// closed is called when the connection was closed, on any goroutine.
func (s *ftraceSession) closed() {
	if !ftraceQuiet() && ftraceClose(s.conn) {
		s.ended()
	}
}
