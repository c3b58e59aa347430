//go:build linux

package live

import "testing"

// TestTellApart: a function with one variable of a type may wait for several channels of that type.
// It is not known then which of them is in the variable.
func TestTellApart(t *testing.T) {
	s := State{Objects: []uint64{1, 2, 3, 4, 5}, Stack: &Stack{Calls: []Position{{Function: "runtime.selectgo"}, {Function: "example.com/server.(*Server).loop"}}}}
	objects := map[uint64]*Object{
		1: {Name: "server.(*Server).loop.reset"},
		2: {Name: "example.com/server.queue.ch"},
		3: {Name: "server.(*Server).loop.reset"},
		4: {Name: "example.com/server.queue.ch"},
	}
	s.tellApart(objects)
	for address, want := range map[uint64]string{1: "", 2: "example.com/server.queue.ch", 3: "", 4: "example.com/server.queue.ch"} {
		if got := objects[address].Name; got != want {
			t.Errorf("channel %d has the name %q, want %q", address, got, want)
		}
	}
	one := State{Objects: []uint64{1}, Stack: s.Stack}
	objects[1].Name = "server.(*Server).loop.reset"
	if one.tellApart(objects); objects[1].Name == "" {
		t.Error("the only channel has lost its name")
	}
}
