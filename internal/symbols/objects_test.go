package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const locks = `package main

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"
	"unsafe"
)

type hub struct {
	name string
	mu   sync.RWMutex
	jobs chan string
	out  [2]chan int
}

type store struct {
	id  int
	mu  sync.Mutex
	hub *hub
	all []hub
}

var (
	mu     sync.Mutex
	server struct {
		n    int
		lock sync.Mutex
		hub  hub
	}
	static = &store{id: 1}
	made   *store
	done   chan bool
)

func at[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

//go:noinline
func (s *store) wait() { s.mu.Lock() }

type other struct { // as large as a store, with a lock in the same place
	id   int
	lock sync.Mutex
	rest [4]int
}

//go:noinline
func swap(a, b *store, n *int) { a.mu.Lock(); *n++; b.mu.Lock() }

//go:noinline
func either(a *store, b *other) { a.mu.Lock(); b.lock.Lock() }

//go:noinline
func work(local chan float64) { local <- 1 }

func main() {
	made = &store{hub: &hub{jobs: make(chan string)}, all: make([]hub, 3)}
	done = make(chan bool)
	h := made.hub
	fmt.Println(at(&mu), at(&server.lock), at(&server.hub.mu), at(&static.mu), at(&done), at(&made), at(made), at(&made.mu),
		at(&made.hub), at(h), at(&h.jobs), at(&h.out[1]), at(&made.all), at(&made.all[0]), at(&made.all[2].mu),
		reflect.ValueOf(main).Pointer())
	io.Copy(io.Discard, os.Stdin)
	if len(os.Args) > 1 {
		made.wait()
		swap(made, static, new(int))
		either(made, new(other))
		work(make(chan float64))
	}
}
`

// TestObjects: locks and channels have the names of variables and fields that lead there, and those
// to which types do not lead have none.
func TestObjects(t *testing.T) {
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip("the names of processes are read from /proc")
	}
	dir := t.TempDir()
	source, app := filepath.Join(dir, "main.go"), filepath.Join(dir, "app")
	if err := os.WriteFile(source, []byte(locks), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"", "-w"} {
		if out, err := exec.Command("go", "build", "-ldflags="+flags, "-o", app, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		names, at := started(t, app)
		const (
			mu, lock, inner, static, done, made, madeTo, madeMu, hub, hubTo, jobs, out, all, allTo, allMu = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
		)
		const somewhere = 0xc0ffee000
		for _, test := range []struct {
			want string
			o    Object
		}{
			{"main.mu", Object{Address: at[mu]}},
			{"main.server.lock", Object{Address: at[lock]}},
			{"main.server.hub.mu", Object{Address: at[inner]}},
			{"main.store.mu", Object{Address: at[static]}},
			{"", Object{Address: at[static] + 8}},
			{"main.done", Object{Address: somewhere, Chan: true, Steps: []Step{{Word: at[done], Value: somewhere}}}},
			{"", Object{Address: somewhere, Steps: []Step{{Word: at[done], Value: somewhere}}}},
			{"main.store.mu", Object{Address: at[madeMu], Steps: []Step{{Word: at[made], Value: at[madeTo]}}}},
			{"", Object{Address: at[madeTo], Steps: []Step{{Word: at[made], Value: at[madeTo]}}}},
			{"main.hub.jobs", Object{Address: somewhere, Chan: true, Steps: []Step{{Word: at[made], Value: at[madeTo]}, {Word: at[hub], Value: at[hubTo]}, {Word: at[jobs], Value: somewhere}}}},
			{"main.hub.out[]", Object{Address: somewhere, Chan: true, Steps: []Step{{Word: at[made], Value: at[madeTo]}, {Word: at[hub], Value: at[hubTo]}, {Word: at[out], Value: somewhere}}}},
			{"main.hub.mu", Object{Address: at[allMu], Steps: []Step{{Word: at[made], Value: at[madeTo]}, {Word: at[all], Value: at[allTo]}}}},
			{"main.store.mu", Object{Address: at[madeMu], Steps: []Step{{Value: at[madeTo], Size: 48}}, Calls: []string{"sync.(*Mutex).Lock", "main.(*store).wait"}}},
			{"", Object{Address: at[madeMu], Steps: []Step{{Value: at[madeTo], Size: 4096}}, Calls: []string{"main.(*store).wait"}}},
			{"", Object{Address: at[madeMu], Steps: []Step{{Value: at[madeTo], Size: 48}}, Calls: []string{"main.work"}}},
			{"main.store.mu", Object{Address: at[madeMu], Steps: []Step{{Value: at[madeTo], Size: 48}}, Calls: []string{"sync.(*Mutex).Lock", "main.swap"}}},
			{"", Object{Address: at[madeMu], Steps: []Step{{Value: at[madeTo], Size: 4096}}, Calls: []string{"main.swap"}}},
			{"", Object{Address: at[madeMu], Steps: []Step{{Value: at[madeTo], Size: 48}}, Calls: []string{"main.either"}}},
			{"main.work.local", Object{Address: somewhere, Chan: true, Elem: "float64", Calls: []string{"runtime.chansend1", "main.work"}}},
			{"", Object{Address: somewhere, Chan: true, Elem: "int", Calls: []string{"main.work"}}},
			{"", Object{Address: somewhere}},
		} {
			want := test.want
			if flags != "" && test.o.Address != at[mu] {
				want = map[string]string{"main.server.lock": "main.server+8", "main.server.hub.mu": "main.server+32"}[want]
			}
			if got := names.Object(&test.o); got != want {
				t.Errorf("with %q %+v is %q, not %q", flags, test.o, got, want)
			}
		}
	}
}
