package recording

import (
	"fmt"
	"reflect"
	"strings"
)

// A Path names a value of an event, or a part of one: a parameter or result, and fields in it. It
// goes through pointers and interfaces as far as what they lead to was recorded. It remembers where
// the value is in records of each layout, so it is for one recording, and for one goroutine at a
// time.
type Path struct {
	Name    string // of the parameter or result; if "", Value has its number
	Value   int    // its number, from 0, the receiver included; -1: the last one
	Results bool   // it is a result
	Fields  []string

	plans  map[uint32]*plan
	layout uint32 // the layout that plan is for
	plan   *plan
}

// String returns the path as rules have it after capture=: req.URL.Path, 1.URL.Path, ret0.Status.
func (path *Path) String() string {
	base := path.Name
	if base == "" {
		base = numbered(path.Value, path.Results)
	}
	return strings.Join(append([]string{base}, path.Fields...), ".")
}

// A FoundKind is the kind of value in a Found.
type FoundKind uint8

const (
	Missing FoundKind = iota // it is not in the record: a pointer on the way is nil, it did not fit, or see Why
	Nil
	Int     // Number is an int64
	Uint    // Number
	Bool    // Number is 0 or 1
	Float   // Number has the bits of a float64
	Text    // a string or bytes; Text has the recorded bytes, Len the full length
	Address // Number
	Other   // Text is what a trace shows; for an error its message, if that is known
)

// Found is the value that a Path leads to.
type Found struct {
	Kind   FoundKind
	Number uint64
	Text   []byte // valid until the event's data or the Printer is used for something else
	Len    int64  // of strings, slices, maps, channels (elements); else -1
	Why    string // for Missing: why no record of this layout has it; "" if others may have it
}

// noField is the type of a value that capture= named and that does not exist.
const noField = "runtime.ftraceNoField"

// plan is how to reach a value in the records of a layout.
type plan struct {
	steps []planStep
	last  planned // what is there
	why   string  // why the value can't be there
	never bool    // a pointer on the way is nil

	pointee bool // where it begins is an error, in an interface, that is recorded as without deep

	offset int          // where it is, if it is an integer and at the same place in all records of the layout
	kind   reflect.Kind // of that integer; else Invalid
}

// planned is a value in a record.
type planned struct {
	t       *Type
	has     int  // levels of nesting that were recorded
	pointee bool // it is an error, and followed by what it points to
}

// planStep skips values before the one that is wanted, or goes into one.
type planStep struct {
	kind    planKind
	n       int // bytes
	value   planned
	fields  []string // the fields to find in what an interface holds
	dynamic map[uint32]*plan
}

type planKind uint8

const (
	planBytes   planKind = iota // skips that many bytes
	planText                    // skips a string
	planTop                     // skips value n of the layout
	planValue                   // skips a value
	planFollow                  // follows a pointer
	planDynamic                 // goes on with the type that is in an interface
)

// Find returns the value that a path leads to, in e, an event of a call of f.
func (p *Printer) Find(e *Event, f *Function, path *Path) Found {
	if path.plan == nil || path.layout != e.Layout {
		path.plan = p.planOf(e, f, path)
		path.layout = e.Layout
	}
	if path.plan.why != "" {
		return Found{Why: path.plan.why, Len: -1}
	}
	return p.follow(p.begin(p.dst[:0], 0, e), path.plan)
}

// planOf returns the plan for e's layout.
func (p *Printer) planOf(e *Event, f *Function, path *Path) *plan {
	if made := path.plans[e.Layout]; made != nil {
		return made
	}
	made := &plan{}
	l := p.r.layout(e.Layout)
	if l == nil {
		if e.Layout != 0 {
			return &plan{why: "the tables do not say what its values are"}
		}
		made.why = "its parameters were not recorded: the rules had call, not args"
	} else {
		p.r.planTop(made, l, f, path)
	}
	made.direct()
	if path.plans == nil {
		path.plans = map[uint32]*plan{}
	}
	path.plans[e.Layout] = made
	return made
}

// direct notes that the value is an integer that is always at the same place.
func (to *plan) direct() {
	if to.why != "" || to.never || to.last.t == nil || to.last.t.Error {
		return
	}
	for _, s := range to.steps {
		if s.kind != planBytes {
			return
		}
		to.offset += s.n
	}
	switch k := to.last.t.Kind; k {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		to.kind = k
	}
}

// Int returns the value in e if it is an integer that is easy to reach, as most are, and was found
// before in a record of the same layout. Otherwise ok is false, and Find finds it.
func (path *Path) Int(e *Event) (v int64, ok bool) {
	to := path.plan
	if to == nil || path.layout != e.Layout || to.kind == reflect.Invalid || to.offset+8 > len(e.Data) {
		return 0, false
	}
	b := e.Data[to.offset : to.offset+8]
	switch to.kind {
	case reflect.Int8:
		return int64(int8(b[0])), true
	case reflect.Int16:
		return int64(int16(le16(b))), true
	case reflect.Int32:
		return int64(int32(le32(b))), true
	case reflect.Uint8:
		return int64(b[0]), true
	case reflect.Uint16:
		return int64(le16(b)), true
	case reflect.Uint32:
		return int64(le32(b)), true
	}
	return int64(le64(b)), true
}

