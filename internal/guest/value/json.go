//go:build ftrace_core

// Values as JSON: numbers, booleans and strings as themselves, structs as objects, others as the
// text of a line.

package runtime

import (
	"internal/abi"
	"unsafe"
)

// json appends the value of type t at v, a parameter, a result or a field.
func (p *ftracePrinter) json(t *_type, v unsafe.Pointer, nest int) {
	at := p.b.n
	switch k := t.Kind(); {
	case !ftraceReadable(v, t.Size_):
		p.b.byte('?')
	case ftraceTextKinds>>k&1 != 0 && ftraceHidesAll(t, p.redaction):
		p.b.str(ftraceStars)
	case k == abi.String:
		s := *(*string)(v)
		if ftraceShowable(s) {
			p.b.jsonCut(s, len(s))
			return
		}
		p.value(t, v, nest, true)
	case k <= abi.Float64:
		whole := *p
		whole.limit = len(p.b.data)
		whole.value(t, v, nest, true)
	case p.jsonStruct(t, v, nest):
		return
	default:
		p.value(t, v, nest, true)
	}
	p.b.jsonShown(t, at)
}

// jsonStruct appends a struct, or one to which a pointer leads that is followed, as an object. It
// returns false for all else, and for a struct that has a form or is too deep to be shown.
func (p *ftracePrinter) jsonStruct(t *_type, v unsafe.Pointer, nest int) bool {
	if t.Kind() == abi.Pointer && p.deep {
		v, t = *(*unsafe.Pointer)(v), (*ptrtype)(unsafe.Pointer(t)).Elem
		if t.Kind() != abi.Struct || v == nil || !ftraceReadable(v, t.Size_) || ftraceHidesAll(t, p.redaction) {
			return false
		}
		shallow := ftracePrinter{b: p.b, limit: p.limit, redaction: p.redaction}
		return shallow.jsonStruct(t, v, nest)
	}
	if t.Kind() != abi.Struct || p.full() {
		return false
	}
	s := (*structtype)(unsafe.Pointer(t))
	if form, _ := ftraceFormOf(t); form != ftraceNoForm || nest <= 0 && len(s.Fields) > 0 {
		return false
	}
	start := p.b.n
	for range 3 {
		before := ftraceHash(v, t.Size_)
		p.jsonFields(t, v, nest)
		if t.PtrBytes == 0 || ftraceHash(v, t.Size_) == before {
			return true
		}
		p.b.n = start
	}
	p.b.str(`"(changing)"`)
	return true
}

func (p *ftracePrinter) jsonFields(t *_type, v unsafe.Pointer, nest int) {
	s := (*structtype)(unsafe.Pointer(t))
	secret := uint64(0)
	if p.redaction != 0 {
		_, secret = ftraceHidingOf(t, p.redaction)
	}
	p.b.byte('{')
	for i := range s.Fields {
		if i > 0 {
			p.b.byte(',')
		}
		if p.full() {
			p.b.jsonRest()
			break
		}
		f := &s.Fields[i]
		p.b.jsonString(f.Name.Name())
		p.b.byte(':')
		if secret != 0 && ftraceHidesField(s, secret, i, p.redaction) {
			p.b.str(`"` + ftraceStars + `"`)
			continue
		}
		p.json(f.Typ, add(v, f.Offset), nest-1)
	}
	p.b.byte('}')
}

// jsonRest appends a member that stands for those for which the line has no room.
func (b *ftraceText) jsonRest() { b.str(`"...":true`) }

// jsonString appends s as a string. What is not UTF-8 becomes U+FFFD.
func (b *ftraceText) jsonString(s string) {
	b.byte('"')
	for i := 0; i < len(s); {
		from := i
		i += ftraceJSONPlain(s[i:])
		b.str(s[from:i])
		if i == len(s) {
			break
		}
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b.byte('\\')
			b.byte(c)
		case c == '\n':
			b.str(`\n`)
		case c == '\t':
			b.str(`\t`)
		case c == '\r':
			b.str(`\r`)
		default:
			n, safe := ftrace_escape_Next(s[i:])
			if safe {
				b.str(s[i : i+n])
			} else {
				for _, r := range s[i : i+n] {
					b.jsonRune(uint32(r))
				}
			}
			i += n
			continue
		}
		i++
	}
	b.byte('"')
}

// ftraceJSONPlain returns how many bytes at the beginning of s stand in a string as they are.
func ftraceJSONPlain(s string) (n int) {
	for n < len(s) && s[n] >= ' ' && s[n] < 0x7F && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// jsonRune escapes a character that must not reach a terminal, in UTF-16.
func (b *ftraceText) jsonRune(u uint32) {
	if u > 0xFFFF {
		b.jsonRune(0xD800 + (u-0x10000)>>10)
		u = 0xDC00 + (u-0x10000)&0x3FF
	}
	b.str(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.byte("0123456789abcdef"[u>>shift&15])
	}
}

// jsonQuote makes a string of what the buffer has from at on.
func (b *ftraceText) jsonQuote(at int) {
	if s := b.from(at); ftraceJSONPlain(s) == len(s) {
		b.byte('"') // for the room
		copy(b.data[at+1:b.n], s)
		b.data[at] = '"'
		b.byte('"')
		return
	}
	text := ftraceNewText()
	text.str(b.from(at))
	b.n = at
	b.jsonString(text.string())
	ftraceFreeText(text)
}

// from returns what the buffer has from at on.
func (b *ftraceText) from(at int) string {
	p := b.data[at:b.n]
	return unsafe.String(unsafe.SliceData(p), len(p))
}

// jsonShown makes JSON of the value that the buffer has from at on, as a line of text shows it. Its
// type is t, nil if that is not known statically. Numbers and booleans are left, but not a
// duration, the name of a constant, an infinity, or what did not fit into a record.
func (b *ftraceText) jsonShown(t *_type, at int) {
	if t != nil && b.n > at {
		first, last := b.data[at], b.data[b.n-1]
		switch number := first == '-' || first >= '0' && first <= '9'; {
		case t.Kind() == abi.Bool && last == 'e':
			return
		case number && t.Kind() <= abi.Float64 && t.Kind() != abi.Uintptr && last >= '0' && last <= '9':
			return
		}
	}
	b.jsonQuote(at)
}

// jsonCut appends s, the beginning of a string of n bytes, cut at the limit for strings.
func (b *ftraceText) jsonCut(s string, n int) {
	shown := min(len(s), ftraceFormat.str)
	if shown == n {
		b.jsonString(s)
		return
	}
	shown = ftrace_escape_Cut(s, shown)
	b.jsonString(s[:shown])
	b.n-- // the quote
	b.str("...(")
	b.int(int64(n - shown))
	b.str(` more)"`)
}
