package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// setupTables are the tables that choose what is collected.
var setupTables = []*Table{setupInstruments, setupConsumers, setupTimers, performanceTimers, setupBudget, setupActors, setupObjects}

var setupInstruments = withUpdate(New("setup_instruments", func(v *View) []source.Function { return slices.Concat(v.Functions, v.Waits, v.Kinds, v.Probes) },
	key(Text("NAME", NameKind, func(_ *View, f *source.Function) string { return f.Instrument() })),
	updatable(yesNo("ENABLED", func(f *source.Function) bool { return f.Enabled })),
	updatable(yesNo("TIMED", func(f *source.Function) bool { return f.Timed })),
	hidden(Optional("WAIT_NAME", NameKind, func(_ *View, f *source.Function) (string, bool) { return f.Family(), f.Wait })),
), func(p *Pending, row any, column int, v value) error {
	f := row.(*source.Function)
	on, err := parseYesNo([]string{"NAME", "ENABLED", "TIMED"}[column], v)
	if err != nil {
		return err
	}
	flags, ok := p.instruments[f.Key]
	if !ok {
		flags = f.Flags
	}
	if column == 1 {
		flags.Enabled = on
	} else {
		flags.Timed = on
	}
	p.instruments[f.Key] = flags
	return nil
})

// A consumerRow is one of setup_consumers.
type consumerRow struct {
	name    string
	bit     source.Consumers
	enabled bool
}

var setupConsumers = withUpdate(New("setup_consumers", func(v *View) []consumerRow {
	var rows []consumerRow
	for _, c := range source.ConsumerNames {
		rows = append(rows, consumerRow{c.Name, c.Bit, v.Consumers&c.Bit != 0})
	}
	return rows
},
	key(Text("NAME", WordKind, func(_ *View, r *consumerRow) string { return r.name })),
	updatable(yesNo("ENABLED", func(r *consumerRow) bool { return r.enabled })),
), func(p *Pending, row any, _ int, v value) error {
	on, err := parseYesNo("ENABLED", v)
	if err != nil {
		return err
	}
	if p.consumers == nil {
		now := p.view.Consumers
		p.consumers = &now
	}
	if bit := row.(*consumerRow).bit; on {
		*p.consumers |= bit
	} else {
		*p.consumers &^= bit
	}
	return nil
})

// A timerRow is one of setup_timers: a process has one timer for all.
type timerRow struct{ name, timer string }

const timerKind = "enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','TICK')"

var setupTimers = withUpdate(New("setup_timers", func(v *View) []timerRow { return []timerRow{{"call", v.Timer}, {"wait", v.Timer}} }, // of statements and stages too: they are timed as calls are
	key(Text("NAME", WordKind, func(_ *View, r *timerRow) string { return r.name })),
	updatable(Text("TIMER_NAME", timerKind, func(_ *View, r *timerRow) string { return r.timer })),
), func(p *Pending, _ any, _ int, v value) error {
	name, err := parseEnum("TIMER_NAME", v, source.TimerNames)
	if err != nil {
		return err
	}
	p.timer = name
	return nil
})

const mostBudget = 999 // percent

// setupBudget has one row: what calls may cost that only these tables show.
var setupBudget = withUpdate(New("setup_budget", func(v *View) []int { return []int{v.Budget} },
	updatable(Column[int]{Head{Name: "BUDGET", Kind: "int unsigned"}, func(_ *View, percent *int) value { return int64(*percent) }}),
), func(p *Pending, _ any, _ int, v value) error {
	percent, ok := v.(int64)
	if !ok || percent < 0 || percent > mostBudget {
		return mysqlerr.New(mysqlerr.WrongValue, "BUDGET is a whole number of percent from 0, for no limit, to %d", mostBudget)
	}
	budget := int(percent)
	p.budget = &budget
	return nil
})

var performanceTimers = New("performance_timers", func(v *View) []source.Timer {
	timers, err := v.Source.Timers()
	if err != nil {
		v.Statement.Fail(mysqlerr.New(mysqlerr.Unknown, "measuring the timers of process %s: %v", v.Source.Name(), err))
		return nil
	}
	return timers
},
	Text("TIMER_NAME", timerKind, func(_ *View, t *source.Timer) string { return t.Name }),
	Unsigned("TIMER_FREQUENCY", func(t *source.Timer) uint64 { return uint64(t.Frequency) }),
	Unsigned("TIMER_RESOLUTION", func(t *source.Timer) uint64 { return uint64(t.Resolution) }),
	Unsigned("TIMER_OVERHEAD", func(t *source.Timer) uint64 { return uint64(t.Overhead) }),
	alias("RESOLUTION", Unsigned("", func(t *source.Timer) uint64 { return uint64(t.Resolution) })),
)

var setupActors = withRules(source.ActorRules, New("setup_actors", func(v *View) []source.Rule { return v.Actors },
	Text("ENTRY_FUNCTION", NameKind, func(_ *View, r *source.Rule) string { return r.Pattern[0] }),
	Text("LABEL", NameKind, func(_ *View, r *source.Rule) string { return r.Pattern[1] }),
	updatable(yesNo("ENABLED", func(r *source.Rule) bool { return r.Enabled })),
	alias("USER", Text("", NameKind, func(_ *View, r *source.Rule) string { return r.Pattern[0] })),
	alias("HOST", Text("", NameKind, func(_ *View, r *source.Rule) string { return r.Pattern[1] })),
))

