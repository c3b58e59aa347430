package diff

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

func open(t *testing.T, name string) walk.Source {
	t.Helper()
	r, err := recording.Open("../../../testdata/recordings/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return walk.Source{Recording: r}
}

// TestCompare: a recording is the same as itself, and differs from another one where its calls do.
func TestCompare(t *testing.T) {
	o := Options{Context: 2}
	for _, c := range []struct {
		recordings string
		same       bool
		want       string
	}{
		{"workers workers", true, "Goroutines: 4 do the same, 0 differ"},
		{"parser workers workers", true, "Goroutines: 4 do the same, 0 differ"},
		{"workers parser", false, "  event 2 of G1 of "},
	} {
		var sources []walk.Source
		for name := range strings.FieldsSeq(c.recordings) {
			sources = append(sources, open(t, name))
		}
		d, err := Compare(sources, o)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := d.Write(&out, o); err != nil {
			t.Fatal(err)
		}
		if d.Same() != c.same || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: same %v:\n%s", c.recordings, d.Same(), out.String())
		}
	}
}

// run is a recording of goroutines, each of which is written as its calls: f(values){calls}results,
// or f(values){calls}! for one that does not end.
func (f *forest) run(goroutines ...string) *side {
	s := &side{forest: f, goroutines: map[uint64]*goroutine{}}
	for i, text := range goroutines {
		g := s.goroutine(uint64(i + 1))
		if i > 0 {
			g.parent, g.creator = 1, "main"
		}
		made, _ := f.parse(text)
		for _, c := range made {
			s.add(g.root, c)
		}
		g.root = f.same(*g.root)
	}
	return s
}

func (f *forest) parse(text string) (made []*call, rest string) {
	until := func(stop string) (before string) {
		i := strings.IndexAny(text, stop)
		if i < 0 {
			i = len(text)
		}
		before, text = text[:i], text[i:]
		return before
	}
	values := func(text string) (list []uint64) {
		for v := range strings.FieldsSeq(strings.ReplaceAll(text, ",", " ")) {
			text := []byte(strings.ReplaceAll(v, ";", " "))
			hash := hashText(text)
			f.list(hash, text)
			list = append(list, hash)
		}
		return list
	}
	for text = strings.TrimSpace(text); text != "" && text[0] != '}'; text = strings.TrimSpace(text) {
		name := until("(")
		c := call{function: f.number(name), ends: returned, events: 2}
		text = text[1:]
		c.entry = values(until(")"))
		if strings.HasSuffix(name, ".Less") {
			f.index(c.function)
		}
		c.calls, text = f.parse(text[len("){"):])
		for _, inner := range c.calls {
			c.events += inner.events
		}
		text = text[1:]
		if c.exit = values(until(" }!")); strings.HasPrefix(text, "!") {
			c.ends, c.events, text = unended, c.events-1, text[1:]
		}
		made = append(made, f.same(c))
	}
	return made, text
}

