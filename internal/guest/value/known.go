//go:build ftrace_core

// Values that people know by another form than their fields: times, addresses, large numbers,
// requests. Their form is made here from the fields, for lines and for records; no method is
// called. Records have the text of the form in place of the fields. Constants, the third kind, are
// recorded as numbers, and the tables have their names.

package runtime

import (
	"internal/abi"
	"internal/bytealg"
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/stringslite"
	"unsafe"
)

// ftraceForm is how values of a type are shown if not by their kind.
type ftraceForm uint8

const (
	ftraceNoForm ftraceForm = iota
	ftraceFormTime
	ftraceFormIP
	ftraceFormHardware
	ftraceFormIPNet
	ftraceFormSocket
	ftraceFormAddr
	ftraceFormAddrPort
	ftraceFormPrefix
	ftraceFormInt
	ftraceFormRaw
	ftraceFormUUID
	ftraceFormURL
	ftraceFormRequest
	ftraceFormContext
	ftraceFormBounds
)

const (
	ftraceFormMax    = 160 // bytes after which no part of a form begins; the last one is finished
	ftraceFormRecord = 256 // bytes of a form that fit into a record
)

// ftraceFormKinds has a bit for each kind of types that may have a form.
const ftraceFormKinds = 1<<abi.Pointer | 1<<abi.Struct | 1<<abi.Slice | 1<<abi.Array

// ftraceFormType is a type that has a form, with the names of the fields that it begins with. If it
// ever has others it is shown by its kind.
type ftraceFormType struct {
	path, name, fields string
	form               ftraceForm
}

var ftraceFormTypes = [...]ftraceFormType{
	{"time", "Time", "wall ext loc", ftraceFormTime},
	{"net", "IP", "", ftraceFormIP},
	{"net", "HardwareAddr", "", ftraceFormHardware},
	{"net", "IPNet", "IP Mask", ftraceFormIPNet},
	{"net", "TCPAddr", "IP Port Zone", ftraceFormSocket},
	{"net", "UDPAddr", "IP Port Zone", ftraceFormSocket},
	{"net/netip", "Addr", "addr z", ftraceFormAddr},
	{"net/netip", "AddrPort", "ip port", ftraceFormAddrPort},
	{"net/netip", "Prefix", "ip bitsPlusOne", ftraceFormPrefix},
	{"math/big", "Int", "neg abs", ftraceFormInt},
	{"encoding/json", "RawMessage", "", ftraceFormRaw},
	{"encoding/json/jsontext", "Value", "", ftraceFormRaw},
	{"net/url", "URL", "Scheme Opaque User Host Path", ftraceFormURL},
	{"net/http", "Request", "Method URL", ftraceFormRequest},
	{"context", "backgroundCtx", "emptyCtx", ftraceFormContext},
	{"context", "todoCtx", "emptyCtx", ftraceFormContext},
	{"context", "valueCtx", "Context key val", ftraceFormContext},
	{"context", "cancelCtx", "Context", ftraceFormContext},
	{"context", "timerCtx", "cancelCtx timer deadline", ftraceFormContext},
	{"context", "afterFuncCtx", "cancelCtx", ftraceFormContext},
	{"context", "stopCtx", "Context", ftraceFormContext},
	{"context", "withoutCancelCtx", "c", ftraceFormContext},
	{"runtime", "boundsError", "x y signed code", ftraceFormBounds},
}

const (
	ftraceMonths = "1 January,2 February,3 March,4 April,5 May,6 June,7 July,8 August,9 September,10 October,11 November,12 December"
	ftraceDays   = "0 Sunday,1 Monday,2 Tuesday,3 Wednesday,4 Thursday,5 Friday,6 Saturday"
)

// ftraceKnownForm says how the values of a type are shown.
type ftraceKnownForm struct {
	t         uintptr // the type; 0: the entry is free; ftraceHidingTaken; atomic, written last
	form      ftraceForm
	constants string // of an integer type, as in format.Package
}

