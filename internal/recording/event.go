package recording

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// A Kind says what happened.
type Kind uint8

const (
	Entry          Kind = format.KindEntry          // a call begins
	EntryArgs      Kind = format.KindEntryArgs      // the same, with parameters
	Exit           Kind = format.KindExit           // a call ends
	ExitResults    Kind = format.KindExitResults    // the same, with results
	ExitPanic      Kind = format.KindExitPanic      // a panic ended it; the panic's value is there if it is known
	ExitGoexit     Kind = format.KindExitGoexit     // runtime.Goexit ended it
	Recovered      Kind = format.KindRecovered      // a deferred call of the call recovered a panic; its exit follows
	Mock           Kind = format.KindMock           // a replacement was called instead of the function; its exit follows
	GoroutineStart Kind = format.KindGoroutineStart // the goroutine's first record
	GoroutineEnd   Kind = format.KindGoroutineEnd
	Note           Kind = format.KindNote    // the program added text to the call
	Line           Kind = format.KindLine    // the program printed or logged a line
	Probe          Kind = format.KindProbe   // a static probe fired: the function is the probe, the values its arguments; layout 0: none were wanted
	Wait           Kind = format.KindWait    // the goroutine went on after it had stopped, or the recording ended before that; see Event.Wait
	After          Kind = format.KindAfter   // the parameters when a call ends; its exit follows
	Off            Kind = format.KindOff     // calls of the function are not recorded from here on, see Recording.LeftOut
	On             Kind = format.KindOn      // they are again
	Blocked        Kind = format.KindBlocked // who holds the lock that a Wait is for which follows; see Event.Blocked

	Lost Kind = 255 // records were lost on a processor; files have no such record, but their packets say so
)

var kindNames = [format.KindEnd]string{
	Entry: "entry", EntryArgs: "entry", Exit: "exit", ExitResults: "exit", ExitPanic: "panic", ExitGoexit: "goexit",
	Recovered: "recovered", Mock: "mock", GoroutineStart: "goroutine_start", GoroutineEnd: "goroutine_end",
	Note: "note", Line: "line", Probe: "probe", Wait: "wait", After: "after", Off: "off", On: "on", Blocked: "blocked",
}

