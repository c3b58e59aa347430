package rule_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// diff tells want and got apart, and is "" if they are the same. Packages that programs import have
// tests without other modules, which programs would get into their go.sum (TestImport of version).
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("got  %+v\nwant %+v", got, want)
}

// clause is a clause of one func selector and the defaults, after change.
func clause(glob string, change func(*rule.Clause)) rule.Clause {
	c := rule.Clause{
		Selectors: []rule.Selector{{Kind: "func", Pattern: glob}},
		Detail:    rule.Args,
		First:     rule.DefaultFirst,
	}
	if change != nil {
		change(&c)
	}
	return c
}

func TestParse(t *testing.T) {
	sel := func(s ...rule.Selector) func(*rule.Clause) {
		return func(c *rule.Clause) { c.Selectors = s }
	}
	tests := []struct {
		text string
		want []rule.Clause
	}{
		{"", nil},
		{" \t\r\n ; ;; \n# comment ; main.* \n", nil},
		{"0", nil},
		{"off", nil},
		{" false ; # nothing", nil},
		{"1", []rule.Clause{clause("*", nil)}},
		{"on", []rule.Clause{clause("*", nil)}},
		{"all", []rule.Clause{clause("*", nil)}},
		{"true", []rule.Clause{clause("*", nil)}},
		{"all=deep", []rule.Clause{clause("*", func(c *rule.Clause) { c.Detail = rule.Deep })}},
		{"func:all", []rule.Clause{clause("all", nil)}},
		{"func:off", []rule.Clause{clause("off", nil)}},
		{"main.*;b # why; not\nc", []rule.Clause{clause("main.*", nil), clause("b", nil), clause("c", nil)}},
		{"net/http.(*Client).Do", []rule.Clause{clause("net/http.(*Client).Do", nil)}},

		// Negation.
		{"!main.f", []rule.Clause{clause("main.f", func(c *rule.Clause) { c.Detail = rule.Off })}},
		{"main.f=off", []rule.Clause{clause("main.f", func(c *rule.Clause) { c.Detail = rule.Off })}},
		{"! main.f = args", []rule.Clause{clause("main.f", func(c *rule.Clause) { c.Selectors[0].Negated = true })}},
		{"!main.f=off", []rule.Clause{clause("main.f", func(c *rule.Clause) {
			c.Selectors[0].Negated, c.Detail = true, rule.Off
		})}},
		{"!main.f & b", []rule.Clause{clause("", sel(
			rule.Selector{Negated: true, Kind: "func", Pattern: "main.f"},
			rule.Selector{Kind: "func", Pattern: "b"}))}},

		// Kinds.
		{"db.go", []rule.Clause{clause("", sel(rule.Selector{Kind: "file", Pattern: "db.go"}))}},
		{"x/db.go:12", []rule.Clause{clause("", sel(rule.Selector{Kind: "file", Pattern: "x/db.go", From: 12, To: 12}))}},
		{"file: C:/x/*.go : 10 - 80", []rule.Clause{clause("", sel(rule.Selector{Kind: "file", Pattern: "C:/x/*.go", From: 10, To: 80}))}},
		{"C:/x/db.go", []rule.Clause{clause("", sel(rule.Selector{Kind: "file", Pattern: "C:/x/db.go"}))}},
		{"net/...", []rule.Clause{clause("", sel(rule.Selector{Kind: "pkg", Pattern: "net/..."}))}},
		{"x.Map[...]", []rule.Clause{clause("x.Map[...]", nil)}},
		{"pkg:main & bin:/usr/bin/a b", []rule.Clause{clause("", sel(
			rule.Selector{Kind: "pkg", Pattern: "main"},
			rule.Selector{Kind: "bin", Pattern: "/usr/bin/a b"}))}},

		{"probe/tcp/*", []rule.Clause{clause("", sel(rule.Selector{Kind: "probe", Pattern: "tcp/*"}))}},
		{"probe:a-b/c_1 & bin:x", []rule.Clause{clause("", sel(rule.Selector{Kind: "probe", Pattern: "a-b/c_1"}, rule.Selector{Kind: "bin", Pattern: "x"}))}},

		// Settings.
		{"probe/*=fields=cs_pid+ip_saddr,first=1", []rule.Clause{clause("", func(c *rule.Clause) {
			c.Selectors = []rule.Selector{{Kind: "probe", Pattern: "*"}}
			c.Fields, c.First, c.FirstSet = "cs_pid+ip_saddr", 1, true
		})}},
		{"f=count", []rule.Clause{clause("f", func(c *rule.Clause) { c.Detail = rule.Count })}},
		{"f=call", []rule.Clause{clause("f", func(c *rule.Clause) { c.Detail = rule.Call })}},
		{"f=count,tree,in=main.g,after=?.h", []rule.Clause{clause("f", func(c *rule.Clause) {
			c.Detail, c.Tree, c.In, c.After = rule.Count, true, "main.g", "?.h"
		})}},
		{"f=redact=card+pin-code, deep; probe/a/b=redact=off", []rule.Clause{clause("f", func(c *rule.Clause) {
			c.Text, c.Redact, c.Detail = "f=redact=card+pin-code, deep", "card+pin-code", rule.Deep
		}), clause("probe/a/b", func(c *rule.Clause) {
			c.Text, c.Redact = "probe/a/b=redact=off", "off"
			c.Selectors = []rule.Selector{{Kind: "probe", Pattern: "a/b"}}
		})}},
		{"f=capture=req.URL.Path+1.x+ret0.n_2,call", []rule.Clause{clause("f", func(c *rule.Clause) {
			c.Capture, c.Detail = "req.URL.Path+1.x+ret0.n_2", rule.Call
		})}},
		{"f=untimed", []rule.Clause{clause("f", func(c *rule.Clause) { c.Untimed = true })}},
		{"f=span,tree", []rule.Clause{clause("f", func(c *rule.Clause) { c.Span, c.Tree = true, true })}},
		{"f = deep , first = 0 , depth=3, min=1.5ms, rate= 10 / m", []rule.Clause{clause("f", func(c *rule.Clause) {
			c.Detail, c.First, c.FirstSet, c.Depth, c.Min, c.Rate, c.Per = rule.Deep, 0, true, 3, 1.5e6, 10, 60e9
		})}},
		{"f=rate=4294967295/s,first=18446744073709551615", []rule.Clause{clause("f", func(c *rule.Clause) {
			c.First, c.FirstSet, c.Rate, c.Per = 1<<64-1, true, 1<<32-1, 1e9
		})}},
	}
	for _, test := range tests {
		got, err, ok := rule.Parse(test.text)
		if !ok {
			t.Errorf("Parse(%q): %v", test.text, err)
			continue
		}
		for _, clauses := range [][]rule.Clause{test.want, got} {
			for i := range clauses {
				clauses[i].Text = ""
			}
		}
		if diff := diff(test.want, got); diff != "" {
			t.Errorf("Parse(%q):\n%s", test.text, diff)
		}
	}
}

