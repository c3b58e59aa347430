package top

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
)

// TestTopStays: the cursor stays on the function that was chosen when others come before it, so
// that e and t are for that one; until one is chosen it stays where it is.
func TestTopStays(t *testing.T) {
	snapshot := func(counts ...uint64) *schema.Snapshot {
		s := &schema.Snapshot{}
		for i, n := range counts {
			s.Functions = append(s.Functions, schema.Function{Key: uint32(i + 1), Package: "main", Name: string(rune('a' + i))})
			s.Global = append(s.Global, schema.Summary{Function: uint32(i + 1), Count: n})
		}
		return s
	}
	m := &model{height: 20, now: snapshot(30, 20, 10)}
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
	snapshot := func(called, byFirst uint64) *schema.Snapshot {
		return &schema.Snapshot{
			Functions: []schema.Function{{Key: 1, Package: "main", Name: "a"}, {Key: 2, Package: "main", Name: "b"}},
			Global:    []schema.Summary{{Function: 2, Count: called}},
			ByCaller: func() []schema.Summary {
				return []schema.Summary{{Function: 2, Caller: 1, Count: byFirst}, {Function: 2, Count: called - byFirst}}
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
		m := &model{width: test.width, sort: slices.IndexFunc(allColumns, func(c column) bool { return c.name == test.sort })}
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
	m := &model{height: 20, now: &schema.Snapshot{Functions: []schema.Function{{Key: 1, Package: "main", Name: "a"}}}}
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
