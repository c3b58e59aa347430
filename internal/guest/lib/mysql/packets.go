//go:build ftrace_core && go1.22

// What packets mean in each stage. See
// https://dev.mysql.com/doc/dev/mysql-server/latest/PAGE_PROTOCOL.html and
// https://mariadb.com/kb/en/clientserver-protocol/.

package definition

// Commands.
const (
	ftraceQuit          = 0x01
	ftraceInitDB        = 0x02
	ftraceQuery         = 0x03
	ftraceFieldList     = 0x04
	ftraceChangeUser    = 0x11
	ftraceBinlogDump    = 0x12
	ftraceTableDump     = 0x13
	ftracePrepare       = 0x16
	ftraceExecute       = 0x17
	ftraceLongData      = 0x18
	ftraceStmtClose     = 0x19
	ftraceFetch         = 0x1C
	ftraceBinlogDumpGID = 0x1E
)

var ftraceCommands = [...]string{"SLEEP", "QUIT", "INIT_DB", "QUERY", "FIELD_LIST", "CREATE_DB", "DROP_DB", "REFRESH", "SHUTDOWN", "STATISTICS", "PROCESS_INFO", "CONNECT",
	"PROCESS_KILL", "DEBUG", "PING", "TIME", "DELAYED_INSERT", "CHANGE_USER", "BINLOG_DUMP", "TABLE_DUMP", "CONNECT_OUT", "REGISTER_SLAVE", "STMT_PREPARE", "STMT_EXECUTE",
	"STMT_SEND_LONG_DATA", "STMT_CLOSE", "STMT_RESET", "SET_OPTION", "STMT_FETCH", "DAEMON", "BINLOG_DUMP_GTID", "RESET_CONNECTION"}

// Capabilities.
const (
	ftraceMySQL         = 1 << 0 // not MariaDB's extensions
	ftraceWithDB        = 1 << 3
	ftraceTLS           = 1 << 11
	ftraceDeprecateEOF  = 1 << 24
	ftraceCacheMetadata = 1 << 4 // one of the extended ones
)

const ftraceMoreResults = 8 // status

// send reports a packet that is about to be sent.
func (s *ftraceSession) send(packet []byte) {
	s.length = len(packet)
	s.sending = "SEND_COMMAND"
	switch s.stage {
	case ftraceInitPacket:
		s.capabilities = uint32(ftraceInt(packet, 0, 4))
		if s.capabilities&ftraceMySQL == 0 {
			s.extended = uint32(ftraceInt(packet, 28, 4))
		}
		if s.capabilities&ftraceTLS != 0 && len(packet) == 32 {
			s.to(ftraceSSLNegotiation)
			s.sending = "SEND_SSL_REQUEST"
			s.event(s.sending, ftraceArgs{Packet: packet, Length: len(packet)})
			return
		}
		s.respond(packet)
	case ftraceSSLNegotiation:
		s.event("SSL_CONNECTED", ftraceArgs{})
		s.respond(packet)
	case ftraceAuthenticate:
		s.sending = "SEND_AUTH_DATA"
		s.event(s.sending, s.secret(packet))
	case ftraceFileRequest:
		s.sending = "SEND_FILE"
		s.lastFile = len(packet) == 0
		s.event(s.sending, ftraceArgs{Packet: packet, Length: len(packet)})
	default:
		s.to(ftraceReady) // nobody waits for what was still to come
		s.sendCommand(packet)
	}
}

// respond reports the answer to the server's greeting.
func (s *ftraceSession) respond(packet []byte) {
	s.to(ftraceAuthenticate)
	s.event("AUTH_PLUGIN", ftraceArgs{Plugin: ftraceChosenPlugin(packet, s.capabilities)})
	s.sending = "SEND_AUTH_RESPONSE"
	s.event(s.sending, s.secret(packet))
}

// secret returns the arguments with a packet that authenticates.
func (s *ftraceSession) secret(packet []byte) ftraceArgs {
	if s.wants&ftraceWantsSecrets == 0 {
		return ftraceArgs{Length: len(packet), Redacted: true}
	}
	return ftraceArgs{Packet: packet, Length: len(packet)}
}

