package recording

import (
	"fmt"
	"math"
	"reflect"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// A Datum is a recorded value taken apart, for those who build it anew.
type Datum struct {
	Type *Type  // nil: a nil interface
	Lack string // why the value is not known, or not all of it; "": it is. Its parts may lack more
	Nil  bool

	Number     uint64     // a bool, an integer, an address, the address of a function's code, or a map's or channel's length
	Float      complex128 // a number of another kind
	Text       string     // a string, bytes, a function's name, or what was recorded as text
	Parts      []*Datum   // fields; elements; what a pointer leads to; what is in an interface
	Message    string     // of an error, if HasMessage
	Variable   string     // that holds it, by import path and name; not in recordings
	HasMessage bool
}

// Data takes the values of an event apart, those of the function itself.
func (p *Printer) Data(e *Event) []*Datum {
	list := p.AllData(e)
	if l := p.r.layout(e.Layout); l != nil {
		list = list[:l.own()]
	}
	return list
}

// AllData is Data, followed by the values that capture= named.
func (p *Printer) AllData(e *Event) []*Datum {
	l := p.begin(p.dst[:0], 0, e)
	if l == nil {
		return nil
	}
	list := make([]*Datum, 0, len(l.Types))
	for _, n := range l.Types {
		t := p.r.typ(n)
		switch {
		case l.Dynamic:
			list = append(list, p.inside(p.r.Env.nestLimit))
		case t != nil && t.Name == noField:
			list = append(list, &Datum{Lack: "there is no such value"})
		default:
			list = append(list, p.datum(t, p.r.Env.nestLimit, true, n == 0))
		}
	}
	return list
}

// What a Datum may lack, among others.
const (
	LackRoom  = "the record had no room for it"
	lackType  = "the recording does not have its type"
	LackLevel = "it is nested deeper than was recorded"
)

// inside reads what is in an interface: the number of its type, whether the value is there, and the
// value.
func (p *Printer) inside(has int) *Datum {
	n := p.uint32()
	switch {
	case p.cut:
		return &Datum{Lack: LackRoom}
	case n == 0:
		return &Datum{Nil: true}
	case p.uint32() == 0 || p.cut:
		return &Datum{Type: p.r.typ(n), Lack: "it could not be read when it was recorded"}
	}
	return p.datum(p.r.typ(n), has, true, false)
}

// datum reads a value of type t, of which that many levels were recorded. own means that what it
// points to comes next if it is an error.
func (p *Printer) datum(t *Type, has int, own, null bool) *Datum {
	d := &Datum{Type: t}
	if p.steps++; p.steps > stepsMax {
		p.cut = true
	}
	switch {
	case null:
		d.Nil = true
	case p.cut:
		d.Lack = LackRoom
	case t == nil:
		d.Lack, p.cut = lackType, true // its size is not known
	case t.Secret:
		d.Lack = "it is hidden, since its name says that it is a secret"
	default:
		if own && t.Error {
			d.Message, d.HasMessage = p.ahead(t, has)
		}
		p.takeApart(d, has, own)
		if p.cut && len(d.Parts) == 0 {
			d.Lack = LackRoom
		}
	}
	return d
}

// ahead returns the message of the error that comes next, and reads nothing.
func (p *Printer) ahead(t *Type, has int) (string, bool) {
	data, cut := p.data, p.cut
	var m message
	ok := p.message(&m, t, has, p.pointee(t, has)) && !p.cut && uint64(len(m.text)) == m.n
	p.data, p.cut = data, cut
	return string(m.text), ok
}

// takeApart reads a value.
func (p *Printer) takeApart(d *Datum, has int, own bool) {
	t := d.Type
	if t.Text && !p.follows(t, has) {
		if d.Lack = "it was recorded as text"; t.Kind == reflect.Pointer && p.uint64() == 0 {
			d.Nil, d.Lack = true, ""
		}
		d.Text = string(p.knownText())
		return
	}
	switch t.Kind {
	case reflect.Bool:
		d.Number = uint64(p.uint8())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.Number = uint64(p.signed(t.Kind))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		d.Number = p.unsigned(t.Kind)
	case reflect.Float32:
		d.Float = complex(float64(math.Float32frombits(p.uint32())), 0)
	case reflect.Float64:
		d.Float = complex(math.Float64frombits(p.uint64()), 0)
	case reflect.Complex64:
		re := math.Float32frombits(p.uint32())
		d.Float = complex(float64(re), float64(math.Float32frombits(p.uint32())))
	case reflect.Complex128:
		re := math.Float64frombits(p.uint64())
		d.Float = complex(re, math.Float64frombits(p.uint64()))
	case reflect.String:
		p.chars(d, "string")
	case reflect.Pointer, reflect.UnsafePointer:
		p.led(d, has, own)
	case reflect.Func:
		d.Number = p.uint64()
		d.Nil, d.Text, d.Lack = d.Number == 0, p.r.codes[d.Number], "it is a function"
	case reflect.Chan:
		n := p.uint32()
		d.Number, d.Nil, d.Lack = uint64(n), n == format.Nil, "it is a channel"
		p.uint32()
	case reflect.Map:
		n := p.uint32()
		d.Number = uint64(n)
		if d.Nil = n == format.Nil; !d.Nil && n > 0 {
			d.Lack = fmt.Sprintf("of a map only the length is recorded, %d", n)
		}
	case reflect.Slice:
		if elem := p.r.typ(t.Elem); elem != nil && elem.Kind == reflect.Uint8 {
			p.chars(d, "slice")
			return
		}
		n := p.uint32()
		if d.Nil = n == format.Nil; !d.Nil {
			p.row(d, uint64(n), has)
		}
	case reflect.Array:
		p.row(d, t.Len, has)
	case reflect.Struct:
		if has <= 0 && len(t.Fields) > 0 {
			d.Lack = LackLevel
			return
		}
		for _, f := range t.Fields {
			d.Parts = append(d.Parts, p.datum(p.r.typ(f.Type), has-1, false, false))
		}
	case reflect.Interface:
		d.Parts = []*Datum{p.inside(has - 1)}
	default:
		d.Lack, p.cut = lackType, true
	}
	if d.Nil {
		d.Lack = ""
	}
}

// chars reads a string, or bytes.
func (p *Printer) chars(d *Datum, what string) {
	n := p.uint32()
	d.Nil = n == format.Nil && d.Type.Kind == reflect.Slice // there is no nil string
	if d.Nil || p.cut {
		return
	}
	d.Text = string(p.bytes(n))
	if uint32(len(d.Text)) < n {
		d.Lack = fmt.Sprintf("it is a %s of %d bytes, of which %d were recorded", what, n, len(d.Text))
	}
}

// row reads the first of n elements.
func (p *Printer) row(d *Datum, n uint64, has int) {
	elem := p.r.typ(d.Type.Elem)
	switch {
	case n > 0 && (has <= 0 || elem == nil):
		d.Lack = LackLevel
		return
	case n > uint64(p.r.Env.elemLimit):
		d.Lack = fmt.Sprintf("it has %d elements, of which %d were recorded", n, p.r.Env.elemLimit)
	}
	for range min(n, uint64(p.r.Env.elemLimit)) {
		d.Parts = append(d.Parts, p.datum(elem, has-1, false, false))
		if p.cut {
			d.Lack = LackRoom
			return
		}
	}
}

// led reads a pointer, with what it leads to if that was recorded.
func (p *Printer) led(d *Datum, has int, own bool) {
	d.Number = p.uint64()
	d.Nil = d.Number == 0
	elem, n := p.r.typ(d.Type.Elem), uint32(0)
	follows := p.follows(d.Type, has)
	switch {
	case follows && (elem != nil || p.nested):
		n = p.uint32()
	case own && p.pointee(d.Type, has) && elem != nil:
		if n = p.uint32(); n > 1 {
			p.cut = true // no recorder writes that
		}
	}
	if elem == nil {
		elem = p.r.typ(n)
	}
	if elem == nil || n == 0 || p.cut {
		d.Lack = "what the pointer leads to was not recorded"
		return
	}
	deep := p.deep
	p.deep = false
	d.Parts = []*Datum{p.datum(elem, max(p.r.behind(follows, p.nested), 1), false, false)}
	p.deep = deep
}
