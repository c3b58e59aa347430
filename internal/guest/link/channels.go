//go:build ftrace_core && go1.22

// This file is added to packages whose messages a program takes from a channel: the link into the
// core. See probe/channels.go in package runtime.

package definition

import "unsafe"

//go:linkname ftraceChannel runtime.ftrace_channel
func ftraceChannel(channel unsafe.Pointer, taker func(at unsafe.Pointer))

// ftraceMark has taker be called after a goroutine has received a message from the channel, with
// the address at which that is.
func ftraceMark[T any](channel <-chan T, taker func(at unsafe.Pointer)) {
	ftraceChannel(*(*unsafe.Pointer)(unsafe.Pointer(&channel)), taker)
}
