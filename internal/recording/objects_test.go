package recording

import (
	"encoding/binary"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"unsafe"
)

// typesOf are types in a recording's tables.
type typesOf struct {
	r       *Recording
	numbers map[reflect.Type]uint32
}

// number returns the number of a type, which it adds with those that it is made of.
func (ts *typesOf) number(of reflect.Type) uint32 {
	if n := ts.numbers[of]; n != 0 {
		return n
	}
	n := uint32(max(len(ts.r.types), 1))
	ts.numbers[of] = n
	t := &Type{Kind: of.Kind(), Named: of.Name() != "", Size: uint64(of.Size()), Name: of.String()}
	ts.r.types = append(ts.r.types, make([]*Type, int(n)+1-len(ts.r.types))...)
	ts.r.types[n] = t
	switch of.Kind() {
	case reflect.Array:
		t.Len, t.Elem = uint64(of.Len()), ts.number(of.Elem())
	case reflect.Pointer:
		t.Elem = ts.number(of.Elem())
	case reflect.Struct:
		for i := range of.NumField() {
			t.Fields = append(t.Fields, Field{ts.number(of.Field(i).Type), of.Field(i).Name})
		}
	}
	return n
}

// TestOffsets compares the places of fields with those that the compiler gives them, in random
// structs.
func TestOffsets(t *testing.T) {
	types := []reflect.Type{reflect.TypeFor[bool](), reflect.TypeFor[int8](), reflect.TypeFor[uint16](), reflect.TypeFor[float32](), reflect.TypeFor[int](),
		reflect.TypeFor[complex64](), reflect.TypeFor[complex128](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](), reflect.TypeFor[any](), reflect.TypeFor[error](),
		reflect.TypeFor[chan int](), reflect.TypeFor[func()](), reflect.TypeFor[map[int]int](), reflect.TypeFor[struct{}](), reflect.TypeFor[[0]int](),
		reflect.TypeFor[sync.Mutex](), reflect.TypeFor[sync.RWMutex](), reflect.TypeFor[sync.Cond](), reflect.TypeFor[sync.WaitGroup]()}
	random := rand.New(rand.NewPCG(1, 2))
	ts := &typesOf{&Recording{}, map[reflect.Type]uint32{}}
	o := ts.r.Objects()
	for range 2000 {
		var fields []reflect.StructField
		for i := range random.IntN(6) {
			fields = append(fields, reflect.StructField{Name: string(rune('A' + i)), Type: types[random.IntN(len(types))]})
		}
		of := reflect.StructOf(fields)
		if random.IntN(3) == 0 {
			types = append(types, of)
		} else if random.IntN(5) == 0 {
			types = append(types, reflect.ArrayOf(random.IntN(4), of))
		}
		want := make([]uint64, of.NumField())
		for i := range want {
			want[i] = uint64(of.Field(i).Offset)
		}
		if got := o.offsets(ts.r.types[ts.number(of)]); !slices.Equal(got, want) {
			t.Fatalf("%v: the fields are at %d, not %d", of, want, got)
		}
	}
}

