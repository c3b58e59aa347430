//go:build ftrace_core

// Which memory may be read.

package runtime

import "unsafe"

// ftraceReadable reports whether n bytes at v can be read without a fault and belong together. They
// may be within one heap object, this goroutine's stack or the program's data. For other memory,
// such as C's or a mapped file, the system decides.
func ftraceReadable(v unsafe.Pointer, n uintptr) bool {
	p := uintptr(v)
	if n == 0 {
		return true
	}
	if p < 4096 || p+n < p {
		return false
	}
	gp := getg()
	if p >= gp.stack.lo && p < gp.stack.hi {
		return p+n <= gp.stack.hi
	}
	if s := spanOf(p); s != nil {
		switch s.state.get() {
		case mSpanInUse:
			base := s.base() + s.objIndex(p)*s.elemsize
			return p >= s.base() && p+n <= base+s.elemsize && p < s.limit
		case mSpanManual: // another goroutine's stack
			return false
		}
	}
	if ftraceModuleMemory(p) {
		return ftraceModuleMemory(p + n - 1)
	}
	return ftraceProbe(p, n)
}

// ftraceModuleMemory reports whether p is in the code or data of the program or a plugin.
func ftraceModuleMemory(p uintptr) bool {
	for m := &firstmoduledata; m != nil; m = m.next {
		if p >= m.text && p < m.end || p >= m.rodata && p < m.etypes || p >= m.types && p < m.etypes ||
			p >= m.noptrdata && p < m.enoptrbss {
			return true
		}
	}
	return false
}

// ftraceKnownMemory reports whether p can be an interface table: in the program's data, or where
// the runtime builds such tables.
func ftraceKnownMemory(p uintptr) bool {
	return ftraceModuleMemory(p) || p >= 4096 && spanOf(p) == nil && ftraceProbe(p, unsafe.Sizeof(itab{}))
}

// ftraceKnownType reports whether t can be a type descriptor: in the program's data, or built by
// package reflect on the heap.
func ftraceKnownType(t *_type) bool {
	return ftraceModuleMemory(uintptr(unsafe.Pointer(t))) || ftraceReadable(unsafe.Pointer(t), unsafe.Sizeof(*t))
}
