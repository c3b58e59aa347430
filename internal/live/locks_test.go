//go:build linux

package live

import (
	"maps"
	"reflect"
	"slices"
	"testing"
)

// TestHeldWhile: who held a lock all the while is its holder. Whoever took it in between is not,
// nor whoever may have.
func TestHeldWhile(t *testing.T) {
	before := Locks{Now: 100, Holders: []Holder{{Lock: 1, Goroutine: 1, Since: 50}, {Lock: 2, Goroutine: 2, Since: 99}, {Lock: 3, Goroutine: 3, Since: 100}, {Lock: 4, Goroutine: 4, Since: 60},
		{Lock: 6, Goroutine: 6, Since: 70}, {Lock: 7, Goroutine: 7, Since: 70}, {Lock: 7, Goroutine: 8, Since: 70}}}
	after := Locks{Now: 200, Holders: []Holder{{Lock: 1, Goroutine: 1, Since: 50}, {Lock: 2, Goroutine: 2, Since: 120}, {Lock: 3, Goroutine: 3, Since: 100},
		{Lock: 5, Goroutine: 5, Since: 150}, {Lock: 6, Goroutine: 9, Since: 70}, {Lock: 7, Goroutine: 8, Since: 70}}}
	var list []State
	for lock := range uint64(9) {
		list = append(list, State{ID: 100 + lock, Status: Waiting, Stack: &Stack{Reason: "sync.Mutex.Lock"}, Object: lock})
	}
	list = append(list[:6], list[7:]...) // nobody waits for lock 6
	list = append(list, State{ID: 200, Status: Running, Object: 6, Stack: &Stack{}})
	got, all := heldWhile(list, before, after, map[uint64]bool{8: true})
	if all {
		t.Error("all locks have holders")
	}
	if want := []Holder{after.Holders[0], after.Holders[5]}; !reflect.DeepEqual(got.Holders, want) {
		t.Errorf("holders %v, want %v", got.Holders, want)
	}
	if changed, want := slices.Sorted(maps.Keys(got.Changed)), []uint64{2, 3, 4, 5, 8}; !slices.Equal(changed, want) {
		t.Errorf("changed %v, want %v", changed, want)
	}
}

// TestPendingWriter: a writer that waits for the readers of an RWMutex does not wait for itself.
// One that locks a mutex twice does.
func TestPendingWriter(t *testing.T) {
	locks := Locks{Now: 100, Holders: []Holder{{Lock: 1, Goroutine: 1, Mode: HoldRead, Since: 50}, {Lock: 1, Goroutine: 2, Mode: HoldMutex, Since: 60},
		{Lock: 2, Goroutine: 3, Mode: HoldMutex, Since: 60}, {Lock: 4, Goroutine: 5, Mode: HoldMutex, Since: 60}}}
	list := []State{
		{ID: 2, Status: Waiting, Stack: &Stack{Reason: "sync.RWMutex.Lock"}, Object: 1},
		{ID: 3, Status: Waiting, Stack: &Stack{Reason: "sync.Mutex.Lock"}, Object: 2},
		{ID: 5, Status: Waiting, Stack: &Stack{Reason: "sync.RWMutex.Lock"}, Object: 4}, // for readers that nobody saw
	}
	got, _ := heldWhile(list, locks, locks, map[uint64]bool{})
	if want := []Holder{locks.Holders[0], locks.Holders[2]}; !reflect.DeepEqual(got.Holders, want) {
		t.Errorf("holders %v, want %v", got.Holders, want)
	}
	if len(got.Changed) != 0 {
		t.Errorf("changed %v", got.Changed)
	}
}
