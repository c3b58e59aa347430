package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestPeers runs package mock and the tools beside it, a case a row of the table in
// design/other-mocks.md, and compares what the cases of bench/mocks/rows saw with what claims says
// of the cells. XGO names the command xgo, which builds a Go of its own the first time.
func TestPeers(t *testing.T) {
	tools, table := peers(t)
	used := map[[2]string]bool{}
	for _, row := range table {
		run := false
		for i, cell := range row[1:] {
			claim, ok := claims[row[0]][cell]
			if !ok && unrun[row[0]] == "" {
				t.Errorf("row %q, %s: claims does not say what %q means", row[0], tools[i], cell)
			}
			used[[2]string{row[0], cell}], run = true, run || claim != ""
		}
		if run == (unrun[row[0]] != "") {
			t.Errorf("row %q has neither a case nor a reason in unrun, or both", row[0])
		}
	}
	for row := range claims {
		for cell := range claims[row] {
			if !used[[2]string{row, cell}] {
				t.Errorf("claims has row %q with %q, the table does not", row, cell)
			}
		}
	}
	if t.Failed() {
		return
	}
	testenv.NeedAll(t)
	if runtime.GOOS+runtime.GOARCH != "linuxamd64" || !strings.HasPrefix(runtime.Version(), "go1.26") {
		t.Skip("the table is of Go 1.26 on Linux, amd64")
	}
	dir := t.TempDir() // xgo writes there
	if err := os.CopyFS(dir, os.DirFS(filepath.FromSlash("../bench/mocks"))); err != nil {
		t.Fatal(err)
	}
	edit := exec.Command("go", "mod", "edit", "-replace=github.com/ftrace-wrap/ftrace-wrap="+testenv.Root(t))
	if edit.Dir = dir; edit.Run() != nil {
		t.Fatal(edit)
	}
	for i, tool := range tools {
		t.Run(tool, func(t *testing.T) {
			var flags []string
			command, pkg, env := "go", tool, testenv.Environ()
			switch tool {
			case "package mock":
				pkg = "ftrace"
				flags = []string{testenv.Toolexec(t, testenv.Build(t, "ftrace-wrap"))}
				env = append(env, "FTRACE_PACKAGES=main,os,reflect,sync,syscall,testing,time")
			case "xgo":
				if command = os.Getenv("XGO"); command == "" {
					if os.Getenv("CI") != "" {
						t.Fatal("XGO does not name the command xgo: .ci/run builds it")
					}
					t.Skip("XGO does not name the command xgo, which builds a Go of its own")
				}
				env = append(env, "GOFLAGS=-mod=mod")
			}
			run := func(flags ...string) string {
				cmd := exec.Command(command, append([]string{"test", "-count=1", "-v", "-parallel=2"}, append(flags, "./rows/"+pkg)...)...)
				cmd.Dir, cmd.Env = dir, env
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %v\n%s", cmd, err, out)
				}
				return string(out)
			}
			needed := strings.Trim(table[1][i+1], "`")
			if needed != "none" {
				flags = []string{"-gcflags=" + needed}
			}
			seen := saw(run(flags...))
			if needed != "none" {
				out := run("-run=^TestAll$/inlined")
				seen[inlined] = "without the flag " + saw(out)[inlined] + ", with it " + seen[inlined]
				if seen[irreplaceable] += "; the flag's lack is not logged"; strings.Contains(out, "please add -gcflags") {
					seen[irreplaceable] = strings.Replace(seen[irreplaceable], "not logged", "logged", 1)
				}
			}
			for _, row := range table {
				claim := claims[row[0]][row[i+1]]
				if !matches(claim, seen[row[0]]) {
					t.Errorf("row %q says %q, which means\n\t%s\nseen was\n\t%s", row[0], row[i+1], claim, seen[row[0]])
				}
				delete(seen, row[0])
			}
			for row := range seen {
				t.Errorf("the table has no row %q", row)
			}
		})
	}
}

const (
	inlined       = "functions that are inlined"
	irreplaceable = "a function that can't be replaced"
)

