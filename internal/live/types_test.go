package live

import "testing"

func TestPlace(t *testing.T) {
	for _, test := range []struct {
		want  string
		calls []string
	}{
		{"", nil},
		{"main.work", []string{"runtime.gopark", "main.work", "main.main"}},
		{"main.(*T[net/http.Header]).lock", []string{"runtime.gopark", "internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock", "main.(*T[net/http.Header]).lock"}},
		{"net/http.(*conn).serve", []string{"internal/poll.(*FD).Read", "net.(*conn).Read", "bufio.(*Reader).Peek", "net/http.(*conn).serve"}},
		{"example.com/net.Read", []string{"net.Read", "example.com/net.Read"}},
		{"time.Sleep", []string{"runtime.gopark", "time.Sleep", "runtime.main", "runtime.goexit"}},
	} {
		s := State{}
		for _, name := range test.calls {
			s.Calls = append(s.Calls, Position{Function: name})
		}
		if got := s.Place().Function; got != test.want {
			t.Errorf("%v: place %q, want %q", test.calls, got, test.want)
		}
	}
}
