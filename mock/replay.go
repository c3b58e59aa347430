package mock

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
	"github.com/ftrace-wrap/ftrace-wrap/internal/kept"
)

// Any is the type of an argument in a recorded call that [Replay] does not compare.
type Any struct{}

// Replay replaces a function by what was recorded of it, until the test ends. "ftrace-wrap test
// -record-doubles" makes the calls of Replay, and the functions that return what was recorded.
//
//	type getCall struct {
//		S   mock.Any // not compared
//		ID  int
//		Got *User
//		Err error
//	}
//
//	mock.Replay(t, (*Store).Get, func() []getCall { return []getCall{{ID: 1, Got: &User{Name: "Ada"}}} })
//
// C is a struct with a field for each argument, the receiver first, and then one for each result.
// All are exported. A call is answered by the recorded call whose arguments are the same; by the
// next of these each time, and by the last of them from then on. What pointers, slices, maps and
// interfaces lead to is compared, and times are by [time.Time.Equal]. Each answer is made anew, by
// a call of calls.
//
// A call that was not recorded is an error of the test. It returns zero values, but an error that
// says so if its last result is one. With the option [Lenient] it is logged, and goes to the
// function. Both show the recorded call that is nearest, and how it differs.
//
// target is as for [Replace]. If it is a method of an interface, it is replaced as by [Every],
// unless an option chooses the implementation. If target has no hook, C does not fit it, or an
// option is wrong, Replay fails the test at once. While doubles are being recorded it does nothing.
func Replay[F, C any](t testing.TB, target F, calls func() []C, opts ...Option) *Double[F] {
	t.Helper()
	r := &replay{t: t, typ: reflect.TypeFor[F](), calls: func() reflect.Value { return reflect.ValueOf(calls()) }, made: map[int]int{}}
	if Recording() {
		return &Double[F]{double: &double{typ: r.typ}}
	}
	mine := func(d *double) error { d.replay = r; return nil }
	d, err := prepare[F](append([]Option{mine}, opts...), false)
	if err == nil {
		err = d.replays(reflect.ValueOf(&target).Elem(), reflect.TypeFor[C]())
	}
	d.inForce(t, err, func() (F, error) { return reflect.MakeFunc(r.typ, r.answer).Interface().(F), nil })
	return d
}

// Recording reports whether doubles are being recorded: what is beyond the border must be the real
// thing then.
func Recording() bool { return kept.Recording.Load() }

func init() {
	kept.Lenient = func(option any) bool {
		o, ok := option.(Option)
		d := &double{typ: reflect.TypeFor[func()](), replay: new(replay)}
		return ok && o(d) == nil && d.replay.lenient
	}
	kept.Quiet = func() (end func()) {
		if !Hooked() {
			return func() {}
		}
		before := coreQuiet(true)
		return func() { coreQuiet(before) }
	}
}

// Lenient lets [Replay] log a call that was not recorded, and leave it to the function.
func Lenient() Option {
	return func(d *double) error {
		if d.replay == nil {
			return errors.New("mock: Lenient is an option of Replay")
		}
		d.replay.lenient = true
		return nil
	}
}

// Never makes each call of a function that pattern names an error of the test, until it ends: a
// call returns zero values, but an error that says so if its last result is one. With the option
// [Lenient] it is logged, and the function runs. pattern and other options are as for [Intercept].
// While doubles are being recorded, Never does nothing.
func Never(t testing.TB, pattern string, opts ...Option) *Interception {
	t.Helper()
	if Recording() {
		return new(Interception)
	}
	r := &replay{t: t}
	mine := func(d *double) error { d.replay = r; return nil }
	return Intercept(t, pattern, func(c *Intercepted) {
		message := fmt.Sprintf("mock: no call of %s was recorded%s", funcname.Short(shown(c.Function)), caller())
		if r.lenient {
			t.Log(message)
			return
		}
		t.Error(message)
		results := c.double.complete(nil)
		if typ := c.double.target.typ; strings.HasSuffix(typ, ",error)") || strings.HasSuffix(typ, "(error)") {
			results[len(results)-1] = errors.New(message)
		}
		c.Return(results...)
	}, nil, append([]Option{mine}, opts...)...)
}

// A replay answers the calls of a function.
type replay struct {
	t       testing.TB
	typ     reflect.Type
	name    string
	calls   func() reflect.Value
	lenient bool

	mu   sync.Mutex
	made map[int]int // how often the recorded call with that number, the first of the same, was made
}

