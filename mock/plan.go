package mock

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// A callPlan says how the core calls a replacement without package mock and reflect. It is for a
// replacement that is to be called for every call, and whose parameters and results are all passed
// in registers. The core has the same type, ftracePlan.
type callPlan struct {
	fn      unsafe.Pointer          // the func
	of      unsafe.Pointer          // the type that tells the instantiation that is replaced, or nil
	calls   *atomic.Int64           // number of calls so far; nil if nobody will read it
	records *atomic.Pointer[record] // the calls, the latest first; nil if they are not kept
	shape   *callShape
}

// A callShape says where a type of functions has its parameters and results. The core has the same
// type, ftraceShape, whose comments explain the fields.
type callShape struct {
	params  []paramPlan
	in      []word // of the parameters, by register
	out     []word // of the results; offsets are those in the struct of all
	results []unsafe.Pointer
	few     bool
	small   uintptr
	floats  bool
	spill   uintptr
	record  unsafe.Pointer
	ends    uintptr

	resultsType    unsafe.Pointer
	resultsPointer unsafe.Pointer
	_              unsafe.Pointer // belongs to the core
}

// A paramPlan is a parameter.
type paramPlan struct {
	typ   unsafe.Pointer // its type's descriptor; nil if it is an interface
	iface unsafe.Pointer // the descriptor of an interface with methods
	_     unsafe.Pointer // belongs to the core
	at    uintptr        // in a record
}

// A word is what a register takes, a part of a value.
type word struct {
	offset   uint32
	size     uint8
	param    uint8
	from     uint8
	register uint8
	pointer  bool
	float    bool
}

// Where the core takes the words of a parameter from, which it has in an interface.
const (
	fromBox       = iota // where the interface's pointer leads
	fromInterface        // the interface's own words
	fromTable            // the method table that the parameter, an interface, has
)

// Registers that all supported processors have for parameters, and the number that the core uses
// for most functions.
const (
	intRegisters   = 9
	floatRegisters = 15
	fewRegisters   = 4
)

// A layout is what is needed to call functions of a type.
type layout struct {
	results reflect.Type // of the only result, or the struct of all
	record  reflect.Type // of a call: a record, the parameters, the results
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
	fields := []reflect.StructField{{Name: "Record", Type: reflect.TypeFor[record]()}}
	for i := range t.NumIn() {
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("P", i), Type: t.In(i)})
	}
	fields = append(fields, reflect.StructField{Name: "Results", Type: results})
	l := &layout{results: results, record: reflect.StructOf(fields)}
	l.shape = l.shapeOf(t)
	stored, _ := layouts.LoadOrStore(t, l)
	return stored.(*layout)
}

func (l *layout) shapeOf(t reflect.Type) *callShape {
	s := callShape{record: descriptor(l.record), resultsType: descriptor(l.results), resultsPointer: descriptor(reflect.PointerTo(l.results)), ends: l.record.Field(t.NumIn() + 1).Offset}
	var in, out assignment
	for i := range t.NumIn() {
		p := t.In(i)
		param := paramPlan{typ: descriptor(p), at: l.record.Field(i + 1).Offset}
		first := len(in.words)
		if !in.assign(p, 0) {
			return nil
		}
		words := in.words[first:]
		for j := range words {
			words[j].param = uint8(i)
			if direct(p) {
				words[j].from = fromInterface
				words[j].offset += uint32(unsafe.Sizeof(uintptr(0))) // after the type
			}
		}
		if p.Kind() == reflect.Interface {
			param.typ = nil
			words[0].from, words[1].from = fromInterface, fromInterface
			if p.NumMethod() > 0 {
				param.iface = descriptor(p)
				words[0].from = fromTable
			}
		}
		s.params = append(s.params, param)
		s.spill = align(s.spill, uintptr(p.Align())) + p.Size()
	}
	s.spill = align(s.spill, unsafe.Sizeof(uintptr(0)))
	for i := range t.NumOut() {
		offset := uintptr(0)
		if t.NumOut() > 1 {
			offset = l.results.Field(i).Offset
		}
		if !out.assign(t.Out(i), offset) {
			return nil
		}
		s.results = append(s.results, descriptor(t.Out(i)))
	}
	s.in, s.out = in.words, out.words
	s.floats = in.floats > 0 || out.floats > 0 || s.spill > intRegisters*unsafe.Sizeof(uintptr(0)) // what else needs any room
	s.few = !s.floats && max(len(s.params), len(s.in), len(s.out)) <= fewRegisters && s.spill <= fewRegisters*unsafe.Sizeof(uintptr(0))
	for _, w := range s.in {
		s.few = s.few && w.from != fromTable
	}
	const size = unsafe.Sizeof(uintptr(0))
	if len(s.out) == 1 && l.results.Size() < size {
		s.small = l.results.Size()
	} else {
		for i, w := range s.out {
			s.few = s.few && uintptr(w.offset) == uintptr(i)*size && l.results.Size() == uintptr(len(s.out))*size
		}
	}
	return &s
}

