package probes

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/dtrace"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
)

func TestMain(m *testing.M) { viewtest.Main(m) }

func compile(t *testing.T, source string) *dtrace.Program {
	t.Helper()
	p, err := dtrace.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRun runs programs over a recording, and over a command that records the same.
func TestRun(t *testing.T) {
	workers := filepath.Join(t.TempDir(), "workers")
	viewtest.Copy(t, "workers", workers)
	for _, c := range []struct {
		name, source string
		json, quiet  bool
		status       int // of a recording; a command's is its own, unless the program has one
		want         string
		same         bool // nothing else is printed
	}{
		{name: "a line for each event", source: `call:main:add:entry { printf("%s\n", line); }`, quiet: true,
			want: "1 2 3\n10 20 30\n100 200\n4 five 6\n", same: true},
		{name: "BEGIN is first, END last", source: `END { printf("end %d\n", n); } call:main:add:return { n = n + 1; } BEGIN { printf("begin\n"); }`, quiet: true,
			want: "begin\nend 4\n", same: true},
		{name: "exit ends it", source: `call:main:add:entry { printf("%s\n", line); exit(3); }`, quiet: true, status: 3, want: "1 2 3\n", same: true},
		{name: "a map", source: `call:main::entry { @[probefunc] = count(); }`, quiet: true, want: "send[...]"},
		{name: "a map as JSON", source: `call:main:add:entry { @calls[probefunc] = count(); }`, json: true, quiet: true, want: `"add"`},
		{name: "an empty map", source: `call:main:add:entry /0/ { @[probefunc] = count(); }`, quiet: true, same: true},
	} {
		for _, over := range []string{"a recording", "a command"} {
			t.Run(c.name+", over "+over, func(t *testing.T) {
				var out, warned strings.Builder
				o := Options{Source: c.source, Quiet: c.quiet, JSON: c.json, Recording: workers}
				status := c.status
				if over == "a command" {
					o.Command = viewtest.Command(workers)
					if status == 0 {
						status = 7
					}
				}
				got, err := Run(compile(t, c.source), o, Output{Text: &out, JSON: &out, Warn: &warned})
				if err != nil || got != status || warned.Len() > 0 {
					t.Errorf("status %d, not %d, %v, warned of %q", got, status, err, warned.String())
				}
				if c.same && out.String() != c.want || !strings.Contains(out.String(), c.want) {
					t.Errorf("it printed %q", out.String())
				}
				if c.json {
					for line := range strings.Lines(out.String()) {
						if !json.Valid([]byte(line)) {
							t.Errorf("%q is no JSON", line)
						}
					}
				}
			})
		}
	}
}

// TestRules: a command records what the program wants, and nothing else.
func TestRules(t *testing.T) {
	workers, rules := filepath.Join(t.TempDir(), "workers"), filepath.Join(t.TempDir(), "rules")
	viewtest.Copy(t, "workers", workers)
	const source = `call:main:add:entry { n = n + 1; }`
	cmd := viewtest.Command(workers, "TEST_RULES="+rules, "FTRACE=something=else")
	var out strings.Builder
	if _, err := Run(compile(t, source), Options{Source: source, Command: cmd}, Output{Text: &out, JSON: &out, Warn: &out}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(rules)
	if want := compile(t, source).Rules(); err != nil || string(got) != want || want == "" {
		t.Errorf("the command's rules are %q, the program's %q, %v", got, want, err)
	}
}

// TestWrong: what can't be run is an error that says what to do.
func TestWrong(t *testing.T) {
	dir := t.TempDir()
	workers, cut := filepath.Join(dir, "workers"), filepath.Join(dir, "cut")
	viewtest.Copy(t, "workers", workers)
	viewtest.Copy(t, "workers", cut)
	if err := os.Truncate(filepath.Join(cut, "calls_0"), 500); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(dir, "outer")
	viewtest.Copy(t, "workers", inner)
	viewtest.Copy(t, "parser", filepath.Join(inner, "7"))
	const any = `call:main:main:entry { printf("main\n"); }`
	for _, c := range []struct {
		name, source string
		o            Options
		want         string // the error
		warns        string
	}{
		{"no recording", any, Options{Recording: filepath.Join(dir, "nothing")}, "-c runs a program, -p looks into one that runs", ""},
		{"no process", any, Options{Process: "no-such-program"}, "no program of yours called no-such-program", ""},
		{"nothing matches", `call:main:nobody:entry { printf("x\n"); }`, Options{Recording: workers}, "nobody", ""},
		{"no command", any, Options{Command: exec.Command(filepath.Join(dir, "nothing"))}, "no such file", ""},
		{"the command records nothing", any, Options{Command: viewtest.Command("none")}, "nothing was recorded: was ", ""},
		{"a part is missing", any, Options{Recording: cut}, "", "damaged: calls_0"},
		{"there are others within it", any, Options{Recording: inner}, "", "other processes recorded within it, 1: ftrace info names them"},
	} {
		var out, warned strings.Builder
		c.o.Source = c.source
		_, err := Run(compile(t, c.source), c.o, Output{Text: &out, JSON: &out, Warn: &warned})
		switch {
		case c.want == "" && (err != nil || !strings.Contains(out.String(), "main\n")), c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, it printed %q", c.name, err, out.String())
		case c.warns == "" && warned.Len() > 0, !strings.Contains(warned.String(), c.warns):
			t.Errorf("%s: warned of %q", c.name, warned.String())
		}
	}
}

// TestList lists what a recording has, and what a command would have.
func TestList(t *testing.T) {
	workers := filepath.Join(t.TempDir(), "workers")
	viewtest.Copy(t, "workers", workers)
	for _, c := range []struct {
		pattern string
		json    bool
		want    string
		wrong   string
	}{
		{pattern: "call:main:add:", want: "call:main:add:entry(line string)\ncall:main:add:return(sum int, err error)\n"},
		{pattern: "call:main:add:entry", json: true, want: `{"provider":"call","module":"main","function":"add","name":"entry","args":["line string"]}` + "\n"},
		{pattern: "call:main:nobody:", wrong: "matches no probe"},
		{pattern: "call:main:add:entry:", wrong: "call:main:add:entry:"}, // one part too many
	} {
		for _, over := range []string{"a recording", "a command"} {
			o := Options{Source: c.pattern, JSON: c.json, Recording: workers}
			if over == "a command" {
				o.Command = viewtest.Command(workers)
			}
			var out strings.Builder
			err := List(o, Output{Text: &out, JSON: &out, Warn: &out})
			if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) || out.String() != c.want {
				t.Errorf("%s of %s: %v\n%s", c.pattern, over, err, out.String())
			}
		}
	}
}
