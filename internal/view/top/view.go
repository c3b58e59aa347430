package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/mattn/go-runewidth"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A entry is a function, or one that calls the function whose callers are shown.
type entry struct {
	function uint32 // 0: of callers, none that is seen
	name     string
	flags    string
	source.Summary
	rate     float64   // calls a second
	division *division // of the self time, where waits are shown; nil: there is none
}

// A column is one by which rows can be sorted.
type column struct {
	name, title string
	width       int
	text        func(r *entry) string
	compare     func(a, b *entry) int // the row that comes first is less
}

func timeColumn(name, title string, f func(r *entry) int64) column {
	return column{name, title, 10, func(r *entry) string {
		if r.Timed == 0 {
			return "-"
		}
		return duration(f(r))
	}, func(a, b *entry) int { return cmp.Compare(f(b), f(a)) }}
}

// duration returns a time in picoseconds as text.
func duration(t int64) string { return string(recording.AppendDuration(nil, t/1000)) }

func countColumn(name, title string, width int, f func(r *entry) uint64) column {
	return column{name, title, width, func(r *entry) string { return fmt.Sprint(f(r)) }, func(a, b *entry) int { return cmp.Compare(f(b), f(a)) }}
}

var allColumns = []column{
	countColumn("calls", "CALLS", 10, func(r *entry) uint64 { return r.Count }),
	{"rate", "CALLS/S", 9, func(r *entry) string { return fmt.Sprintf("%.0f", r.rate) }, func(a, b *entry) int { return cmp.Compare(b.rate, a.rate) }},
	timeColumn("total", "TOTAL", func(r *entry) int64 { return r.Sum }),
	timeColumn("self", "SELF", func(r *entry) int64 { return r.Self }),
	timeColumn("avg", "AVERAGE", func(r *entry) int64 { return r.Sum / int64(max(r.Timed, 1)) }),
	timeColumn("max", "MAX", func(r *entry) int64 { return r.Max }),
	countColumn("errors", "ERRORS", 7, func(r *entry) uint64 { return r.Errors }),
	countColumn("panics", "PANICS", 7, func(r *entry) uint64 { return r.Panics }),
	{"name", "FUNCTION", 0, func(r *entry) string { return r.name }, func(a, b *entry) int { return cmp.Compare(a.name, b.name) }},
}

// shown returns the columns of what is shown.
func (m *model) shown() []column {
	if m.divides() {
		return m.times
	}
	return allColumns
}

// divides reports whether it is shown how times divide, instead of sums of calls.
func (m *model) divides() bool { return m.waits && m.callers == 0 && len(m.times) > 0 }

// sorted returns the place of the column by which rows are sorted: of the one that was chosen last,
// or of the total or self time if there is none of that name.
func (m *model) sorted() int {
	columns, standard := m.shown(), "total"
	if at := columnNamed(columns, m.sort); at >= 0 {
		return at
	}
	if m.divides() {
		standard = "self"
	}
	return columnNamed(columns, standard)
}

// leftOut returns the columns that are left out, the first first, where there is not room for so
// much of the names.
func (m *model) leftOut() (names []string) {
	if !m.divides() {
		return []string{"panics", "max", "self", "errors", "avg", "rate", "calls", "total"}
	}
	for _, c := range slices.Backward(m.times[:len(m.times)-1]) {
		names = append(names, c.name)
	}
	return names
}

const nameLeast = 30

// columns returns the columns that there is room for, among them always that by which rows are
// sorted, and how much of a name there is.
func (m *model) columns() (columns []*column, name int) {
	name = m.width - len(" ET ")
	all := m.shown()
	for i := range all {
		columns = append(columns, &all[i])
		name -= all[i].width
	}
	sorted := &all[m.sorted()]
	for _, dispensable := range m.leftOut() {
		if name >= nameLeast {
			break
		}
		i := slices.IndexFunc(columns, func(c *column) bool { return c.name == dispensable })
		if columns[i] != sorted {
			name += columns[i].width
			columns = slices.Delete(columns, i, i+1)
		}
	}
	return columns, max(name, 1)
}

