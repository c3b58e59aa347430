package loglevel

import (
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

func TestLevels(t *testing.T) {
	l, err := ParseLevels("net/...=trace, info,\n db.go=debug # the store\n# nothing\n,main=warn,store/*.go=notice,pkg:net/url=err,file:main=1,")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := l.String(), "info,net/...=trace,db.go=debug,main=warn,store/*.go=notice,pkg:net/url=err,file:main=info+1"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, test := range []struct {
		pkg, file string
		want      Level
	}{
		{"net", "/go/net/dial.go", Trace},
		{"net/http", "/go/net/http/server.go", Trace},
		{"network", "/src/network/a.go", Info},
		{"net/url", "/go/net/url/url.go", Error},
		{"example.com/x", "/src/x/db.go", Debug},
		{"net/http", "/src/db.go", Debug},
		{"main", "/src/db.go", Warn},
		{"main", "/src/store/db.go", Notice},
		{"x", "/src/main", 1},
		{"x", "", Info},
	} {
		if got := l.Of(test.pkg, test.file); got != test.want {
			t.Errorf("Of(%q, %q) = %v, want %v", test.pkg, test.file, got, test.want)
		}
	}
}

func TestLevelsErrors(t *testing.T) {
	for _, test := range []struct{ text, fault, message string }{
		{"info,debug", "debug", "second default"},
		{"net/http", "net/http", "no PATTERN=LEVEL"},
		{"info, net/http = loud ", "loud", "is no level"},
		{"x=", "", "is no level"},
		{"info,=debug", "", "missing pattern"},
		{"./...=debug", "./...", "relative"},
		{"warn,net/*=debug", "net/*", "not a wildcard"},
		{"func:main.f=debug", "func:main.f", "levels are by package (pkg:) or file (file:), not by func:"},
		{"db.go:12=debug", "db.go:12", "not by line"},
		{"!net=debug", "!net", "none of"},
		{"net & net/http=debug", "net & net/http", "none of"},
		{"pkg:=debug", "pkg:", "missing pattern"},
		{"dir:x=debug", "dir:x", "cannot be in a package path"},
		{"a=b=debug", "b=debug", "is no level"},
	} {
		l, err := ParseLevels(test.text)
		var e *SyntaxError
		if !errors.As(err, &e) || e.Text != test.text || e.Text[e.Offset:e.Offset+e.Length] != test.fault || !strings.Contains(err.Error(), test.message) {
			t.Errorf("%q: %+v", test.text, err)
		}
		if !reflect.DeepEqual(l, Levels{}) {
			t.Errorf("%q: %v", test.text, l)
		}
	}
}

func TestLowest(t *testing.T) {
	for text, want := range map[string]Level{
		"": Info, "warn": Warn, "warn,a=debug": Debug, "trace,a=info": Trace, "trace,...=info": Info, "err,a=trace,...=info,b=debug": Debug,
		"trace,a=trace,*.go=info": Trace, "trace,a=trace,file:*=warn": Warn,
	} {
		l, err := ParseLevels(text)
		if err != nil || l.Lowest() != want {
			t.Errorf("%q: %v, %v, want %v", text, l.Lowest(), err, want)
		}
	}
}

func TestFromEnv(t *testing.T) {
	t.Setenv("APP_LOG", "")
	if v, err := FromEnv("APP_LOG", "warn"); err != nil || v.String() != "warn" {
		t.Error(v, err)
	}
	t.Setenv("APP_LOG", "debug,main=trace")
	if v, err := FromEnv("APP_LOG", "warn"); err != nil || v.String() != "debug,main=trace" || v.Level() != slog.Level(Trace) {
		t.Error(v, err)
	}
	t.Setenv("APP_LOG", "main=loud")
	if v, err := FromEnv("APP_LOG", "warn"); err == nil || !strings.Contains(err.Error(), "APP_LOG: loglevel: at byte 5 of") || v.String() != "warn" {
		t.Error(v, err)
	}
	if v, err := FromEnv("APP_LOG", "loud"); err == nil || v.String() != "info" {
		t.Error(v, err)
	}
}

// FuzzLevels checks that no text breaks ParseLevels, that faults lie in the text, and that levels
// are printed as text that means the same.
func FuzzLevels(f *testing.F) {
	for _, text := range []string{"", "info,net/...=trace,db.go=debug", "a=-8,\n# x\n*.go=e+1,file:x?y=w", "info,info", "x=,=y,./..=d", "pkg: a = t, file:C:/x.go=i"} {
		f.Add(text, "net/http", "/go/src/net/http/client.go")
	}
	f.Fuzz(func(t *testing.T, text, path, file string) {
		l, err := ParseLevels(text)
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(text) || e.Message == "" {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		printed := l.String()
		again, err := ParseLevels(printed)
		if err != nil || !reflect.DeepEqual(l, again) || again.String() != printed {
			t.Fatalf("%q is printed as %q, which is %v, %v", text, printed, again, err)
		}
		if level := l.Of(path, file); level < l.Lowest() {
			t.Fatalf("%q: %v is below %v", text, level, l.Lowest())
		}
		v := new(LevelsVar)
		v.Store(l)
		rules := clausesOf([]*Binding{{v: v}})
		clauses, fault, ok := rule.Parse(rules)
		traced := rule.Decide(clauses, &rule.Func{Package: path, ImportPath: path, File: file}) >= 0
		if !ok || traced != (l.Of(path, file) <= Trace) {
			t.Fatalf("%q is bound by %q, %v, which traces %s %s: %v", text, rules, fault, path, file, traced)
		}
	})
}
