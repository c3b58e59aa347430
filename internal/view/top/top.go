// Package top shows the functions of a running program, or of a recording, as a table that goes on
// changing.
//
// It takes snapshots of a process by package source, without SQL, and keys from the terminal, and
// draws on that terminal; by key it turns functions on and off in the program. Where nothing is on,
// it looks at what it shows, within a budget, and no longer than it is open. cmd/ftrace calls it.
// Each line that it draws passes package escape, since the terminal is written by a library. It
// leaves the program's consumers as they were.
package top

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// Options are what is shown first.
type Options struct {
	Every  time.Duration // how often it looks
	Sort   string        // a column; see [Columns]
	Waits  bool          // how times divide, instead of sums of calls
	Filter string        // functions with this in their names
	Budget float64       // calls a second that it may cause to be counted
}

// Columns returns the names of the columns, but for those of kinds of waits.
func Columns() (names []string) {
	for _, c := range slices.Concat(allColumns, timesOf(&source.Snapshot{}, nil)) {
		if !slices.Contains(names, c.name) {
			names = append(names, c.name)
		}
	}
	return names
}

func columnNamed(columns []column, name string) int {
	return slices.IndexFunc(columns, func(c column) bool { return c.name == name })
}

// Run shows a source on a terminal until the user leaves.
func Run(process source.Source, o Options, terminal io.Writer) error {
	m := &model{source: process, every: o.Every, sort: o.Sort, waits: o.Waits, filter: o.Filter, look: looks{Looks: source.Looks{Budget: o.Budget}}}
	if _, err := tea.NewProgram(m, tea.WithOutput(terminal)).Run(); err != nil {
		return err
	}
	if errors.Is(m.err, source.ErrGone) {
		return nil
	}
	return m.err
}

// model is what top shows, and how.
type model struct {
	source source.Source
	every  time.Duration

	before, now     *source.Snapshot // the last two snapshots
	beforeAt, nowAt time.Time
	rows            []entry
	err             error
	message         string // of the last command

	sort     string // name of a column
	reversed bool
	waits    bool     // how times divide is shown
	times    []column // of that
	crowds   []string // what most goroutines wait for now
	filter   string
	typing   bool   // the filter is being typed
	callers  uint32 // the function whose callers are shown, 0: all functions are
	paused   bool
	help     bool
	look     looks
	wants    source.Consumers // that the keys asked for, and the process did not have on before

	width, height int
	cursor, top   int
	chosen        uint32 // the function that the cursor stays on, 0: it stays where it is
}

type (
	ticked time.Time
	looked struct {
		snap   *source.Snapshot
		crowds []string
		err    error
		at     time.Time
	}
	done struct {
		what string
		err  error
	}
)

func (m *model) Init() tea.Cmd { return m.snapshot() }

// snapshot takes a snapshot.
func (m *model) snapshot() tea.Cmd {
	waits := m.waits
	return func() tea.Msg {
		l := looked{at: time.Now()}
		if l.snap, l.err = m.source.Snapshot(live.SumsByFunction | live.SumsByCaller); l.err == nil && waits {
			l.crowds, l.err = crowds(l.snap)
		}
		return l
	}
}

// do runs a command of the source's and looks what came of it.
func (m *model) do(what string, f func() error) tea.Cmd {
	return func() tea.Msg { return done{what, f()} }
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case ticked:
		return m, m.snapshot()
	case looked:
		var looks tea.Cmd
		if m.err = msg.err; msg.err == nil {
			if looks = m.lookAt(msg.snap); !m.paused || m.now == nil {
				m.before, m.beforeAt = m.now, m.nowAt
				m.now, m.nowAt, m.crowds = msg.snap, msg.at, msg.crowds
				m.rebuild()
			}
		}
		if looks != nil {
			return m, tea.Sequence(looks, tea.Tick(min(m.every, source.Soon), func(t time.Time) tea.Msg { return ticked(t) }))
		}
		return m, m.tick()
	case lookedAt:
		if msg.err != nil {
			m.look.may, m.message = false, msg.err.Error()
		}
		return m, nil
	case done:
		m.message = msg.what
		if msg.err != nil {
			m.message = fmt.Sprintf("%s: %v", msg.what, msg.err)
			if errors.Is(msg.err, source.ErrReadOnly) {
				m.message = msg.what + ": this is a recording"
			}
		}
		return m, nil
	case tea.PasteMsg: // what is pasted is for the filter alone
		if m.typing {
			m.filter += msg.Content
			m.rebuild()
		}
	case tea.KeyPressMsg:
		return m, m.press(tea.Key(msg))
	}
	return m, nil
}

func (m *model) tick() tea.Cmd {
	return tea.Tick(m.every, func(t time.Time) tea.Msg { return ticked(t) })
}