// direct reports whether an interface that holds a t holds the value itself and not a pointer to
// it.
func direct(t reflect.Type) bool {
	zero := reflect.Zero(t).Interface()
	return t.Kind() != reflect.Interface && (*[2]unsafe.Pointer)(unsafe.Pointer(&zero))[1] == nil
}

// plan makes the plan, or returns nil.
func (d *double) plan() *callPlan {
	if d.generic || d.limited || d.when.IsValid() || d.except != 0 || d.receiver != nil || d.target.bound {
		return nil
	}
	shape := layoutOf(d.typ).shape
	if shape == nil {
		return nil
	}
	p := &callPlan{fn: *(*unsafe.Pointer)(d.with.Addr().UnsafePointer()), shape: shape}
	if of := d.instance(); of != nil {
		p.of = descriptor(of)
	}
	if !d.uncounted {
		p.calls = &d.planned
	}
	if !d.unrecorded {
		p.records = &d.records
	}
	return p
}

// A record is a call that is kept. The core has the same type, ftraceCallRecord, and makes the
// records of the calls that it makes by a plan. These are at the beginning of a struct of the type
// layout.record.
type record struct {
	next *record // the one before
	call *Call   // nil if the core made it
	done uint32  // the results are there, if the core made it; atomic
}

// keep adds a call to those that are kept.
func (d *double) keep(c *Call) {
	r := &record{call: c}
	for {
		r.next = d.records.Load()
		if d.records.CompareAndSwap(r.next, r) {
			return
		}
	}
}

// kept returns the calls that are kept, in the order in which they began. It is called under d.mu.
func (d *double) kept() []Call {
	var calls []Call
	for r := d.records.Load(); r != nil; r = r.next {
		if r.call != nil {
			calls = append(calls, *r.call)
		} else {
			calls = append(calls, d.made(r))
		}
	}
	slices.Reverse(calls)
	return calls
}

// made returns the call of a record that the core made.
func (d *double) made(r *record) (c Call) {
	all := reflect.NewAt(layoutOf(d.typ).record, unsafe.Pointer(r)).Elem()
	c.Args = make([]any, d.typ.NumIn())
	for i := range c.Args {
		c.Args[i] = all.Field(i + 1).Interface()
	}
	if atomic.LoadUint32(&r.done) == 0 {
		return c
	}
	results := all.Field(d.typ.NumIn() + 1)
	c.Results = make([]any, d.typ.NumOut())
	for i := range c.Results {
		if len(c.Results) == 1 {
			c.Results[i] = results.Interface()
		} else {
			c.Results[i] = results.Field(i).Interface()
		}
	}
	return c
}

// descriptor returns the address of t's type descriptor.
func descriptor(t reflect.Type) unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1]
}

func align(n, to uintptr) uintptr { return (n + to - 1) / to * to }

// An assignment gives registers to values in order, as the compiler does ("Function call argument
// and result passing" in cmd/compile/abi-internal.md).
type assignment struct {
	words        []word
	ints, floats uint8
}

func (a *assignment) assign(t reflect.Type, offset uintptr) bool {
	const size = unsafe.Sizeof(uintptr(0))
	switch t.Kind() {
	case reflect.Pointer, reflect.Chan, reflect.Map, reflect.Func, reflect.UnsafePointer:
		return a.pointer(offset)
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return a.int(offset, t.Size())
	case reflect.Float32, reflect.Float64:
		return a.float(offset, t.Size())
	case reflect.Complex64, reflect.Complex128:
		half := t.Size() / 2
		return a.float(offset, half) && a.float(offset+half, half)
	case reflect.String:
		return a.pointer(offset) && a.int(offset+size, size)
	case reflect.Interface:
		return a.int(offset, size) && a.pointer(offset+size)
	case reflect.Slice:
		return a.pointer(offset) && a.int(offset+size, size) && a.int(offset+2*size, size)
	case reflect.Array:
		return t.Len() == 0 || t.Len() == 1 && a.assign(t.Elem(), offset)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); !a.assign(f.Type, offset+f.Offset) {
				return false
			}
		}
		return true
	}
	return false
}

func (a *assignment) pointer(offset uintptr) bool {
	if !a.int(offset, unsafe.Sizeof(uintptr(0))) {
		return false
	}
	a.words[len(a.words)-1].pointer = true
	return true
}

func (a *assignment) int(offset, size uintptr) bool {
	if a.ints == intRegisters {
		return false
	}
	a.words = append(a.words, word{offset: uint32(offset), size: uint8(size), register: a.ints})
	a.ints++
	return true
}

func (a *assignment) float(offset, size uintptr) bool {
	if a.floats == floatRegisters {
		return false
	}
	a.words = append(a.words, word{offset: uint32(offset), size: uint8(size), register: a.floats, float: true})
	a.floats++
	return true
}
