//go:build ftrace_core

// Values as a trace shows them, from their type descriptors: no reflection, no boxing. Of the
// program's own code only the Error method of errors is called (ftraceFormat.errors).
//
// A parameter's own words are consistent, because the function has its own copy. What a pointer
// leads to may be changing in another goroutine, so nothing found there is trusted. Before anything
// is read through a pointer its memory is looked up (readable). Composite values are read until
// they hold still (still).

package runtime

import (
	"internal/abi"
	"internal/bytealg"
	"internal/stringslite"
	"unsafe"
)

// ftracePrinter appends values to a line.
type ftracePrinter struct {
	b     *ftraceText
	limit int  // the line's length at which values are cut
	deep  bool // follow pointers to structs one level

	redaction uint32 // by which secrets are hidden, 0: none are
}

// printer returns what appends values as a clause wants them.
func (b *ftraceText) printer(clause *ftrace_rule_Clause) ftracePrinter {
	return ftracePrinter{b: b, limit: ftraceFormat.line, deep: clause.Detail >= ftrace_rule_Deep, redaction: clause.Own}
}

func (p *ftracePrinter) full() bool { return p.b.n >= p.limit }

// ftraceNames are the names of a function's parameters or results, up to a semicolon, as
// rewrite.signature.names writes them.
type ftraceNames string

func (f *ftraceFunc) names(results bool) ftraceNames {
	names := f.params
	if results {
		names = names[bytealg.IndexByteString(names, ';')+1:]
	}
	return ftraceNames(names)
}

// next takes off a name and the static kind after it: 0, '!', or ':' with the name of a type.
func (n *ftraceNames) next() (name string, kind byte, typ string) {
	s, end, at := string(*n), 0, -1
	for ; end < len(s) && s[end] != ',' && s[end] != ';'; end++ {
		if c := s[end]; c == '!' || c == ':' {
			at = end
		}
	}
	if *n = ""; end < len(s) && s[end] == ',' {
		*n = ftraceNames(s[end+1:])
	}
	if at < 0 {
		return s[:end], 0, ""
	}
	return s[:at], s[at], s[at+1 : end]
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
			p.b.shown(name)
			p.b.byte('=')
		}
		if pointers {
			e := efaceOf(&values[i])
			p.value((*ptrtype)(unsafe.Pointer(e._type)).Elem, e.data, ftraceFormat.nest, true)
			continue
		}
		e := efaceOf(&values[i])
		dynamic := kind == '!' || kind == ':' && e._type != nil && ftraceTypeName(e._type) != typ
		if dynamic {
			p.dynamic(values[i], true)
		} else {
			p.eface(e, ftraceFormat.nest)
		}
	}
}

// captured appends what paths lead to in values, or in what these point to.
func (p *ftracePrinter) captured(paths *ftracePaths, values []any, pointers bool) {
	for rest := paths.text; ; {
		path, e := paths.take(&rest, values, pointers)
		switch {
		case path == "":
			return
		case p.full():
			p.b.str(", ...")
			return
		}
		p.b.str(", ")
		p.b.shown(path)
		p.b.byte('=')
		if ftraceMissing(e) {
			p.b.byte('?')
		} else {
			p.eface(&e, ftraceFormat.nest)
		}
	}
}

// ftraceTypeName returns a type's name without its package and type arguments.
func ftraceTypeName(t *_type) string {
	s := toRType(t).string()
	if i := bytealg.IndexByteString(s, '['); i > 0 {
		s = s[:i]
	}
	return s[bytealg.LastIndexByteString(s, '.')+1:]
}

// eface appends the value in an interface, without its type.
func (p *ftracePrinter) eface(e *eface, nest int) {
	if e._type == nil {
		p.b.str("nil")
		return
	}
	data := e.data
	if e._type.IsDirectIface() {
		data = unsafe.Pointer(&e.data)
	} else if !ftraceReadable(data, e._type.Size_) {
		p.b.str("?")
		return
	}
	p.value(e._type, data, nest, false)
}

// dynamic appends a value with its type: int(1), *os.PathError("open x: no such file or
// directory"). top is set for a parameter, a result or a panic's value, not for a part of another
// value. Only then are the messages of errors fetched.
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
	if ftraceHidesAll(e._type, p.redaction) {
		p.b.str(ftraceStars)
		return
	}
	after := p.typ(e._type)
	p.eface(e, ftraceFormat.nest)
	p.b.str(after)
}

// typ appends the type of a value, and returns what is to follow the value.
func (p *ftracePrinter) typ(t *_type) (after string) {
	if t.Kind() == abi.Func || t == efaceOf(&ftraceAString)._type {
		return ""
	}
	p.b.shown(toRType(t).string())
	if t.Kind() == abi.Struct {
		if form, _ := ftraceFormOf(t); form == ftraceNoForm {
			return ""
		}
	}
	p.b.byte('(')
	return ")"
}