// press does what a key is for. Escape with what is pressed after it looks like that with Alt.
func (m *model) press(k tea.Key) tea.Cmd {
	if k.Mod.Contains(tea.ModAlt) {
		k.Mod &^= tea.ModAlt
		if k.Text == "" && unicode.IsPrint(k.Code) {
			k.Text = string(k.Code)
		}
		return tea.Sequence(m.key(tea.Key{Code: tea.KeyEscape}), m.key(k))
	}
	return m.key(k)
}

// key does what a key is for.
func (m *model) key(k tea.Key) tea.Cmd {
	if m.typing {
		m.typed(k)
		return nil
	}
	m.message = ""
	switch k.String() {
	case "q", "ctrl+c":
		return tea.Quit
	case "?", "h":
		m.help = !m.help
	case "up", "k":
		m.choose(m.cursor - 1)
	case "down", "j":
		m.choose(m.cursor + 1)
	case "pgup":
		m.choose(m.cursor - m.lines())
	case "pgdown", "space":
		m.choose(m.cursor + m.lines())
	case "home", "g":
		m.cursor, m.chosen = 0, 0
	case "end", "G":
		m.choose(len(m.rows))
	case ">", "right", "tab":
		m.sortNext(1)
	case "<", "left", "shift+tab":
		m.sortNext(-1)
	case "r":
		m.reversed = !m.reversed
	case "w":
		m.waits, m.crowds = !m.waits, nil
	case "p":
		m.paused = !m.paused
	case "/":
		m.typing, m.cursor, m.chosen = true, 0, 0
	case "enter":
		if row := m.selected(); row != nil && m.callers == 0 {
			m.callers, m.cursor, m.chosen = row.function, 0, 0
			m.rebuild()
			return m.countCallers()
		}
	case "esc", "backspace":
		switch {
		case m.help:
			m.help = false
		case m.callers != 0:
			m.callers, m.chosen = 0, m.callers
		default:
			m.filter = ""
		}
	case "e", "t":
		return m.toggle(k.String() == "t")
	case "E", "D":
		return m.enableAll(k.String() == "E")
	case "c":
		return m.do("cleared", func() error {
			return errors.Join(m.source.Truncate(source.GlobalPart), m.source.Truncate(source.ByCallerPart))
		})
	}
	m.rebuild()
	return nil
}

// sortNext sorts by another column, that many to the right.
func (m *model) sortNext(by int) {
	columns := m.shown()
	m.sort = columns[(m.sorted()+by+len(columns))%len(columns)].name
}

// countCallers lets the process count by caller, unless it does, until top ends.
func (m *model) countCallers() tea.Cmd {
	if (m.wants|m.now.Consumers)&source.SummaryByCaller != 0 {
		return nil
	}
	m.wants |= source.SummaryByCaller
	wants := m.wanted()
	m.look.wants = wants
	return m.do("calls are counted by caller from now on", func() error { return m.source.Want(wants) })
}

// typed takes a key of the filter.
func (m *model) typed(k tea.Key) {
	switch k.String() {
	case "enter":
		m.typing = false
	case "esc", "ctrl+c":
		m.typing, m.filter = false, ""
	case "backspace":
		if r := []rune(m.filter); len(r) > 0 {
			m.filter = string(r[:len(r)-1])
		}
	default:
		m.filter += k.Text
	}
	m.rebuild()
}

// choose puts the cursor on a row, and lets it stay on that function.
func (m *model) choose(row int) {
	m.cursor = max(0, min(row, len(m.rows)-1))
	if row := m.selected(); row != nil {
		m.chosen = row.function
	}
}

func (m *model) selected() *entry {
	if m.cursor < 0 || m.cursor >= len(m.rows) {
		return nil
	}
	return &m.rows[m.cursor]
}

// toggle turns the selected function on or off, or its timing.
func (m *model) toggle(timed bool) tea.Cmd {
	row := m.selected()
	if row == nil || row.function == 0 {
		return nil
	}
	m.chosen = row.function // it may be another row soon
	f := m.now.Function(row.function)
	flags, what := f.Flags, ""
	if timed {
		flags.Timed = !flags.Timed
		what = f.Instrument() + ": timed " + onOff(flags.Timed)
	} else {
		flags.Enabled = !flags.Enabled
		what = f.Instrument() + ": " + onOff(flags.Enabled)
	}
	return m.set(what, map[uint32]source.Flags{f.Key: flags})
}

// enableAll turns all functions that are shown on or off.
func (m *model) enableAll(on bool) tea.Cmd {
	changes := map[uint32]source.Flags{}
	for _, row := range m.rows {
		if f := m.now.Function(row.function); row.function != 0 && f.Enabled != on {
			changes[f.Key] = source.Flags{Enabled: on, Timed: f.Timed}
		}
	}
	if !on {
		for _, row := range m.rows {
			m.look.leave(row.function)
		}
	}
	return m.set(fmt.Sprintf("%d functions: %s", len(changes), onOff(on)), changes)
}

func (m *model) set(what string, changes map[uint32]source.Flags) tea.Cmd {
	return m.do(what, func() error { return m.source.SetInstruments(changes) })
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}
