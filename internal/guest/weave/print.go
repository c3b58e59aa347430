//go:build ftrace_core

// The builtin print and println: what one statement of the program prints is collected and then
// woven. The runtime's own output goes out as it is. So does all that is printed on stacks other
// than an ordinary goroutine's, or while the program dies.

package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

// ftracePrinting is what the print statement under way has printed, nil if it is not collected.
// debuglock guards it.
var ftracePrinting *ftraceText

// ftraceCollect is called by gwrite. It takes p if the statement's text is to be woven.
func ftraceCollect(gp *g, p []byte) bool {
	if ftracePrinting != nil {
		if ftraceMayCollect(gp) && ftracePrinting.n+len(p) <= len(ftracePrinting.data) {
			ftracePrinting.bytes(p)
			return true
		}
		ftraceEndPrinting()
		return false
	}
	if !ftraceMayCollect(gp) {
		return false
	}
	ftracePrinting = ftraceNewText()
	ftracePrinting.bytes(p[:min(len(p), len(ftracePrinting.data))])
	if len(p) > len(ftracePrinting.data) {
		ftracePrinting.n = 0
		ftraceEndPrinting()
		return false
	}
	return true
}

// ftraceMayCollect reports whether this is an ordinary goroutine that holds printlock's lock. If it
// holds others too, what is collected is not woven.
func ftraceMayCollect(gp *g) bool {
	if gp == nil {
		return false
	}
	mp := gp.m
	return mp.curg == gp && mp.printlock > 0 && mp.mallocing == 0 && mp.dying == 0 && mp.throwing == throwTypeNone && mp.preemptoff == "" &&
		!gp.throwsplit && gp.writebuf == nil && panicking.Load() == 0 && gp.ftraceWeave.unwoven == 0 && (gp.ftrace == nil || gp.ftrace.busy == 0)
}

// ftraceEndPrinting writes what was collected as it is, since the rest will be.
func ftraceEndPrinting() {
	b := ftracePrinting
	ftracePrinting = nil
	if b.n > 0 {
		ftraceWriteHeldFirst(2)
		write(2, unsafe.Pointer(&b.data), int32(b.n))
	}
	ftraceFreeText(b)
}

// ftraceCollected is called by printunlock while it still has the lock. It returns what the
// statement printed.
func ftraceCollected() *ftraceText {
	b := ftracePrinting
	ftracePrinting = nil
	return b
}

// ftracePrintedBy weaves what a print statement printed. It is a variable because the compiler must
// not take it for a part of print, which is called where nothing may be stored to the heap.
var ftracePrintedBy func(b *ftraceText)

func init() { ftracePrintedBy = ftraceWeavePrinted }

// ftraceWeavePrinted weaves what a print statement printed. That statement's printunlock calls it.
func ftraceWeavePrinted(b *ftraceText) {
	if ftraceByRuntime() {
		ftraceWriteHeldFirst(2)
		write(2, unsafe.Pointer(&b.data), int32(b.n))
	} else {
		for p := b.data[:b.n]; len(p) > 0; {
			n, errno := ftrace_write(2, p)
			const eintr = 4
			if n <= 0 && errno != eintr && !ftraceTryAgain(errno) {
				break // as print does, which ignores errors
			}
			p = p[max(n, 0):]
		}
	}
	ftraceFreeText(b)
}

// ftraceByRuntime reports whether a statement of package runtime printed: printunlock's caller is
// one of its functions.
func ftraceByRuntime() bool {
	var pcs [8]uintptr
	for i := range callers(0, pcs[:]) {
		name := ftraceFuncAt(pcs[i])
		if name == "runtime.printunlock" {
			return i+1 < len(pcs) && ftraceHasPrefix(ftraceFuncAt(pcs[i+1]), "runtime.")
		}
	}
	return false
}

// ftraceTests says that this is a test binary. Package testing/internal/testdeps sets it.
//
//go:linkname ftraceTests
var ftraceTests bool

// ftraceByTesting reports whether package testing itself writes: the go command reads that output.
func ftraceByTesting() bool {
	if !ftraceTests {
		return false
	}
	var pcs [32]uintptr
	for i := range callers(0, pcs[:]) {
		name := ftraceFuncAt(pcs[i])
		passed := false
		for _, through := range [...]string{"runtime.", "syscall.", "internal/poll.", "os.", "io.", "fmt.", "bufio.", "testing.(*indenter)."} {
			passed = passed || ftraceHasPrefix(name, through)
		}
		if !passed {
			return ftraceHasPrefix(name, "testing.") || ftraceHasPrefix(name, "testing/internal/") || ftraceHasPrefix(name, "internal/coverage/")
		}
	}
	return false
}

// ftraceFuncAt returns the name of the function at a return address; that of the outer one where
// functions were inlined.
func ftraceFuncAt(pc uintptr) string {
	if f := findfunc(pc - sys.PCQuantum); f.valid() {
		return funcname(f)
	}
	return ""
}

func ftraceHasPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && s[:len(prefix)] == prefix
}
