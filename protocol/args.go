package protocol

// Args are what an event comes with. What an event does not have is zero. They are the library's
// own, as the bytes are: to be read, not changed, and only until TraceEvent returns.
type Args struct {
	// Plugin is the name of the authentication plugin (AUTH_PLUGIN).
	Plugin string
	// Command is the command's code, Name what it is called: 3 and "QUERY" (SEND_COMMAND). Redis's
	// commands have a name only.
	Command byte
	Name    string
	// Header is the head of a command (SEND_COMMAND): a prepared statement's number, flags.
	Header []byte
	// Packet is what is sent or was received; of a command what stands behind code and header. It
	// is nil if it is Redacted.
	Packet []byte
	// Length is Packet's length in bytes, also if Packet is redacted. With PACKET_SENT it is the
	// number of bytes sent.
	Length int
	// Redacted says that Packet is withheld, or secrets in it are overwritten: authentication,
	// passwords, parameters. See Secrets and Parameters.
	Redacted bool
	// Code and Err are the error's number and the error (ERROR). The number is the server's, or of
	// MySQL's client library (2003: can't connect, 2013: lost connection).
	Code int
	Err  error
}
