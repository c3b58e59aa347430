package docs

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "put what the commands print into the documents")

// TestTranscripts runs the commands of every console block in the README and the pages, and
// compares what they print: a page shows what really happens. In a block a line "$ command" is
// followed by what it prints.
//
//	```console
//	$ ftrace-wrap run ./examples/hello
//	G1   + main.main() { // #1
//	```
//
// The commands run in a copy of the module's root with ftrace-wrap and ftrace in PATH. What differs
// from run to run is made the same by normal before comparing. A line "..." stands for any number
// of lines.
func TestTranscripts(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles programs")
	}
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS("..")); err != nil {
		t.Fatal(err)
	}
	bin := testenv.Build(t, "ftrace-wrap", "ftrace")
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			if program := needs[page]; program != "" && os.Getenv("CI") == "" {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip(err)
				}
			}
			if !quick[page] && !*update {
				testenv.NeedAll(t)
			}
			source, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			env := append(testenv.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "GOFLAGS=-buildvcs=false")
			now := block.ReplaceAllFunc(source, func(b []byte) []byte { return run(t, root, env, b) })
			if *update {
				if err := os.WriteFile(page, now, 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(normal(string(source)), normal(string(now))); diff != "" {
				t.Errorf("what the commands print differs (-page +now); go test ./docs -update changes the pages:\n%s", diff)
			}
		})
	}
}

// quick has the pages whose commands are run without ALL_TESTS=1: those that are read first.
var quick = map[string]bool{"../README.md": true, "failing-test.md": true, "getting-started.md": true, "live.md": true, "trace.md": true, "waits.md": true}

// needs says which pages show a program that not every machine has. .ci/run installs it.
var needs = map[string]string{"performance-schema.md": "mariadb", "protocol.md": "mariadbd"}

var block = regexp.MustCompile("(?ms)^```console\n.*?^```$")

// run returns a console block with what its commands print now.
func run(t *testing.T, root string, env []string, b []byte) []byte {
	var out bytes.Buffer
	lines := strings.Split(string(b), "\n")
	out.WriteString(lines[0] + "\n")
	for i := 1; i < len(lines)-1; i++ {
		command, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			continue
		}
		out.WriteString(lines[i] + "\n")
		var shown []string
		for _, line := range lines[i+1 : len(lines)-1] {
			if strings.HasPrefix(line, "$ ") {
				break
			}
			shown = append(shown, line)
		}
		cmd := exec.Command("sh", "-c", patient(command))
		cmd.Dir, cmd.Env = root, env
		printed, err := cmd.CombinedOutput()
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			t.Fatalf("%s: %v", command, err)
		}
		out.WriteString(abridge(progress.ReplaceAllString(string(printed), ""), shown))
	}
	out.WriteString(lines[len(lines)-1])
	return out.Bytes()
}

var sleep = regexp.MustCompile(`\bsleep [0-9.]+`)

// patient returns a command that sleeps three times as long: what it waits for may have to share
// the machine with other tests. The pages are written at their own pace.
func patient(command string) string {
	if *update {
		return command
	}
	return sleep.ReplaceAllStringFunc(command, func(s string) string {
		seconds, err := strconv.ParseFloat(strings.TrimPrefix(s, "sleep "), 64)
		if err != nil {
			return s
		}
		return fmt.Sprintf("sleep %g", 3*seconds)
	})
}

// progress is what the go command prints besides, once on each machine.
var progress = regexp.MustCompile(`(?m)^go: downloading .*\n`)

