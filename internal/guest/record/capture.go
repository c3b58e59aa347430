//go:build ftrace_core

// Values in records. A record has the bytes of its values, one after the other, without their
// types. A layout has the types. A function has one layout, or a few if it has parameters or
// results that are interfaces. docs/format.md says what is written of a value of each kind;
// keep/recorded.go reads it.

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceLayout has the types of the values in a record.
type ftraceLayout struct {
	_     sys.NotInHeap
	next  *ftraceLayout // another one of the same function
	id    uint32        // from 1 on
	n     uint32        // values
	flags uint32
	own   uint32 // values of the function; after them comes what paths lead to
	boxed uint32 // a bit for each value: it is behind the interface's pointer
	// n, if each value is a word, there are at most 32, paths is 0, and flags at most
	// ftraceLayoutPointers; else no possible number of values.
	words   uint32
	head    uint64  // if so, id and the values' size as a record has them
	implied uint32  // if so, ftraceImplied...; atomic
	paths   uintptr // the paths' text in the rules; 0: none
	hides   bool    // something in the values may be secret
	waits   bool    // values are channels, whose addresses follow the values
	// n types follow
}

// Whether records leave out a layout whose values are words.
const (
	ftraceImpliedUnknown = iota
	ftraceImpliedNo      // they leave out another one of the function
	ftraceImpliedYes     // it has a second number, see ftrace_format_LayoutImplied
)

const (
	// The values are given by pointers to them. This is not in recordings.
	ftraceLayoutPointers = ftrace_format_LayoutOwn

	// From bit ftraceOfRedaction on the flags have the number of the redaction. It is not in
	// recordings either, where the types tell what is hidden.

	ftraceLayoutRecorded = ftrace_format_LayoutOwn - 1
)

func ftraceLayoutFlags(clause *ftrace_rule_Clause) uint32 {
	flags := clause.Own << ftraceOfRedaction
	if clause.Detail >= ftrace_rule_Deep {
		flags |= ftrace_format_LayoutDeep
	}
	if clause.Detail == ftrace_rule_Changes {
		flags |= ftrace_format_LayoutNested
	}
	return flags
}

// redaction returns the number of the redaction by which values are hidden.
func (l *ftraceLayout) redaction() uint32 { return l.flags >> ftraceOfRedaction }

// ftraceKnownLayouts is a list of layouts; atomic.
type ftraceKnownLayouts struct{ first unsafe.Pointer }

//go:nosplit
func (l *ftraceLayout) typ(i uint32) **_type {
	return (**_type)(add(unsafe.Pointer(l), unsafe.Sizeof(*l)+uintptr(i)*unsafe.Sizeof(uintptr(0))))
}

// value returns the type of a value.
func (l *ftraceLayout) value(i uint32) *_type {
	t := *l.typ(i)
	if t != nil && l.flags&ftraceLayoutPointers != 0 {
		t = (*ptrtype)(unsafe.Pointer(t)).Elem
	}
	return t
}

// find returns the layout of values, or nil if there are too many. If there are paths, the values
// from own on are what they lead to.
func (known *ftraceKnownLayouts) find(values []any, flags uint32, paths *ftracePaths, own int) *ftraceLayout {
	at := paths.at()
	// Most functions have one.
	if l := (*ftraceLayout)(atomic.Loadp(unsafe.Pointer(&known.first))); l != nil && l.flags == flags && l.paths == at && l.holds(values) {
		return l
	}
	l, _ := known.lookup(values, flags, at)
	if l == nil {
		if l = known.add(values, flags, paths, own); l == nil {
			atomic.Xadd(&ftraceTables.lost, 1)
		}
	}
	return l
}

// lookup returns the layout of values, or nil and how many other layouts there are.
func (known *ftraceKnownLayouts) lookup(values []any, flags uint32, paths uintptr) (l *ftraceLayout, n int) {
	for l = (*ftraceLayout)(atomic.Loadp(unsafe.Pointer(&known.first))); l != nil; l = l.next {
		if l.flags&^ftrace_format_LayoutDynamic == flags&^ftrace_format_LayoutDynamic && l.paths == paths && l.holds(values) {
			return l, n
		}
		if l.paths == paths {
			n++
		}
	}
	return nil, n
}

func (l *ftraceLayout) holds(values []any) bool {
	if int(l.n) != len(values) {
		return false
	}
	if l.flags&ftrace_format_LayoutDynamic != 0 {
		return true
	}
	for i := range values {
		if *l.typ(uint32(i)) != efaceOf(&values[i])._type {
			return false
		}
	}
	return true
}

