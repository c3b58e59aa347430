//go:build ftrace_core

// Lines about waits:
//
//	G7     - wait/synch/mutex(0xc0000b4008) 1.2ms at store.go:33, ended by G5 main.flush #12

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
)

// print prints a line about the wait of the goroutine that calls it, which is the nth of its kind.
// others are the channels of a select that did not end it.
func (w *ftraceWaitG) print(gp *g, t *ftraceG, f *ftraceFunc, began, ended uint64, n uintptr, others []uint64) {
	t.release(t.depth)
	b := ftraceNewText()
	record := ftrace_format_Wait{uint64(n), began, w.ready, w.object, w.by, w.byCall, w.byKey, 0, w.operation}
	var pcs ftracePCs
	pcs.read(gp, getfp())
	var at ftracePosition
	at.find(pcs.pcs[:pcs.n])
	b.wait(gp, t.shown, f, &record, others, ended, &at, atomic.Xchg(&f.suppressed, 0))
	t.emit(b)
	if t.shown == 0 {
		t.ungroup()
	}
	ftraceFreeText(b)
}

// wait appends a line about a wait that ended at end. If at has no function it is not known where
// the goroutine stopped.
func (b *ftraceText) wait(gp *g, depth int32, f *ftraceFunc, w *ftrace_format_Wait, others []uint64, end uint64, at *ftracePosition, suppressed uint32) {
	lasted, ready := int64(ftraceNanoseconds(end-w.Begin)), int64(0)
	if w.Ready != 0 && w.Ready < end {
		ready = int64(ftraceNanoseconds(end - w.Ready))
	}
	var by *ftraceFunc
	if w.Function != 0 {
		by = ftraceFuncOf(w.Function)
	}
	if ftraceFormat.json {
		b.jsonPrefix(gp, depth, ftraceLevel)
		b.str(`,"event":"wait","wait":`)
		b.jsonName(f)
		for _, v := range [...]struct {
			name  string
			value uint64
		}{{`,"call":`, w.Number}, {`,"duration_ns":`, uint64(lasted)}, {`,"runnable_ns":`, uint64(ready)}, {`,"object":`, w.Object}, {`,"by":`, w.Goroutine}} {
			b.number(v.name, v.value)
		}
		if len(others) > 0 {
			b.number(`,"channels":[`, w.Object)
			for _, channel := range others {
				b.number(",", channel)
			}
			b.byte(']')
		}
		if w.Operation != 0 {
			b.str(`,"operation":`)
			b.jsonString(ftraceOperationName(uint8(w.Operation)))
			b.number(`,"bytes":`, w.Operation>>ftrace_format_OperationBytes)
		}
		if name := ftraceFileName(uint32(w.Object >> ftrace_format_ObjectFile)); name != "" && ftraceIsOfFile(f) {
			b.str(`,"name":`)
			b.jsonString(name)
		}
		if by != nil {
			b.str(`,"by_func":`)
			b.jsonName(by)
			b.number(`,"by_call":`, w.Call)
		}
		if at.function != "" {
			b.str(`,"at":`)
			b.jsonString(at.function)
			b.str(`,"file":`)
			b.jsonString(at.file)
			b.number(`,"line":`, uint64(at.line))
		}
		if suppressed != 0 {
			b.number(`,"suppressed":`, uint64(suppressed))
		}
		b.str("}\n")
		return
	}
	b.open(gp, depth, "- ", f)
	b.waitObject(f, w)
	for i, channel := range others {
		if b.str(", "); i == 0 {
			b.str("not ")
		}
		b.hex(channel)
	}
	b.str(") ")
	b.duration(lasted)
	if at.function != "" {
		b.str(" at ")
		b.shown(at.file[bytealg.LastIndexByteString(at.file, '/')+1:])
		b.number(":", uint64(at.line))
	}
	if w.Goroutine != 0 {
		b.number(", ended by G", w.Goroutine)
	}
	if by != nil {
		b.byte(' ')
		b.name(by)
		b.number(" #", w.Call)
	}
	if suppressed != 0 {
		b.number(" // (", uint64(suppressed))
		b.str(" not shown: ")
		b.str(f.hiddenBy())
		b.byte(')')
	}
	b.byte('\n')
}

// waitObject appends what a goroutine waited for: an address, or what it did with which file.
func (b *ftraceText) waitObject(f *ftraceFunc, w *ftrace_format_Wait) {
	if !ftraceIsOfFile(f) {
		if w.Object != 0 {
			b.hex(w.Object)
		}
		return
	}
	class := (f.key - ftraceWaitKind(ftraceWaitFileRead).key) % ftraceClassesOfIO
	if class == ftraceMisc {
		b.str(ftraceOperationName(uint8(w.Operation)))
		b.byte(' ')
	}
	fd, name := w.Object&ftrace_format_ObjectDescriptor, ftraceFileName(uint32(w.Object>>ftrace_format_ObjectFile))
	if fd != ftrace_format_ObjectDescriptor {
		b.number("fd ", fd)
		if name != "" {
			b.byte(' ')
		}
	}
	b.shown(name)
	if class != ftraceMisc && w.Operation != 0 {
		b.number(", ", w.Operation>>ftrace_format_OperationBytes)
		b.str(" bytes")
	}
}
