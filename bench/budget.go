package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// budget is what all calls may cost while it is measured what is left out of them.
const budget = "3%"

// slowCall is how long a call takes at least that a budget keeps for it, in ns.
const slowCall = 10e3

// budgetTests are packages whose tests are measured within a budget, the fastest first.
var budgetTests = []string{"encoding/csv", "encoding/json", "text/template", "go/parser", "regexp", "compress/flate"}

// budgetPrograms lists what is measured within a budget: programs, and tests of the standard
// library. A smoke run has one test that makes few calls.
func (opt options) budgetPrograms() []program {
	var list []program
	if !opt.short {
		list = opt.programs()
	}
	for _, pkg := range budgetTests {
		list = append(list, program{name: "tests of " + pkg, pkg: pkg, own: pkg + "/...", test: true})
		if opt.short {
			break
		}
	}
	return list
}

// measureBudget prints what it costs to record all calls of programs within a budget, as ratios to
// the same program with nothing armed, and how much of them is recorded.
func measureBudget(w io.Writer, tmp, wrap string, programs []program, rounds int) error {
	dir, err := benchDir()
	if err != nil {
		return err
	}
	dir = filepath.Join(dir, "programs")
	fmt.Fprint(w, "| everything recorded within ", budget, " | off s | CPU | calls | kept | callers and functions | kept | errors | kept | slow calls | kept |\n|---", strings.Repeat("|--:", 10), "|\n")
	var off, on float64
	var all, kept [4]int
	for _, p := range programs {
		r, err := p.measureBudget(filepath.Join(tmp, "budget"), dir, wrap, rounds)
		if err != nil {
			return fmt.Errorf("%s: %v", p.name, err)
		}
		r.write(w, p.name)
		off, on = off+r.off, on+r.off*r.ratio
		for i := range all {
			all[i], kept[i] = all[i]+r.all[i], kept[i]+r.kept[i]
		}
	}
	budgeted{off, on / off, all, kept}.write(w, "together")
	return nil
}

// budgeted is a row: what a program costs within a budget, and how many calls, pairs of a caller
// and a function, errors and slow calls there are and are kept.
type budgeted struct {
	off, ratio float64 // CPU seconds with nothing armed; the ratio of those within the budget to them
	all, kept  [4]int
}

func (r budgeted) write(w io.Writer, name string) {
	fmt.Fprintf(w, "| %s | %.2f | %.3f |", name, r.off, r.ratio)
	for i, n := range r.all {
		fmt.Fprintf(w, " %d | ", n)
		if n > 0 {
			fmt.Fprintf(w, "%.3g %% |", float64(r.kept[i])*100/float64(n))
		} else {
			fmt.Fprint(w, "|")
		}
	}
	fmt.Fprintln(w)
}

// measureBudget builds the program with hooks in what it is made of. It runs it with nothing armed
// and within a budget in turn, and once with everything recorded, to which what the budget kept is
// compared.
func (p program) measureBudget(tmp, dir, wrap string, rounds int) (r budgeted, err error) {
	defer os.RemoveAll(tmp)
	exe, err := p.build(tmp, dir, build{"hook", wrap, []string{"FTRACE_PACKAGES=" + p.own}})
	if err != nil {
		return r, err
	}
	data := filepath.Join(tmp, "ftrace.data")
	env := []string{"FTRACE=*", "FTRACE_RECORD=" + data}
	var off, ratios []float64
	var kept []counts
	for i := range rounds {
		var took [2]float64
		for j := range took {
			within := (i+j)%2 == 1 // neither is always the first
			if !within {
				took[0], err = exe.run(nil)
			} else if took[1], err = exe.run(append(env, "FTRACE_BUDGET="+budget)); err == nil {
				var c counts
				if c, err = count(data, 0); err == nil {
					kept = append(kept, c)
					err = os.RemoveAll(data)
				}
			}
			if err != nil {
				return r, err
			}
		}
		off, ratios = append(off, took[0]), append(ratios, took[1]/took[0])
	}
	r.off, r.ratio = median(off), median(ratios)
	armed, err := exe.run(append(env, "FTRACE_BUDGET=off"))
	if err != nil {
		return r, err
	}
	all, err := count(data, max(0, armed-r.off)*1e9)
	if err != nil {
		return r, err
	}
	var of [4][]float64
	for _, c := range kept {
		for i, n := range c.of(all) {
			of[i] = append(of[i], float64(n))
		}
	}
	r.all = all.of(all)
	for i := range of {
		r.kept[i] = int(median(of[i]))
	}
	return r, nil
}

