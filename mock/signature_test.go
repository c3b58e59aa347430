package mock

import (
	"reflect"
	"testing"
)

type named struct{}

func TestMatch(t *testing.T) {
	const pkg = "github.com/ftrace-wrap/ftrace-wrap/mock"
	for _, c := range []struct {
		text  string
		f     any
		match bool
	}{
		{"func()", func() {}, true},
		{"func()", func() int { return 0 }, false},
		{"func(int)", func() {}, false},
		{"func()", func(int) {}, false},
		{"func(int,string)(bool,error)", func(int, string) (bool, error) { return false, nil }, true},
		{"func(int,string)(bool,error)", func(int, string) bool { return false }, false},
		{"func(int,string)(bool)", func(int, string) (bool, error) { return false, nil }, false},
		{"func(*named,[]uint8,[4]int,map[string][]named)", func(*named, []byte, [4]int, map[string][]named) {}, true},
		{"func(*named)", func(named) {}, false},
		{"func([4]int)", func([5]int) {}, false},
		{"func(chan int,<-chan int,chan<- int)", func(chan int, <-chan int, chan<- int) {}, true},
		{"func(chan int)", func(<-chan int) {}, false},
		{"func(...int)", func(...int) {}, true},
		{"func(...int)", func([]int) {}, false},
		{"func([]int)", func(...int) {}, false},
		{"func(func(any)(struct{}),_,_)(*_)", func(func(any) struct{}, int, []string) *string { return nil }, true},
		{"func(_)(_)", func(int) {}, false},
		{"func(net/http.Header,int)", func(named, int) {}, true},
		{"func(net/http.Header,int)", func(named, string) {}, false},
		{"func(anything)", func(any) {}, false},
		{"func(string)", func(named) {}, false},
	} {
		m := matcher{text: c.text, pkg: pkg}
		if got := m.match(reflect.TypeOf(c.f)); got != c.match {
			t.Errorf("%s against %T: %v", c.text, c.f, got)
		}
	}
}

func TestNumResults(t *testing.T) {
	for text, want := range map[string]int{
		"func()": 0, "func(int,func(int)(int,int))": 0, "func()(int)": 1, "func(...func()(any,_))(func(int,int)(int,int))": 1,
		"func(map[string]int)(int,func(int,int)(error),_)": 3,
	} {
		if got := (&target{typ: text}).numResults(); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
}
