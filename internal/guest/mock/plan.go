//go:build ftrace_core

// Calling a replacement by a plan that package mock made (mock/plan.go): without copies, without
// reflection.
//
// A plan says for each register what goes there: a word of a parameter. The words are loaded as
// numbers, and the replacement is called as a function of that many numbers. That is safe. None of
// them points to the stack, which alone moves. The parameters hold what they point to. And this
// package is not preempted between instructions, so nobody sees the registers until the
// replacement, which knows their types, has them; nor its results until they are where they belong.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// ftracePlan and the types below it are mock.callPlan, callShape, paramPlan, word and record.
type ftracePlan struct {
	fn      unsafe.Pointer
	of      *_type          // what tells the instantiation that is replaced, or its result; nil: the parameters tell
	calls   *uint64         // number of calls so far; nil if it is of no interest
	records *unsafe.Pointer // *ftraceCallRecord: the calls, the latest first; nil if they are not kept
	shape   *ftraceShape
}

type ftraceShape struct {
	params  []ftracePlanParam
	in      []ftracePlanWord
	out     []ftracePlanWord
	results []*_type
	few     bool    // at most four registers each way, no more room on the stack for them, and no interface with methods; results are a word apart
	small   uintptr // size of the only result, if it is less than a word
	floats  bool    // floating-point registers are among them
	spill   uintptr // room on the stack for the registers of parameters
	record  *_type  // an ftraceCallRecord followed by the parameters and results
	ends    uintptr // where the results are in it

	resultsType    *_type         // a struct of the results, or the only one's
	resultsPointer *_type         // a pointer to it
	want           unsafe.Pointer // the type that was found to be that of the results, or nil; atomic
}

type ftracePlanParam struct {
	typ   *_type         // nil if it is an interface
	iface *_type         // nil if it is not an interface or has no methods
	tab   unsafe.Pointer // *itab of the value that such an interface had last, or nil; atomic
	at    uintptr        // in a record
}

type ftracePlanWord struct {
	offset   uint32
	size     uint8
	param    uint8
	from     uint8
	register uint8
	pointer  bool
	float    bool
}

// Where the words of parameters are.
const (
	ftraceFromBox       = iota // offset from where the interface that holds the parameter points
	ftraceFromInterface        // offset within that interface
	ftraceFromTable            // it is the method table of an interface
)

// ftraceCallRecord is a call that is kept.
type ftraceCallRecord struct {
	next *ftraceCallRecord
	call unsafe.Pointer // belongs to package mock
	done uint32         // the results are there; atomic
}

// call calls the replacement and stores its results where to points. It returns false if this call
// can't be made by the plan: a parameter points to the stack, or has another type.
func (p *ftracePlan) call(gp *g, params []any, to unsafe.Pointer) bool {
	s := p.shape
	if s.floats {
		return p.callFloats(gp, params, to)
	}
	var r [9]uintptr
	if !s.load(gp, params, noescape(unsafe.Pointer(&r))) {
		return false
	}
	record := p.begin(params)
	fn := *(*func(a, b, c, d, e, f, g, h, i uintptr) (uintptr, uintptr, uintptr, uintptr, uintptr, uintptr, uintptr, uintptr, uintptr))(unsafe.Pointer(&p.fn))
	r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8] = fn(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8])
	s.store(to, noescape(unsafe.Pointer(&r)))
	p.end(record, to)
	KeepAlive(unsafe.SliceData(params))
	return true
}

// is reports whether the plan is for this instantiation, see ftraceFunc.instance.
func (p *ftracePlan) is(instance any) bool {
	t := efaceOf(&instance)._type
	return p.of == nil || p.of == t || t != nil && p.of == (*functype)(unsafe.Pointer(t)).OutSlice()[0]
}

