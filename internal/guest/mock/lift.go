//go:build ftrace_core

// What a function's parameters point to on its goroutine's stack, copied to the heap.
//
// The compiler keeps a variable on the stack if no function that gets its address lets it escape. A
// replacement was compiled without that promise: it may keep its parameters, and package mock
// records them. So before a replacement is called, all that the parameters reach on this stack is
// copied, and pointers among the copies lead to copies. When it is done, what changed in the copies
// is changed on the stack, which may have moved in between.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/maps"
	"unsafe"
)

// ftraceRegion is a part of the stack that is copied.
type ftraceRegion struct {
	lo, hi uintptr        // addresses; once all is copied, distances from the stack's top
	typ    *_type         // the type of what is there, of one value or several; nil if it is not known
	ptrs   uintptr        // if it is not: how many bytes at its beginning may hold pointers,
	mask   *byte          // and which of them do
	copy   unsafe.Pointer // on the heap
	before unsafe.Pointer // what the copy was at first; nil if changes in it are of no interest
	box    bool           // the value in an interface, which nobody changes
	open   bool           // it ends with the frame: it is only known to have no pointers
	inner  bool           // it is part of another region
}

// ftraceLift is the copying of one call's parameters.
type ftraceLift struct {
	gp     *g
	sp     uintptr // what lies below on the stack is not in use
	n      int
	few    [4]ftraceRegion
	more   []ftraceRegion
	failed string
	values []any // the parameters
}

func (l *ftraceLift) region(i int) *ftraceRegion {
	if i < len(l.few) {
		return &l.few[i]
	}
	return &l.more[i-len(l.few)]
}

// take makes the copies. It runs on the system stack, so that meanwhile nothing moves and no phase
// of the garbage collection begins.
func (l *ftraceLift) take(params []any) {
	if len(params) == 0 {
		return
	}
	l.gp = getg()
	var values unsafe.Pointer
	systemstack(func() {
		l.sp = l.gp.sched.sp
		var zero any = (*any)(nil)
		l.add(ftraceRegion{lo: uintptr(unsafe.Pointer(&params[0])), typ: (*ptrtype)(unsafe.Pointer(efaceOf(&zero)._type)).Elem, box: true}, uintptr(len(params)))
		for i := 0; i < l.n && l.failed == ""; i++ {
			l.follow(l.region(i))
		}
		if l.failed == "" {
			l.settle()
		}
		if l.failed == "" {
			l.copy()
			values = l.few[0].copy
		}
	})
	l.values = unsafe.Slice((*any)(values), len(params))
	if l.failed != "" {
		l.values = nil
	}
}

func (l *ftraceLift) onStack(p uintptr) bool { return p >= l.sp && p < l.gp.stack.hi }

// add notes a region that starts at r.lo and is n elements of r.typ, unless it is known.
func (l *ftraceLift) add(r ftraceRegion, n uintptr) {
	if r.hi == 0 {
		r.hi = r.lo + 1
		if r.typ != nil && r.typ.Size_*n > 0 {
			r.hi = r.lo + r.typ.Size_*n
		} else {
			r.typ = nil
		}
	}
	if r.hi > l.gp.stack.hi || r.hi < r.lo {
		l.failed = "is not what its type says"
		return
	}
	for i := 0; i < l.n; i++ {
		if k := l.region(i); k.lo <= r.lo && r.hi <= k.hi && (k.typ == r.typ && k.mask == r.mask || r.typ != nil && !r.typ.Pointers() && !k.open) {
			return
		}
	}
	if i := l.n - len(l.few); i >= 0 && i >= len(l.more) {
		var zero any = (*ftraceRegion)(nil)
		size := max(16, 2*len(l.more))
		more := unsafe.Slice((*ftraceRegion)(newarray((*ptrtype)(unsafe.Pointer(efaceOf(&zero)._type)).Elem, size)), size)
		copy(more, l.more)
		l.more = more
	}
	*l.region(l.n) = r
	l.n++
}

