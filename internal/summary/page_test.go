package summary

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// TestHostile: what a test prints, and what it is called, is no markup.
func TestHostile(t *testing.T) {
	got := sum(false, strings.Join([]string{
		"--- FAIL: Test<b>&|`@all (0.00s)",
		"    ````",
		"    </details>\x1b[31mred\x1b[0m\x1b[2J\r\u202e\xff",
		"FAIL",
		"FAIL\tm/<i>\t0.1s",
	}, "\n")+"\n", "")
	for _, want := range []string{
		"<summary><code>Test&lt;b&gt;&amp;|`@all</code> in <code>m/&lt;i&gt;</code> (0.00s)</summary>\n",
		"\n`````text\n````\n</details>red\\x1b[2J\\r\\xe2\\x80\\xae\\xff\n`````\n",
		"<tr><td><code>m/&lt;i&gt;</code></td>",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	checkPage(t, got)
}

// TestLimit: what there is no room for is left out, and counted.
func TestLimit(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "--- FAIL: Test%d (0.00s)\n    %s\nFAIL\nFAIL\tpackage%d\t0.1s\n", i, strings.Repeat("x", 1500), i)
	}
	for _, limit := range []int{Limit, Least} {
		r := New(false)
		r.Stdout().Write([]byte(b.String()))
		got := string(r.Markdown(1, limit))
		checkPage(t, got)
		left := regexp.MustCompile(`\n(\d+) of 2000 failures are left out here`).FindStringSubmatch(got)
		if left == nil {
			t.Fatalf("limit %d: it does not say how many are left out", limit)
		}
		if shown := strings.Count(got, "<details>"); fmt.Sprint(2000-shown) != left[1] || shown == 0 {
			t.Errorf("limit %d: %d are shown, but %s left out", limit, shown, left[1])
		}
		if len(got) > limit || len(got) < limit-4000 {
			t.Errorf("limit %d: %d bytes", limit, len(got))
		}
		if more := strings.Contains(got, " more packages failed.\n"); more != (limit == Least) {
			t.Errorf("limit %d: more packages: %v", limit, more)
		}
	}
}

// TestClip: of a long text the middle is left out.
func TestClip(t *testing.T) {
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "        line %d\n", i)
	}
	got := sum(false, "--- FAIL: TestLong (0.00s)\n"+b.String()+"FAIL\nFAIL\tm\t0.1s\n", "")
	left := regexp.MustCompile(`\nline (\d+)\n\.\.\. (\d+) lines left out\nline (\d+)\n`).FindStringSubmatch(got)
	if left == nil || !strings.Contains(got, "\nline 0\n") || !strings.Contains(got, "\nline 19999\n```\n") {
		t.Fatalf("got %.300s", got)
	}
	var last, n, next int
	fmt.Sscan(strings.Join(left[1:], " "), &last, &n, &next)
	if next-last-1 != n {
		t.Errorf("%d lines between %d and %d", n, last, next)
	}
	if long := sum(false, "--- FAIL: TestLine (0.00s)\n"+strings.Repeat("é", 1<<20)+"\nFAIL\tm\t0.1s\n", ""); !strings.Contains(long, "é ...\n") || len(long) > 10<<10 {
		t.Errorf("a line of 2 MiB: %d bytes", len(long))
	}
}

var (
	codeHTML   = `<code>(?:[^<>&"']|&(?:amp|lt|gt|#34|#39);)*</code>`
	timeHTML   = `(?:[^<>&"']|&(?:amp|lt|gt|#34|#39);)*`
	fenceLine  = regexp.MustCompile("^(```+)text$")
	markupLine = regexp.MustCompile(`^(?:|## Tests: [a-z0-9, ]+|[0-9a-z, ]+\.|</?table>|</details>|(?:Calls|Data race|The end of the program):` +
		`|<tr><th>Package</th><th>Result</th><th>Time</th></tr>|<tr><td>` + codeHTML + `</td><td>[a-z0-9, ]+</td><td>` + timeHTML + `</td></tr>` +
		`|<details(?: open)?><summary>(?:What the go command said|` + codeHTML + `[a-z0-9, :]*(?: in ` + codeHTML + `(?: \(` + timeHTML + `\)|[a-z, ]*))?)</summary>` +
		`|\d+ of \d+ failures? are left out here, since a summary has at most 1 MiB. What go test printed has them\.)$`)
)

// checkPage checks that a summary has no markup but its own, and no characters that may not be
// shown.
func checkPage(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Fatalf("no UTF-8: %q", text)
	}
	fence, open := "", 0
	for _, line := range strings.Split(text, "\n") {
		for _, r := range line {
			if !escape.Safe(r) && r != '\t' {
				t.Fatalf("%U in line %q", r, line)
			}
		}
		switch m := fenceLine.FindStringSubmatch(line); {
		case fence != "":
			if strings.HasPrefix(strings.TrimLeft(line, " "), fence) { // in Markdown the end may be indented, or longer
				if line != fence {
					t.Fatalf("%q ends a fence", line)
				}
				fence = ""
			}
		case m != nil && open == 1:
			fence = m[1]
		case !markupLine.MatchString(line):
			t.Fatalf("markup %q in:\n%s", line, text)
		case strings.HasPrefix(line, "<details"):
			open++
		case line == "</details>":
			open--
		}
	}
	if fence != "" || open != 0 {
		t.Fatalf("a fence %q or %d details are left open in:\n%s", fence, open, text)
	}
}

// FuzzSummary: whatever comes in, the summary has no markup but its own, and is as long as it may
// be.
func FuzzSummary(f *testing.F) {
	for _, name := range []string{"go1.26/plain", "go1.27/v", "go1.25/json", "go1.26/race-v", "more/plain", "more/json"} {
		json, stdout, stderr := recorded(f, name)
		f.Add(json, stdout, stderr, 1, 0)
	}
	f.Add(false, "--- FAIL: Test<b>`` (0.00s)\n    ```\n</details>\x1b[2J\nFAIL\t<i>\t&\n", "# m\n````\n", 143, 100)
	f.Fuzz(func(t *testing.T, json bool, stdout, stderr string, status, more int) {
		limit := Least + max(0, more)%Limit
		r := New(json)
		r.Stdout().Write([]byte(stdout))
		r.Stderr().Write([]byte(stderr))
		text := r.Markdown(status&0xFF, limit)
		if len(text) > limit {
			t.Fatalf("%d bytes, of at most %d", len(text), limit)
		}
		checkPage(t, string(text))
	})
}
