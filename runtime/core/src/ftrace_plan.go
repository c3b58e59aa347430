//go:build ftrace_core

// Calling a replacement by a plan that package mock made (mock/plan.go): without copies, without reflection.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// ftracePlan and what follows are mock.callPlan, callShape, paramPlan and register.
type ftracePlan struct {
	fn    unsafe.Pointer
	calls *uint64
	shape *ftraceShape
}

type ftraceShape struct {
	params  []ftracePlanParam
	results []ftracePlanParam
	spill   uintptr
	floats  bool
	want    unsafe.Pointer // the type that was found to be that of the results, or nil; atomic
}

type ftracePlanParam struct {
	typ       *_type
	isIface   bool
	registers []ftracePlanRegister
}

type ftracePlanRegister struct {
	offset, size uintptr
	kind         uint8
	number       uint8
}

const (
	ftraceIntRegister = iota
	ftracePointerRegister
	ftraceFloatRegister
)

// call calls the replacement and puts its results, as want has them, to where that is. It returns false if this call can't be made by the plan: a parameter
// points to the stack, or something has another type.
func (p *ftracePlan) call(gp *g, params []any, want *_type, to unsafe.Pointer) bool {
	if !p.shape.fits(gp, params, want) {
		return false
	}
	atomic.Xadd64(p.calls, 1)
	if p.shape.floats {
		p.callAny(params, to)
	} else {
		p.callInts(params, to)
	}
	return true
}

// fits says whether a call with these parameters can be made by a plan.
func (s *ftraceShape) fits(gp *g, params []any, want *_type) bool {
	if len(params) != len(s.params) {
		return false
	}
	if atomic.Loadp(unsafe.Pointer(&s.want)) != unsafe.Pointer(want) {
		if !s.returns(want) {
			return false
		}
		atomic.StorepNoWB(unsafe.Pointer(&s.want), unsafe.Pointer(want)) // static data
	}
	for i := range s.params {
		param := &s.params[i]
		e := efaceOf(&params[i])
		word := uintptr(e.data)
		switch onStack := word >= gp.stack.lo && word < gp.stack.hi; {
		case param.isIface:
			if onStack || !ftraceImplements(param.typ, e) {
				return false
			}
		case e._type != param.typ:
			return false
		case e._type.IsDirectIface():
			if onStack {
				return false
			}
		case e._type.Pointers() && ftraceHoldsStack(gp, e.data, e._type):
			return false
		}
	}
	return true
}

// ftraceImplements says whether an interface of type t can hold e.
func ftraceImplements(t *_type, e *eface) bool {
	var words [2]unsafe.Pointer
	return ftraceInterface(t, e, &words)
}

// value returns where the value of a parameter is, which may be words.
func (param *ftracePlanParam) value(e *eface, words *[2]unsafe.Pointer) unsafe.Pointer {
	switch {
	case param.isIface:
		ftraceInterface(param.typ, e, words)
	case e._type.IsDirectIface():
		words[0] = e.data
	default:
		return e.data
	}
	return unsafe.Pointer(words)
}

// callInts makes a call that takes integer registers alone: as a function that takes and returns all of them. Values are in them as numbers, which is
// no harm: nothing here can stop for the garbage collector between the callee and the place that params came from or results go to, and params hold what
// is passed.
func (p *ftracePlan) callInts(params []any, to unsafe.Pointer) {
	var words [2]unsafe.Pointer
	var r [9]uintptr
	for i := range p.shape.params {
		param := &p.shape.params[i]
		at := param.value(efaceOf(&params[i]), (*[2]unsafe.Pointer)(noescape(unsafe.Pointer(&words))))
		for j := range param.registers {
			r[param.registers[j].number%9] = param.registers[j].load(at)
		}
	}
	fn := *(*func(a, b, c, d, e, f, g, h, i uintptr) (uintptr, uintptr, uintptr, uintptr, uintptr, uintptr, uintptr, uintptr, uintptr))(unsafe.Pointer(&p.fn))
	r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8] = fn(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8])
	p.shape.storeInts(to, (*[9]uintptr)(noescape(unsafe.Pointer(&r))))
	KeepAlive(unsafe.SliceData(params))
}

// storeInts puts results where they go. It is nosplit so that the garbage collector can't come before it has seen the pointers among them.
//
//go:nosplit
func (s *ftraceShape) storeInts(to unsafe.Pointer, from *[9]uintptr) {
	for i := range s.results {
		for j := range s.results[i].registers {
			r := &s.results[i].registers[j]
			at, word := add(to, r.offset), from[r.number%9]
			switch {
			case r.kind == ftracePointerRegister:
				*(*unsafe.Pointer)(at) = unsafe.Pointer(word)
			case r.size == 8:
				*(*uint64)(at) = uint64(word)
			case r.size == 4:
				*(*uint32)(at) = uint32(word)
			case r.size == 2:
				*(*uint16)(at) = uint16(word)
			default:
				*(*uint8)(at) = uint8(word)
			}
		}
	}
}

