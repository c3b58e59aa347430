package top

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// named is a source of that name.
type named struct {
	source.Source
	name string
}

func (n named) Name() string { return n.name }

func (n named) Alive() bool { return true }

// TestHostile: whatever names, arguments, errors and keys there are, no view has what may not reach
// a terminal, and no more lines than the window.
func TestHostile(t *testing.T) {
	const hostile = "x\x1b[2J\x9b31m\u202e\u2066\u009b\a\b\r\ny"
	snap := &source.Snapshot{
		Functions: []source.Function{{Key: 1, Package: hostile, Name: hostile}, {Key: 2, Package: "main", Name: "main"}},
		Global:    []source.Summary{{Function: 1, Count: 5}},
		ByCaller:  func() []source.Summary { return []source.Summary{{Function: 2, Caller: 1, Count: 5}} },
	}
	snap.Process.Args = []string{hostile, hostile}
	m := &model{source: named{name: hostile}, width: 200, height: 12}
	clean := func(what, text string) {
		t.Helper()
		for rest := text; rest != ""; {
			n, ok := escape.Next(rest)
			if c := escape.Colour(rest); c > 0 { // the library's own
				n, ok = c, true
			}
			if !ok && rest[0] != '\n' {
				t.Errorf("%s: %q in %q", what, rest[:n], text)
				return
			}
			rest = rest[n:]
		}
	}
	check := func(what string) {
		t.Helper()
		text := m.text()
		if strings.Count(text, "\n") >= m.height {
			t.Errorf("%s: %d lines", what, strings.Count(text, "\n"))
		}
		if !strings.Contains(text, `\x1b[2J`) {
			t.Errorf("%s: nothing hostile is shown: %q", what, text)
		}
		clean(what, text)
	}
	check("reading")
	m.Update(looked{snap: snap})
	check("functions")
	m.waits = true
	m.Update(looked{snap: snap, crowds: []string{hostile}})
	check("waits")
	m.waits = false
	m.Update(looked{snap: snap})
	m.Update(done{what: hostile, err: errors.New(hostile)})
	check("a message")
	m.Update(tea.KeyPressMsg{Code: '/', Text: "/"})
	m.Update(tea.PasteMsg{Content: hostile})
	check("a filter")
	m.typing, m.filter, m.callers = false, "", 2
	m.rebuild()
	check("callers")
	m.Update(looked{err: errors.New(hostile)})
	check("an error")
	m.width = 9 // names are cut from the left
	for range 30 {
		m.width++
		clean(fmt.Sprint(m.width, " wide"), m.text())
	}
}
