package loglevel

import (
	"errors"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

// What a binding does to a program with hooks is tested by
// cmd/ftrace-wrap/testdata/script/loglevel.txtar.

func TestBindOptions(t *testing.T) {
	var v LevelVar
	for _, test := range []struct {
		option  Option
		message string
	}{
		{For("net/..."), ""},
		{For(" pkg:net/http", "db.go"), ""},
		{For("x", "net/*"), `at byte 0 of "net/*"`},
		{For("!x"), "no pattern"},
		{As("deep,min=1ms"), ""},
		{As("tree"), ""},
		{As("agrs"), `at byte 0 of "agrs": unknown setting "agrs" (did you mean "args"?)`},
		{As("call,deep"), "at byte 5"},
		{As("off"), "no settings of a clause that traces"},
		{As("call;x"), "no settings"},
		{As("call # x"), "no settings"},
		{As(""), "missing setting"},
	} {
		b, err := Bind(&v, test.option)
		switch {
		case test.message == "" && err != ftrace.ErrInactive && err != nil:
			t.Error(err)
		case test.message != "" && (err == nil || errors.Is(err, ftrace.ErrInactive) || !strings.Contains(err.Error(), test.message)):
			t.Errorf("%v does not have %q", err, test.message)
		}
		b.Unbind()
		b.Unbind()
		if b.Err() != nil {
			t.Error(b.Err())
		}
	}
	if v.watched().Load() != 0 {
		t.Error("still watched")
	}
}

// TestBindInactive binds in a program that was not built with the wrapper.
func TestBindInactive(t *testing.T) {
	if ftrace.Active() {
		t.Skip("built with the wrapper")
	}
	var v LevelVar
	b, err := Bind(&v)
	if !errors.Is(err, ftrace.ErrInactive) {
		t.Fatal(err)
	}
	v.Store(Trace)
	v.More()
	if b.Unbind(); v.Load() != Trace {
		t.Error(&v)
	}
}

func TestClauses(t *testing.T) {
	one, many := new(LevelVar), new(LevelsVar)
	list := []*Binding{{v: one}, {v: one, parts: []part{{"pkg:a"}, {"file:b.go"}}, settings: "=call"}}
	for _, l := range []Level{Info, Trace + 1, Trace, Trace - 1} {
		one.Store(l)
		want := ""
		if l <= Trace {
			want = "*\npkg:a=call\nfile:b.go=call\n"
		}
		if got := clausesOf(list); got != want {
			t.Errorf("%v: %q, want %q", l, got, want)
		}
	}
	many.Set("trace,net/...=info,net/url=trace,x.go=debug")
	const want = "pkg:p & !pkg:net/... & !file:x.go=deep\npkg:p & pkg:net/url & !file:x.go=deep\n"
	if got := clausesOf([]*Binding{{v: many, parts: []part{{"pkg:p"}}, settings: "=deep"}}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRulesAround(t *testing.T) {
	for rules, want := range map[string]string{
		"": "|", "main.*": "|main.*", "*=count": "*=count|", "*=count;main.*;x=count": "*=count;|main.*;x=count",
		"# *=count;\n*=count;a=count # ;\nb": "# *=count;\n*=count;a=count # ;|\nb", "!a\n*=count": "|!a\n*=count",
	} {
		at := behindCounts(rules)
		if got := rules[:at] + "|" + rules[at:]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		bound := rules[:at] + beginMark + "pkg:net/...\n" + endMark + rules[at:]
		before, _, _ := rule.Parse(rules)
		if after, fault, ok := rule.Parse(bound); !ok || len(after) != len(before)+1 {
			t.Errorf("%q: %v, %d clauses", bound, fault, len(after))
		}
		if got := without(bound); got != rules {
			t.Errorf("%q without is %q", bound, got)
		}
		if got := without("x;" + bound + ";y"); got != "x;"+rules+";y" {
			t.Errorf("%q", got)
		}
	}
}
