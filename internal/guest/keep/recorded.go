//go:build ftrace_core

// Values in records, read back: what record/capture.go wrote, as a trace shows it.

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceValueReader appends recorded values to a line.
type ftraceValueReader struct {
	ftracePrinter
	at, end uintptr // what is still to be read
	deep    bool
	nested  bool
}

// ftraceRecordedValues finds the values recorded at p, given the layouts that they can have. It
// returns where they are and their layout, or nil if it is none of these.
func ftraceRecordedValues(b *ftraceText, p unsafe.Pointer, known *ftraceKnownLayouts) (c ftraceValueReader, l *ftraceLayout) {
	head := *(*[2]uint32)(p)
	l = (*ftraceLayout)(atomic.Loadp(unsafe.Pointer(&known.first)))
	for l != nil && l.id != head[0] {
		l = l.next
	}
	if l != nil {
		c = ftraceValueReader{ftracePrinter{b: b, limit: ftraceFormat.line, redaction: l.redaction()}, uintptr(p) + 8, uintptr(p) + 8 + uintptr(head[1]), l.flags&ftrace_format_LayoutDeep != 0, l.flags&ftrace_format_LayoutNested != 0}
	}
	return c, l
}

// values appends the values that are recorded at p, given their names and the layouts they can
// have.
func (b *ftraceText) values(p unsafe.Pointer, names ftraceNames, known *ftraceKnownLayouts) {
	c, l := ftraceRecordedValues(b, p, known)
	if l == nil {
		return
	}
	for i := range l.n {
		if i > 0 {
			b.str(", ")
		}
		name, kind, typ := names.next()
		if name != "" {
			b.str(name)
			b.byte('=')
		}
		c.next(l, i, kind, typ)
	}
}

// next appends value i, the next one. kind and typ are what the source says of it.
func (c *ftraceValueReader) next(l *ftraceLayout, i uint32, kind byte, typ string) {
	t := l.value(i)
	switch {
	case l.flags&ftrace_format_LayoutDynamic != 0:
		c.dynamic(ftraceCaptureNest, kind == '!')
	case t == nil:
		c.b.str("nil")
	default:
		c.typed(t, ftraceCaptureNest, l.typed(t, kind, typ) && l.flags&ftraceLayoutPointers == 0)
	}
}

// typed reports whether a value's type t differs from what is known statically.
func (l *ftraceLayout) typed(t *_type, kind byte, typ string) bool {
	return l.flags&ftrace_format_LayoutPanic != 0 || kind == '!' || kind == ':' && ftraceTypeName(t) != typ
}

// jsonRecorded appends recorded values as an object, after the text that begins the member:
// numbers, booleans and strings as themselves, others as text.
func (b *ftraceText) jsonRecorded(member string, p unsafe.Pointer, names ftraceNames, known *ftraceKnownLayouts) {
	c, l := ftraceRecordedValues(b, p, known)
	if l == nil {
		return
	}
	b.str(member)
	b.byte('{')
	for i := range l.n {
		if i > 0 {
			b.byte(',')
		}
		name, kind, typ := names.next()
		b.jsonMember(name, int(i))
		t := l.value(i)
		at := b.n
		c.limit = at + min(ftraceFormat.line, ftraceJSONLine)
		if t == nil || l.flags&ftrace_format_LayoutDynamic != 0 || l.typed(t, kind, typ) {
			t = nil
		} else if c.json(t, ftraceCaptureNest) {
			continue
		}
		c.next(l, i, kind, typ)
		if (t == nil || t.Kind() == abi.Interface) && b.from(at) == "nil" {
			b.n = at
			b.str("null")
		} else {
			b.jsonShown(t, at)
		}
	}
	b.byte('}')
}

