package mock

import (
	"net/http"
	"testing"
)

// TestSame: what == does not compare, or panics at, is compared by what it is.
func TestSame(t *testing.T) {
	type option struct {
		value any
		_     int
		list  [2][]int
	}
	list, more := []int{1, 2}, []int{1, 2}
	m, f, g := map[string]int{}, func() {}, func() { println(len(list)) }
	all := []any{
		option{value: list}, option{value: more}, option{value: list[:1]}, option{value: 1}, option{value: m}, option{value: g},
		option{value: option{value: f}}, option{list: [2][]int{nil, list}}, option{},
		m, map[string]int{}, map[string]int(nil), http.Header(nil), http.Header{}, f, g, http.HandlerFunc(nil), list, more, list[1:], list[:1], []int(nil),
		1, "", &list, &more, nil,
	}
	for i, a := range all {
		for j, b := range all {
			if same(a, b) != (i == j) {
				t.Errorf("%d %#v, %d %#v: %v", i, a, j, b, same(a, b))
			}
		}
		if bound := (&target{receiver: a}); a != nil && !bound.receives(a) {
			t.Errorf("%d %#v is not found", i, a)
		}
	}
}