// TestObjectNames: a lock has the name of the field that it is.
func TestObjectNames(t *testing.T) {
	type (
		alone struct{ mu sync.Mutex }
		inner struct {
			_  bool
			rw sync.RWMutex
			c  chan<- int
		}
		outer struct {
			name string
			in   [3]inner
			sync.Mutex
			n     int
			slots [2]struct {
				_  bool
				mu sync.Mutex
			}
		}
	)
	ts := &typesOf{&Recording{}, map[reflect.Type]uint32{}}
	o := ts.r.Objects()
	for _, test := range []struct {
		of   reflect.Type
		at   uintptr
		name string
	}{
		{reflect.TypeFor[alone](), unsafe.Offsetof(alone{}.mu), "recording.alone.mu"},
		{reflect.TypeFor[alone](), unsafe.Sizeof(alone{}), ""},
		{reflect.TypeFor[outer](), unsafe.Offsetof(outer{}.name), ""},
		{reflect.TypeFor[outer](), unsafe.Offsetof(outer{}.Mutex), "recording.outer.Mutex"},
		{reflect.TypeFor[outer](), unsafe.Offsetof(outer{}.n), ""},
		{reflect.TypeFor[outer](), unsafe.Offsetof(outer{}.in) + 2*unsafe.Sizeof(inner{}) + unsafe.Offsetof(inner{}.rw), "recording.inner.rw"},
		{reflect.TypeFor[outer](), unsafe.Offsetof(outer{}.in), ""},
		{reflect.TypeFor[outer](), unsafe.Offsetof(outer{}.in) + unsafe.Sizeof(inner{}) + unsafe.Offsetof(inner{}.c), "recording.inner.c"},
		{reflect.TypeFor[outer](), unsafe.Offsetof(outer{}.slots) + unsafe.Sizeof(outer{}.slots) - unsafe.Sizeof(sync.Mutex{}), "recording.outer.slots[].mu"},
	} {
		const address = 0x1000
		object := uint64(address + test.at)
		pointers := pointersTo(address, ts.number(test.of))
		if known := o.Learn(object, &pointers); known != (test.name != "") || known && o.names.Fields[object] != test.name {
			t.Errorf("%v at %d: %q, %v; it should be %q", test.of, test.at, o.names.Fields[object], known, test.name)
		}
		delete(o.names.Fields, object)
	}
	first, second := pointersTo(0x1000, ts.number(reflect.TypeFor[alone]())), pointersTo(0x1000-8, ts.number(reflect.TypeFor[inner]()))
	o.Learn(0x1000, &first)
	if o.Learn(0x1000, &second); o.Name(0x1000, none) != "" {
		t.Errorf("two locks had the same address, and are both called %s", o.Name(0x1000, none))
	}
}

func pointersTo(address uint64, to uint32) Pointers {
	return Pointers{first: [4]pointer{{address: address, to: to}}}
}

// TestChannelNames: a channel has the name of the field that leads to it, or else of the package
// variable.
func TestChannelNames(t *testing.T) {
	type queue struct {
		_    sync.Mutex
		jobs chan int
	}
	const receiver, jobs, results = 0x1000, 0x8000, 0x9000
	ts := &typesOf{&Recording{channels: map[uint64][]uint64{jobs: {0x50, receiver + uint64(unsafe.Offsetof(queue{}.jobs))}, results: {0x60}}}, map[reflect.Type]uint32{}}
	o := ts.r.Objects()
	pointers := pointersTo(receiver, ts.number(reflect.TypeFor[queue]()))
	variable := func(address uint64) string { return map[uint64]string{0x60: "main.results"}[address] }
	for object, want := range map[uint64]string{jobs: "recording.queue.jobs", results: "main.results", 0xA000: ""} {
		if known := o.Learn(object, &pointers); known != (object == jobs) {
			t.Errorf("%#x: learnt %v", object, known)
		}
		if got := o.Name(object, variable); got != want {
			t.Errorf("%#x: %q, not %q", object, got, want)
		}
	}
}

