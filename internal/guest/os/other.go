//go:build ftrace_core

// What the tracer has on Linux alone: memory that others look into, and output that is held back.

package runtime

import "unsafe"

// There is no memory that others can see, nor any in its place.

func ftraceMemoryFile(size uint64) int32 { return 0 }

func ftraceResize(fd int32, size uint64) int32 { return 78 }

func ftraceMapMemory(at, size uint64) unsafe.Pointer { return nil }

func ftraceForget(at, size uint64) {}

func ftraceWait(p *uint32, v uint32, ns int64) bool { return false }

func ftraceWake(p *uint32) int { return 0 }

//go:nosplit
func ftraceSystemTicks() uint64 { return 0 }

const ftraceSystemTicksPerSecond = 0

// Nothing is held, so nothing is left to be written in haste.

//go:nosplit
func ftraceWriteNow(fd int32, data unsafe.Pointer, n int32) int32 { return -78 }

//go:nosplit
func ftraceSendNow(fd int32, data unsafe.Pointer, n int32) int32 { return -78 }

func ftraceStreamSocket(fd int32) bool { return false }

func ftraceOpenAgain(fd int32) int32 { return 0 }

//go:nosplit
func ftracePause() {}

//go:nosplit
func ftraceWritable(fd int32, ms int64) bool { return false }

//go:nosplit
func ftraceSleepOn(p *uint32, v uint32) {}

//go:nosplit
func ftraceWakeOne(p *uint32) {}

const ftraceStreamsKnown = false

func ftraceTid() uint64 { return getg().m.procid }

func ftraceTerminal(fd int32) bool { return false }

func ftraceMayBePrivileged() bool { return isSecureMode() }
