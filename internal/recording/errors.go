package recording

import (
	"reflect"
	"runtime"
	"strings"
	"syscall"
)

// The messages of errors are not recorded, since Error methods are the program's code. For the
// types below they are made from the fields.

// errorForms has the messages of structs to which pointers lead. %NAME is a field, a string;
// %"NAME" the same in quotes; %NAME! an error. The text before a field that is an error is left out
// if the error is nil.
var errorForms = map[string]string{
	"*errors.errorString":         "%s",
	"*fmt.wrapError":              "%msg",
	"*fmt.wrapErrors":             "%msg",
	"*fmt.fmtError":               "%s",
	"*fs.PathError":               "%Op %Path: %Err!",
	"*os.LinkError":               "%Op %Old %New: %Err!",
	"*os.SyscallError":            "%Syscall: %Err!",
	"*strconv.NumError":           `strconv.%Func: parsing %"Num": %Err!`,
	"*url.Error":                  `%Op %"URL": %Err!`,
	"*exec.Error":                 `exec: %"Name": %Err!`,
	"*json.SyntaxError":           "%msg",
	"*runtime.ftraceInjected":     "ftrace-wrap: injected failure of %name",
	"*net.AddrError":              "%Err",
	"*poll.DeadlineExceededError": "i/o timeout",
}

// A message consists of parts, of some of which only the beginning is known.
type message struct {
	text  []byte // known
	n     uint64 // the length of the part
	parts int
	chain []string // types of the errors that it wraps, from the outside in
}

func (m *message) add(s []byte, n uint64) {
	if uint64(len(m.text)) == m.n {
		m.text = append(m.text, s...)
	}
	m.n += n
}

func (m *message) str(s string) { m.add([]byte(s), uint64(len(s))) }

// err appends an error of type t with its message, or with its fields if they follow it. If it has
// neither, err returns false and has read nothing.
func (p *Printer) err(t *Type, has int, pointee bool) bool {
	data, cut := p.data, p.cut
	if p.format.Messages {
		var m message
		if p.message(&m, t, has, pointee) && !p.cut {
			p.str(t.Name)
			p.byte('(')
			if p.quiet == 0 {
				p.quote(m.text, m.n)
			}
			for _, typ := range m.chain {
				if typ != "*errors.errorString" && typ != "syscall.Errno" && !p.full() { // those are only messages
					p.str(" -> ")
					p.str(typ)
				}
			}
			p.byte(')')
			return true
		}
		p.data, p.cut = data, cut
	}
	elem := p.r.typ(t.Elem)
	if elem == nil || !pointee && !p.follows(t, has) {
		return false
	}
	if p.uint64() == 0 || p.uint32() != 1 || p.cut {
		p.data, p.cut = data, cut
		return false
	}
	p.str(t.Name)
	p.shallow(elem, 1)
	return true
}

// message reads an error and makes its message. If it can't, it returns false, and the values can't
// be read any further.
func (p *Printer) message(m *message, t *Type, has int, pointee bool) bool {
	if m.parts++; m.parts > 100 {
		return false
	}
	switch {
	case t.Name == "syscall.Errno" && t.Kind == reflect.Uintptr:
		if p.r.Process.GOOS != runtime.GOOS {
			return false
		}
		m.str(syscall.Errno(p.uint64()).Error())
		return true
	case t.Name == "runtime.errorString" && t.Kind == reflect.String:
		m.str("runtime error: ")
		n := p.uint32()
		m.add(p.bytes(n), uint64(n))
		return true
	case t.Name == "context.deadlineExceededError":
		m.str("context deadline exceeded")
		return true
	}
	form, ok := errorForms[t.Name]
	elem := p.r.typ(t.Elem)
	if !ok || elem == nil || elem.Kind != reflect.Struct || !pointee && !p.follows(t, has) {
		return false
	}
	if p.uint64() == 0 || p.uint32() != 1 {
		return false
	}
	deep := p.deep
	p.deep = false
	defer func() { p.deep = deep }()
	return p.form(m, form, elem, max(p.r.behind(deep && !pointee, p.nested), 1)-1)
}

// form makes a message from the fields of a struct, each of which has that many levels. form has
// them in their order.
func (p *Printer) form(m *message, form string, t *Type, has int) bool {
	chained := false
	for i := range t.Fields {
		f := &t.Fields[i]
		ft := p.r.typ(f.Type)
		if ft == nil {
			return false
		}
		before, after, found := cutField(form, f.Name)
		switch {
		case !found:
			chained = p.link(m, ft, has, chained)
			continue
		case ft.Kind == reflect.String:
			quoted := strings.HasSuffix(before, `%"`)
			m.str(strings.TrimSuffix(strings.TrimSuffix(before, `"`), "%"))
			n := p.uint32()
			s := p.bytes(n)
			if quoted {
				m.str(`"`)
				m.add(s, uint64(n))
				m.str(`"`)
				after = strings.TrimPrefix(after, `"`)
			} else {
				m.add(s, uint64(n))
			}
		case ft.Kind == reflect.Interface:
			number := p.uint32()
			if number == 0 {
				return !p.cut // os.PathError and the like would not be there
			}
			et := p.r.typ(number)
			if p.uint32() != 1 || et == nil {
				return false
			}
			m.str(strings.TrimSuffix(before, "%"))
			m.chain = append(m.chain, et.Name)
			if !p.message(m, et, -1, et.Kind == reflect.Pointer && et.Error) {
				return false
			}
			after = strings.TrimPrefix(after, "!")
		default:
			return false
		}
		form = after
	}
	m.str(form)
	return !p.cut
}

// link reads a field of an error that is in no message. If it is the first of type error, which
// chained says, the error in it and those that it wraps are noted.
func (p *Printer) link(m *message, t *Type, has int, chained bool) (now bool) {
	if chained || t.Kind != reflect.Interface || t.Name != "error" {
		p.quiet++
		p.value(t, has, 0)
		p.quiet--
		return chained
	}
	n := p.uint32()
	if n == 0 || p.cut {
		return true
	}
	present, et := p.uint32(), p.r.typ(n)
	if et == nil || present == 0 {
		p.cut = p.cut || et == nil
		return true
	}
	m.chain = append(m.chain, et.Name)
	elem := p.r.typ(et.Elem)
	if et.Kind != reflect.Pointer || !et.Error || elem == nil {
		p.quiet++
		p.typed(et, -1, 0, true, false, false)
		p.quiet--
		return true
	}
	p.uint64()
	if p.uint32() != 1 || p.cut {
		return true
	}
	inner := !et.Wraps
	for _, f := range elem.Fields {
		ft := p.r.typ(f.Type)
		if ft == nil {
			p.cut = true
			return true
		}
		inner = p.link(m, ft, 0, inner)
	}
	return true
}

// cutField splits a form around %NAME or %"NAME". before ends in % or %".
func cutField(form, name string) (before, after string, found bool) {
	for _, mark := range []string{"%", `%"`} {
		i := strings.Index(form, mark+name)
		if i < 0 {
			continue
		}
		rest := form[i+len(mark)+len(name):]
		if rest == "" || strings.IndexByte(" :!\"", rest[0]) >= 0 {
			return form[:i+len(mark)], rest, true
		}
	}
	return "", "", false
}
