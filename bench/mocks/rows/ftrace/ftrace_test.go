// Package ftrace has the cases of package mock.
package ftrace

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows"
	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows/target"
	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

// path is the package of what is replaced.
const path = "github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows/target."

func replace(t testing.TB, f, with func() string) { mock.Replace(t, f, with) }

func TestAll(t *testing.T) { rows.All(t, replace) }

func TestGoroutines(t *testing.T) {
	own := rows.Goroutines(target.Large, func() { replace(t, target.Large, rows.With) })
	rows.Saw("goroutines", own+"; or "+rows.Goroutines(target.Large, func() { mock.Replace(t, target.Large, rows.With, mock.AllGoroutines()) }))
}

func TestReceiver(t *testing.T) {
	all := target.Getters()
	d := mock.Replace(t, all[0].Get, rows.With)
	value := rows.Get(all)
	rows.Saw("one receiver only", "a method value: "+value)
	d.Restore()
	with := func(target.Getter) string { return rows.Replaced }
	d2 := mock.Replace(t, target.Getter.Get, with, mock.Implementation(all[0]))
	named := rows.Get(all)
	d2.Restore()
	mock.Every(t, target.Getter.Get, with)
	rows.Saw("interfaces' methods", "named: "+named+"; a value: "+value+"; all: "+rows.Get(all))
}

func TestUnexported(t *testing.T) {
	mock.Unexported(t, path+"hidden", rows.With)
	mock.Unexported(t, path+"(*T).get", func(*target.T, int) string { return rows.Replaced })
	wrong := fails(t, func(t testing.TB) {
		mock.Unexported(t, path+"(*T).get", func(*target.T) string { return rows.Replaced })
	})
	rows.Saw("unexported functions", "functions "+target.Hidden(), "methods "+target.New().Hidden(), wrong)
}

func TestLiterals(t *testing.T) {
	mock.Unexported(t, path+"Literal.func1", rows.With)
	rows.Saw("function literals", "by name: "+target.Literal()())
}

func TestGeneric(t *testing.T) {
	d, z := mock.Replace(t, target.Pick[int], rows.PickWith), mock.Replace(t, target.Zero[int], rows.With)
	one := rows.Pick()
	d.Restore()
	z.Restore()
	mock.Unexported(t, path+"Pick[...]", mock.Generic(func([]any) []any { return []any{rows.Replaced} }))
	rows.Saw("generic functions", one+"; or all: "+rows.Pick())
}

func TestVariables(t *testing.T) {
	mock.Set(t, &target.Variable, rows.Replaced)
	rows.Saw("variables and constants", "variables "+target.Read())
}

func TestLibrary(t *testing.T) {
	rows.Library(t, func(t testing.TB, s rows.Std) {
		switch f := s.Func.(type) {
		case func() string:
			std(t, f, s)
		case func() int:
			std(t, f, s)
		case func() bool:
			std(t, f, s)
		case func():
			std(t, f, s)
		case func(time.Duration):
			std(t, f, s)
		case func(x, y any) bool:
			std(t, f, s)
		case func(*sync.RWMutex) bool:
			std(t, f, s)
		default:
			t.Errorf("%s is a %T", s.Name, f)
		}
	})
}

func std[F any](t testing.TB, f F, s rows.Std) {
	restore, err := mock.Swap(f, s.With.(F))
	t.Cleanup(restore)
	if err != nil {
		panic(err)
	}
}

func TestTypes(t *testing.T) {
	rows.Saw("types", rows.Build("./testdata/wrong"))
}

func TestReturn(t *testing.T) {
	mock.Return(t, target.Large, rows.Replaced, mock.Then("then"))
	rows.Saw("short cut for fixed results", target.Large(), target.Large())
}

func TestAssembly(t *testing.T) {
	rows.Saw("a function that can't be replaced",
		"assembly "+fails(t, func(t testing.TB) { mock.Replace(t, target.Assembly, func() int { return 2 }) }),
		"no hook "+fails(t, func(t testing.TB) { mock.Replace(t, strings.ToUpper, func(string) string { return "" }) }))
}

func TestRecorded(t *testing.T) {
	d := mock.Replace(t, target.Repeat, func(int) string { return rows.Replaced })
	target.Repeat(3)
	rows.Saw("recorded", fmt.Sprint(d.Calls()[0].Args, " ", d.Calls()[0].Results))
}

func TestWatched(t *testing.T) {
	var saw []string
	mock.Intercept(t, path+"R*;target.U.*", func(c *mock.Intercepted) {
		saw = append(saw, fmt.Sprint("before ", name(c), c.Args))
	}, func(c *mock.Intercepted) {
		saw = append(saw, fmt.Sprint("after ", name(c), c.Results))
	})
	target.Repeat(1)
	target.U{}.Get()
	rows.Saw("watched before and after", saw...)
}

func name(c *mock.Intercepted) string { return strings.TrimPrefix(c.Function, path) }

func TestOriginal(t *testing.T) {
	d := mock.Replace(t, target.Large, rows.With)
	rows.Saw("the real function", d.Original()(), "others "+target.Large())
}

func TestRestored(t *testing.T) {
	t.Run("", func(t *testing.T) { mock.Replace(t, target.Kept, rows.With) })
	after := target.Kept()
	first, second := mock.Replace(t, target.Kept, rows.With), mock.Replace(t, target.Kept, rows.With)
	first.Restore()
	second.Restore()
	rows.Saw("restored", "after the test "+after, "the first before the second "+target.Kept())
}

// fails returns what f fails its test with.
func fails(t testing.TB, f func(testing.TB)) (message string) {
	tb := &failing{TB: t, message: "passes"}
	done := make(chan bool)
	go func() {
		defer close(done)
		f(tb)
	}()
	<-done
	return tb.message
}

type failing struct {
	testing.TB
	message string
}

func (f *failing) Fatal(args ...any) {
	f.message = "fails the test: " + fmt.Sprint(args...)
	runtime.Goexit()
}
