// Package doubles records calls that become doubles. The program that "ftrace-wrap test
// -record-doubles" builds uses it; nobody else needs to. Package mock replays such calls.
package doubles

import (
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/kept"
	"github.com/ftrace-wrap/ftrace-wrap/internal/redact"
	"github.com/ftrace-wrap/ftrace-wrap/mock"
	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

// A Border says which calls are recorded.
type Border struct {
	Package   string            // import path of the package that gets the doubles
	Redact    string            // which names are secret, as package redact has them
	Errors    map[string]*error // variables with errors, by their import path and name
	Functions []Function
	Watch     []func(r *Recorder) // what else records; package mock/doubles/sqlrecord has one such
}

// A Function is a function whose calls are recorded.
type Function struct {
	Watch  func(r *Recorder, number int) // made by Around or Every
	Secret []bool                        // of its arguments, then its results: which are hidden
	Skip   []bool                        // of its arguments: which are not looked at
}

// A Recorder records calls.
type Recorder struct {
	Border
	mu     sync.Mutex
	inside map[uint64]int // in how many calls a goroutine is
	out    sync.Mutex
	to     *gob.Encoder
}

// Record records calls of functions to a new file from now on, on all goroutines. What such a
// function itself calls is not recorded. If calls can't be recorded, Record ends the program with a
// message.
func Record(file string, border Border) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		fail(err)
	}
	r := &Recorder{Border: border, to: gob.NewEncoder(f), inside: map[uint64]int{}}
	kept.Recording.Store(true)
	for i, function := range border.Functions {
		function.Watch(r, i)
	}
	for _, watch := range border.Watch {
		watch(r)
	}
}

// Program stands for a test: what it has replaced stays so to the program's end. It is for those
// that Watch has.
func Program() testing.TB { return program{} }

// Tolerate is deferred around a replacement that is made for [Program]: it reports functions
// without hooks, which are not recorded.
func Tolerate() {
	switch p := recover().(type) {
	case nil:
	case noHook:
		fmt.Fprintf(os.Stderr, "ftrace-wrap: not recorded: %s\n", p.why)
	default:
		panic(p)
	}
}

// Value takes a value apart.
func (r *Recorder) Value(v any, secret bool) *kept.Value { return r.value(v, secret) }

// Secret reports whether all values of v's type are hidden, by its name.
func (r *Recorder) Secret(v any) bool {
	return v != nil && (&taker{Border: &r.Border}).secretType(reflect.TypeOf(v))
}

// Statement writes what was said to a database.
func (r *Recorder) Statement(s *kept.Statement[*kept.Value]) { r.encode(&call{Statement: s}) }

func (r *Recorder) encode(c *call) {
	r.out.Lock()
	defer r.out.Unlock()
	if err := r.to.Encode(c); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "ftrace-wrap: recording doubles: %v\n", err)
	os.Exit(2)
}

// program stands for a test: what is in force stays so to the program's end.
type program struct{ testing.TB }

func (program) Helper()        {}
func (program) Cleanup(func()) {}

// Fatal is called for functions without hooks. Tests can't replace them either.
func (program) Fatal(args ...any) { panic(noHook{fmt.Sprint(args...)}) }

type noHook struct{ why string }

// Around records the calls of a function.
func Around[F any](target F) func(r *Recorder, number int) {
	return func(r *Recorder, number int) {
		defer Tolerate()
		mock.Around(program{}, target, func(original F) F { return around(r, number, original) }, mock.AllGoroutines(), mock.Unrecorded())
	}
}

// Every records the calls of an interface's method.
func Every[F any](target F) func(r *Recorder, number int) {
	return func(r *Recorder, number int) {
		defer Tolerate()
		in := make([]reflect.Type, reflect.TypeFor[F]().NumIn())
		for i := range in {
			in[i] = reflect.TypeFor[F]().In(i)
		}
		predicate := reflect.FuncOf(in, []reflect.Type{reflect.TypeFor[bool]()}, reflect.TypeFor[F]().IsVariadic())
		outside := reflect.MakeFunc(predicate, func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.ValueOf(!r.within())} })
		// The replacement calls the method again, within a call then, and so the method itself.
		mock.Every(program{}, target, around(r, number, target), mock.When(outside.Interface()), mock.AllGoroutines(), mock.Unrecorded())
	}
}

// around returns a function that records a call and makes it.
func around[F any](r *Recorder, number int, original F) F {
	function := reflect.ValueOf(original)
	record := func(args []reflect.Value) (results []reflect.Value) {
		call := r.begin(number, interfaces(args))
		returned := false
		defer func() { r.end(call, interfaces(args), interfaces(results), !returned) }()
		if function.Type().IsVariadic() {
			results = function.CallSlice(args)
		} else {
			results = function.Call(args)
		}
		returned = true
		return results
	}
	return reflect.MakeFunc(function.Type(), record).Interface().(F)
}

func interfaces(values []reflect.Value) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v.Interface()
	}
	return list
}

type call = kept.Call[*kept.Value]

