package mock

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"
)

// dispatch is called by the core, in quiet, for a call of a function that the double in data
// replaces. params are the function's parameters, the receiver first. want is of the type of the
// result or of the struct of the results, if the core knows that; its value has no meaning. Nor has
// that of instance, which is nil, or a func of a generic function's type arguments that returns the
// function.
//
// It returns a pointer to the result or the struct, and the number of results; or -1 if the double
// is not for this call; or what packAny returns; or, if an interceptor wants to hear of the call's
// end, what stands for the call, and continues.
func dispatch(data any, params []any, want, instance any) (results any, n int) {
	defer coreQuiet(false) // even if the replacement panics
	d := data.(*double)
	if d.interceptor != nil {
		return d.intercept(params, want)
	}
	if d.asks != 0 {
		if d.asks != coreGoroutine() {
			return nil, -1
		}
		d.target.instance = reflect.TypeOf(instance)
	}
	args, why := d.arguments(params, want, instance)
	if why == "" {
		why = d.declines(args)
	}
	if why != "" {
		d.pass(params, why)
		return nil, -1
	}
	with, kept, why := d.begin(args)
	if why != "" {
		d.pass(params, why)
		return nil, -1
	}
	coreQuiet(false)
	out := call(with, args)
	coreQuiet(true)
	if d.generic {
		results := d.complete(out[0].Interface().([]any))
		d.end(kept, []reflect.Value{reflect.ValueOf(results)})
		return d.packAny(results, want)
	}
	d.end(kept, out)
	return pack(layoutOf(d.typ).results, out), len(out)
}

// arguments makes the replacement's arguments from the function's parameters, or returns why the
// call is not for it.
func (d *double) arguments(params []any, want, instance any) (args []reflect.Value, why string) {
	first := 0
	if d.except != 0 && d.except == coreGoroutine() {
		return nil, "the goroutine is left out"
	}
	if d.iface != nil && !d.implements(params[0]) {
		return nil, "another type"
	}
	if d.target.bound {
		first = 1
		if !d.target.receives(params[0]) {
			return nil, "another receiver"
		}
	}
	if d.receiver != nil && (len(params) == 0 || !same(params[0], d.receiver)) {
		return nil, "another receiver"
	}
	if d.generic {
		return []reflect.Value{reflect.ValueOf(slices.Clone(params))}, ""
	}
	if of := d.instance(); of != nil && of != reflect.TypeOf(instance) && of != reflect.TypeOf(instance).Out(0) {
		return nil, "another instantiation"
	}
	if len(params)-first != d.typ.NumIn() || !d.fits(want) {
		return nil, d.misfit(params)
	}
	args = make([]reflect.Value, d.typ.NumIn())
	for i := range args {
		param := params[first+i]
		if i == 0 && d.target.outer != nil && first == 0 {
			param = d.target.outer // the embedded one need not be what the target takes
		}
		if v := reflect.ValueOf(param); d.target.converted && v.CanConvert(d.typ.In(i)) {
			param = v.Convert(d.typ.In(i)).Interface()
		}
		arg, ok := argument(d.typ.In(i), param, i == 0)
		if !ok {
			return nil, d.misfit(params)
		}
		args[i] = arg
	}
	return args, ""
}

// instance returns what instantiation of a generic function is replaced, as the function's hook
// tells it: the function's type, or, if others are of this type too, a func of the type arguments
// that returns it. It returns nil if the hook does not tell, or all are replaced.
func (d *double) instance() reflect.Type {
	switch {
	case !d.target.tells || d.generic:
		return nil
	case d.target.instance != nil:
		return d.target.instance
	}
	return d.typ
}

// argument turns a parameter into the replacement's argument of type t. A method that has a value
// as its receiver can be called with a pointer.
func argument(t reflect.Type, param any, receiver bool) (reflect.Value, bool) {
	if param == nil {
		return reflect.Zero(t), t.Kind() == reflect.Interface
	}
	v := reflect.ValueOf(param)
	switch {
	case v.Type() == t:
		return v, true
	case t.Kind() == reflect.Interface && v.Type().Implements(t):
		return v, true
	case receiver && (t.Kind() == reflect.Pointer && t.Elem() == v.Type() || t.Kind() == reflect.Interface && reflect.PointerTo(v.Type()).Implements(t)):
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		return p, true
	}
	return v, false
}

// fits reports whether the function's results have the types of the replacement's.
func (d *double) fits(want any) bool {
	t := reflect.TypeOf(want)
	switch n := d.typ.NumOut(); {
	case t == nil:
		return true
	case n == 1:
		return t == d.typ.Out(0)
	case t.Kind() != reflect.Struct || t.NumField() != n:
		return false
	default:
		for i := range n {
			if t.Field(i).Type != d.typ.Out(i) {
				return false
			}
		}
	}
	return true
}

