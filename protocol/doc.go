// Package protocol lets a plugin hear what a client library says to its server, and what the server
// answers: MySQL's protocol as github.com/go-sql-driver/mysql speaks it, and Redis's as
// github.com/redis/go-redis/v9 does. The libraries need no change; ftrace-wrap adds what is needed
// when it compiles them.
//
//	type counter struct{ commands atomic.Int64 }
//
//	func (*counter) TracingStart(*protocol.Conn) any { return nil }
//	func (*counter) TracingStop(*protocol.Conn, any) {}
//	func (c *counter) TraceEvent(_ *protocol.Conn, _ any, _ protocol.Stage, event protocol.Event, _ *protocol.Args) bool {
//		if event == protocol.SendCommand {
//			c.commands.Add(1)
//		}
//		return false // go on
//	}
//
//	err := protocol.Load(new(counter))
//
// Events, stages and arguments are those of MySQL's client-side protocol trace plugins (WL#6226).
// docs/protocol.md has a table of them, and a plugin that is built in: FTRACE_PROTOCOL=test_trace
// writes each event down, with no change to the program.
//
// A program built without ftrace-wrap can import this package too. [Load] returns [ErrInactive]
// then, and there are no events.
package protocol
