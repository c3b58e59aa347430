package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A nestedValue is one of a nested column, or a part of one.
type nestedValue struct {
	there  bool
	number int64
	text   []byte
	parts  []nestedValue
}

// part returns a field's value.
func (v *nestedValue) part(i int) *nestedValue {
	if !v.there || i >= len(v.parts) {
		return &nestedValue{}
	}
	return &v.parts[i]
}

// fieldsOf sets a value to fields, whose data are at these places. It reports whether all that was
// recorded of them is there.
func fieldsOf(fields []recording.Shape, places []int, data []*recording.Datum, v *nestedValue) (whole bool) {
	v.there, v.parts, whole = true, make([]nestedValue, len(fields)), true
	for i := range fields {
		if places[i] >= 0 && places[i] < len(data) {
			whole = valueOf(&fields[i], data[places[i]], &v.parts[i]) && whole
		}
	}
	return whole
}

// valueOf sets a value to what was recorded of it. It reports whether that is all. What is not
// whole is not there, or some of its parts are not.
func valueOf(s *recording.Shape, d *recording.Datum, v *nestedValue) (whole bool) {
	if s.Kind == recording.ShapeAny {
		return anyValue(d, v)
	}
	if s.Pointer && !d.Nil {
		if len(d.Parts) == 0 {
			return false
		}
		d = d.Parts[0]
	}
	switch s.Kind {
	case recording.ShapeAddress, recording.ShapeFunc, recording.ShapeLength, recording.ShapeText, recording.ShapeTime:
		whole = d.Lack != recording.LackRoom // else there is never more
	default:
		whole = d.Lack == ""
	}
	if v.there = whole && !d.Nil; !v.there {
		return whole
	}
	v.number, v.text = int64(d.Number), []byte(d.Text)
	switch s.Kind {
	case recording.ShapeNamed:
		v.text = []byte(cmp.Or(d.Type.Names[v.number], integer(d)))
	case recording.ShapeAddress:
		v.text = []byte(address(d))
	case recording.ShapeFunc:
		v.text = []byte(cmp.Or(d.Text, address(d)))
	case recording.ShapeFloat:
		v.number = int64(math.Float64bits(float(d)))
	case recording.ShapeComplex:
		v.parts = []nestedValue{
			{there: true, number: int64(math.Float64bits(real(d.Float)))}, {there: true, number: int64(math.Float64bits(imag(d.Float)))},
		}
	case recording.ShapeString, recording.ShapeText:
		v.text = validBytes(v.text)
	case recording.ShapeTime:
		t, err := time.Parse(time.RFC3339Nano, d.Text)
		if v.there = err == nil; !v.there {
			return false
		}
		v.number = t.UnixMicro()
	case recording.ShapeStruct:
		v.parts = make([]nestedValue, len(s.Parts))
		for i := range s.Parts {
			whole = s.Parts[i].Place < len(d.Parts) && valueOf(&s.Parts[i], d.Parts[s.Parts[i].Place], &v.parts[i]) && whole
		}
	case recording.ShapeList:
		v.parts = make([]nestedValue, len(d.Parts))
		for i := range d.Parts {
			whole = valueOf(&s.Parts[0], d.Parts[i], &v.parts[i]) && whole
		}
	}
	return whole
}

// float returns a floating-point number: of 32 bits the one that has the same decimal digits.
func float(d *recording.Datum) float64 {
	f := real(d.Float)
	if d.Type.Kind == reflect.Float32 {
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
	}
	return f
}

// anyValue sets a value of any type: its type, and itself as JSON.
func anyValue(d *recording.Datum, v *nestedValue) (whole bool) {
	d = within(d)
	if v.there = d.Type != nil && (d.Type.Kind != reflect.Interface || !d.Nil); !v.there {
		return d.Nil
	}
	v.parts = make([]nestedValue, 2)
	v.parts[0] = nestedValue{there: true, text: []byte(d.Type.Name)}
	text, whole := appendDatum(nil, d)
	if whole {
		v.parts[1] = nestedValue{there: true, text: text}
	}
	return whole
}

// appendDatum appends a value as JSON. It reports whether that is all that recordings have of such
// values.
func appendDatum(b []byte, d *recording.Datum) (_ []byte, whole bool) {
	d = within(d)
	if d.Nil || d.Type == nil {
		return append(b, "null"...), d.Nil && d.Lack == ""
	}
	t, whole := d.Type, true
	switch k := t.Kind; {
	case t.Secret:
		return appendString(b, recording.Hidden), true
	case d.Lack == recording.LackLevel:
		return append(b, "null"...), true
	case d.HasMessage:
		return appendString(b, d.Message), true
	case d.Lack == recording.LackRoom:
		return append(b, "null"...), false
	case t.Text && len(d.Parts) == 0:
		return appendString(b, d.Text), true
	case k == reflect.Pointer && len(d.Parts) == 1:
		return appendDatum(b, d.Parts[0])
	case k == reflect.Pointer || k == reflect.UnsafePointer:
		return appendString(b, address(d)), true
	case k == reflect.Func:
		return appendString(b, cmp.Or(d.Text, address(d))), true
	case k == reflect.Map || k == reflect.Chan:
		return strconv.AppendUint(b, d.Number, 10), true
	case d.Lack != "":
		return append(b, "null"...), false
	case k == reflect.Bool:
		return strconv.AppendBool(b, d.Number != 0), true
	case k >= reflect.Int && k <= reflect.Uintptr:
		if name := t.Names[int64(d.Number)]; name != "" {
			return appendString(b, name), true
		}
		return append(b, integer(d)...), true
	case k == reflect.Float32 || k == reflect.Float64:
		return appendFloat(b, real(d.Float), int(8*t.Size)), true
	case k == reflect.Complex64 || k == reflect.Complex128:
		b = appendFloat(append(b, '['), real(d.Float), int(4*t.Size))
		return append(appendFloat(append(b, ','), imag(d.Float), int(4*t.Size)), ']'), true
	case k == reflect.Struct:
		b = append(b, '{')
		for i, part := range d.Parts {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, t.Fields[i].Name), ':')
			var all bool
			b, all = appendDatum(b, part)
			whole = whole && all
		}
		return append(b, '}'), whole
	case k == reflect.Slice && d.Parts == nil, k == reflect.String:
		return appendString(b, d.Text), true
	}
	b = append(b, '[')
	for i, part := range d.Parts {
		if i > 0 {
			b = append(b, ',')
		}
		var all bool
		b, all = appendDatum(b, part)
		whole = whole && all
	}
	return append(b, ']'), whole
}

// address returns an address as traces have it.
func address(d *recording.Datum) string { return "0x" + strconv.FormatUint(d.Number, 16) }

// integer returns an integer.
func integer(d *recording.Datum) string {
	if d.Type.Kind <= reflect.Int64 {
		return strconv.FormatInt(int64(d.Number), 10)
	}
	return strconv.FormatUint(d.Number, 10)
}

// appendFloat appends a number of so many bits as JSON, or text if JSON has no such number.
func appendFloat(b []byte, f float64, bits int) []byte {
	text := strconv.FormatFloat(f, 'g', -1, bits)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.AppendQuote(b, text)
	}
	return append(b, text...)
}

// appendString appends text as JSON.
func appendString(b []byte, text string) []byte {
	to := bytes.NewBuffer(b)
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	enc.Encode(text) // it can't fail
	return bytes.TrimSuffix(to.Bytes(), []byte("\n"))
}