// begin returns a call that begins, or nil if it is made within another one.
func (r *Recorder) begin(number int, args []any) *call {
	g := ftrace.Goroutine()
	r.mu.Lock()
	r.inside[g]++
	outermost := r.inside[g] == 1
	r.mu.Unlock()
	if !outermost {
		return nil
	}
	return &call{Function: number, Args: r.arguments(number, args)}
}

// within reports whether the goroutine is in a call.
func (r *Recorder) within() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inside[ftrace.Goroutine()] > 0
}

// end writes a call that ends.
func (r *Recorder) end(c *call, args, results []any, panicked bool) {
	if c != nil {
		r.write(c, args, results, panicked)
	}
	g := ftrace.Goroutine()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inside[g]--; r.inside[g] == 0 {
		delete(r.inside, g)
	}
}

func (r *Recorder) write(c *call, args, results []any, panicked bool) {
	if panicked {
		c.Lack = "it ended in a panic"
	} else {
		for i, now := range r.arguments(c.Function, args) {
			if !isRequest(args[i]) && !reflect.DeepEqual(now, c.Args[i]) {
				c.Lack = fmt.Sprintf("it changes what its argument %d leads to", i+1)
			}
		}
		for i, v := range results {
			c.Results = append(c.Results, r.value(v, r.Functions[c.Function].Secret[len(args)+i]))
		}
	}
	r.encode(c)
}

func (r *Recorder) arguments(function int, args []any) (values []*kept.Value) {
	f := &r.Functions[function]
	for i, v := range args {
		if f.Skip[i] {
			values = append(values, &kept.Value{Lack: "it is not looked at"})
		} else {
			values = append(values, r.value(v, f.Secret[i]))
		}
	}
	return values
}

func (r *Recorder) value(v any, secret bool) *kept.Value {
	t := &taker{Border: &r.Border, left: valuesMax, under: map[unsafe.Pointer]bool{}}
	return t.dynamic(reflect.ValueOf(v), secret)
}

// How much of an argument or a result is recorded.
const (
	valuesMax = 10_000
	bytesMax  = 1 << 20
)

// A taker takes a value apart.
type taker struct {
	*Border
	left  int                     // how many values more
	under map[unsafe.Pointer]bool // pointers that lead to the value
}

const hidden = "it is hidden, since its name says that it is a secret"

// dynamic takes what an interface holds, or a value of which only the type is known.
func (t *taker) dynamic(v reflect.Value, secret bool) *kept.Value {
	if !v.IsValid() {
		return &kept.Value{Nil: true}
	}
	if err, ok := v.Interface().(error); ok && v.Kind() != reflect.Pointer && v.Comparable() && !secret {
		for name, variable := range t.Errors {
			if *variable == err && v.Type().Size() == 0 { // others may be equal without being meant
				return &kept.Value{Type: &kept.Type{Kind: v.Kind(), Name: v.Type().String()}, Variable: name}
			}
		}
	}
	known := reflect.New(v.Type()).Elem() // has an address, by which fields that are not exported are read
	known.Set(v)
	return t.take(known, secret)
}

