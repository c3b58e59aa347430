package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A capability is shown by scripts: DIRECTORY/PATTERN, below cmd.
type capability struct {
	name    string
	scripts []string
}

var capabilities = []capability{
	{"calls as text, by rules, with values", []string{"ftrace-wrap/allocs", "ftrace-wrap/asm", "ftrace-wrap/calls", "ftrace-wrap/capture", "ftrace-wrap/format", "ftrace-wrap/frames_*",
		"ftrace-wrap/out", "ftrace-wrap/panics", "ftrace-wrap/positions", "ftrace-wrap/probes", "ftrace-wrap/rules*", "ftrace-wrap/values*"}},
	{"mocks", []string{"ftrace-wrap/mock*"}},
	{"recordings", []string{"ftrace-wrap/record", "ftrace-wrap/record_order", "ftrace-wrap/windows", "ftrace-wrap/macos", "ftrace/compact", "ftrace/record", "ftrace/replay", "ftrace/report"}},
	{"lines of the program's log in the trace", []string{"ftrace-wrap/weave*"}},
	{"views of a running program: attach, SQL, D, waits", []string{"ftrace/attach*", "ftrace/budget_sql", "ftrace/d", "ftrace/dseed", "ftrace/exporter", "ftrace/locks", "ftrace/names", "ftrace/observers",
		"ftrace/probes_sql", "ftrace/providers", "ftrace/serve*", "ftrace/setup", "ftrace/snapshot", "ftrace/statements", "ftrace/top*", "ftrace/waits_live", "ftrace/waits_sql", "ftrace/waits_who"}},
}

// platforms are the columns of the table. A script skips there if it has a line like skips.
var platforms = []struct {
	name, target string
	skips        *regexp.Regexp
}{
	{"Linux, amd64", "", regexp.MustCompile(`^\[!for_(windows|macos)\] skip`)},
	{"Linux, arm64", "arm64", regexp.MustCompile(`^\[!for_(windows|macos)\] skip`)},
	{"Windows, amd64", "windows", regexp.MustCompile(`^\[(!linux|!unix|windows|for_windows|!for_linux|!for_macos)\] (skip|stop)`)},
	{"macOS, amd64", "darwin", regexp.MustCompile(`^\[(!linux|darwin|for_macos|!for_linux|!for_windows)\] (skip|stop)`)},
}

// TestPlatforms compares README's table of platforms with what .ci/run has scripts run on, and with
// the scripts; -update puts in what is right. A capability is absent where all its scripts skip.
func TestPlatforms(t *testing.T) {
	run := inCI(t)
	var b strings.Builder
	for _, p := range platforms {
		b.WriteString("| " + p.name + " ")
	}
	b.WriteString("|\n|---" + strings.Repeat("|---", len(platforms)) + "|\n")
	table := "| " + b.String()
	for _, c := range capabilities {
		table += "| " + c.name
		for _, p := range platforms {
			all, ran, skipped := 0, 0, 0
			for _, pattern := range c.scripts {
				command, glob, _ := strings.Cut(pattern, "/")
				files, err := filepath.Glob("../cmd/" + command + "/testdata/script/" + glob + ".txtar")
				if err != nil || len(files) == 0 {
					t.Fatalf("no script is called %s: %v", pattern, err)
				}
				for _, file := range files {
					text, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					name := strings.TrimSuffix(filepath.Base(file), ".txtar")
					script, _, _ := strings.Cut(string(text), "\n-- ")
					skips := false
					for line := range strings.Lines(script) {
						skips = skips || p.skips.MatchString(line)
					}
					all++
					switch {
					case skips:
						skipped++
					case p.target == "" || run[p.target+" "+command] != nil && run[p.target+" "+command].MatchString(name):
						ran++
					}
				}
			}
			of := all
			if strings.HasPrefix(p.name, "Linux") {
				of -= skipped // they are for another system
			}
			table += " | " + []string{"absent", "built", "run", fmt.Sprintf("run: %d of %d scripts", ran, of)}[min(1, all-skipped)+min(1, ran)+min(1, ran*(of-ran))]
		}
		table += " |\n"
	}
	page := read(t, "../README.md")
	const begin, end = "<!-- platforms -->\n", "<!-- end of platforms -->"
	from, to := strings.Index(page, begin)+len(begin), strings.Index(page, end)
	if from < len(begin) || to < from {
		t.Fatalf("README.md has no %s", strings.TrimSpace(begin))
	}
	if page[from:to] == table {
		return
	}
	if !*update {
		t.Fatalf("README.md has another table; go test ./docs -run Platforms -update changes it:\n%s", table)
	}
	if err := os.WriteFile("../README.md", []byte(page[:from]+table+page[to:]), 0o666); err != nil {
		t.Fatal(err)
	}
}

// inCI returns which scripts .ci/run runs for a target, by the target and the command.
func inCI(t *testing.T) map[string]*regexp.Regexp {
	run := map[string]*regexp.Regexp{}
	target := ""
	tests := regexp.MustCompile(`go test .*\./cmd/(\S+) -run 'TestScript/\^?(\([^']*\))\$'`)
	for line := range strings.Lines(read(t, "../.ci/run")) {
		switch {
		case strings.Contains(line, "TEST_GOARCH=arm64"):
			target = "arm64"
		case strings.Contains(line, "unset TEST_GOARCH"):
			target = ""
		}
		at := target
		for _, goos := range []string{"windows", "darwin"} {
			if strings.Contains(line, "TEST_GOOS="+goos) {
				at = goos
			}
		}
		if m := tests.FindStringSubmatch(line); m != nil && at != "" {
			pattern, of := "^"+m[2]+"$", at+" "+m[1]
			if others := run[of]; others != nil {
				pattern += "|" + others.String()
			}
			run[of] = regexp.MustCompile(pattern)
		}
	}
	if len(run) != 6 {
		t.Fatalf(".ci/run runs scripts for %d targets and commands, not 6", len(run))
	}
	return run
}