// TestDivergences: what runs have in common is found whatever their goroutines, maps and workers
// made of the order; what good runs do not have in common is left out.
func TestDivergences(t *testing.T) {
	list := func(goroutines ...string) []string { return goroutines }
	for _, c := range []struct {
		name string
		runs [][]string
		want []string
	}{
		{"equal", [][]string{{"main(){f(1){}2}"}, {"main(){f(1){}2}"}}, nil},
		{"parameter", [][]string{{"main(){f(1){}2}"}, {"main(){f(3){}2}"}}, list("another parameter of f at 1")},
		{"result", [][]string{{"main(){f(1){}2}"}, {"main(){f(1){}2,3}"}}, list("another result of f at 2")},
		{"the cause, not what it leads to", [][]string{{"main(){f(1){g(){}1}2 h(2){}}"}, {"main(){f(1){g(){}0}3 h(3){}}"}}, list("another result of g at 3")},
		{"missing", [][]string{{"main(){f(1){} g(){} h(){}}"}, {"main(){f(1){} h(){}}"}}, list("g is not called at 3")},
		{"more", [][]string{{"main(){f(1){} h(){}}"}, {"main(){f(1){} f(1){} h(){}}"}}, list("f is called at 3")},
		{"a map's order", [][]string{{"main(){f(1){} g(){} f(2){}}"}, {"main(){f(2){} g(){} f(1){}}"}}, nil},
		{"a map's order, and a result", [][]string{{"main(){f(1){}1 f(2){}2 f(3){}3}"}, {"main(){f(3){}3 f(2){}0 f(1){}1}"}}, list("another result of f at 4")},
		{"order", [][]string{{"main(){f(){} g(){}}"}, {"main(){g(){} f(){}}"}}, list("g is called in another order at 1")},
		{"a lost update", [][]string{{"main(){f(){}1 f(){}2 f(){}3}"}, {"main(){f(){}1 f(){}1 f(){}2}"}}, list("another result of f at 4")},
		{"noise", [][]string{{"main(){f(1){}2}"}, {"main(){f(3){}2}"}, {"main(){f(4){}2}"}}, nil},
		{"noise and not", [][]string{{"main(){f(1){}2}"}, {"main(){f(3){}2}"}, {"main(){f(4){}0}"}}, list("another result of f at 2")},
		{"noise elsewhere", [][]string{{"main(){f(1){} g(){f(1){}}}"}, {"main(){f(1){} g(){f(2){}}}"}, {"main(){f(0){} g(){f(1){}}}"}}, list("another parameter of f at 1, where good runs differ too")},
		{"as one of the good ones", [][]string{{"main(){f(1){}}"}, {"main(){g(){}}"}, {"main(){g(){}}"}}, nil},
		{"goroutines in another order", [][]string{{"main(){}", "w(1){f(){}}", "w(2){}"}, {"main(){}", "w(2){}", "w(1){f(){}}"}}, nil},
		{"the second goroutine", [][]string{{"main(){}", "w(1){}", "w(2){f(){}}"}, {"main(){}", "w(1){}", "w(2){g(){}}"}}, list("f is not called at 1")},
		{"workers", [][]string{{"main(){}", "w(){j(1){}1 j(2){}2}", "w(){j(3){}3}"}, {"main(){}", "w(){j(3){}3 j(2){}2}", "w(){j(1){}1}"}}, nil},
		{"workers and a result", [][]string{{"main(){}", "w(){j(1){}1 j(2){}2}", "w(){j(3){}3}"}, {"main(){}", "w(){j(3){}3 j(2){}0}", "w(){j(1){}1}"}}, list("another result of j at 4")},
		{"subtests in a map's order", [][]string{{"main(){}", "t(){f(1){a(1){}1 a(2){}2}1}", "t(){f(2){a(3){}3 a(4){}4}2}"}, {"main(){}", "t(){f(2){a(4){}4 a(3){}3}2}", "t(){f(1){a(2){}2 a(1){}1}1}"}}, nil},
		{"subtests and a result", [][]string{{"main(){}", "t(){f(1){a(1){}1 a(2){}2}1}", "t(){f(2){a(3){}3 a(4){}4}2}"}, {"main(){}", "t(){f(2){a(4){}0 a(3){}3}2}", "t(){f(1){a(2){}2 a(1){}1}1}"}}, list("another result of a at 3")},
		{"subtests that swap results", [][]string{{"main(){}", "t(){f(1){a(1){}1 a(2){}2}1}", "t(){f(2){a(3){}3 a(4){}4}2}"}, {"main(){}", "t(){f(2){a(4){}4 a(3){}3}1}", "t(){f(1){a(2){}2 a(1){}1}2}"}}, list("another result of f at 6", "another result of f at 6")},
		{"the first round does more", [][]string{{"main(){e(1){init(){}} e(2){}}"}, {"main(){e(2){init(){}} e(1){}}"}}, nil},
		{"the first round does less", [][]string{{"main(){e(1){init(){}} e(2){}}"}, {"main(){e(2){} e(1){}}"}}, list("init is not called at 4")},
		{"the second round does more", [][]string{{"main(){e(1){init(){}} e(2){}}"}, {"main(){e(1){} e(2){init(){}}}"}}, list("init is not called at 2")},
		{"a sort", [][]string{{"main(){c(1,2){}-1 c(2,3){}-1}"}, {"main(){c(3,1){}1 c(2,1){}1 c(3,2){}1}"}}, nil},
		{"a sort, and a result", [][]string{{"main(){c(1,2){}-1 c(2,3){}-1}"}, {"main(){c(3,1){}1 c(2,1){}1 c(3,2){}-1}"}}, list("another parameter of c at 1")},
		{"a sort of others", [][]string{{"main(){c(1,2){}-1 c(2,3){}-1}"}, {"main(){c(4,1){}1 c(2,1){}1 c(4,2){}1}"}}, list("another parameter of c at 1")},
		{"a sort that ends too early", [][]string{{"main(){c(1,2){}-1 c(2,3){}-1}"}, {"main(){c(3,1){}1 c(2,1){}1}"}}, list("another parameter of c at 1")},
		{"no sort", [][]string{{"main(){eq(1,2){}false eq(2,3){}false}"}, {"main(){eq(1,3){}false eq(3,2){}false}"}}, list("another parameter of eq at 1")},
		{"a sum", [][]string{{"main(){add(1,2){}3 add(2,3){}5}"}, {"main(){add(1,3){}4 add(3,2){}5}"}}, list("another parameter of add at 1")},
		{"two sorts", [][]string{{"main(){c(1,2){}true c(3,4){}true}"}, {"main(){c(2,1){}false c(4,3){}false}"}}, nil},
		{"two sorts become one", [][]string{{"main(){c(1,2){}true c(3,4){}true}"}, {"main(){c(2,1){}false c(2,3){}true c(4,3){}false}"}}, list("another parameter of c at 1")},
		{"a sort by indexes", [][]string{{"main(){l(1,0){k(){}a k(){}b}true}"}, {"main(){l(1,0){k(){}b k(){}a}false}"}}, nil},
		{"a sort by indexes, and a result", [][]string{{"main(){l(1,0){k(){}a k(){}b}true}"}, {"main(){l(1,0){k(){}a k(){}b}false}"}}, list("another result of l at 6")},
		{"a sort by indexes, and what it asks for", [][]string{{"main(){l(1,0){k(){}a k(){}b}true}"}, {"main(){l(1,0){k(){}b k(){}c}true}"}}, list("another result of k at 5")},
		{"a sort by nothing that is known", [][]string{{"main(){l(1,0){}true}"}, {"main(){l(1,0){}false}"}}, list("another result of l at 2")},
		{"sort.Interface", [][]string{{"main(){s.Less(1,0){k(){}a k(){}b}true s.Swap(1,0){}}"}, {"main(){s.Less(1,0){k(){}b k(){}a}false}"}}, nil},
		{"sort.Interface, and a swap too many", [][]string{{"main(){s.Less(1,0){k(){}a k(){}b}true s.Swap(1,0){}}"}, {"main(){s.Less(1,0){k(){}a k(){}b}true s.Swap(1,0){} s.Swap(1,0){}}"}}, list("s.Swap is called at 9")},
		{"what follows a sort", [][]string{{"main(){c(1,2){}true f(1){}1}"}, {"main(){c(2,1){}false f(1){}2}"}}, list("another result of f at 4")},
		{"rounds in another order", [][]string{{"main(){g(1){} g(2){} h(2){} i(){}}"}, {"main(){g(2){} h(2){} g(1){} i(){}}"}}, nil},
		{"calls in another order than those of rounds", [][]string{{"main(){g(1){} g(2){} h(2){}}"}, {"main(){h(2){} g(1){} g(2){}}"}}, list("h is called in another order at 1")},
		{"rounds that begin alike", [][]string{{"main(){g(){} h(1){} g(){} j(2){}}"}, {"main(){g(){} j(2){} g(){} h(1){}}"}}, nil},
		{"no goroutine", [][]string{{"main(){}", "w(1){}"}, {"main(){}"}}, list("no goroutine that begins with w at 0")},
		{"interrupted", [][]string{{"main(){}", "w(){f(){} f(){}!}!"}, {"main(){}", "w(){f(){}!}!"}}, nil},
		{"hangs", [][]string{{"main(){f(){}}"}, {"main(){f(){}!}"}}, list("f ends in another way, or does not end at 2")},
	} {
		testDivergences(t, c.name, false, c.runs, c.want)
	}
}