// ftraceAString has the type of plain strings. Those are shown without it: their quotes say enough.
var ftraceAString any = ""

// error appends v with its message, or with its fields if the method can't be called. It reports
// whether v is an error at all.
//
// The method of an error on this goroutine's stack is not called: it may keep the pointer, and the
// compiler was promised that the tracer does not. In a program built with -race no error's method
// is called unless errors=on says so, because its reads would count as the program's.
func (p *ftracePrinter) error(v any, e *eface) bool {
	err, ok := v.(error)
	if !ok {
		return false
	}
	gp := getg()
	data := uintptr(e.data)
	if ftraceFormat.errors && (data < gp.stack.lo || data >= gp.stack.hi) {
		if text, ok := ftraceCallError(err); ok {
			p.b.shown(toRType(e._type).string())
			p.b.byte('(')
			p.quote(text, len(text))
			p.chain(*e)
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
	p.b.shown(toRType(e._type).string())
	shallow := ftracePrinter{b: p.b, limit: p.limit, redaction: p.redaction}
	shallow.still(elem, e.data, 1, 1)
	return true
}

// ftraceChainMax is how many errors of a chain are looked at: one may lead back to itself.
const ftraceChainMax = 20

// chain appends the types of the errors that one wraps, from the outside in: those that errors.As
// finds. They are found in fields, since methods are the program's code.
func (p *ftracePrinter) chain(e eface) {
	for range ftraceChainMax {
		if e = ftraceWrapped(e); e._type == nil || p.full() {
			return
		}
		p.b.link(toRType(e._type).string())
	}
}

// link appends the type of an error that another one wraps, unless it is only a message.
func (b *ftraceText) link(typ string) {
	if typ != "*errors.errorString" && typ != "syscall.Errno" {
		b.str(" -> ")
		b.shown(typ)
	}
}

// ftraceWrapped returns the error that one wraps: of a struct with the method Unwrap, to which a
// pointer leads, that in the first field of type error.
func ftraceWrapped(e eface) (inner eface) {
	t := e._type
	if t.Kind() != abi.Pointer || !ftraceUnwraps(t) {
		return eface{}
	}
	elem := (*ptrtype)(unsafe.Pointer(t)).Elem
	if elem.Kind() != abi.Struct || e.data == nil || !ftraceReadable(e.data, elem.Size_) {
		return eface{}
	}
	s := (*structtype)(unsafe.Pointer(elem))
	for i := range s.Fields {
		if f := &s.Fields[i]; ftraceIsError(f.Typ) {
			return ftraceDynamic(f.Typ, add(e.data, f.Offset))
		}
	}
	return eface{}
}

// ftraceIsError reports whether t is the type error.
func ftraceIsError(t *_type) bool { return t.Kind() == abi.Interface && toRType(t).string() == "error" }

// ftraceUnwraps reports whether a type has a method Unwrap.
func ftraceUnwraps(t *_type) bool {
	u := t.Uncommon()
	if u == nil {
		return false
	}
	for _, m := range u.ExportedMethods() {
		if toRType(t).nameOff(m.Name).Name() == "Unwrap" {
			return true
		}
	}
	return false
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

// value appends the value of type t at v, which is readable. own means that v is a result's
// variable: if that is an interface, its dynamic type and message are of interest.
func (p *ftracePrinter) value(t *_type, v unsafe.Pointer, nest int, own bool) {
	if p.full() {
		p.b.str("...")
		return
	}
	if p.redaction != 0 && ftraceTextKinds>>t.Kind()&1 != 0 && ftraceHidesAll(t, p.redaction) {
		p.b.str(ftraceStars)
		return
	}
	if ftraceFormKinds>>t.Kind()&1 != 0 && p.known(t, v) {
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
		if n := ftraceInt(t.Size_, v); !p.b.constant(t, n) {
			p.b.int(n)
		}
	case abi.Uint, abi.Uint8, abi.Uint16, abi.Uint32, abi.Uint64:
		if n := ftraceUint(t.Size_, v); !p.b.constant(t, int64(n)) {
			p.b.uint(n)
		}
	case abi.Uintptr:
		p.b.hex(ftraceUint(t.Size_, v))
	case abi.Float32, abi.Float64:
		p.b.float(t.Size_, v)
	case abi.Complex64, abi.Complex128:
		p.b.complex(t.Size_/2, v)
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
		p.structure(t, v, nest)
	case abi.Map:
		p.mapping(t, *(*unsafe.Pointer)(v), nest)
	case abi.Interface:
		p.iface((*interfacetype)(unsafe.Pointer(t)), v, nest, own)
	default:
		p.b.str("?")
	}
}

func ftraceInt(size uintptr, v unsafe.Pointer) int64 {
	unused := 64 - 8*size
	return int64(ftraceUint(size, v)<<unused) >> unused
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

// ftraceFloat writes the floating-point number at v to text.
func ftraceFloat(text *ftrace_decimal_Text, size uintptr, v unsafe.Pointer) []byte {
	if size == 4 {
		return text.Float32(*(*uint32)(v))
	}
	return text.Float64(*(*uint64)(v))
}

func (b *ftraceText) float(size uintptr, v unsafe.Pointer) {
	var text ftrace_decimal_Text
	b.bytes(ftraceFloat(&text, size, v))
}

// complex appends a complex number of this size.
func (b *ftraceText) complex(size uintptr, v unsafe.Pointer) {
	var text ftrace_decimal_Text
	b.byte('(')
	b.bytes(ftraceFloat(&text, size, v))
	imaginary := ftraceFloat(&text, size, add(v, size))
	if imaginary[0] != '+' && imaginary[0] != '-' {
		b.byte('+')
	}
	b.bytes(imaginary)
	b.str("i)")
}

// string appends a quoted string, cut at the limit for strings.
func (p *ftracePrinter) string(s string) {
	if !ftraceShowable(s) {
		p.b.str("?(len=")
		p.b.int(int64(len(s)))
		p.b.byte(')')
		return
	}
	p.quote(s, len(s))
}

// ftraceShowable reports whether what is shown of s can be read, and the next byte, which says
// whether a character is cut in two. It may not be, if s is half changed or its memory is not Go's.
func ftraceShowable(s string) bool {
	return ftraceReadable(unsafe.Pointer(unsafe.StringData(s)), uintptr(min(len(s), ftraceFormat.str+1)))
}

// quote appends s, the beginning of a string of n bytes, in quotes, cut at the limit for strings.
// It says how much was cut off.
func (p *ftracePrinter) quote(s string, n int) {
	shown := min(len(s), ftraceFormat.str)
	if shown < n {
		shown = ftrace_escape_Cut(s, shown)
	}
	p.b.byte('"')
	done := p.b.quoted(s[:shown], p.limit)
	p.b.byte('"')
	if done < n {
		p.b.str("...(")
		p.b.int(int64(n - done))
		p.b.str(" more)")
	}
}

// quoted appends s, with unprintable characters escaped, until the line has limit bytes. It returns
// how much of s it wrote.
func (b *ftraceText) quoted(s string, limit int) int {
	n, done := ftrace_escape_Quote(b.data[b.n:], limit-b.n, s)
	b.n += n
	return done
}

// escape appends a byte that may not be shown as it is.
func (b *ftraceText) escape(c byte) {
	code, n := ftrace_escape_Code(c)
	b.n += copy(b.data[b.n:], code[:n])
}

// shown appends text that the program chose, such as a name, escaped so that it stays on one line.
func (b *ftraceText) shown(s string) {
	if ftrace_escape_Plain(s) == len(s) { // as nearly all: a call less
		b.str(s)
	} else {
		b.n += ftrace_escape_Write(b.data[b.n:], s)
	}
}

// pointer appends an address, or the struct at that address if the format follows pointers.
func (p *ftracePrinter) pointer(t *_type, v unsafe.Pointer, nest int) {
	if v == nil {
		p.b.str("nil")
		return
	}
	if p.deep && t.Kind() == abi.Pointer {
		elem := (*ptrtype)(unsafe.Pointer(t)).Elem
		if elem.Kind() == abi.Struct && ftraceReadable(v, elem.Size_) {
			p.b.byte('&')
			shallow := ftracePrinter{b: p.b, limit: p.limit, redaction: p.redaction}
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
	name, args, generic := stringslite.Cut(funcname(f), "[") // the arguments hold the paths of packages
	base := name[bytealg.LastIndexByteString(name, '/')+1:]
	dot := max(0, bytealg.IndexByteString(base, '.'))
	p.b.shown(ftraceLabelOf(name[:len(name)-len(base)+dot]))
	p.b.shown(base[dot:])
	if generic {
		p.b.str("[...")
		p.b.shown(args[max(0, bytealg.LastIndexByteString(args, ']')):])
	}
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
	p.b.channel(uint64(c.qcount), uint64(c.dataqsiz))
}

func (b *ftraceText) channel(n, size uint64) {
	b.number("chan(len=", n)
	b.number(" cap=", size)
	b.byte(')')
}
