package recording

import (
	"reflect"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// pointer appends an address, or in a deep layout the struct behind it.
func (p *Printer) pointer(t *Type, has int) {
	v := p.uint64()
	if p.follows(t, has) {
		elem := p.r.typ(t.Elem)
		n := uint32(0)
		if elem != nil || p.nested {
			n = p.uint32()
		}
		if elem == nil {
			elem = p.r.typ(n)
		}
		if elem != nil && n != 0 && !p.cut {
			p.byte('&')
			p.shallow(elem, p.format.Nest)
			return
		}
	}
	if v == 0 && !p.cut {
		p.str("nil")
		return
	}
	p.hex(v)
}

// follows reports whether a pointer is followed by the struct to which it leads, if it leads to
// one.
func (p *Printer) follows(t *Type, has int) bool {
	return p.deep && has == p.r.Env.nestLimit && t.Kind == reflect.Pointer
}

func (p *Printer) channel() {
	n, size := p.uint32(), p.uint32()
	if n == format.Nil {
		p.str("nil")
		return
	}
	p.str("chan(len=")
	p.uint(uint64(n))
	p.str(" cap=")
	p.uint(uint64(size))
	p.byte(')')
}

// mapping appends a map's length: its elements are not recorded.
func (p *Printer) mapping() {
	switch n := p.uint32(); n {
	case format.Nil:
		p.str("nil")
	case 0:
		p.str("map[]")
	default:
		p.str("map[len=")
		p.uint(uint64(n))
		p.byte(']')
	}
}

func (p *Printer) slice(t *Type, has, show int) {
	n := p.uint32()
	elem := p.r.typ(t.Elem)
	switch {
	case n == format.Nil:
		p.str("nil")
	case elem != nil && elem.Kind == reflect.Uint8:
		p.byte('b')
		p.text(n)
	default:
		p.elements(t, uint64(n), has, show)
	}
}

// elements appends the first of n values in a row. It says how many there are if not all are shown.
func (p *Printer) elements(t *Type, n uint64, has, show int) {
	elem := p.r.typ(t.Elem)
	p.byte('[')
	shown := int(min(n, uint64(p.r.Env.elemLimit)))
	if n > 0 && (has <= 0 || elem == nil) {
		p.str("...")
		shown = 0
	}
	visible := min(shown, p.format.Elements)
	if show <= 0 {
		visible = 0
		if shown > 0 {
			p.str("...")
		}
	}
	before := p.quiet
	for i := range shown {
		if p.cut {
			break
		}
		if i == visible {
			p.quiet++
		}
		if i > 0 {
			p.byte(' ')
		}
		if p.full() && p.quiet == 0 {
			p.str("...")
			p.quiet++
		}
		from, within := len(p.dst), p.openElement(i)
		p.value(elem, has-1, show-1)
		p.close(within, elem, from)
	}
	p.quiet = before
	if uint64(visible) < n {
		p.str(" len=")
		p.uint(n)
	}
	p.byte(']')
}

func (p *Printer) structure(t *Type, has, show int) {
	p.byte('{')
	if (has <= 0 || show <= 0) && len(t.Fields) > 0 {
		p.str("...}")
		if has > 0 {
			p.quiet++
			p.fields(t, has, show)
			p.quiet--
		}
		return
	}
	p.fields(t, has, show)
	p.byte('}')
}

func (p *Printer) fields(t *Type, has, show int) {
	before := p.quiet
	for i := range t.Fields {
		if p.cut {
			p.str("...")
			p.parts.cut()
			break
		}
		if i > 0 {
			p.byte(' ')
		}
		if p.full() && p.quiet == 0 {
			p.str("...")
			p.parts.cut()
			p.quiet++
		}
		f := &t.Fields[i]
		if p.quiet == 0 {
			p.dst = append(append(p.dst, f.Name...), ':')
		}
		if ft := p.r.typ(f.Type); ft != nil {
			if !p.simple(ft) {
				from, within := len(p.dst), p.open(f.Name)
				p.value(ft, has-1, show-1)
				p.close(within, ft, from)
			}
		} else {
			p.str("?")
			p.cut = true
		}
	}
	p.quiet = before
}
