package probe_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/probe"
)

// Without the wrapper probes are off, and do nothing.
func TestPlain(t *testing.T) {
	p := probe.New2[string, error]("test", "plain", "path", "err")
	if p.Enabled() {
		t.Error("a probe is on in a program that was built without the wrapper")
	}
	p.Fire("x", nil)
	probe.New("test", "untyped", "a").Fire(1, 2)
	if n := testing.AllocsPerRun(100, func() { p.Fire("x", nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDeclaredTwice(t *testing.T) {
	first, second := probe.New1[int]("test", "twice", "a"), probe.New1[int]("test", "twice", "a")
	if first != second {
		t.Error("the same probe, declared twice, is two")
	}
	const was = "and was as twice(a int)"
	for _, declare := range []func(){
		func() { probe.New1[string]("test", "twice", "a") },
		func() { probe.New1[int]("test", "twice", "b") },
		func() { probe.New2[int, int]("test", "twice", "a", "b") },
		func() { probe.New("test", "twice", "a") },
	} {
		if got := panics(declare); !strings.Contains(got, was) {
			t.Errorf("panic %q, want one with %q", got, was)
		}
	}
}

func TestNames(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, test := range []struct{ provider, name, arg, want string }{
		{"", "n", "a", `"" is no name of a provider`},
		{"my-app", "n", "a", `"my-app" is no name of a provider`},
		{"1app", "n", "a", `"1app" is no name of a provider`},
		{long, "n", "a", "is no name of a provider"},
		{"tcp", "send", "a", `provider "tcp" is not for programs`},
		{"app", "a/b", "a", `"a/b" is no name of a probe of provider app`},
		{"app", "-a", "a", `"-a" is no name of a probe`},
		{"app", "a b", "a", `"a b" is no name of a probe`},
		{"app", "n", "a-b", `"a-b" is no name of an argument of probe app:::n`},
		{"app", "n", "ä", "is no name of an argument"},
		{"app", "n", "b", "probe app:::n has two arguments b"},
	} {
		got := panics(func() { probe.New2[int, int](test.provider, test.name, test.arg, "b") })
		if !strings.HasPrefix(got, "probe: ") || !strings.Contains(got, test.want) {
			t.Errorf("%q %q %q: panic %q, want %q", test.provider, test.name, test.arg, got, test.want)
		}
	}
	probe.New0("_my_app2", "request-start_2-")
}

func panics(f func()) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	f()
	return
}
