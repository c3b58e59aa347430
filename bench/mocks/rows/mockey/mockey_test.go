// Package mockey has the cases of mockey.
package mockey

import (
	"fmt"
	"testing"

	"github.com/bytedance/mockey"

	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows"
	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/rows/target"
)

func patch(t testing.TB, f, with any) *mockey.Mocker {
	m := mockey.Mock(f).To(with).Build()
	t.Cleanup(func() { m.UnPatch() })
	return m
}

func replace(t testing.TB, f, with func() string) { patch(t, f, with) }

func TestAll(t *testing.T) { rows.All(t, replace) }

func TestLiterals(t *testing.T) {
	rows.Saw("function literals", rows.Literal(func(f func() string) { replace(t, f, rows.With) }))
}

func TestGeneric(t *testing.T) {
	patch(t, target.Pick[int], rows.PickWith)
	replace(t, target.Zero[int], rows.With)
	rows.Saw("generic functions", rows.Pick())
}

func TestGoroutines(t *testing.T) {
	all := rows.Goroutines(target.Large, func() { replace(t, target.Large, rows.With) })
	mockey.UnPatchAll()
	one := rows.Goroutines(target.Large, func() {
		m := mockey.Mock(target.Large).IncludeCurrentGoRoutine().To(rows.With).Build()
		t.Cleanup(func() { m.UnPatch() })
	})
	rows.Saw("goroutines", all+"; or "+one)
}

func TestReceiver(t *testing.T) {
	all := target.Getters()
	m := mockey.Mock((*target.T).Get).When(func(r *target.T) bool { return r == all[0] }).To(rows.With).Build()
	rows.Saw("one receiver only", "a condition: "+rows.Get(all))
	m.UnPatch()
	patch(t, mockey.GetMethod(all[0], "Get"), rows.With)
	named := "named: " + rows.Get(all)
	rows.Saw("interfaces' methods", named, "exp/iface "+rows.Build("github.com/bytedance/mockey/exp/iface"))
}

func TestUnexported(t *testing.T) {
	patch(t, mockey.GetMethod(target.New(), "get"), func(int) string { return rows.Replaced })
	wrong := rows.Try(func() string {
		mockey.Mock(mockey.GetMethod(target.New(), "get")).To(rows.With)
		return "unchecked"
	})
	rows.Saw("unexported functions", "methods "+target.New().Hidden(), wrong)
}

// TestReleases builds mockey as the next release of Go does, by the tag that this sets.
func TestReleases(t *testing.T) {
	rows.Saw("Go releases", "1.26 "+rows.Build("github.com/bytedance/mockey"), "1.27 "+rows.Build("-tags=go1.27", "github.com/bytedance/mockey"))
}

func TestVariables(t *testing.T) {
	defer mockey.MockValue(&target.Variable).To(rows.Replaced).UnPatch()
	rows.Saw("variables and constants", "variables "+target.Read())
}

func TestLibrary(t *testing.T) {
	rows.Library(t, func(t testing.TB, s rows.Std) { patch(t, s.Func, s.With) })
}

func TestTypes(t *testing.T) {
	rows.Saw("types", rows.Try(func() string {
		patch(t, target.Large, func() int { return 1 })
		return "unchecked"
	}))
}

func TestReturn(t *testing.T) {
	defer mockey.Mock(target.Large).Return(rows.Replaced).Build().UnPatch()
	rows.Saw("short cut for fixed results", target.Large())
}

func TestAssembly(t *testing.T) {
	rows.Saw("a function that can't be replaced", "assembly: "+rows.Try(func() string {
		patch(t, target.Assembly, func() int { return 2 })
		return fmt.Sprintf("%d in its package, %d elsewhere", target.CallAssembly(), target.Assembly())
	}), "short: "+rows.Try(func() string {
		patch(t, target.Short, func() {})
		return "replaced"
	}))
}

func TestRecorded(t *testing.T) {
	m := patch(t, target.Large, rows.With)
	target.Large()
	target.Large()
	rows.Saw("recorded", fmt.Sprintf("%d times", m.MockTimes()))
}

func TestOrigin(t *testing.T) {
	var origin func() string
	saw := ""
	m := mockey.Mock(target.Large).Origin(&origin).To(func() string {
		if saw == "" {
			saw = "in force"
			saw = origin() + ", meanwhile elsewhere " + rows.Meanwhile()
		}
		return rows.Replaced
	}).Build()
	defer m.UnPatch()
	target.Large()
	rows.Saw("the real function", saw)
}

func TestRestored(t *testing.T) {
	var m *mockey.Mocker
	t.Run("", func(*testing.T) { m = mockey.Mock(target.Kept).To(rows.With).Build() })
	after := target.Kept()
	m.UnPatch()
	you := target.Kept()
	mockey.PatchRun(func() { mockey.Mock(target.Kept).To(rows.With).Build() })
	rows.Saw("restored", "after the test "+after, "by you "+you, "after PatchRun "+target.Kept())
}
