package dtrace

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// made is a recording that tests make: tables, and events one after the other.
type made struct {
	tables []byte
	r      *recording.Recording
	ticks  uint64
	calls  map[uint32]uint64
	events []recording.Event
}

var order64 = binary.LittleEndian

// record adds a record to the tables; its parts are numbers and texts.
func (m *made) record(kind uint32, parts ...any) {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = order64.AppendUint64(b, uint64(p))
		case string:
			b = append(append(b, p...), 0)
		}
	}
	m.tables = order64.AppendUint64(m.tables, 0)
	m.tables = order64.AppendUint32(m.tables, kind)
	m.tables = order64.AppendUint32(m.tables, uint32(16+len(b)))
	m.tables = append(m.tables, b...)
}

// The keys of the functions, and the numbers of the layouts, of a made recording.
const (
	keyF    = 1 + iota // main.f(n int, s string) (r int, err error)
	keyG               // example.com/x/y.(*T).Get(t *T)
	keySend            // tcp:::send
	keyMain            // main.main()
)

const (
	layoutF      = 1 + iota // int, string
	layoutR                 // int, error
	layoutG                 // *T and what T.in.name leads to
	layoutSend              // ipinfo_t behind two that are nil
	layoutOk                // int, nil
	layoutPlain             // *T
	layoutStruct            // T
	layoutPanic             // string
	layoutMixed             // any
)

const (
	typeInt = 1 + iota
	typeString
	typeError // *errors.errorString
	typeErrorStruct
	typeT
	typeTPointer
	typeIP
	typeUint8
	typeSlice
	typeAny
)

// newMade returns a recording with tables, and a clock that counts ns.
func newMade() *made {
	m := &made{calls: map[uint32]uint64{}}
	m.record(1, 4242, 1_000_000_000, 0, "go1.26", "linux", "amd64", "/bin/server")
	m.record(2, 0, 5000, 1_700_000_000_000_000_000)
	m.record(2, 1_000_000, 1_005_000, 1_700_000_000_001_000_000)
	m.record(3, keyF, 10, "example.com/cmd/app", "main", "f", "main.go", "n,s;r,err;func(int,string)(int,error)")
	m.record(3, keyG, 20, "example.com/x/y", "example.com/x/y", "(*T).Get", "y.go", "t;;func(*T)string")
	m.record(8, keySend, 0, "probe/tcp", "tcp", "send", "net", "pktinfo,csinfo,ipinfo;;func(pktinfo pktinfo_t, csinfo csinfo_t, ipinfo ipinfo_t)")
	m.record(3, keyMain, 1, "example.com/cmd/app", "main", "main", "main.go", ";;func()")
	typ := func(n int, kind reflect.Kind, flags int, name string, elem int, fields ...any) {
		m.record(4, append([]any{n, int(kind), flags, 8, 0, elem, len(fields) / 2, name}, fields...)...)
	}
	typ(typeInt, reflect.Int, 0, "int", 0)
	typ(typeString, reflect.String, 0, "string", 0)
	typ(typeErrorStruct, reflect.Struct, 1, "errors.errorString", 0, typeString, "s")
	typ(typeError, reflect.Pointer, 2, "*errors.errorString", typeErrorStruct)
	typ(typeT, reflect.Struct, 1, "y.T", 0, typeString, "name", typeInt, "size", typeSlice, "list")
	typ(typeTPointer, reflect.Pointer, 0, "*y.T", typeT)
	typ(typeUint8, reflect.Uint8, 0, "uint8", 0)
	typ(typeIP, reflect.Struct, 1, "net.ipinfo_t", 0, typeUint8, "ip_ver", typeString, "ip_saddr")
	typ(typeSlice, reflect.Slice, 0, "[]int", typeInt)
	typ(typeAny, reflect.Interface, 0, "interface {}", 0)
	m.record(5, layoutF, 0, 2, typeInt, typeString)
	m.record(5, layoutR, 0, 2, typeInt, typeError)
	m.record(5, layoutG, 0, 2, typeTPointer, typeString)
	m.record(9, layoutG, 1, "t.in.name")
	m.record(5, layoutSend, 0, 3, 0, 0, typeIP)
	m.record(5, layoutOk, 0, 2, typeInt, 0)
	m.record(5, layoutPlain, 0, 1, typeTPointer)
	m.record(5, layoutStruct, 0, 1, typeT)
	m.record(5, layoutPanic, 2, 1, typeString)
	m.record(5, layoutMixed, 0, 1, typeAny)

	head := order64.AppendUint32(nil, 0xC1FC1FC1)
	head = order64.AppendUint32(head, 1)
	head = append(head, make([]byte, 16)...)
	size := uint64(72+len(m.tables)) * 8
	for _, v := range []uint64{0, size, size, 0, 0, 0} {
		head = order64.AppendUint64(head, v)
	}
	m.r = recording.FromTables(recording.Env{PID: 4242, Executable: "/bin/server", Frequency: 1e9}, append(head, m.tables...))
	return m
}

