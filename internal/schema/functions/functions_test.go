package functions

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// statement is one that is not to end, or is to end with an error. It keeps what was cut.
type statement struct {
	ended error
	cut   []string
}

func (s *statement) Stopped() bool              { return s.ended != nil }
func (s *statement) Interrupted() error         { return s.ended }
func (s *statement) Cut(_, text string, _ bool) { s.cut = append(s.cut, text) }

func (s *statement) Done() <-chan struct{} {
	done := make(chan struct{})
	if s.ended != nil {
		close(done)
	}
	return done
}

// call calls the function of a name that takes so many arguments.
func call(t *testing.T, s Statement, name string, args ...value) value {
	t.Helper()
	all := All()
	at := slices.IndexFunc(all, func(f Function) bool {
		return f.Name == name && (f.Args < 0 || int(f.Args) == len(args))
	})
	if at < 0 {
		t.Fatalf("there is no %s of %d arguments", name, len(args))
	}
	return all[at].Call(s, args)
}

// TestAll: functions work without a session. What they return is compared with MariaDB by package
// schema's tests.
func TestAll(t *testing.T) {
	s := &statement{}
	for _, c := range []struct {
		want value
		name string
		args []value
	}{
		{"aNULL", "concat", []value{"a", "NULL"}},
		{nil, "concat", []value{"a", nil}},
		{3.5, "quotient", []value{int64(7), int64(2), int64(4)}},
		{int64(3), "whole_division", []value{0.3, 0.1}},
		{"2026-03-01", "time_shift", []value{"2026-02-28", int64(1), "DAY", int64(1)}},
		{int64(1), "like", []value{"a%", "ABC"}},
		{"xbx", "regexp_replace", []value{"aba", "A", "x"}},
		{12.0, "number", []value{"12 apples"}},
		{"12.50", "number_text", []value{12.5, int64(2)}},
	} {
		if got := call(t, s, c.name, c.args...); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s%v: %v, want %v", c.name, c.args, got, c.want)
		}
	}
	if !slices.Equal(s.cut, []string{"12 apples"}) {
		t.Errorf("cut: %q", s.cut)
	}
	names := map[string]bool{}
	for _, f := range All() {
		key := fmt.Sprint(f.Name, " ", f.Args)
		if names[key] {
			t.Errorf("there are two of %s arguments", key)
		}
		names[key] = true
	}
}

// TestEnd: what takes long ends when its statement is to end.
func TestEnd(t *testing.T) {
	s := &statement{ended: mysqlerr.New(mysqlerr.Interrupted, "it is")}
	began := time.Now()
	if got := call(t, s, "sleep", int64(100)); got != int64(1) || time.Since(began) > 50*time.Second {
		t.Errorf("sleep: %v after %v", got, time.Since(began))
	}
	long := make([]byte, 4*lookEvery)
	for i := range long {
		long[i] = 'a'
	}
	if got, ok := call(t, s, "like", "%b%c", string(long)).(error); !ok || !errors.Is(got, s.ended) {
		t.Errorf("like: %v", got)
	}
}
