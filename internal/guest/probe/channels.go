//go:build ftrace_core

// Channels from which the program takes messages itself. The library that sends them there marks
// the channel, and is told in the goroutine that has taken one.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceTakers are functions of libraries, by hchan.ftraceTaker, which is 0 of other channels. Each
// is static, so the garbage collector need not know of it.
var ftraceTakers [8]unsafe.Pointer // atomic

// ftrace_channel has taker be called after a goroutine has received from a channel, with the
// address at which the value is. taker is a function, not a closure.
//
//go:linkname ftrace_channel
func ftrace_channel(channel unsafe.Pointer, taker func(at unsafe.Pointer)) {
	fn := *(*unsafe.Pointer)(unsafe.Pointer(&taker))
	for i := 1; channel != nil && i < len(ftraceTakers); i++ {
		if atomic.Casp1(&ftraceTakers[i], nil, fn) || atomic.Loadp(unsafe.Pointer(&ftraceTakers[i])) == fn {
			atomic.Store8(&(*hchan)(channel).ftraceTaker, uint8(i))
			return
		}
	}
}

// ftraceTaken is called when a goroutine has received from a channel that is marked.
func ftraceTaken(c *hchan, at unsafe.Pointer) {
	if ftraceSpans == 0 || at == nil { // nobody has the value
		return
	}
	fn := atomic.Loadp(unsafe.Pointer(&ftraceTakers[c.ftraceTaker]))
	(*(*func(unsafe.Pointer))(unsafe.Pointer(&fn)))(at)
}
