//go:build ftrace_core

// Values as a trace shows them, from their type descriptors: no reflection, no boxing, and of the program's own code only the
// Error method of errors (ftraceFormat.errors).
//
// A parameter's own words are consistent, because the function has its own copy. What is reached through a pointer may be changing
// in another goroutine, so nothing found there is trusted: before anything is read through a pointer its memory is
// looked up (readable), and composite values are read until they hold still (still).

package runtime

import (
	"internal/abi"
	"internal/runtime/maps"
	"unsafe"
)

// ftracePrinter appends values to a line.
type ftracePrinter struct {
	b     *ftraceText
	limit int  // the line's length at which values are cut
	deep  bool // follow pointers to structs one level
}

func (p *ftracePrinter) full() bool { return p.b.n >= p.limit }

// ftraceNames walks the names of a function's parameters and results, as rewrite.signature.names writes them.
type ftraceNames struct {
	s string
	i int
}

// next returns a name and the static kind behind it: 0, '!' or ':' with the name of a type.
func (n *ftraceNames) next() (name string, kind byte, typ string) {
	start := n.i
	for n.i < len(n.s) && n.s[n.i] != ',' && n.s[n.i] != ';' {
		n.i++
	}
	name = n.s[start:n.i]
	if n.i < len(n.s) && n.s[n.i] == ',' {
		n.i++
	}
	for i := 0; i < len(name); i++ {
		if name[i] == '!' || name[i] == ':' {
			return name[:i], name[i], name[i+1:]
		}
	}
	return name, 0, ""
}

// results returns the names behind the semicolon.
func (n ftraceNames) results() ftraceNames {
	for i := 0; i < len(n.s); i++ {
		if n.s[i] == ';' {
			return ftraceNames{s: n.s, i: i + 1}
		}
	}
	return ftraceNames{}
}

// list appends parameters or results, comma-separated: the values, or pointers to them.
func (p *ftracePrinter) list(names ftraceNames, values []any, pointers bool) {
	for i := range values {
		if i > 0 {
			p.b.str(", ")
		}
		if p.full() {
			p.b.str("...")
			return
		}
		name, kind, typ := names.next()
		if name != "" {
			p.b.str(name)
			p.b.byte('=')
		}
		if pointers {
			e := efaceOf(&values[i])
			p.value((*ptrtype)(unsafe.Pointer(e._type)).Elem, e.data, ftraceFormat.nest, true)
			continue
		}
		e := efaceOf(&values[i])
		dynamic := kind == '!' || kind == ':' && e._type != nil && !ftraceNamed(e._type, typ)
		if dynamic {
			p.dynamic(values[i], true)
		} else {
			p.eface(e, ftraceFormat.nest)
		}
	}
}

// ftraceNamed says whether t's name is name, whatever its package and type arguments.
func ftraceNamed(t *_type, name string) bool {
	s := toRType(t).string()
	end := len(s)
	for i := 0; i < len(s); i++ {
		if s[i] == '[' && i > 0 {
			end = i
			break
		}
	}
	start := end
	for start > 0 && s[start-1] != '.' {
		start--
	}
	return s[start:end] == name
}

// eface appends the value in an interface, without its type.
func (p *ftracePrinter) eface(e *eface, nest int) {
	if e._type == nil {
		p.b.str("nil")
		return
	}
	data := e.data
	if ftraceDirect(e._type) {
		data = unsafe.Pointer(&e.data)
	} else if !ftraceReadable(data, e._type.Size_) {
		p.b.str("?")
		return
	}
	p.value(e._type, data, nest, false)
}

// ftraceDirect says whether an interface holds values of type t themselves rather than a pointer to them.
func ftraceDirect(t *_type) bool {
	switch t.Kind() {
	case abi.Pointer, abi.Func, abi.Chan, abi.Map, abi.UnsafePointer:
		return true
	case abi.Array:
		a := (*arraytype)(unsafe.Pointer(t))
		return a.Len == 1 && ftraceDirect(a.Elem)
	case abi.Struct:
		s := (*structtype)(unsafe.Pointer(t))
		return len(s.Fields) == 1 && ftraceDirect(s.Fields[0].Typ)
	}
	return false
}

