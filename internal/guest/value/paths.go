//go:build ftrace_core

// What capture= names is shown and recorded after the parameters or results: fields of these,
// through the pointers and interfaces on the way. Each of those is looked up before it is followed.
// A field that a nil pointer makes unreachable is nil.

package runtime

import (
	"internal/abi"
	"internal/stringslite"
	"unsafe"
)

// ftracePaths is what a clause names of a function's parameters, or of its results.
type ftracePaths struct {
	f       *ftraceFunc
	text    string // PATH+PATH: the paths of the others are in it too
	results bool

	redaction uint32 // by which secrets are hidden
}

// ftraceValuesMax is the number of values that a record has at most if some of them are what paths
// lead to.
const ftraceValuesMax = 40

// at tells the paths from those of other rules.
func (paths *ftracePaths) at() uintptr {
	if paths == nil {
		return 0
	}
	return uintptr(unsafe.Pointer(unsafe.StringData(paths.text)))
}

// next takes the first path off rest. It returns the number of the value in which the path begins,
// one of n, and its fields.
func (paths *ftracePaths) next(rest string, n int) (value int, path, fields, behind string) {
	for rest != "" {
		path, rest, _ = stringslite.Cut(rest, "+")
		base, fields, _ := stringslite.Cut(path, ".")
		if value := paths.base(base, n); value >= 0 {
			return value, path, fields, rest
		}
	}
	return -1, "", "", ""
}

// base returns the number of a parameter, given by name or number, or of a result, given by name or
// as ret0 and so on; -1 if there is none.
func (paths *ftracePaths) base(name string, n int) int {
	names := paths.f.names(paths.results)
	for i := range n {
		if known, _, _ := names.next(); known == name {
			return i
		}
	}
	if paths.results {
		number, ok := stringslite.CutPrefix(name, "ret")
		if !ok {
			return -1
		}
		name = number
	}
	if number, ok := ftraceParseInt(name); ok && number < n {
		return number
	}
	return -1
}

// follow puts what the paths lead to after values, which are pointers if pointers is set. The
// result, in room, has all of them as they are.
func (paths *ftracePaths) follow(room *[ftraceValuesMax]any, values []any, pointers bool) []any {
	n := min(len(values), len(room))
	for i := range n {
		e := efaceOf(&values[i])
		if pointers {
			*efaceOf(&room[i]) = ftraceBox((*ptrtype)(unsafe.Pointer(e._type)).Elem, e.data)
		} else {
			*efaceOf(&room[i]) = *e
		}
	}
	all := n
	for rest := paths.text; all < len(room); all++ {
		path, e := paths.take(&rest, room[:n], false)
		if path == "" {
			break
		}
		*efaceOf(&room[all]) = e
	}
	return room[:all]
}

// take takes the first path off rest, and returns it with what it leads to, or "" if there is none.
func (paths *ftracePaths) take(rest *string, values []any, pointers bool) (path string, e eface) {
	value, path, fields, behind := paths.next(*rest, len(values))
	if *rest = behind; value < 0 {
		return "", eface{}
	}
	e = *efaceOf(&values[value])
	if pointers {
		e = ftraceBox((*ptrtype)(unsafe.Pointer(e._type)).Elem, e.data)
	}
	return path, ftraceFollow((*eface)(noescape(unsafe.Pointer(&e))), fields, paths.redaction)
}

// ftraceNoField is what a path leads to if a type does not have the field.
type ftraceNoField struct{}

// ftraceMissing reports whether a path led to no field.
func ftraceMissing(e eface) bool { return e._type == ftraceNoSuchField()._type }

func ftraceNoSuchField() (e eface) {
	var none any = ftraceNoField{}
	return *efaceOf(&none)
}

// ftraceFollow returns what fields lead to in a value, or a secret if that or something on the way
// is one.
func ftraceFollow(e *eface, fields string, redaction uint32) eface {
	t, p := e._type, e.data
	if t == nil {
		return eface{}
	}
	if t.IsDirectIface() {
		p = unsafe.Pointer(&e.data)
	}
	for fields != "" {
		var field string
		field, fields, _ = stringslite.Cut(fields, ".")
		if t, p = ftraceBehind(t, p); t == nil {
			return eface{}
		}
		if t.Kind() != abi.Struct {
			return ftraceNoSuchField()
		}
		if ftraceHidesAll(t, redaction) || ftraceIsSecret(field, redaction) {
			return *efaceOf(&ftraceASecret)
		}
		s := (*structtype)(unsafe.Pointer(t))
		t = nil
		for i := range s.Fields {
			if f := &s.Fields[i]; f.Name.Name() == field {
				t, p = f.Typ, add(p, f.Offset)
				break
			}
		}
		if t == nil {
			return ftraceNoSuchField()
		}
	}
	return ftraceBox(t, p)
}

// ftraceBehind follows pointers and interfaces to what they hold. It returns nil if one of them is
// nil.
func ftraceBehind(t *_type, p unsafe.Pointer) (*_type, unsafe.Pointer) {
	for range 8 {
		switch t.Kind() {
		case abi.Pointer:
			t, p = (*ptrtype)(unsafe.Pointer(t)).Elem, *(*unsafe.Pointer)(p)
		case abi.Interface:
			e := ftraceDynamic(t, p)
			if e._type == nil {
				return nil, nil
			}
			t = e._type
			if t.IsDirectIface() {
				p = add(p, unsafe.Sizeof(uintptr(0))) // the interface's second word
			} else {
				p = e.data
			}
		default:
			return t, p
		}
		if p == nil || !ftraceReadable(p, t.Size_) {
			return nil, nil
		}
	}
	return nil, nil
}

// ftraceDynamic returns what is in an interface of type t, or nothing if that can't be read.
func ftraceDynamic(t *_type, p unsafe.Pointer) (e eface) {
	if len((*interfacetype)(unsafe.Pointer(t)).Methods) == 0 {
		e = *(*eface)(p)
	} else if i := (*iface)(p); i.tab != nil && ftraceKnownMemory(uintptr(unsafe.Pointer(i.tab))) {
		e._type, e.data = i.tab.Type, i.data
	}
	if e._type == nil || !ftraceKnownType(e._type) || !e._type.IsDirectIface() && !ftraceReadable(e.data, e._type.Size_) {
		return eface{}
	}
	return e
}

// ftraceBox returns the value of type t at p as one in an interface. Its memory stays where it is.
func ftraceBox(t *_type, p unsafe.Pointer) eface {
	switch {
	case t.Kind() == abi.Interface:
		return ftraceDynamic(t, p)
	case t.IsDirectIface():
		return eface{t, *(*unsafe.Pointer)(p)}
	}
	return eface{t, p}
}
