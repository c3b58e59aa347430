package top

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
)

// looks are the functions that are counted because they are shown, where nothing is turned on.
type looks struct {
	schema.Looks
	on    bool // it looks, since nothing was turned on when top began
	begun bool
}

type lookedAt struct{ err error }

// leave has a function left alone from now on.
func (l *looks) leave(function uint32) {
	if l.on {
		l.Leave(function)
	}
}

// lookAt has the functions that are shown counted, within the budget. It returns nil if nothing
// changes.
func (m *model) lookAt(snap *schema.Snapshot) tea.Cmd {
	l := &m.look
	if !l.begun {
		l.begun = true
		l.on = l.Budget > 0 && m.source.Alive() && !slices.ContainsFunc(snap.Functions, func(f schema.Function) bool { return f.Enabled })
	}
	if !l.on {
		return nil
	}
	changes := l.Choose(snap, func(f *schema.Function) bool {
		return !f.Wait && !f.Span && (m.callers != 0 || strings.Contains(strings.ToLower(f.Instrument()), strings.ToLower(m.filter)))
	})
	if len(changes) == 0 {
		return nil
	}
	m.wants |= schema.SummaryGlobal
	wants := m.wants
	return func() tea.Msg {
		err := m.source.Look(changes)
		if err == nil {
			err = m.source.Want(wants)
		}
		return lookedAt{err}
	}
}