// endOf returns so much of the end of a name as there is room for: packages' names begin alike.
func endOf(name string, room int) string {
	if over := runewidth.StringWidth(name) - room; over > 0 {
		return runewidth.TruncateLeft(name, over+1, "…")
	}
	return name
}

// rebuild makes the rows anew.
func (m *model) rebuild() {
	if m.now == nil {
		return
	}
	m.rows, m.times = m.rows[:0], nil
	divisions := map[uint32]*division{}
	if m.waits {
		divisions = divide(m.now)
		m.times = timesOf(m.now, divisions)
	}
	called, before := m.called(m.now), m.called(m.before)
	if m.callers != 0 {
		for caller, s := range called {
			m.add(caller, s, before[caller].Count, nil)
		}
	} else {
		for i := range m.now.Functions {
			key := m.now.Functions[i].Key
			m.add(key, called[key], before[key].Count, divisions[key])
		}
		if d := divisions[0]; d != nil {
			m.add(0, source.Summary{}, 0, d)
		}
	}
	c := m.shown()[m.sorted()]
	slices.SortStableFunc(m.rows, func(a, b entry) int {
		order := cmp.Or(c.compare(&a, &b), cmp.Compare(a.name, b.name))
		if m.reversed {
			return -order
		}
		return order
	})
	if at := slices.IndexFunc(m.rows, func(r entry) bool { return m.chosen != 0 && r.function == m.chosen }); at >= 0 {
		m.cursor = at
	}
	m.cursor = max(0, min(m.cursor, len(m.rows)-1))
	m.top = max(m.cursor-m.lines()+1, min(m.top, m.cursor), 0)
}

// called returns the sums of functions, or by those that call the function whose callers are shown.
// There are none where there is no snapshot.
func (m *model) called(snap *source.Snapshot) map[uint32]source.Summary {
	called := map[uint32]source.Summary{}
	switch {
	case snap == nil:
	case m.callers != 0:
		for _, s := range snap.ByCaller() {
			if s.Function == m.callers {
				called[s.Caller] = s
			}
		}
	default:
		for _, s := range snap.Global {
			called[s.Function] = s
		}
	}
	return called
}

// add adds the row of a function, which had been called so often before, unless the filter, which
// is for functions and not for callers, leaves it out.
func (m *model) add(key uint32, s source.Summary, before uint64, d *division) {
	row := entry{function: key, Summary: s, division: d, name: "(no function that is seen)", flags: "  "}
	if d := m.nowAt.Sub(m.beforeAt).Seconds(); m.before != nil && d > 0 && s.Count > before {
		row.rate = float64(s.Count-before) / d
	}
	if key != 0 {
		f := m.now.Function(key)
		row.name = strings.TrimPrefix(f.Instrument(), "call/")
		looks := m.look.At(key) && !f.Enabled
		row.flags = flagMark(f.Enabled, "E") + flagMark(f.Timed && (f.Enabled || looks), "T")
		if looks {
			row.flags = "e" + row.flags[1:]
		} else if m.look.TooOften(key) && !f.Enabled {
			row.flags = "!-"
		}
	}
	if m.callers != 0 || strings.Contains(strings.ToLower(row.name), strings.ToLower(m.filter)) {
		m.rows = append(m.rows, row)
	}
}

func flagMark(on bool, mark string) string {
	if on {
		return mark
	}
	return "-"
}

// lines returns how many rows there is room for.
func (m *model) lines() int { return max(m.height-5-len(m.crowds), 1) }

var (
	headStyle    = lipgloss.NewStyle().Bold(true)
	chosenStyle  = lipgloss.NewStyle().Reverse(true)
	troubleStyle = lipgloss.NewStyle().Foreground(lipgloss.Color("1"))
	helpText     = `
  up, down, PgUp, PgDn   select a function
  < >                    sort by another column         r   the other way round
  /                      show names with this in them   Esc back, no filter
  Enter                  what calls the function       w   how times divide into
                                                           waits, or calls
  e, t                   turn the function, or its timing, on or off
  E, D                   turn all that are shown on, off
  c                      forget what was counted        p   stop, go on
  q                      leave

  If nothing is on, what is shown is counted while this is open, and marked e: but for
  what is called so often that it would slow the program, marked !.
  Times are since the counts were begun. A function's total has the time of the calls
  within it, self has not, as far as these functions are enabled. A wider window has
  room for more columns and longer names.
`
)

