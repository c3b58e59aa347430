// Package xgo has the cases of xgo. They work with the command xgo alone.
package xgo

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/xhd2015/xgo/runtime/core"
	"github.com/xhd2015/xgo/runtime/mock"
	"github.com/xhd2015/xgo/runtime/trap"

	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows"
	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows/target"
)

// path is the package of what is replaced.
const path = "github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows/target"

func init() { mock.Patch(target.Started, rows.With) }

func replace(t testing.TB, f, with func() string) { t.Cleanup(mock.Patch(f, with)) }

func TestAll(t *testing.T) { rows.All(t, replace) }

func TestLiterals(t *testing.T) {
	rows.Saw("function literals", rows.Literal(func(f func() string) { replace(t, f, rows.With) }))
}

func TestGeneric(t *testing.T) {
	t.Cleanup(mock.Patch(target.Pick[int], rows.PickWith))
	replace(t, target.Zero[int], rows.With)
	rows.Saw("generic functions", rows.Pick())
}

func TestGoroutines(t *testing.T) {
	own := rows.Goroutines(target.Large, func() { replace(t, target.Large, rows.With) })
	rows.Saw("goroutines", own+"; from init: "+rows.Goroutines(target.Started, func() {}))
}

func TestReceiver(t *testing.T) {
	all := target.Getters()
	replace(t, all[0].Get, rows.With)
	rows.Saw("one receiver only", "a method value: "+rows.Get(all))
	rows.Saw("interfaces' methods", "a value: "+rows.Get(all), rows.Try(func() string {
		t.Cleanup(mock.Patch(target.Getter.Get, func(target.Getter) string { return rows.Replaced }))
		return "all: " + rows.Get(all)
	}))
}

func TestUnexported(t *testing.T) {
	function := rows.Try(func() string {
		t.Cleanup(mock.PatchByName(path, "hidden", rows.With))
		return target.Hidden()
	})
	method := rows.Try(func() string {
		t.Cleanup(mock.PatchByName(path, "(*T).get", func(*target.T, int) string { return rows.Replaced }))
		return target.New().Hidden()
	})
	wrong := rows.Try(func() string {
		t.Cleanup(mock.PatchByName(path, "hidden", func() int { return 1 }))
		return "unchecked"
	})
	rows.Saw("unexported functions", "functions "+function, "methods "+method, wrong)
}

func TestVariables(t *testing.T) {
	t.Cleanup(mock.Patch(&target.Variable, rows.With))
	rows.Saw("variables and constants", "variables "+target.Read(), "constants "+rows.Try(func() string {
		t.Cleanup(mock.PatchByName(path, "Constant", rows.With))
		return target.ReadConstant()
	}))
}

// TestLibrary names the functions itself, as xgo looks for them in the source.
func TestLibrary(t *testing.T) {
	rows.Library(t, func(t testing.TB, s rows.Std) {
		t.Cleanup(map[string]func() func(){
			"os":              func() func() { return mock.Patch(os.TempDir, s.With) },
			"sync":            func() func() { return mock.Patch((*sync.RWMutex).TryRLock, s.With) },
			"reflect":         func() func() { return mock.Patch(reflect.DeepEqual, s.With) },
			"syscall":         func() func() { return mock.Patch(syscall.Getuid, s.With) },
			"testing":         func() func() { return mock.Patch(testing.Testing, s.With) },
			"time.Sleep":      func() func() { return mock.Patch(time.Sleep, s.With) },
			"GC":              func() func() { return mock.Patch(runtime.GC, s.With) },
			"runtime.Version": func() func() { return mock.Patch(runtime.Version, s.With) },
		}[s.Name]())
	})
}

func TestTypes(t *testing.T) {
	rows.Saw("types", rows.Try(func() string {
		t.Cleanup(mock.Patch(target.Large, func() int { return 1 }))
		return "unchecked"
	}))
}

func TestReturn(t *testing.T) {
	replace(t, target.Large, func() string { return rows.Replaced })
	rows.Saw("short cut for fixed results", target.Large())
}

func TestAssembly(t *testing.T) {
	rows.Saw("a function that can't be replaced", "assembly: "+rows.Try(func() string {
		t.Cleanup(mock.Patch(target.Assembly, func() int { return 2 }))
		return fmt.Sprintf("%d in its package, %d elsewhere", target.CallAssembly(), target.Assembly())
	}))
}

func TestRecorded(t *testing.T) {
	saw := ""
	t.Cleanup(mock.Mock(target.Repeat, func(ctx context.Context, fn *core.FuncInfo, args, results core.Object) error {
		results.GetFieldIndex(0).Set(rows.Replaced)
		saw = fmt.Sprint("an interceptor has ", args.GetFieldIndex(0).Value(), ", sets ", results.GetFieldIndex(0).Value())
		return nil
	}))
	target.Repeat(3)
	rows.Saw("recorded", saw)
}

func TestWatched(t *testing.T) {
	var saw []string
	restore := trap.AddInterceptor(&trap.Interceptor{
		Pre: func(ctx context.Context, fn *core.FuncInfo, args, results core.Object) (any, error) {
			saw = append(saw, "before "+strings.TrimPrefix(fn.FullName, path+"."))
			return nil, nil
		},
		Post: func(ctx context.Context, fn *core.FuncInfo, args, results core.Object, data any) error {
			saw = append(saw, "after "+strings.TrimPrefix(fn.FullName, path+"."))
			return nil
		},
	})
	target.Repeat(1)
	target.U{}.Get()
	restore()
	rows.Saw("watched before and after", saw...)
}

func TestOriginal(t *testing.T) {
	calls := 0
	replace(t, target.Large, func() string {
		if calls++; calls > 1 {
			return rows.Replaced
		}
		return target.Large()
	})
	rows.Saw("the real function", "a replacement that calls it: "+target.Large())
}

func TestRestored(t *testing.T) {
	done := make(chan bool)
	go func() {
		defer close(done)
		mock.Patch(target.Kept, rows.With)
	}()
	<-done
	goroutine := target.Kept()
	restore := mock.Patch(target.Kept, rows.With)
	meanwhile := target.Kept()
	restore()
	rows.Saw("restored", "after the goroutine "+goroutine, "meanwhile "+meanwhile, "by you "+target.Kept())
}
