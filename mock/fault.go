package mock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Fault lets calls of a function go wrong until the test ends: of one that reads or writes a file
// or a connection, or of any other. The methods of what it returns say which calls, and what is
// wrong:
//
//	mock.Fault(t, os.ReadFile).Path("*.db").Fails(fs.ErrPermission).After(3)
//	mock.Fault(t, (*os.File).Write).Short(100).Fails(syscall.ENOSPC)
//	mock.Fault(t, (*sql.DB).Ping).Slow(mock.Normal(50*time.Millisecond, 10*time.Millisecond))
//
// Other calls run the function. target and opts are as for [Replace]. All that is said holds for a
// call at once. Before anything is said, calls run the function.
func Fault[F any](t testing.TB, target F, opts ...Option) *Faulty {
	t.Helper()
	f := &Faulty{t: t, typ: reflect.TypeFor[F](), last: -1}
	d := Around(t, target, func(original F) F {
		v := reflect.ValueOf(original)
		return reflect.MakeFunc(f.typ, func(args []reflect.Value) []reflect.Value { return f.call(v, args) }).Interface().(F)
	}, opts...)
	f.name = d.target.name
	return f
}

// Faulty says what is wrong with the calls of a function, see [Fault]. Its methods return it.
type Faulty struct {
	t    testing.TB
	typ  reflect.Type
	name string

	mu      sync.Mutex // taken by lock
	path    string     // or "" for any
	err     error
	short   int
	cut     bool // short is set
	drop    bool
	latency Latency
	first   int // how many calls run before
	last    int // how many calls go wrong after that, or -1
	calls   int
}

func (f *Faulty) lock() (unlock func()) {
	quiet := coreQuiet(true)
	f.mu.Lock()
	return func() {
		f.mu.Unlock()
		coreQuiet(quiet)
	}
}

// Path confines the fault to calls for files whose path, or its last element, matches the pattern,
// as for [filepath.Match]. The path is the function's first string, or the name of the file that it
// is a method of; of a connection it is the remote address.
func (f *Faulty) Path(pattern string) *Faulty {
	f.t.Helper()
	if _, err := filepath.Match(pattern, ""); err != nil {
		f.t.Fatalf("mock: Fault: Path(%q): %v", pattern, err)
	}
	defer f.lock()()
	f.path = pattern
	return f
}

// After lets the first n of these calls run as they should.
func (f *Faulty) After(n int) *Faulty {
	defer f.lock()()
	f.first = n
	return f
}

// Times lets the fault end after n calls that went wrong.
func (f *Faulty) Times(n int) *Faulty {
	defer f.lock()()
	f.last = n
	return f
}

// Fails has the function return err, its other results zero. Errors of the system and of package
// io/fs, such as [syscall.ENOSPC] and [fs.ErrPermission], are wrapped as the functions of packages
// os and net do: in an [fs.PathError], [os.LinkError] or [net.OpError] with the call's path or
// address. If the function has no error as its last result, Fails fails the test.
func (f *Faulty) Fails(err error) *Faulty {
	f.t.Helper()
	f.wants("Fails", f.returnsError())
	defer f.lock()()
	f.err = err
	return f
}

// Short has the function read or write at most n bytes: of the slice of bytes that is its only or
// first such argument. With [Faulty.Fails] it returns the error after these.
func (f *Faulty) Short(n int) *Faulty {
	f.t.Helper()
	f.wants("Short", f.bytes() >= 0 && f.typ.NumOut() == 2 && f.typ.Out(0).Kind() == reflect.Int)
	defer f.lock()()
	f.short, f.cut = n, true
	return f
}

// Drops closes the connection or file that the function is a method of, or gets first, and has the
// function fail with [syscall.ECONNRESET], or what Fails says.
func (f *Faulty) Drops() *Faulty {
	f.t.Helper()
	f.wants("Drops", f.returnsError() && f.typ.NumIn() > 0)
	defer f.lock()()
	f.drop = true
	if f.err == nil {
		f.err = syscall.ECONNRESET
	}
	return f
}

// Slow has calls wait before the function runs, or until the context among its arguments, or that
// of a request, is done. The time is the [Clock]'s if the test has one.
func (f *Faulty) Slow(by Latency) *Faulty {
	defer f.lock()()
	f.latency = by
	return f
}

// Calls returns the number of calls that went wrong.
func (f *Faulty) Calls() int {
	defer f.lock()()
	n := max(f.calls-f.first, 0)
	if f.last >= 0 {
		n = min(n, f.last)
	}
	return n
}

// A Latency draws how long a call takes.
type Latency func() time.Duration

// Fixed is a latency that is always d.
func Fixed(d time.Duration) Latency { return func() time.Duration { return d } }

// Uniform is a latency between two others.
func Uniform(from, to time.Duration) Latency {
	return func() time.Duration { return from + time.Duration(rand.Float64()*float64(to-from)) }
}

// Normal is a latency in a normal distribution, but never less than 0.
func Normal(mean, deviation time.Duration) Latency {
	return func() time.Duration {
		return max(0, mean+time.Duration(rand.NormFloat64()*float64(deviation)))
	}
}

// Exponential is a latency of which most are short and a few long.
func Exponential(mean time.Duration) Latency {
	return func() time.Duration { return time.Duration(rand.ExpFloat64() * float64(mean)) }
}

