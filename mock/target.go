package mock

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"runtime"
	"strings"
	"unsafe"
)

// A target is the function that is replaced.
type target struct {
	fn      unsafe.Pointer // the core's
	name    string         // for messages
	pkg     string         // what stands for its package in symbols
	symbol  string         // its symbol
	typ     string         // its type as the table of functions has it
	value   reflect.Value  // the function, unless it was named
	bound   bool           // it is a method value
	closure unsafe.Pointer // the method value's code and receiver
	boundTo any            // its receiver, if that was an interface
}

// resolve finds the function that f is.
func resolve(f reflect.Value, implementation any) (target, error) {
	if f.IsNil() {
		return target{}, fmt.Errorf("mock: the target is a nil %v", f.Type())
	}
	symbol := runtime.FuncForPC(f.Pointer()).Name()
	method, bound := strings.CutSuffix(symbol, "-fm")
	closure := *(*unsafe.Pointer)(f.Addr().UnsafePointer())
	var boundTo any
	if bound {
		if receiver, ok := coreReceiver(closure); ok {
			boundTo, implementation = receiver, receiver
		}
	}
	if name, t, ok := interfaceMethod(method, f.Type(), boundTo); ok {
		if implementation == nil {
			return target{}, fmt.Errorf("mock: %s is a method of an interface, which has no body; name the method of the type that is meant, or give the option Implementation or ForReceiver", shown(method))
		}
		m, ok := reflect.TypeOf(implementation).MethodByName(name)
		if !ok || t != nil && !reflect.TypeOf(implementation).Implements(t) {
			return target{}, fmt.Errorf("mock: %T has no method %s of %s", implementation, name, shown(method))
		}
		method = runtime.FuncForPC(m.Func.Pointer()).Name()
	}
	found, err := find(method, shown(method))
	if err != nil {
		return target{}, err
	}
	found.value, found.bound, found.closure, found.boundTo = f, bound, closure, boundTo
	return found, nil
}

// interfaceMethod says whether the function of this name and type is an interface's method, and returns the method's name and, unless it
// is a method value's, the interface.
func interfaceMethod(symbol string, f reflect.Type, boundTo any) (name string, t reflect.Type, ok bool) {
	name = symbol[strings.LastIndexByte(symbol, '.')+1:]
	if boundTo != nil {
		return name, nil, true
	}
	if f.NumIn() == 0 || f.In(0).Kind() != reflect.Interface || f.In(0).Name() == "" {
		return "", nil, false
	}
	t = f.In(0)
	_, ok = t.MethodByName(name)
	return name, t, ok && unescaped(symbol) == t.PkgPath()+"."+t.Name()+"."+name
}

// find finds a function by its symbol.
func find(symbol, name string) (target, error) {
	symbol = unescaped(symbol)
	for _, s := range []string{symbol, withoutPointer(symbol)} {
		if fn, pkg, typ, _ := coreFind(s); fn != nil {
			if typ == "!" {
				return target{}, fmt.Errorf("%w so that it can be replaced: %s does nothing but return a function literal, which the compiler is to know; replace what calls it", ErrNotHooked, name)
			}
			return target{fn: fn, name: name, pkg: pkg, symbol: functionSymbol(pkg, s), typ: typ}, nil
		}
	}
	path := packagePath(symbol)
	if _, _, _, hooked := coreFind(symbol); hooked {
		return target{}, fmt.Errorf("%w: package %s has hooks, but no function %s has one; ftrace-wrap list %s lists those there are, and says why others have none",
			ErrNotHooked, path, name, path)
	}
	return target{}, fmt.Errorf("%w: %s: build with FTRACE_PACKAGES=%s,%s so that package %[4]s has hooks", ErrNotHooked, name, packages(), path)
}

// functionSymbol returns the symbol of a function of package pkg, given its name with the package's import path. The compiler escapes some characters in the
// path's last element, and calls package main so.
func functionSymbol(pkg, name string) string {
	slash := strings.LastIndexByte(pkg, '/') + 1
	escaped := pkg[:slash] + strings.ReplaceAll(pkg[slash:], ".", "%2e")
	if rest, ok := strings.CutPrefix(name, pkg+"."); ok {
		return escaped + "." + rest
	}
	return escaped + name[len(packagePath(name)):]
}

// packages returns the setting of FTRACE_PACKAGES.
func packages() string {
	defer coreQuiet(coreQuiet(true))
	return cmp.Or(os.Getenv("FTRACE_PACKAGES"), "main")
}

// withoutPointer turns "p.(*T).M" into "p.T.M": the method of the pointer type may be the compiler's, which calls the one that was written.
func withoutPointer(symbol string) string {
	before, rest, ok := strings.Cut(symbol, ".(*")
	if !ok {
		return symbol
	}
	return before + "." + strings.Replace(rest, ")", "", 1)
}

// unescaped returns a symbol with its package's path as it is written: the compiler escapes dots in the last element.
func unescaped(symbol string) string {
	if s, err := url.PathUnescape(symbol); err == nil {
		return s
	}
	return symbol
}

// shown is a symbol as messages have it.
func shown(symbol string) string { return unescaped(symbol) }

// packagePath returns the import path of a symbol's package, as far as it can be told.
func packagePath(symbol string) string {
	slash := strings.LastIndexByte(symbol, '/') + 1
	if dot := strings.IndexByte(symbol[slash:], '.'); dot >= 0 {
		return symbol[:slash+dot]
	}
	return symbol
}
