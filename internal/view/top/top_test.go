package top

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// TestTopStays: the cursor stays on the function that was chosen when others come before it, so
// that e and t are for that one; until one is chosen it stays where it is.
func TestTopStays(t *testing.T) {
	snapshot := func(counts ...uint64) *source.Snapshot {
		s := &source.Snapshot{}
		for i, n := range counts {
			s.Functions = append(s.Functions, source.Function{Key: uint32(i + 1), Package: "main", Name: string(rune('a' + i))})
			s.Global = append(s.Global, source.Summary{Function: uint32(i + 1), Count: n})
		}
		return s
	}
	m := &model{height: 20, sort: "calls", now: snapshot(30, 20, 10)}
	at := func(want string) {
		t.Helper()
		m.rebuild()
		if row := m.selected(); row == nil || row.name != "main/"+want {
			t.Errorf("the cursor is on %+v, not on %s", row, want)
		}
	}
	at("a")
	m.now = snapshot(30, 40, 10)
	at("b")
	m.choose(1)
	at("a")
	m.now = snapshot(30, 40, 50)
	at("a")
	m.choose(100)
	m.now = snapshot(60, 40, 50)
	at("a")
	m.filter = "c" // what was chosen is not shown
	at("c")
}

// TestTopRate: how often a function is called in a second, and by whom.
func TestTopRate(t *testing.T) {
	snapshot := func(called, byFirst uint64) *source.Snapshot {
		return &source.Snapshot{
			Functions: []source.Function{{Key: 1, Package: "main", Name: "a"}, {Key: 2, Package: "main", Name: "b"}},
			Global:    []source.Summary{{Function: 2, Count: called}},
			ByCaller: func() []source.Summary {
				return []source.Summary{{Function: 2, Caller: 1, Count: byFirst}, {Function: 2, Count: called - byFirst}}
			},
		}
	}
	m := &model{height: 20, before: snapshot(100, 10), now: snapshot(160, 40)}
	m.nowAt = m.beforeAt.Add(2 * time.Second)
	check := func(want map[string]float64) {
		t.Helper()
		m.rebuild()
		if len(m.rows) != len(want) {
			t.Errorf("there are %d rows, not %d", len(m.rows), len(want))
		}
		for _, r := range m.rows {
			if r.rate != want[r.name] {
				t.Errorf("%s is called %v times a second, not %v", r.name, r.rate, want[r.name])
			}
		}
	}
	check(map[string]float64{"main/a": 0, "main/b": 30})
	m.callers = 2
	check(map[string]float64{"main/a": 15, "(no function that is seen)": 15})
	m.before = nil
	check(map[string]float64{"main/a": 0, "(no function that is seen)": 0})
}

// TestTopNarrow: what a narrow window shows of columns and names.
func TestTopNarrow(t *testing.T) {
	const function = "github.com/pocketbase/pocketbase/apis/loadAuthToken.func1"
	for _, test := range []struct {
		width   int
		sort    string
		columns string
		name    string
	}{
		{140, "total", "calls rate total self avg max errors panics name", function},
		{110, "total", "calls rate total self avg max errors panics name", "…ketbase/apis/loadAuthToken.func1"},
		{80, "total", "calls rate total avg errors name", "…base/apis/loadAuthToken.func1"},
		{80, "max", "calls rate total max name", "…/pocketbase/apis/loadAuthToken.func1"},
		{40, "calls", "calls name", "…/apis/loadAuthToken.func1"},
		{5, "name", "name", "…"},
	} {
		m := &model{width: test.width, sort: test.sort}
		columns, room := m.columns()
		var names []string
		for _, c := range columns {
			names = append(names, c.name)
		}
		if got := strings.Join(names, " "); got != test.columns {
			t.Errorf("of %d, by %s: %s, not %s", test.width, test.sort, got, test.columns)
		}
		if got := endOf(function, room); got != test.name {
			t.Errorf("of %d: %s in %d, not %s", test.width, got, room, test.name)
		}
	}
}

// TestTopKeys: keys that are typed and pasted, and two that a slow connection brings together.
func TestTopKeys(t *testing.T) {
	m := &model{height: 20, now: &source.Snapshot{Functions: []source.Function{{Key: 1, Package: "main", Name: "a"}}}}
	press := func(text string, mod tea.KeyMod) {
		for _, r := range text {
			k := tea.KeyPressMsg{Code: r, Mod: mod}
			if mod == 0 && r != tea.KeyEnter {
				k.Text = string(r)
			}
			m.Update(k)
		}
	}
	m.Update(tea.PasteMsg{Content: "main"})
	press("/loa", 0)
	m.Update(tea.PasteMsg{Content: "d e"})
	press(string(tea.KeyEnter), 0)
	if m.typing || m.filter != "load e" {
		t.Errorf("the filter is %q", m.filter)
	}
	press("/", tea.ModAlt) // Escape, and /
	press("x", 0)
	if !m.typing || m.filter != "x" {
		t.Errorf("the filter is %q", m.filter)
	}
}