// testDivergences compares runs, and expects what is wanted to be found, and to be taken for the
// same where it says so.
func testDivergences(t *testing.T, name string, passed bool, runs [][]string, want []string) {
	t.Helper()
	f := newForest()
	d := &Comparison{forest: f}
	for _, r := range runs {
		d.good = append(d.good, f.run(r...))
	}
	last := len(d.good) - 1
	d.good, d.b = d.good[:last], d.good[last]
	d.b.passed = passed
	d.compare()
	var got []string
	for i := range d.found {
		x := &d.found[i]
		got = append(got, d.what(x)+" at "+string(rune('0'+x.event()))+x.excuse())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, not %q", name, got, want)
	}
	if same := !slices.ContainsFunc(want, func(what string) bool { return !strings.HasSuffix(what, " too") && !strings.HasSuffix(what, "pass") }); d.Same() != same {
		t.Errorf("%s: Same is %v", name, d.Same())
	}
}

// TestSlight: where the tests passed, what a loop over a map asks and the order of a list that was
// made from one come to nothing; what else differs is found.
func TestSlight(t *testing.T) {
	list := func(divergences ...string) []string { return divergences }
	for _, c := range []struct {
		name      string
		good, bad string
		want      []string
		passed    []string
	}{
		{"a list in another order", "f([a;b;b]){}", "f([b;a;b]){}", list("another parameter of f at 1"), list("another parameter of f at 1, and the tests pass")},
		{"another list", "f([a;b;b]){}", "f([a;a;b]){}", list("another parameter of f at 1"), list("another parameter of f at 1")},
		{"a result in another order", "f(){}m[1;[a;b]]", "f(){}m[[b;a];1]", list("another result of f at 2"), list("another result of f at 2, and the tests pass")},
		{"fields in another order", "f([{d;e}]){}", "f([{e;d}]){}", list("another parameter of f at 1"), list("another parameter of f at 1")},
		{"a search", "find(){is(1){}false is(2){}true}2", "find(){is(3){}false is(2){}true}2", list("another parameter of is at 2"), list("another parameter of is at 2, and the tests pass")},
		{"a search that ends early", "find(){is(1){}false is(2){}true}2", "find(){is(2){}true}2", list("is is not called at 2"), list("is is not called at 2, and the tests pass")},
		{"a search that does not", "find(){is(2){}true}2", "find(){is(1){}false is(2){}true}2", list("is is called at 2"), list("is is called at 2, and the tests pass")},
		{"a search and what it finds", "find(){is(1){}false is(2){}true}2", "find(){is(1){}true}1", list("another result of is at 3"), list("another result of is at 3")},
		{"a search and its result", "find(){is(2){}true}2", "find(){is(1){}true}1", list("another parameter of is at 2"), list("another result of find at 4")},
		{"what is done", "do(){is(1){}true f(1){}}", "do(){is(2){}true f(2){}}", list("another parameter of is at 2"), list("another parameter of f at 4")},
		{"what is done in another order", "do(){is(1){}true f(){} g(){}}", "do(){is(2){}true g(){} f(){}}", list("another parameter of is at 2"), list("g is called in another order at 4")},
		{"questions in another order", "do(){f(){} is(1){}true g(){}}", "do(){is(1){}true f(){} g(){}}", list("is is called in another order at 2"), nil},
		{"what a question asks", "is(1){name(1){}a}false", "is(2){name(2){}b}false", list("another parameter of is at 1"), list("another parameter of is at 1, and the tests pass")},
		{"a sort by nothing that is known", "x.Less(1,0){}true x.Swap(1,0){}", "x.Less(1,0){}false", list("another result of x.Less at 2"), list("another result of x.Less at 2, and the tests pass")},
		{"Swap by itself", "y.Swap(1,0){}", "y.Swap(2,0){}", list("another parameter of y.Swap at 1"), list("another parameter of y.Swap at 1")},
	} {
		runs := [][]string{{"main(){" + c.good + "}"}, {"main(){" + c.bad + "}"}}
		testDivergences(t, c.name, false, runs, c.want)
		testDivergences(t, c.name+", and the tests pass", true, runs, c.passed)
	}
}

