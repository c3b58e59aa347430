package mock

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// check returns what is wrong with a replacement of type f for this target, as far as the target's
// source shows it. Types of other packages, which may be aliases, and what the source leaves to the
// compiler are checked when the function is called.
func (t *target) check(f reflect.Type) error {
	m := matcher{text: t.typ, pkg: t.pkg}
	if m.text == "" || m.match(f) {
		return nil
	}
	return fmt.Errorf("mock: %s is a\n\t%s\nthe replacement is a\n\t%v", t.name, strings.NewReplacer(",", ", ", ")(", ") (").Replace(t.typ), f)
}

// checkMethod reports whether the target may be a method that implements an interface's method of
// type f, whose first parameter is the receiver.
func (t *target) checkMethod(f reflect.Type) bool {
	_, params, _ := strings.Cut(t.typ, "(")
	end := strings.IndexAny(params, ",)")
	if end < 0 {
		return false
	}
	m := matcher{text: strings.TrimPrefix(params[end:], ","), pkg: t.pkg}
	return m.function(f, 1) && m.text == ""
}

// A matcher compares the text of a type, as package rewrite writes it, with a type.
type matcher struct {
	text string // what is left
	pkg  string // whose types have no package in the text
}

// take takes a prefix off the text.
func (m *matcher) take(prefix string) bool {
	rest, ok := strings.CutPrefix(m.text, prefix)
	if ok {
		m.text = rest
	}
	return ok
}

// word is take for a whole name.
func (m *matcher) word(word string) bool {
	rest, ok := strings.CutPrefix(m.text, word)
	if ok = ok && (rest == "" || strings.IndexByte(",)]", rest[0]) >= 0); ok {
		m.text = rest
	}
	return ok
}

// match takes a type off the text and reports whether t is, or may be, that type.
func (m *matcher) match(t reflect.Type) bool {
	kind := t.Kind()
	if t.Name() != "" {
		kind = reflect.Invalid
	}
	switch {
	case m.word("_"):
		return true
	case m.take("*"):
		return kind == reflect.Pointer && m.match(t.Elem())
	case m.take("[]"):
		return kind == reflect.Slice && m.match(t.Elem())
	case m.take("["):
		n, rest, _ := strings.Cut(m.text, "]")
		m.text = rest
		return kind == reflect.Array && strconv.Itoa(t.Len()) == n && m.match(t.Elem())
	case m.take("map["):
		return kind == reflect.Map && m.match(t.Key()) && m.take("]") && m.match(t.Elem())
	case m.take("chan<- "):
		return kind == reflect.Chan && t.ChanDir() == reflect.SendDir && m.match(t.Elem())
	case m.take("<-chan "):
		return kind == reflect.Chan && t.ChanDir() == reflect.RecvDir && m.match(t.Elem())
	case m.take("chan "):
		return kind == reflect.Chan && t.ChanDir() == reflect.BothDir && m.match(t.Elem())
	case m.take("func("):
		return kind == reflect.Func && m.function(t, 0)
	case m.word("any"):
		return kind == reflect.Interface && t.NumMethod() == 0
	case m.take("struct{}"):
		return kind == reflect.Struct && t.NumField() == 0
	}
	return m.named(t)
}

// function is match after "func(", or after the parameters before the first.
func (m *matcher) function(t reflect.Type, first int) bool {
	for i := first; i < t.NumIn(); i++ {
		in := t.In(i)
		if i > first && !m.take(",") {
			return false
		}
		if m.take("...") {
			if !t.IsVariadic() || i != t.NumIn()-1 {
				return false
			}
			in = in.Elem()
		} else if t.IsVariadic() && i == t.NumIn()-1 {
			return false
		}
		if !m.match(in) {
			return false
		}
	}
	if !m.take(")") {
		return false
	}
	for i := range t.NumOut() {
		if !m.take(map[bool]string{true: "(", false: ","}[i == 0]) || !m.match(t.Out(i)) {
			return false
		}
	}
	return t.NumOut() == 0 && !strings.HasPrefix(m.text, "(") || t.NumOut() > 0 && m.take(")")
}

// named is match for a name. Types of other packages may be aliases.
func (m *matcher) named(t reflect.Type) bool {
	end := strings.IndexAny(m.text, ",)]")
	if end < 0 {
		end = len(m.text)
	}
	name := m.text[:end]
	m.text = m.text[end:]
	return strings.ContainsRune(name, '.') || t.Name() == name && (t.PkgPath() == "" || t.PkgPath() == m.pkg)
}