func (s *ftraceSession) sendCommand(packet []byte) {
	s.reported = false
	if len(packet) == 0 {
		return
	}
	s.command, s.secretive = packet[0], false
	args := ftraceArgs{Command: packet[0], Name: "UNKNOWN", Packet: packet[1:], Length: len(packet) - 1}
	if int(s.command) < len(ftraceCommands) {
		args.Name = ftraceCommands[s.command]
	}
	head := 0
	switch s.command {
	case ftraceBinlogDump, ftraceTableDump, ftraceBinlogDumpGID: // what follows has no end
		s.sending = ""
		ftraceClose(s.conn)
		return
	case ftraceChangeUser:
		args = s.secret(packet[1:])
		args.Command, args.Name = s.command, "CHANGE_USER"
	case ftraceQuery, ftracePrepare:
		if s.wants&ftraceWantsSecrets == 0 {
			if text, redacted := ftraceWithoutPasswords(packet[1:]); redacted {
				args.Packet, args.Redacted, s.secretive = text, true, true
			}
		}
	case ftraceExecute: // number, flags, how often
		head = min(9, args.Length)
	case ftraceLongData: // number, parameter
		head = min(6, args.Length)
	}
	if head > 0 {
		args.Header, args.Packet = packet[1:1+head], packet[1+head:]
		args.Length -= head
		if s.wants&ftraceWantsParameters == 0 {
			args.Packet, args.Redacted = nil, args.Length > 0
		}
	}
	s.event(s.sending, args)
	if s.wants&ftraceWantsNotes != 0 {
		ftraceNote(s.conn, ftraceCommandNote(&args))
	}
	s.begun(packet)
}

// sent reports that a packet was sent.
func (s *ftraceSession) sent() {
	switch s.sending {
	case "SEND_SSL_REQUEST":
		s.event("SSL_CONNECT", ftraceArgs{})
	case "SEND_FILE":
		s.event("PACKET_SENT", ftraceArgs{Length: s.length})
		if s.lastFile {
			s.to(ftraceWaitResult)
		}
	case "SEND_COMMAND":
		s.event("PACKET_SENT", ftraceArgs{Length: s.length})
		s.expect()
	}
}

// expect goes on to the stage in which the answer to the command comes.
func (s *ftraceSession) expect() {
	switch s.command {
	case ftraceQuit:
		if s.packetsOnly {
			ftraceClose(s.conn)
		}
	case ftraceStmtClose, ftraceLongData: // they have no answer
		s.to(ftraceReady)
	case ftraceQuery, ftraceExecute:
		s.to(ftraceWaitResult)
	case ftraceFieldList:
		s.fields, s.described = -1, true
		s.to(ftraceWaitField)
	case ftraceFetch:
		s.to(ftraceWaitRow)
	case ftracePrepare:
		s.to(ftraceDescription)
	case ftraceChangeUser:
		s.to(ftraceAuthenticate)
	default:
		s.to(ftraceWaitPacket)
	}
}

// received reports a packet that came.
func (s *ftraceSession) received(packet []byte) {
	if s.stage == ftraceInitPacket {
		s.greeted(packet)
		return
	}
	args := ftraceArgs{Packet: packet, Length: len(packet)}
	if s.secretive && len(packet) > 0 && packet[0] == 0xFF {
		args.Packet, args.Redacted = nil, true
	}
	s.event("PACKET_RECEIVED", args)
	if len(packet) == 0 {
		return
	}
	if packet[0] == 0xFF {
		s.refused(packet)
		return
	}
	switch s.stage {
	case ftraceAuthenticate:
		switch packet[0] {
		case 0x00:
			s.authenticated = true
			if !s.making {
				s.accepted()
			}
		case 0xFE:
			name := "mysql_old_password"
			if len(packet) > 1 {
				name = ftraceCString(packet[1:])
			}
			s.event("AUTH_PLUGIN", ftraceArgs{Plugin: name})
		}
	case ftraceWaitResult:
		s.result(packet)
	case ftraceWaitField:
		s.field(packet)
	case ftraceWaitRow:
		s.row(packet)
	case ftraceDescription:
		s.description(packet)
	case ftraceParameter:
		s.parameter(packet)
	case ftraceWaitPacket:
		s.to(ftraceReady)
	}
}

// greeted reports the server's first packet.
func (s *ftraceSession) greeted(packet []byte) {
	s.event("PACKET_RECEIVED", ftraceArgs{Packet: packet, Length: len(packet)})
	id, _, ok := ftraceGreeting(packet)
	switch {
	case ok:
		s.id = id
		ftraceIdentify(s.conn, id)
		s.event("INIT_PACKET_RECEIVED", ftraceArgs{Packet: packet, Length: len(packet)})
	case len(packet) > 0 && packet[0] == 0xFF:
		s.refused(packet)
	}
}