func (k Kind) String() string {
	switch {
	case k == Lost:
		return "lost"
	case int(k) < len(kindNames) && k != 0:
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// An Event is a record. Its slices are valid until the next event is read.
type Event struct {
	Ticks     uint64 // see Converter
	Goroutine uint64
	// of an entry, Probe or Wait: it is the nth call of the function; of a GoroutineStart: the call
	// that started it; of Lost: how many; of Off: how many there were before; of On: how many were
	// left out and counted
	Call uint64
	// of a GoroutineStart: the goroutine that started it, 0 if that is not known; of Off and On:
	// the ticks since which the function is or was off; of an entry that is AtEnd and was timed:
	// when the call began
	Parent    uint64
	Failed    uint64 // of On: how many of those failed
	Noted     uint64 // of On: how many of those that were left out, since then or before, were noted at their end
	Function  uint32 // key, 0: none; of a Wait: of its kind
	Layout    uint32 // of Data, 0: there is no Data
	Kind      Kind
	Depth     uint16 // number of recorded calls around it on the goroutine; 65535: that or more
	Untimed   bool   // of an entry: the call was not timed, and the ticks of its events only tell their order
	AtEnd     bool   // of an entry: it was noted when the call ended, and was slow or failed; else it would have been left out
	Uncounted bool   // of On: other calls were left out that were not counted
	Level     int32  // of a Line: the level as in log/slog, or UnknownLevel
	Processor int32  // on which it happened
	Data      []byte // the recorded values, see Recording.Values; of a Note or Line: the text; of a Wait or Blocked: see these
}

// Others returns the channels of the select that a Wait was in, up to 15, without the one that let
// the goroutine go on. If none did, because the recording ended before, it is without the first.
func (e *Event) Others() (list []uint64) {
	for b := e.Data[min(waitSize+8, len(e.Data)):]; len(b) >= 8; b = b[8:] {
		list = append(list, le64(b))
	}
	return list
}

// Wait returns what was recorded of a Wait. It begins before it ends, and is ready between,
// whatever a damaged record says.
func (e *Event) Wait() format.Wait {
	b := e.Data
	w := format.Wait{
		Number: le64(b), Begin: min(le64(b[8:]), e.Ticks), Ready: le64(b[16:]), Object: le64(b[24:]),
		Goroutine: le64(b[32:]), Call: le64(b[40:]), Function: le32(b[48:]), Site: le32(b[52:]),
	}
	if len(b) >= waitSize {
		w.Operation = le64(b[56:])
	}
	if w.Ready != 0 {
		w.Ready = min(max(w.Ready, w.Begin), e.Ticks)
	}
	return w
}

// Blocked returns what a Blocked says: who holds a lock. In records of earlier versions there may
// be nobody, and the object is another channel of a select.
func (e *Event) Blocked() format.Blocked {
	b := e.Data
	return format.Blocked{Object: le64(b), Goroutine: le64(b[8:]), Call: le64(b[16:]), Function: le32(b[24:]), Mode: le32(b[28:]), Since: min(le64(b[32:]), e.Ticks)}
}

const blockedSize = int(unsafe.Sizeof(format.Blocked{}))

// An Operation is what was done with a file, and with how many bytes. 0: it was waited for.
type Operation uint64

var operationNames = strings.Fields(format.OperationNames)

// Name returns what was done: read, write, open, ...
func (o Operation) Name() string {
	if kind := int(o & (1<<format.OperationBytes - 1)); kind < len(operationNames) {
		return operationNames[kind]
	}
	return "?"
}

// Bytes returns how many bytes were read or written. It returns false if the operation is another,
// such as one that opens a file.
func (o Operation) Bytes() (n uint64, ok bool) {
	switch o & (1<<format.OperationBytes - 1) {
	case format.OperationRead, format.OperationWrite, format.OperationReceive, format.OperationSend:
		return uint64(o >> format.OperationBytes), true
	}
	return 0, false
}

// waitSize is that of a format.Wait, waitLeast that of one without its Operation, which records of
// earlier versions do not have.
const (
	waitSize  = int(unsafe.Sizeof(format.Wait{}))
	waitLeast = int(unsafe.Offsetof(format.Wait{}.Operation))
)

// UnknownLevel is the level of a line that was printed, not logged.
const UnknownLevel = format.LevelUnknown

// decode reads the record that b begins with. It returns its size, 0 if there is none.
func (e *Event) decode(b []byte) int {
	if len(b) < recordHead {
		return 0
	}
	size := int(b[wordsAt]) * 8
	if size < recordHead {
		return 0
	}
	if size > len(b) {
		// The content of a packet's last record may end within its last word.
		if size-len(b) >= 8 {
			return 0
		}
		size = len(b)
	}
	e.Ticks = le64(b)
	e.Kind = Kind(b[kindAt])
	e.Depth = le16(b[depthAt:])
	e.Function = le32(b[functionAt:])
	e.Goroutine = le64(b[goroutineAt:])
	e.Call, e.Parent, e.Level, e.Failed, e.Noted, e.Untimed, e.AtEnd, e.Uncounted, e.Layout, e.Data = 0, 0, 0, 0, 0, false, false, false, 0, nil
	rest := b[recordHead:size]
	switch e.Kind {
	case Entry:
		if len(rest) < 8 {
			return 0
		}
		e.number(le64(rest))
	case format.KindEntryLate:
		if len(rest) < 16 {
			return 0
		}
		e.number(le64(rest))
		e.Kind, e.AtEnd, e.Untimed, e.Parent = Entry, true, false, min(le64(rest[8:]), e.Ticks)
	case EntryArgs, Probe:
		if len(rest) < 8 {
			return 0
		}
		e.number(le64(rest))
		return e.values(rest[8:], size)
	case ExitResults, ExitPanic, Recovered, After:
		return e.values(rest, size)
	case GoroutineStart, Off, On:
		if len(rest) < 16 {
			return 0
		}
		e.Parent, e.Call = le64(rest), le64(rest[8:])
		if e.Kind == On {
			e.Call, e.Uncounted = e.Call&^format.Uncounted, e.Call&format.Uncounted != 0
			if len(rest) >= 24 {
				e.Failed = le64(rest[16:])
			}
			if len(rest) >= 32 {
				e.Noted = le64(rest[24:])
			}
		}
	case Wait:
		if len(rest) < waitLeast {
			return 0
		}
		e.Call, e.Data = le64(rest), rest[:min(len(rest), waitSize)]
	case format.KindSelect, format.KindWaiting:
		if len(rest) < waitSize+8 {
			return 0
		}
		if e.Kind == format.KindSelect {
			e.Kind = Wait
		}
		e.Call, e.Data = le64(rest), rest[:uint64(waitSize+8)+8*min(le64(rest[waitSize:]), uint64(len(rest)-waitSize-8)/8)]
	case Blocked:
		if len(rest) < blockedSize {
			return 0
		}
		e.Data = rest[:blockedSize]
	case Note:
		if len(rest) < 8 {
			return 0
		}
		e.Data = rest[8 : 8+min(uint64(le32(rest[4:])), uint64(len(rest)-8))]
	case Line:
		if len(rest) < 8 {
			return 0
		}
		e.Level = int32(le32(rest))
		e.Data = rest[8 : 8+min(uint64(le32(rest[4:])), uint64(len(rest)-8))]
	}
	return size
}

// number takes in the number of a call, with what its highest bits say.
func (e *Event) number(n uint64) {
	e.Call, e.Untimed, e.AtEnd = n&^(format.Untimed|format.AtEnd), n&format.Untimed != 0, n&format.AtEnd != 0
}

func (e *Event) values(b []byte, size int) int {
	if len(b) < 8 {
		return 0
	}
	e.Layout = le32(b)
	e.Data = b[8 : 8+min(uint64(le32(b[4:])), uint64(len(b)-8))]
	return size
}

// Enters reports whether a call begins.
func (e *Event) Enters() bool { return e.Kind == Entry || e.Kind == EntryArgs }

// began returns when the call of an entry began, in ticks.
func (e *Event) began() uint64 {
	if e.AtEnd && !e.Untimed {
		return e.Parent
	}
	return e.Ticks
}

// Exits reports whether a call ends.
func (e *Event) Exits() bool { return e.Kind >= Exit && e.Kind <= ExitGoexit }
