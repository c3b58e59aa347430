// Command allocs compares how often benchmarks allocate: built plainly, and with hooks that are
// off. What a user's benchmark says of allocations must not change.
//
// Usage, from the repository of ftrace-wrap:
//
//	go run ./scripts/allocs [-C DIR] [-wrap PATH] [-packages PATTERN] [-inline MODE] [-bench RE] [-skip RE] [-n N] PACKAGE...
//
// PACKAGEs are those of the module in DIR, or of the standard library. Each benchmark runs N times
// on one processor, without the garbage collector, which empties pools. Those that differ run
// again, up to nine times: some allocate once more or less from run to run, since maps place their
// keys at random. A benchmark differs if the fewest allocations of one build are more than the most
// of the other.
//
// The exit status is 0 if no benchmark differs, 1 if one does, and 2 if something could not be
// compared.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// comparison is what is compared.
type comparison struct {
	dir, wrap, packages, inline string
	bench, skip                 string
	n                           int
}

func main() {
	var c comparison
	flag.StringVar(&c.dir, "C", ".", "the `directory` of the module")
	flag.StringVar(&c.wrap, "wrap", "", "`path` of ftrace-wrap (default: build it)")
	flag.StringVar(&c.packages, "packages", "", "value of FTRACE_PACKAGES, a `pattern`")
	flag.StringVar(&c.inline, "inline", "keep", "value of FTRACE_INLINE, a `mode`, or nothing")
	flag.StringVar(&c.bench, "bench", ".", "run benchmarks that match `regexp`")
	flag.StringVar(&c.skip, "skip", "", "skip benchmarks that match `regexp`")
	flag.IntVar(&c.n, "n", 20, "run each benchmark `N` times")
	flag.Parse()
	differ, err := c.run(os.Stdout, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "allocs:", err)
		os.Exit(2)
	}
	if differ > 0 {
		os.Exit(1)
	}
}

// run compares the benchmarks of packages. It returns how many differ.
func (c *comparison) run(out io.Writer, packages []string) (differ int, err error) {
	if len(packages) == 0 {
		return 0, errors.New("name packages, such as encoding/json")
	}
	tmp, err := os.MkdirTemp("", "allocs")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	if c.wrap == "" {
		c.wrap = filepath.Join(tmp, "ftrace-wrap")
		if b, err := exec.Command("go", "build", "-o", c.wrap, "./cmd/ftrace-wrap").CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go build: %w\n%s", err, b)
		}
	}
	list, err := c.command("go", append([]string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}, packages...)...).Output()
	if err != nil {
		return 0, fmt.Errorf("go list: %w%s", err, stderr(err))
	}
	var failed []error
	for line := range strings.Lines(string(list)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := c.compare(out, tmp, path, dir)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", path, err))
		}
		differ += n
	}
	return differ, errors.Join(failed...)
}

// command returns a command that runs in the module's directory, with no variable of ftrace-wrap
// set.
func (c *comparison) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "FTRACE") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	return cmd
}

// compare compares the benchmarks of a package, whose directory is dir. It returns how many differ.
func (c *comparison) compare(out io.Writer, tmp, path, dir string) (differ int, err error) {
	plain, hooks := filepath.Join(tmp, "plain.test"), filepath.Join(tmp, "hooks.test")
	toolexec, err := words.Toolexec(c.wrap)
	if err != nil {
		return 0, err
	}
	for test, flags := range map[string][]string{plain: nil, hooks: {toolexec}} {
		os.Remove(test)
		cmd := c.command("go", slices.Concat([]string{"test", "-c", "-o", test}, flags, []string{path})...)
		cmd.Env = append(cmd.Env, "FTRACE_PACKAGES="+c.packages, "FTRACE_INLINE="+c.inline)
		if b, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go test -c: %w\n%s", err, b)
		}
	}
	if _, err := os.Stat(plain); err != nil {
		fmt.Fprintf(out, "%s: no tests\n", path)
		return 0, nil
	}
	var plainly, hooked counts
	again := c.bench
	for range 10 {
		if err := errors.Join(plainly.add(c.benchmark(plain, dir, again)), hooked.add(c.benchmark(hooks, dir, again))); err != nil {
			return 0, err
		}
		if again = pattern(plainly.differing(hooked)); again == "" {
			break
		}
	}
	for _, name := range plainly.differing(hooked) {
		fmt.Fprintf(out, "%s: %s: %s allocations plainly, %s with hooks\n", path, name, plainly[name], hooked[name])
		differ++
	}
	fmt.Fprintf(out, "%s: %d benchmarks, of which %d differ\n", path, len(plainly), differ)
	return differ, nil
}

// benchmark runs benchmarks of a package's test.
func (c *comparison) benchmark(test, dir, bench string) (output []byte, err error) {
	cmd := c.command(test, "-test.short", "-test.run=^$", "-test.bench="+bench, "-test.skip="+c.skip, fmt.Sprintf("-test.benchtime=%dx", c.n), "-test.benchmem", "-test.cpu=1", "-test.timeout=5m")
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "GOGC=off", "GOMEMLIMIT=3GiB")
	output, err = cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, output[max(0, len(output)-2000):])
	}
	return output, nil
}

// counts has by benchmark how often it allocated in each run.
type counts map[string]span

// A span is from the fewest to the most allocations.
type span struct{ least, most int }

func (s span) String() string {
	if s.least == s.most {
		return strconv.Itoa(s.least)
	}
	return fmt.Sprintf("%d to %d", s.least, s.most)
}

var result = regexp.MustCompile(`(?m)^(Benchmark\S*)\s+\d+\s.*?\s(\d+) allocs/op`)

// add adds what a run of benchmarks printed.
func (c *counts) add(output []byte, err error) error {
	if err != nil {
		return err
	}
	if *c == nil {
		*c = counts{}
	}
	for _, m := range result.FindAllSubmatch(output, -1) {
		n, err := strconv.Atoi(string(m[2]))
		if err != nil {
			return err
		}
		s, ok := (*c)[string(m[1])]
		if !ok {
			s = span{n, n}
		}
		(*c)[string(m[1])] = span{min(s.least, n), max(s.most, n)}
	}
	return nil
}

// differing returns the benchmarks that differ, or that only one of the two has, sorted.
func (c counts) differing(other counts) (names []string) {
	for name := range c {
		if s, ok := other[name]; !ok || s.most < c[name].least || c[name].most < s.least {
			names = append(names, name)
		}
	}
	for name := range other {
		if _, ok := c[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// pattern returns a regular expression for the benchmarks with these names, and all that the same
// functions have; nothing if there are none.
func pattern(names []string) string {
	var functions []string
	for _, name := range names {
		function, _, _ := strings.Cut(name, "/")
		functions = append(functions, regexp.QuoteMeta(function))
	}
	if len(functions) == 0 {
		return ""
	}
	slices.Sort(functions)
	return "^(" + strings.Join(slices.Compact(functions), "|") + ")$"
}

// stderr returns what a command printed that failed.
func stderr(err error) string {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "\n" + string(exit.Stderr)
	}
	return ""
}