// misfit returns why a call with parameters of other types is not for the replacement: it is of
// another instantiation. In any other case it panics.
func (d *double) misfit(params []any) string {
	if strings.Contains(d.target.name, "[...]") {
		return "another instantiation"
	}
	var types []string
	for _, p := range params {
		types = append(types, fmt.Sprintf("%T", p))
	}
	panic(fmt.Sprintf("mock: the replacement of %s is a %v, but the function's parameters are (%s), or its results others", d.target.name, d.typ, strings.Join(types, ", ")))
}

// declines returns why the options keep the call from the replacement, or "" if they do not.
func (d *double) declines(args []reflect.Value) string {
	if !d.when.IsValid() {
		return ""
	}
	coreQuiet(false)
	holds := call(d.when, args)[0].Bool()
	coreQuiet(true)
	if !holds {
		return "the predicate doesn't hold"
	}
	return ""
}

// begin notes a call and returns the replacement for it, unless there were enough calls.
func (d *double) begin(args []reflect.Value) (with reflect.Value, kept *Call, why string) {
	defer d.unlock(d.lock())
	if d.limited && d.called >= d.most {
		return with, nil, fmt.Sprintf("it was called %d times", d.most)
	}
	d.called++
	if !d.unrecorded {
		kept = &Call{Args: d.interfaces(args)}
		d.keep(kept)
	}
	return d.with, kept, ""
}

// end notes the results of a call.
func (d *double) end(kept *Call, results []reflect.Value) {
	if kept == nil {
		return
	}
	defer d.unlock(d.lock())
	kept.Results = d.interfaces(results)
}

// interfaces returns the arguments or results of a call.
func (d *double) interfaces(values []reflect.Value) []any {
	if d.generic {
		return slices.Clone(values[0].Interface().([]any))
	}
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v.Interface()
	}
	return list
}

// resultType returns the type of the only result, or the struct of results of these types.
func resultType(types []reflect.Type) reflect.Type {
	if len(types) == 1 {
		return types[0]
	}
	fields := make([]reflect.StructField, len(types))
	for i, t := range types {
		fields[i] = reflect.StructField{Name: fmt.Sprintf("R%d", i), Type: t}
	}
	return reflect.StructOf(fields)
}

// pack returns a pointer to the result, or to a struct of the results, which is a t.
func pack(t reflect.Type, results []reflect.Value) any {
	p := reflect.New(t)
	if len(results) == 1 {
		p.Elem().Set(results[0])
	} else {
		for i, r := range results {
			p.Elem().Field(i).Set(r)
		}
	}
	return p.Interface()
}

// receives reports whether a method value's receiver, which its closure holds after the code, is
// this one.
func (t *target) receives(receiver any) bool {
	bound := t.receiver
	if bound == nil {
		if reflect.TypeOf(receiver).Size() == 0 {
			return true
		}
		bound = reflect.NewAt(reflect.TypeOf(receiver), unsafe.Add(t.closure, unsafe.Sizeof(uintptr(0)))).Elem().Interface()
	}
	return same(bound, receiver)
}

// same reports whether a and b are equal. Maps and funcs, which can't be compared, are if they are
// the same, and slices if they have the same place and length.
func same(a, b any) bool {
	if a == nil || reflect.ValueOf(a).Comparable() || reflect.TypeOf(a) != reflect.TypeOf(b) {
		return a == b
	}
	x, y := reflect.New(reflect.TypeOf(a)).Elem(), reflect.New(reflect.TypeOf(a)).Elem()
	x.Set(reflect.ValueOf(a))
	y.Set(reflect.ValueOf(b))
	return sameValues(x, y)
}

// sameValues is same for values of one type that have addresses.
func sameValues(a, b reflect.Value) bool {
	p, q := unsafe.Pointer(a.UnsafeAddr()), unsafe.Pointer(b.UnsafeAddr())
	switch a.Kind() {
	case reflect.Map, reflect.Func:
		return *(*unsafe.Pointer)(p) == *(*unsafe.Pointer)(q)
	case reflect.Slice:
		return a.UnsafePointer() == b.UnsafePointer() && a.Len() == b.Len()
	case reflect.Interface: // which may be in a field that is not exported
		return same(reflect.NewAt(a.Type(), p).Elem().Interface(), reflect.NewAt(a.Type(), q).Elem().Interface())
	case reflect.Array:
		for i := range a.Len() {
			if !sameValues(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Name != "_" && !sameValues(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}