// callAny makes a call that takes floating-point registers as well.
func (p *ftracePlan) callAny(params []any, to unsafe.Pointer) {
	var regs abi.RegArgs
	var words [2]unsafe.Pointer
	for i := range p.shape.params {
		param := &p.shape.params[i]
		at := param.value(efaceOf(&params[i]), (*[2]unsafe.Pointer)(noescape(unsafe.Pointer(&words))))
		for j := range param.registers {
			switch r := &param.registers[j]; r.kind {
			case ftraceFloatRegister:
				regs.Floats[r.number] = uint64(r.load(at))
			case ftracePointerRegister:
				regs.Ptrs[r.number] = *(*unsafe.Pointer)(add(at, r.offset))
				fallthrough
			default:
				regs.Ints[r.number] = r.load(at)
			}
		}
	}
	for i := range p.shape.results {
		for j := range p.shape.results[i].registers {
			if r := &p.shape.results[i].registers[j]; r.kind == ftracePointerRegister {
				regs.ReturnIsPtr.Set(int(r.number))
			}
		}
	}
	reflectcall(nil, p.fn, nil, 0, 0, uint32(p.shape.spill), &regs)
	for i := range p.shape.results {
		for j := range p.shape.results[i].registers {
			p.shape.results[i].registers[j].store(&regs, to)
		}
	}
}

// returns says whether want is the type of the result or the struct of the results.
func (s *ftraceShape) returns(want *_type) bool {
	switch len(s.results) {
	case 0:
		return want.Size_ == 0
	case 1:
		return want == s.results[0].typ
	}
	if want.Kind() != abi.Struct {
		return false
	}
	fields := (*structtype)(unsafe.Pointer(want)).Fields
	if len(fields) != len(s.results) {
		return false
	}
	for i := range fields {
		if fields[i].Typ != s.results[i].typ {
			return false
		}
	}
	return true
}

// ftraceInterface makes the two words of an interface of type t that holds e.
func ftraceInterface(t *_type, e *eface, words *[2]unsafe.Pointer) bool {
	switch {
	case e._type == nil:
		return true
	case len((*interfacetype)(unsafe.Pointer(t)).Methods) == 0:
		words[0] = unsafe.Pointer(e._type)
	default:
		tab := getitab((*interfacetype)(unsafe.Pointer(t)), e._type, true)
		if tab == nil {
			return false
		}
		words[0] = unsafe.Pointer(tab)
	}
	words[1] = e.data
	return true
}

// ftraceHoldsStack says whether the value of type t at p has pointers to the goroutine's stack. What other pointers lead to has none.
func ftraceHoldsStack(gp *g, p unsafe.Pointer, t *_type) bool {
	mask := getGCMask(t)
	for i := uintptr(0); i < t.PtrBytes; i += goarch.PtrSize {
		if word := *(*uintptr)(add(p, i)); word >= gp.stack.lo && word < gp.stack.hi && ftraceMaskBit(mask, i) {
			return true
		}
	}
	return false
}

// load returns the register's part of the value at p.
func (r *ftracePlanRegister) load(p unsafe.Pointer) uintptr {
	switch p = add(p, r.offset); r.size {
	case 8:
		return *(*uintptr)(p)
	case 4:
		return uintptr(*(*uint32)(p))
	case 2:
		return uintptr(*(*uint16)(p))
	}
	return uintptr(*(*uint8)(p))
}

// store puts the register's part of a result at p.
func (r *ftracePlanRegister) store(regs *abi.RegArgs, p unsafe.Pointer) {
	p = add(p, r.offset)
	switch {
	case r.kind == ftraceFloatRegister && r.size == 4:
		*(*uint32)(p) = uint32(regs.Floats[r.number])
	case r.kind == ftraceFloatRegister:
		*(*uint64)(p) = regs.Floats[r.number]
	case r.kind == ftracePointerRegister:
		*(*unsafe.Pointer)(p) = regs.Ptrs[r.number]
	case r.size == 8:
		*(*uintptr)(p) = regs.Ints[r.number]
	case r.size == 4:
		*(*uint32)(p) = uint32(regs.Ints[r.number])
	case r.size == 2:
		*(*uint16)(p) = uint16(regs.Ints[r.number])
	default:
		*(*uint8)(p) = uint8(regs.Ints[r.number])
	}
}
