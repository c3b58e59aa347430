package dtrace

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// TestPrograms runs programs over the same events.
func TestPrograms(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		// Probes and predicates.
		{`call:::entry { printf("%s:%s:%s:%s\n", probeprov, probemod, probefunc, probename); }`,
			"call:main:main:entry\ncall:main:f:entry\ncall:main:f:entry\ncall:main:f:entry\ncall:example.com/x/y:(*T).Get:entry\n"},
		{`call:example.com/x/*:(*T).*:entry,call:main:mai?:return { trace(probe) }`, "call:example.com/x/y:(*T).Get:entry\ncall:main:main:return\n"},
		{`main:f:entry /n > 1 && n / 2 == 1/ { trace(n) }`, "2\n"},
		{`f:entry/s == "two"/{ trace(arg0); trace(args[1]) }`, "2 two\n"},
		{`BEGIN{trace("a")} END{trace("z")} dtrace:::BEGIN{trace(probeprov)}`, "a\ndtrace\nz\n"},
		{`tcp:::send { trace(args[2]->ip_saddr); trace(args[2]->ip_ver); trace(args[1]->cs_pid); trace(args[2]->ip_plength == NULL) }`, "127.0.0.1 4 - 1\n"},
		{`t*:::s* { trace(probe) }`, "tcp:::send\n"},
		{`:::send { trace(ipinfo.ip_saddr) }`, "127.0.0.1\n"},

		// Values.
		{`call::f:return { printf("%d %s %s|", ret, r, err) }`, "2 2 nil|0 0 no luck|10 10 nil|"},
		{`call::f:return /err != nil/ { printf("%s %d %d", s, elapsed, ret.r) }`, "two 200 0"},
		{`call::f:return { @[goid] = sum(elapsed) }`, "\n                1              300\n                7              400\n"},
		{`call::*Get:entry { trace(t); trace(arg.t->in->name); trace(args[0].in.name) }`, "0xabc0 inner inner\n"},
		{`call::*Get:return { trace(panicked); trace(panic); trace(ret); trace(err) }`, "1 \"boom\" - -\n"},
		{`call::f:entry /n == 5/ { trace(len(s)); trace(strlen(s)); trace(goid) }`, "100 64 7\n"},
		{`call::f:entry /n == 2/ { trace(caller); trace(depth); trace(callid); trace(pid); trace(execname) } `, "main.main 1 2 4242 server\n"},
		{`call::*Get:entry { stack() }`, "              example.com/x/y.(*T).Get\n              main.main\n"},
		{`tcp:::send { @[stack(1)] = count() }`, "\n\n              example.com/x/y.(*T).Get\n                1\n"},
		{`call::*Get:entry { trace(timestamp); trace(walltimestamp % 1000000000000); trace(elapsed) }`, "5740 740 740\n"},

		// Variables.
		{`call::f:entry { n0 = n0 + n; self->n += n; this->x++; $y = this->x; trace(n0); trace(self->n); trace($y) }`, "1 1 1\n3 3 1\n8 5 1\n"},
		{`call::f:entry { self->t = timestamp; a[goid, s] = n } call::f:return /self->t/ { trace(timestamp - self->t); trace(a[goid, s]); self->t = 0 }`, "100 1\n200 2\n400 5\n"},
		{`call::f:entry { self->seen[s]++; trace(self->seen["one"]) } call::f:entry {trace(missing)} BEGIN { missing = 0 }`, "1\n0\n1\n0\n0\n0\n"},
		{`call::f:entry { @last[goid] = n; @total += n; }`, "\n  @last\n                1                2\n                7                5\n\n  @total\n                8\n"},
		{`BEGIN, call::f:entry /n > 4 || probename == "BEGIN"/ { self->a[1]++; self->b++; trace(self->a[1]); trace(self->b); trace(n) }`, "0 0 -\n1 1 5\n"},
		{`BEGIN { @x["a"] = 1; @x["b"] = 2; delete(@x["a"]); trace(@x["b"]); trace(@x["a"]) }`, "2 0\n\n  b                                                                 2\n"},

		// Expressions.
		{`BEGIN { trace(1 + 2 * 3 - 8 / 4 % 3); trace((1 << 4) | 3 ^ 1); trace(~0); trace(-5 / 2); trace(7 & 3) }`, "5 18 -1 -2 3\n"},
		{`BEGIN { trace(1 < 2 ? "yes" : "no"); trace(!0 && 1 ^^ 1); trace("a" < "b"); trace("a" == 'a') }`, "yes 0 1 0\n"},
		{`BEGIN { trace(1 / 0); trace(1 / 0 == nil); trace(1 / 0 != 5); trace(0x10 + 010); trace(1_000); trace(10ms); trace(1.5 * 2) }`, "- 1 0 24 1000 10000000 3\n"},
		{`BEGIN { trace((int8_t)200); trace((uint8_t)-1); trace((string)7 + "x"); trace(9223372036854775807 + 1); trace(true) }`, "-56 255 7x -9223372036854775808 true\n"},
		{`BEGIN { trace(substr("hello", 1, 3)); trace(substr("hello", -2)); trace(strjoin("a", 1)); trace(strstr("hello", "l")); trace(index("hello", "l")); trace(strtoll("0x1f")) }`, "ell lo a1 llo 2 31\n"},
		{`BEGIN { trace(toupper("a")); trace(basename("/a/b")); trace(dirname("/a/b")); trace(strncmp("abc", "abd", 2)); trace(rindex("hello", "l")); trace(strchr("hello", 'l')) }`, "A b /a 0 3 llo\n"},
		{`BEGIN { if (1 > 2) { trace("then") } else if (2 > 1) trace("else if"); else trace("else") }`, "else if\n"},

		// Actions.
		{`BEGIN { printf("%5d|%-5d|%05d|%x|%o|%c|%5s|%-5s|%.2s|%%|%u\n", 42, 42, 42, 255, 8, 'A', "ab", "ab", "abc", 7) }`, "   42|42   |00042|ff|10|A|   ab|ab   |ab|%|7\n"},
		{`BEGIN { printf("%*d %f %g %Y %p", 5, 1, 1.5, 2.25, 0, 16) }`, "    1 1.500000 2.25 1970 Jan  1 00:00:00 0x10"},
		{`call::f:entry { @[s] = count(); } END { printa("%@d %s\n", @); printa(@) }`, "1 one\n1 two\n1 " + strings.Repeat("x", 64) + "\n\n  one                                                               1\n  two                                                               1\n  " + strings.Repeat("x", 64) + "                1\n"},
		{`call::f:entry { @a = count(); @b = avg(n); @c = min(n); @d = max(n); @e = stddev(n); @f = sum(n) } END { printa("%@d ", @a); printa("%@d ", @b); printa("%@d ", @c); printa("%@d ", @d); printa("%@d ", @e); printa("%@d\n", @f) }`, "3 2 1 5 1 8\n"},
		{`call::f:entry { @[n] = sum(n * 1000) } END { normalize(@, 1000); trunc(@, 2); }`, "\n                2                2\n                5                5\n"},
		{`call::f:entry { @[n] = sum(n * 1000) } END { normalize(@, 1000); denormalize(@); trunc(@, -1); }`, "\n                1             1000\n"},
		{`call::f:entry { @[n] = count() } END { clear(@) }`, "\n                1                0\n                2                0\n                5                0\n"},
		{`call::f:entry { @[n] = count() } END { trunc(@) }`, ""},
		{`call::f:entry { trace(n); exit(n) }`, "1\n"},
		{`#!/usr/sbin/ftrace -s
#pragma D option quiet
/* a comment, { with a brace */
BEGIN // and another
{ printf("ok"); }`, "ok"},

		// Ticks are by the recording's time.
		{`tick-500us { trace(elapsed) } END { trace("end") }`, "end\n"},
		{`interval:us:1 { @ = count() }`, "\n                1\n"},
		{`tick-1us { trace(timestamp) } call::main:return { trace(timestamp) }`, "6000\n6770\n"},
	} {
		out, errs := run(t, traffic(), test.source)
		if diff := cmp.Diff(test.want, out); diff != "" || errs != "" {
			t.Errorf("%s\n(-want +got)\n%s\n%s", test.source, diff, errs)
		}
	}
}

