package testtree

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// lines reads a trace.
func lines(trace string) (list []Line) {
	for text := range strings.Lines(strings.TrimPrefix(trace, "\n")) {
		rest := text[len("G7   "):]
		depth := (len(rest) - len(strings.TrimLeft(rest, " "))) / 2
		l := Line{rest[2*depth], depth, text}
		if l.Kind == Ends {
			l.Depth--
		}
		if strings.HasPrefix(rest[2*depth:], "} panic ") {
			l.Kind = Panics
		}
		list = append(list, l)
	}
	return list
}

const parser = `
G7   + p.Test() { // #1
G7     + p.eval(text="7") { // #1
G7       + p.sum(text="7") { // #1
G7         } = 7 // p.sum
G7       } = value=7 // p.eval
G7     + p.eval(text="3*5") { // #2
G7       + p.sum(text="3*5") { // #2
G7         + p.(*lexer).next() { // #1
G7           } = 3 // p.(*lexer).next
G7         + p.(*lexer).next() { // #2
G7           } = 5 // p.(*lexer).next
G7         } = 8 // p.sum
G7       } = value=8 // p.eval
G7     + p.check(got=8, want=15) { // #1
`

func TestFold(t *testing.T) {
	for _, c := range []struct {
		trace, message string
		most           int
		want           string
	}{
		// The last calls are the nearest. What is folded is counted.
		{parser, "", 100, parser[:strings.Index(parser, "G7       + p.sum")] + `G7       + p.sum(text="7") {} = 7 // #1
G7       } = value=7 // p.eval
G7     + p.eval(text="3*5") { // #2
G7       + p.sum(text="3*5") { // #2
G7         + p.(*lexer).next() {} = 3 // #1
G7         + p.(*lexer).next() {} = 5 // #2
G7         } = 8 // p.sum
G7       } = value=8 // p.eval
G7     + p.check(got=8, want=15) { // #1
`},
		{parser, "", 4, `
G7   + p.Test() { // #1
G7     + p.eval(text="7") {...} = value=7 // #1, 1 call within
G7     + p.eval(text="3*5") {...} = value=8 // #2, 3 calls within
G7     + p.check(got=8, want=15) { // #1
`},
		{parser, "", 3, `
G7   + p.Test() { // #1
G7     ... 6 calls: p.eval 2 times
G7     + p.check(got=8, want=15) { // #1
`},
		// A value of the message goes first.
		{parser, "want 7", 6, `
G7   + p.Test() { // #1
G7     + p.eval(text="7") {...} = value=7 // #1, 1 call within
G7       + p.sum(text="7") {} = 7 // #1
G7     + p.eval(text="3*5") {...} = value=8 // #2, 3 calls within
G7       + p.sum(text="3*5") {...} = 8 // #2, 2 calls within
G7     + p.check(got=8, want=15) { // #1
`},
		// A panic's path, of calls that it ended.
		{`
G7   + p.Test() { // #1
G7     + p.a() { // #1
G7       } = 1 // p.a
G7     + p.b(n=1) { // #1
G7       + p.c(n=2) { // #1
G7         } panic "no" // p.c
G7       } panic "no" // p.b
G7     } panic "no" // p.Test
`, "", 7, `
G7   + p.Test() { // #1
G7     + p.a() {} = 1 // #1
G7     + p.b(n=1) { // #1
G7       + p.c(n=2) { // #1
G7         } panic "no" // p.c
G7       } panic "no" // p.b
G7     } panic "no" // p.Test
`},
	} {
		want := strings.TrimPrefix(c.want, "\n")
		if got := Fold(lines(c.trace), c.message, c.most); got != want {
			t.Errorf("%d lines, %q:\n%swant\n%s", c.most, c.message, got, want)
		}
	}
}