// dynamic appends a value with its type: int(1), *os.PathError("open x: no such file or directory"). The messages of errors are asked for if top is
// set: the value is a parameter, a result or a panic's, not part of another.
func (p *ftracePrinter) dynamic(v any, top bool) {
	e := efaceOf(&v)
	if e._type == nil {
		p.b.str("nil")
		return
	}
	if !ftraceKnownType(e._type) {
		p.b.str("?")
		return
	}
	if top && p.error(v, e) {
		return
	}
	switch e._type.Kind() {
	case abi.String:
		if e._type == efaceOf(&ftraceAString)._type {
			p.eface(e, ftraceFormat.nest)
			return
		}
	case abi.Struct:
		p.b.str(toRType(e._type).string())
		p.eface(e, ftraceFormat.nest)
		return
	case abi.Func:
		p.eface(e, ftraceFormat.nest)
		return
	}
	p.b.str(toRType(e._type).string())
	p.b.byte('(')
	p.eface(e, ftraceFormat.nest)
	p.b.byte(')')
}

// ftraceAString lets the type of plain strings be recognised, whose quotes say enough.
var ftraceAString any = ""

// error appends v with its message, or with its fields if it can't be asked, and says whether v is an error at all.
//
// An error on this goroutine's stack is not asked: its method may keep the pointer, which the compiler was promised that the tracer does
// not. In a program built with -race no error is asked unless errors=on says so, because the method's reads would count as the program's.
func (p *ftracePrinter) error(v any, e *eface) bool {
	err, ok := v.(error)
	if !ok {
		return false
	}
	gp := getg()
	data := uintptr(e.data)
	if ftraceFormat.errors && (data < gp.stack.lo || data >= gp.stack.hi) {
		if text, ok := ftraceCallError(err); ok {
			p.b.str(toRType(e._type).string())
			p.b.byte('(')
			p.quote(text)
			p.b.byte(')')
			return true
		}
	}
	if e._type.Kind() != abi.Pointer {
		return false
	}
	elem := (*ptrtype)(unsafe.Pointer(e._type)).Elem
	if elem.Kind() != abi.Struct || e.data == nil || !ftraceReadable(e.data, elem.Size_) {
		return false
	}
	p.b.str(toRType(e._type).string())
	shallow := ftracePrinter{b: p.b, limit: p.limit}
	shallow.still(elem, e.data, 1, 1)
	return true
}

// ftraceCallError calls err.Error, taking a panic in it as "no message".
func ftraceCallError(err error) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			text, ok = "", false
		}
	}()
	return err.Error(), true
}

// value appends the value of type t at v, which is readable. own says that it is a result's variable, whose dynamic type
// and message are of interest if it is an interface.
func (p *ftracePrinter) value(t *_type, v unsafe.Pointer, nest int, own bool) {
	if p.full() {
		p.b.str("...")
		return
	}
	switch t.Kind() {
	case abi.Bool:
		if *(*byte)(v) != 0 {
			p.b.str("true")
		} else {
			p.b.str("false")
		}
	case abi.Int, abi.Int8, abi.Int16, abi.Int32, abi.Int64:
		if t.Kind() == abi.Int64 && t.TFlag&abi.TFlagNamed != 0 && toRType(t).string() == "time.Duration" {
			p.b.duration(*(*int64)(v))
			return
		}
		p.b.int(ftraceInt(t.Size_, v))
	case abi.Uint, abi.Uint8, abi.Uint16, abi.Uint32, abi.Uint64:
		p.b.uint(ftraceUint(t.Size_, v))
	case abi.Uintptr:
		p.b.hex(ftraceUint(t.Size_, v))
	case abi.Float32:
		p.b.float(float64(*(*float32)(v)), 32)
	case abi.Float64:
		p.b.float(*(*float64)(v), 64)
	case abi.Complex64:
		c := *(*complex64)(v)
		p.complex(float64(real(c)), float64(imag(c)), 32)
	case abi.Complex128:
		c := *(*complex128)(v)
		p.complex(real(c), imag(c), 64)
	case abi.String:
		p.string(*(*string)(v))
	case abi.Pointer, abi.UnsafePointer:
		p.pointer(t, *(*unsafe.Pointer)(v), nest)
	case abi.Func:
		p.funcName(*(*unsafe.Pointer)(v))
	case abi.Chan:
		p.channel(*(*unsafe.Pointer)(v))
	case abi.Slice:
		p.slice((*slicetype)(unsafe.Pointer(t)).Elem, *(*slice)(v), nest)
	case abi.Array:
		a := (*arraytype)(unsafe.Pointer(t))
		p.elements(a.Elem, v, int(a.Len), nest)
	case abi.Struct:
		p.structure((*structtype)(unsafe.Pointer(t)), v, nest)
	case abi.Map:
		p.mapping(t, *(*unsafe.Pointer)(v), nest)
	case abi.Interface:
		p.iface((*interfacetype)(unsafe.Pointer(t)), v, nest, own)
	default:
		p.b.str("?")
	}
}

