package protocol_test

import (
	"fmt"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/protocol"
)

// queries counts the commands of each connection, and leaves its name there.
type queries struct{}

type counter struct{ commands int }

func (queries) TracingStart(c *protocol.Conn) any { return new(counter) }

func (queries) TracingStop(c *protocol.Conn, data any) {
	fmt.Printf("%s: %d commands\n", c.Protocol(), data.(*counter).commands)
}

func (queries) TraceEvent(c *protocol.Conn, data any, stage protocol.Stage, event protocol.Event, args *protocol.Args) (stop bool) {
	switch event {
	case protocol.SendCommand:
		data.(*counter).commands++
	case protocol.Authenticated:
		if _, err := c.Exec("set @tracer = 'queries'"); err != nil { // makes no events
			fmt.Println(err)
		}
	}
	return false
}

// TestExample tests the plugin that docs/protocol.md shows.
func TestExample(t *testing.T) {
	if err := protocol.Load(queries{}); err != nil {
		t.Fatal(err)
	}
	defer protocol.Unload()
	var tracer string
	if err := open(t, "").QueryRow("select @tracer").Scan(&tracer); err != nil || tracer != "queries" {
		t.Errorf("%q, %v", tracer, err)
	}
}