// json appends the next value if it is a string or a struct, as JSON.
func (c *ftraceValueReader) json(t *_type, nest int) bool {
	if ftraceHidesAll(t, c.redaction) {
		return false
	}
	switch t.Kind() {
	case abi.String:
		if c.at+4 > c.end {
			return false
		}
		s, n := c.bytes()
		c.b.jsonCut(s, int(n))
		return true
	case abi.Pointer:
		if !c.deep || nest != ftraceCaptureNest || (*ptrtype)(unsafe.Pointer(t)).Elem.Kind() != abi.Struct || c.at+12 > c.end || *(*uint32)(unsafe.Pointer(c.at + 8)) != 1 {
			return false
		}
		c.at += 12
		c.deep = false
		c.jsonFields((*ptrtype)(unsafe.Pointer(t)).Elem, c.nestBehind())
		c.deep = true
		return true
	case abi.Struct:
		if form, _ := ftraceFormOf(t); form != ftraceNoForm || nest <= 0 {
			return false
		}
		c.jsonFields(t, nest)
		return true
	}
	return false
}

// jsonFields appends the fields of a struct, which come next, as an object.
func (c *ftraceValueReader) jsonFields(t *_type, nest int) {
	s := (*structtype)(unsafe.Pointer(t))
	_, secret := ftraceHidingOf(t, c.redaction)
	c.b.byte('{')
	unseen := 0 // as in fields
	for i := range s.Fields {
		if i > 0 {
			c.b.byte(',')
		}
		if i == ftraceCaptureFields || unseen == 0 && c.full() {
			c.b.jsonRest()
			if i == ftraceCaptureFields {
				break
			}
			unseen = c.b.n
		}
		f := &s.Fields[i]
		if unseen == 0 {
			c.b.jsonString(f.Name.Name())
			c.b.byte(':')
		}
		at := c.b.n
		switch {
		case secret != 0 && ftraceHidesField(s, secret, i, c.redaction):
			c.b.str(ftraceStars)
			c.b.jsonQuote(at)
		case !c.json(f.Typ, nest-1):
			c.value(f.Typ, nest-1)
			c.b.jsonShown(f.Typ, at)
		}
	}
	if unseen > 0 {
		c.b.n = unseen
	}
	c.b.byte('}')
}

// take returns where the next n bytes are, or nil if they did not fit into the record.
func (c *ftraceValueReader) take(n uintptr) unsafe.Pointer {
	if c.at+n > c.end {
		c.at = c.end
		return nil
	}
	p := unsafe.Pointer(c.at)
	c.at += n
	return p
}

// uint32 returns the next number. A missing one shows as nil or nothing.
func (c *ftraceValueReader) uint32() uint32 {
	if p := c.take(4); p != nil {
		return *(*uint32)(p)
	}
	return ftrace_format_Nil
}

// typed appends a value itself, with its type if that is of interest, and with what it points to if
// it is an error.
func (c *ftraceValueReader) typed(t *_type, nest int, show bool) {
	if ftraceHidesAll(t, c.redaction) {
		c.b.str(ftraceStars)
		return
	}
	if t.Kind() == abi.Pointer && !(c.deep && nest == ftraceCaptureNest) && ftraceTables.types.errors[ftraceTypeNumber(t, c.redaction)] {
		deep := c.deep
		c.deep = false
		c.failure(t)
		c.deep = deep
		return
	}
	after := ""
	if show {
		after = c.typ(t)
	}
	c.value(t, nest)
	c.b.str(after)
}

// failure appends an error: its message, if that is a field, as in the errors of packages errors
// and fmt, or else its fields.
func (c *ftraceValueReader) failure(t *_type) {
	elem := (*ptrtype)(unsafe.Pointer(t)).Elem
	address := c.take(8)
	if address == nil || *(*uint64)(address) == 0 || elem.Kind() != abi.Struct {
		if elem.Kind() == abi.Struct {
			c.uint32()
		}
		c.b.str(toRType(t).string())
		c.b.str("(nil)")
		return
	}
	c.b.str(toRType(t).string())
	if c.uint32() != 1 {
		c.b.str("(?)")
		return
	}
	s := (*structtype)(unsafe.Pointer(elem))
	if !ftraceHides(elem, c.redaction, 1) && len(s.Fields) > 0 && s.Fields[0].Typ.Kind() == abi.String && (len(s.Fields) == 1 || ftraceMessageFirst(toRType(elem).string())) {
		c.b.byte('(')
		c.value(s.Fields[0].Typ, 0)
		c.links(s.Fields[1:], true)
		c.b.byte(')')
		return
	}
	c.value(elem, 1)
}