// replays finds what the double of a replay replaces, and checks the type of recorded calls.
func (d *double) replays(target reflect.Value, recorded reflect.Type) (err error) {
	r := d.replay
	symbol, ofInterface := "nil", false
	if !target.IsNil() {
		symbol = runtime.FuncForPC(target.Pointer()).Name()
		_, _, ofInterface = interfaceMethod(symbol, target, nil)
	}
	r.name = shown(symbol)
	if ofInterface && d.implementation == nil {
		err = d.implementations(target)
	} else if d.target, err = resolveQuietly(target, d); err == nil {
		err = d.checkReceiver()
	}
	if err != nil {
		return err
	}
	if r.lenient {
		if d.when.IsValid() {
			return errors.New("mock: Replay: When and Lenient both say which calls go to the function: leave one out")
		}
		in := make([]reflect.Type, r.typ.NumIn())
		for i := range in {
			in[i] = r.typ.In(i)
		}
		predicate := reflect.FuncOf(in, []reflect.Type{reflect.TypeFor[bool]()}, r.typ.IsVariadic())
		d.when = reflect.MakeFunc(predicate, r.recorded)
	}
	return r.check(recorded)
}

func resolveQuietly(target reflect.Value, d *double) (target, error) {
	defer coreQuiet(coreQuiet(true))
	return resolve(target, d.implementation, d.receiver != nil)
}

// check reports whether recorded calls have the function's arguments and results.
func (r *replay) check(recorded reflect.Type) error {
	wrong := func(why string, args ...any) error {
		return fmt.Errorf("mock: Replay: %v is no recorded call of %s, a %v: %s", recorded, r.name, r.typ, fmt.Sprintf(why, args...))
	}
	in, out := r.typ.NumIn(), r.typ.NumOut()
	if recorded.Kind() != reflect.Struct || recorded.NumField() != in+out {
		return wrong("it is to be a struct with %d fields for arguments and %d for results", in, out)
	}
	for i := range in + out {
		f := recorded.Field(i)
		var want reflect.Type
		if i < in {
			want = r.typ.In(i)
		} else {
			want = r.typ.Out(i - in)
		}
		switch {
		case !f.IsExported():
			return wrong("the field %s is not exported", f.Name)
		case f.Type != want && !(i < in && f.Type == reflect.TypeFor[Any]()):
			return wrong("the field %s has type %v in place of %v", f.Name, f.Type, want)
		}
	}
	return nil
}

// answer is the replacement.
func (r *replay) answer(args []reflect.Value) []reflect.Value {
	defer coreQuiet(coreQuiet(true)) // what it calls may be what is replaced
	calls := r.calls()
	same, message := r.find(calls, args)
	if len(same) == 0 {
		r.t.Error(message)
		first, _, _ := strings.Cut(message, "\n")
		return r.zeros(first)
	}
	r.mu.Lock()
	n := same[min(r.made[same[0]], len(same)-1)]
	r.made[same[0]]++
	r.mu.Unlock()
	results := make([]reflect.Value, r.typ.NumOut())
	for i := range results {
		results[i] = calls.Index(n).Field(len(args) + i)
	}
	return results
}

// zeros returns the results of a call that was not recorded.
func (r *replay) zeros(message string) []reflect.Value {
	results := make([]reflect.Value, r.typ.NumOut())
	for i := range results {
		results[i] = reflect.Zero(r.typ.Out(i))
		if i == len(results)-1 && r.typ.Out(i) == reflect.TypeFor[error]() {
			results[i] = reflect.ValueOf(errors.New(message))
		}
	}
	return results
}

// recorded is the predicate of a lenient replay: it reports whether a call was recorded.
func (r *replay) recorded(args []reflect.Value) []reflect.Value {
	defer coreQuiet(coreQuiet(true))
	same, message := r.find(r.calls(), args)
	if len(same) == 0 {
		r.t.Log(message)
	}
	return []reflect.Value{reflect.ValueOf(len(same) > 0)}
}

// find returns the numbers of the recorded calls with these arguments, or else what is said.
func (r *replay) find(calls reflect.Value, args []reflect.Value) (same []int, message string) {
	var nearest []string
	equal, common := 0, 0 // of the nearest
	for i := range calls.Len() {
		var differ []string
		alike, begins := 0, 0
		for j, arg := range args {
			f := calls.Type().Elem().Field(j)
			if f.Type == reflect.TypeFor[Any]() {
				continue
			}
			d := difference{}
			if !d.same(f.Name, calls.Index(i).Field(j), arg) {
				differ = append(differ, d.text)
			}
			alike, begins = alike+d.equal, begins+d.common
		}
		if len(differ) == 0 {
			same = append(same, i)
		} else if nearest == nil || cmp.Or(cmp.Compare(len(nearest), len(differ)), cmp.Compare(alike, equal), cmp.Compare(begins, common)) > 0 {
			nearest, equal, common = differ, alike, begins
		}
	}
	if len(same) > 0 {
		return same, ""
	}
	message = fmt.Sprintf("mock: no such call of %s was recorded%s", funcname.Short(r.name), caller())
	if nearest != nil {
		message += fmt.Sprintf("\nof the %d that were, the nearest differs in\n\t%s", calls.Len(), strings.Join(nearest, "\n\t"))
	}
	return nil, message
}