// follow adds the regions that r leads to.
func (l *ftraceLift) follow(r *ftraceRegion) {
	lo, hi, typ := r.lo, r.hi, r.typ // r itself may move
	if typ == nil {
		ptrs, mask := r.ptrs, r.mask
		for i := uintptr(0); i < ptrs; i += goarch.PtrSize {
			if ftraceMaskBit(mask, i) {
				l.unknown(*(*uintptr)(unsafe.Pointer(lo + i)))
			}
		}
		return
	}
	for p := lo; typ.Pointers() && p < hi; p += typ.Size_ {
		l.value(unsafe.Pointer(p), typ, r.box)
	}
}

// value adds the regions that the value of type t at p leads to.
func (l *ftraceLift) value(p unsafe.Pointer, t *_type, root bool) {
	word := *(*uintptr)(p)
	switch t.Kind() {
	case abi.Pointer:
		if l.onStack(word) {
			l.add(ftraceRegion{lo: word, typ: (*ptrtype)(unsafe.Pointer(t)).Elem}, 1)
		}
	case abi.Slice:
		if l.onStack(word) {
			l.add(ftraceRegion{lo: word, typ: (*slicetype)(unsafe.Pointer(t)).Elem}, uintptr((*slice)(p).cap))
		}
	case abi.String:
		if l.onStack(word) {
			l.add(ftraceRegion{lo: word, hi: word + max(1, uintptr((*stringStruct)(p).len))}, 1)
		}
	case abi.Map:
		if l.onStack(word) {
			l.mapHeader(word, t)
		}
	case abi.Interface:
		dynamic := (*eface)(p)._type
		if dynamic != nil && len((*interfacetype)(unsafe.Pointer(t)).Methods) != 0 {
			dynamic = (*iface)(p).tab.Type
		}
		data := add(p, goarch.PtrSize)
		switch word := *(*uintptr)(data); {
		case dynamic == nil:
		case dynamic.IsDirectIface():
			l.value(data, dynamic, false)
		case l.onStack(word):
			l.add(ftraceRegion{lo: word, typ: dynamic, box: root}, 1)
		}
	case abi.Array:
		a := (*arraytype)(unsafe.Pointer(t))
		for i := uintptr(0); a.Elem.Pointers() && i < a.Len; i++ {
			l.value(add(p, i*a.Elem.Size_), a.Elem, false)
		}
	case abi.Struct:
		for _, f := range (*structtype)(unsafe.Pointer(t)).Fields {
			if f.Typ.Pointers() {
				l.value(add(p, f.Offset), f.Typ, false)
			}
		}
	case abi.Func, abi.UnsafePointer, abi.Chan:
		l.unknown(word)
	}
}

// mapHeader adds a map whose header, and perhaps its first group of slots, is on the stack.
func (l *ftraceLift) mapHeader(p uintptr, t *_type) {
	var zero any = (*maps.Map)(nil)
	l.add(ftraceRegion{lo: p, typ: (*ptrtype)(unsafe.Pointer(efaceOf(&zero)._type)).Elem}, 1)
	if group := uintptr(maps.FtraceGroup((*maps.Map)(unsafe.Pointer(p)))); l.onStack(group) {
		l.add(ftraceRegion{lo: group, typ: maps.FtraceGroupType(t)}, 1)
	}
}

