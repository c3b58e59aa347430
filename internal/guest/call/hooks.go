//go:build ftrace_core

// The functions that hooks call at a function's entry and returns. They have as few arguments as
// possible, since these calls are inlined with the function: the hook's place, the values, and at
// the entry a pointer to the result, or to a struct of several results.
//
// They report whether a replacement was called. Its results are stored then, and the function is to
// return them. They find out themselves how far the function's frame is from the stack's top, since
// any call may move the stack.

package runtime

import (
	"internal/goarch"
	"internal/runtime/sys"
	"unsafe"
)

//go:nosplit
//go:linkname ftrace_e0
func ftrace_e0(hook *any, result any) bool {
	return ftraceEntryFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), nil, 0, (*any)(noescape(unsafe.Pointer(&result)))) < 0
}

//go:nosplit
//go:linkname ftrace_e1
func ftrace_e1(hook *any, result, a any) bool {
	return ftraceEntryFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), (*any)(noescape(unsafe.Pointer(&a))), 1, (*any)(noescape(unsafe.Pointer(&result)))) < 0
}

//go:nosplit
//go:linkname ftrace_e2
func ftrace_e2(hook *any, result, a, b any) bool {
	values := [...]any{a, b}
	return ftraceEntryFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), (*any)(noescape(unsafe.Pointer(&values))), len(values), (*any)(noescape(unsafe.Pointer(&result)))) < 0
}

//go:nosplit
//go:linkname ftrace_e3
func ftrace_e3(hook *any, result, a, b, c any) bool {
	values := [...]any{a, b, c}
	return ftraceEntryFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), (*any)(noescape(unsafe.Pointer(&values))), len(values), (*any)(noescape(unsafe.Pointer(&result)))) < 0
}

//go:nosplit
//go:linkname ftrace_e4
func ftrace_e4(hook *any, result, a, b, c, d any) bool {
	values := [...]any{a, b, c, d}
	return ftraceEntryFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), (*any)(noescape(unsafe.Pointer(&values))), len(values), (*any)(noescape(unsafe.Pointer(&result)))) < 0
}

//go:nosplit
//go:linkname ftrace_en
func ftrace_en(hook *any, result any, values ...any) bool {
	return ftraceEntryFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), unsafe.SliceData(values), len(values), (*any)(noescape(unsafe.Pointer(&result)))) < 0
}

//go:nosplit
//go:linkname ftrace_x0
func ftrace_x0(hook *any) {
	ftraceExitFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), ftrace_format_FrameAtReturns, nil, 0)
}

//go:nosplit
//go:linkname ftrace_x1
func ftrace_x1(hook *any, a any) {
	ftraceExitFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), ftrace_format_FrameAtReturns, (*any)(noescape(unsafe.Pointer(&a))), 1)
}

//go:nosplit
//go:linkname ftrace_x2
func ftrace_x2(hook *any, a, b any) {
	values := [...]any{a, b}
	ftraceExitFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), ftrace_format_FrameAtReturns, (*any)(noescape(unsafe.Pointer(&values))), len(values))
}

//go:nosplit
//go:linkname ftrace_x3
func ftrace_x3(hook *any, a, b, c any) {
	values := [...]any{a, b, c}
	ftraceExitFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), ftrace_format_FrameAtReturns, (*any)(noescape(unsafe.Pointer(&values))), len(values))
}

//go:nosplit
//go:linkname ftrace_x4
func ftrace_x4(hook *any, a, b, c, d any) {
	values := [...]any{a, b, c, d}
	ftraceExitFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), ftrace_format_FrameAtReturns, (*any)(noescape(unsafe.Pointer(&values))), len(values))
}

//go:nosplit
//go:linkname ftrace_xn
func ftrace_xn(hook *any, values ...any) {
	ftraceExitFast(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), ftrace_format_FrameAtReturns, unsafe.SliceData(values), len(values))
}

// ftrace_he, ftrace_hx and ftrace_henter are called by helpers, which have a function's values in
// their own frame.

//go:nosplit
//go:linkname ftrace_he
func ftrace_he(hook *any, result any, values ...any) bool {
	return ftraceEntryFast(ftraceHooked(hook), ftraceHelped(sys.GetCallerSP()), unsafe.SliceData(values), len(values), (*any)(noescape(unsafe.Pointer(&result)))) < 0
}

//go:nosplit
//go:linkname ftrace_hx
func ftrace_hx(hook *any, values ...any) {
	ftraceExitFast(ftraceHooked(hook), ftraceHelped(sys.GetCallerSP()), ftrace_format_FrameAtReturns, unsafe.SliceData(values), len(values))
}

//go:linkname ftrace_henter
func ftrace_henter(hook any, args ...any) int {
	return ftraceEnter(hook, ftraceHelped(sys.GetCallerSP()), args)
}

// ftraceHelped returns how far a traced function's frame is from the stack's top. sp is the stack
// pointer of the helper that the function called.
//
//go:nosplit
func ftraceHelped(sp uintptr) uintptr {
	fp := ftraceFramePointer(sp)
	if usesLR {
		return getg().stack.hi - (*(*uintptr)(unsafe.Pointer(fp)) + goarch.PtrSize)
	}
	return getg().stack.hi - (fp + 2*goarch.PtrSize)
}