// caller returns who calls the function that was replaced, for a message.
func caller() string {
	pcs := make([]uintptr, 50)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	replaced := false
	for {
		f, more := frames.Next()
		ours := slices.ContainsFunc([]string{"runtime.", "reflect.", "github.com/ftrace-wrap/ftrace-wrap/mock."}, func(pkg string) bool { return strings.HasPrefix(f.Function, pkg) })
		switch {
		case !more:
			return ""
		case ours, strings.HasPrefix(f.File, "ftrace-wrap/"): // what the wrapper adds to packages
		case replaced:
			return fmt.Sprintf(", which %s makes at %s:%d", funcname.Short(shown(f.Function)), filepath.Base(f.File), f.Line)
		default:
			replaced = true
		}
	}
}

// A difference is the first one between two values.
type difference struct {
	text   string
	depth  int
	equal  int // simple values that are the same, until there
	common int // bytes with which both texts begin, of the last two that were compared
}

// depthMax is how deep values are compared: those that lead back to themselves would have no end.
const depthMax = 100

// same reports whether the value that was recorded is the one that a function got.
func (d *difference) same(path string, want, got reflect.Value) bool {
	d.depth++
	defer func() { d.depth-- }()
	differs := func() bool {
		d.text = fmt.Sprintf("%s: recorded %s, called with %s", path, written(want), written(got))
		return false
	}
	if want.IsValid() != got.IsValid() || want.IsValid() && want.Type() != got.Type() {
		return differs()
	}
	if !want.IsValid() || d.depth > depthMax {
		return true
	}
	if want.CanInterface() && got.CanInterface() {
		if a, ok := want.Interface().(time.Time); ok {
			return a.Equal(got.Interface().(time.Time)) || differs()
		}
	}
	switch want.Kind() {
	case reflect.Interface:
		return d.same(path, want.Elem(), got.Elem())
	case reflect.Pointer:
		if want.IsNil() != got.IsNil() {
			return differs()
		}
		return want.Pointer() == got.Pointer() || d.same(path, want.Elem(), got.Elem())
	case reflect.Struct:
		if want.Type().String() == "http.Request" {
			return d.request(path, want, got)
		}
		for i := range want.NumField() {
			if !d.same(path+"."+want.Type().Field(i).Name, want.Field(i), got.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		if want.Len() != got.Len() {
			return differs()
		}
		for i := range want.Len() {
			if !d.same(fmt.Sprintf("%s[%d]", path, i), want.Index(i), got.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if want.Len() != got.Len() {
			return differs()
		}
		for _, key := range want.MapKeys() {
			if !d.same(fmt.Sprintf("%s[%s]", path, written(key)), want.MapIndex(key), got.MapIndex(key)) {
				return false
			}
		}
		return true
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return want.Pointer() == got.Pointer() || differs()
	case reflect.String:
		d.common = 0
		for w, g := want.String(), got.String(); d.common < min(len(w), len(g)) && w[d.common] == g[d.common]; {
			d.common++
		}
	}
	if !want.Equal(got) {
		return differs()
	}
	d.equal++
	return true
}

// request reports whether two HTTP requests have the same method, URL and body.
func (d *difference) request(path string, want, got reflect.Value) bool {
	parts := func(v reflect.Value) []string {
		method := v.FieldByName("Method").String()
		return []string{cmp.Or(method, "GET"), fmt.Sprint(v.FieldByName("URL")), content(v.FieldByName("Body"))}
	}
	w, g := parts(want), parts(got)
	for i, name := range []string{"Method", "URL", "Body"} {
		if !d.same(path+"."+name, reflect.ValueOf(w[i]), reflect.ValueOf(g[i])) {
			return false
		}
	}
	return true
}

// content returns what can be read from a body, and puts one with the same content in its place.
func content(body reflect.Value) string {
	r, _ := body.Interface().(io.ReadCloser)
	if r == nil {
		return ""
	}
	data, _ := io.ReadAll(r)
	body.Set(reflect.ValueOf(struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(data), r}))
	return string(data)
}

// written returns a value for a message.
func written(v reflect.Value) string {
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		return "nothing"
	case v.Kind() == reflect.String:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprintf("%+v", v)
}