// unknown adds what p points to if that is on the stack: a closure, or a variable whose type only
// the compiler knows. What the compiler left for the garbage collector tells the bounds of each
// variable with pointers in it. Any other variable may reach to the end of its frame.
func (l *ftraceLift) unknown(p uintptr) {
	if !l.onStack(p) {
		return
	}
	for i := 0; i < l.n; i++ {
		if r := l.region(i); r.lo <= p && p < r.hi && !r.open {
			return
		}
	}
	var u unwinder
	for u.init(l.gp, 0); u.valid(); u.next() {
		frame := &u.frame
		end := frame.argp + frame.argBytes()
		if p < frame.sp || p >= end {
			continue
		}
		if p < frame.varp {
			end = frame.varp
		}
		objects := (*uintptr)(funcdata(frame.fn, abi.FUNCDATA_StackObjects))
		for i := uintptr(0); objects != nil && i < *objects; i++ {
			object := (*stackObjectRecord)(add(unsafe.Pointer(objects), goarch.PtrSize+i*unsafe.Sizeof(stackObjectRecord{})))
			base := frame.varp
			if object.off >= 0 {
				base = frame.argp
			}
			base += uintptr(object.off)
			if base <= p && p < base+uintptr(object.size) {
				r := ftraceRegion{lo: base, hi: base + uintptr(object.size)}
				r.ptrs, r.mask = object.gcdata()
				l.add(r, 1)
				return
			}
			if base > p {
				end = min(end, base)
			}
		}
		l.add(ftraceRegion{lo: p, hi: end, open: true}, 1)
		return
	}
	l.failed = "points into a frame that is not known"
}

// settle makes sure that no two regions overlap, except where one is part of the other.
func (l *ftraceLift) settle() {
	for i := 0; i < l.n; i++ {
		for j := 0; j < l.n; j++ {
			a, b := l.region(i), l.region(j)
			if i == j || a.inner || b.inner || a.lo > b.lo || b.lo >= a.hi {
				continue
			}
			switch {
			case a.open && b.lo > a.lo:
				a.hi = b.lo
			case b.open && !a.open: // a variable without pointers that is part of one with pointers
				b.inner = true
			case a.lo == b.lo && a.hi < b.hi:
				a.inner = true
			case b.hi <= a.hi:
				if a.lo == b.lo && a.hi == b.hi && !a.hasPointers() && i != 0 {
					a.inner = true
				} else {
					b.inner = true
				}
			case !a.hasPointers() && !b.hasPointers():
				a.typ, a.hi = nil, b.hi
				b.inner = true
				i, j = 0, -1
			default:
				l.failed = "overlaps in part with another"
				return
			}
		}
	}
}

func (r *ftraceRegion) hasPointers() bool { return r.typ != nil && r.typ.Pointers() || r.ptrs != 0 }

// copy copies the regions.
func (l *ftraceLift) copy() {
	for i := 0; i < l.n; i++ {
		r := l.region(i)
		if r.inner {
			continue
		}
		size := r.hi - r.lo
		switch {
		case r.typ != nil && r.typ.Pointers():
			r.copy = newarray(r.typ, int(size/r.typ.Size_))
		case r.ptrs != 0:
			if size > 512 { // the garbage collector would need the type as long as the copy exists
				l.failed = "leads to a large variable on the stack whose type is not known"
				return
			}
			t := new(_type)
			t.Size_, t.PtrBytes, t.GCData, t.Align_, t.FieldAlign_, t.Kind_ = size, r.ptrs, r.mask, goarch.PtrSize, goarch.PtrSize, abi.Struct
			r.copy = mallocgc(size, t, true)
		default:
			r.copy = mallocgc(size, nil, true)
		}
		memmove(r.copy, unsafe.Pointer(r.lo), size)
	}
	for i := 0; i < l.n; i++ {
		r := l.region(i)
		if r.inner {
			continue
		}
		l.pointers(r, func(slot *unsafe.Pointer) { *slot = l.lifted(*slot) })
		if !r.box {
			r.before = mallocgc(r.hi-r.lo, nil, true)
			memmove(r.before, r.copy, r.hi-r.lo)
		}
	}
	for i := 0; i < l.n; i++ {
		r := l.region(i)
		r.lo, r.hi = l.gp.stack.hi-r.lo, l.gp.stack.hi-r.hi
	}
}

// pointers calls f for each word of the region's copy that holds a pointer.
func (l *ftraceLift) pointers(r *ftraceRegion, f func(slot *unsafe.Pointer)) {
	if r.typ == nil {
		ftraceSlots(r.copy, r.ptrs, r.mask, f)
		return
	}
	if !r.typ.Pointers() {
		return
	}
	mask := getGCMask(r.typ)
	for i := uintptr(0); i < r.size(); i += r.typ.Size_ {
		ftraceSlots(add(r.copy, i), r.typ.PtrBytes, mask, f)
	}
}