func (m *model) View() tea.View {
	return tea.View{Content: m.text(), AltScreen: true}
}

// text returns what the window shows.
func (m *model) text() string {
	if m.width == 0 {
		return ""
	}
	var b strings.Builder
	line := func(style *lipgloss.Style, text string) {
		text = runewidth.Truncate(escape.String(text), m.width, "…")
		if style != nil {
			text = style.Render(runewidth.FillRight(text, m.width))
		}
		b.WriteString(text + "\n")
	}
	line(nil, m.title())
	switch {
	case m.err != nil:
		line(&troubleStyle, m.err.Error())
	case m.typing:
		line(nil, "filter: "+m.filter+"_")
	case m.message != "":
		line(nil, m.message)
	case m.filter != "":
		line(nil, "filter: "+m.filter)
	case m.divides() && len(m.hotWaits()) > 0:
		line(nil, "too often to be counted: "+strings.Join(m.hotWaits(), ", ")+"; -budget allows more")
	case len(m.look.AllTooOften()) > len(m.hotWaits()):
		line(nil, "called too often to be counted: "+words.Count(len(m.look.AllTooOften())-len(m.hotWaits()), "function")+", marked !; e turns one on, ? for help")
	case m.divides() && len(m.times) == waitless && m.source.Alive():
		line(nil, "no waits are seen yet; of a program that prints or records, those that its rules name")
	default:
		line(nil, "? for help")
	}
	if m.help {
		b.WriteString(helpText)
		return b.String()
	}
	if m.callers != 0 {
		line(nil, "callers of "+strings.TrimPrefix(m.now.Function(m.callers).Instrument(), "call/")+", Esc for all functions")
	}
	for _, crowd := range m.crowds {
		line(nil, crowd)
	}
	columns, name := m.columns()
	head, sorted := "", &m.shown()[m.sorted()]
	for _, c := range columns {
		title := c.title
		if c == sorted {
			title = "*" + title
		}
		if c.width == 0 {
			head += " ET " + title
		} else {
			head += fmt.Sprintf("%*s", c.width, title)
		}
	}
	line(&headStyle, head)
	for i := m.top; i < len(m.rows) && i < m.top+m.lines(); i++ {
		text := ""
		for _, c := range columns {
			if c.width == 0 {
				text += " " + m.rows[i].flags + " " + endOf(c.text(&m.rows[i]), name)
			} else {
				text += fmt.Sprintf("%*s", c.width, c.text(&m.rows[i]))
			}
		}
		if i == m.cursor {
			line(&chosenStyle, text)
		} else {
			line(nil, text)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// hotWaits returns the kinds of waits that are left out because there were too many.
func (m *model) hotWaits() (names []string) {
	for _, key := range m.look.AllTooOften() {
		if f := m.now.Function(key); f.Wait {
			names = append(names, f.Instrument())
		}
	}
	return names
}

// title says what is shown.
func (m *model) title() string {
	if m.now == nil {
		return "ftrace top: " + m.source.Name() + ": reading"
	}
	enabled, until := 0, ""
	for i := range m.now.Functions {
		if f := &m.now.Functions[i]; f.Enabled || m.look.At(f.Key) {
			enabled++
		}
	}
	if m.look.Any() {
		until = " while this is open"
	}
	lost, leftOut := int64(0), int64(0)
	for _, c := range m.now.Lost {
		if c.Name == source.LeftOut {
			leftOut = c.Value
		} else {
			lost += c.Value
		}
	}
	text := fmt.Sprintf("%s  %d of %d functions enabled%s  %s", m.source.Name(), enabled, len(m.now.Functions), until, words.Count(int(max(m.now.Running, len(m.now.Threads))), "goroutine"))
	if lost > 0 {
		text += fmt.Sprintf("  %d LOST", lost)
	}
	if leftOut > 0 {
		text += fmt.Sprintf("  calls of %d left out", leftOut)
	}
	if m.paused {
		text += "  stopped"
	}
	return text + "  " + strings.Join(m.now.Process.Args, " ")
}
