package top

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// looks are the functions that are counted because they are shown, where nothing is turned on, and
// the kinds of waits while it is shown how times divide.
type looks struct {
	source.Looks
	may       bool // it may look at something
	functions bool // it looks at functions, since nothing was turned on when top began
	begun     bool
	wants     source.Consumers // that it asked for last
}

type lookedAt struct{ err error }

// leave has a function left alone from now on.
func (l *looks) leave(function uint32) {
	if l.functions {
		l.Leave(function)
	}
}

// ofWaits are the consumers that know how times divide.
const ofWaits = source.SummaryGlobal | source.Current | source.WaitSummaryGlobal | source.WaitSummaryByCaller | source.WaitCurrent

// lookAt has the functions that are shown counted, within the budget, and waits if they are shown.
// It returns nil if nothing changes.
func (m *model) lookAt(snap *source.Snapshot) tea.Cmd {
	l := &m.look
	if !l.begun {
		l.begun = true
		l.may = l.Budget > 0 && m.source.Alive()
		l.functions = l.may && !slices.ContainsFunc(snap.Functions, func(f source.Function) bool { return f.Enabled })
	}
	if !l.may {
		return nil
	}
	changes := l.Choose(snap, func(f *source.Function) bool {
		switch {
		case f.Wait:
			return m.waits
		case f.Span:
			return false
		}
		return l.functions && (m.callers != 0 || strings.Contains(strings.ToLower(f.Instrument()), strings.ToLower(m.filter)))
	})
	wants := m.wanted()
	if len(changes) == 0 && wants == l.wants {
		return nil
	}
	l.wants = wants
	return func() tea.Msg {
		err := m.source.Look(changes)
		if err == nil {
			err = m.source.Want(wants)
		}
		return lookedAt{err}
	}
}

// wanted returns the consumers that are needed.
func (m *model) wanted() source.Consumers {
	wants := m.wants
	if m.look.Any() {
		wants |= source.SummaryGlobal
	}
	if m.waits && m.look.may {
		wants |= ofWaits
	}
	return wants
}
