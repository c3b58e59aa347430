package main

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// What is planted in package runtime is found, and nothing else.
func TestPlanted(t *testing.T) {
	planted := func(text string) inject.File {
		return inject.File{Name: "ftrace_planted.go", Source: []byte("package runtime\n\n" + text + "\n")}
	}
	assembly := inject.File{Name: "ftrace_planted.s", Source: []byte(`#include "textflag.h"

TEXT ·ftracePlanted2(SB), NOSPLIT, $0-16
	MOVL v+0(FP), AX
	RET
`)}
	for _, test := range []struct {
		name   string
		static []string
		files  []inject.File
		want   []string // beginnings
	}{
		{"type error", nil, []inject.File{planted(`func ftracePlanted() int { return "" }`)}, []string{"runtime/ftrace_planted.go:3: cannot use"}},
		{"findings", []string{"runtime"}, []inject.File{planted("func ftracePlanted(v int) int { for { v++ }; return v }\n\nfunc ftracePlanted2(v int) uint64"), assembly},
			[]string{
				"runtime/ftrace_planted.go:3: func ftracePlanted is unused (U1000)", "runtime/ftrace_planted.go:3: unreachable code",
				"runtime/ftrace_planted.s:4: [amd64] ftracePlanted2: invalid MOVL",
			}},
	} {
		t.Run(test.name, func(t *testing.T) {
			testenv.NeedAll(t) // it downloads modules, and staticcheck
			_, others := inject.Packages()
			w, err := newWorkspace(t.Context(), t.TempDir(), []string{"local"}, others)
			if err != nil {
				t.Fatal(err)
			}
			w.planted = map[string][]inject.File{"runtime": test.files}
			var all findings
			if err := w.check(t.Context(), "local", "linux/amd64", []string{"runtime"}, test.static, &all); err != nil {
				t.Fatal(err)
			}
			got := all.report()
			for _, want := range test.want {
				if !slices.ContainsFunc(got, func(f string) bool { return strings.HasPrefix(f, want) }) {
					t.Errorf("found %q, want one that begins with %q", got, want)
				}
			}
			for _, f := range got {
				if !strings.HasPrefix(f, "runtime/ftrace_planted.") {
					t.Errorf("found %q, which was not planted", f)
				}
			}
		})
	}
}

// Findings in Go's own code are left out; what a tool says of no file is not.
func TestFindings(t *testing.T) {
	files := map[string]ours{
		"/m/goroot/src/runtime/proc.go":     oursIn([]byte("a\nb\nc\n"), []byte("a\nbx\nc\n")),
		"/m/goroot/src/runtime/ftrace_a.go": {all: true, name: "internal/guest/call/a.go"},
	}
	output := strings.Join([]string{
		"# runtime",
		"../goroot/src/runtime/proc.go:1:2: Go's own",
		"../goroot/src/runtime/proc.go:2:2: ours",
		"../goroot/src/runtime/other.go:2:2: Go's own",
		"../goroot/src/runtime/ftrace_a.go:9:1: ours",
		"vet: ../goroot/src/runtime/other.go:7:1: undefined: x",
		"panic: something",
	}, "\n") + "\n"
	var all findings
	all.run("go1.26 linux/amd64", "/m/module", files).add(output, nil)
	want := []string{
		"internal/guest/call/a.go:9: ours [go1.26 linux/amd64]",
		"panic: something [go1.26 linux/amd64]",
		"runtime/other.go:7: undefined: x [go1.26 linux/amd64]",
		"runtime/proc.go:2: ours [go1.26 linux/amd64]",
	}
	if diff := cmp.Diff(want, all.report()); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// A command that fails and says nothing is a finding.
func TestFailure(t *testing.T) {
	var all findings
	all.run("go1.26 linux/amd64", "/m", nil).add("", errors.New("killed"))
	if got := all.report(); len(got) != 1 {
		t.Errorf("found %q, want the error", got)
	}
}

// What one of the runs that have the file uses is not unused.
func TestUnused(t *testing.T) {
	file := func(name string) map[string]ours {
		return map[string]ours{"/src/runtime/" + name: {all: true, name: name}}
	}
	both := map[string]ours{"/src/net/shared.go": {all: true, name: "shared.go"}, "/src/os/shared.go": {all: true, name: "shared.go"}}
	const unused = "/src/runtime/a.go:1:1: func f is unused (U1000)\n"
	for _, test := range []struct {
		name string
		runs []func(*findings)
		want int
	}{
		{"everywhere", []func(*findings){
			func(a *findings) { r := a.run("1", "/", file("a.go")); r.static = true; r.add(unused, nil) },
			func(a *findings) { r := a.run("2", "/", file("b.go")); r.static = true; r.add("", nil) },
			func(a *findings) { a.run("3", "/", file("a.go")).add("", nil) }, // vet alone
			func(a *findings) { // of other packages
				r := a.run("4", "/", file("a.go"))
				r.static, r.within = true, "/elsewhere/"
				r.add("", nil)
			},
		}, 1},
		{"used once", []func(*findings){
			func(a *findings) { r := a.run("1", "/", file("a.go")); r.static = true; r.add(unused, nil) },
			func(a *findings) { r := a.run("2", "/", file("a.go")); r.static = true; r.add("", nil) },
		}, 0},
		{"used by one of two packages", []func(*findings){
			func(a *findings) {
				r := a.run("1", "/", both)
				r.static = true
				r.add("/src/net/shared.go:1:1: func f is unused (U1000)\n", nil)
			},
		}, 0},
	} {
		var all findings
		for _, run := range test.runs {
			run(&all)
		}
		if got := all.report(); len(got) != test.want {
			t.Errorf("%s: found %q, want %d", test.name, got, test.want)
		}
	}
}
