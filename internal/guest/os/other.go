//go:build ftrace_core

// What there is on Linux alone, such as copies that are held back, and in its place on other
// systems.

package runtime

import "unsafe"

// The size of what is kept in memory, unless FTRACE_MEMORY says otherwise. Windows has to promise
// memory for all of it, and on macOS readers read all of it.
const (
	ftraceTablesMax      = 64 << 20 // bytes
	ftraceFramesMax      = 64 << 20 // bytes
	ftraceFunctionsUsual = 1 << 14
	ftraceRowsUsual      = 1 << 14
)

// ftraceForget empties a part of the memory, which is mapped at p. It writes only where there is
// something, so that what was not touched takes no memory.
func ftraceForget(p unsafe.Pointer, _, size uint64) {
	for ; size >= 8; p, size = add(p, 8), size-8 {
		if word := (*uint64)(p); *word != 0 {
			*word = 0
		}
	}
}

//go:nosplit
func ftraceSystemTicks() uint64 { return 0 }

const ftraceSystemTicksPerSecond = 0

// ftraceWriteNow writes on any stack, as the runtime writes its messages. It returns the number of
// bytes written, or what is not above 0.
//
//go:nosplit
func ftraceWriteNow(fd int32, data unsafe.Pointer, n int32) int32 {
	return write1(uintptr(fd), data, n)
}

// ftraceWritable is not known. What is written where the process ends waits for a reader, as the
// runtime's messages there do.
//
//go:nosplit
func ftraceWritable(fd int32, ms int64) bool { return true }

// ftracePause waits a little, on any stack.
//
//go:nosplit
func ftracePause() { usleep(100) }

// No copies are held.

//go:nosplit
func ftraceSendNow(fd int32, data unsafe.Pointer, n int32) int32 { return -78 }

func ftraceStreamSocket(fd int32) bool { return false }

func ftraceOpenAgain(fd int32) int32 { return 0 }

//go:nosplit
func ftraceSleepOn(p *uint32, v uint32) {}

//go:nosplit
func ftraceWakeOne(p *uint32) {}

const ftraceStreamsKnown = false

func ftraceTid() uint64 { return getg().m.procid }

func ftraceTerminal(fd int32) bool { return false }

func ftraceMayBePrivileged() bool { return isSecureMode() }
