package protocol_test

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ftrace-wrap/ftrace-wrap/protocol"
)

// counter counts the commands of all connections.
type counter struct{ commands atomic.Int64 }

func (*counter) TracingStart(*protocol.Conn) any { return nil }
func (*counter) TracingStop(*protocol.Conn, any) {}

func (c *counter) TraceEvent(_ *protocol.Conn, _ any, _ protocol.Stage, event protocol.Event, _ *protocol.Args) (stop bool) {
	if event == protocol.SendCommand {
		c.commands.Add(1)
	}
	return false
}

// A plugin that counts commands. The program runs without the wrapper too, and counts none.
func Example() {
	c := new(counter)
	if err := protocol.Load(c); err != nil && !errors.Is(err, protocol.ErrInactive) {
		fmt.Println(err)
	}
	defer protocol.Unload()
	fmt.Println(c.commands.Load())
	// Output: 0
}

// printer prints the errors of a connection, by its number.
type printer struct{}

func (printer) TracingStart(*protocol.Conn) any { return nil }
func (printer) TracingStop(*protocol.Conn, any) {}

func (printer) TraceEvent(c *protocol.Conn, _ any, stage protocol.Stage, event protocol.Event, args *protocol.Args) (stop bool) {
	if event == protocol.Error {
		fmt.Printf("%s connection %d, %s: %d %v\n", c.Protocol(), c.ID(), stage, args.Code, args.Err)
	}
	return false
}

// A plugin that hears what went wrong, and sees the parameters of statements.
func ExampleLoad() {
	err := protocol.Load(printer{}, protocol.Parameters)
	fmt.Println(err)
	// Output: protocol: this program was not built with ftrace-wrap
}
