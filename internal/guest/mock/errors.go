//go:build ftrace_core

// The errors that FTRACE_FAIL names: those of Go's packages, which files added to them list
// (std/*/errors.go), and those of the packages with hooks, which the rewriter lists
// (rewrite/register.go). A list has names and values in turn. A value is a pointer to a variable, a
// nil pointer to a type of errors, or an error number.

package runtime

import (
	"internal/abi"
	"internal/bytealg"
	"internal/runtime/atomic"
	"unsafe"
)

// The lists of Go's packages, of those that are linked. The linker takes what they define.
//
//go:linkname ftraceErrorsOS
//go:linkname ftraceErrorsContext
//go:linkname ftraceErrorsNet
//go:linkname ftraceErrorsHTTP
//go:linkname ftraceErrorsSQL
var ftraceErrorsOS, ftraceErrorsContext, ftraceErrorsNet, ftraceErrorsHTTP, ftraceErrorsSQL []any

// What packages os and net make of an error that the system has.
//
//go:linkname ftraceWrapOS
//go:linkname ftraceWrapNet
var ftraceWrapOS, ftraceWrapNet func(function string, params []any, err error) error

// ftraceNamed is an error that FTRACE_FAIL names, or the one that it makes up.
type ftraceNamed struct {
	name  string         // "" for that
	at    unsafe.Pointer // *any: the value of the list; nil if it is not found yet; atomic
	empty uint32         // the variable was nil when a function was to fail; atomic
}

// found reports whether there is such an error.
func (e *ftraceNamed) found() bool {
	return e.name == "" || atomic.Loadp(unsafe.Pointer(&e.at)) != nil
}

// error returns the error, or other if its variable is nil.
func (e *ftraceNamed) error(other error) error {
	if e.name == "" {
		return other
	}
	value := *(*any)(atomic.Loadp(unsafe.Pointer(&e.at)))
	v := efaceOf(&value)
	switch {
	case v._type.Kind() != abi.Pointer:
	case v.data != nil:
		value = ftraceResultValue((*ptrtype)(unsafe.Pointer(v._type)).Elem, v.data)
	default:
		elem := (*ptrtype)(unsafe.Pointer(v._type)).Elem
		v.data = newobject(elem)
		ftraceFillErrors(elem, v.data, other)
		if e.name[0] != '*' && ftraceErrs(elem) {
			value = ftraceResultValue(elem, v.data)
		}
	}
	var err error
	if v._type == nil || !ftraceInterface(ftraceErrorType(), v, (*[2]unsafe.Pointer)(unsafe.Pointer(&err))) {
		atomic.Store(&e.empty, 1)
		return other
	}
	return err
}

// ftraceFillErrors has errors within a struct be err, so that methods of the struct can call them.
func ftraceFillErrors(t *_type, p unsafe.Pointer, err error) {
	switch {
	case t == ftraceErrorType():
		*(*error)(p) = err
	case t.Kind() == abi.Struct:
		for _, field := range (*structtype)(unsafe.Pointer(t)).Fields {
			ftraceFillErrors(field.Typ, add(p, field.Offset), err)
		}
	}
}

func ftraceErrorType() *_type {
	var p any = (*error)(nil)
	return (*ptrtype)(unsafe.Pointer(efaceOf(&p)._type)).Elem
}

// ftraceErrs reports whether a type is one of errors.
func ftraceErrs(t *_type) bool {
	if t == ftraceErrorType() {
		return true
	}
	inter := (*interfacetype)(unsafe.Pointer(ftraceErrorType()))
	if t.Kind() != abi.Interface {
		return getitab(inter, t, true) != nil
	}
	for _, m := range (*interfacetype)(unsafe.Pointer(t)).Methods {
		if toRType(t).nameOff(m.Name).Name() == "Error" {
			return true
		}
	}
	return false
}

// ftraceUsableError reports whether a value of a list is an error, or stands for one.
func ftraceUsableError(value *any) bool {
	v := efaceOf(value)
	if v._type.Kind() != abi.Pointer || v.data == nil && ftraceErrs(v._type) {
		return true
	}
	return ftraceErrs((*ptrtype)(unsafe.Pointer(v._type)).Elem)
}

// look looks for the error in a package's list; pkg, symbol and clause are the package's names.
func (e *ftraceNamed) look(list []any, pkg, symbol, clause string) {
	name := e.name
	if name != "" && name[0] == '*' {
		name = name[1:]
	}
	for i := 0; i+1 < len(list) && !e.found(); i += 2 {
		path, own := pkg, *(*string)(efaceOf(&list[i]).data)
		if dot := bytealg.LastIndexByteString(own, '.'); pkg == "" {
			path, own = own[:dot], own[dot+1:]
		}
		n := len(name) - len(own)
		short := n == 0 && path == "syscall"
		if !short && (n < 2 || name[n-1] != '.') || name[n:] != own || !ftraceUsableError(&list[i+1]) {
			continue
		}
		if short || ftraceEndsPath(path, name[:n-1]) || name[:n-1] == clause || name[:n-1] == symbol {
			at := new(any)
			*at = list[i+1]
			atomicstorep(unsafe.Pointer(&e.at), unsafe.Pointer(at))
		}
	}
}

// ftraceEndsPath reports whether a path ends in some whole elements.
func ftraceEndsPath(path, end string) bool {
	n := len(path) - len(end)
	return n >= 0 && path[n:] == end && (n == 0 || path[n-1] == '/')
}

// ftraceStdErrors returns the lists of Go's packages.
func ftraceStdErrors() [5][]any {
	return [...][]any{ftraceErrorsOS, ftraceErrorsContext, ftraceErrorsNet, ftraceErrorsHTTP, ftraceErrorsSQL}
}

// lookStd looks for the error in Go's packages.
func (e *ftraceNamed) lookStd() {
	for _, list := range ftraceStdErrors() {
		e.look(list, "", "", "")
	}
}

// lookIn looks for the error in a package with hooks.
func (e *ftraceNamed) lookIn(p *ftracePkg) {
	if p.Lists != nil && !e.found() {
		e.look(p.Lists.Errors(), p.Path, p.Symbol, p.Clause)
	}
}

// similar returns the name that is most similar to that of the error, which was not found, or "".
func (e *ftraceNamed) similar() string {
	best, least := "", 3
	consider := func(list []any, pkg, clause string) {
		for i := 0; i+1 < len(list); i += 2 {
			own := *(*string)(efaceOf(&list[i]).data)
			full := own
			if pkg == "" {
				full = own[bytealg.LastIndexByteString(own, '/')+1:]
				own = full[bytealg.LastIndexByteString(full, '.')+1:]
			} else {
				full = clause + "." + own
			}
			if !ftraceUsableError(&list[i+1]) {
				continue
			}
			d := ftrace_rule_Distance(e.name, full)
			switch last := e.name[bytealg.LastIndexByteString(e.name, '.')+1:]; {
			case last == own: // of another package
				d = min(d, 1)
			case last == e.name: // without a package
				d = min(d, ftrace_rule_Distance(last, own)+1)
			}
			if d < least {
				best, least = full, d
			}
		}
	}
	for _, list := range ftraceStdErrors() {
		consider(list, "", "")
	}
	semacquire(&ftraceRegistry.lock)
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if p.Lists != nil {
			consider(p.Lists.Errors(), p.Path, p.Clause)
		}
	}
	semrelease(&ftraceRegistry.lock)
	return best
}