// ftraceForms is a hash table of these, filled as ftraceHidings is.
var ftraceForms struct {
	slots [ftraceFormsMax]ftraceKnownForm
	n     uint32 // in use; atomic
}

const ftraceFormsMax = 1 << 12

// ftraceFormOf returns the form of a type's values, and the constants of an integer type.
func ftraceFormOf(t *_type) (form ftraceForm, constants string) {
	i := uint32(uint64(uintptr(unsafe.Pointer(t))) >> 3 * 0x9E3779B97F4A7C15 >> 40)
	for ; ; i++ {
		k := &ftraceForms.slots[i%ftraceFormsMax]
		switch at := atomic.Loaduintptr(&k.t); {
		case at == uintptr(unsafe.Pointer(t)):
			return k.form, k.constants
		case at != 0:
			continue
		}
		form, constants = ftraceDecideForm(t)
		if atomic.Load(&ftraceForms.n) < ftraceFormsMax*3/4 && atomic.Casuintptr(&k.t, 0, ftraceHidingTaken) {
			atomic.Xadd(&ftraceForms.n, 1)
			k.form, k.constants = form, constants
			atomic.Storeuintptr(&k.t, uintptr(unsafe.Pointer(t)))
		} // else it is decided again the next time
		return form, constants
	}
}

// ftraceDecideForm decides what ftraceFormOf returns. A pointer to a struct has the struct's form.
func ftraceDecideForm(t *_type) (form ftraceForm, constants string) {
	pointer := t.Kind() == abi.Pointer
	if pointer {
		if t = (*ptrtype)(unsafe.Pointer(t)).Elem; t.Kind() != abi.Struct {
			return 0, ""
		}
	}
	if t.TFlag&abi.TFlagNamed == 0 {
		return 0, ""
	}
	path, name := toRType(t).pkgpath(), ftraceTypeName(t)
	if t.Kind() <= abi.Uintptr {
		return 0, ftraceConstantsOf(path, name)
	}
	if t.Kind() == abi.Array {
		if a := (*arraytype)(unsafe.Pointer(t)); a.Len == 16 && a.Elem.Kind() == abi.Uint8 && ftrace_redact_Secret("uuid|guid", name) {
			return ftraceFormUUID, ""
		}
		return 0, ""
	}
	for i := range ftraceFormTypes {
		if s := &ftraceFormTypes[i]; s.name == name && s.path == path && s.fits(t) {
			return s.form, ""
		}
	}
	return 0, ""
}

// fits reports whether t begins with the fields that are expected.
func (s *ftraceFormType) fits(t *_type) bool {
	if t.Kind() != abi.Struct {
		return s.fields == "" && t.Kind() == abi.Slice
	}
	fields := (*structtype)(unsafe.Pointer(t)).Fields
	rest := s.fields
	for i := 0; rest != ""; i++ {
		var name string
		name, rest, _ = stringslite.Cut(rest, " ")
		if i == len(fields) || fields[i].Name.Name() != name {
			return false
		}
	}
	return s.fields != ""
}

// ftraceConstantsOf returns the constants of an integer type.
func ftraceConstantsOf(path, name string) string {
	switch {
	case path == "time" && name == "Month":
		return ftraceMonths
	case path == "time" && name == "Weekday":
		return ftraceDays
	}
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if p.Symbol != path {
			continue
		}
		for rest := p.Constants; rest != ""; {
			var line string
			line, rest, _ = stringslite.Cut(rest, "\n")
			if typ, constants, _ := stringslite.Cut(line, " "); typ == name {
				return constants
			}
		}
	}
	return ""
}

// ftraceNextConstant takes the first constant off the constants of a type.
func ftraceNextConstant(constants string) (value int64, name, rest string) {
	name, rest, _ = stringslite.Cut(constants, ",")
	number, name, _ := stringslite.Cut(name, " ")
	negative := number != "" && number[0] == '-'
	for i := range len(number) {
		if c := number[i]; c != '-' {
			value = value*10 + int64(c-'0')
		}
	}
	if negative {
		value = -value
	}
	return value, name, rest
}

