// Package gomonkey has the cases of gomonkey.
package gomonkey

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/agiledragon/gomonkey/v2"

	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows"
	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows/target"
)

// patching is held while parallel tests patch. Where two patch one page at once, one may take away
// the right to write to it while the other writes, which kills the process.
var patching sync.Mutex

func replace(t testing.TB, f, with func() string) {
	patching.Lock()
	defer patching.Unlock()
	patch := gomonkey.ApplyFunc(f, with)
	t.Cleanup(func() {
		patching.Lock()
		defer patching.Unlock()
		patch.Reset()
	})
}

func TestAll(t *testing.T) { rows.All(t, replace) }

func TestLiterals(t *testing.T) {
	rows.Saw("function literals", rows.Literal(func(f func() string) { replace(t, f, rows.With) }))
}

func TestGeneric(t *testing.T) {
	t.Cleanup(gomonkey.ApplyFunc(target.Pick[int], rows.PickWith).Reset)
	replace(t, target.Zero[int], rows.With)
	rows.Saw("generic functions", rows.Pick())
}

func TestGoroutines(t *testing.T) {
	rows.Saw("goroutines", rows.Goroutines(target.Large, func() { replace(t, target.Large, rows.With) }))
}

func TestReceiver(t *testing.T) {
	all := target.Getters()
	replace(t, all[0].Get, rows.With)
	value := rows.Get(all)
	t.Cleanup(gomonkey.ApplyMethod(all[0], "Get", func(*target.T) string { return rows.Replaced }).Reset)
	rows.Saw("one receiver only", "a method value: "+value+"; a method: "+rows.Get(all))
	rows.Saw("interfaces' methods", "named: "+rows.Get(all))
}

func TestUnexported(t *testing.T) {
	unchecked := func(*target.T) string { return rows.Replaced } // it lacks a parameter
	t.Cleanup(gomonkey.ApplyPrivateMethod(target.New(), "get", unchecked).Reset)
	rows.Saw("unexported functions", "methods "+target.New().Hidden(), "unchecked")
}

func TestVariables(t *testing.T) {
	t.Cleanup(gomonkey.ApplyGlobalVar(&target.Variable, rows.Replaced).Reset)
	rows.Saw("variables and constants", "variables "+target.Read())
}

func TestLibrary(t *testing.T) {
	rows.Library(t, func(t testing.TB, s rows.Std) { t.Cleanup(gomonkey.ApplyFunc(s.Func, s.With).Reset) })
}

func TestTypes(t *testing.T) {
	rows.Saw("types", rows.Try(func() string {
		t.Cleanup(gomonkey.ApplyFunc(target.Large, func() int { return 1 }).Reset)
		return "unchecked"
	}))
}

func TestReturn(t *testing.T) {
	t.Cleanup(gomonkey.ApplyFuncReturn(target.Large, rows.Replaced).Reset)
	rows.Saw("short cut for fixed results", target.Large())
}

func TestAssembly(t *testing.T) {
	t.Cleanup(gomonkey.ApplyFunc(target.Assembly, func() int { return 2 }).Reset)
	rows.Saw("a function that can't be replaced", fmt.Sprintf("assembly: %d in its package, %d elsewhere", target.CallAssembly(), target.Assembly()))
}

// TestNothing looks for a method that tells of calls: all but Origin and Reset return the patches.
func TestNothing(t *testing.T) {
	p := reflect.TypeFor[*gomonkey.Patches]()
	told := "nothing"
	for i := range p.NumMethod() {
		if m := p.Method(i); m.Type.NumOut() > 0 && m.Type.Out(0) != p {
			told = m.Name
		}
	}
	rows.Saw("recorded", told)
}

func TestOrigin(t *testing.T) {
	p := gomonkey.ApplyFunc(target.Large, rows.With)
	t.Cleanup(p.Reset)
	p.Origin(func() {
		rows.Saw("the real function", target.Large(), "meanwhile elsewhere "+rows.Meanwhile())
	})
}

func TestRestored(t *testing.T) {
	var first *gomonkey.Patches
	t.Run("", func(*testing.T) { first = gomonkey.ApplyFunc(target.Kept, rows.With) })
	after := target.Kept()
	second := gomonkey.ApplyFunc(target.Kept, rows.With)
	second.Reset()
	first.Reset()
	you := target.Kept()
	first, second = gomonkey.ApplyFunc(target.Kept, rows.With), gomonkey.ApplyFunc(target.Kept, rows.With)
	first.Reset()
	second.Reset()
	rows.Saw("restored", "after the test "+after, "by you "+you, "the first before the second "+target.Kept())
}