func ftraceInt(size uintptr, v unsafe.Pointer) int64 {
	switch size {
	case 1:
		return int64(*(*int8)(v))
	case 2:
		return int64(*(*int16)(v))
	case 4:
		return int64(*(*int32)(v))
	}
	return *(*int64)(v)
}

func ftraceUint(size uintptr, v unsafe.Pointer) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(v))
	case 2:
		return uint64(*(*uint16)(v))
	case 4:
		return uint64(*(*uint32)(v))
	}
	return *(*uint64)(v)
}

func (p *ftracePrinter) complex(re, im float64, bits int) {
	p.b.byte('(')
	p.b.float(re, bits)
	if !(im < 0) {
		p.b.byte('+')
	}
	p.b.float(im, bits)
	p.b.str("i)")
}

// string appends a quoted string, cut at the limit for strings.
func (p *ftracePrinter) string(s string) {
	shown := min(len(s), ftraceFormat.str)
	if !ftraceReadable(unsafe.Pointer(unsafe.StringData(s)), uintptr(shown)) {
		p.b.str("?(len=")
		p.b.int(int64(len(s)))
		p.b.byte(')')
		return
	}
	p.quote(s)
}

// quote appends s in quotes, cut at the limit for strings; what is cut off is said.
func (p *ftracePrinter) quote(s string) {
	shown := min(len(s), ftraceFormat.str)
	if shown < len(s) {
		for shown > 0 && s[shown]&0xC0 == 0x80 { // not within a character
			shown--
		}
	}
	p.b.byte('"')
	done := p.b.quoted(s[:shown], p.limit)
	p.b.byte('"')
	if done < len(s) {
		p.b.str("...(")
		p.b.int(int64(len(s) - done))
		p.b.str(" more)")
	}
}

// quoted appends s with what does not print escaped, until the line has limit bytes. It returns how much of s it wrote.
func (b *ftraceText) quoted(s string, limit int) int {
	for i := 0; i < len(s); {
		if b.n >= limit {
			return i
		}
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b.byte('\\')
			b.byte(c)
		case c == '\n':
			b.str(`\n`)
		case c == '\r':
			b.str(`\r`)
		case c == '\t':
			b.str(`\t`)
		case c < ' ' || c == 0x7F:
			b.escape(c)
		case c < 0x80:
			b.byte(c)
		default:
			n := ftraceRune(s[i:])
			if n == 0 {
				b.escape(c)
				break
			}
			b.str(s[i : i+n])
			i += n
			continue
		}
		i++
	}
	return len(s)
}

func (b *ftraceText) escape(c byte) {
	b.str(`\x`)
	b.byte("0123456789abcdef"[c>>4])
	b.byte("0123456789abcdef"[c&15])
}

