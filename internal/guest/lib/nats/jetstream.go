//go:build ftrace_core && go1.22

// This file is added to package github.com/nats-io/nats.go/jetstream. It tells the core of messages
// of streams that a program takes itself.

package definition

import (
	"strings"
	"unsafe"
)

// ftraceReceives is called when a function returns a message, nil if there is none.
//
//go:noinline
func ftraceReceives(msg *Msg) {
	if m := *msg; m != nil && !strings.HasPrefix(m.Subject(), "$") { // that is a key or an object
		ftraceTakes(m.Subject(), m.Headers())
	}
}

// ftraceTaken is called when a goroutine has received a message from a channel.
//
//go:noinline
func ftraceTaken(at unsafe.Pointer) { ftraceReceives((*Msg)(at)) }