// constant appends the name of a constant of type t with that value, and reports whether there is
// one.
func (b *ftraceText) constant(t *_type, value int64) bool {
	if t.TFlag&abi.TFlagNamed == 0 {
		return false
	}
	for _, rest := ftraceFormOf(t); rest != ""; {
		var v int64
		var name string
		if v, name, rest = ftraceNextConstant(rest); v == value {
			b.str(name)
			return true
		}
	}
	return false
}

// field returns a field of a struct, whose type has it.
func ftraceField(t *_type, v unsafe.Pointer, i int) unsafe.Pointer {
	return add(v, (*structtype)(unsafe.Pointer(t)).Fields[i].Offset)
}

// known appends the value of type t at v in its form. If it has none, or can't be read, or is a
// pointer to what has nothing to show, known returns false and appends nothing.
func (p *ftracePrinter) known(t *_type, v unsafe.Pointer) bool {
	form, _ := ftraceFormOf(t)
	if form == ftraceNoForm {
		return false
	}
	pointer := t.Kind() == abi.Pointer
	if pointer {
		t, v = (*ptrtype)(unsafe.Pointer(t)).Elem, *(*unsafe.Pointer)(v)
		if p.deep || v == nil || !ftraceReadable(v, t.Size_) || ftraceHidesAll(t, p.redaction) {
			return false
		}
	}
	inner := ftracePrinter{b: p.b, limit: min(p.limit, p.b.n+ftraceFormMax), redaction: p.redaction}
	at := p.b.n
	inner.formed(form, t, v)
	return !pointer || p.b.n > at
}

func (p *ftracePrinter) formed(form ftraceForm, t *_type, v unsafe.Pointer) {
	b := p.b
	switch form {
	case ftraceFormTime:
		p.time(*(*[2]uint64)(v))
	case ftraceFormIP:
		p.ip(*(*slice)(v))
	case ftraceFormHardware:
		s := *(*slice)(v)
		bytes, _ := ftraceBytes(s)
		for i := range len(bytes) {
			if i > 0 {
				b.byte(':')
			}
			b.hexByte(bytes[i])
		}
		if s.array == nil {
			b.str("nil")
		}
	case ftraceFormIPNet:
		p.ip(*(*slice)(v))
		b.byte('/')
		ones, mask := uint64(0), *(*slice)(ftraceField(t, v, 1))
		if s, ok := ftraceBytes(mask); ok {
			for i := range len(s) {
				for c := s[i]; c&0x80 != 0; c <<= 1 {
					ones++
				}
			}
		}
		b.uint(ones)
	case ftraceFormSocket:
		p.socket(*(*slice)(v), *(*string)(ftraceField(t, v, 2)), uint64(*(*int)(ftraceField(t, v, 1))))
	case ftraceFormAddr:
		p.addr(t, v, false)
	case ftraceFormAddrPort:
		p.addr((*structtype)(unsafe.Pointer(t)).Fields[0].Typ, v, true)
		b.number(":", uint64(*(*uint16)(ftraceField(t, v, 1))))
	case ftraceFormPrefix:
		p.addr((*structtype)(unsafe.Pointer(t)).Fields[0].Typ, v, false)
		b.byte('/')
		b.int(int64(*(*uint8)(ftraceField(t, v, 1))) - 1)
	case ftraceFormInt:
		p.bigInt(*(*bool)(v), *(*slice)(ftraceField(t, v, 1)))
	case ftraceFormRaw:
		s := *(*slice)(v)
		if s.array == nil {
			b.str("nil")
		} else {
			p.plain(ftraceAsText(s))
		}
	case ftraceFormUUID:
		s := unsafe.String((*byte)(v), 16)
		for i := range len(s) {
			if i == 4 || i == 6 || i == 8 || i == 10 {
				b.byte('-')
			}
			b.hexByte(s[i])
		}
	case ftraceFormURL:
		p.url(t, v)
	case ftraceFormRequest:
		method := *(*string)(v)
		if method == "" {
			method = "GET"
		}
		p.plain(method)
		b.byte(' ')
		url := (*structtype)(unsafe.Pointer(t)).Fields[1].Typ
		p.value(url, ftraceField(t, v, 1), 0, false)
	case ftraceFormContext:
		p.context(t, v)
	case ftraceFormBounds:
		p.bounds((*boundsError)(v))
	}
}

