package mock

import (
	"reflect"
	"strings"
	"testing"
)

// TestIncomparable: a receiver of a type whose values can be compared may hold one that can't.
func TestIncomparable(t *testing.T) {
	type option struct{ value any }
	slices, number := option{[]int{1}}, option{1}
	if bound := (&target{receiver: slices}); bound.receives(slices) || bound.receives(number) {
		t.Error("a receiver that can't be compared is found")
	}
	if bound := (&target{receiver: number}); bound.receives(slices) || !bound.receives(number) {
		t.Error("a receiver that can be compared is not found, or another one is")
	}
	for _, x := range []any{slices, map[string]int{}, nil} {
		err := ForReceiver(x)(&double{typ: reflect.TypeFor[func()]()})
		if err == nil || !strings.Contains(err.Error(), "can't be compared") {
			t.Errorf("%v: %v", x, err)
		}
	}
}
