package mock

import (
	"reflect"
	"strings"
	"testing"
)

// TestNearest: the recorded call that is shown is the one with the fewest differences; of
// these, the one with the most in common.
func TestNearest(t *testing.T) {
	type query struct {
		Table, Key string
		Limit      int
	}
	type call struct {
		Q   query
		Dir string
		Err error
	}
	calls := reflect.ValueOf([]call{
		{Q: query{"users", "apple", 1}, Dir: "up"},
		{Q: query{"users", "pear", 1}, Dir: "up"},
		{Q: query{"users", "nut", 2}, Dir: "down"},
		{Q: query{"items", "pears", 1}, Dir: "up"},
	})
	for _, c := range []struct {
		q    query
		dir  string
		want string
	}{
		{query{"users", "pears", 1}, "up", `Q.Key: recorded "pear", called with "pears"`},
		{query{"users", "apples", 1}, "up", `Q.Key: recorded "apple", called with "apples"`},
		{query{"users", "nut", 1}, "down", `Q.Limit: recorded 2, called with 1`},
		{query{"items", "pears", 1}, "upper", `Dir: recorded "up", called with "upper"`},
	} {
		same, message := new(replay).find(calls, []reflect.Value{reflect.ValueOf(c.q), reflect.ValueOf(c.dir)})
		if _, differs, _ := strings.Cut(message, "\n\t"); same != nil || differs != c.want {
			t.Errorf("%v, %q: %v, %s", c.q, c.dir, same, message)
		}
	}
	if same, _ := new(replay).find(calls, []reflect.Value{reflect.ValueOf(query{"users", "pear", 1}), reflect.ValueOf("up")}); !reflect.DeepEqual(same, []int{1}) {
		t.Error(same)
	}
}