// bounds appends the message of an index out of range, as its method Error makes it.
func (p *ftracePrinter) bounds(e *boundsError) {
	if int(e.code) >= len(boundsErrorFmts) {
		p.b.byte('?')
		return
	}
	form, negative := boundsErrorFmts[e.code], e.signed && e.x < 0
	if negative && int(e.code) < len(boundsNegErrorFmts) {
		form = boundsNegErrorFmts[e.code]
	}
	p.b.str("\"runtime error: ")
	for i := 0; i < len(form); i++ {
		switch {
		case form[i] != '%':
			p.b.byte(form[i])
			continue
		case form[i+1] == 'y':
			p.b.int(int64(e.y))
		case negative:
			p.b.int(e.x)
		default:
			p.b.uint(uint64(e.x))
		}
		i++
	}
	p.b.byte('"')
}

// plain appends text without quotes, cut at the limit for strings.
func (p *ftracePrinter) plain(s string) {
	if !ftraceShowable(s) {
		p.b.byte('?')
		return
	}
	shown := min(len(s), ftraceFormat.str)
	if shown < len(s) {
		shown = ftrace_escape_Cut(s[:shown+min(len(s)-shown, 4)], shown)
	}
	p.b.shown(s[:shown])
	if shown < len(s) {
		p.b.number("...(", uint64(len(s)-shown))
		p.b.str(" more)")
	}
}

func (b *ftraceText) hexByte(c byte) {
	b.byte("0123456789abcdef"[c>>4])
	b.byte("0123456789abcdef"[c&15])
}

// ftraceBytes returns the bytes of a short slice as a string.
func ftraceBytes(s slice) (text string, ok bool) {
	if s.len < 0 || s.len > 32 || !ftraceReadable(s.array, uintptr(s.len)) {
		return "", false
	}
	return ftraceAsText(s), true
}

// ftraceAsText returns the bytes of a slice as a string. It may be half changed, as the slice may
// be: unsafe.String would panic then.
func ftraceAsText(s slice) string { return *(*string)(unsafe.Pointer(&s)) }

// time appends a time.Time, given its words wall and ext.
func (p *ftracePrinter) time(words [2]uint64) {
	const (
		monotonic = 1 << 63
		year1885  = (1884*365 + 1884/4 - 1884/100 + 1884/400) * 86400
		year1970  = (1969*365 + 1969/4 - 1969/100 + 1969/400) * 86400
	)
	wall, sec := words[0], int64(words[1])
	if wall&monotonic != 0 {
		sec = year1885 + int64(wall<<1>>31)
	}
	p.b.instant(sec-year1970, uint32(wall&(1<<30-1)), true)
}

// ip appends a net.IP.
func (p *ftracePrinter) ip(ip slice) {
	const mapped = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff"
	s, ok := ftraceBytes(ip)
	switch {
	case ip.array == nil:
		p.b.str("nil")
	case !ok:
		p.b.byte('?')
	case len(s) == 16 && s[:len(mapped)] == mapped:
		p.b.ip4(s[len(mapped):])
	case len(s) == 4:
		p.b.ip4(s)
	case len(s) == 16:
		p.b.ip6(s)
	default:
		p.b.byte('b')
		p.string(s)
	}
}

func (b *ftraceText) ip4(s string) {
	for i := range len(s) {
		if i > 0 {
			b.byte('.')
		}
		b.uint(uint64(s[i]))
	}
}