func (t *taker) take(v reflect.Value, secret bool) *kept.Value {
	typ := v.Type()
	if !v.CanInterface() {
		v = reflect.NewAt(typ, v.Addr().UnsafePointer()).Elem()
	}
	d := &kept.Value{Type: &kept.Type{Kind: typ.Kind(), Name: typ.String()}}
	t.left--
	switch {
	case secret || t.secretType(typ):
		d.Type.Secret, d.Lack = true, hidden
		return d
	case t.left < 0:
		d.Lack = fmt.Sprintf("it has more than %d parts", valuesMax)
		return d
	}
	if typ == reflect.TypeFor[time.Time]() {
		t.time(d, v)
		return d
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			d.Number = 1
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		d.Number = uint64(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		d.Number = v.Uint()
	case reflect.Float32, reflect.Float64:
		d.Float = complex(v.Float(), 0)
	case reflect.Complex64, reflect.Complex128:
		d.Float = v.Complex()
	case reflect.String:
		t.text(d, v.String())
	case reflect.Slice:
		if d.Nil = v.IsNil(); d.Nil {
			break
		}
		if typ.Elem() == reflect.TypeFor[byte]() {
			t.text(d, string(v.Bytes()))
			break
		}
		if !t.enter(d, v) {
			break
		}
		t.elements(d, v)
		delete(t.under, v.UnsafePointer())
	case reflect.Array:
		t.elements(d, v)
	case reflect.Map:
		t.mapping(d, v)
	case reflect.Struct:
		if fields, ok := message(typ); ok {
			t.http(d, v, fields)
			break
		}
		for i := range v.NumField() {
			f := typ.Field(i)
			if f.PkgPath != "" && f.PkgPath != t.Package { // it can't be set: all that counts is whether it must be
				d.Type.Fields = append(d.Type.Fields, kept.Field{Name: f.Name})
				d.Parts = append(d.Parts, &kept.Value{Type: &kept.Type{}, Nil: v.Field(i).IsZero()})
				continue
			}
			d.Type.Fields = append(d.Type.Fields, kept.Field{Name: f.Name})
			d.Parts = append(d.Parts, t.take(v.Field(i), t.secretField(v, f.Name)))
		}
	case reflect.Pointer:
		t.pointer(d, v)
	case reflect.Interface:
		d.Parts = []*kept.Value{t.dynamic(v.Elem(), false)}
	default:
		if v.Kind() == reflect.UnsafePointer || !v.IsNil() {
			d.Lack = "it is a " + v.Kind().String()
		} else {
			d.Nil = true
		}
	}
	return d
}

// secretType reports whether values of a type are hidden.
func (t *taker) secretType(typ reflect.Type) bool {
	switch k := typ.Kind(); {
	case typ.Implements(reflect.TypeFor[error]()), typ.Name() == "":
		return false
	case k == reflect.String, k == reflect.Struct, k == reflect.Slice && typ.Elem().Kind() == reflect.Uint8:
		return redact.Secret(t.Redact, typ.Name())
	}
	return false
}

// enter reports whether a value does not lead back to itself, which its elements then may.
func (t *taker) enter(d *kept.Value, v reflect.Value) bool {
	p := v.UnsafePointer()
	if t.under[p] {
		d.Lack = "it leads back to itself"
		return false
	}
	t.under[p] = true
	return true
}

func (t *taker) text(d *kept.Value, s string) {
	if len(s) > bytesMax {
		d.Lack = fmt.Sprintf("it has %d bytes, of which none are recorded if there are more than %d", len(s), bytesMax)
		return
	}
	d.Text = s
}

func (t *taker) elements(d *kept.Value, v reflect.Value) {
	for i := range v.Len() {
		d.Parts = append(d.Parts, t.take(v.Index(i), false))
	}
}

// mapping takes a map: its keys, sorted, each with its value after it.
func (t *taker) mapping(d *kept.Value, v reflect.Value) {
	if d.Nil = v.IsNil(); d.Nil || !t.enter(d, v) {
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		switch {
		case a.CanInt() && b.CanInt():
			return cmp.Compare(a.Int(), b.Int())
		case a.CanUint() && b.CanUint():
			return cmp.Compare(a.Uint(), b.Uint())
		case a.Kind() == reflect.String && b.Kind() == reflect.String:
			return strings.Compare(a.String(), b.String())
		}
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
	for _, key := range keys {
		secret := key.Kind() == reflect.String && redact.Secret(t.Redact, key.String())
		d.Parts = append(d.Parts, t.dynamic(key, false), t.dynamic(v.MapIndex(key), secret))
	}
	delete(t.under, v.UnsafePointer())
}

// pointer takes a pointer with what it leads to. An error that a variable holds is that variable.
func (t *taker) pointer(d *kept.Value, v reflect.Value) {
	if d.Nil = v.IsNil(); d.Nil || !t.enter(d, v) {
		return
	}
	if err, ok := v.Interface().(error); ok {
		for name, variable := range t.Errors {
			if at := reflect.ValueOf(*variable); at.IsValid() && at.Type() == v.Type() && at.Pointer() == v.Pointer() && (d.Variable == "" || name < d.Variable) {
				d.Variable = name
			}
		}
		if d.Variable == "" && isMessage(v.Type()) {
			d.Message, d.HasMessage = err.Error(), true
			if inner := errors.Unwrap(err); inner != nil {
				d.Parts = []*kept.Value{t.dynamic(reflect.ValueOf(inner), false)}
				if at := strings.LastIndex(d.Message, inner.Error()); at >= 0 {
					escape := func(s string) string { return strings.ReplaceAll(s, "%", "%%") }
					d.Text = escape(d.Message[:at]) + "%w" + escape(d.Message[at+len(inner.Error()):])
				}
			}
		}
	}
	if d.Variable == "" && !d.HasMessage {
		d.Parts = []*kept.Value{t.take(v.Elem(), false)}
	}
	delete(t.under, v.UnsafePointer())
}

// isMessage reports whether errors of a type of Go's packages are made of a message, and perhaps an
// error that they wrap.
func isMessage(t reflect.Type) bool {
	switch t.String() {
	case "*errors.errorString", "*fmt.wrapError", "*fmt.errorString":
		return true
	}
	return false
}

// time takes an instant: its text, and where it is if that can be told.
func (t *taker) time(d *kept.Value, v reflect.Value) {
	at := v.Interface().(time.Time)
	if at.Location() == time.Local {
		at = at.UTC()
	}
	d.Text = fmt.Sprintf("%d, %d, %d, %d, %d, %d, %d", at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond())
	name, offset := at.Zone()
	switch {
	case at == time.Time{}:
		d.Text = "0"
	case v.Interface().(time.Time).Location() == time.Local:
		d.Text += ", UTC).Local("
	case at.Location() == time.UTC:
		d.Text += ", UTC"
	case at.Location().String() == name:
		d.Text += fmt.Sprintf(", FixedZone(%q, %d)", name, offset)
	default:
		d.Lack = fmt.Sprintf("it is a time in the zone %s, which has no literal", at.Location())
	}
}