// TestColumns: what is printed without -q.
func TestColumns(t *testing.T) {
	m := traffic()
	p, err := Compile(`call::f:entry /n < 3/ { trace(s); trace(n); @ = count() } tcp:::send {} call::f:return { @b = count() }`)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	machine := NewMachine(p, m.r, &out, &out)
	for i := range m.events {
		machine.Event(&m.events[i])
	}
	machine.Flush()
	want := `CPU     ID                    FUNCTION:NAME
  0      1                     main.f:entry   one                1
  0      1                     main.f:entry   two                2
  1      3                       tcp:::send 
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if machine.Dropped() != 3 {
		t.Errorf("%d dropped, not 3", machine.Dropped())
	}
}

// TestHistograms: quantize and lquantize, as dtrace shows them.
func TestHistograms(t *testing.T) {
	m := newMade()
	for _, n := range []int{-9, -1, 0, 1, 2, 3, 4, 7, 7, 8} {
		m.f(1, n, "", 1, "")
	}
	out, errs := run(t, m, `call::f:entry { @["powers"] = quantize(n); @steps = lquantize(n, -2, 7, 3); @heavy = hist(n > 0 ? 1 : 0, 10) }`)
	want := `
  @
  powers
           value  ------------- Distribution ------------- count
             -16 |                                         0
              -8 |@@@@                                     1
              -4 |                                         0
              -2 |                                         0
              -1 |@@@@                                     1
               0 |@@@@                                     1
               1 |@@@@                                     1
               2 |@@@@@@@@                                 2
               4 |@@@@@@@@@@@@                             3
               8 |@@@@                                     1
              16 |                                         0


  @steps
           value  ------------- Distribution ------------- count
            < -2 |@@@@                                     1
              -2 |@@@@@@@@                                 2
               1 |@@@@@@@@@@@@                             3
               4 |@@@@                                     1
            >= 7 |@@@@@@@@@@@@                             3


  @heavy
           value  ------------- Distribution ------------- count
              -1 |                                         0
               0 |@@@@@@@@@@@@                             30
               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@             70
               2 |                                         0

`
	if diff := cmp.Diff(want, out); diff != "" || errs != "" {
		t.Error(diff, errs)
	}
}

// TestErrors: what is wrong with a program is said with its place.
func TestErrors(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"", "1:1: the program is empty"},
		{"BEGIN { trace(1) ", "1:18: the { at column 7 of line 1 is not closed"},
		{"BEGIN {\n\ttrace(1 +);\n}", `2:11: expected a value, not ")"`},
		{"BEGIN { x = \"é\"; y = ; }", `1:22: expected a value, not ";"`},
		{"call:::entry /x { }", "the predicate ends with a /"},
		{"wait:::entry { }", "1:1: a wait is recorded when it ends: wait::synch/mutex:return, or wait:::return for all kinds"},
		{"wait:main:: { }", "1:1: a wait is recorded when it ends"},
		{"call:::begin { }", "1:1: the probes of functions are called entry and return, not begin"},
		{"syscall::read:entry { }", "1:1: unknown provider syscall: Go functions are"},
		{"a:b:c:d:e { }", "1:1: a probe is provider:module:function:name"},
		{"nonsense { }", "1:1: nonsense is not a probe"},
		{"tick-1x { }", "1:1: tick-1x: an interval is"},
		{"profile-97 { }", "there are no profile probes"},
		{"BEGIN { trace(errno) }", "1:15: errno does not exist here: in Go it is an error"},
		{"BEGIN { trace(n) }", "1:15: n is neither set in the program nor known to D"},
		{"call:::entry { trace(ret) }", "1:22: results are only known when a call returns"},
		{"call:::entry { trace(err) }", "1:22: err is only known when a call returns"},
		{"BEGIN { self->x = 1 }", "1:9: self-> belongs to a goroutine"},
		{"BEGIN { pid = 1 }", "1:9: pid can't be set"},
		{"BEGIN { 1 = 2 }", "1:9: this is not a variable"},
		{"BEGIN { @x = count(); @x = sum(1) }", "1:23: @x is used with two functions"},
		{"BEGIN { @x[1] = count(); @x = count() }", "1:26: @x has 0 keys here, and 1 elsewhere"},
		{"BEGIN { @x = count(); @x++ }", "@x is used with two functions"},
		{"BEGIN { @x = lquantize(1, 5, 3) }", "from 5 to 3 in steps of 1 can't be shown"},
		{"BEGIN { printa(@x) }", "1:16: @x is not set anywhere"},
		{`BEGIN { printf("%d\n") }`, "1:9: the format takes 1 values, not 0"},
		{`BEGIN { printf("%y", 1) }`, "1:16: %y is not a conversion"},
		{`BEGIN { printf("%@d", 1) }`, "%@ is for printa"},
		{`BEGIN { trace("abc`, "1:15: a string that does not end"},
		{"BEGIN { system(\"rm\") }", "1:9: system() does not exist here: a program looks at processes"},
		{"BEGIN { frobnicate() }", "1:9: there is no function frobnicate()"},
		{"BEGIN { strlen() }", "1:9: strlen() takes 1 argument, not 0"},
		{"BEGIN { while (1) {} }", "1:9: there is no while in D"},
		{"BEGIN { x = 5z }", "1:13: 5z is not a number"},
		{"BEGIN { x = 99999999999999999999 }", "is not a number, or is too large"},
		{"BEGIN { `x }", "1:9: expected a value"},
		{"BEGIN { # }", `the character '#' has no meaning here`},
		{"BEGIN { trace($1) }", "positional parameters"},
		{"/* x", "1:1: a comment that does not end"},
		{"#pragma D option fast\nBEGIN {}", "1:18: unknown option fast"},
		{"tcp:::send { trace(args[4]->tcp_dprt) }", "1:20: tcpinfo_t has no field tcp_dprt: it has tcp_sport"},
		{"tcp:::accept-refused { }", "1:1: there is no tcp:::accept-refused"},
		{"udp:::send { trace(args[5]) }", "1:20: udp:::send has no args[5]"},
		{"BEGIN { x = " + strings.Repeat("(", 1000) + "1" + strings.Repeat(")", 1000) + "}", "nested too deeply"},
		{"call:::entry { x.y = 1 }", "this is not a variable"},
		{"call:::entry { trace(1.x) }", "expected , or )"},
	} {
		_, err := Compile(test.source)
		if err == nil {
			t.Errorf("%s: no error", test.source)
			continue
		}
		fault := err.(*Error)
		line, column, _ := place(test.source, fault.Offset)
		got := strings.Join([]string{itoa(line), itoa(column), " " + fault.Message}, ":")
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s\nwant %s", test.source, got, test.want)
		}
	}
	_, err := Compile("BEGIN {\n\ttrace(1 +);\n}")
	if want := "line 2, column 11: expected a value, not \")\"\n  \ttrace(1 +);\n  \t         ^"; err.Error() != want {
		t.Errorf("%q, not %q", err.Error(), want)
	}
}

