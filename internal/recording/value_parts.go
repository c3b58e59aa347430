package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// A Value is one of the values of an event, or a part of one.
type Value struct {
	Name  string // of a field too; of an element [0], [1] and so on
	Type  string
	Text  string  // as lines have it
	Parts []Value // of Structured: the fields of a struct, behind a pointer too, or elements

	form  form
	plain string // of a string
	cut   bool   // some fields are missing
}

// A form is what JSON makes of a value.
type form uint8

const (
	formText   form = iota // a string, the text of a line
	formNumber             // a number, true or false: the text as it is
	formString             // a string: itself
	formObject             // a struct: an object
	formNil                // null
)

// MarshalJSON has numbers, booleans and strings as themselves and structs as objects, as lines of
// FTRACE_FORMAT=json do.
func (v Value) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	if v.Name != "" {
		b.WriteString(`"name":`)
		appendJSON(&b, v.Name)
		b.WriteByte(',')
	}
	b.WriteString(`"type":`)
	appendJSON(&b, v.Type)
	b.WriteString(`,"value":`)
	v.appendValue(&b)
	b.WriteByte('}')
	return b.Bytes(), nil
}

// AppendJSON appends values as JSON: an array if none of them has a name, else an object. A value
// without a name is called by its place there, from 0 on, and of several with one name, such as _,
// the later ones have their places behind it.
func AppendJSON(dst []byte, values []Value) []byte {
	b := bytes.NewBuffer(dst)
	named := slices.ContainsFunc(values, func(v Value) bool { return v.Name != "" })
	open, closed := byte('['), byte(']')
	if named {
		open, closed = '{', '}'
	}
	b.WriteByte(open)
	for i := range values {
		if i > 0 {
			b.WriteByte(',')
		}
		if named {
			name := values[i].Name
			if name == "" || slices.ContainsFunc(values[:i], func(v Value) bool { return v.Name == name }) {
				name += strconv.Itoa(i)
			}
			appendJSON(b, name)
			b.WriteByte(':')
		}
		values[i].appendValue(b)
	}
	b.WriteByte(closed)
	return b.Bytes()
}

func (v *Value) appendValue(b *bytes.Buffer) {
	switch v.form {
	case formNumber:
		b.WriteString(v.Text)
	case formNil:
		b.WriteString("null")
	case formString:
		appendJSON(b, v.plain)
	case formObject:
		b.WriteByte('{')
		for i := range v.Parts {
			if i > 0 {
				b.WriteByte(',')
			}
			appendJSON(b, v.Parts[i].Name)
			b.WriteByte(':')
			v.Parts[i].appendValue(b)
		}
		if v.cut {
			if len(v.Parts) > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"...":true`)
		}
		b.WriteByte('}')
	default:
		appendJSON(b, v.Text)
	}
}

func appendJSON(b *bytes.Buffer, s string) {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // it can't fail
	b.Truncate(b.Len() - 1)
}

// partsOf is a value whose parts are noted while it is appended.
type partsOf struct {
	parts []Value
	lacks bool   // fields
	plain string // the last string
}

// Structured returns the values of an event with their parts.
func (p *Printer) Structured(e *Event, names []Param) []Value {
	all := &partsOf{}
	p.parts = all
	p.Each(e, names, func(_, typ string, _ []byte) { all.parts[len(all.parts)-1].Type = typ })
	p.parts = nil
	return all.parts
}

// open begins a part, if parts are wanted and it is shown. It returns what it is a part of.
func (p *Printer) open(name string) (within *partsOf) {
	if p.parts == nil || p.quiet > 0 {
		return nil
	}
	within = p.parts
	within.parts = append(within.parts, Value{Name: name})
	p.parts = &partsOf{}
	return within
}

// openElement is open for an element of a slice or an array.
func (p *Printer) openElement(i int) (within *partsOf) {
	if p.parts == nil || p.quiet > 0 {
		return nil
	}
	return p.open("[" + strconv.Itoa(i) + "]")
}

// close ends the part of within that was opened last. It is of type t, nil if the text has the type
// or there is none. Its text begins at dst[from].
func (p *Printer) close(within *partsOf, t *Type, from int) {
	if within == nil {
		return
	}
	made := p.parts
	p.parts = within
	v := &within.parts[len(within.parts)-1]
	v.Text, v.Parts, v.cut = string(p.dst[from:]), made.parts, made.lacks
	if t != nil {
		v.Type = t.Name
	}
	v.form = formOf(t, v.Text)
	if v.form == formString {
		v.plain = made.plain
	}
}

// formOf returns what JSON makes of a value of type t with this text.
func formOf(t *Type, text string) form {
	switch {
	case (t == nil || t.Kind == reflect.Interface) && text == "nil":
		return formNil
	case t == nil || t.Text || t.Secret || text == "":
		return formText
	}
	first, last := text[0], text[len(text)-1]
	switch k := t.Kind; {
	case k == reflect.Bool && last == 'e':
		return formNumber
	case k >= reflect.Int && k <= reflect.Float64 && k != reflect.Uintptr && (first == '-' || first >= '0' && first <= '9') && last >= '0' && last <= '9':
		return formNumber
	case k == reflect.String && first == '"':
		return formString
	case (k == reflect.Struct || k == reflect.Pointer && strings.HasPrefix(text, "&{")) && !strings.HasSuffix(text, "{...}"):
		return formObject
	}
	return formText
}

// cut notes that fields are missing.
func (parts *partsOf) cut() {
	if parts != nil {
		parts.lacks = true
	}
}

// string notes s, the beginning of a string of n bytes, as JSON has it: cut at a limit.
func (parts *partsOf) string(s []byte, n uint64, limit int) {
	if parts == nil {
		return
	}
	text := unsafe.String(unsafe.SliceData(s), len(s))
	shown := min(len(s), limit)
	if uint64(shown) < n {
		shown = escape.Cut(text, shown)
	}
	parts.plain = strings.ToValidUTF8(text[:shown], "\uFFFD")
	if uint64(shown) < n {
		parts.plain += fmt.Sprintf("...(%d more)", n-uint64(shown))
	}
}