// counts says what a recording has.
type counts struct {
	calls, errors, slow map[string]int // by function
	pairs               map[[2]string]int
}

// of returns how many of the calls, pairs, errors and slow calls that there are all c has. Of each
// function it has no more than all.
func (c counts) of(all counts) [4]int {
	return [4]int{common(c.calls, all.calls), common(c.pairs, all.pairs), common(c.errors, all.errors), common(c.slow, all.slow)}
}

func common[K comparable](a, b map[K]int) (n int) {
	for k, have := range a {
		n += min(have, b[k])
	}
	return n
}

// A nested is what is noted of a call under way: how many calls it has made so far, and these.
type nested struct{ calls int }

// count counts what a recording has. Recording its calls took cost ns altogether: a call is slow if
// it takes long without its part of that.
func count(dir string, cost float64) (counts, error) {
	r, err := recording.Open(dir)
	if err != nil {
		return counts{}, err
	}
	type key struct{ caller, function uint32 }
	type lasted struct {
		function uint32
		ns       int64
		nested   int
	}
	total := 0
	calls, errors, slow, pairs := map[uint32]int{}, map[uint32]int{}, map[uint32]int{}, map[key]int{}
	var perhaps []lasted
	clock, printer := r.Converter(), r.Printer(recording.DefaultFormat)
	walker := walk.New[struct{}, nested](walk.Source{Recording: r})
	walker.More = func(*walk.Stack[struct{}, nested], *walk.Frame[nested], *recording.Event) {}
	walker.Begin = func(st *walk.Stack[struct{}, nested], c *walk.Frame[nested], e *recording.Event) {
		total++
		calls[c.Function]++
		caller := uint32(0)
		if n := len(st.Calls); n > 1 {
			caller = st.Calls[n-2].Function
		}
		pairs[key{caller, c.Function}] = 1
	}
	walker.End = func(st *walk.Stack[struct{}, nested], c *walk.Frame[nested], e *recording.Event) {
		if c == nil {
			return
		}
		if n := len(st.Calls); n > 1 {
			st.Calls[n-2].Data.View.calls += c.Data.View.calls + 1
		}
		if e == nil {
			return
		}
		if e.Kind == recording.ExitPanic || e.Kind == recording.ExitResults && printer.Fails(e, r.Function(c.Function)) {
			errors[c.Function]++
		}
		if ns := int64(clock.Between(c.Start, e.Ticks)); c.BeginKnown() && ns >= slowCall {
			perhaps = append(perhaps, lasted{c.Function, ns, c.Data.View.calls})
		}
	}
	if err := walker.Run(nil); err != nil {
		return counts{}, err
	}
	if lost, damage := r.Lost(), r.Damage(); lost > 0 || len(damage) > 0 {
		return counts{}, fmt.Errorf("%d records are lost, %d places damaged", lost, len(damage))
	}
	for _, c := range perhaps {
		if float64(c.ns)-float64(c.nested)*cost/float64(max(1, total)) >= slowCall {
			slow[c.function]++
		}
	}
	named := counts{map[string]int{}, map[string]int{}, map[string]int{}, map[[2]string]int{}}
	name := func(function uint32) string {
		if function == 0 {
			return ""
		}
		return r.Function(function).FullName()
	}
	for _, of := range []struct {
		by map[uint32]int
		to map[string]int
	}{{calls, named.calls}, {errors, named.errors}, {slow, named.slow}} {
		for function, n := range of.by {
			of.to[name(function)] += n
		}
	}
	for p := range pairs {
		named.pairs[[2]string{name(p.caller), name(p.function)}] = 1
	}
	return named, nil
}
