//go:build ftrace_core && go1.22

// Static probes: a connection's beginning and end, commands, and how statements ended.

package definition

const (
	ftraceProbeConnectionStart = iota
	ftraceProbeConnectionDone
	ftraceProbeCommandStart
	ftraceProbeCommandDone
	ftraceProbeQueryStart
	ftraceProbeQueryDone
	ftraceProbeEvent
	ftraceProbes
)

var ftraceHooks [ftraceProbes]any

// The probes are declared before any other package can make a connection.
var _ = func() bool {
	ftraceDeclare("mysql", "", "0 0 connection-start connection;;func(connection uint64)\n"+
		"0 0 connection-done connection;;func(connection uint64)\n"+
		"0 0 command-start connection,command;;func(connection uint64, command string)\n"+
		"0 0 command-done connection,command,error;;func(connection uint64, command string, error int)\n"+
		"0 0 query-start connection,query;;func(connection uint64, query string)\n"+
		"0 0 query-done connection,query,normal,digest,error,message,rows,affected;;"+
		"func(connection uint64, query string, normal string, digest string, error int, message string, rows uint64, affected uint64)\n"+
		"0 0 event connection,stage,event,length;;func(connection uint64, stage string, event string, length int)\n",
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

// ftraceStatement is the command under way on a connection, and what it needs of the connection:
// its number and its prepared statements.
type ftraceStatement struct {
	id      uint64            // of the connection, given by the server
	texts   map[uint32]string // of prepared statements
	running bool              // a command is under way
	name    string            // of the command
	query   string            // the statement's text, without passwords
	isQuery bool
	filing  bool // it requested a file; handleInFileRequest may have an error to report when the server has answered

	code           int // of the last error, since the command began
	failure        error
	rows, affected uint64
}

func (s *ftraceSession) started() {
	if ftraceHooks[ftraceProbeConnectionStart] != nil {
		ftraceFire(&ftraceHooks[ftraceProbeConnectionStart], s.id)
	}
}

// ended is called when the connection's tracing has ended.
func (s *ftraceSession) ended() {
	s.filing = false
	s.done()
	if ftraceHooks[ftraceProbeEvent] != nil {
		ftraceFire(&ftraceHooks[ftraceProbeEvent], s.id, s.stage, "DISCONNECTED", 0)
	}
	if ftraceHooks[ftraceProbeConnectionDone] != nil {
		ftraceFire(&ftraceHooks[ftraceProbeConnectionDone], s.id)
	}
}

// begun is called when a command is about to be sent.
func (s *ftraceSession) begun(packet []byte) {
	s.running, s.isQuery, s.filing = true, false, false
	s.name, s.query = "UNKNOWN", ""
	s.code, s.failure, s.rows, s.affected = 0, nil, 0, 0
	if int(s.command) < len(ftraceCommands) {
		s.name = ftraceCommands[s.command]
	}
	switch s.command {
	case ftraceQuery, ftracePrepare:
		text, _ := ftraceWithoutPasswords(packet[1:])
		s.query, s.isQuery = string(text), s.command == ftraceQuery
	case ftraceExecute:
		s.query, s.isQuery = s.texts[uint32(ftraceInt(packet, 1, 4))], true
	case ftraceStmtClose:
		delete(s.texts, uint32(ftraceInt(packet, 1, 4)))
	}
	if ftraceHooks[ftraceProbeCommandStart] != nil {
		ftraceFire(&ftraceHooks[ftraceProbeCommandStart], s.id, s.name)
	}
	if s.isQuery && ftraceHooks[ftraceProbeQueryStart] != nil {
		ftraceFire(&ftraceHooks[ftraceProbeQueryStart], s.id, s.query)
	}
}

// prepared is called when the server has given the statement a number.
func (s *ftraceSession) prepared(number uint32) {
	if s.texts == nil {
		s.texts = map[uint32]string{}
	}
	s.texts[number] = s.query
}

// done is called when the connection is ready for another command, or has ended.
func (s *ftraceSession) done() {
	if !s.running || s.filing {
		return
	}
	s.running = false
	message := ""
	if s.failure != nil {
		message = s.failure.Error()
	}
	if s.isQuery && ftraceHooks[ftraceProbeQueryDone] != nil {
		normal := ftraceNormal(s.query)
		ftraceFire(&ftraceHooks[ftraceProbeQueryDone], s.id, s.query, normal, ftraceDigest(normal), s.code, message, s.rows, s.affected)
	}
	if ftraceHooks[ftraceProbeCommandDone] != nil {
		ftraceFire(&ftraceHooks[ftraceProbeCommandDone], s.id, s.name, s.code)
	}
}