// TestFoldValue: of a thousand calls the one is shown that has the value of the message.
func TestFoldValue(t *testing.T) {
	var trace strings.Builder
	trace.WriteString("G7   + p.Test() { // #1\n")
	for i := range 1000 {
		fmt.Fprintf(&trace, "G7     + p.double(n=%d) { // #%d\nG7       } = %d // p.double\n", i, i+1, 3*i)
	}
	const want = `G7   + p.Test() { // #1
G7     ... 42 calls: p.double 42 times
G7     + p.double(n=42) {} = 126 // #43
G7     ... 957 calls: p.double 957 times
`
	if got := Fold(lines(trace.String()), "double(42) = 126, want 84", 4); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestFoldRank has a case for each thing that makes a call worth a line. Each trace has calls of
// noise before and after the one that is to be shown.
func TestFoldRank(t *testing.T) {
	call := func(depth int, entry, result string) string {
		indent := strings.Repeat("  ", depth)
		return fmt.Sprintf("G7   %s+ p.%s { // #1\nG7   %s  }%s // p.f\n", indent, entry, indent, result)
	}
	noise := func(format string) (s string) {
		for i := range 50 {
			s += call(1, fmt.Sprintf(format, i), "")
		}
		return s
	}
	const test = "G7   + p.Test() { // #1\n"
	within := func(entry, result, calls string) string {
		return "G7     + p." + entry + " { // #1\n" + calls + "G7       }" + result + " // p.f\n"
	}
	for _, c := range []struct {
		name, trace, message string
		most                 int
		want                 string // a line that is shown
	}{
		// What all calls have says nothing, although the message has it first and twice.
		{"rare", test + noise("f(db=main n=%d)") + call(1, "g(db=main, key=alpha)", "") + noise("f(db=main n=%d)"),
			"main: main: alpha not found", 4, "p.g(db=main, key=alpha)"},
		// A value that two calls have is worth most where it was made.
		{"made", test + noise("f(n=%d)") + call(1, "load()", " = 7777") + noise("f(n=%d)") + call(1, "use(n=7777)", "") + noise("f(n=%d)"),
			"got 7777", 4, "p.load() {} = 7777"},
		// A long message does not make a call that has much of it worth more than one that has the
		// value which no other has.
		{"long", test + noise("f(text=alpha beta gamma delta, n=%d)") + call(1, "g(n=4711)", "") + noise("f(text=alpha beta gamma delta, n=%d)"),
			"alpha\nbeta\ngamma\ndelta\nalpha beta gamma delta\n-4711\n+4712", 4, "p.g(n=4711)"},
		// A text is the same with escapes.
		{"escapes", test + noise("f(n=%d)") + call(1, `render()`, ` = "<p>\nalpha</p>\n"`) + noise("f(n=%d)"),
			"got:\n<p>\nalpha</p>\n", 4, "p.render()"},
		// An error, although the message has other words for it.
		{"error", test + noise("f(n=%d)") + call(1, "open()", ` = *errors.errorString("gone")`) + noise("f(n=%d)"),
			"it failed", 5, "p.open()"},
		// What a call that has the value called, deep below.
		{"within", test + noise("f(n=%d)") + within("parse(text=alpha)", " = 1", "G7       + p.a() { // #1\nG7         + p.b() { // #1\n"+call(4, "c()", " = true")+"G7           } // p.b\nG7         } // p.a\n") + noise("f(n=%d)"),
			"alpha", 8, "p.c() {} = true"},
		// One call of each function before the second of the same.
		{"distinct", test + within("parse(text=alpha)", " = 1", strings.Repeat(call(2, "next()", ""), 20)+call(2, "bad()", " = 3")+strings.Repeat(call(2, "next()", ""), 20)) + call(1, "f()", ""),
			"alpha", 5, "p.bad() {} = 3"},
		// The call before the failure.
		{"last", test + noise("f(n=%d)") + call(1, "equal(a=1, b=2)", " = false"),
			"not equal", 3, "p.equal(a=1, b=2)"},
	} {
		if got := Fold(lines(c.trace), c.message, c.most); !strings.Contains(got, c.want) {
			t.Errorf("%s: without %s:\n%s", c.name, c.want, got)
		}
	}
}

// TestFoldWay: calls that are only the way to one that is shown have one line.
func TestFoldWay(t *testing.T) {
	var trace strings.Builder
	trace.WriteString("G7   + p.Test() { // #1\n")
	for i := range 10 {
		fmt.Fprintf(&trace, "G7     + p.a() { // #%d\nG7       + p.b() { // #%[1]d\nG7         + p.c(n=4%[1]d) { // #%[1]d\nG7           } = 5%[1]d // p.c\nG7         } // p.b\nG7       } // p.a\n", i)
	}
	const want = `G7   + p.Test() { // #1
G7     ... 9 calls: p.a 3 times
G7     ... in p.a, p.b:
G7         + p.c(n=43) {} = 53 // #3
G7     ... 18 calls: p.a 6 times
`
	if got := Fold(lines(trace.String()), "got 53", 5); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestFoldDeep: of a path that is too long the middle is left out.
func TestFoldDeep(t *testing.T) {
	var trace strings.Builder
	for i := range 100 {
		fmt.Fprintf(&trace, "G7   %s+ p.f(n=%d) { // #%d\n", strings.Repeat("  ", i), i, i+1)
	}
	got := Fold(lines(trace.String()), "", 5)
	if strings.Count(got, "\n") != 5 || !strings.Contains(got, "... 96 lines\n") || !strings.HasSuffix(got, "+ p.f(n=99) { // #100\n") {
		t.Error(got)
	}
}

// TestFoldLimit checks that Fold never returns more lines than it may.
func TestFoldLimit(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		var list []Line
		depth := 0
		for n := range r.IntN(200) {
			if depth > 0 && r.IntN(2) == 0 {
				depth--
				list = append(list, Line{Ends, depth, fmt.Sprintf("G7   %s} = %d // p.f\n", strings.Repeat("  ", depth+1), r.IntN(9))})
				continue
			}
			list = append(list, Line{Begins, depth, fmt.Sprintf("G7   %s+ p.f%d(n=%d) { // #%d\n", strings.Repeat("  ", depth), r.IntN(3), r.IntN(9), n)})
			depth++
		}
		for _, most := range []int{1, 2, 5, 20, 60} {
			if got := Fold(list, "want 3", most); strings.Count(got, "\n") > most {
				t.Fatalf("seed %d: more than %d lines:\n%s", seed, most, got)
			}
		}
	}
}

// TestFoldGoroutines: calls of another goroutine are none of the calls before, which had not ended.
func TestFoldGoroutines(t *testing.T) {
	other := lines(`
G9   + p.worker() { // #1
`)
	other = append(other, Line{Kind: Switch})
	other = append(other, lines(`
G8     } = 1 // p.lost
G8     + p.half(n=3) { // #1
G8       } = 1 // p.half
`)...)
	other = append(other, Line{Kind: Switch})
	const want = `G9   + p.worker() { // #1
G8     + p.half(n=3) {} = 1 // #1
G7   + p.Test() { // #1
`
	if got := Fold(append(other, lines("G7   + p.Test() { // #1\n")...), "", 10); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
