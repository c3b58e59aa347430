package mock

import (
	"fmt"
	"net/url"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
)

// A target is the function that is replaced.
type target struct {
	fn        unsafe.Pointer // belongs to the core
	name      string         // for messages
	pkg       string         // what stands for its package in symbols
	symbol    string         // its name in symbols
	typ       string         // its type in the table of functions
	value     reflect.Value  // the function, unless it was named
	converted bool           // parameters have the types that those of package runtime are made of
	tells     bool           // its hook tells which instantiation of it is called
	alike     bool           // several instantiations are of the same type
	instance  reflect.Type   // the one that is meant, if they are alike and it is known
	bound     bool           // it is a method value
	closure   unsafe.Pointer // the method value's code and receiver

	// Of a method of an interface:
	receiver any // the one receiver that is meant, as the method gets it
	outer    any // what the receiver is embedded in, if the method is promoted
}

// resolve finds the function that f is. If f is a method of an interface, implementation has the
// type that is meant; one means that only this value of it is.
func resolve(f reflect.Value, implementation any, one bool) (target, error) {
	if f.IsNil() {
		return target{}, fmt.Errorf("mock: the target is a nil %v", f.Type())
	}
	symbol := runtime.FuncForPC(f.Pointer()).Name()
	method, bound := strings.CutSuffix(symbol, "-fm")
	closure := *(*unsafe.Pointer)(f.Addr().UnsafePointer())
	var boundTo any
	if bound {
		if receiver, ok := coreReceiver(closure); ok {
			boundTo, implementation, one = receiver, receiver, true
		}
	}
	var owner reflect.Value
	if name, t, ok := interfaceMethod(method, f, boundTo); ok {
		if implementation == nil {
			return target{}, fmt.Errorf("mock: %s is a method of an interface, which has no body; name the method of the type that is meant, or give the option Implementation or ForReceiver", shown(method))
		}
		v := reflect.ValueOf(implementation)
		if owner = provider(v, name); !owner.IsValid() || t != nil && !v.Type().Implements(t) {
			return target{}, fmt.Errorf("mock: %T has no method %s of %s", implementation, name, shown(method))
		}
		if !one && base(owner.Type()) != base(v.Type()) {
			return target{}, fmt.Errorf("mock: %s of %T %s, or give ForReceiver one %[2]T", name, implementation, embeds(owner, name))
		}
		method = methodSymbol(owner.Type(), name)
	}
	if around, ok := within(method); ok {
		if coreWrapper(f.Pointer()) {
			return target{}, dependent(around)
		}
		method = literalAt(method, around, f.Pointer())
	}
	found, err := find(method)
	if err != nil {
		if owner := promoted(f, method); owner.IsValid() && !bound {
			return target{}, fmt.Errorf("%w so that it can be replaced: %s %s", ErrNotHooked, shown(method), embeds(owner, method[strings.LastIndexByte(method, '.')+1:]))
		}
		return target{}, err
	}
	found.value, found.bound, found.closure = f, bound, closure
	if found.alike {
		found.instance = found.ask()
	}
	if owner.IsValid() && one {
		if found.receiver, err = found.received(owner); err != nil {
			return target{}, err
		}
		if base(owner.Type()) != base(reflect.TypeOf(implementation)) {
			found.outer = implementation
		}
	}
	return found, nil
}

// within returns the generic function in which there is the literal with this symbol. It reports
// whether there is one: a method may be called func1.
func within(symbol string) (around string, ok bool) {
	if !strings.Contains(symbol, "[...]") {
		return "", false
	}
	symbol = unescaped(symbol)
	around = literal.ReplaceAllString(symbol, "")
	return around, around != symbol && slices.ContainsFunc(list(), func(f listed) bool { return f.symbol+"."+f.name == around })
}

