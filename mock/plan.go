package mock

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A callPlan says how the core calls a replacement without package mock and reflect. It is for a replacement that is to be called for every call, of which
// nothing is recorded but their number, and whose parameters and results are all passed in registers. The core has the same type, ftracePlan.
type callPlan struct {
	fn    unsafe.Pointer // the func
	calls *atomic.Int64
	shape *callShape
}

// A callShape says where a type of functions has its parameters and results. The core has the same type, ftraceShape.
type callShape struct {
	params  []paramPlan
	results []paramPlan    // offsets are those in the struct of all
	spill   uintptr        // room on the stack for the registers of parameters
	floats  bool           // there are floating-point registers among them
	_       unsafe.Pointer // the core's
}

// A paramPlan is a parameter or result.
type paramPlan struct {
	typ       unsafe.Pointer // its type's descriptor
	isIface   bool           // it is an interface
	registers []register
}

// A register takes a part of a value.
type register struct {
	offset, size uintptr // of the part
	kind         uint8
	number       uint8
}

const (
	intRegister = iota
	pointerRegister
	floatRegister
)

// Registers that all supported processors have for parameters.
const (
	intRegisters   = 9
	floatRegisters = 15
)

// A layout is what is to be known of a type of functions to call them.
type layout struct {
	results reflect.Type // of the only result, or the struct of all
	shape   *callShape   // nil if not all is passed in registers
}

var layouts sync.Map // of *layout by reflect.Type

// layoutOf returns the layout of functions of type t.
func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	var types []reflect.Type
	for i := range t.NumOut() {
		types = append(types, t.Out(i))
	}
	results := resultType(types)
	l, _ := layouts.LoadOrStore(t, &layout{results, shapeOf(t, results)})
	return l.(*layout)
}

func shapeOf(t, results reflect.Type) *callShape {
	var s callShape
	var in, out assignment
	for i := range t.NumIn() {
		p := t.In(i)
		param, ok := in.param(p, 0)
		if !ok {
			return nil
		}
		s.params = append(s.params, param)
		s.spill = align(s.spill, uintptr(p.Align())) + p.Size()
	}
	s.spill = align(s.spill, unsafe.Sizeof(uintptr(0)))
	for i := range t.NumOut() {
		offset := uintptr(0)
		if t.NumOut() > 1 {
			offset = results.Field(i).Offset
		}
		result, ok := out.param(t.Out(i), offset)
		if !ok {
			return nil
		}
		s.results = append(s.results, result)
	}
	s.floats = in.floats > 0 || out.floats > 0
	return &s
}

// plan makes the plan, or returns nil.
func (d *double) plan() *callPlan {
	if !d.unrecorded || d.generic || d.limited || d.when.IsValid() || len(d.with) > 1 || d.receiver != nil || d.target.bound {
		return nil
	}
	shape := layoutOf(d.typ).shape
	if shape == nil {
		return nil
	}
	return &callPlan{*(*unsafe.Pointer)(d.with[0].Addr().UnsafePointer()), &d.planned, shape}
}

func align(n, to uintptr) uintptr { return (n + to - 1) / to * to }

// An assignment gives registers to values in order, as the compiler does ("Function call argument and result passing" in cmd/compile/abi-internal.md).
type assignment struct {
	ints, floats uint8
}

func (a *assignment) param(t reflect.Type, offset uintptr) (paramPlan, bool) {
	p := paramPlan{typ: descriptor(t), isIface: t.Kind() == reflect.Interface}
	ok := a.assign(&p, t, offset)
	return p, ok
}

// descriptor returns the address of t's type descriptor, which a value of t in an interface leads to.
func descriptor(t reflect.Type) unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1]
}

func (a *assignment) assign(p *paramPlan, t reflect.Type, offset uintptr) bool {
	const word = unsafe.Sizeof(uintptr(0))
	switch t.Kind() {
	case reflect.Pointer, reflect.Chan, reflect.Map, reflect.Func, reflect.UnsafePointer:
		return a.add(p, offset, word, pointerRegister)
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return a.add(p, offset, t.Size(), intRegister)
	case reflect.Float32, reflect.Float64:
		return a.add(p, offset, t.Size(), floatRegister)
	case reflect.Complex64, reflect.Complex128:
		half := t.Size() / 2
		return a.add(p, offset, half, floatRegister) && a.add(p, offset+half, half, floatRegister)
	case reflect.String:
		return a.add(p, offset, word, pointerRegister) && a.add(p, offset+word, word, intRegister)
	case reflect.Interface:
		return a.add(p, offset, word, intRegister) && a.add(p, offset+word, word, pointerRegister)
	case reflect.Slice:
		return a.add(p, offset, word, pointerRegister) && a.add(p, offset+word, word, intRegister) && a.add(p, offset+2*word, word, intRegister)
	case reflect.Array:
		return t.Len() == 0 || t.Len() == 1 && a.assign(p, t.Elem(), offset)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); !a.assign(p, f.Type, offset+f.Offset) {
				return false
			}
		}
		return true
	}
	return false
}

func (a *assignment) add(p *paramPlan, offset, size uintptr, kind uint8) bool {
	number, most := &a.ints, uint8(intRegisters)
	if kind == floatRegister {
		number, most = &a.floats, floatRegisters
	}
	if *number == most {
		return false
	}
	p.registers = append(p.registers, register{offset, size, kind, *number})
	*number++
	return true
}
