package selection

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMatchGlob(t *testing.T) {
	tests := []struct {
		glob string
		yes  string
		no   string
	}{
		{"net/http", "net/http", "net net/http/httptest net/httpx"},
		{"net/http/...", "net/http net/http/httptest net/http/internal/ascii", "net net/httpx vendor/net/http"},
		{"net...", "net net/http netchan netchan/x", "ne internal/net"},
		{"...", "x x/y a.b/c", "vendor/x x/vendor/y"},
		{".../http", "net/http a/b/http", "http net/http/x"},
		{".../http/...", "net/http a/http/b/c", "http/x net/httpx"},
		{"a/.../b", "a/x/b a/x/y/b", "a/b a/x/b/c"},
		{"a...b...c", "abc axbxc abbcc", "ab acb xabc"},
		{"a/vendor/...", "a/vendor a/vendor/x", "a/vendor/x/vendor/y a"},
		{"a/.../vendor/...", "a/b/vendor/c", "a/b/c"},
		{"/w/x/...", "/w/x /w/x/y", "/w /w/xy /w/x/vendor/y"},
		{"/home/vendor/x/...", "/home/vendor/x/y", "/home/vendor/x/vendor/y"},
		{"/...", "/ /x /x/y", "/vendor/x"},
	}
	for _, test := range tests {
		for name := range strings.FieldsSeq(test.yes) {
			if !matchGlob(test.glob, name) {
				t.Errorf("%s doesn't match %s", test.glob, name)
			}
		}
		for name := range strings.FieldsSeq(test.no) {
			if matchGlob(test.glob, name) {
				t.Errorf("%s matches %s", test.glob, name)
			}
		}
	}
}

// The key shows how patterns were understood.
func TestNormalisedPatterns(t *testing.T) {
	tests := []struct{ patterns, key string }{
		{"", "main"},
		{" , ,", "main"},
		{"main", "main"},
		{"off", "off"},
		{" none ", "off"},
		{"std", "std"},
		{"!std", "main,!std"},
		{" ! example.com/x/... , std", "main,!example.com/x/...,std"},
		{"all,!cmd", "all,!cmd"},
		{"net/http/...", "net/http/..."},
		{"./...", "/w/app/..."},
		{".", "/w/app"},
		{"./", "/w/app"},
		{"..", "/w"},
		{"../y", "/w/y"},
		{"../../../..", "/"},
		{"./a/../b/...", "/w/app/b/..."},
		{"./main", "/w/app/main"},
		{"/abs//x/", "/abs/x"},
		{"./a b", `"/w/app/a b"`},
		{"...", "..."},
	}
	for _, test := range tests {
		s, err := Resolve(Environment{Dir: "/w/app", GO111MODULE: "off", Patterns: test.patterns})
		if err != nil {
			t.Errorf("%q: %v", test.patterns, err)
			continue
		}
		if got := s.Key(); got != test.key {
			t.Errorf("%q: key is %q, want %q", test.patterns, got, test.key)
		}
	}
}

func TestMalformedPatterns(t *testing.T) {
	tests := []struct{ patterns, problem string }{
		{"!", `pattern "!" is not a package pattern; a pattern must follow the !`},
		{"std,!!cmd", `pattern "!!cmd" is not a package pattern; '!' can't be in an import path`},
		{"off,std", `pattern "off" must stand alone; it selects no package at all`},
		{"std,none", `pattern "none" must stand alone; it selects no package at all`},
		{"!off", `pattern "!off" must stand alone; it selects no package at all`},
		{"net/*", `pattern "net/*" is not a package pattern; the wildcard is ...`},
		{"net/http/", `pattern "net/http/" is not a package pattern; did you mean net/http/...?`},
		{"net//http", `pattern "net//http" is not a package pattern; an import path has no empty, . or .. element`},
		{"net/../http", `pattern "net/../http" is not a package pattern; an import path has no empty, . or .. element`},
		{"std cmd", `pattern "std cmd" is not a package pattern; ' ' can't be in an import path`},
		{"std;cmd", `pattern "std;cmd" is not a package pattern; ';' can't be in an import path`},
		{"github.com/x/y@v1.2.3", `pattern "github.com/x/y@v1.2.3" is not a package pattern; leave out the version`},
		{`net\http`, `pattern "net\\http" is not a package pattern; use / between the elements`},
	}
	for _, test := range tests {
		_, err := Resolve(Environment{Dir: "/w", Patterns: test.patterns})
		if want := "FTRACE_PACKAGES: " + test.problem; err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", test.patterns, err, want)
		}
	}
	if _, err := Resolve(Environment{Patterns: "./..."}); err == nil {
		t.Error("no error for a relative pattern when the directory is not known")
	}
}

// FuzzPatterns checks that no input crashes the parser, that normalised patterns
// are parsed as themselves, and the matcher against regular expressions.
func FuzzPatterns(f *testing.F) {
	f.Add("", "x")
	f.Add("std,!net/http/...", "net/http")
	f.Add("./x/...,../y,!main", "/w/y")
	f.Add(" ! a...b/.../c , off", "axb/y/c")
	f.Add("! /x\t/", "/x\t")
	f.Fuzz(func(t *testing.T, list, name string) {
		patterns, err := parsePatterns(list, "/w")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "FTRACE_PACKAGES: pattern ") {
				t.Fatalf("unexpected form: %v", err)
			}
			return
		}
		for _, p := range patterns {
			again, err := parsePattern(p.normal(), "/elsewhere")
			if err != nil || again.normal() != p.normal() || again.kind != p.kind || again.exclude != p.exclude {
				t.Fatalf("%q is parsed as %+v, then as %+v (%v)", list, p, again, err)
			}
			if p.glob == "" || vendorElements(name) > 0 || !utf8.ValidString(p.glob) || !utf8.ValidString(name) {
				continue
			}
			want := globRegexp(p.glob).MatchString(name)
			if got := matchGlob(p.glob, name); got != want {
				t.Fatalf("matchGlob(%q, %q) = %v", p.glob, name, got)
			}
		}
	})
}

func globRegexp(glob string) *regexp.Regexp {
	expr := strings.ReplaceAll(regexp.QuoteMeta(glob), `\.\.\.`, `.*`)
	if root, ok := strings.CutSuffix(expr, `/.*`); ok {
		expr = root + `(/.*)?`
	}
	return regexp.MustCompile(`(?s)^` + expr + `$`)
}
