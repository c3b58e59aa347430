//go:build ftrace_core

// Values that consist of others: slices, arrays, structs, interfaces, maps.

package runtime

import (
	"internal/abi"
	"internal/runtime/maps"
	"unsafe"
)

func (p *ftracePrinter) slice(elem *_type, s slice, nest int) {
	switch {
	case s.array == nil:
		p.b.str("nil")
	case elem.Kind() == abi.Uint8:
		p.b.byte('b')
		p.string(ftraceAsText(s))
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

// elements appends the first of n values in a row. It says how many there are if not all are shown.
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

// still appends n values of type t in a row at v. If they change while they are being written, they
// are written again. If they keep changing they are not shown: the text would be neither the old
// values nor the new.
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

func (p *ftracePrinter) structure(typ *_type, v unsafe.Pointer, nest int) {
	t := (*structtype)(unsafe.Pointer(typ))
	p.b.byte('{')
	if nest <= 0 && len(t.Fields) > 0 {
		p.b.str("...}")
		return
	}
	secret := uint64(0)
	if p.redaction != 0 {
		_, secret = ftraceHidingOf(typ, p.redaction)
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
		p.b.shown(f.Name.Name())
		p.b.byte(':')
		if secret != 0 && ftraceHidesField(t, secret, i, p.redaction) {
			p.b.str(ftraceStars)
			continue
		}
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
	inner := ftracePrinter{b: p.b, limit: p.limit, deep: p.deep && own, redaction: p.redaction}
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
	var slots [ftraceMapMax]maps.FtraceSlot
	most := min(ftraceFormat.slice, ftraceMapMax)
	for range 3 {
		w := maps.FtraceWalk(t, v, slots[:most], ftraceReadable)
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
			if ftraceKeyIsSecret(w.Key, slots[i].Key, p.redaction) {
				p.b.str(ftraceStars)
				continue
			}
			p.value(w.Elem, slots[i].Elem, nest-1, false)
		}
		if w.Still && maps.FtraceUnchanged(v, &w) && ftraceHashSlots(&w, slots[:w.Count]) == before {
			if w.Count < int(w.Used) {
				if w.Count > 0 {
					p.b.byte(' ')
				}
				p.b.number("len=", w.Used)
			}
			p.b.byte(']')
			return
		}
		p.b.n = start
	}
	p.b.str("(changing)]")
}

const ftraceMapMax = 32

func ftraceHashSlots(w *maps.FtraceWalked, slots []maps.FtraceSlot) uint64 {
	h := uint64(0)
	for i := range slots {
		h = h*31 + ftraceHash(slots[i].Key, w.Key.Size_) + ftraceHash(slots[i].Elem, w.Elem.Size_)
	}
	return h
}