// abridge puts "..." where the lines shown before have it: what was printed is cut to the lines
// that were shown, if these still come in this order.
func abridge(printed string, shown []string) string {
	rest := strings.Split(strings.TrimSuffix(printed, "\n"), "\n")
	for i, line := range shown {
		if line == "..." {
			for len(rest) > 0 && (i+1 == len(shown) || normal(rest[0]) != normal(shown[i+1])) {
				rest = rest[1:]
			}
			continue
		}
		if len(rest) == 0 || normal(rest[0]) != normal(line) {
			return printed
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		return printed
	}
	return strings.Join(shown, "\n") + "\n"
}

var volatile = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`0x[0-9a-f]{6,}`), "0xADDRESS"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "TIMESTAMP"},
	{regexp.MustCompile(`"goroutine":\d+`), `"goroutine":N`},
	{regexp.MustCompile(`\bG\d+ *`), "G "},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ns|us|ms|s)\b`), "TIME"},
	{regexp.MustCompile(`(main\.(?:transfer|deposit))(\(.*\))? #[34]\b`), "$1$2 #3 or #4"},               // of examples/stuck: either may be first
	{regexp.MustCompile(`(?m)^(G ), (?:running|runnable)$`), "$1, running or runnable"},                  // with one processor it is what lists the goroutines that runs
	{regexp.MustCompile(` {2,}(TIME|total|self|average|min|max|p50|p95|p99|change|called by)\b`), " $1"}, // columns, as wide as what is in them
	{regexp.MustCompile(` {2,}[-+]TIME`), " +TIME"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\.\d+Z`), "CLOCK"},
	{regexp.MustCompile(`\b\d\.\d{6}\b`), "ELAPSED"},
	{regexp.MustCompile(`\bT\d+ *`), "T "},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\bfd \d+`), "fd N"},
	{regexp.MustCompile(`\b\d+ calls and more\b`), "N calls and more"}, // which a budget left out
	{regexp.MustCompile(`/\S*/(examples|bench|src)/`), "/.../$1/"},
	{regexp.MustCompile(`\(cached\)`), "TIME"},
	{regexp.MustCompile(`go1\.\d+\.\d+`), "GO"},
	{regexp.MustCompile(`(?m)^\+(-+\+)+$`), "+-+"}, // tables of SQL, as wide as what is in them
	{regexp.MustCompile(`\| +`), "| "},
	{regexp.MustCompile(` +\|`), " |"},
	{regexp.MustCompile(`\| call/main/main \| (?:running|runnable) \|`), "| call/main/main | wait/sleep |"}, // of examples/stuck: it wakes ten times a second
	{regexp.MustCompile(`(?:running|runnable) at main\.main \(main\.go:37\)`), "waiting: wait/sleep at main.main (main.go:37)"},
	{regexp.MustCompile(`\b\d+\.\d\d (ns|us|ms|s)\b`), "TIME"},
	{regexp.MustCompile(`\| \d{6,} `), "| NUMBER "},
	{regexp.MustCompile(`test_trace: \d{3}:`), "test_trace: NNN:"}, // connections, by the server's count
	{regexp.MustCompile(`connection=\d+`), "connection=N"},
	{regexp.MustCompile(`\breplay\.go:\d+`), "replay.go:N"}, // package mock's own
	{regexp.MustCompile(`(process|pid)="\d+"`), `$1="N"`},   // metrics
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "TRACE"},
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "SPAN"},
	{regexp.MustCompile(`(?m)^(ftrace_\w+\{.*\}) \S+$`), "$1 VALUE"},
}

// normal makes the same what differs from run to run: addresses, goroutines, times, ports,
// directories.
func normal(s string) string {
	for _, v := range volatile {
		s = v.pattern.ReplaceAllString(s, v.text)
	}
	return s
}

// TestDownloads: what the go command downloads, on a machine that has not had it, is in no
// transcript.
func TestDownloads(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	const command = "```console\n$ echo 'go: downloading example.com/m v1.2.3' >&2; echo 'go: no downloading'\n"
	if got, want := string(run(t, t.TempDir(), os.Environ(), []byte(command+"```"))), command+"go: no downloading\n```"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestNames: no other script or page runs a program that one of them names to ftrace without a
// directory. The tests of several packages run at once, and then there would be two of that name.
func TestNames(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.md", "../README.md", "../cmd/*/testdata/script/*.txtar"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		files = append(files, names...)
	}
	ran, named := map[string][]string{}, map[string][]string{} // by the program's name: the files
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".md") {
			source = bytes.Join(commands.FindAll(bytes.Join(block.FindAll(source, -1), []byte("\n")), -1), []byte("\n"))
		}
		runs := map[string]bool{}
		for _, m := range running.FindAllSubmatch(source, -1) {
			if name := string(m[1]); !runs[name] {
				runs[name] = true
				ran[name] = append(ran[name], file)
			}
		}
		for _, arguments := range asking.FindAll(source, -1) {
			for _, name := range strings.Fields(string(quoted.ReplaceAll(arguments, nil))) {
				if runs[name] {
					named[name] = append(named[name], file)
				}
			}
		}
	}
	if len(named) < 20 {
		t.Errorf("only %d programs are named to ftrace", len(named))
	}
	for name, by := range named {
		if len(ran[name]) > 1 {
			t.Errorf("%s is named in %s, and runs in %q", name, by[0], ran[name])
		}
	}
}

var (
	commands = regexp.MustCompile(`(?m)^\$ .*$`)
	running  = regexp.MustCompile(`(?m)(?:^|[\s'"(])\./([\w-]+)(?:[\s'")]|$)`)
	asking   = regexp.MustCompile(`\bftrace (?:attach|waits|sql|top|serve|exporter|forward|web|-)[^|;&\n]*`)
	quoted   = regexp.MustCompile(`'[^']*'|"[^"]*"`)
)

// TestCode compares the code in pages with the examples that it is taken from.
func TestCode(t *testing.T) {
	for name, file := range map[string]string{
		"mock.md": "../examples/shop/shop_test.go",
		"log.md":  "../examples/levels/main.go",

		"protocol.md": "../examples/protocol/example_test.go",
	} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		example, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(page, -1)
		if len(blocks) == 0 {
			t.Fatalf("%s has no code", name)
		}
		for _, b := range blocks {
			if !bytes.Contains(example, b[1]) {
				t.Errorf("%s does not have\n%s", file, b[1])
			}
		}
	}
}