// dependent returns the error for a target that depends on the type parameters of the function
// around it. The compiler makes a literal there, which calls the target.
func dependent(around string) error {
	around = shown(around)
	return fmt.Errorf("mock: the target depends on the type parameters of %s, and what the compiler makes of it there can't be replaced: have the target as a parameter of %[1]s, so that the caller names it, such as largest[int]; or replace it by its name, such as mock.Unexported(t, \"%s.largest[...]\", ...)",
		around, packagePath(around))
}

// literalAt returns the name in the table of functions of the literal with this symbol and code.
// The compiler numbers the functions that it makes in generic ones among the literals; the table
// does not have these. So the literal goes by its line, if it is the only one there.
func literalAt(symbol, around string, code uintptr) string {
	_, line := runtime.FuncForPC(code).FileLine(code)
	var there []string
	for _, f := range list() {
		if name := f.symbol + "." + f.name; f.line == strconv.Itoa(line) && literal.ReplaceAllString(name, "") == around {
			there = append(there, name)
		}
	}
	if len(there) == 1 {
		return there[0]
	}
	return symbol
}

// ask calls the generic function in the value, whose hook tells which instantiation that is. The
// function itself does not run.
func (t *target) ask() reflect.Type {
	typ := t.value.Type()
	with := reflect.New(typ).Elem()
	with.Set(reflect.MakeFunc(typ, func([]reflect.Value) (results []reflect.Value) {
		for i := range typ.NumOut() {
			results = append(results, reflect.Zero(typ.Out(i)))
		}
		return results
	}))
	d := &double{typ: typ, target: *t, with: with, unrecorded: true, asks: coreGoroutine()}
	var handle, args = unsafe.Pointer(nil), make([]reflect.Value, typ.NumIn())
	for i := range args {
		args[i] = reflect.Zero(typ.In(i))
	}
	coreAdd(t.fn, d, false, nil, &handle)
	coreQuiet(false)
	call(t.value, args)
	coreQuiet(true)
	coreRemove(handle)
	return d.target.instance
}

// received returns v as the method gets it.
func (t *target) received(v reflect.Value) (any, error) {
	_, pointer, _ := t.method()
	if v.Kind() == reflect.Pointer && !pointer {
		if v.IsNil() {
			return nil, fmt.Errorf("mock: %s has a value as its receiver, but this is a nil pointer", t.name)
		}
		v = v.Elem()
	}
	return v.Interface(), nil
}

// method takes the target's name apart: the type of which it is a method, and whether its receiver
// is a pointer.
func (t *target) method() (typ string, pointer, ok bool) {
	name := t.symbol[len(packagePath(t.symbol))+1:]
	if rest, found := strings.CutPrefix(name, "(*"); found {
		typ, name, ok = strings.Cut(rest, ").")
		pointer = true
	} else {
		dot := strings.IndexByte(strings.ReplaceAll(name, "[...]", "     "), '.')
		if dot < 0 || literal.MatchString(name) {
			return "", false, false
		}
		typ, name, ok = name[:dot], name[dot+1:], true
	}
	typ, _, _ = strings.Cut(typ, "[")
	return typ, pointer, ok && !strings.Contains(name, ".") && typ != "init"
}

// checkReceiver returns what is wrong with ForReceiver, and notes which receiver it means.
func (d *double) checkReceiver() error {
	if d.receiver == nil {
		return nil
	}
	t := &d.target
	if t.bound {
		return fmt.Errorf("mock: %s is a method value, which already has a receiver; ForReceiver is for a method expression", t.name)
	}
	if t.receiver != nil {
		d.receiver = t.receiver
		return nil
	}
	typ, pointer, ok := t.method()
	if !ok {
		return fmt.Errorf("mock: ForReceiver is for methods, and %s is none", t.name)
	}
	r := reflect.TypeOf(d.receiver)
	name, _, _ := strings.Cut(base(r).Name(), "[")
	if name != typ || base(r).PkgPath() != t.pkg || pointer != (r.Kind() == reflect.Pointer) {
		return fmt.Errorf("mock: ForReceiver: the receiver of %s is of type %s, never %v", t.name, map[bool]string{true: "*", false: ""}[pointer]+typ, r)
	}
	return nil
}

