//go:build ftrace_core

// Calling a replacement by a plan that package mock made (mock/plan.go): without copies, without reflection.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// ftracePlan, ftracePlanParam and ftracePlanRegister are mock.callPlan and its parts.
type ftracePlan struct {
	fn      unsafe.Pointer
	calls   *uint64
	params  []ftracePlanParam
	spill   uintptr
	results []ftracePlanParam
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

// call calls the replacement. It returns where its results are, as want has them, or nil if this call can't be made by the plan: a parameter points to the
// stack, or something has another type.
func (p *ftracePlan) call(gp *g, params []any, want *_type) unsafe.Pointer {
	if len(params) != len(p.params) || !p.returns(want) {
		return nil
	}
	var regs abi.RegArgs
	for i := range p.params {
		param := &p.params[i]
		e := efaceOf(&params[i])
		data := e.data
		var words [2]unsafe.Pointer
		switch {
		case param.isIface:
			if uintptr(data) >= gp.stack.lo && uintptr(data) < gp.stack.hi || !ftraceInterface(param.typ, e, &words) {
				return nil
			}
			data = noescape(unsafe.Pointer(&words))
		case e._type != param.typ:
			return nil
		case ftraceDirect(e._type):
			if uintptr(data) >= gp.stack.lo && uintptr(data) < gp.stack.hi {
				return nil
			}
			words[0] = data
			data = noescape(unsafe.Pointer(&words))
		case e._type.Pointers() && ftraceHoldsStack(gp, data, e._type):
			return nil
		}
		for j := range param.registers {
			param.registers[j].load(&regs, data)
		}
	}
	for i := range p.results {
		for j := range p.results[i].registers {
			if r := &p.results[i].registers[j]; r.kind == ftracePointerRegister {
				regs.ReturnIsPtr.Set(int(r.number))
			}
		}
	}
	atomic.Xadd64(p.calls, 1)
	reflectcall(nil, p.fn, nil, 0, 0, uint32(p.spill), &regs)
	return p.store(gp, &regs, want)
}

// returns says whether want is the type of the result or the struct of the results.
func (p *ftracePlan) returns(want *_type) bool {
	switch len(p.results) {
	case 0:
		return want.Size_ == 0
	case 1:
		return want == p.results[0].typ
	}
	if want.Kind() != abi.Struct {
		return false
	}
	fields := (*structtype)(unsafe.Pointer(want)).Fields
	if len(fields) != len(p.results) {
		return false
	}
	for i := range fields {
		if fields[i].Typ != p.results[i].typ {
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

// load puts the register's part of the value at p into it.
func (r *ftracePlanRegister) load(regs *abi.RegArgs, p unsafe.Pointer) {
	p = add(p, r.offset)
	switch {
	case r.kind == ftraceFloatRegister && r.size == 4:
		regs.Floats[r.number] = uint64(*(*uint32)(p))
	case r.kind == ftraceFloatRegister:
		regs.Floats[r.number] = *(*uint64)(p)
	case r.kind == ftracePointerRegister:
		regs.Ptrs[r.number] = *(*unsafe.Pointer)(p)
		regs.Ints[r.number] = *(*uintptr)(p)
	case r.size == 8:
		regs.Ints[r.number] = *(*uintptr)(p)
	case r.size == 4:
		regs.Ints[r.number] = uintptr(*(*uint32)(p))
	case r.size == 2:
		regs.Ints[r.number] = uintptr(*(*uint16)(p))
	default:
		regs.Ints[r.number] = uintptr(*(*uint8)(p))
	}
}

// store puts the results where the function takes them from. That is a place in the goroutine, if it suits, which takes them before anything else can happen on it.
func (p *ftracePlan) store(gp *g, regs *abi.RegArgs, want *_type) unsafe.Pointer {
	state := &gp.ftraceMock
	var to unsafe.Pointer
	switch {
	case want.Size_ == 0:
		return unsafe.Pointer(&zeroVal[0])
	case !want.Pointers() && want.Size_ <= unsafe.Sizeof(state.scalars):
		to = unsafe.Pointer(&state.scalars)
	case want.Kind() == abi.Interface || want.Size_ == goarch.PtrSize:
		to = unsafe.Pointer(&state.words)
	default:
		to = newobject(want)
	}
	for i := range p.results {
		at := to
		if len(p.results) > 1 {
			at = add(to, (*structtype)(unsafe.Pointer(want)).Fields[i].Offset)
		}
		for j := range p.results[i].registers {
			p.results[i].registers[j].store(regs, at)
		}
	}
	return to
}

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
