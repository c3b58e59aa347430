package mock

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// Every is [Replace] for a method of an interface, such as io.Reader.Read, in all types that
// implement the interface and whose method has a hook. These are types of packages with hooks: of
// the main module, and what FTRACE_PACKAGES adds. A method that is promoted to such a type is not
// replaced unless the embedded type implements the interface too.
//
// If there is no such method, Every fails the test at once.
func Every[F any](t testing.TB, target F, with F, opts ...Option) *Double[F] {
	t.Helper()
	d, err := prepare[F](opts, false)
	if err == nil {
		err = d.implementations(reflect.ValueOf(&target).Elem())
	}
	d.inForce(t, err, func() (F, error) { return with, nil })
	return d
}

// implementations makes all methods members of the double that may implement the method f of an
// interface.
func (d *double) implementations(f reflect.Value) error {
	defer coreQuiet(coreQuiet(true))
	if f.IsNil() {
		return fmt.Errorf("mock: Every: the target is a nil %v", f.Type())
	}
	symbol := runtime.FuncForPC(f.Pointer()).Name()
	name, t, ok := interfaceMethod(symbol, f, nil)
	switch {
	case !ok:
		return fmt.Errorf("mock: Every is for a method of an interface, such as io.Reader.Read, and %s is none", shown(symbol))
	case d.receiver != nil || d.implementation != nil:
		return fmt.Errorf("mock: Every replaces the method in all types; for one type give Replace the option Implementation or ForReceiver")
	}
	d.target = target{name: shown(symbol), value: f}
	d.method, d.iface = name, t
	for _, l := range list() {
		if l.reason != "" || !strings.HasSuffix(l.name, "."+name) {
			continue
		}
		m, err := find(l.pkg + "." + l.name)
		if err != nil {
			continue
		}
		if _, _, ok := m.method(); ok && m.checkMethod(d.typ) {
			d.members = append(d.members, member{fn: m.fn})
		}
	}
	if len(d.members) == 0 {
		return fmt.Errorf("%w: no type has a method with a hook that may implement %s: packages have hooks if FTRACE_PACKAGES, now %s, says so", ErrNotHooked, d.target.name, packages())
	}
	return nil
}

// A member is a function that a double replaces. Only the double of [Every] has several.
type member struct {
	fn     unsafe.Pointer // belongs to the core
	handle unsafe.Pointer // the replacement; belongs to the core, which sets it before that is in force
}

// member returns the member that a call of the target with these arguments reaches.
func (d *double) member(args []reflect.Value) *member {
	if d.iface == nil {
		return &d.members[0]
	}
	if owner := provider(args[0], d.method); owner.IsValid() {
		if t, err := find(methodSymbol(owner.Type(), d.method)); err == nil {
			for i := range d.members {
				if d.members[i].fn == t.fn {
					return &d.members[i]
				}
			}
		}
	}
	return nil
}

// implements reports whether a receiver's type implements the interface, the type itself or as a
// pointer.
func (d *double) implements(receiver any) bool {
	t := reflect.TypeOf(receiver)
	return t.Implements(d.iface) || reflect.PointerTo(t).Implements(d.iface)
}