// ftraceRune returns the length of the character that s begins with if it may be shown as it is, else 0: bytes that are not UTF-8,
// control characters and those that change the direction or the line of text are escaped.
func ftraceRune(s string) int {
	c := s[0]
	var n int
	var r uint32
	switch {
	case c >= 0xC2 && c < 0xE0:
		n, r = 2, uint32(c&0x1F)
	case c >= 0xE0 && c < 0xF0:
		n, r = 3, uint32(c&0x0F)
	case c >= 0xF0 && c < 0xF5:
		n, r = 4, uint32(c&0x07)
	default:
		return 0
	}
	if len(s) < n {
		return 0
	}
	for _, c := range []byte(s[1:n]) {
		if c&0xC0 != 0x80 {
			return 0
		}
		r = r<<6 | uint32(c&0x3F)
	}
	switch {
	case n == 3 && (r < 0x800 || r >= 0xD800 && r < 0xE000), n == 4 && (r < 0x10000 || r > 0x10FFFF):
		return 0 // overlong, surrogate or too large
	case r < 0xA0, r >= 0x200B && r <= 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r == 0xFEFF, r >= 0xE000 && r < 0xF900:
		return 0
	}
	return n
}

// pointer appends an address, or, if asked to follow pointers, the struct behind it.
func (p *ftracePrinter) pointer(t *_type, v unsafe.Pointer, nest int) {
	if v == nil {
		p.b.str("nil")
		return
	}
	if p.deep && t.Kind() == abi.Pointer {
		elem := (*ptrtype)(unsafe.Pointer(t)).Elem
		if elem.Kind() == abi.Struct && ftraceReadable(v, elem.Size_) {
			p.b.byte('&')
			shallow := ftracePrinter{b: p.b, limit: p.limit}
			shallow.still(elem, v, 1, nest)
			return
		}
	}
	p.b.hex(uint64(uintptr(v)))
}

// funcName appends the name of a function value.
func (p *ftracePrinter) funcName(v unsafe.Pointer) {
	if v == nil {
		p.b.str("nil")
		return
	}
	if !ftraceReadable(v, unsafe.Sizeof(uintptr(0))) {
		p.b.str("?")
		return
	}
	f := findfunc(*(*uintptr)(v))
	if !f.valid() {
		p.b.hex(uint64(uintptr(v)))
		return
	}
	name := funcNameForPrint(funcname(f))
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			name = name[i+1:]
			break
		}
	}
	p.b.str(name)
}

func (p *ftracePrinter) channel(v unsafe.Pointer) {
	if v == nil {
		p.b.str("nil")
		return
	}
	if !ftraceReadable(v, unsafe.Sizeof(hchan{})) {
		p.b.str("?")
		return
	}
	c := (*hchan)(v)
	p.b.str("chan(len=")
	p.b.uint(uint64(c.qcount))
	p.b.str(" cap=")
	p.b.uint(uint64(c.dataqsiz))
	p.b.byte(')')
}

func (p *ftracePrinter) slice(elem *_type, s slice, nest int) {
	switch {
	case s.array == nil:
		p.b.str("nil")
	case elem.Kind() == abi.Uint8:
		p.b.byte('b')
		p.string(unsafe.String((*byte)(s.array), s.len))
	default:
		shown := min(s.len, ftraceFormat.slice)
		if !ftraceReadable(s.array, uintptr(shown)*elem.Size_) {
			p.b.str("?[len=")
			p.b.int(int64(s.len))
			p.b.byte(']')
			return
		}
		p.elements(elem, s.array, s.len, nest)
	}
}

// elements appends the first of n values that lie in a row; how many there are is said if not all are shown.
func (p *ftracePrinter) elements(elem *_type, v unsafe.Pointer, n, nest int) {
	p.b.byte('[')
	if n > 0 {
		if nest <= 0 {
			p.b.str("...")
		} else {
			p.still(elem, v, min(n, ftraceFormat.slice), nest-1)
		}
		if nest <= 0 || n > ftraceFormat.slice {
			p.b.str(" len=")
			p.b.int(int64(n))
		}
	}
	p.b.byte(']')
}

