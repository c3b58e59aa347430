package recording

import (
	"math"
	"reflect"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// A ValueFormat says how values look; see docs/reference.md, FTRACE_FORMAT.
type ValueFormat struct {
	Line     int  // bytes at which the values of a line are cut
	String   int  // bytes at which a string is cut
	Elements int  // how many elements of slices and arrays are shown
	Nest     int  // how many levels of nesting are shown
	Messages bool // errors of known types are shown with their messages
}

// DefaultFormat is the format of a trace.
var DefaultFormat = ValueFormat{Line: 2000, String: 64, Elements: 8, Nest: 3, Messages: true}

// A Printer appends values to lines. Its zero value is not usable, see Recording.Printer. It is for
// one goroutine. Several may be used at once while the recording's tables are not refreshed.
type Printer struct {
	r      *Recording
	format ValueFormat
	dst    []byte
	line   int    // where the line begins in dst
	data   []byte // values to come
	cut    bool   // the data ended early
	quiet  int    // what is read is not shown
	deep   bool
	nested bool     // see Layout
	parts  *partsOf // of the value that is being appended; nil: nobody wants to know them
	steps  int      // number of values read, against bad layouts
}

const stepsMax = 1 << 16

// Hidden is shown in place of a value whose name says that it is a secret. Nothing of the value is
// in the recording.
const Hidden = "***"

// Printer returns a printer of the recording's values.
func (r *Recording) Printer(f ValueFormat) *Printer { return &Printer{r: r, format: f} }

// begin prepares for the values of e, which are appended to a line that begins at dst[line].
func (p *Printer) begin(dst []byte, line int, e *Event) *Layout {
	p.dst, p.line, p.data = dst, line, e.Data
	p.cut, p.quiet, p.deep, p.nested, p.steps = false, 0, false, false, 0
	l := p.r.layout(e.Layout)
	if l != nil {
		p.deep, p.nested = l.Deep, l.Nested
	}
	return l
}

// Append appends the values of e to dst, separated by commas, with their names if they have any.
// dst's last line begins at dst[line].
func (p *Printer) Append(dst []byte, line int, e *Event, names []Param) []byte {
	l := p.begin(dst, line, e)
	if l == nil {
		return append(dst, '?')
	}
	for i, n := range l.Types {
		if i > 0 {
			p.str(", ")
		}
		if p.full() {
			p.str("...")
			break
		}
		name := p.param(l, i, names)
		if name.Name != "" {
			p.dst = append(append(p.dst, name.Name...), '=')
		}
		p.top(l, n, name)
	}
	return p.dst
}

// own returns how many of the values are the function's; after them comes what capture= named.
func (l *Layout) own() int { return len(l.Types) - len(l.Captured) }

// param returns the name of a value, given the names of the function's values.
func (p *Printer) param(l *Layout, i int, names []Param) *Param {
	switch own := l.own(); {
	case i >= own:
		t := p.r.typ(l.Types[i])
		return &Param{Name: l.Captured[i-own], Interface: t != nil && t.Error}
	case i < len(names):
		return &names[i]
	}
	return &unnamed
}

var unnamed Param

// AppendPanic appends the value of a panic.
func (p *Printer) AppendPanic(dst []byte, line int, e *Event) []byte {
	l := p.begin(dst, line, e)
	if l == nil || len(l.Types) == 0 {
		return append(dst, '?')
	}
	p.top(l, l.Types[0], &Param{Interface: true})
	return p.dst
}

// AppendPanicType appends the type of a panic's value.
func (p *Printer) AppendPanicType(dst []byte, e *Event) []byte {
	l := p.begin(dst, 0, e)
	if l == nil || len(l.Types) == 0 {
		return append(dst, '?')
	}
	n := l.Types[0]
	if l.Dynamic {
		n = p.uint32()
	}
	if n == 0 {
		return append(dst, "nil"...)
	}
	if t := p.r.typ(n); t != nil {
		return append(dst, t.Name...)
	}
	return append(dst, '?')
}

// Fails reports whether the last value of e, whose values are the results of f, is an error that is
// not nil.
func (p *Printer) Fails(e *Event, f *Function) bool {
	last := len(f.Results) - 1
	if last < 0 || !f.Results[last].Interface && f.Results[last].Unless == "" {
		return false
	}
	l := p.r.layout(e.Layout)
	if l == nil || l.own() != len(f.Results) {
		return false
	}
	t := p.r.typ(l.Types[last])
	switch {
	case l.Dynamic:
	case t == nil:
		return false
	case t.Kind != reflect.Interface:
		return t.Error && f.Results[last].dynamic(t)
	case !t.Error && t.Name != "error": // the interface itself has no values that could be errors
		return false
	}
	// Where the last value begins depends on those before it.
	p.begin(p.dst[:0], 0, e)
	p.quiet++
	for i, n := range l.Types[:last] {
		p.top(l, n, &f.Results[i])
	}
	n := p.uint32()
	if dynamic := p.r.typ(n); !p.cut && dynamic != nil {
		return dynamic.Error
	}
	return false
}

// Address returns the first value of e if it is a pointer, as most receivers are.
func (p *Printer) Address(e *Event) (address uint64, ok bool) {
	l := p.r.layout(e.Layout)
	if l == nil || len(l.Types) == 0 {
		return 0, false
	}
	n, data := l.Types[0], e.Data
	if l.Dynamic {
		if len(data) < 8 || le32(data[4:]) == 0 {
			return 0, false
		}
		n, data = le32(data), data[8:]
	}
	if t := p.r.typ(n); t == nil || t.Kind != reflect.Pointer || len(data) < 8 {
		return 0, false
	}
	return le64(data), true
}

// Values returns the values of an event: name, type and text.
func (p *Printer) Values(e *Event, names []Param) []Value {
	var list []Value
	p.Each(e, names, func(name, typ string, text []byte) {
		list = append(list, Value{Name: name, Type: typ, Text: string(text)})
	})
	return list
}

// Each calls f with name, type and text of each of the values of an event. The text is valid until
// f returns.
func (p *Printer) Each(e *Event, names []Param, f func(name, typ string, text []byte)) {
	l := p.begin(p.dst[:0], 0, e)
	if l == nil {
		return
	}
	for i, n := range l.Types {
		name := p.param(l, i, names)
		from := len(p.dst)
		p.line = from
		t := p.r.typ(n)
		typ := ""
		if t != nil {
			typ = t.Name
		}
		within := p.open(name.Name)
		p.top(l, n, name)
		if name.dynamic(t) {
			t = nil // the text has its type
		}
		p.close(within, t, from)
		f(name.Name, typ, p.dst[from:])
	}
}

// top appends a value itself, of the type with number n unless the layout is dynamic.
func (p *Printer) top(l *Layout, n uint32, name *Param) {
	if l.Dynamic {
		n = p.uint32()
		if n != 0 && !p.cut && p.uint32() == 0 {
			p.str("?")
			return
		}
	}
	t := p.r.typ(n)
	switch {
	case p.cut:
		p.str("...")
	case n == 0:
		p.str("nil")
	case t == nil:
		p.str("?")
		p.cut = true // its size is not known
	case t.Name == noField:
		p.str("?")
	case t.Secret:
		p.str(Hidden)
	case t.Kind == reflect.Interface:
		p.iface(p.r.Env.nestLimit, p.format.Nest, true)
	case !name.Interface && name.Unless == "" && !t.Error && p.simple(t):
	default:
		p.typed(t, p.r.Env.nestLimit, p.format.Nest, name.dynamic(t), p.pointee(t, p.r.Env.nestLimit), true)
	}
}

// iface appends what is in an interface: the number of its type, whether the value is there, and
// the value. own means that it is a variable itself, not part of another value.
func (p *Printer) iface(has, show int, own bool) {
	n := p.uint32()
	if p.cut {
		p.str("...")
		return
	}
	if n == 0 {
		p.str("nil")
		return
	}
	present := p.uint32()
	t := p.r.typ(n)
	if t == nil || present == 0 {
		p.str("?")
		p.cut = p.cut || t == nil
		return
	}
	hidden := !own && show <= 0
	if hidden {
		p.str("...")
		p.quiet++
	}
	pointee, deep := p.pointee(t, has-1), p.deep
	p.deep = deep && !pointee // which is recorded as without deep
	p.typed(t, has-1, p.format.Nest, true, pointee, own)
	p.deep = deep
	if hidden {
		p.quiet--
	}
}

// pointee reports whether a value itself, or one in an interface, is an error, and what it points
// to comes next.
func (p *Printer) pointee(t *Type, has int) bool {
	return t.Kind == reflect.Pointer && t.Error && !p.follows(t, has)
}

// typed appends a value, with its type if that is wanted. pointee means that it is an error, and
// that the struct to which it points comes next.
func (p *Printer) typed(t *Type, has, show int, dynamic, pointee, top bool) {
	switch {
	case t.Secret:
		p.str(Hidden)
	case dynamic && top && t.Error && p.err(t, has, pointee):
	case !dynamic, t.Kind == reflect.String && t.Name == "string", t.Kind == reflect.Func:
		p.value(t, has, show)
		p.behindQuiet(t, pointee)
	case t.Kind == reflect.Struct && !t.Text:
		p.str(t.Name)
		p.value(t, has, show)
	default:
		p.str(t.Name)
		p.byte('(')
		p.value(t, has, show)
		p.behindQuiet(t, pointee)
		p.byte(')')
	}
}

// behindQuiet reads the struct to which an error points, without showing it.
func (p *Printer) behindQuiet(t *Type, pointee bool) {
	if !pointee || p.r.typ(t.Elem) == nil {
		return
	}
	p.quiet++
	if p.uint32() == 1 {
		p.shallow(p.r.typ(t.Elem), 1)
	}
	p.quiet--
}

// shallow appends a struct to which a pointer leads, without following anything in it.
func (p *Printer) shallow(t *Type, show int) {
	deep := p.deep
	p.deep = false
	p.value(t, max(p.r.behind(deep, p.nested), 1), show)
	p.deep = deep
}

// behind returns how many levels were recorded of what a pointer leads to that is no error, given
// what the layout says.
func (r *Recording) behind(deep, nested bool) int {
	switch {
	case !deep:
		return 0
	case nested:
		return r.Env.nestLimit
	}
	return 1
}

// value appends a value of type t. has is the number of levels of nesting that were recorded, show
// the number to show.
func (p *Printer) value(t *Type, has, show int) {
	if p.steps++; p.steps > stepsMax {
		p.cut = true
	}
	switch {
	case t.Secret:
		p.str(Hidden)
	case p.cut:
		p.str("...")
	case p.quiet == 0 && p.full():
		p.str("...")
		p.quiet++
		p.shown(t, has, show)
		p.quiet--
	default:
		p.shown(t, has, show)
	}
}

// shown is value without the limits.
func (p *Printer) shown(t *Type, has, show int) {
	if t.Text {
		p.known(t, has)
		return
	}
	switch t.Kind {
	case reflect.Bool:
		if p.uint8() != 0 {
			p.str("true")
		} else {
			p.str("false")
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v := p.signed(t.Kind)
		if name := t.Names[v]; name != "" {
			p.str(name)
			return
		}
		if t.Named && t.Name == "time.Duration" {
			if p.quiet == 0 {
				p.dst = AppendDuration(p.dst, v)
			}
			return
		}
		p.int(v)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v := p.unsigned(t.Kind)
		if name := t.Names[int64(v)]; name != "" {
			p.str(name)
			return
		}
		p.uint(v)
	case reflect.Uintptr:
		p.hex(p.uint64())
	case reflect.Float32:
		p.float(float64(math.Float32frombits(p.uint32())), 32)
	case reflect.Float64:
		p.float(math.Float64frombits(p.uint64()), 64)
	case reflect.Complex64:
		re := math.Float32frombits(p.uint32())
		p.complex(float64(re), float64(math.Float32frombits(p.uint32())), 32)
	case reflect.Complex128:
		re := math.Float64frombits(p.uint64())
		p.complex(re, math.Float64frombits(p.uint64()), 64)
	case reflect.String:
		p.text(p.uint32())
	case reflect.Pointer, reflect.UnsafePointer:
		p.pointer(t, has)
	case reflect.Func:
		p.code(p.uint64())
	case reflect.Chan:
		p.channel()
	case reflect.Map:
		p.mapping()
	case reflect.Slice:
		p.slice(t, has, show)
	case reflect.Array:
		p.elements(t, t.Len, has, show)
	case reflect.Struct:
		p.structure(t, has, show)
	case reflect.Interface:
		p.iface(has, show, false)
	default:
		p.str("?")
		p.cut = true
	}
}

// known appends a value that was recorded as text.
func (p *Printer) known(t *Type, has int) {
	if p.follows(t, has) {
		p.pointer(t, has)
		return
	}
	address := uint64(1)
	if t.Kind == reflect.Pointer {
		address = p.uint64()
	}
	text := p.knownText()
	switch {
	case p.cut:
		p.str("...")
	case len(text) > 0 || t.Kind != reflect.Pointer:
		p.str(string(text))
	case address == 0:
		p.str("nil")
	default:
		p.hex(address)
	}
}

// knownText returns the text that comes next. It was escaped when it was recorded; a damaged
// recording may have anything.
func (p *Printer) knownText() []byte {
	n := int(p.uint32())
	if n > len(p.data) {
		p.cut, p.data = true, nil
		return nil
	}
	text := p.data[:n]
	p.data = p.data[n:]
	if s := string(text); escape.String(s) != s {
		return []byte(escape.String(s))
	}
	return text
}