// capture writes the layout's number, the size, and the values, at p in the record r. It returns
// how many bytes that is.
func (l *ftraceLayout) capture(p unsafe.Pointer, r *ftraceEvent, values []any) uintptr {
	return l.captureTo(p, uintptr(unsafe.Pointer(r))+ftrace_format_RecordMax, values)
}

// captureTo is capture with room up to end.
func (l *ftraceLayout) captureTo(p unsafe.Pointer, end uintptr, values []any) uintptr {
	var c ftraceValueWriter // not a literal, which the compiler would build elsewhere and copy: the copy waits for the stores
	c.at, c.end = uintptr(p)+8, end
	c.deep, c.redaction, c.hides = l.flags&ftrace_format_LayoutDeep != 0, l.redaction(), l.hides
	c.nested = l.flags&ftrace_format_LayoutNested != 0
	for i := range values {
		e := efaceOf(&values[i])
		switch {
		case e._type == nil && l.flags&ftrace_format_LayoutDynamic == 0:
		case l.flags&ftraceLayoutPointers != 0:
			t := (*ptrtype)(unsafe.Pointer(e._type)).Elem
			if l.flags&ftrace_format_LayoutDynamic != 0 {
				c.dynamic(ftraceBox(t, e.data), ftraceCaptureNest)
				continue
			}
			c.value(t, e.data, ftraceCaptureNest)
			if t.Kind() == abi.Pointer { // else there may be less than a word
				c.pointee(t, *(*unsafe.Pointer)(e.data), ftraceCaptureNest)
			}
		case l.flags&ftrace_format_LayoutDynamic != 0:
			c.dynamic(*e, ftraceCaptureNest)
		case e._type.IsDirectIface():
			c.value(e._type, unsafe.Pointer(&e.data), ftraceCaptureNest)
			c.pointee(e._type, e.data, ftraceCaptureNest)
		default:
			c.value(e._type, e.data, ftraceCaptureNest)
		}
	}
	if l.waits {
		c.channels(l, values)
	}
	size := c.at - uintptr(p)
	*(*[2]uint32)(p) = [2]uint32{l.id, uint32(size - 8)}
	return size
}

// channels writes the addresses of the values that are channels. By these, readers find what
// goroutines waited for.
func (c *ftraceValueWriter) channels(l *ftraceLayout, values []any) {
	for i := range values {
		if l.channel(uint32(i)) {
			data := efaceOf(&values[i]).data
			if l.flags&ftraceLayoutPointers != 0 {
				data = *(*unsafe.Pointer)(data)
			}
			c.uint64(uint64(uintptr(data)))
		}
	}
}

// channel reports whether a value is a channel. None is a secret.
func (l *ftraceLayout) channel(i uint32) bool {
	t := l.value(i)
	return t != nil && t.Kind() == abi.Chan
}

// How much is recorded of a value.
const (
	ftraceCaptureString   = 64  // bytes of a string
	ftraceCaptureElements = 8   // elements of slices and arrays
	ftraceCaptureFields   = 256 // of a struct
	ftraceCaptureNest     = 2   // levels of structs and arrays
	ftraceCaptureErrors   = 20  // errors that lead to one another
)

// ftraceValueWriter writes values.
type ftraceValueWriter struct {
	at, end uintptr // where the next goes: in a chunk, which does not move
	full    bool    // a value did not fit: it and those after it are missing
	deep    bool
	nested  bool // so is what pointers of the function lead to, whatever that is

	redaction uint32
	hides     bool // something in the value may be secret
	errors    int  // that lead to one another
}

// room reports whether n more bytes fit.
func (c *ftraceValueWriter) room(n uintptr) bool {
	c.full = c.full || c.at+n > c.end
	return !c.full
}

func (c *ftraceValueWriter) uint32(v uint32) {
	if c.room(4) {
		*(*uint32)(unsafe.Pointer(c.at)) = v
		c.at += 4
	}
}

func (c *ftraceValueWriter) uint64(v uint64) {
	if c.room(8) {
		*(*uint64)(unsafe.Pointer(c.at)) = v
		c.at += 8
	}
}

// bytes writes n bytes at v.
func (c *ftraceValueWriter) bytes(v unsafe.Pointer, n uintptr) {
	if c.room(n) {
		memmove(unsafe.Pointer(c.at), v, n)
		c.at += n
	}
}