// TestParamNames: a channel that is no field has the name of the first parameter that it was. The
// addresses of channels follow the values; old recordings, and values that did not fit, have none.
func TestParamNames(t *testing.T) {
	const first, second = 0x8000, 0x9000
	r := &Recording{types: []*Type{nil, {Kind: reflect.Int, Size: 8}, {Kind: reflect.Chan, Size: 8}},
		layouts: []*Layout{nil, {Types: []uint32{1, 2, 2}}, {Types: []uint32{2}, index: 1}},
		funcs: []*Function{nil, {Key: 1, Package: "example.com/a/main", Name: "work", Params: []Param{{Name: "n"}, {Name: "_"}, {Name: "jobs"}}},
			{Key: 2, Package: "main", Name: "other", Params: []Param{{Name: "n"}, {Name: "jobs"}, {}}},
			{Key: 3, Package: "main", Name: "only", Params: []Param{{Name: "queue"}}}},
		sites: []*Site{nil, {41, "main.run", "/src/main.go"}}}
	data := make([]byte, 8+2*8)
	whole := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(data, first), second)
	for n := range whole {
		o := r.Objects()
		if pointers := o.Pointers(&Event{Function: 1, Layout: 1, Data: whole[:n]}); n < len(whole)-8 && pointers.first[0].address != 0 {
			t.Errorf("%d bytes have the channel %#x", n, pointers.first[0].address)
		}
	}
	o := r.Objects()
	for function := range uint32(3) {
		pointers := o.Pointers(&Event{Function: function, Layout: 1, Data: whole})
		for _, object := range []uint64{first, second, 0xA000} {
			o.names.Places[object] = 1
			if o.Learn(object, &pointers) {
				t.Errorf("%#x: learnt a field", object)
			}
		}
	}
	const alone = 0xB000
	pointers := o.Pointers(&Event{Function: 3, Layout: 2, Data: binary.LittleEndian.AppendUint64(make([]byte, 8), alone)})
	o.Learn(alone, &pointers)
	for object, want := range map[uint64]string{first: "main.other.jobs", second: "main.work.jobs", 0xA000: "main.run main.go:41", alone: "main.only.queue"} {
		if got := o.Name(object, none); got != want {
			t.Errorf("%#x: %q, not %q", object, got, want)
		}
	}
}

// TestPlaceNames: what has no other name has that of the place where it was waited for first.
// Sleeps have no objects, and what had two names has none.
func TestPlaceNames(t *testing.T) {
	r := &Recording{sites: []*Site{nil, {41, "example.com/a/main.run", "/src/main.go"}, {50, "main.stop", "/src/stop.go"}},
		funcs: []*Function{nil, {Wait: true, Name: "synch/mutex"}, {Wait: true, Name: "io/file/read"}}}
	o := r.Objects()
	o.Place(1, 0x100, 0)
	o.Place(1, 0x100, 1)
	o.Place(1, 0x100, 2)
	o.Place(1, 0x200, 2)
	o.Place(2, 0x300, 1)
	o.Place(1, 0, 1)
	o.Place(1, 0x400, 1)
	o.names.Fields[0x400] = ""
	variable := func(address uint64) string { return map[uint64]string{0x200: "main.mu"}[address] }
	for object, want := range map[uint64]string{0x100: "main.run main.go:41", 0x200: "main.mu", 0x300: "", 0: "", 0x400: ""} {
		if got := o.Name(object, variable); got != want {
			t.Errorf("%#x: %q, not %q", object, got, want)
		}
	}
}

// none is called with addresses at which there is no variable.
func none(uint64) string { return "" }

// TestObjectsOfDamaged: types that are part of themselves are no trouble.
func TestObjectsOfDamaged(t *testing.T) {
	r := &Recording{types: []*Type{nil,
		{Kind: reflect.Struct, Name: "a", Size: 8, Fields: []Field{{1, "itself"}, {2, "b"}, {9, "unknown"}}},
		{Kind: reflect.Array, Name: "b", Size: 8, Elem: 2},
		{Kind: reflect.Array, Name: "c", Size: 0, Elem: 0},
		{Kind: reflect.Struct, Name: "d", Size: 8, Fields: []Field{{4, "itself"}}},
		{Kind: reflect.Struct, Name: "e", Size: 8, Fields: []Field{{4, "d"}, {5, "itself"}}},
	}}
	o := r.Objects()
	for n := range uint32(8) {
		o.hasLocks(n)
		o.align(n)
		for at := range uint64(10) {
			if pointers := pointersTo(0, n); o.Learn(at, &pointers) {
				t.Errorf("type %d has a lock at %d", n, at)
			}
		}
	}
}