// size returns the size of the region, whether lo and hi are addresses or distances.
func (r *ftraceRegion) size() uintptr {
	if r.hi > r.lo {
		return r.hi - r.lo
	}
	return r.lo - r.hi
}

func ftraceSlots(p unsafe.Pointer, ptrs uintptr, mask *byte, f func(slot *unsafe.Pointer)) {
	for i := uintptr(0); i < ptrs; i += goarch.PtrSize {
		if ftraceMaskBit(mask, i) {
			f((*unsafe.Pointer)(add(p, i)))
		}
	}
}

// ftraceMaskBit reports whether a mask has the bit for the word at offset.
func ftraceMaskBit(mask *byte, offset uintptr) bool {
	i := offset / goarch.PtrSize
	return *(*byte)(add(unsafe.Pointer(mask), i/8))>>(i%8)&1 != 0
}

// lifted returns the address in a copy that stands for p.
func (l *ftraceLift) lifted(p unsafe.Pointer) unsafe.Pointer {
	if !l.onStack(uintptr(p)) {
		return p
	}
	for i := 0; i < l.n; i++ {
		if r := l.region(i); !r.inner && r.lo <= uintptr(p) && uintptr(p) < r.hi {
			return add(r.copy, uintptr(p)-r.lo)
		}
	}
	return p
}

// lowered returns the address on the stack that p stands for, if p leads into a copy.
func (l *ftraceLift) lowered(p unsafe.Pointer) uintptr {
	for i := 0; i < l.n; i++ {
		r := l.region(i)
		if r.inner || r.copy == nil {
			continue
		}
		if at := uintptr(p) - uintptr(r.copy); at < r.lo-r.hi {
			return l.gp.stack.hi - r.lo + at
		}
	}
	return uintptr(p)
}

// giveBack applies to the stack what changed in the copies.
func (l *ftraceLift) giveBack() {
	if !l.changes() {
		return
	}
	systemstack(func() {
		for i := 1; i < l.n; i++ {
			if r := l.region(i); r.before != nil {
				l.write(r)
			}
		}
	})
}

// changes reports whether there is any region in which changes count.
func (l *ftraceLift) changes() bool {
	for i := 1; i < l.n; i++ {
		if l.region(i).before != nil {
			return true
		}
	}
	return false
}

func (l *ftraceLift) write(r *ftraceRegion) {
	size := r.lo - r.hi
	if memequal(r.copy, r.before, size) {
		return
	}
	to := unsafe.Pointer(l.gp.stack.hi - r.lo)
	// Pointers first; what is as before is then left alone.
	l.pointers(r, func(slot *unsafe.Pointer) {
		at := uintptr(unsafe.Pointer(slot)) - uintptr(r.copy)
		before := (*uintptr)(add(r.before, at))
		if uintptr(*slot) != *before {
			*(*uintptr)(add(to, at)) = l.lowered(*slot)
			*before = uintptr(*slot)
		}
	})
	for i := uintptr(0); i < size; i++ {
		if b := *(*byte)(add(r.copy, i)); b != *(*byte)(add(r.before, i)) {
			*(*byte)(add(to, i)) = b
		}
	}
}

// lower makes results of type t at p, which are on the heap, point to the stack where they lead to
// copies: a parameter that the function returns is its caller's variable.
//
// It runs on the system stack. The function must take the results at once: the stack may not move
// in between.
func (l *ftraceLift) lower(p unsafe.Pointer, t *_type) {
	if l.n < 2 || !t.Pointers() || !l.changes() {
		return
	}
	ftraceSlots(p, t.PtrBytes, getGCMask(t), func(slot *unsafe.Pointer) {
		if to := l.lowered(*slot); to != uintptr(*slot) {
			*(*uintptr)(unsafe.Pointer(slot)) = to
		}
	})
}
