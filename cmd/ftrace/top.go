package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/mattn/go-isatty"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
)

// topCommand is "ftrace top [FLAGS] [PID|NAME|RECORDING]".
func topCommand(args []string) int {
	flags := flag.NewFlagSet("top", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	every := flags.Duration("every", time.Second, "")
	sortBy := flags.String("sort", "total", "")
	filter := flags.String("filter", "", "")
	options := recordingFlags(flags)
	rest, err := parseMixed(flags, args)
	sortColumn := slices.IndexFunc(topColumns, func(c topColumn) bool { return c.name == *sortBy })
	switch {
	case err != nil:
	case len(rest) > 1:
		err = usagef("there is more than one process or recording: %s", strings.Join(rest, " "))
	case *every < 50*time.Millisecond:
		err = usagef("-every %v is less than 50ms", *every)
	case sortColumn < 0:
		err = usagef("-sort %s: there is no such column", *sortBy)
	}
	if err != nil {
		return fail("top", err)
	}
	catalog, err := openCatalog(rest, *options)
	if err != nil {
		return fail("top", err)
	}
	defer catalog.Close()
	if catalog.Find != nil {
		catalog.Find()
	}
	sources := catalog.Sources()
	if len(sources) != 1 {
		return fail("top", fmt.Errorf("%d programs called %s are running: ftrace list", len(sources), rest[0]))
	}
	if out, _ := files(); !isatty.IsTerminal(out.Fd()) {
		return fail("top", errors.New("stdout is no terminal: ftrace sql and ftrace report write to files"))
	}
	m := &topModel{source: sources[0], every: *every, sort: sortColumn, filter: *filter}
	if _, err := tea.NewProgram(m, tea.WithAltScreen()).Run(); err != nil {
		return fail("top", err)
	}
	if m.err == nil {
		m.err = m.leave()
	}
	if m.err != nil && !errors.Is(m.err, schema.ErrGone) {
		return fail("top", m.err)
	}
	return 0
}

// topModel is what top shows, and how.
type topModel struct {
	source schema.Source
	every  time.Duration

	before, now     *schema.Snapshot // the last two snapshots
	beforeAt, nowAt time.Time
	rows            []topRow
	err             error
	message         string // of the last command

	sort     int // of topColumns
	reversed bool
	filter   string
	typing   bool   // the filter is being typed
	callers  uint32 // the function whose callers are shown, 0: all functions are
	counting bool   // by caller, which the process did not do before
	paused   bool
	help     bool

	width, height int
	cursor, top   int
	chosen        uint32 // the function that the cursor stays on, 0: it stays where it is
}

type (
	topTick     time.Time
	topSnapshot struct {
		snap *schema.Snapshot
		err  error
		at   time.Time
	}
	topDone struct {
		what string
		err  error
	}
)

func (m *topModel) Init() tea.Cmd { return m.look() }

// look takes a snapshot.
func (m *topModel) look() tea.Cmd {
	return func() tea.Msg {
		snap, err := m.source.Snapshot()
		return topSnapshot{snap, err, time.Now()}
	}
}

// do runs a command of the source's and looks what came of it.
func (m *topModel) do(what string, f func() error) tea.Cmd {
	return func() tea.Msg { return topDone{what, f()} }
}

func (m *topModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case topTick:
		if m.paused {
			return m, m.tick()
		}
		return m, m.look()
	case topSnapshot:
		if m.err = msg.err; msg.err == nil {
			m.before, m.beforeAt = m.now, m.nowAt
			m.now, m.nowAt = msg.snap, msg.at
			m.rebuild()
		}
		return m, m.tick()
	case topDone:
		m.message = msg.what
		if msg.err != nil {
			m.message = fmt.Sprintf("%s: %v", msg.what, msg.err)
			if errors.Is(msg.err, schema.ErrReadOnly) {
				m.message = msg.what + ": this is a recording"
			}
		}
		return m, nil
	case tea.KeyMsg:
		return m, m.keys(msg)
	}
	return m, nil
}