// still appends n values of type t in a row at v. If they change while they are being written, they are written again, and in
// the end not shown: they would be neither the old nor the new.
func (p *ftracePrinter) still(t *_type, v unsafe.Pointer, n, nest int) {
	start := p.b.n
	size := uintptr(n) * t.Size_
	for range 3 {
		before := ftraceHash(v, size)
		for i := range n {
			if i > 0 {
				p.b.byte(' ')
			}
			if p.full() {
				p.b.str("...")
				break
			}
			p.value(t, add(v, uintptr(i)*t.Size_), nest, false)
		}
		if t.PtrBytes == 0 || ftraceHash(v, size) == before {
			return
		}
		p.b.n = start
	}
	p.b.str("(changing)")
}

// ftraceHash is FNV-1a, a word at a time.
func ftraceHash(v unsafe.Pointer, n uintptr) uint64 {
	h := uint64(14695981039346656037)
	i := uintptr(0)
	for ; i+8 <= n; i += 8 {
		h = (h ^ *(*uint64)(add(v, i))) * 1099511628211
	}
	for ; i < n; i++ {
		h = (h ^ uint64(*(*byte)(add(v, i)))) * 1099511628211
	}
	return h
}

func (p *ftracePrinter) structure(t *structtype, v unsafe.Pointer, nest int) {
	p.b.byte('{')
	if nest <= 0 && len(t.Fields) > 0 {
		p.b.str("...}")
		return
	}
	for i := range t.Fields {
		if i > 0 {
			p.b.byte(' ')
		}
		if p.full() {
			p.b.str("...")
			break
		}
		f := &t.Fields[i]
		p.b.str(f.Name.Name())
		p.b.byte(':')
		p.value(f.Typ, add(v, f.Offset), nest-1, false)
	}
	p.b.byte('}')
}

// iface appends the value of an interface variable with its dynamic type.
func (p *ftracePrinter) iface(t *interfacetype, v unsafe.Pointer, nest int, own bool) {
	var e eface
	if len(t.Methods) == 0 {
		e = *(*eface)(v)
	} else if i := *(*iface)(v); i.tab != nil {
		if !ftraceKnownMemory(uintptr(unsafe.Pointer(i.tab))) {
			p.b.str("?")
			return
		}
		e = eface{i.tab.Type, i.data}
	}
	var x any
	*efaceOf(&x) = e
	if !own && nest <= 0 && e._type != nil {
		p.b.str("...")
		return
	}
	inner := ftracePrinter{b: p.b, limit: p.limit, deep: p.deep && own}
	inner.dynamic(x, own)
}

// mapping appends the first entries of a map.
func (p *ftracePrinter) mapping(t *_type, v unsafe.Pointer, nest int) {
	if v == nil {
		p.b.str("nil")
		return
	}
	if !ftraceReadable(v, maps.FtraceMapSize) {
		p.b.str("?")
		return
	}
	p.b.str("map[")
	start := p.b.n
	var slots [ftraceMapMost]maps.FtraceSlot
	most := min(ftraceFormat.slice, ftraceMapMost)
	for range 3 {
		w := maps.FtraceWalk(t, v, slots[:most])
		if nest <= 0 {
			w.Count = 0
		}
		before := ftraceHashSlots(&w, slots[:w.Count])
		for i := 0; i < w.Count; i++ {
			if i > 0 {
				p.b.byte(' ')
			}
			if p.full() {
				p.b.str("...")
				break
			}
			p.value(w.Key, slots[i].Key, nest-1, false)
			p.b.byte(':')
			p.value(w.Elem, slots[i].Elem, nest-1, false)
		}
		if w.Still && maps.FtraceUnchanged(v, &w) && ftraceHashSlots(&w, slots[:w.Count]) == before {
			if w.Count < int(w.Used) {
				if w.Count > 0 {
					p.b.byte(' ')
				}
				p.b.str("len=")
				p.b.uint(w.Used)
			}
			p.b.byte(']')
			return
		}
		p.b.n = start
	}
	p.b.str("(changing)]")
}

const ftraceMapMost = 32

func ftraceHashSlots(w *maps.FtraceWalked, slots []maps.FtraceSlot) uint64 {
	h := uint64(0)
	for i := range slots {
		h = h*31 + ftraceHash(slots[i].Key, w.Key.Size_) + ftraceHash(slots[i].Elem, w.Elem.Size_)
	}
	return h
}