// wants fails the test if the function is not one for this fault.
func (f *Faulty) wants(method string, ok bool) {
	f.t.Helper()
	if !ok {
		f.t.Fatalf("mock: Fault: %s is not for %s, which is a %v", method, f.name, f.typ)
	}
}

func (f *Faulty) returnsError() bool {
	n := f.typ.NumOut()
	return n > 0 && f.typ.Out(n-1) == reflect.TypeFor[error]()
}

// bytes returns which parameter is the first []byte, or -1.
func (f *Faulty) bytes() int {
	for i := range f.typ.NumIn() {
		if f.typ.In(i) == reflect.TypeFor[[]byte]() {
			return i
		}
	}
	return -1
}

// call makes a call of the function, and lets it go wrong.
func (f *Faulty) call(original reflect.Value, args []reflect.Value) []reflect.Value {
	unlock := f.lock()
	wrong := f.matches(args)
	if wrong {
		f.calls++
		wrong = f.calls > f.first && (f.last < 0 || f.calls <= f.first+f.last)
	}
	err, short, cut, drop, latency := f.err, f.short, f.cut, f.drop, f.latency
	unlock()
	if !wrong {
		return call(original, args)
	}
	if latency != nil {
		await(args, latency())
	}
	if drop {
		if c, ok := args[0].Interface().(interface{ Close() error }); ok {
			c.Close()
		}
	}
	results := make([]reflect.Value, f.typ.NumOut())
	for i := range results {
		results[i] = reflect.Zero(f.typ.Out(i))
	}
	switch whole := 0; {
	case err == nil && !cut:
		return call(original, args)
	case cut:
		i := f.bytes()
		whole = args[i].Len()
		args[i] = args[i].Slice(0, min(short, whole))
		if short > 0 || err == nil {
			results = call(original, args)
		}
		if err == nil || !results[len(results)-1].IsNil() || whole <= short {
			return results
		}
	}
	e := reflect.New(reflect.TypeFor[error]()).Elem()
	e.Set(reflect.ValueOf(f.wrapped(err, args)))
	results[len(results)-1] = e
	return results
}

// await waits for d, or until the call's context is done: then the function itself notices that.
func await(args []reflect.Value, d time.Duration) {
	ctx := context.Background()
	for _, a := range args {
		switch x := a.Interface().(type) {
		case context.Context:
			ctx = x
		case interface{ Context() context.Context }:
			ctx = x.Context()
		}
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// matches reports whether the call is for what Path says.
func (f *Faulty) matches(args []reflect.Value) bool {
	if f.path == "" {
		return true
	}
	path := pathOf(args)
	whole, _ := filepath.Match(f.path, path)
	last, _ := filepath.Match(f.path, filepath.Base(path))
	return whole || last
}

// pathOf returns the path or address that a call is for, or "".
func pathOf(args []reflect.Value) string {
	for i, a := range args {
		if a.Kind() == reflect.String {
			return a.String()
		}
		if i > 0 {
			continue
		}
		switch x := a.Interface().(type) {
		case interface{ RemoteAddr() net.Addr }:
			if r := x.RemoteAddr(); r != nil {
				return r.String()
			}
		case interface{ Name() string }:
			return x.Name()
		}
	}
	return ""
}

// operations are those that errors name otherwise than by the function's name.
var operations = map[string]string{
	"readfile": "open", "writefile": "open", "create": "open", "openfile": "open", "readdir": "open", "mkdirall": "mkdir", "createtemp": "open",
	"readat": "read", "readfrom": "read", "writeat": "write", "writestring": "write", "writeto": "write", "removeall": "unlinkat", "dialtimeout": "dial",
}

// wrapped returns err as the function itself would return it.
func (f *Faulty) wrapped(err error, args []reflect.Value) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) && err != fs.ErrPermission && err != fs.ErrNotExist && err != fs.ErrExist && err != fs.ErrClosed && err != os.ErrDeadlineExceeded {
		return err
	}
	if _, bare := err.(syscall.Errno); errno != 0 && !bare {
		return err
	}
	op := strings.ToLower(f.name[strings.LastIndexByte(f.name, '.')+1:])
	if o, ok := operations[op]; ok {
		op = o
	}
	switch pkg := packagePath(f.name); {
	case pkg == "os" && (op == "rename" || op == "link" || op == "symlink"):
		return &os.LinkError{Op: op, Old: args[0].String(), New: args[1].String(), Err: err}
	case pkg == "os":
		return &fs.PathError{Op: op, Path: pathOf(args), Err: err}
	case pkg == "net":
		o := &net.OpError{Op: op, Err: err}
		if errno != 0 {
			o.Err = os.NewSyscallError(strings.Replace(op, "dial", "connect", 1), err)
		}
		if c, ok := args[0].Interface().(net.Conn); ok {
			o.Net, o.Source, o.Addr = c.LocalAddr().Network(), c.LocalAddr(), c.RemoteAddr()
		} else if len(args) > 1 && args[0].Kind() == reflect.String {
			o.Net, o.Addr = args[0].String(), address(fmt.Sprint(args[1]))
		}
		return o
	}
	return err
}

// An address is that which was to be called.
type address string

func (a address) Network() string { return "" }
func (a address) String() string  { return string(a) }