// TestExpected: a run that passed and differs from the good ones no more than these may differ from
// each other by chance is taken for the same.
func TestExpected(t *testing.T) {
	good := [][]string{
		{"main(){}", "u(){f(1){}}", "v(){g(1){}}"},
		{"main(){}", "u(){f(2){}}", "v(){g(1){}}"},
		{"main(){}", "u(){f(1){}}", "v(){g(1){} h(){}}"},
		{"main(){}", "u(){f(1){}}", "v(){g(1){}}"},
	}
	same := [][]string{good[0], good[0], good[0]}
	for _, c := range []struct {
		name   string
		good   [][]string
		bad    []string
		passed bool
		want   bool
		odd    int
	}{
		{"one goroutine, as good ones", good, []string{"main(){}", "u(){f(1){} i(){}}", "v(){g(1){}}"}, true, true, 1},
		{"two goroutines", good, []string{"main(){}", "u(){f(1){} i(){}}", "v(){g(1){} j(){}}"}, true, true, 2},
		{"three", good, []string{"main(){i(){}}", "u(){f(1){} i(){}}", "v(){g(1){} j(){}}"}, true, false, 3},
		{"a test failed", good, []string{"main(){}", "u(){f(1){} i(){}}", "v(){g(1){}}"}, false, false, 1},
		{"two good ones", good[:2], []string{"main(){}", "u(){f(1){} i(){}}", "v(){g(1){}}"}, true, false, 1},
		{"good ones that do the same", same, []string{"main(){}", "u(){f(1){} i(){}}", "v(){g(1){}}"}, true, false, 1},
	} {
		f := newForest()
		d := &Comparison{forest: f, b: f.run(c.bad...)}
		d.b.passed = c.passed
		for _, r := range c.good {
			d.good = append(d.good, f.run(r...))
		}
		if d.compare(); d.Same() != c.want || odd(d.found) != c.odd {
			t.Errorf("%s: Same is %v, %d goroutines differ, up to %d are expected to", c.name, d.Same(), odd(d.found), d.expected)
		}
	}
}