// base returns what t points to, or t.
func base(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// methodSymbol returns the symbol of a method of t, with a pointer as its receiver.
func methodSymbol(t reflect.Type, method string) string {
	name := base(t).Name()
	if generic, _, ok := strings.Cut(name, "["); ok {
		name = generic + "[...]"
	}
	return base(t).PkgPath() + ".(*" + name + ")." + method
}

// provider returns the value whose method a call of v's method runs: v, or what is embedded in it.
// What lies in memory is returned as a pointer to it. An embedded interface stands for what is in
// it, or for itself if it is nil. If there is no such method, the value is not valid.
func provider(v reflect.Value, method string) reflect.Value {
	seen := map[reflect.Type]bool{}
	for level := []reflect.Value{v}; len(level) > 0; {
		var next []reflect.Value
		for _, v := range level {
			if v.Kind() == reflect.Interface && !v.IsNil() {
				v = v.Elem()
			}
			if v.Kind() == reflect.Interface {
				if _, ok := v.Type().MethodByName(method); ok {
					return v
				}
				continue
			}
			if declaresMethod(base(v.Type()), method) {
				return v
			}
			if seen[base(v.Type())] {
				continue
			}
			seen[base(v.Type())] = true
			next = append(next, embedded(v)...)
		}
		level = next
	}
	return reflect.Value{}
}

// declaresMethod reports whether the method was written for t or *t, and not promoted to it.
func declaresMethod(t reflect.Type, method string) bool {
	for _, t := range []reflect.Type{t, reflect.PointerTo(t)} {
		if m, ok := t.MethodByName(method); ok && t.Kind() != reflect.Interface {
			if !autogenerated(m.Func) {
				return true
			}
		}
	}
	symbol := methodSymbol(t, method)
	pointer, _, _, _ := coreFind(symbol)
	value, _, _, _ := coreFind(withoutPointer(symbol))
	return pointer != nil || value != nil
}

// embedded returns the fields embedded in the struct that v is or points to.
func embedded(v reflect.Value) (fields []reflect.Value) {
	t := base(v.Type())
	if t.Kind() != reflect.Struct {
		return nil
	}
	p := reflect.New(t) // so that fields have addresses, by which also those can be read that are not exported
	if v.Kind() != reflect.Pointer {
		p.Elem().Set(v)
	} else if !v.IsNil() {
		p = v
	}
	for i := range t.NumField() {
		if !t.Field(i).Anonymous {
			continue
		}
		field := reflect.NewAt(t.Field(i).Type, unsafe.Add(p.UnsafePointer(), t.Field(i).Offset))
		if kind := t.Field(i).Type.Kind(); kind == reflect.Pointer || kind == reflect.Interface {
			field = field.Elem()
		}
		fields = append(fields, field)
	}
	return fields
}

// interfaceMethod reports whether the function with this symbol is an interface's method. It
// returns the method's name and, unless it is a method value's, the interface.
func interfaceMethod(symbol string, f reflect.Value, boundTo any) (name string, t reflect.Type, ok bool) {
	name = symbol[strings.LastIndexByte(symbol, '.')+1:]
	if boundTo != nil {
		return name, nil, true
	}
	if f.Type().NumIn() == 0 || f.Type().In(0).Kind() != reflect.Interface || !autogenerated(f) {
		return "", nil, false
	}
	t = f.Type().In(0)
	_, ok = t.MethodByName(name)
	return name, t, ok
}

// autogenerated reports whether the compiler made the method.
func autogenerated(f reflect.Value) bool {
	file, _ := runtime.FuncForPC(f.Pointer()).FileLine(f.Pointer())
	return file == "<autogenerated>"
}

// promoted returns the embedded value that has the method of the method expression f. It is not
// valid if the method is the type's own.
func promoted(f reflect.Value, method string) reflect.Value {
	if !autogenerated(f) || f.Type().NumIn() == 0 {
		return reflect.Value{}
	}
	v := reflect.Zero(f.Type().In(0))
	owner := provider(v, method[strings.LastIndexByte(method, '.')+1:])
	if owner.IsValid() && base(owner.Type()) == base(v.Type()) {
		return reflect.Value{}
	}
	return owner
}

// embeds writes from what a method is promoted, and what to replace.
func embeds(owner reflect.Value, method string) string {
	t := owner.Type()
	if t.Kind() == reflect.Interface {
		return fmt.Sprintf("is promoted from the embedded interface %v; replace (%[1]v).%s with the option Implementation", t, method)
	}
	if m, ok := base(t).MethodByName(method); ok && t.Kind() == reflect.Pointer && !autogenerated(m.Func) {
		t = t.Elem()
	}
	return fmt.Sprintf("is promoted from the embedded %v, which does not know what it is embedded in; replace (%[1]v).%s", t, method)
}

// targets are the targets found so far, by symbol.
var targets sync.Map

// find finds a function by its symbol.
func find(symbol string) (target, error) {
	if t, ok := targets.Load(symbol); ok {
		return t.(target), nil
	}
	t, err := look(unescaped(symbol))
	if err == nil {
		targets.Store(symbol, t)
	}
	return t, err
}

// look is find for symbols that are not in targets yet.
func look(symbol string) (target, error) {
	for _, s := range []string{symbol, withoutPointer(symbol)} {
		if fn, pkg, typ, _ := coreFind(s); fn != nil {
			if typ == "!" {
				return target{}, fmt.Errorf("%w so that it can be replaced: %s only returns a function literal, and the compiler inlines that where it knows it, as in a loop over an iterator; replace the literal by mock.Unexported(t, %q, ...), or the function that calls %[2]s",
					ErrNotHooked, symbol, returnedLiteral(s))
			}
			typ, converted := strings.CutPrefix(typ, "~")
			typ, tells := strings.CutPrefix(typ, "+")
			typ, alike := strings.CutPrefix(typ, "+")
			return target{fn: fn, name: symbol, pkg: pkg, symbol: functionSymbol(pkg, s), typ: typ, converted: converted, tells: tells, alike: alike}, nil
		}
	}
	return target{}, notFound(symbol)
}

// functionSymbol returns the symbol of a function of package pkg, given its name with the package's
// import path. The compiler escapes some characters in the path's last element, and calls a main
// package main.
func functionSymbol(pkg, name string) string {
	slash := strings.LastIndexByte(pkg, '/') + 1
	escaped := pkg[:slash] + strings.ReplaceAll(pkg[slash:], ".", "%2e")
	if rest, ok := strings.CutPrefix(name, pkg+"."); ok {
		return escaped + "." + rest
	}
	return escaped + name[len(packagePath(name)):]
}

// withoutPointer turns "p.(*T).M" into "p.T.M": the method of the pointer type may be the
// compiler's, which calls the one that was written.
func withoutPointer(symbol string) string {
	before, rest, ok := strings.Cut(symbol, ".(*")
	if !ok {
		return symbol
	}
	return before + "." + strings.Replace(rest, ")", "", 1)
}

// unescaped returns a symbol with its package's path as it is written: the compiler escapes dots in
// the last element.
func unescaped(symbol string) string {
	if s, err := url.PathUnescape(symbol); err == nil {
		return s
	}
	return symbol
}

// shown returns a symbol in the form for messages: without what stands for a package where there is
// none, as in go:builtin.error.Error.
func shown(symbol string) string {
	return strings.TrimPrefix(strings.TrimPrefix(unescaped(symbol), "go:"), "builtin.")
}

// packagePath returns the import path of a symbol's package, as far as it can be determined.
func packagePath(symbol string) string {
	path, _ := funcname.Split(symbol)
	return path
}