func (m *topModel) tick() tea.Cmd {
	return tea.Tick(m.every, func(t time.Time) tea.Msg { return topTick(t) })
}

// keys does what keys are for that came together: what is typed fast, and Escape with what is pressed behind it, which looks like that with Alt. What is pasted is for the filter alone.
func (m *topModel) keys(k tea.KeyMsg) tea.Cmd {
	var all []tea.Cmd
	if k.Alt {
		all = append(all, m.key(tea.KeyMsg{Type: tea.KeyEsc}))
		k.Alt = false
	}
	switch {
	case k.Type != tea.KeyRunes:
		all = append(all, m.key(k))
	case m.typing || !k.Paste:
		for _, r := range k.Runes {
			all = append(all, m.key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
		}
	}
	return tea.Sequence(all...)
}

// key does what a key is for.
func (m *topModel) key(k tea.KeyMsg) tea.Cmd {
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
	case "pgdown", " ":
		m.choose(m.cursor + m.lines())
	case "home", "g":
		m.cursor, m.chosen = 0, 0
	case "end", "G":
		m.choose(len(m.rows))
	case ">", "right", "tab":
		m.sort = (m.sort + 1) % len(topColumns)
	case "<", "left", "shift+tab":
		m.sort = (m.sort + len(topColumns) - 1) % len(topColumns)
	case "r":
		m.reversed = !m.reversed
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
			return errors.Join(m.source.Truncate(schema.GlobalPart), m.source.Truncate(schema.ByCallerPart))
		})
	}
	m.rebuild()
	return nil
}

// countCallers lets the process count by caller, unless it does, until top ends.
func (m *topModel) countCallers() tea.Cmd {
	on := m.now.Consumers | schema.SummaryByCaller
	if on == m.now.Consumers {
		return nil
	}
	m.counting = true
	return m.do("calls are counted by caller from now on", func() error { return m.source.SetConsumers(on) })
}

// leave undoes that.
func (m *topModel) leave() error {
	if !m.counting {
		return nil
	}
	snap, err := m.source.Snapshot()
	if err == nil {
		err = m.source.SetConsumers(snap.Consumers &^ schema.SummaryByCaller)
	}
	return err
}

// typed takes a key of the filter.
func (m *topModel) typed(k tea.KeyMsg) {
	switch k.Type {
	case tea.KeyEnter:
		m.typing = false
	case tea.KeyEsc, tea.KeyCtrlC:
		m.typing, m.filter = false, ""
	case tea.KeyBackspace:
		if r := []rune(m.filter); len(r) > 0 {
			m.filter = string(r[:len(r)-1])
		}
	case tea.KeyRunes, tea.KeySpace:
		m.filter += string(k.Runes)
	}
	m.rebuild()
}

// choose puts the cursor on a row, and lets it stay on that function.
func (m *topModel) choose(row int) {
	m.cursor = max(0, min(row, len(m.rows)-1))
	if row := m.selected(); row != nil {
		m.chosen = row.function
	}
}

func (m *topModel) selected() *topRow {
	if m.cursor < 0 || m.cursor >= len(m.rows) {
		return nil
	}
	return &m.rows[m.cursor]
}

// toggle turns the selected function on or off, or its timing.
func (m *topModel) toggle(timed bool) tea.Cmd {
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
	return m.set(what, map[uint32]schema.Flags{f.Key: flags})
}

// enableAll turns all functions that are shown on or off.
func (m *topModel) enableAll(on bool) tea.Cmd {
	changes := map[uint32]schema.Flags{}
	for _, row := range m.rows {
		if f := m.now.Function(row.function); row.function != 0 && f.Enabled != on {
			changes[f.Key] = schema.Flags{Enabled: on, Timed: f.Timed}
		}
	}
	return m.set(fmt.Sprintf("%d functions: %s", len(changes), onOff(on)), changes)
}

func (m *topModel) set(what string, changes map[uint32]schema.Flags) tea.Cmd {
	return m.do(what, func() error { return m.source.SetInstruments(changes) })
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}