func TestMask(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	m := &masker{from: now.Add(-time.Hour), to: now.Add(time.Hour)}
	for _, c := range []struct{ typ, text, want string }{
		{"string", `""`, `""`},
		{"*T", "0xc000012345", "_"},
		{"T", "{p:0xc000012345 n:17}", "{p:_ n:17}"},
		{"int", "0x12", "0x12"},
		{"int64", "1778051289", "_"},        // a time
		{"int64", "1778051289123", "_"},     // in ms
		{"int", "1234567890", "1234567890"}, // in 2009
		{"int", "123456789", "123456789"},
		{"string", `"at 2026-05-06T07:08:09.123Z ok"`, `"at _ ok"`},
		{"string", `"2026/05"`, `"2026/05"`},
		{"time.Duration", "1.234ms", "_"},
		{"time.Duration", "5.000s", "5.000s"},
		{"time.Duration", "987ns", "_"},
		{"time.Duration", "500ns", "500ns"},
		{"time.Duration", "1h0m0s", "1h0m0s"},
		{"time.Duration", "1m2.331s", "_"},
		{"string", `"took 1.234ms"`, `"took _"`},
		{"string", `"took 1h2m3.456s"`, `"took _"`},
		{"string", `"/tmp/TestOpen123456789/001/db"`, `"/tmp/TestOpen_/001/db"`},
		{"string", `"/tmp/TestOpen1234567890/001/data"...(7 more)`, `"/tmp/TestOpen_/001/data"...`},
		{"string", `"/tmp/TestOpen123456789/001/data/"...(6 more)`, `"/tmp/TestOpen_/001/data"...`},
		{"string", `"/tmp/TestOpen12345678/001/data/a"...(5 more)`, `"/tmp/TestOpen_/001/data"...`},
		{"string", `"/tmp/TestOpenWithALongName1234567890/"...(8 more)`, `"/tmp/TestOpenWithALongName_/"...`},
		{"string", `"/tmp/TestOpenWithALongName123456789/0"...(7 more)`, `"/tmp/TestOpenWithALongName_/"...`},
		{"string", `"/tmp/TestOpenWithALongName1234567890"...(9 more)`, `"/tmp/TestOpenWithALongName"...`},
		{"string", `"/tmp/TestOpenWithALongName123456789/"...(8 more)`, `"/tmp/TestOpenWithALongName"...`},
		{"string", `"/tmp/TestOpenWithALongName12345"...(14 more)`, `"/tmp/TestOpenWithALongName"...`},
		{"T", `{a:"/tmp/a/\"b\"123456"...(9 more) b:"x" c:"longer than that"...(9 more)}`, `{a:"/tmp/a/\"b\""... b:"x" c:"longer than that"...}`},
		{"string", `"127.0.0.1:43210"`, `"127.0.0._"`},
		{"string", `"127.0.0.1:80"`, `"127.0.0.1:80"`},
		{"string", `"550e8400-e29b-41d4-a716-446655440000"`, `"_"`},
		{"string", `"7f3a9c0e5b1d2846aa"`, `"_"`},
		{"string", `"TestAVeryLongNameOfATest2"`, `"TestAVeryLongNameOfATest2"`},
		{"string", `"KZJ2HYXGYIIOIUBEGPROSRBJL6"`, `"_"`}, // of crypto/rand.Text
		{"string", `"ABCDEFGHIJKLMNOPQRSTUVWXYZ"`, `"ABCDEFGHIJKLMNOPQRSTUVWXYZ"`},
		{"chan int", "chan(len=3 cap=8)", "_ cap=8)"},
	} {
		if got := string(m.mask(c.typ, []byte(c.text))); got != c.want {
			t.Errorf("%s %s: %s, not %s", c.typ, c.text, got, c.want)
		}
	}
}