// planTop finds the value with which the path begins.
func (r *Recording) planTop(to *plan, l *Layout, f *Function, path *Path) {
	names, what := f.Params, "parameter"
	if path.Results {
		names, what = f.Results, "result"
	}
	at, fields := 0, path.Fields
	if at = path.Value; at < 0 {
		at += l.own()
	}
	if path.Name != "" {
		at = indexOf(names, path.Name)
	}
	if at < 0 || at >= l.own() {
		to.why = fmt.Sprintf("%s has no %s %s", f.FullName(), what, strings.SplitN(path.String(), ".", 2)[0])
		return
	}
	for i, captured := range l.Captured {
		base, rest, _ := strings.Cut(captured, ".")
		if len(fields) > 0 && rest == strings.Join(fields, ".") && (base == path.Name || base == numbered(at, path.Results) || indexOf(names, base) == at) {
			at, fields = l.own()+i, nil
			break
		}
	}
	for i, n := range l.Types[:at] {
		t := r.typ(n)
		pointee := t != nil && t.Kind == reflect.Pointer && t.Error && !l.Deep
		switch {
		case n == 0 && !l.Dynamic:
		case l.Dynamic || t == nil || pointee || t.Kind == reflect.Interface || l.Deep:
			to.steps = append(to.steps, planStep{kind: planTop, n: i})
		default:
			r.planSkip(to, t, r.Env.nestLimit)
		}
	}
	t := r.typ(l.Types[at])
	switch {
	case l.Dynamic:
		to.steps = append(to.steps, planStep{kind: planDynamic, fields: fields, n: r.Env.nestLimit})
	case l.Types[at] == 0:
		to.last.t, to.never = nil, len(fields) > 0 // it is certainly nil
	case t == nil:
		to.why = "the tables do not have its type"
	default:
		r.planInto(to, planned{t, r.Env.nestLimit, t.Kind == reflect.Pointer && t.Error && !l.Deep}, r.behind(l.Deep, l.Nested), fields)
	}
}

// indexOf returns the index of a name, or -1.
func indexOf(names []Param, name string) int {
	for i := range names {
		if names[i].Name == name {
			return i
		}
	}
	return -1
}

// numbered returns the beginning of a path that has a number instead of a name.
func numbered(n int, result bool) string {
	if result {
		return fmt.Sprintf("ret%d", n)
	}
	return fmt.Sprint(n)
}

// fixed returns how many bytes each value of a type takes, if that is always the same.
func (r *Recording) fixed(t *Type, has int) (n int, ok bool) {
	if t.Text {
		return 0, false
	}
	switch t.Kind {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return 1, true
	case reflect.Int16, reflect.Uint16:
		return 2, true
	case reflect.Int32, reflect.Uint32, reflect.Float32, reflect.Map:
		return 4, true
	case reflect.Complex128:
		return 16, true
	case reflect.String, reflect.Slice, reflect.Interface, reflect.Invalid:
		return 0, false
	case reflect.Struct:
		if has <= 0 {
			return 0, true
		}
		for _, f := range t.Fields {
			ft := r.typ(f.Type)
			if ft == nil {
				return 0, false
			}
			size, ok := r.fixed(ft, has-1)
			if !ok {
				return 0, false
			}
			n += size
		}
		return n, true
	case reflect.Array:
		elem := r.typ(t.Elem)
		if has <= 0 || elem == nil {
			return 0, elem != nil
		}
		size, ok := r.fixed(elem, has-1)
		return size * int(min(t.Len, uint64(r.Env.elemLimit))), ok
	}
	return 8, true
}

// planSkip skips a value, which is not in a deep layout.
func (r *Recording) planSkip(to *plan, t *Type, has int) {
	if n, ok := r.fixed(t, has); ok {
		if last := len(to.steps) - 1; last >= 0 && to.steps[last].kind == planBytes {
			to.steps[last].n += n
		} else {
			to.steps = append(to.steps, planStep{kind: planBytes, n: n})
		}
		return
	}
	step := planStep{kind: planValue, value: planned{t: t, has: has}}
	if t.Kind == reflect.String {
		step = planStep{kind: planText}
	}
	to.steps = append(to.steps, step)
}

// planInto goes into a value, to the field of it that is wanted. behind is the number of levels
// that were recorded of what a pointer leads to.
func (r *Recording) planInto(to *plan, v planned, behind int, fields []string) {
	t := v.t
	switch {
	case t.Name == noField:
		to.why = "there is no such field"
	case t.Secret && len(fields) > 0:
		to.why = "it is hidden, since its name says that it is a secret: FTRACE_REDACT and redact= of the rules change that"
	case t.Kind == reflect.Interface:
		to.steps = append(to.steps, planStep{kind: planDynamic, fields: fields, n: v.has - 1})
	case len(fields) == 0:
		to.last = v
	case t.Kind == reflect.Pointer && r.typ(t.Elem) != nil && r.typ(t.Elem).Kind == reflect.Struct && (v.pointee || behind > 0 && v.has == r.Env.nestLimit):
		to.steps = append(to.steps, planStep{kind: planFollow})
		r.planInto(to, planned{t: r.typ(t.Elem), has: max(behind, 1)}, 0, fields)
	case t.Kind == reflect.Pointer:
		to.why = fmt.Sprintf("what the pointer (%s) leads to was not recorded", t.Name)
	case t.Kind != reflect.Struct || t.Text:
		to.why = fmt.Sprintf("%s has no fields", t.Name)
	default:
		var names []string
		for i, f := range t.Fields {
			if f.Name == fields[0] {
				if v.has <= 0 {
					to.why = fmt.Sprintf("the fields of %s were not recorded, so far within others", t.Name)
					return
				}
				for _, before := range t.Fields[:i] {
					if bt := r.typ(before.Type); bt != nil {
						r.planSkip(to, bt, v.has-1)
					}
				}
				if ft := r.typ(f.Type); ft != nil {
					r.planInto(to, planned{t: ft, has: v.has - 1}, 0, fields[1:])
				} else {
					to.why = "the tables do not have the type of " + f.Name
				}
				return
			}
			names = append(names, f.Name)
		}
		to.why = fmt.Sprintf("%s has no field %s: it has %s", t.Name, fields[0], strings.Join(names, ", "))
	}
}