// unrun has the rows that have no case, and why.
var unrun = map[string]string{
	"needs":                          "the cases get nothing else",
	"systems":                        "there is one here",
	"build":                          "docs/performance.md has what builds cost",
	"without a replacement in force": "docs/performance.md has what calls cost",
	"`-gcflags`":                     "the cases are built with what it says",
}

// claims says what cells mean for the cases, by row and cell; "" is a cell without a case.
var claims = map[string]map[string]string{
	"Go releases": {
		"1.25 to 1.27": "", // .ci/run has scripts run with each
		"not stated":   "",
		"1.13 to 1.26": "1.26 builds, 1.27 does not build: ...",
		"1.17 to 1.27": "",
	},
	inlined: {
		"replaced where they are inlined": "replaced",
		"only by turning inlining off":    "without the flag real, with it replaced",
		"replaced":                        "replaced",
	},
	"parallel tests of one function": {
		"each has its own replacement": "own of the first, own of the second",
		"each has its own":             "own of the first, own of the second",
		"no: one for all; patching may panic while another goroutine calls": "own of the second, own of the second",
		"no: the second one panics, and stays in force":                     "own of the second, panics: re-mock ...",
	},
	"goroutines": {
		"the test's, and all below it, whether they start before or after; or all": "here replaced, later replaced, before replaced, unrelated real; " +
			"or here replaced, later replaced, before replaced, unrelated replaced",
		"all": "here replaced, later replaced, before replaced, unrelated replaced",
		"all, or by goroutine's number, without those it starts": "here replaced, later replaced, before replaced, unrelated replaced; " +
			"or here replaced, later real, before real, unrelated real",
		"the one that replaces, and those it starts later (not with `-race`); from `init`: all": "here replaced, later replaced, before real, unrelated real; " +
			"from init: here replaced, later replaced, before replaced, unrelated replaced",
	},
	"one receiver only": {
		"yes":            "a method value: this replaced, its like real, another type's real",
		"no":             "a method value: this real, its like real, another type's real; a method: this replaced, its like replaced, another type's real",
		"by a condition": "a condition: this replaced, its like real, another type's real",
	},
	"unexported functions": {
		"by name, with their types checked":    "functions replaced, methods replaced, fails the test: ...the replacement is a ...",
		"methods by name, unchecked":           "methods replaced, unchecked",
		"methods by name, checked at run time": "methods replaced, panics: args not match: ...",
		"by name, checked at run time":         "functions replaced, methods replaced, panics: replacer should have type: ...",
	},
	"function literals": {
		"by name":                 "by name: replaced",
		"by value, with its like": "by value: this replaced, its like replaced",
		"no, panics":              "by value: panics: func not instrumented by xgo...",
	},
	"generic functions": {
		"an instantiation, or all": "int replaced, of its shape real, string real, without parameters int replaced, string real; " +
			"or all: int replaced, of its shape replaced, string replaced, ...",
		"no; the real one is called, without a message": "int real, of its shape real, string real, without parameters int real, string real",
		"an instantiation": "int replaced, of its shape real, string real, without parameters int replaced, string real",
		"an instantiation; calls of one of its shape panic": "int replaced, of its shape panics: ..., string real, without parameters int replaced, string real",
	},
	"interfaces' methods": {
		"of a named implementation, a value, or all implementations at once": "named: this replaced, its like replaced, another type's real; " +
			"a value: this replaced, its like real, another type's real; all: this replaced, its like replaced, another type's replaced",
		"of a named implementation": "named: this replaced, its like replaced, another type's real",
		"of a named implementation; up to Go 1.25 also of all at once, experimental": "named: this replaced, its like replaced, another type's real, " +
			"exp/iface does not build: build constraints exclude all Go files...",
		"of a value": "a value: this replaced, its like real, another type's real, all: this replaced, its like real, another type's real",
	},
	"variables and constants": {
		"variables": "variables replaced...",
	},
	"standard library": {
		"all above package runtime, also `sync` and `reflect`; of package runtime `time.Sleep`, `GC` and four more": "os sync reflect syscall testing time.Sleep GC; not runtime.Version",
		"what has Go code, also in package runtime":                                                                 "os sync reflect syscall testing time.Sleep GC runtime.Version; not",
		"not `sync`, `reflect`, `syscall`, `testing`":                                                               "os time.Sleep...; not sync reflect syscall testing...",
	},
	"types": {
		"the compiler checks the replacement's": "does not build: in call to mock.Replace, ... does not match ...",
		"at run time, panics":                   "panics: ...",
	},
	"short cut for fixed results": {
		"`Return(t, f, ...)`, `Then(...)`": "replaced, then",
		"`ApplyFuncReturn`":                "replaced",
		"`Return(...)`":                    "replaced",
		"a function literal":               "replaced",
	},
	irreplaceable: {
		"fails the test at its line, with what to set": "assembly fails the test: mock: not hooked: ...Assembly can't have a hook: it has no Go body..., " +
			"no hook fails the test: mock: not hooked: strings.ToUpper: build with FTRACE_PACKAGES=...,strings so that package strings has hooks",
		"inlined, assembly: the real one is called, without a message": "assembly: 1 in its package, 1 elsewhere; the flag's lack is not logged",
		"the same, but inlined: it logs that the flag is missing; too short: panics": "assembly: 1 in its package, 1 elsewhere, " +
			"short: panics: function is too short to patch; the flag's lack is logged",
		"panics": "assembly: panics: func not instrumented by xgo...",
	},
	"recorded": {
		"arguments and results of each call": "[3] [replaced]",
		"nothing":                            "nothing",
		"how often":                          "2 times",
		"arguments and results, by an interceptor": "an interceptor has 3, sets replaced",
	},
	"watched before and after": {
		"all functions that rules name": "before Repeat[1], after Repeat[real], before U.Get[{0}], before U.Get.func1[], after U.Get.func1[], after U.Get[real]",
		"no":                            "",
		"all functions":                 "before Repeat, ...after Repeat, before U.Get, ...after U.Get",
	},
	"the real function": {
		"`Original`, others unaffected":                              "real, others replaced",
		"`Origin` takes the patch off meanwhile, for all goroutines": "real, meanwhile elsewhere real",
		"`Origin`, others unaffected":                                "real, meanwhile elsewhere replaced",
		"none: a replacement that calls it calls itself":             "a replacement that calls it: replaced",
	},
	"restored": {
		"by `t.Cleanup`, in any order":         "after the test real, the first before the second real",
		"by you, `Reset`, the last first":      "after the test replaced, by you real, the first before the second replaced",
		"by you, or `PatchConvey`, `PatchRun`": "after the test replaced, by you real, after PatchRun real",
		"when the goroutine ends, or by you":   "after the goroutine real, meanwhile replaced, by you real",
	},
}

// saw returns what the cases printed, by row.
func saw(out string) map[string]string {
	seen := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^saw\t(.*)\t(.*)$`).FindAllStringSubmatch(out, -1) {
		seen[m[1]] = strings.TrimPrefix(seen[m[1]]+"; "+m[2], "; ")
	}
	return seen
}

// matches compares what was seen with a claim, in which ... stands for anything.
func matches(claim, seen string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(claim), `\.\.\.`, ".*") + "$").MatchString(seen)
}

// peers returns the table in other-mocks.md: the tools, and the rows with their names first.
func peers(t *testing.T) (tools []string, table [][]string) {
	t.Helper()
	for line := range strings.Lines(read(t, "design/other-mocks.md")) {
		if !strings.HasPrefix(line, "|") {
			if table != nil {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		for i := range cells {
			if cells[i] = strings.TrimSpace(cells[i]); cells[i] == "the same" {
				cells[i] = cells[i-1]
			}
		}
		table = append(table, cells)
	}
	if len(table) < 20 || len(table[0]) != 5 {
		t.Fatalf("design/other-mocks.md has no such table: %q", table)
	}
	return table[0][1:], table[2:]
}
