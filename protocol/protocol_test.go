package protocol_test

import (
	"errors"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/protocol"
)

type plugin struct{}

func (plugin) TracingStart(*protocol.Conn) any { return nil }
func (plugin) TracingStop(*protocol.Conn, any) {}
func (plugin) TraceEvent(*protocol.Conn, any, protocol.Stage, protocol.Event, *protocol.Args) bool {
	return false
}

// Plugins that are loaded are tested in examples/protocol, in programs with client libraries.

func TestInactive(t *testing.T) {
	if err := protocol.Load(plugin{}); !errors.Is(err, protocol.ErrInactive) {
		t.Errorf("Load without ftrace-wrap: %v", err)
	}
	if err := protocol.Load(nil); err == nil || errors.Is(err, protocol.ErrInactive) {
		t.Errorf("Load(nil): %v", err)
	}
	protocol.Unload() // does nothing
}
