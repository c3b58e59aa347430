package examples

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What differs from run to run, and what stands for it. How many functions there are is not for the examples to say: those
// of packages that they import count.
var chance = []struct {
	pattern *regexp.Regexp
	stands  string
}{
	{regexp.MustCompile(`0x[0-9a-f]{4,}`), "0xADDR"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "127.0.0.1:PORT"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ns|us|µs|ms|s)\b`), "TIME"},
	{regexp.MustCompile(`matches \d+ of \d+ functions`), "matches N of N functions"},
}

// A line of a call is "G", the goroutine's number, padding and text. What it says of the call's origin is at the end.
var (
	callLine  = regexp.MustCompile(`^G(\d+) +(.*)$`)
	entryLine = regexp.MustCompile(`^(\s*\+ ([^(]*(?:\(\*[^)]*\)[^(]*)?)\(.*\{ // )#(\d+)(?: from G(\d+) (\S+) #(\d+))?$`)
)

// normalize takes out of a trace what differs from run to run. Goroutines are numbered in the order in which they appear. The trace of
// a concurrent program is sorted by goroutine, the first one in front and the others by what they do, with an empty line before each; and
// since it is chance which of them makes the third call of a function, calls are counted anew in the order they then have.
func normalize(trace string, concurrent bool) string {
	for _, c := range chance {
		trace = c.pattern.ReplaceAllString(trace, c.stands)
	}
	var head []string // what is no goroutine's
	var calls []call
	for _, line := range lines(trace) {
		if m := callLine.FindStringSubmatch(line); m != nil {
			calls = append(calls, parseCall(m[1], strings.TrimPrefix(line, "G"+m[1])))
		} else {
			head = append(head, line)
		}
	}
	if concurrent {
		sortByGoroutine(calls)
		recount(calls)
	}
	numbers := map[string]int{}
	for _, c := range calls {
		if numbers[c.goroutine] == 0 {
			numbers[c.goroutine] = len(numbers) + 1
		}
	}
	var b strings.Builder
	for _, line := range head {
		fmt.Fprintln(&b, line)
	}
	for i, c := range calls {
		if concurrent && (i == 0 || c.goroutine != calls[i-1].goroutine) {
			b.WriteByte('\n')
		}
		c.print(&b, numbers)
	}
	return b.String()
}

// A call is a line of the trace: a call begins or ends.
type call struct {
	goroutine string // its number
	text      string // what follows, with padding and all, up to the count of calls
	function  string // the rest is of lines where a call begins
	count     string
	origin    *call // the call that started the goroutine; if this is the goroutine's first line
}

func parseCall(goroutine, rest string) call {
	rest = strings.TrimPrefix(rest, strings.Repeat(" ", max(1, 4-len(goroutine)))) // the number is padded
	m := entryLine.FindStringSubmatch(rest)
	if m == nil {
		return call{goroutine: goroutine, text: rest}
	}
	c := call{goroutine: goroutine, text: m[1], function: m[2], count: m[3]}
	if m[4] != "" {
		c.origin = &call{goroutine: m[4], function: m[5], count: m[6]}
	}
	return c
}

func (c call) print(b *strings.Builder, numbers map[string]int) {
	fmt.Fprintf(b, "%-4s %s", fmt.Sprint("G", numbers[c.goroutine]), c.text)
	if c.function != "" {
		fmt.Fprintf(b, "#%s", c.count)
	}
	if c.origin != nil {
		fmt.Fprintf(b, " from G%d %s #%s", numbers[c.origin.goroutine], c.origin.function, c.origin.count)
	}
	b.WriteByte('\n')
}

// sortByGoroutine brings the lines of each goroutine together, and the goroutines into an order that depends on nothing but their lines.
func sortByGoroutine(calls []call) {
	first := calls[0].goroutine
	all := map[string]string{}
	for _, c := range calls {
		all[c.goroutine] += c.text + "\n"
	}
	slices.SortStableFunc(calls, func(a, b call) int {
		switch {
		case a.goroutine == b.goroutine:
			return 0
		case a.goroutine == first:
			return -1
		case b.goroutine == first:
			return +1
		}
		return cmp.Or(strings.Compare(all[a.goroutine], all[b.goroutine]), strings.Compare(a.goroutine, b.goroutine))
	})
}

// recount numbers the calls of each function in the order of the lines.
func recount(calls []call) {
	type key struct{ function, count string }
	calledBefore := map[string]int{}
	counts := map[key]string{}
	for i, c := range calls {
		if c.function != "" {
			calledBefore[c.function]++
			calls[i].count = fmt.Sprint(calledBefore[c.function])
			counts[key{c.function, c.count}] = calls[i].count
		}
	}
	for _, c := range calls {
		if c.origin != nil {
			c.origin.count = counts[key{c.origin.function, c.origin.count}]
		}
	}
}

// lines splits a text into its lines.
func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// TestNormalize has two goroutines do the same with different numbers and in different order.
func TestNormalize(t *testing.T) {
	const one = `# ftrace: "1" matches 3 of 3 functions (args)
G1   + main.main() { // #1
G7   + main.(*T).run(t=0xc000012345, id=2) { // #1 from G1 main.main #1
G18  + main.(*T).run(t=0xc000012345, id=1) { // #2 from G1 main.main #1
G18    + main.f(s=") { // #9") { // #1
G7     + main.f(s="x") { // #2
G7       } = 12.5ms // main.f
G18      } = 3s // main.f
G18    } // main.(*T).run
G7     } // main.(*T).run
G1     } // main.main
`
	const other = `# ftrace: "1" matches 4 of 4 functions (args)
G1   + main.main() { // #1
G1     } // main.main
G3   + main.(*T).run(t=0xc000054321, id=1) { // #1 from G1 main.main #1
G3     + main.f(s=") { // #9") { // #1
G3       } = 7s // main.f
G3     } // main.(*T).run
G4   + main.(*T).run(t=0xc000054321, id=2) { // #2 from G1 main.main #1
G4     + main.f(s="x") { // #2
G4       } = 1us // main.f
G4     } // main.(*T).run
`
	const want = `# ftrace: "1" matches N of N functions (args)

G1   + main.main() { // #1
G1     } // main.main

G2   + main.(*T).run(t=0xADDR, id=1) { // #1 from G1 main.main #1
G2     + main.f(s=") { // #9") { // #1
G2       } = TIME // main.f
G2     } // main.(*T).run

G3   + main.(*T).run(t=0xADDR, id=2) { // #2 from G1 main.main #1
G3     + main.f(s="x") { // #2
G3       } = TIME // main.f
G3     } // main.(*T).run
`
	for _, trace := range []string{one, other} {
		if got := normalize(trace, true); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
