package summary

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the summaries in testdata anew")

// sum returns the summary of what go test printed.
func sum(json bool, stdout, stderr string) string {
	r := New(json)
	r.Stderr().Write([]byte(stderr))
	r.Stdout().Write([]byte(stdout))
	return string(r.Markdown(1, Limit))
}

// recorded returns what go test printed: testdata/GO/FORM, and FORM.err if there is that.
func recorded(t testing.TB, name string) (json bool, stdout, stderr string) {
	out, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	errs, _ := os.ReadFile(filepath.Join("testdata", name+".err"))
	return strings.Contains(name, "json"), string(out), string(errs)
}

// TestGolden compares summaries of real runs with those in testdata, where tests.txtar says how
// they were made.
func TestGolden(t *testing.T) {
	for _, name := range []string{"go1.26/plain", "go1.26/json", "go1.26/race-plain", "go1.26/race-v", "go1.26/race-json", "more/plain", "more/json"} {
		got := sum(recorded(t, name))
		file := filepath.Join("testdata", name+".md")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: got + and want -:\n%s", name, diff)
		}
	}
}

// varies is what differs between runs, and between releases. From the output of go test -json, Go
// 1.27 drops the character that begins a colour.
var varies = regexp.MustCompile(`\[[0-9]*m|\(?\b\d+\.\d\ds\)?|\d+\.\d{3}s|G\d+ +|on G\d+|goroutine \d+|0x[0-9a-f]+`)

// TestReleases: the summaries of the same tests are the same with each release of Go, and with -v
// what they are with -json. Tests that run in parallel may end in another order.
func TestReleases(t *testing.T) {
	summary := func(name string) map[string]bool {
		has := map[string]bool{}
		for _, part := range strings.Split(sum(recorded(t, name)), "\n<details") {
			part, _, _ = strings.Cut(part, "goroutine ") // the stacks are in Go's sources
			has[varies.ReplaceAllString(part, "")] = true
		}
		return has
	}
	for _, release := range []string{"go1.25", "go1.26", "go1.27"} {
		for form, want := range map[string]string{"plain": "go1.26/plain", "v": "go1.26/json", "json": "go1.26/json"} {
			if diff := cmp.Diff(summary(want), summary(release+"/"+form)); diff != "" {
				t.Errorf("%s %s: got + and want -:\n%s", release, form, diff)
			}
		}
	}
}

// TestPieces: it does not matter in which pieces the text comes.
func TestPieces(t *testing.T) {
	for _, name := range []string{"go1.26/plain", "go1.27/v", "go1.25/json"} {
		json, stdout, stderr := recorded(t, name)
		r := New(json)
		for _, b := range []byte(stderr) {
			r.Stderr().Write([]byte{b})
		}
		for _, b := range []byte(stdout) {
			r.Stdout().Write([]byte{b})
		}
		if diff := cmp.Diff(sum(json, stdout, stderr), string(r.Markdown(1, Limit))); diff != "" {
			t.Errorf("%s: whole - and in pieces +:\n%s", name, diff)
		}
	}
}

// TestOneFile: standard output and standard error may come in one.
func TestOneFile(t *testing.T) {
	for _, name := range []string{"go1.26/plain", "go1.26/v", "more/plain"} {
		_, stdout, _ := recorded(t, name)
		_, _, stderr := recorded(t, strings.Replace(name, "/v", "/plain", 1))
		before, after, ok := strings.Cut(stdout, "FAIL\texample.com/f/bad")
		if !ok {
			before, after = "", stdout
		} else {
			after = "FAIL\texample.com/f/bad" + after
		}
		if diff := cmp.Diff(sum(false, stdout, stderr), sum(false, before+stderr+after, "")); diff != "" {
			t.Errorf("%s: apart - and in one +:\n%s", name, diff)
		}
	}
}

// TestHeading: how the first lines say it.
func TestHeading(t *testing.T) {
	const fails = "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\ta\t0.1s\n"
	for _, test := range []struct {
		out    string
		status int
		want   string
	}{
		{"", 0, "there were none"},
		{"?   \ta\t[no test files]\n\tb\t\tcoverage: 0.0% of statements\n", 0, "there were none\n\n2 packages without tests."},
		{"ok  \ta\t0.1s\nok  \tb\t(cached)\tcoverage: 1.0% of statements\nok  \tc\t0.1s [no tests to run]\n", 0, "3 packages passed"},
		{fails, 1, "1 failed in 1 package"},
		{fails + "ok  \tb\t0.1s\n", 1, "1 failed in 1 of 2 packages\n\n1 package passed."},
		{"exit status 3\nFAIL\ta\t0.1s\n", 1, "1 package failed"},
		{"FAIL\ta [build failed]\n", 1, "1 package did not build"},
		{"", 1, "go test ended with exit status 1"},
		{fails + "=== RUN   TestB\nsome\n", 143, "1 failed in 2 packages, go test was ended by signal 15\n\n1 package without a result."},
	} {
		r := New(false)
		r.Stdout().Write([]byte(test.out))
		got, _, _ := strings.Cut(string(r.Markdown(test.status, Limit)), "\n\n<")
		if got = strings.TrimSpace(got); got != "## Tests: "+test.want {
			t.Errorf("%q: got %q, want %q", test.out, got, test.want)
		}
	}
}

// TestGoCommand: if go test can't begin, what the go command says is the summary.
func TestGoCommand(t *testing.T) {
	const said = "go: go.mod file not found in current directory or any parent directory; see 'go help modules'\n"
	for _, json := range []bool{false, true} {
		if got := sum(json, "", said); !strings.Contains(got, "<details open><summary>What the go command said</summary>\n\n```text\n"+said+"```\n") {
			t.Errorf("-json=%v: got %s", json, got)
		}
	}
}
