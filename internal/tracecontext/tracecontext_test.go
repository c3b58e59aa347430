package tracecontext

import (
	"fmt"
	"strings"
	"testing"
)

const (
	trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	id    = "00f067aa0ba902b7"
	known = "00-" + trace + "-" + id + "-01"
)

// TestTraceparent has the cases of the recommendation's own test suite, and others.
func TestTraceparent(t *testing.T) {
	for header, want := range map[string]string{
		known:                                                 known,
		"00-" + trace + "-" + id + "-00":                      "00-" + trace + "-" + id + "-00",
		"00-" + trace + "-" + id + "-ff":                      known,                            // version 00 sends no other flags on
		"00-" + trace + "-" + id + "-0a":                      "00-" + trace + "-" + id + "-00", // the lowest is that of a
		"00-" + trace + "-" + id + "-0b":                      known,
		"cc-" + trace + "-" + id + "-01":                      known, // a future version
		"cc-" + trace + "-" + id + "-01-next":                 known,
		"cc-" + trace + "-" + id + "-01.next":                 "",
		"cc-" + trace + "-" + id + "-01-":                     known,
		"ff-" + trace + "-" + id + "-01":                      "",
		"00-" + trace + "-" + id + "-01-":                     "",
		"00-" + trace + "-" + id + "-01-next":                 "",
		"00-" + trace + "-" + id + "-01 ":                     "",
		"00-" + trace + "-" + id + "-1":                       "",
		"00-" + trace + "-" + id + "-0x":                      "",
		"00-" + trace + "-" + id + "-0A":                      "",
		"00-" + trace + "-" + id + "_01":                      "",
		"00_" + trace + "-" + id + "-01":                      "",
		"00-" + trace + "_" + id + "-01":                      "",
		"0-" + trace + "-" + id + "-01":                       "",
		"0g-" + trace + "-" + id + "-01":                      "",
		"000-" + trace + "-" + id + "-01":                     "",
		strings.ToUpper(known):                                "",
		"00-" + strings.Repeat("0", 32) + "-" + id + "-01":    "",
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01": "",
		"00-" + trace + "0-" + id[1:] + "-01":                 "",
		"":                                                    "",
		"00":                                                  "",
	} {
		c, ok := Read([]string{header}, nil)
		if c.Header != want || ok != (want != "") || ok && c.Received != header {
			t.Errorf("Read(%q) = %+v, %t, want %q", header, c, ok, want)
		}
	}
	for _, headers := range [][]string{nil, {known, known}} {
		if c, ok := Read(headers, []string{"a=1"}); ok || c != (Context{}) {
			t.Errorf("Read(%q) = %+v, %t, want none", headers, c, ok)
		}
	}
}

func TestTracestate(t *testing.T) {
	members := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("k%d=v", i))
		}
		return strings.Join(list, ",")
	}
	for state, ok := range map[string]bool{
		"":                        true,
		"a=1":                     true,
		"a=1,b=2":                 true,
		"a=1 ,\t b= 2 ,":          true,
		",,a=1":                   true,
		"a=1,a=2":                 false,
		"a":                       false,
		"=1":                      false,
		"a=":                      false,
		"a=1=2":                   false,
		"a=\x7f":                  false,
		"a=\xe9":                  false,
		"A=1":                     false,
		"1a=1":                    false,
		"a_-*/9=1":                true,
		"a =1":                    false,
		"1t@sys=1":                true,
		"t@1sys=1":                false,
		"t@s@s=1":                 false,
		"@s=1":                    false,
		"t@=1":                    false,
		members(32):               true,
		members(33):               false,
		"t@" + long(14) + "=1":    true,
		"t@" + long(15) + "=1":    false,
		long(241) + "@s=1":        true,
		long(242) + "@s=1":        false,
		long(256) + "=1":          true,
		long(257) + "=1":          false,
		"a=" + long(256):          true,
		"a=" + long(257):          false,
		"a=" + long(255) + " ,b=": false,
	} {
		want := ""
		if ok {
			want = state
		}
		if c, parent := Read([]string{known}, []string{state}); c.State != want || !parent {
			t.Errorf("tracestate %q is %q, want %q", state, c.State, want)
		}
	}
	if c, _ := Read([]string{known}, []string{"a=1", "b=2"}); c.State != "a=1,b=2" {
		t.Errorf("two headers tracestate are %q", c.State)
	}
}

func long(n int) string { return strings.Repeat("x", n) }

func TestMade(t *testing.T) {
	numbers := []uint64{0, 1, 0xabcdef0123456789, 0, 0, 0xfedcba9876543210, 0, 0x12}
	random := func() uint64 {
		n := numbers[0]
		numbers = numbers[1:]
		return n
	}
	first := Context{}.Child(random)
	if want := (Context{Header: "00-0000000000000001abcdef0123456789-fedcba9876543210-01"}); first != want {
		t.Errorf("a new trace is %+v, want %+v", first, want)
	}
	c := Context{Header: known, State: "a=1", Baggage: "user=7", Received: known, Known: trace + "-" + id, Foreign: true}
	child := c.Child(random)
	if want := (Context{"00-" + trace + "-0000000000000012-01", "a=1", "user=7", known, trace + "-" + id, false}); child != want {
		t.Errorf("the child is %+v, want %+v", child, want)
	}
	if child.Trace() != trace || child.ID() != "0000000000000012" || child.Span() != trace+"-0000000000000012" || c.ID() != id {
		t.Errorf("the parts are %q, %q, %q", child.Trace(), child.ID(), child.Span())
	}
	for parent, want := range map[string]bool{known: true, "00-" + trace + "-" + id + "-00": true, "00-1" + trace[1:] + "-" + id + "-01": false, child.Header: false, "": false} {
		if child.PassesOn(parent) != want || first.PassesOn(parent) && parent != "" {
			t.Errorf("%q: PassesOn returns %v", parent, !want)
		}
	}
}

func TestBaggage(t *testing.T) {
	long := strings.Repeat("a", baggageMax)
	for _, c := range []struct {
		values []string
		want   string
	}{
		{nil, ""},
		{[]string{"userId=alice,isProduction=false"}, "userId=alice,isProduction=false"},
		{[]string{" a=1;p=2 ", "b=%E2%82%AC"}, "a=1;p=2 ,b=%E2%82%AC"},
		{[]string{long}, long},
		{[]string{long, "b"}, ""},
		{[]string{"a=1\r\nCookie: x"}, ""},
		{[]string{"a=\x00"}, ""},
		{[]string{"a=é"}, ""},
	} {
		if got := Baggage(c.values); got != c.want {
			t.Errorf("%.40q: %.40q, want %.40q", c.values, got, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(known, "a=1")
	f.Add("cc-"+trace+"-"+id+"-ff-next", "t@s=1,,b= 2 ")
	f.Fuzz(func(t *testing.T, parent, state string) {
		c, ok := Read([]string{parent}, []string{state})
		if !ok {
			if c != (Context{}) {
				t.Fatalf("Read(%q, %q) = %+v and none", parent, state, c)
			}
			return
		}
		again, ok := Read([]string{c.Header}, []string{c.State})
		if again.Received = c.Received; !ok || again != c {
			t.Errorf("Read(%q, %q) = %+v, which is read as %+v, %t", parent, state, c, again, ok)
		}
		if strings.ContainsAny(c.State, "\r\n\x00") || !strings.Contains(parent, c.Span()) {
			t.Errorf("Read(%q, %q) = %+v", parent, state, c)
		}
	})
}