func itoa(n int) string { return number(int64(n)).String() }

// TestMissing: values that are not in the records are said once, with how to record them.
func TestMissing(t *testing.T) {
	m := newMade()
	m.add(1, recording.Event{Kind: recording.EntryArgs, Function: keyG, Layout: layoutPlain, Data: values(0xabc0)})
	m.add(1, recording.Event{Kind: recording.EntryArgs, Function: keyG, Layout: layoutPlain, Data: values(0xabc0)})
	m.add(1, recording.Event{Kind: recording.Entry, Function: keyF})
	for _, test := range []struct{ source, want string }{
		{`call::*Get:entry { trace(t.name) }`, "ftrace: line 1, column 26: t.name of example.com/x/y.(*T).Get is not there: what the pointer (*y.T) leads to was not recorded; " +
			"ftrace record -f 'example.com/x/y.(*T).Get=args,capture=t.name' records it\n  call::*Get:entry { trace(t.name) }\n                           ^\n"},
		{`call:example.com/x/y:(*T).Get:entry { trace(u) }`, "it has no such parameter; it has t"},
		{`call:main:f:entry { trace(n) }`, "values were not recorded: the rules had call, not args; ftrace record -f 'main.f=args' records it"},
	} {
		if _, errs := run(t, m, test.source); !strings.Contains(errs, test.want) || strings.Count(errs, "ftrace: line") != 1 {
			t.Errorf("%s:\n%s", test.source, errs)
		}
	}
	// A struct has its fields, and of them what was recorded.
	m = newMade()
	m.add(1, recording.Event{Kind: recording.EntryArgs, Function: keyG, Layout: layoutStruct, Data: values("a name", 7, uint32(3), 1, 2, 3)})
	m.add(1, recording.Event{Kind: recording.EntryArgs, Function: keyG, Layout: layoutMixed, Data: values(uint32(typeT), uint32(1), "another", 8, uint32(9))})
	if out, errs := run(t, m, `call::*Get:entry { trace(t.name); trace(args[0]->size); trace(len(t.list)) }`); out != "a name 7 3\nanother 8 9\n" || errs != "" {
		t.Error(out, errs)
	}
	if _, errs := run(t, m, `call::*Get:entry { trace(t.nane) }`); !strings.Contains(errs, "y.T has no field nane: it has name, size, list") {
		t.Error(errs)
	}
}

