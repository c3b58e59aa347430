//go:build ftrace_core

// The fast path to a replacement: for most functions, those that take few registers, while nothing
// is traced. It does the same as ftracePlan.call, with all that it needs in one place, because
// following pointers takes longer than anything else here.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceFastMock is the fast path to the first of a function's replacements. The zero value leads
// nowhere.
type ftraceFastMock struct {
	open    uint32 // 1 once a call by the plan succeeded; 0 for ever if there is no fast path; atomic
	in      uint8  // number of words of parameters,
	out     uint8  // and of results
	small   uint8  // size of the only result if that is less than a word
	fn      unsafe.Pointer
	calls   *uint64        // belongs to the plan
	scope   *ftraceScope   // whose goroutines it is for, or nil
	results unsafe.Pointer // the type of a pointer to the function's results; nil if there are none
	of      unsafe.Pointer // the type that tells the instantiation, see ftraceFunc.instance; nil if the parameters do
	words   [4]ftraceFastMockWord
	plan    *ftracePlan // nil if there is no fast path
}

// ftraceFastMockWord is a word of a parameter.
type ftraceFastMockWord struct {
	typ    *_type  // the parameter's type
	box    uintptr // where its interface is in the slice of parameters, in bytes
	offset uintptr // of the word in what that points to,
	direct bool    // or it is itself this pointer
}

// prepare makes q lead to m if that is possible: every parameter has a word by which its type is
// checked, and words are whole. alone reports whether m is the function's only replacement.
func (q *ftraceFastMock) prepare(m *ftraceMock, alone bool) {
	if m.plan == nil || !m.plan.shape.few || m.plan.records != nil {
		return
	}
	s := m.plan.shape
	checked := 0
	for i, w := range s.in {
		typ := s.params[w.param].typ
		if typ == nil || w.size < goarch.PtrSize {
			return
		}
		q.words[i] = ftraceFastMockWord{typ, uintptr(w.param) * unsafe.Sizeof(eface{}), uintptr(w.offset), w.from == ftraceFromInterface}
		if i == 0 || w.param != s.in[i-1].param {
			checked++
		}
	}
	if checked < len(s.params) {
		return
	}
	q.in, q.out, q.small = uint8(len(s.in)), uint8(len(s.out)), uint8(s.small)
	q.plan, q.fn, q.calls = m.plan, m.plan.fn, m.plan.calls
	if !m.everywhere || !alone {
		q.scope = m.scope
	}
}

// learn opens the fast path after a call by the plan. results is the type of a pointer to the
// results, instance what ftraceFunc.instance returned.
func (q *ftraceFastMock) learn(results *_type, instance any) {
	if q.plan == nil {
		return
	}
	if q.plan.of != nil {
		atomic.StorepNoWB(unsafe.Pointer(&q.of), unsafe.Pointer(efaceOf(&instance)._type)) // static data
	}
	if q.out > 0 {
		atomic.StorepNoWB(unsafe.Pointer(&q.results), unsafe.Pointer(results)) // static data
	}
	atomic.Store(&q.open, 1)
}

// load returns the word. It returns false if the parameter has another type, or if the word may
// point to the stack, which is from lo on. What looks like an address there may be a number: then
// the call takes the slow path, which can tell.
func (w *ftraceFastMockWord) load(params unsafe.Pointer, lo, size uintptr) (word uintptr, ok bool) {
	e := (*eface)(add(params, w.box))
	if e._type != w.typ {
		return 0, false
	}
	word = uintptr(e.data)
	if !w.direct {
		word = *(*uintptr)(unsafe.Pointer(word + w.offset))
	}
	return word, word-lo >= size
}

// published tells the race detector that what made the replacements happened before they are seen.
func (q *ftraceFastMock) published() {
	if raceenabled {
		racerelease(unsafe.Pointer(q))
	}
}

// seen is called on each path from a function to its replacements.
func (q *ftraceFastMock) seen() {
	if raceenabled {
		raceacquire(unsafe.Pointer(q))
	}
}

// call calls the replacement, or returns false.
func (q *ftraceFastMock) call(params []any, result any) bool {
	gp := getg()
	state := &gp.ftraceMock
	to := efaceOf(&result)
	lo, size := gp.stack.lo, gp.stack.hi-gp.stack.lo
	switch t := gp.ftrace; {
	case atomic.Load(&q.open) == 0 || unsafe.Pointer(to._type) != atomic.Loadp(unsafe.Pointer(&q.results)),
		state.bypass != nil || !ftraceMayTrace(gp) || t != nil && t.busy != 0,
		q.scope != nil && q.scope != state.scope && !q.scope.contains(state.scope),
		q.out > 0 && uintptr(to.data)-lo >= size: // results on the heap take write barriers
		return false
	}
	all := unsafe.Pointer(unsafe.SliceData(params))
	if of := atomic.Loadp(unsafe.Pointer(&q.of)); of != nil && of != unsafe.Pointer((*eface)(add(all, uintptr(len(params))*unsafe.Sizeof(eface{})))._type) {
		return false
	}
	var a, b, c, d uintptr
	ok := true
	switch q.in {
	case 4:
		if d, ok = q.words[3].load(all, lo, size); !ok {
			return false
		}
		fallthrough
	case 3:
		if c, ok = q.words[2].load(all, lo, size); !ok {
			return false
		}
		fallthrough
	case 2:
		if b, ok = q.words[1].load(all, lo, size); !ok {
			return false
		}
		fallthrough
	case 1:
		if a, ok = q.words[0].load(all, lo, size); !ok {
			return false
		}
	}
	q.seen()
	if q.calls != nil {
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
