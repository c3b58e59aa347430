package rule_test

import (
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
)

// A clause is for functions or for probes, whatever its selectors negate.
func TestProbes(t *testing.T) {
	probe := rule.Func{Probe: true, Package: "tcp", ImportPath: "probe/tcp", Name: "send", Binary: "/bin/server"}
	function := rule.Func{Package: "tcp", ImportPath: "x/tcp", Name: "send", Binary: "/bin/server"}
	for text, want := range map[string][2]bool{
		"*":                            {false, true},
		"tcp.send":                     {false, true},
		"pkg:probe/tcp":                {false, false},
		"!main.f=args":                 {false, true},
		"bin:server":                   {false, true},
		"probe/*":                      {true, false},
		"probe/tcp/*":                  {true, false},
		"probe:tcp/s?nd":               {true, false},
		"probe/tcp/*&!probe/tcp/send":  {false, false},
		"probe/tcp/*&!probe/udp/*":     {true, false},
		"probe/tcp/send & bin:server":  {true, false},
		"probe/tcp/send & bin:client":  {false, false},
		"probe/tcp/send & !bin:client": {true, false},
		"probe/udp/*":                  {false, false},
		"*; !probe/tcp/send":           {true, true}, // decides: off
	} {
		clauses, err, ok := rule.Parse(text)
		if !ok {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := [2]bool{rule.Decide(clauses, &probe) >= 0, rule.Decide(clauses, &function) >= 0}
		if got != want {
			t.Errorf("%s: matches probe and function %v, want %v", text, got, want)
		}
	}
	if rule.MatchFunc("*", &probe) {
		t.Error("in=* and after=* match a probe")
	}
}

func TestParts(t *testing.T) {
	const parts = "pktinfo,pkt_addr csinfo,cs_pid csinfo,cs_cid ipinfo,ip_saddr"
	for wanted, bits := range map[string]uint64{"cs_pid": 2, "csinfo": 6, "ip_saddr+pkt_addr": 9, "ip": 0, "cs_cid+x": 4} {
		if got := rule.Parts(wanted, parts); got != bits {
			t.Errorf("Parts(%q): %b, want %b", wanted, got, bits)
		}
	}
}

// The name of a kind of waits stands for the kinds below it, too.
func TestWaits(t *testing.T) {
	wait := rule.Func{Wait: true, Package: "wait", Name: "io/file/read"}
	for text, want := range map[string]bool{
		"wait/io/file/read": true, "wait/io/file": true, "wait/io": true, "wait/*/read": true, "wait/i?": true, "wait/*": true,
		"wait/io/fil": false, "wait/file": false, "wait/read": false, "wait/io/file/*/x": false, "wait/io/": false, "*": false,
	} {
		clauses, err, ok := rule.Parse(text)
		if !ok {
			t.Errorf("%s: %v", text, err)
		} else if got := rule.Decide(clauses, &wait) >= 0; got != want {
			t.Errorf("%s: matches %v, want %v", text, got, want)
		}
	}
}
