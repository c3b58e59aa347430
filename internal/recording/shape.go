package recording

import (
	"reflect"
	"slices"
)

// A Shape says what a value has before it is read: what the data of a layout have in common.
type Shape struct {
	Kind    ShapeKind
	Name    string  // of a field
	Place   int     // of a field, among the parts of the Datum
	Pointer bool    // it is what a pointer leads to: of a Datum its part, if that is not nil
	Parts   []Shape // fields; of a list its elements
}

// A ShapeKind says what of a [Datum] has the value.
type ShapeKind uint8

const (
	ShapeNone    ShapeKind = iota // no record of the layout has the value
	ShapeAny                      // each value has a type of its own, or there are too many fields
	ShapeBool                     // Number
	ShapeInt                      // Number
	ShapeUint                     // Number
	ShapeNamed                    // Number, of which some have names in the type
	ShapeLength                   // Number, of a map or channel
	ShapeAddress                  // Number
	ShapeFunc                     // Number is an address, Text the name
	ShapeFloat                    // Float
	ShapeComplex                  // Float
	ShapeString                   // Text
	ShapeBytes                    // Text
	ShapeText                     // Text, as traces have it
	ShapeTime                     // Text, by RFC 3339
	ShapeStruct                   // Parts
	ShapeList                     // Parts
)

// Shape returns the shapes of the values of a layout, given the names of the function's values. A
// value that would need more than most parts has the shape ShapeAny.
func (r *Recording) Shape(layout uint32, names []Param, most int) []Shape {
	l := r.layout(layout)
	if l == nil {
		return nil
	}
	p := &Printer{r: r, nested: l.Nested}
	list := make([]Shape, len(l.Types))
	for i, n := range l.Types {
		name := p.param(l, i, names)
		s := &list[i]
		switch t := r.typ(n); {
		case l.Dynamic || name.Interface || name.Unless != "":
			s.Kind = ShapeAny
		case t != nil && t.Name != noField:
			p.deep, p.steps = l.Deep, 0
			*s = p.shape(t, n, r.Env.nestLimit, true, nil)
			if p.steps > most {
				*s = Shape{Kind: ShapeAny}
			}
		}
		s.Name, s.Place = name.Name, i
	}
	return list
}

// shape returns the shape of a value as datum reads it. within are the numbers of the types around
// it.
func (p *Printer) shape(t *Type, n uint32, has int, own bool, within []uint32) (s Shape) {
	if p.steps++; t == nil || t.Secret || p.steps > stepsMax {
		return s
	}
	if t.Kind != reflect.Pointer { // which are followed once
		if slices.Contains(within, n) {
			return Shape{Kind: ShapeAny}
		}
		within = append(within[:len(within):len(within)], n)
	}
	if t.Text && !p.follows(t, has) {
		if s.Kind = ShapeText; t.Name == "time.Time" || t.Name == "*time.Time" {
			s.Kind = ShapeTime
		}
		return s
	}
	part := func(n uint32) Shape { return p.shape(p.r.typ(n), n, has-1, false, within) }
	switch k := t.Kind; {
	case k >= reflect.Int && k < reflect.Uintptr && len(t.Names) > 0:
		s.Kind = ShapeNamed
	case k == reflect.Bool:
		s.Kind = ShapeBool
	case k >= reflect.Int && k <= reflect.Int64:
		s.Kind = ShapeInt
	case k >= reflect.Uint && k <= reflect.Uintptr:
		s.Kind = ShapeUint
	case k == reflect.Float32 || k == reflect.Float64:
		s.Kind = ShapeFloat
	case k == reflect.Complex64 || k == reflect.Complex128:
		s.Kind = ShapeComplex
	case k == reflect.String:
		s.Kind = ShapeString
	case k == reflect.Func:
		s.Kind = ShapeFunc
	case k == reflect.Map || k == reflect.Chan:
		s.Kind = ShapeLength
	case k == reflect.Interface:
		s.Kind = ShapeAny
	case k == reflect.Pointer || k == reflect.UnsafePointer:
		return p.pointed(t, has, own, within)
	case k == reflect.Slice && p.r.typ(t.Elem) != nil && p.r.typ(t.Elem).Kind == reflect.Uint8:
		s.Kind = ShapeBytes
	case has <= 0:
	case k == reflect.Slice || k == reflect.Array && t.Len <= uint64(p.r.Env.elemLimit):
		if elem := part(t.Elem); elem.Kind != ShapeNone {
			s.Kind, s.Parts = ShapeList, []Shape{elem}
		}
	case k == reflect.Struct:
		for i, f := range t.Fields {
			if field := part(f.Type); field.Kind != ShapeNone {
				field.Name, field.Place = f.Name, i
				s.Kind, s.Parts = ShapeStruct, append(s.Parts, field)
			}
		}
	}
	return s
}

// pointed returns the shape of a pointer as led reads it.
func (p *Printer) pointed(t *Type, has int, own bool, within []uint32) Shape {
	elem, follows := p.r.typ(t.Elem), p.follows(t, has)
	switch {
	case follows && elem == nil && p.nested:
		return Shape{Kind: ShapeAny}
	case elem == nil || !follows && !(own && p.pointee(t, has)):
		return Shape{Kind: ShapeAddress}
	}
	deep := p.deep
	p.deep = false
	s := p.shape(elem, t.Elem, max(p.r.behind(follows, p.nested), 1), false, within)
	p.deep = deep
	if s.Kind == ShapeNone {
		return Shape{Kind: ShapeAddress}
	}
	s.Pointer = true
	return s
}
