package recording

import (
	"math"
	"reflect"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// How Find reads what its plan leads to.

// follow carries out a plan, and reads the value.
func (p *Printer) follow(l *Layout, to *plan) Found {
	for i := range to.steps {
		s := &to.steps[i]
		switch s.kind {
		case planBytes:
			if s.n > len(p.data) {
				return Found{Len: -1}
			}
			p.data = p.data[s.n:]
		case planText:
			if n := p.uint32(); n != format.Nil {
				p.bytes(n)
			}
		case planTop:
			p.quiet++
			p.top(l, l.Types[s.n], &Param{})
			p.quiet--
		case planValue:
			p.quiet++
			p.value(s.value.t, s.value.has, 0)
			p.quiet--
		case planFollow:
			address := p.uint64()
			if p.uint32() != 1 || p.cut {
				return Found{Len: -1, Why: whyBehind(address, p.cut)}
			}
			p.deep = false
		case planDynamic:
			return p.dynamic(l, s)
		}
		if p.cut {
			return Found{Len: -1}
		}
	}
	if to.never {
		return Found{Len: -1}
	}
	if to.last.t == nil {
		return Found{Kind: Nil, Len: -1}
	}
	return p.found(to.last)
}

func whyBehind(address uint64, cut bool) string {
	if address == 0 || cut {
		return ""
	}
	return "what the pointer leads to was not recorded"
}

// dynamic goes on with what is in an interface.
func (p *Printer) dynamic(l *Layout, s *planStep) Found {
	n := p.uint32()
	if p.cut {
		return Found{Len: -1}
	}
	if n == 0 {
		if len(s.fields) > 0 {
			return Found{Len: -1}
		}
		return Found{Kind: Nil, Len: -1}
	}
	if p.uint32() != 1 || p.cut {
		return Found{Len: -1}
	}
	to := s.dynamic[n]
	if to == nil {
		t := p.r.typ(n)
		if t == nil || t.Kind == reflect.Interface {
			return Found{Len: -1}
		}
		to = &plan{pointee: p.pointee(t, s.n)}
		p.r.planInto(to, planned{t, s.n, to.pointee}, p.r.behind(p.deep && !to.pointee, p.nested), s.fields)
		if s.dynamic == nil {
			s.dynamic = map[uint32]*plan{}
		}
		s.dynamic[n] = to
	}
	if to.why != "" {
		return Found{Why: to.why, Len: -1}
	}
	p.deep = p.deep && !to.pointee
	return p.follow(l, to)
}

// found reads a value.
func (p *Printer) found(v planned) Found {
	f := Found{Len: -1}
	t := v.t
	switch {
	case t.Error:
		p.foundError(v, &f)
	case t.Text && !p.follows(t, v.has):
		p.foundKnown(t, &f)
	default:
		switch t.Kind {
		case reflect.Bool:
			f.Kind, f.Number = Bool, uint64(p.uint8())
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			f.Kind, f.Number = Int, uint64(p.signed(t.Kind))
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
			f.Kind, f.Number = Uint, p.unsigned(t.Kind)
		case reflect.Float32:
			f.Kind, f.Number = Float, math.Float64bits(float64(math.Float32frombits(p.uint32())))
		case reflect.Float64:
			f.Kind, f.Number = Float, p.uint64()
		case reflect.String:
			p.foundText(&f)
		case reflect.Pointer, reflect.UnsafePointer:
			if f.Kind, f.Number = Address, p.uint64(); f.Number == 0 {
				f.Kind = Nil
			}
		default:
			p.foundOther(v, &f)
		}
	}
	if p.cut {
		return Found{Len: -1}
	}
	return f
}

func (p *Printer) foundText(f *Found) {
	n := p.uint32()
	if n == format.Nil {
		f.Kind = Nil
		return
	}
	f.Kind, f.Text, f.Len = Text, p.bytes(n), int64(n)
}

// foundKnown reads a value that was recorded as text. A pointer has it if it leads to something.
func (p *Printer) foundKnown(t *Type, f *Found) {
	f.Kind = Text
	if t.Kind == reflect.Pointer {
		if f.Kind, f.Number = Address, p.uint64(); f.Number == 0 {
			f.Kind = Nil
		}
	}
	if text := p.knownText(); len(text) > 0 || f.Kind == Text {
		f.Kind, f.Number, f.Text, f.Len = Text, 0, text, int64(len(text))
	}
}

// foundOther reads a value in the form that a trace shows.
func (p *Printer) foundOther(v planned, f *Found) {
	t := v.t
	if t.Kind == reflect.Slice || t.Kind == reflect.Map || t.Kind == reflect.Chan {
		if elem := p.r.typ(t.Elem); t.Kind == reflect.Slice && elem != nil && elem.Kind == reflect.Uint8 {
			p.foundText(f)
			return
		}
		if len(p.data) >= 4 {
			n := le32(p.data)
			if n == format.Nil {
				f.Kind = Nil
				return
			}
			f.Len = int64(n)
		}
	}
	p.value(t, v.has, p.format.Nest)
	f.Kind, f.Text = Other, p.dst
}

// foundError reads an error: its message, or the form that a trace shows.
func (p *Printer) foundError(v planned, f *Found) {
	data := p.data
	if v.t.Kind == reflect.Pointer && p.uint64() == 0 {
		f.Kind = Nil
		return
	}
	p.data = data
	var m message
	f.Kind = Other
	if p.message(&m, v.t, v.has, v.pointee) && !p.cut {
		f.Text, f.Len = m.text, int64(m.n)
		return
	}
	p.data, p.cut = data, false
	p.typed(v.t, v.has, p.format.Nest, true, v.pointee, true)
	f.Text = p.dst
}
