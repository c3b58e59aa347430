package protocol

// Args are the arguments of an event. Fields that an event does not have are zero. All belong to
// the client library: a plugin must not change them, nor keep them after TraceEvent has returned.
type Args struct {
	// Plugin is the name of the authentication plugin (AUTH_PLUGIN).
	Plugin string
	// Command is the command's code and Name its name, such as 3 and "QUERY" (SEND_COMMAND). Redis
	// commands have a name only.
	Command byte
	Name    string
	// Header is the head of a command (SEND_COMMAND): flags, the number of a prepared statement.
	Header []byte
	// Packet is what is sent or was received, without the code and the header of a command. It is
	// nil if it is withheld; see Redacted.
	Packet []byte
	// Length is the length of the packet in bytes, also if Packet is withheld. With PACKET_SENT it
	// is the number of bytes sent.
	Length int
	// Redacted reports whether Packet is withheld, or secrets in it are overwritten. The options
	// Secrets and Parameters show them.
	Redacted bool
	// Code is the number of an error and Err the error (ERROR). The number is the server's, or one
	// of MySQL's client library, such as 2003 (can't connect) or 2013 (lost connection).
	Code int
	Err  error
}
