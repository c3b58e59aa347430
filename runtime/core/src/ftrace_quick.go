//go:build ftrace_core

// The short way to a replacement: for most functions, those that take few registers, while nothing is traced. It does what ftracePlan.call does, with all that
// it needs at hand in one place, since to follow pointers takes longer than anything else here.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceQuick is the short way to the first of a function's replacements. The zero value leads nowhere.
type ftraceQuick struct {
	plan    *ftracePlan // nil if there is no short way
	fn      unsafe.Pointer
	scope   *ftraceScope
	results unsafe.Pointer // the type of a pointer to the function's results, once it is known; atomic
	params  uint8          // how many there are,
	in      uint8          // and words of them,
	out     uint8          // and of the results
	small   uint8          // the size of the only result if that is less than a word
	types   [4]*_type      // of the parameters; nil if it is an interface
	words   [4]ftracePlanWord
}

// prepare makes q lead to m if it can.
func (q *ftraceQuick) prepare(m *ftraceMock) {
	if m.plan == nil || !m.plan.shape.few || m.plan.records != nil {
		return
	}
	s := m.plan.shape
	for i := range s.params {
		q.types[i] = s.params[i].typ
	}
	copy(q.words[:], s.in)
	q.params, q.in, q.out, q.small = uint8(len(s.params)), uint8(len(s.in)), uint8(len(s.out)), uint8(s.small)
	q.plan, q.fn, q.scope = m.plan, m.plan.fn, m.scope
}

// learn says of which type a pointer to the results is, after a call by the plan: nil if there are none.
func (q *ftraceQuick) learn(results *_type) {
	if q.out > 0 {
		atomic.StorepNoWB(unsafe.Pointer(&q.results), unsafe.Pointer(results)) // static data
	}
}

// call calls the replacement, or returns false.
func (q *ftraceQuick) call(params []any, result any) bool {
	gp := getg()
	state := &gp.ftraceMock
	to := efaceOf(&result)
	switch t := gp.ftrace; {
	case q.plan == nil || state.bypass != nil || !ftraceMayTrace(gp) || t != nil && t.busy != 0,
		q.scope != nil && q.scope != state.scope && !q.scope.contains(state.scope),
		len(params) != int(q.params) || q.out > 0 && unsafe.Pointer(to._type) != atomic.Loadp(unsafe.Pointer(&q.results)):
		return false
	}
	all := unsafe.Pointer(unsafe.SliceData(params))
	for i := range params {
		if typ := q.types[i%len(q.types)]; typ != nil && typ != (*eface)(add(all, uintptr(i)*unsafe.Sizeof(eface{})))._type {
			return false
		}
	}
	lo, size := gp.stack.lo, gp.stack.hi-gp.stack.lo
	if q.out > 0 && uintptr(to.data)-lo >= size {
		return false // results on the heap take write barriers
	}
	var a, b, c, d uintptr
	switch q.in {
	case 4:
		if d = q.words[3].load(all); q.words[3].pointer && d-lo < size {
			return false
		}
		fallthrough
	case 3:
		if c = q.words[2].load(all); q.words[2].pointer && c-lo < size {
			return false
		}
		fallthrough
	case 2:
		if b = q.words[1].load(all); q.words[1].pointer && b-lo < size {
			return false
		}
		fallthrough
	case 1:
		if a = q.words[0].load(all); q.words[0].pointer && a-lo < size {
			return false
		}
	}
	if q.plan.calls != nil {
		q.plan.count()
	}
	fn := *(*func(a, b, c, d uintptr) (uintptr, uintptr, uintptr, uintptr))(unsafe.Pointer(&q.fn))
	a, b, c, d = fn(a, b, c, d)
	words := (*[4]uintptr)(to.data)
	switch q.out {
	case 4:
		words[3] = d
		fallthrough
	case 3:
		words[2] = c
		fallthrough
	case 2:
		words[1] = b
		fallthrough
	case 1:
		switch q.small {
		case 0:
			words[0] = a
		case 4:
			*(*uint32)(to.data) = uint32(a)
		case 2:
			*(*uint16)(to.data) = uint16(a)
		default:
			*(*uint8)(to.data) = uint8(a)
		}
	}
	KeepAlive(all)
	return true
}