// links reads fields of an error, and appends the types of the errors that it wraps, if it does.
func (c *ftraceValueReader) links(fields []abi.StructField, wraps bool) {
	for i := range fields {
		if t := fields[i].Typ; wraps && ftraceIsError(t) {
			wraps = false
			c.link()
		} else {
			n := c.b.n
			c.value(t, 0)
			c.b.n = n
		}
	}
}

// link reads the error that another one wraps, and appends its type and those of the errors that it
// wraps.
func (c *ftraceValueReader) link() {
	number := c.uint32()
	if number == 0 || number >= ftraceTypesMax {
		return
	}
	t := ftraceTables.types.byNumber[number]
	if c.uint32() != 1 {
		return
	}
	c.b.link(toRType(t).string())
	if t.Kind() == abi.Pointer && ftraceTables.types.errors[number] {
		if elem := (*ptrtype)(unsafe.Pointer(t)).Elem; c.take(8) != nil && elem.Kind() == abi.Struct && c.uint32() == 1 {
			c.links((*structtype)(unsafe.Pointer(elem)).Fields, ftraceUnwraps(t))
		}
		return
	}
	n := c.b.n
	c.typed(t, -1, false)
	c.b.n = n
}

// ftraceMessageFirst reports whether an error of this type has its message in its first field.
func ftraceMessageFirst(name string) bool {
	return name == "fmt.wrapError" || name == "fmt.wrapErrors"
}

// value appends the next value, which is of type t.
func (c *ftraceValueReader) value(t *_type, nest int) {
	if ftraceHidesAll(t, c.redaction) {
		c.b.str(ftraceStars)
		return
	}
	if c.at >= c.end && t.Size_ != 0 && t.Kind() != abi.Struct && t.Kind() != abi.Array {
		c.b.str("...")
		return
	}
	if ftraceFormKinds>>t.Kind()&1 != 0 {
		if form, _ := ftraceFormOf(t); form != ftraceNoForm && c.known(t, nest) {
			return
		}
	}
	switch t.Kind() {
	case abi.String:
		c.text(false)
	case abi.Pointer, abi.UnsafePointer:
		c.pointer(t, nest)
	case abi.Func:
		c.code()
	case abi.Chan:
		n, size := c.uint32(), c.uint32()
		if n == ftrace_format_Nil {
			c.b.str("nil")
			return
		}
		c.b.channel(uint64(n), uint64(size))
	case abi.Map:
		n := c.uint32()
		if n == ftrace_format_Nil {
			c.b.str("nil")
			return
		}
		c.b.str("map[")
		if n > 0 {
			c.b.number("len=", uint64(n))
		}
		c.b.byte(']')
	case abi.Slice:
		elem := (*slicetype)(unsafe.Pointer(t)).Elem
		if elem.Kind() == abi.Uint8 {
			c.text(true)
			return
		}
		n := c.uint32()
		if n == ftrace_format_Nil {
			c.b.str("nil")
			return
		}
		c.row(elem, int(n), nest)
	case abi.Array:
		a := (*arraytype)(unsafe.Pointer(t))
		c.row(a.Elem, int(a.Len), nest)
	case abi.Struct:
		c.fields(t, nest)
	case abi.Interface:
		c.dynamic(nest-1, true)
	default:
		p := c.take(t.Size_)
		if p == nil {
			c.b.str("...")
			return
		}
		c.ftracePrinter.value(t, p, nest, false)
	}
}

// known appends a value that has a form. If the layout has what a pointer leads to, known returns
// false.
func (c *ftraceValueReader) known(t *_type, nest int) bool {
	address := uint64(0)
	if t.Kind() == abi.Pointer {
		if c.deep && nest == ftraceCaptureNest {
			return false
		}
		if p := c.take(8); p != nil {
			address = *(*uint64)(p)
		}
	}
	n := c.uint32()
	switch text := c.take(uintptr(n)); {
	case text == nil:
		c.b.str("...")
	case n > 0:
		c.b.str(unsafe.String((*byte)(text), n))
	case t.Kind() != abi.Pointer:
	case address == 0:
		c.b.str("nil")
	default:
		c.b.hex(address)
	}
	return true
}

