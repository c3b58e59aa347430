//go:build ftrace_core

// Recordings that are made of what the rings have: on request, and of tests that fail.

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceTestRings is for FTRACE_KEEP.
var ftraceTestRings struct {
	directory string // for the recordings of tests that fail; "": none are made
	tests     string // import path of their package
	busy      uint32 // a recording is being made of the rings
}

// ftraceKeepRings makes a recording of what the rings have, named after the package and the test
// that failed, or after how the program ends. It returns what is wrong.
func ftraceKeepRings(test string) string {
	gp := getg()
	if ftraceTestRings.directory == "" || !ftraceRecording.on || ftraceRecording.chunks == 0 || !ftraceMayTrace(gp) {
		return ""
	}
	name := []byte(ftraceTestRings.tests + "." + test)
	for i, c := range name {
		if bytealg.IndexByteString(ftraceNotInNames, c) >= 0 {
			name[i] = '_'
		}
	}
	t := gp.ftrace
	if t != nil {
		t.busy++
	}
	failed := ftraceDumpRings(ftraceTestRings.directory + "/" + string(name))
	if t != nil {
		t.busy--
	}
	return failed
}

// ftraceDumpRings makes a recording of what the rings have while the program goes on writing to
// them. It ends at one moment: one ring is copied after the other, and a goroutine that meanwhile
// goes to another processor would come from nowhere.
func ftraceDumpRings(directory string) string {
	to := &ftraceCopied
	if !atomic.Cas(&ftraceTestRings.busy, 0, 1) {
		return "another recording of the rings is being made: try again"
	}
	defer atomic.Store(&ftraceTestRings.busy, 0)
	if failed := to.make(directory); failed != "" {
		return failed
	}
	defer to.close()
	ftraceRecordWaits(&ftraceRecording.ftraceStream)
	ftraceDefineClock()
	end := ftraceTicks()
	buffer := make([]byte, ftrace_format_RingChunk)
	chunk := unsafe.Pointer(&buffer[0])
	for id, w := range ftraceRecording.writers {
		if w == nil {
			continue
		}
		fd := to.newCalls(int32(id))
		if fd < 0 {
			return ftraceErrno(-fd)
		}
		begun := atomic.Load64(&w.number)
		for number := begun - min(begun, ftraceRecording.chunks); number < begun; number++ {
			c := w.chunkAt(number)
			if c == nil {
				continue
			}
			content := atomic.Load64(&c.Content)
			memmove(chunk, unsafe.Pointer(c), ftrace_format_RingChunk)
			copied := (*ftraceChunk)(chunk)
			if content == 0 || atomic.Load64(&c.Content) < content || atomic.Load64(&c.Number) != number || copied.Number != number {
				continue // it was overwritten, or is being: emptying it is the first step of that
			}
			copied.Content = copied.until(end, content)
			if errno := ftraceWriteAt(fd, chunk, ftrace_format_RingChunk, -1); errno != 0 {
				ftraceClose(fd)
				return ftraceErrno(errno)
			}
		}
		ftraceClose(fd)
	}
	return ""
}

// until returns how many bits of a chunk's content are of records up to some ticks.
func (c *ftraceChunk) until(end, content uint64) uint64 {
	var turn ftraceRecordTurn
	for at := uint64(ftrace_format_PacketSize); at < content/8; {
		r := c.record(uintptr(at))
		if turn.sees(r); turn.ticksOf(r) > end || r.size() == 0 {
			return at * 8
		}
		at += uint64(r.size())
	}
	return content
}