// refused reports an error that the server sent. After it commands can be sent, if they could
// before.
func (s *ftraceSession) refused(packet []byte) {
	code, message := ftraceServerError(packet)
	if s.secretive { // it may quote the command
		message = ftraceRefusal("(not shown: there is a password in the statement)")
	}
	s.fail(code, message)
	switch s.stage {
	case ftraceInitPacket, ftraceSSLNegotiation, ftraceAuthenticate:
	default:
		s.to(ftraceReady)
	}
}

// result handles the first packet of a result.
func (s *ftraceSession) result(packet []byte) {
	switch packet[0] {
	case 0x00:
		affected, n := ftraceLength(packet[1:])
		_, m := ftraceLength(packet[1+n:])
		s.affected += affected
		s.next(ftraceInt(packet, 1+n+m, 2))
		return
	case 0xFB:
		s.note("LOCAL INFILE: ", string(packet[1:]))
		s.filing = !s.packetsOnly
		s.to(ftraceFileRequest)
		return
	}
	columns, n := ftraceLength(packet)
	s.fields, s.described = int(columns), false
	if s.wants&ftraceWantsNotes != 0 {
		ftraceNote(s.conn, "Expecting result set with "+ftraceDecimal(columns)+" columns")
	}
	s.to(ftraceWaitField)
	if s.extended&ftraceCacheMetadata != 0 && n < len(packet) && packet[n] == 0 { // the client knows the columns
		s.fields = 0
		if s.capabilities&ftraceDeprecateEOF != 0 {
			s.lastField()
		}
	}
}

// next goes on after a result: there may be another.
func (s *ftraceSession) next(status uint64) {
	if status&ftraceMoreResults != 0 {
		s.to(ftraceWaitResult)
	} else {
		s.to(ftraceReady)
	}
}

// field handles the definition of a column, or the end of those.
func (s *ftraceSession) field(packet []byte) {
	if s.fields == 0 || s.fields < 0 && ftraceIsEOF(packet) {
		s.lastField()
		return
	}
	s.note("Received next field definition", "")
	if s.fields > 0 {
		s.fields--
	}
	if s.fields == 0 && s.capabilities&ftraceDeprecateEOF != 0 {
		s.lastField()
	}
}

func (s *ftraceSession) lastField() {
	s.note("No more fields", "")
	if s.described {
		s.to(ftraceReady)
		return
	}
	s.note("Reading result set rows", "")
	s.to(ftraceWaitRow)
}

// row handles a row, or the end of those.
func (s *ftraceSession) row(packet []byte) {
	if packet[0] != 0xFE || len(packet) > 0xFFFFFF {
		s.note("Received next row", "")
		s.rows++
		return
	}
	s.note("End of data", "")
	status := ftraceInt(packet, 3, 2)
	if s.capabilities&ftraceDeprecateEOF != 0 { // it is what ends results without rows
		_, n := ftraceLength(packet[1:])
		_, m := ftraceLength(packet[1+n:])
		status = ftraceInt(packet, 1+n+m, 2)
	}
	s.next(status)
}

// description handles the answer to STMT_PREPARE.
func (s *ftraceSession) description(packet []byte) {
	s.fields, s.params, s.described = int(ftraceInt(packet, 5, 2)), int(ftraceInt(packet, 7, 2)), true
	if s.wants&ftraceWantsNotes != 0 {
		ftraceNote(s.conn, "Prepared statement "+ftraceDecimal(ftraceInt(packet, 1, 4))+": "+ftraceDecimal(uint64(s.params))+" parameters, "+ftraceDecimal(uint64(s.fields))+" columns")
	}
	s.prepared(uint32(ftraceInt(packet, 1, 4)))
	if s.params > 0 {
		s.to(ftraceParameter)
	} else {
		s.describeFields()
	}
}

func (s *ftraceSession) describeFields() {
	if s.fields > 0 {
		s.to(ftraceWaitField)
	} else {
		s.to(ftraceReady)
	}
}

// parameter handles the definition of a parameter, or the end of those.
func (s *ftraceSession) parameter(packet []byte) {
	if s.params > 0 {
		s.params--
		s.note("Received next parameter definition", "")
		if s.params > 0 || s.capabilities&ftraceDeprecateEOF == 0 {
			return
		}
	}
	s.describeFields()
}