// TestRules: a program has recorded what it asks for, and no more.
func TestRules(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{`call:main:f:entry { @ = count() }`, "func:main.f=call"},
		{`call:net/http:*:return { trace(err) }`, "func:net/http.*=args"},
		{`call::f:entry { trace(caller) }`, "*=call; func:*.f=call"},
		{`call:::entry /req.URL.Path == "/"/ { trace(args[1]->a.b) } BEGIN {}`, "func:*=args,capture=req.URL.Path+1.a.b"},
		{`call:main:f:return { trace(ret.Body.N) }`, "func:main.f=args,capture=Body.N+ret0.Body.N"},
		{`tcp:::accept-established { trace(args[2]->ip_saddr); trace(args[4]->tcp_flags) }`, "probe/tcp/accept-established=args,fields=ip_saddr"},
		{`tcp:::send { trace(args[3]->tcps_raddr) } udp:::send { trace(args[4]->udp_length) } myapp:::start { @ = count() } *:::send { @ = count() }`,
			"probe/tcp/send=args,fields=tcps_raddr; probe/udp/send=args,fields=udp_length; probe/myapp/start=call; probe/*/send=args,fields=tcps_raddr+udp_length"},
		{`tcp:::send,udp:::send { @ = count() }`, "probe/tcp/send=call; probe/udp/send=call"},
		{`udp:::receive { trace(args[4]) }`, "probe/udp/receive=args"},
		{`BEGIN { exit(0) } tick-1s {}`, "*=off"},
		{`myapp:::start { trace(at.x) }`, "probe/myapp/start=args"},
		{`*:::send {trace(x)}`, "probe/*/send=args"},
		{`f:entry { trace(vtimestamp) }`, "wait/*=call; func:*.f=call"},
		{`wait:::return { @a = count() } wait::synch/m*: { @b[ustack()] = sum(elapsed) }`, "*=call; wait/*=call; wait/synch/m*=call"},
	} {
		p, err := Compile(test.source)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Rules(); got != test.want {
			t.Errorf("%s: %s\nwant %s", test.source, got, test.want)
		}
		if _, err, ok := rule.Parse(p.Rules()); !ok {
			t.Errorf("%s: %s: %v", test.source, p.Rules(), err)
		}
	}
}