// TestTopWaits: how the times of functions divide, with calls and waits under way, and what most
// goroutines wait for.
func TestTopWaits(t *testing.T) {
	const ms = int64(time.Millisecond) * 1000
	snap := &source.Snapshot{
		Functions: []source.Function{{Key: 1, Package: "main", Name: "a"}, {Key: 2, Package: "main", Name: "b"}},
		Waits:     []source.Function{{Key: 3, Wait: true, Package: "wait", Name: "synch/mutex"}, {Key: 4, Wait: true, Package: "wait", Name: "cpu"}, {Key: 5, Wait: true, Package: "wait", Name: "sleep"}},
		Global:    []source.Summary{{Function: 1, Count: 7, Timed: 7, Self: 2 * ms}, {Function: 3, Count: 9, Sum: 9 * ms, Self: 9 * ms}},
		ByCaller: func() []source.Summary {
			return []source.Summary{{Function: 1, Caller: 2, Self: 2 * ms}, {Function: 3, Caller: 1, Sum: 4 * ms, Self: 3 * ms}, {Function: 4, Caller: 1, Sum: ms}, {Function: 3, Sum: 5 * ms, Self: 5 * ms}}
		},
		Threads: []source.Thread{
			{ID: 1, Current: []source.Call{{Event: source.Event{ID: 1, Function: 1}, Self: ms}, {Event: source.Event{ID: 2, Function: 2}, Self: 2 * ms}}, Waiting: &source.Wait{Event: source.Event{Timed: true, Nesting: 2, Function: 5, Start: 80 * ms}}},
			{ID: 2, Waiting: &source.Wait{Event: source.Event{Function: 3}}}, // since when it waits is not known
		},
		Now: 100 * ms,
		States: func() ([]source.State, error) {
			return []source.State{
				{Wait: 3, Waits: true, Object: 16, Objects: []uint64{16}, Within: "main.a", Source: "/src/a.go:5"},
				{Wait: 3, Waits: true, Object: 16, Objects: []uint64{16}, Within: "main.a", Source: "/src/a.go:5"},
				{Wait: 3, Waits: true, Object: 32, Within: "main.b", Source: "/src/b.go:5"},
				{Wait: 3, Waits: true, Object: 48, Within: "main.b", Source: "/src/b.go:5"},
				{Wait: 3, Waits: true, Object: 64, Within: "main.b", Source: "/src/b.go:5"},
				{Does: "running"},
				{Does: "IO wait", Waits: true, Within: "net/http.(*Server).Serve", Source: "/src/server.go:9"},
				{Does: "finalizer wait", Waits: true},
			}, nil
		},
		Name: func(address uint64) string { return map[uint64]string{16: "main.mu"}[address] },
	}
	colour := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	m := &model{source: named{name: "1"}, waits: true, width: 120, height: 20}
	lines, err := crowds(snap)
	if err != nil {
		t.Fatal(err)
	}
	m.Update(looked{snap: snap, crowds: lines})
	var got []string
	for _, line := range strings.Split(m.text(), "\n")[2:] {
		got = append(got, strings.Join(strings.Fields(colour.ReplaceAllString(line, "")), " "))
	}
	want := []string{
		"3 goroutines wait: wait/synch/mutex at main.b (b.go:5)",
		"2 goroutines wait: wait/synch/mutex(main.mu) at main.a (a.go:5)",
		"1 goroutine waits: finalizer wait",
		"CALLS *SELF RUNNING RUNNABLE SLEEP MUTEX ET FUNCTION",
		"0 22.000ms 2.000ms - 20.000ms - -- main/b",
		"7 8.000ms 3.000ms 2.000ms - 3.000ms -- main/a",
		"0 5.000ms - - - 5.000ms (no function that is seen)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("it shows\n%s\nnot\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	m.Update(tea.KeyPressMsg{Code: 'w', Text: "w"})
	if text := m.text(); strings.Contains(text, "RUNNABLE") || strings.Contains(text, "goroutine waits") {
		t.Errorf("waits are shown still: %s", text)
	}
}
