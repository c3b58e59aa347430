//go:build ftrace_core

// The functions that hooks at a function's entry and returns call have the fewest arguments that do, since these calls are inlined with the function:
// the hook's place, the values, and at the entry a pointer to the result, or to a struct of the results, if there are any. They say whether a replacement was
// called, whose results are there then; the function is to return them. How far from the stack's top the function's frame is they ask themselves, since any call may move the stack.

package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

//go:linkname ftrace_e0
func ftrace_e0(hook *any, result any) bool {
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainEntry(f, offset, nil, 0) {
		return false
	}
	return ftraceEntered(f, offset, result, nil)
}

//go:linkname ftrace_e1
func ftrace_e1(hook *any, result, a any) bool {
	values := [...]any{a}
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainEntry(f, offset, (*any)(noescape(unsafe.Pointer(&values))), len(values)) {
		return false
	}
	return ftraceEntered(f, offset, result, ftraceValues(&values[0], len(values)))
}

//go:linkname ftrace_e2
func ftrace_e2(hook *any, result, a, b any) bool {
	values := [...]any{a, b}
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainEntry(f, offset, (*any)(noescape(unsafe.Pointer(&values))), len(values)) {
		return false
	}
	return ftraceEntered(f, offset, result, ftraceValues(&values[0], len(values)))
}

//go:linkname ftrace_e3
func ftrace_e3(hook *any, result, a, b, c any) bool {
	values := [...]any{a, b, c}
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainEntry(f, offset, (*any)(noescape(unsafe.Pointer(&values))), len(values)) {
		return false
	}
	return ftraceEntered(f, offset, result, ftraceValues(&values[0], len(values)))
}

//go:linkname ftrace_e4
func ftrace_e4(hook *any, result, a, b, c, d any) bool {
	values := [...]any{a, b, c, d}
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainEntry(f, offset, (*any)(noescape(unsafe.Pointer(&values))), len(values)) {
		return false
	}
	return ftraceEntered(f, offset, result, ftraceValues(&values[0], len(values)))
}

//go:linkname ftrace_en
func ftrace_en(hook *any, result any, values ...any) bool {
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainEntry(f, offset, unsafe.SliceData(values), len(values)) {
		return false
	}
	return ftraceEntered(f, offset, result, values)
}

//go:linkname ftrace_x0
func ftrace_x0(hook *any) {
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainExit(f, offset, nil, 0) {
		return
	}
	ftraceLeft(f, offset, nil)
}

//go:linkname ftrace_x1
func ftrace_x1(hook *any, a any) {
	values := [...]any{a}
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainExit(f, offset, (*any)(noescape(unsafe.Pointer(&values))), len(values)) {
		return
	}
	ftraceLeft(f, offset, ftraceValues(&values[0], len(values)))
}

//go:linkname ftrace_x2
func ftrace_x2(hook *any, a, b any) {
	values := [...]any{a, b}
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainExit(f, offset, (*any)(noescape(unsafe.Pointer(&values))), len(values)) {
		return
	}
	ftraceLeft(f, offset, ftraceValues(&values[0], len(values)))
}

//go:linkname ftrace_x3
func ftrace_x3(hook *any, a, b, c any) {
	values := [...]any{a, b, c}
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainExit(f, offset, (*any)(noescape(unsafe.Pointer(&values))), len(values)) {
		return
	}
	ftraceLeft(f, offset, ftraceValues(&values[0], len(values)))
}

//go:linkname ftrace_x4
func ftrace_x4(hook *any, a, b, c, d any) {
	values := [...]any{a, b, c, d}
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainExit(f, offset, (*any)(noescape(unsafe.Pointer(&values))), len(values)) {
		return
	}
	ftraceLeft(f, offset, ftraceValues(&values[0], len(values)))
}

//go:linkname ftrace_xn
func ftrace_xn(hook *any, values ...any) {
	f, offset := ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP()
	if f.plain != nil && ftracePlainExit(f, offset, unsafe.SliceData(values), len(values)) {
		return
	}
	ftraceLeft(f, offset, values)
}

// ftraceValues returns the n values at first, four at most, hidden from escape analysis.
func ftraceValues(first *any, n int) []any {
	return (*[4]any)(noescape(unsafe.Pointer(first)))[:n:n]
}

// ftraceHooked returns the function that a hook is of. It may have been disarmed since the function saw it; the second word stays.
func ftraceHooked(hook *any) *ftraceFunc { return (*ftraceFunc)(efaceOf(hook).data) }
