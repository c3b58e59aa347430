package doubles

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/kept"
	"github.com/ftrace-wrap/ftrace-wrap/internal/redact"
)

// messages are the types of HTTP's messages, with the fields that are recorded. A package that does
// not use net/http is not to depend on it.
var messages = map[string][]string{
	"Request":  {"Method", "URL", "Body"},
	"Response": {"Status", "StatusCode", "Proto", "ProtoMajor", "ProtoMinor", "Header", "Body", "ContentLength", "Uncompressed"},
}

// message returns which fields are recorded if a type is that of an HTTP message.
func message(t reflect.Type) (fields []string, ok bool) {
	if t.PkgPath() != "net/http" {
		return nil, false
	}
	fields, ok = messages[t.Name()]
	return fields, ok
}

// isRequest reports whether a value is a request, whose body a call reads.
func isRequest(v any) bool { return v != nil && reflect.TypeOf(v).String() == "*http.Request" }

// http takes an HTTP message. Its body is read, and replaced by one with the same content.
func (t *taker) http(d *kept.Value, v reflect.Value, fields []string) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		part := &kept.Value{Type: &kept.Type{}, Nil: true}
		switch {
		case !slices.Contains(fields, f.Name):
		case f.Name == "Body":
			part = t.body(v)
		default:
			part = t.take(v.Field(i), redact.Secret(t.Redact, f.Name))
		}
		d.Type.Fields, d.Parts = append(d.Type.Fields, kept.Field{Name: f.Name}), append(d.Parts, part)
	}
}

// body takes the body of an HTTP message.
func (t *taker) body(message reflect.Value) *kept.Value {
	f := message.FieldByName("Body")
	d := &kept.Value{Type: &kept.Type{Kind: reflect.Interface}, Parts: []*kept.Value{{Nil: true}}}
	body, _ := f.Interface().(io.ReadCloser)
	if body == nil {
		return d
	}
	d.Parts[0] = &kept.Value{Type: &kept.Type{Kind: reflect.Struct, Name: kept.Stream}}
	if f.Elem().Type().String() == "http.noBody" {
		return d
	}
	if status := message.FieldByName("StatusCode"); status.IsValid() {
		header := fmt.Sprint(message.FieldByName("Header").MapIndex(reflect.ValueOf("Content-Type")))
		if status.Int() == 101 || strings.Contains(header, "event-stream") {
			d.Parts[0].Lack = "it is a stream that need not end"
			return d
		}
	}
	data, err := io.ReadAll(body)
	rest := io.Reader(bytes.NewReader(data))
	if err != nil {
		d.Parts[0].Lack = "it could not be read: " + err.Error()
		rest = io.MultiReader(rest, failing{err})
	}
	f.Set(reflect.ValueOf(struct {
		io.Reader
		io.Closer
	}{rest, body}))
	if d.Parts[0].Lack == "" {
		t.text(d.Parts[0], string(data))
	}
	return d
}

// A failing reader fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// secretField reports whether a field is hidden: by its name, or since it is what a URL has of a
// user, or its parameters, of which one is secret.
func (t *taker) secretField(v reflect.Value, name string) bool {
	u, ok := v.Interface().(url.URL)
	switch {
	case !ok:
		return redact.Secret(t.Redact, name)
	case name == "User":
		return u.User != nil && t.Redact != ""
	case name != "RawQuery":
		return false
	}
	for parameter := range u.Query() {
		if redact.Secret(t.Redact, parameter) {
			return true
		}
	}
	return false
}