// results calls the replacement and returns what ftraceDispatcher would. The number is -1 if there
// is no plan or the call can't be made by it.
func (p *ftracePlan) results(gp *g, params []any, want *_type, instance any) (results any, n int) {
	if p == nil || !p.is(instance) || want != nil && !p.shape.returns(want) {
		return nil, -1
	}
	e := efaceOf(&results)
	e._type, e.data = p.shape.resultsPointer, newobject(p.shape.resultsType)
	if !p.call(gp, params, e.data) {
		return nil, -1
	}
	return results, len(p.shape.results)
}

// callFloats makes a call that takes floating-point registers as well.
func (p *ftracePlan) callFloats(gp *g, params []any, to unsafe.Pointer) bool {
	s := p.shape
	var r [9 + 15]uintptr
	if !s.load(gp, params, noescape(unsafe.Pointer(&r))) {
		return false
	}
	record := p.begin(params)
	var regs abi.RegArgs
	for i := range s.in {
		w := &s.in[i]
		switch {
		case w.float:
			regs.Floats[w.register] = uint64(r[i])
		case w.pointer:
			regs.Ptrs[w.register] = unsafe.Pointer(r[i])
			fallthrough
		default:
			regs.Ints[w.register] = r[i]
		}
	}
	for i := range s.out {
		if w := &s.out[i]; w.pointer {
			regs.ReturnIsPtr.Set(int(w.register))
		}
	}
	reflectcall(nil, p.fn, nil, 0, 0, uint32(s.spill), &regs)
	for i := range s.out {
		w := &s.out[i]
		switch {
		case w.float:
			r[i] = uintptr(regs.Floats[w.register])
		case w.pointer:
			r[i] = uintptr(regs.Ptrs[w.register])
		default:
			r[i] = regs.Ints[w.register]
		}
	}
	s.store(to, noescape(unsafe.Pointer(&r)))
	p.end(record, to)
	KeepAlive(unsafe.SliceData(params))
	return true
}

// load stores the words of the parameters where into points. It returns false if one of the
// parameters is of another type, or points to the stack; what other pointers lead to does not point
// there.
func (s *ftraceShape) load(gp *g, params []any, into unsafe.Pointer) bool {
	if len(params) != len(s.params) {
		return false
	}
	all := unsafe.Pointer(unsafe.SliceData(params))
	for i := range s.params {
		if typ := s.params[i].typ; typ != nil && typ != (*eface)(add(all, uintptr(i)*unsafe.Sizeof(eface{})))._type {
			return false
		}
	}
	lo := gp.stack.lo
	size := gp.stack.hi - lo
	for i := range s.in {
		w := &s.in[i]
		e := (*eface)(add(all, uintptr(w.param)*unsafe.Sizeof(eface{})))
		var word uintptr
		if w.from == ftraceFromTable {
			tab, ok := s.params[w.param].table(e)
			if !ok {
				return false
			}
			word = uintptr(unsafe.Pointer(tab))
		} else {
			word = w.load(all)
		}
		if w.pointer && word-lo < size {
			return false
		}
		*(*uintptr)(add(into, uintptr(i)*goarch.PtrSize)) = word
	}
	return true
}

// load returns the word. If the part is smaller, the bytes after it are of no interest, but they
// must exist.
func (w *ftracePlanWord) load(params unsafe.Pointer) uintptr {
	p := add(params, uintptr(w.param)*unsafe.Sizeof(eface{}))
	if w.from == ftraceFromBox {
		p = (*eface)(p).data
	}
	at := uintptr(p) + uintptr(w.offset)
	return *(*uintptr)(unsafe.Pointer(at &^ (goarch.PtrSize - 1))) >> (at % goarch.PtrSize * 8)
}

// table returns the method table of an interface that holds the value in e.
func (param *ftracePlanParam) table(e *eface) (tab *itab, ok bool) {
	if e._type == nil {
		return nil, true
	}
	tab = (*itab)(atomic.Loadp(unsafe.Pointer(&param.tab)))
	if tab == nil || tab.Type != e._type {
		tab = getitab((*interfacetype)(unsafe.Pointer(param.iface)), e._type, true)
		atomic.StorepNoWB(unsafe.Pointer(&param.tab), unsafe.Pointer(tab)) // not on the heap
	}
	return tab, tab != nil
}