// value writes the value of type t at v, which is readable, or nothing if it is secret.
func (c *ftraceValueWriter) value(t *_type, v unsafe.Pointer, nest int) {
	if c.hides && ftraceHidesAll(t, c.redaction) {
		return
	}
	if ftraceFormKinds>>t.Kind()&1 != 0 {
		if form, _ := ftraceFormOf(t); form != ftraceNoForm && c.known(t, v, nest) {
			return
		}
	}
	switch t.Kind() {
	case abi.Int, abi.Int64, abi.Uint, abi.Uint64, abi.Uintptr, abi.Float64:
		c.uint64(*(*uint64)(v))
	case abi.Int32, abi.Uint32, abi.Float32:
		c.uint32(*(*uint32)(v))
	case abi.Bool, abi.Int8, abi.Uint8, abi.Int16, abi.Uint16, abi.Complex64, abi.Complex128:
		c.bytes(v, t.Size_)
	case abi.String:
		s := *(*string)(v)
		c.text(unsafe.Pointer(unsafe.StringData(s)), len(s))
	case abi.Pointer, abi.UnsafePointer:
		c.uint64(uint64(*(*uintptr)(v)))
		if c.deep && nest == ftraceCaptureNest {
			c.behind(t, *(*unsafe.Pointer)(v))
		}
	case abi.Func:
		c.code(*(*unsafe.Pointer)(v))
	case abi.Chan:
		c.channel(*(*unsafe.Pointer)(v))
	case abi.Map:
		c.mapping(*(*unsafe.Pointer)(v))
	case abi.Slice:
		c.slice((*slicetype)(unsafe.Pointer(t)).Elem, *(*slice)(v), nest)
	case abi.Array:
		a := (*arraytype)(unsafe.Pointer(t))
		c.elements(a.Elem, v, int(a.Len), nest)
	case abi.Struct:
		if nest <= 0 {
			return
		}
		s := (*structtype)(unsafe.Pointer(t))
		secret := uint64(0)
		if c.hides {
			_, secret = ftraceHidingOf(t, c.redaction)
		}
		for i := range min(len(s.Fields), ftraceCaptureFields) {
			if secret != 0 && ftraceHidesField(s, secret, i, c.redaction) {
				continue
			}
			f := &s.Fields[i]
			c.value(f.Typ, add(v, f.Offset), nest-1)
		}
	case abi.Interface:
		c.iface((*interfacetype)(unsafe.Pointer(t)), v, nest)
	}
}

// known writes a value that has a form: its text. That of a pointer follows the address, and is
// empty if the pointer leads nowhere. If the layout has what the pointer leads to, known returns
// false.
func (c *ftraceValueWriter) known(t *_type, v unsafe.Pointer, nest int) bool {
	if t.Kind() == abi.Pointer {
		if c.deep && nest == ftraceCaptureNest {
			return false
		}
		c.uint64(uint64(*(*uintptr)(v)))
	}
	text := ftraceNewText()
	p := ftracePrinter{b: text, limit: ftraceFormMax, redaction: c.redaction}
	p.known(t, v)
	n := min(text.n, ftraceFormRecord)
	c.uint32(uint32(n))
	c.bytes(unsafe.Pointer(&text.data), uintptr(n))
	ftraceFreeText(text)
	return true
}

// text writes a string's length and its beginning, or no bytes if it can't be read.
func (c *ftraceValueWriter) text(data unsafe.Pointer, n int) {
	shown := uintptr(min(n, ftraceCaptureString))
	if !ftraceReadable(data, shown) {
		c.uint32(0)
		return
	}
	c.uint32(uint32(min(n, ftrace_format_Nil-1)))
	c.bytes(data, shown)
}

// code writes the address of a function's code.
func (c *ftraceValueWriter) code(fn unsafe.Pointer) {
	if fn != nil && ftraceReadable(fn, unsafe.Sizeof(uintptr(0))) {
		pc := *(*uintptr)(fn)
		ftraceKnowCode(pc)
		c.uint64(uint64(pc))
		return
	}
	c.uint64(0)
}

func (c *ftraceValueWriter) channel(v unsafe.Pointer) {
	if v == nil || !ftraceReadable(v, unsafe.Sizeof(hchan{})) {
		c.uint32(ftrace_format_Nil)
		c.uint32(0)
		return
	}
	c.uint32(uint32((*hchan)(v).qcount))
	c.uint32(uint32((*hchan)(v).dataqsiz))
}