// text appends a string, or a slice of bytes.
func (c *ftraceValueReader) text(bytes bool) {
	s, n := c.bytes()
	if n == ftrace_format_Nil {
		c.b.str("nil")
		return
	}
	if bytes {
		c.b.byte('b')
	}
	c.quote(s, int(n))
}

// bytes returns as much of a string, or of a slice of bytes, as was recorded, and its full length.
// That is ftrace_format_Nil if it is nil or missing.
func (c *ftraceValueReader) bytes() (s string, n uint32) {
	if n = c.uint32(); n == ftrace_format_Nil {
		return "", n
	}
	shown := min(uintptr(n), ftraceCaptureString, c.end-c.at)
	s = unsafe.String((*byte)(unsafe.Pointer(c.at)), shown)
	c.at += shown
	return s, n
}

func (c *ftraceValueReader) pointer(t *_type, nest int) {
	p := c.take(8)
	if p == nil {
		c.b.str("...")
		return
	}
	address := *(*uint64)(p)
	behind := false
	var elem *_type
	if t.Kind() == abi.Pointer && c.deep && nest == ftraceCaptureNest {
		elem = (*ptrtype)(unsafe.Pointer(t)).Elem
		if elem.Kind() == abi.Struct {
			behind = c.uint32() == 1
		} else if c.nested {
			behind = c.uint32()+1 > 1 // neither 0 nor missing
		}
	}
	switch {
	case address == 0:
		c.b.str("nil")
	case behind:
		c.b.byte('&')
		c.deep = false
		c.value(elem, c.nestBehind())
		c.deep = true
	default:
		c.b.hex(address)
	}
}

// nestBehind returns how many levels were recorded of what a pointer leads to.
func (c *ftraceValueReader) nestBehind() int {
	if c.nested {
		return ftraceCaptureNest
	}
	return 1
}

func (c *ftraceValueReader) code() {
	p := c.take(8)
	if p == nil || *(*uint64)(p) == 0 {
		c.b.str("nil")
		return
	}
	c.funcName(p) // the address of the code, as in a closure
}

// row appends the elements of a slice or an array.
func (c *ftraceValueReader) row(elem *_type, n, nest int) {
	c.b.byte('[')
	shown := min(n, ftraceCaptureElements)
	if nest <= 0 {
		shown = 0
	}
	for i := range shown {
		if i > 0 {
			c.b.byte(' ')
		}
		c.value(elem, nest-1)
	}
	if shown < n {
		if shown > 0 {
			c.b.byte(' ')
		}
		c.b.number("len=", uint64(n))
	}
	c.b.byte(']')
}

func (c *ftraceValueReader) fields(t *_type, nest int) {
	s := (*structtype)(unsafe.Pointer(t))
	_, secret := ftraceHidingOf(t, c.redaction)
	c.b.byte('{')
	if nest <= 0 && len(s.Fields) > 0 {
		c.b.str("...}")
		return
	}
	unseen := 0 // where the text of fields begins that are read, but for which the line has no room
	for i := range s.Fields {
		if i > 0 {
			c.b.byte(' ')
		}
		if i == ftraceCaptureFields {
			c.b.str("...")
			break
		}
		if unseen == 0 && c.full() {
			c.b.str("...")
			unseen = c.b.n
		}
		c.b.str(s.Fields[i].Name.Name())
		c.b.byte(':')
		if secret != 0 && ftraceHidesField(s, secret, i, c.redaction) {
			c.b.str(ftraceStars)
			continue
		}
		c.value(s.Fields[i].Typ, nest-1)
	}
	if unseen > 0 {
		c.b.n = unseen
	}
	c.b.byte('}')
}

// dynamic appends a value with its type in front.
func (c *ftraceValueReader) dynamic(nest int, show bool) {
	n := c.uint32()
	if n == 0 || n >= ftraceTypesMax {
		c.b.str("nil")
		return
	}
	t := ftraceTables.types.byNumber[n]
	if c.uint32() != 1 {
		c.b.str(toRType(t).string())
		c.b.str("(?)")
		return
	}
	c.typed(t, nest, show)
}