var setupObjects = withRules(source.ObjectRules, New("setup_objects", func(v *View) []source.Rule { return v.Objects },
	Text("OBJECT_SCHEMA", NameKind, func(_ *View, r *source.Rule) string { return r.Pattern[0] }),
	Text("OBJECT_TYPE", NameKind, func(_ *View, r *source.Rule) string { return r.Pattern[1] }),
	Text("OBJECT_NAME", NameKind, func(_ *View, r *source.Rule) string { return r.Pattern[2] }),
	updatable(yesNo("ENABLED", func(r *source.Rule) bool { return r.Enabled })),
	updatable(yesNo("TIMED", func(r *source.Rule) bool { return r.Timed })),
))

func withUpdate(t *Table, update func(p *Pending, row any, column int, v value) error) *Table {
	t.Update = update
	return t
}

// withRules makes a table's rows rules, which can also be inserted and deleted. Its columns are the
// patterns, ENABLED, and TIMED if there is one.
func withRules(kind source.RuleKind, t *Table) *Table {
	t.Rules = &kind
	patterns := t.ColumnIndex("ENABLED")
	t.Update = func(p *Pending, row any, column int, v value) error {
		on, err := parseYesNo(t.Columns[column].Name, v)
		if err != nil {
			return err
		}
		rules := p.rulesOf(kind)
		for i := range rules {
			if rules[i].Pattern != row.(*source.Rule).Pattern {
				continue
			}
			if column == patterns {
				rules[i].Enabled = on
			} else {
				rules[i].Timed = on
			}
		}
		return nil
	}
	return t
}

// Insert adds a row to a table of rules, given the values of its columns.
func (t *Table) Insert(p *Pending, values []value) error {
	r, err := t.rule(values)
	if err == nil {
		p.rules[*t.Rules] = append(p.rulesOf(*t.Rules), r)
	}
	return err
}

// Delete takes a row out of a table of rules.
func (t *Table) Delete(p *Pending, row any) {
	rules := p.rulesOf(*t.Rules)
	if i := slices.Index(rules, *row.(*source.Rule)); i >= 0 {
		p.rules[*t.Rules] = slices.Delete(rules, i, i+1)
	}
}

// rule makes a rule from the values of an inserted row. Missing values are % and YES.
func (t *Table) rule(values []value) (source.Rule, error) {
	r := source.Rule{Pattern: [3]string{"%", "%", "%"}, Flags: source.Flags{Enabled: true, Timed: true}}
	patterns := t.ColumnIndex("ENABLED")
	for i, v := range values {
		if v == nil || *t.Rules == source.ActorRules && strings.EqualFold(fmt.Sprint(v), "ALL") {
			continue // ALL is WL#2360's
		}
		if t.Columns[i].Hidden { // it is an alias of a pattern
			i -= patterns + 1
		}
		if i < patterns {
			r.Pattern[i] = fmt.Sprint(v)
			continue
		}
		on, err := parseYesNo(t.Columns[i].Name, v)
		if err != nil {
			return r, err
		}
		if i == patterns {
			r.Enabled = on
		} else {
			r.Timed = on
		}
	}
	for i := patterns; i < len(r.Pattern); i++ {
		r.Pattern[i] = ""
	}
	return r, nil
}

// Pending is what a statement will change in a source when it has ended.
type Pending struct {
	view        *View
	instruments map[uint32]source.Flags
	threads     map[uint64]bool
	consumers   *source.Consumers
	timer       string
	budget      *int
	rules       map[source.RuleKind][]source.Rule
}

// NewPending returns no changes yet.
func NewPending(v *View) *Pending {
	return &Pending{view: v, instruments: map[uint32]source.Flags{}, threads: map[uint64]bool{}, rules: map[source.RuleKind][]source.Rule{}}
}

// rulesOf returns the rules of a kind as they will be. The caller may change them.
func (p *Pending) rulesOf(kind source.RuleKind) []source.Rule {
	if _, ok := p.rules[kind]; !ok {
		now := p.view.Actors
		if kind == source.ObjectRules {
			now = p.view.Objects
		}
		p.rules[kind] = slices.Clone(now)
	}
	return p.rules[kind]
}

// Apply makes the changes.
func (p *Pending) Apply() error {
	source := p.view.Source
	var err error
	if len(p.instruments) > 0 {
		err = source.SetInstruments(p.instruments)
	}
	if err == nil && len(p.threads) > 0 {
		err = source.SetThreads(p.threads)
	}
	if err == nil && p.consumers != nil {
		err = source.SetConsumers(*p.consumers)
	}
	if err == nil && p.timer != "" {
		err = source.SetTimer(p.timer)
	}
	if err == nil && p.budget != nil {
		err = source.SetBudget(*p.budget)
	}
	for kind, rules := range p.rules {
		if err == nil {
			err = source.SetRules(kind, rules)
		}
	}
	return err
}
