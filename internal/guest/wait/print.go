//go:build ftrace_core

// Lines about waits:
//
//	G7     - wait/synch/mutex(0xc0000b4008) 1.2ms at store.go:33, ended by G5 main.flush #12

package runtime

import "internal/runtime/atomic"

// print prints a line about the wait, which ended at now.
func (w *ftraceWaitG) print(gp *g, t *ftraceG, f *ftraceFunc, count uintptr, pcs []uintptr, now uint64) {
	t.release(t.depth)
	b := ftraceNewText()
	suppressed := atomic.Xchg(&f.suppressed, 0)
	lasted, ready := int64(ftraceNanoseconds(now-w.begin)), int64(0)
	if w.ready != 0 && w.ready < now {
		ready = int64(ftraceNanoseconds(now - w.ready))
	}
	var by *ftraceFunc
	if w.byKey != 0 {
		by = ftraceFuncOf(w.byKey)
	}
	var at ftracePosition
	at.find(pcs)
	if ftraceFormat.json {
		b.jsonPrefix(gp, t.shown, ftraceLevel)
		b.str(`,"event":"wait","wait":`)
		b.jsonString("wait/" + f.name)
		b.str(`,"call":`)
		b.uint(uint64(count))
		for _, v := range [...]struct {
			name  string
			value uint64
		}{{`,"duration_ns":`, uint64(lasted)}, {`,"runnable_ns":`, uint64(ready)}, {`,"object":`, uint64(w.object)}, {`,"by":`, w.by}} {
			b.str(v.name)
			b.uint(v.value)
		}
		if by != nil {
			b.str(`,"by_func":`)
			b.jsonName(by)
			b.str(`,"by_call":`)
			b.uint(w.byCall)
		}
		if at.function != "" {
			b.str(`,"at":`)
			b.jsonString(at.function)
			b.str(`,"file":`)
			b.jsonString(at.file)
			b.str(`,"line":`)
			b.uint(uint64(at.line))
		}
		b.str("}\n")
	} else {
		b.prefix(gp, t.shown)
		b.str("- ")
		b.name(f)
		b.byte('(')
		w.printObject(b)
		b.str(") ")
		b.duration(lasted)
		if at.function != "" {
			b.str(" at ")
			b.shown(ftraceBase(at.file))
			b.byte(':')
			b.uint(uint64(at.line))
		}
		if w.by != 0 {
			b.str(", ended by G")
			b.uint(w.by)
		}
		if by != nil {
			b.byte(' ')
			b.name(by)
			b.str(" #")
			b.uint(w.byCall)
		}
		if suppressed != 0 {
			b.str(" // (")
			b.uint(uint64(suppressed))
			b.str(" not shown: rate=)")
		}
		b.byte('\n')
	}
	t.emit(b)
	if t.shown == 0 {
		t.ungroup()
	}
	ftraceFreeText(b)
}

// printObject appends what the goroutine waited for.
func (w *ftraceWaitG) printObject(b *ftraceText) {
	switch {
	case ftraceWaitFile <= w.kind && w.kind <= ftraceWaitSocket:
		b.str("fd ")
		b.uint(uint64(w.object))
	case w.object != 0:
		b.hex(uint64(w.object))
	}
}

// ftraceBase returns the last element of a path.
func ftraceBase(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}