// ip6 appends an address of 16 bytes in the form of RFC 5952.
func (b *ftraceText) ip6(s string) {
	group := func(i int) uint64 { return uint64(s[2*i])<<8 | uint64(s[2*i+1]) }
	from, to := -1, -1 // the longest run of zeros, of two groups at least
	for i := 0; i < 8; i++ {
		j := i
		for j < 8 && group(j) == 0 {
			j++
		}
		if j-i >= 2 && j-i > to-from {
			from, to = i, j
		}
	}
	for i := 0; i < 8; i++ {
		if i == from {
			b.str("::")
			if i = to; i == 8 {
				return
			}
		} else if i > 0 {
			b.byte(':')
		}
		b.hexDigits(group(i))
	}
}

// socket appends an address with a port.
func (p *ftracePrinter) socket(ip slice, zone string, port uint64) {
	at := p.b.n
	if ip.len != 0 {
		p.ip(ip)
	}
	six := bytealg.IndexByteString(p.b.from(at), ':') >= 0
	if six {
		p.b.n = at
		p.b.byte('[')
		p.ip(ip)
		if zone != "" {
			p.b.byte('%')
			p.plain(zone)
		}
		p.b.byte(']')
	}
	p.b.number(":", port)
}

// addr appends a netip.Addr, in brackets if a port follows that must be told from it.
func (p *ftracePrinter) addr(t *_type, v unsafe.Pointer, port bool) {
	b := p.b
	words, detail := *(*[2]uint64)(v), *(*unsafe.Pointer)(ftraceField(t, v, 1))
	if detail == nil {
		b.str("invalid")
		return
	}
	var zone string
	const detailSize = unsafe.Sizeof(uintptr(0)) + unsafe.Sizeof("") // isV6 bool, zoneV6 string
	six := ftraceReadable(detail, detailSize) && *(*bool)(detail)
	if six {
		zone = *(*string)(add(detail, unsafe.Sizeof(uintptr(0))))
	}
	var bytes [16]byte
	for i := range bytes {
		bytes[i] = byte(words[i/8] >> (56 - i%8*8))
	}
	s := unsafe.String(&bytes[0], len(bytes))
	if !six {
		b.ip4(s[12:])
		return
	}
	if port {
		b.byte('[')
	}
	if words[0] == 0 && words[1]>>32 == 0xFFFF {
		b.str("::ffff:")
		b.ip4(s[12:])
	} else {
		b.ip6(s)
	}
	if zone != "" {
		b.byte('%')
		p.plain(zone)
	}
	if port {
		b.byte(']')
	}
}

// bigInt appends a big.Int: as decimal number, or as a hexadecimal number's beginning if it is a
// very large one.
func (p *ftracePrinter) bigInt(negative bool, words slice) {
	const most = 8
	b := p.b
	if words.len < 0 || !ftraceReadable(words.array, uintptr(words.len)*goarch.PtrSize) {
		b.byte('?')
		return
	}
	if negative {
		b.byte('-')
	}
	word := func(i int) uint64 { return uint64(*(*uintptr)(add(words.array, uintptr(i)*goarch.PtrSize))) }
	if words.len > most {
		b.hex(word(words.len - 1))
		b.number("...(", uint64(words.len)*goarch.PtrSize*8)
		b.str(" bits)")
		return
	}
	var halves [2 * most]uint32 // the lowest first
	n := 0
	for i := range words.len {
		w := word(i)
		halves[n] = uint32(w)
		if n++; goarch.PtrSize == 8 {
			halves[n] = uint32(w >> 32)
			n++
		}
	}
	const base = 1_000_000_000
	var parts [18]uint32 // of nine digits, the lowest first: 2^512 has 155 digits
	digits := 0
	for n > 0 {
		rest := uint64(0)
		for i := n - 1; i >= 0; i-- {
			rest = rest<<32 | uint64(halves[i])
			halves[i] = uint32(rest / base)
			rest %= base
		}
		for n > 0 && halves[n-1] == 0 {
			n--
		}
		parts[digits] = uint32(rest)
		digits++
	}
	if digits == 0 {
		b.byte('0')
		return
	}
	b.uint(uint64(parts[digits-1]))
	for i := digits - 2; i >= 0; i-- {
		if text := b.form("000000000"); text != nil {
			ftraceDigits(text, parts[i])
		}
	}
}