func TestText(t *testing.T) {
	clauses, err, ok := rule.Parse(" a = count # one\n\n!b;c & d ;")
	if !ok {
		t.Fatal(err)
	}
	var got []string
	for _, c := range clauses {
		got = append(got, c.Text)
	}
	if diff := diff([]string{"a = count", "!b", "c & d"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseErrors(t *testing.T) {
	const separators = ` (clauses are separated by ";", selectors of one clause by "&")`
	const relative = ` is relative to a directory, which a running program does not know: ` +
		`write an import path (example.com/x/...) or the end of a file's path (x/db.go)`
	const noLine = ` is no line (:12) or range of lines (:10-80)`
	const noDuration = ` is not a duration (such as 250us, 1ms or 1.5s)`
	const noRate = ` is not a rate (such as 10/s or 10/m)`
	const noNumber = ` is not a number, or is too large`
	tests := []struct {
		text, at string // at is the text at fault, "" where something is missing
		offset   int
		message  string
	}{
		// Probes.
		{"probe/tcp", "tcp", 6, `"tcp" is not a provider and a probe with a slash between (such as "probe/tcp/send", or "probe/tcp/*" for all of a provider)`},
		{"probe:tcp:::send", ":", 9, `":" cannot be in a probe's name (such as "probe/tcp/send")`},
		{"probe/tcp/*=tree", "tree", 12, `"tree" is for functions: a probe calls nothing`},
		{"probe/tcp/*=call,min=1ms", "call,min=1ms", 12, `"min" is for functions: a probe does not last`},
		{"main.*=fields=a", "fields=a", 7, `"fields" is for probes (such as "probe/tcp/*=fields=cs_pid")`},
		// Waits.
		{"wait/", "", 5, `missing name after "wait/" (such as "wait/synch/mutex", or "wait/*" for all)`},
		{"wait/Synch", "S", 5, `"S" cannot be in a wait's name (such as "wait/synch/mutex", or "wait/*" for all)`},
		{"wait/*=tree", "tree", 7, `"tree", "capture", "redact", "deep" and "changes" are for functions: a wait has no parameters and calls nothing`},
		{"wait/*=changes", "changes", 7, `"tree", "capture", "redact", "deep" and "changes" are for functions: a wait has no parameters and calls nothing`},
		{"probe/*=changes", "changes", 8, `"changes" is for functions: nothing else has parameters that it could change`},
		{"stage/*=changes", "changes", 8, `"changes" is for functions: nothing else has parameters that it could change`},
		{"f=changes,deep", "deep", 10, `"deep" conflicts with "changes": a clause has one detail`},
		{"wait/*=span", "span", 7, `"span" is for functions: statements and stages are spans, probes and waits are events of spans`},
		{"probe/tcp/*=span", "span", 12, `"span" is for functions: statements and stages are spans, probes and waits are events of spans`},
		{"stage/*=call,span", "call,span", 8, `"span" is for functions: statements and stages are spans, probes and waits are events of spans`},
		{"f=count,span", "span", 8, `"span" conflicts with "count": count prints nothing`},
		{"wait/*=untimed", "untimed", 7, `"untimed" is for functions: a wait is nothing but time`},
		{"f=capture=req", "req", 10, `"req" is not a list of paths with "+" between (such as req.URL.Path+req.Method, ret0.Status)`},
		{"f=capture=a.b+", "a.b+", 10, `"a.b+" is not a list of paths with "+" between (such as req.URL.Path+req.Method, ret0.Status)`},
		{"f=capture=a..b", "a..b", 10, `"a..b" is not a list of paths with "+" between (such as req.URL.Path+req.Method, ret0.Status)`},
		{"f=capture=a.b-c", "a.b-c", 10, `"a.b-c" is not a list of paths with "+" between (such as req.URL.Path+req.Method, ret0.Status)`},
		{"f=count,capture=a.b", "capture=a.b", 8, `"capture" conflicts with "count": count prints nothing`},
		{"f=redact", "redact", 2, `"redact" needs a value: redact=NAME+NAME`},
		{"f=redact=a+", "a+", 9, `"a+" is not a list of names with "+" between (such as card+pin_code, or off)`},
		{"f=redact=a+_-", "a+_-", 9, `"a+_-" is not a list of names with "+" between (such as card+pin_code, or off)`},
		{"f=redact=a|b", "a|b", 9, `"a|b" is not a list of names with "+" between (such as card+pin_code, or off)`},
		{"f=count,redact=off", "redact=off", 8, `"redact" conflicts with "count": count prints nothing`},
		{"probe/a/b=capture=a.b", "capture=a.b", 10, `"capture" is for functions: for probes there is "fields"`},
		{"probe/a/b=fields=a++b", "a++b", 17, `"a++b" is not a list of names with "+" between (such as cs_pid+ip_saddr)`},
		{"probe/a/b=count,fields=a", "fields=a", 16, `"fields" conflicts with "count": count prints nothing`},

		// Clauses and selectors.
		{"a;off", "off", 2, `"off" must be the whole value (did you mean "*=off", or "func:off"?)`},
		{"off;a", "off", 0, `"off" must be the whole value (did you mean "*=off", or "func:off"?)`},
		{"off;off", "off", 4, `"off" must be the whole value (did you mean "*=off", or "func:off"?)`},
		{"0=args", "0", 0, `"0" must be the whole value (did you mean "*=off", or "func:0"?)`},
		{"!", "!", 0, `missing selector`},
		{"=args", "", 0, `missing selector`},
		{"a & & b", "", 4, `missing selector`},
		{"a&", "", 2, `missing selector`},
		{"a; func: ;b", "func:", 3, `missing pattern after "func:"`},
		{"fun:a", "fun", 0, `unknown selector "fun" (did you mean "func"?)`},
		{"Pkg:a", "Pkg", 0, `unknown selector "Pkg" (did you mean "pkg"?)`},
		{"package:a", "package", 0, `unknown selector "package" (one of func:GLOB, pkg:PATTERN, file:GLOB, bin:GLOB, probe:PROVIDER/NAME, wait:KIND)`},
		{"./...", "./...", 0, `"./..."` + relative},
		{"a&!pkg:../x", "../x", 7, `"../x"` + relative},
		{"file:./db.go", "./db.go", 5, `"./db.go"` + relative},
		{".", ".", 0, `"."` + relative},
		{"main.a main.b", " ", 6, `" " cannot be in a function's name` + separators},
		{"main.a,main.b", ",", 6, `"," cannot be in a function's name` + separators},
		{"!!a", "!", 1, `"!" cannot be in a function's name` + separators},
		{"net/http:a", ":", 8, `":" cannot be in a function's name` + separators},
		{"net/http", "net/http", 0, `"net/http" is a package, not a function (did you mean "pkg:net/http"?)`},
		{"pkg:net/*", "*", 8, `"*" is not a wildcard in a package pattern (did you mean "..."?)`},
		{"net/...,os/...", ",", 7, `"," cannot be in a package path` + separators},

		// Lines.
		{"db.go:", ":", 5, `":"` + noLine},
		{"db.go:0", ":0", 5, `":0"` + noLine},
		{"db.go:x", ":x", 5, `":x"` + noLine},
		{"db.go:8-", ":8-", 5, `":8-"` + noLine},
		{"db.go:80-10", ":80-10", 5, `":80-10"` + noLine},
		{"db.go:80:3", ":3", 8, `":3"` + noLine},
		{"db.go:2147483648", ":2147483648", 5, `":2147483648"` + noLine},
		{"file::8", ":8", 5, `missing file before the line`},

		// Settings.
		{"main.*=agrs", "agrs", 7, `unknown setting "agrs" (did you mean "args"?)`},
		{"a;b = args , frist=2", "frist", 13, `unknown setting "frist" (did you mean "first"?)`},
		{"a=verbose", "verbose", 2, `unknown setting "verbose" (one of off, count, call, args, deep, changes, tree, ` +
			`untimed, span, first=N, depth=N, in=GLOB, after=GLOB, min=DURATION, rate=N/s, fields=NAME+NAME, capture=NAME.FIELD+NAME.FIELD, redact=NAME+NAME)`},
		{"a=", "", 2, `missing setting`},
		{"a=args,", "", 7, `missing setting`},
		{"a=args,,tree", "", 7, `missing setting`},
		{"a=tree=1", "tree=1", 2, `"tree" takes no value`},
		{"a=first", "first", 2, `"first" needs a value: first=N`},
		{"a=in=", "in=", 2, `"in" needs a value: in=GLOB`},
		{"a=first=-1", "-1", 8, `"-1"` + noNumber},
		{"a=depth=4294967296", "4294967296", 8, `"4294967296"` + noNumber},
		{"a=first=18446744073709551616", "18446744073709551616", 8, `"18446744073709551616"` + noNumber},
		{"a=in=b c", " ", 6, `" " cannot be in a function's name` + separators},
		{"a=in=pkg:b", ":", 8, `":" cannot be in a function's name` + separators},
		{"a=args&b", "args&b", 2, `unknown setting "args&b" (did you mean "args"?)`},
		{"a=min=5", "5", 6, `"5"` + noDuration},
		{"a=min=-5s", "-5s", 6, `"-5s"` + noDuration},
		{"a=rate=10", "10", 7, `"10"` + noRate},
		{"a=rate=10/h", "10/h", 7, `"10/h"` + noRate},
		{"a=rate=x/s", "x", 7, `"x"` + noNumber},
		{"a=rate=0/s", "0", 7, `a rate of 0 shows nothing (did you mean "count" or "off"?)`},
		{"a=args,args", "args", 7, `duplicate setting "args"`},
		{"a=first=1,first=2", "first=2", 10, `duplicate setting "first"`},
		{"a=args,deep", "deep", 7, `"deep" conflicts with "args": a clause has one detail`},
		{"a=tree,off", "off", 7, `"off" conflicts with "tree"`},
		{"a=count,min=1s", "min=1s", 8, `"min" conflicts with "count": count prints nothing`},
		{"a=min=1s,count", "count", 9, `"count" conflicts with "min": count prints nothing`},
	}
	for _, test := range tests {
		want := rule.Error{Offset: test.offset, Length: len(test.at), Message: test.message}
		if end := test.offset + len(test.at); test.text[test.offset:end] != test.at {
			t.Fatalf("%q: the test's own offset is wrong", test.text)
		}
		clauses, err, ok := rule.Parse(test.text)
		if ok || clauses != nil {
			t.Errorf("Parse(%q) = %v, %v", test.text, clauses, ok)
		}
		if diff := diff(want, err); diff != "" {
			t.Errorf("Parse(%q):\n%s", test.text, diff)
		}
	}
}

func TestMin(t *testing.T) {
	texts := []string{"0", "1ns", "250us", "250\u00b5s", "250\u03bcs", "1ms", "1.5s", ".5s", "5.s", "1h2m3.25s",
		"1.123456789123s", "0.000000001s", "9223372036854775807ns", "9223372036s",
		"", ".", "s", ".s", "1", "1.2.3s", "1 s", "1d", "9223372036854775808ns", "9223372037s", "2562048h", "1s1"}
	for _, text := range texts {
		want, err := time.ParseDuration(text)
		clauses, _, ok := rule.Parse("f=min=" + text)
		if ok != (err == nil) {
			t.Errorf("min=%s: ok is %v, but time says %v", text, ok, err)
		} else if ok && clauses[0].Min != int64(want) {
			t.Errorf("min=%s = %d, want %d", text, clauses[0].Min, want)
		}
	}
}

var (
	inV2   = rule.Func{Package: "example.com/replacer/v2", ImportPath: "example.com/replacer/v2", PackageName: "replacer", Name: "New"}
	client = rule.Func{Package: "net/http", ImportPath: "net/http", Name: "(*Client).Do",
		File: "/go/src/net/http/client.go", Line: 585, Binary: "/home/u/bin/server"}
	program = rule.Func{Package: "main", ImportPath: "example.com/cmd/tool", Name: "run.func1",
		File: "/home/u/cmd/tool/main.go", Line: 12, Binary: `C:\bin\tool.exe`}
	generic = rule.Func{Package: "example.com/x", ImportPath: "example.com/x", Name: "(*List[...]).Push",
		File: "example.com/x@v1.2.3/list.go", Line: 7}
	function = rule.Func{Package: "example.com/x", ImportPath: "example.com/x", Name: "Map[...]"}
	escaped  = rule.Func{Package: "gopkg.in/yaml%2ev3", ImportPath: "gopkg.in/yaml.v3", Name: "Überall"}
)

func TestMatch(t *testing.T) {
	tests := []struct {
		clause string
		f      rule.Func
		want   bool
	}{
		// Functions: full name, cut name, bare name, last part.
		{"net/http.(*Client).Do", client, true},
		{"http.(*Client).Do", client, true},
		{"(*Client).Do", client, true},
		{"(*Client).*", client, true},
		{"(*C*t).D?", client, true},
		{"(*Client)", client, false},
		{"*Client).Do", client, true},
		{"(*lient).Do", client, false}, // the star is that of the pointer
		{"http.(*lient).Do", client, false},
		{"(*C*t).Do", client, true},
		{"http.(*).Do", client, true},
		{"replacer.New", inV2, true},
		{"v2.New", inV2, true},
		{"replacer/v2.New", inV2, true},
		{"placer/v2.New", inV2, false},
		{"replacer.*", inV2, true},
		{"Client).Do", client, false},
		{"Do", client, true},
		{"D?", client, true},
		{"o", client, false},
		{"do", client, false},
		{"*Client*", client, true},
		{"net/*", client, true},
		{"*.Do", client, true},
		{"?et/http.*", client, true},
		{"?net/http.*", client, false},
		{"http.*", client, true},
		{"ttp.*", client, false},
		{"net/http.*Client).Do?", client, false},
		{"all", client, true},
		{"func:all", client, false},

		{"main.run.func1", program, true},
		{"example.com/cmd/tool.run*", program, true},
		{"tool.*", program, true},
		{"run", program, false},
		{"func1", program, true},

		{"example.com/x.(*List[...]).Push", generic, true},
		{"x.(*List).Push", generic, true},
		{"(*List).Push", generic, true},
		{"(*List[...]).Push", generic, true},
		{"x.(*List[int]).Push", generic, false},
		{"Push", generic, true},
		{"Map", function, true},
		{"Map[...]", function, true},
		{"x.Map", function, true},
		{"x.Map[...]", function, true},
		{"x.M", function, false},

		{"gopkg.in/yaml.v3.*", escaped, true},
		{"gopkg.in/yaml%2ev3.*", escaped, true},
		{"?berall", escaped, true},
		{"??berall", escaped, false},
		{"*?berall", escaped, true},

		// Packages.
		{"net/...", client, true},
		{"...", client, true},
		{"...http", client, true},
		{"n.../h...", client, true},
		{"pkg:net/http", client, true},
		{"pkg:net", client, false},
		{"pkg:net/http/...", client, true},
		{"net/http/x...", client, false},
		{"pkg:main", program, true},
		{"pkg:main", client, false},
		{"example.com/...", program, true},
		{"pkg:gopkg.in/yaml.v3", escaped, true},

		// Files.
		{"client.go", client, true},
		{"http/client.go", client, true},
		{"ttp/client.go", client, false},
		{"/go/src/net/http/client.go", client, true},
		{"/client.go", client, false},
		{"c*.go", client, true},
		{"file:http/*", client, true},
		{"client.go:585", client, true},
		{"client.go:584", client, false},
		{"client.go:500-585", client, true},
		{"client.go:586-600", client, false},
		{"x@v1.2.3/list.go", generic, true},

		// Binaries.
		{"bin:server", client, true},
		{"bin:serv*", client, true},
		{"bin:erver", client, false},
		{"bin:/home/*", client, true},
		{"bin:bin/server", client, false},
		{"bin:tool.exe", program, true},

		// Conjunctions and negation.
		{"pkg:net/http&client.go", client, true},
		{"pkg:net/http&!client.go", client, false},
		{"!main.*=args", client, true},
		{"!main.*=args", program, false},
		{"!main.*&!bin:x", client, true},
		{"!Do", client, true}, // matches, and says off
	}
	for _, test := range tests {
		clauses, err, ok := rule.Parse(test.clause)
		if !ok || len(clauses) != 1 {
			t.Errorf("Parse(%q): %d clauses, %v", test.clause, len(clauses), err)
			continue
		}
		if got := clauses[0].Match(&test.f); got != test.want {
			t.Errorf("%q matches %s.%s: %v", test.clause, test.f.Package, test.f.Name, got)
		}
	}
}

func TestDecide(t *testing.T) {
	tests := []struct {
		rules string
		want  int
	}{
		{"", -1},
		{"main.*", -1},
		{"*;http.*=deep;main.*", 1},
		{"http.*=deep;*", 1},
		{"*;!Do;os.*", 1},
	}
	for _, test := range tests {
		clauses, err, ok := rule.Parse(test.rules)
		if !ok {
			t.Fatal(err)
		}
		if got := rule.Decide(clauses, &client); got != test.want {
			t.Errorf("Decide(%q) = %d, want %d", test.rules, got, test.want)
		}
	}
}

func TestDetailString(t *testing.T) {
	var got []string
	for d := rule.Off; d <= rule.Changes+1; d++ {
		got = append(got, d.String())
	}
	if diff := diff([]string{"off", "count", "call", "args", "deep", "changes", "invalid"}, got); diff != "" {
		t.Error(diff)
	}
}

// The examples of the user's page are rules.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(`FTRACE='([^']*)'`).FindAllSubmatch(page, -1)
	if len(examples) < 20 {
		t.Errorf("found only %d examples", len(examples))
	}
	for _, example := range examples {
		if _, err, ok := rule.Parse(string(example[1])); !ok {
			t.Errorf("%s: %v", example[0], err)
		}
	}
}

// Matching happens for each clause and function when a program starts, and for
// in and after while it runs.
func TestMatchAllocatesNothing(t *testing.T) {
	clauses, err, ok := rule.Parse("net/*o&http/...&http/*.go:1-9999&bin:serv*;x*y*z")
	if !ok {
		t.Fatal(err)
	}
	allocs := testing.AllocsPerRun(10, func() {
		for i := range clauses {
			clauses[i].Match(&client)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// TestMisspells: a name that is nearly that of a function, whatever precedes it.
func TestMisspells(t *testing.T) {
	for _, test := range []struct {
		clause, name string
		want         int
	}{
		{"main.sow", "show", 1},
		{"v2.Replce=call,first=3", "(*Replacer).Replace", 1},
		{"hsow", "show", 1},
		{"Show", "show", 0},
		{"main.nothing", "show", -1},
		{"main.s*", "sow", -1},
		{"main.x", "y", -1},
		{"func:sow & pkg:main", "show", -1},
		{"pkg:sow", "show", -1},
		{"probe/tcp/sow", "show", -1},
	} {
		clauses, err, ok := rule.Parse(test.clause)
		if !ok {
			t.Fatalf("%s: %v", test.clause, err)
		}
		if got := clauses[0].Misspells(&rule.Func{Package: "main", Name: test.name}); got != test.want {
			t.Errorf("%s misspells %s by %d, want %d", test.clause, test.name, got, test.want)
		}
	}
}