// store puts results where they belong. It is nosplit so that the garbage collector can't run
// before it has seen the pointers among them.
//
//go:nosplit
func (s *ftraceShape) store(to unsafe.Pointer, from unsafe.Pointer) {
	for i := range s.out {
		w := &s.out[i]
		at, word := add(to, uintptr(w.offset)), *(*uintptr)(add(from, uintptr(i)*goarch.PtrSize))
		switch {
		case w.pointer:
			*(*unsafe.Pointer)(at) = unsafe.Pointer(word)
		case w.size == 8:
			*(*uint64)(at) = uint64(word)
		case w.size == 4:
			*(*uint32)(at) = uint32(word)
		case w.size == 2:
			*(*uint16)(at) = uint16(word)
		default:
			*(*uint8)(at) = uint8(word)
		}
	}
}

// begin counts a call. If calls are kept it keeps this one with its parameters.
func (p *ftracePlan) begin(params []any) *ftraceCallRecord {
	if p.calls != nil {
		p.count()
	}
	if p.records == nil {
		return nil
	}
	s := p.shape
	all := newobject(s.record)
	for i := range s.params {
		param, e := &s.params[i], efaceOf(&params[i])
		at := add(all, param.at)
		switch {
		case param.typ == nil:
			if param.iface == nil || e._type == nil {
				*(*eface)(at) = *e
				break
			}
			tab, _ := param.table(e)
			*(*iface)(at) = iface{tab, e.data}
		case param.typ.IsDirectIface():
			*(*unsafe.Pointer)(at) = e.data
		default:
			typedmemmove(param.typ, at, e.data)
		}
	}
	record := (*ftraceCallRecord)(all)
	ftraceRaceRelease(unsafe.Pointer(p.records))
	for {
		first := atomic.Loadp(unsafe.Pointer(p.records))
		record.next = (*ftraceCallRecord)(first)
		if atomic_casPointer(p.records, first, all) {
			return record
		}
	}
}

// end adds the results, which are at from, to the record of a call that has returned.
func (p *ftracePlan) end(record *ftraceCallRecord, from unsafe.Pointer) {
	if record == nil {
		return
	}
	s := p.shape
	if len(s.results) > 0 {
		typedmemmove(s.resultsType, add(unsafe.Pointer(record), s.ends), from)
	}
	ftraceRaceRelease(unsafe.Pointer(&record.done))
	atomic.Store(&record.done, 1)
}

// count counts a call.
func (p *ftracePlan) count() {
	ftraceRaceRelease(unsafe.Pointer(p.calls))
	atomic.Xadd64(p.calls, 1)
}

// ftraceRaceRelease tells the race detector, which does not see what this package does, that all
// that the goroutine has done happens before a load from p.
func ftraceRaceRelease(p unsafe.Pointer) {
	if raceenabled {
		racereleasemerge(p)
	}
}

// returns reports whether want is the type of the result or the struct of the results.
func (s *ftraceShape) returns(want *_type) bool {
	if atomic.Loadp(unsafe.Pointer(&s.want)) == unsafe.Pointer(want) {
		return true
	}
	switch len(s.results) {
	case 0:
		return want.Size_ == 0
	case 1:
		if want != s.results[0] {
			return false
		}
	default:
		if want.Kind() != abi.Struct {
			return false
		}
		fields := (*structtype)(unsafe.Pointer(want)).Fields
		if len(fields) != len(s.results) {
			return false
		}
		for i := range fields {
			if fields[i].Typ != s.results[i] {
				return false
			}
		}
	}
	atomic.StorepNoWB(unsafe.Pointer(&s.want), unsafe.Pointer(want)) // static data
	return true
}