// url appends a url.URL without what may be secret: the user's name and password, and the query.
func (p *ftracePrinter) url(t *_type, v unsafe.Pointer) {
	scheme, opaque := *(*string)(v), *(*string)(ftraceField(t, v, 1))
	host, path := *(*string)(ftraceField(t, v, 3)), *(*string)(ftraceField(t, v, 4))
	if scheme != "" {
		p.plain(scheme)
		p.b.byte(':')
	}
	if opaque != "" {
		p.plain(opaque)
		return
	}
	if host != "" {
		p.b.str("//")
		p.plain(host)
	}
	p.plain(path)
}

// context appends the deadline and the values of a context of package context, beginning with the
// context that was made last.
func (p *ftracePrinter) context(t *_type, v unsafe.Pointer) {
	b := p.b
	start, deadline := b.n, false
	for range 100 {
		if p.full() {
			b.str(" ...")
			return
		}
		switch s := (*structtype)(unsafe.Pointer(t)); ftraceTypeName(t) {
		case "timerCtx":
			if !deadline {
				b.space(start)
				b.str("deadline:")
				p.value(s.Fields[2].Typ, ftraceField(t, v, 2), 1, false)
				deadline = true
			}
		case "valueCtx":
			b.space(start)
			p.contextValue(*(*eface)(ftraceField(t, v, 1)), *(*eface)(ftraceField(t, v, 2)))
		}
		// The context around it is what it begins with.
		for t.Kind() == abi.Struct {
			s := (*structtype)(unsafe.Pointer(t))
			if len(s.Fields) == 0 {
				return
			}
			t = s.Fields[0].Typ
		}
		if t.Kind() != abi.Interface {
			return
		}
		e := ftraceDynamic(t, v)
		if e._type == nil {
			return
		}
		t, v = e._type, e.data
		form, _ := ftraceFormOf(t)
		if form != ftraceFormContext {
			b.space(start)
			b.shown(toRType(t).string())
			return
		}
		if t.Kind() == abi.Pointer {
			if t = (*ptrtype)(unsafe.Pointer(t)).Elem; v == nil || !ftraceReadable(v, t.Size_) {
				return
			}
		}
	}
}

// space appends a space unless nothing stands after start.
func (b *ftraceText) space(start int) {
	if b.n > start {
		b.byte(' ')
	}
}

// contextValue appends a context's key and value. A key that is no text goes by its type, or by the
// text that it points to, as those of package net/http.
func (p *ftracePrinter) contextValue(key, val eface) {
	b := p.b
	t := key._type
	if t == nil || !ftraceKnownType(t) || !t.IsDirectIface() && !ftraceReadable(key.data, t.Size_) {
		b.byte('?')
		return
	}
	at := b.n
	v := key.data
	if t.Kind() == abi.Pointer {
		if elem := (*ptrtype)(unsafe.Pointer(t)).Elem; elem.Kind() == abi.Struct && ftraceReadable(v, elem.Size_) {
			if s := (*structtype)(unsafe.Pointer(elem)); len(s.Fields) == 1 {
				t = s.Fields[0].Typ
			}
		}
	}
	switch {
	case t.Kind() == abi.String:
		p.plain(*(*string)(v))
	case t.Kind() <= abi.Uintptr && !t.IsDirectIface() && b.constant(t, ftraceInt(t.Size_, v)):
	default:
		b.shown(toRType(key._type).string())
	}
	secret := ftraceIsSecret(b.from(at), p.redaction)
	b.byte(':')
	if secret {
		b.str(ftraceStars)
		return
	}
	var value any
	*efaceOf(&value) = val
	p.dynamic(value, false)
}