// TestList: probes with their arguments.
func TestList(t *testing.T) {
	list, err := List("call::f:,tcp:::", newMade().r.Functions())
	want := []Listed{
		{"call", "main", "f", "entry", []string{"n int", "s string"}},
		{"call", "main", "f", "return", []string{"r int", "err error"}},
		{"tcp", "", "", "send", []string{"pktinfo pktinfo_t", "csinfo csinfo_t", "ipinfo ipinfo_t"}},
	}
	if diff := cmp.Diff(want, list); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if list, err := List("call::*Get:return", newMade().r.Functions()); err != nil || len(list) != 1 || list[0].Args[0] != "string" {
		t.Error(list, err)
	}
	if _, err := List("call:nothing::", newMade().r.Functions()); err == nil {
		t.Error("no error")
	}
	p, err := Compile("call:nothing::entry {}")
	if err == nil {
		err = p.Check(newMade().r.Functions())
	}
	if err == nil || !strings.Contains(err.Error(), "call:nothing::entry matches no probe") {
		t.Error(err)
	}
	p, err = Compile("call::mian:return {}")
	if err == nil {
		err = p.Check(newMade().r.Functions())
	}
	if err == nil || !strings.Contains(err.Error(), "matches no probe: did you mean main.main?") {
		t.Error(err)
	}
}

// TestMaps: maps for JSON.
func TestMaps(t *testing.T) {
	m := traffic()
	p, err := Compile(`call::f:entry { @[s, n] = count(); @h = lquantize(n, 0, 4, 2) } call::f:return { @e[err] = max(elapsed) }`)
	if err != nil {
		t.Fatal(err)
	}
	machine := NewMachine(p, m.r, &bytes.Buffer{}, &bytes.Buffer{})
	for i := range m.events {
		machine.Event(&m.events[i])
	}
	zero, two, four := int64(0), int64(2), int64(4)
	want := []Map{
		{"@", []Entry{{Key: []any{"one", int64(1)}, Value: int64(1)}, {Key: []any{"two", int64(2)}, Value: int64(1)}, {Key: []any{strings.Repeat("x", 64), int64(5)}, Value: int64(1)}}},
		{"@h", []Entry{{Key: []any{}, Buckets: []Bucket{{Count: 0}, {&zero, 1}, {&two, 1}, {&four, 1}}}}},
		{"@e", []Entry{{Key: []any{"no luck"}, Value: int64(200)}, {Key: []any{nil}, Value: int64(400)}}},
	}
	if diff := cmp.Diff(want, machine.Maps()); diff != "" {
		t.Error(diff)
	}
}