// values are the bytes of values: int, string, uint8, and uint32 for numbers of types and lengths.
func values(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = order64.AppendUint64(b, uint64(p))
		case string:
			b = append(order64.AppendUint32(b, uint32(len(p))), p[:min(len(p), 64)]...)
		case uint8:
			b = append(b, p)
		case uint32:
			b = order64.AppendUint32(b, p)
		}
	}
	return b
}

// add adds an event, some ns after the last one.
func (m *made) add(after uint64, e recording.Event) {
	m.ticks += after
	e.Ticks = m.ticks
	if e.Goroutine == 0 {
		e.Goroutine = 1
	}
	if e.Enters() || e.Kind == recording.Probe {
		m.calls[e.Function]++
		e.Call = m.calls[e.Function]
	}
	m.events = append(m.events, e)
}

// f adds a call of main.f that lasts so many ns, and fails if failure is not "".
func (m *made) f(goroutine uint64, n int, s string, lasts uint64, failure string) {
	m.add(10, recording.Event{Kind: recording.EntryArgs, Function: keyF, Goroutine: goroutine, Depth: 1, Layout: layoutF, Data: values(n, s)})
	e := recording.Event{Kind: recording.ExitResults, Function: keyF, Goroutine: goroutine, Depth: 1, Layout: layoutOk, Data: values(2 * n)}
	if failure != "" {
		e.Layout, e.Data = layoutR, values(0, 0x1000, uint32(1), failure)
	}
	m.add(lasts, e)
}

// traffic is what most tests look at: three calls of main.f within main.main, one of which fails, a
// panic, a call of a method and a tcp:::send, in 2000 ns.
func traffic() *made {
	m := newMade()
	m.add(0, recording.Event{Kind: recording.Entry, Function: keyMain})
	m.f(1, 1, "one", 100, "")
	m.f(1, 2, "two", 200, "no luck")
	m.f(7, 5, strings.Repeat("x", 100), 400, "")
	m.add(10, recording.Event{Kind: recording.EntryArgs, Function: keyG, Depth: 1, Layout: layoutG, Data: values(0xabc0, "inner")})
	m.add(10, recording.Event{Kind: recording.Probe, Function: keySend, Depth: 2, Layout: layoutSend, Data: values(uint8(4), "127.0.0.1"), Processor: 1})
	m.add(10, recording.Event{Kind: recording.ExitPanic, Function: keyG, Depth: 1, Layout: layoutPanic, Data: values("boom")})
	m.add(1000, recording.Event{Kind: recording.Lost, Call: 3})
	m.add(10, recording.Event{Kind: recording.Exit, Function: keyMain})
	return m
}

// run runs a program over events and returns what it prints, maps included, and what is said on
// stderr.
func run(t testing.TB, m *made, source string) (out, errs string) {
	t.Helper()
	p, err := Compile(source)
	if err != nil {
		t.Fatalf("%s\n%v", source, err)
	}
	var o, e bytes.Buffer
	machine := NewMachine(p, m.r, &o, &e)
	machine.Quiet = true
	machine.Begin()
	for i := range m.events {
		machine.Event(&m.events[i])
	}
	machine.End()
	if err := machine.Flush(); err != nil {
		t.Fatal(err)
	}
	o.Write(machine.AppendMaps(nil))
	return o.String(), e.String()
}