func (c *ftraceValueWriter) mapping(v unsafe.Pointer) {
	if v == nil || !ftraceReadable(v, unsafe.Sizeof(uint64(0))) {
		c.uint32(ftrace_format_Nil)
		return
	}
	c.uint32(uint32(*(*uint64)(v))) // its number of elements comes first; len depends on that
}

func (c *ftraceValueWriter) slice(elem *_type, s slice, nest int) {
	if s.array == nil {
		c.uint32(ftrace_format_Nil)
		return
	}
	if elem.Kind() == abi.Uint8 {
		c.text(s.array, s.len)
		return
	}
	shown := min(s.len, ftraceCaptureElements)
	if !ftraceReadable(s.array, uintptr(shown)*elem.Size_) {
		c.uint32(0)
		return
	}
	c.uint32(uint32(min(s.len, ftrace_format_Nil-1)))
	c.elements(elem, s.array, shown, nest)
}

// elements writes the first of n values in a row.
func (c *ftraceValueWriter) elements(elem *_type, v unsafe.Pointer, n, nest int) {
	if nest <= 0 {
		return
	}
	for i := range min(n, ftraceCaptureElements) {
		c.value(elem, add(v, uintptr(i)*elem.Size_), nest-1)
	}
}

// behind writes whether a pointer leads to a struct, and that struct. If what is nested is wanted,
// other types follow too, each as in an interface.
func (c *ftraceValueWriter) behind(t *_type, v unsafe.Pointer) {
	if t.Kind() != abi.Pointer {
		return
	}
	elem, nest := (*ptrtype)(unsafe.Pointer(t)).Elem, 1
	nested := c.nested && c.deep
	if elem.Kind() != abi.Struct && !nested {
		return
	}
	if v == nil || !ftraceReadable(v, elem.Size_) {
		c.uint32(0)
		return
	}
	number := uint32(1)
	hides := c.hides
	if elem.Kind() != abi.Struct {
		number = ftraceTypeNumber(elem, c.redaction)
		c.hides = ftraceTables.types.hides[number]
	}
	c.uint32(number)
	if nested {
		nest = ftraceCaptureNest
	}
	deep := c.deep
	c.deep = false
	c.value(elem, v, nest)
	c.deep, c.hides = deep, hides
}

// iface writes what is in an interface.
func (c *ftraceValueWriter) iface(t *interfacetype, v unsafe.Pointer, nest int) {
	var e eface
	if len(t.Methods) == 0 {
		e = *(*eface)(v)
	} else if i := (*iface)(v); i.tab != nil && ftraceKnownMemory(uintptr(unsafe.Pointer(i.tab))) {
		e._type, e.data = i.tab.Type, i.data
	}
	if e._type != nil && !ftraceKnownType(e._type) {
		e._type = nil
	}
	c.dynamic(e, nest-1)
}

// dynamic writes the number of a value's type, 0 for nil, whether the value is there, and the
// value.
func (c *ftraceValueWriter) dynamic(e eface, nest int) {
	n := uint32(0)
	if e._type != nil {
		n = ftraceTypeNumber(e._type, c.redaction)
	}
	c.uint32(n)
	hides := c.hides
	c.hides = ftraceTables.types.hides[n]
	switch {
	case n == 0:
	case e._type.IsDirectIface():
		c.uint32(1)
		c.value(e._type, unsafe.Pointer(&e.data), nest)
		c.pointee(e._type, e.data, nest)
	case ftraceReadable(e.data, e._type.Size_):
		c.uint32(1)
		c.value(e._type, e.data, nest)
	default:
		c.uint32(0)
	}
	c.hides = hides
}

// pointee writes the struct that v, of type t, points to if it is an error, unless that was written
// with v. The error's message is made of its fields.
func (c *ftraceValueWriter) pointee(t *_type, v unsafe.Pointer, nest int) {
	if t.Kind() != abi.Pointer || c.deep && nest == ftraceCaptureNest || !ftraceTables.types.errors[ftraceTypeNumber(t, c.redaction)] {
		return
	}
	if c.errors == ftraceCaptureErrors {
		v = nil // they may lead back to themselves
	}
	deep := c.deep
	c.deep = false
	c.errors++
	c.behind(t, v)
	c.errors--
	c.deep = deep
}
