package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// statusTables show what exists, and its state.
var statusTables = []*Table{
	withUpdate(New("threads", threads,
		key(id("THREAD_ID", func(t *source.Thread) uint64 { return t.ID })),
		Text("NAME", NameKind, func(v *View, t *source.Thread) string {
			return "goroutine/" + strings.TrimPrefix(v.entry(t), "call/")
		}),
		Text("TYPE", "varchar(10)", func(_ *View, t *source.Thread) string { return "GOROUTINE" }),
		Unsigned("PARENT_THREAD_ID", func(t *source.Thread) uint64 { return t.Parent }),
		Optional("CREATED_BY", NameKind, func(v *View, t *source.Thread) (string, bool) {
			if t.Creator == 0 {
				return source.InstrumentOf(t.Made), t.Made != ""
			}
			return v.functionOr(t.Creator, ""), true
		}),
		Optional("ENTRY_FUNCTION", NameKind, func(v *View, t *source.Thread) (string, bool) { return v.entry(t), v.entry(t) != "?" }),
		Text("STATE", "varchar(10)", func(v *View, t *source.Thread) string {
			switch {
			case t.Ended:
				return "ENDED"
			case t.Waiting != nil || t.Stopped != "":
				return "WAITING"
			case len(t.Current) > 0 || v.Inside(t.ID) != nil:
				return "INSIDE"
			}
			return "OUTSIDE"
		}),
		updatable(yesNo("INSTRUMENTED", func(t *source.Thread) bool { return !t.Disabled })),
		id("PROCESSLIST_ID", func(t *source.Thread) uint64 { return t.ID }),
		Null[source.Thread]("PROCESSLIST_USER", WordKind),
		Null[source.Thread]("PROCESSLIST_HOST", WordKind),
		Null[source.Thread]("PROCESSLIST_DB", WordKind),
		Text("PROCESSLIST_COMMAND", NameKind, (*View).entry),
		Column[source.Thread]{Head{Name: "PROCESSLIST_TIME", Kind: "bigint", Null: true}, func(v *View, t *source.Thread) value {
			if t.Waiting != nil && t.Waiting.Timed {
				return v.seconds(t.Waiting.Start, 0)
			}
			return v.seconds(-1, t.Least)
		}},
		Known("PROCESSLIST_STATE", NameKind, (*View).waitsFor),
		Known("PROCESSLIST_INFO", NameKind, (*View).innermost),
	), func(p *Pending, row any, _ int, v value) error {
		on, err := parseYesNo("INSTRUMENTED", v)
		if err != nil {
			return err
		}
		p.threads[row.(*source.Thread).ID] = on
		return nil
	}),
	New("processlist", processlist,
		id("ID", func(s *source.State) uint64 { return s.Thread }),
		Null[source.State]("USER", WordKind),
		Null[source.State]("HOST", WordKind),
		Null[source.State]("DB", WordKind),
		Text("COMMAND", NameKind, func(_ *View, s *source.State) string { return entryOf(s.Started) }),
		Column[source.State]{Head{Name: "TIME", Kind: "bigint", Null: true}, func(v *View, s *source.State) value {
			return v.seconds(s.Since, s.Least)
		}},
		Known("STATE", NameKind, func(v *View, s *source.State) string {
			if s.Wait != 0 {
				return v.waitFor(s.Wait, s.Awaits()...)
			}
			return s.Does
		}),
		Optional("INFO", NameKind, func(_ *View, s *source.State) (string, bool) { return source.InstrumentOf(s.Within), s.Within != "" }),
		Known("SOURCE", NameKind, func(_ *View, s *source.State) string { return s.Source }),
	),
	New("memory_summary_global_by_event_name", (*View).memory,
		Text("EVENT_NAME", NameKind, func(_ *View, m *source.Memory) string { return "memory/ftrace/" + m.Name }),
		Number("CURRENT_COUNT_USED", func(m *source.Memory) int64 { return m.Count }),
		Number("CURRENT_NUMBER_OF_BYTES_USED", func(m *source.Memory) int64 { return m.Bytes }),
		Number("MAX_NUMBER_OF_BYTES", func(m *source.Memory) int64 { return m.Most }),
	),
	New("processes", func(v *View) []source.Process { return []source.Process{v.Process} },
		Number("PID", func(p *source.Process) int64 { return int64(p.PID) }),
		Text("EXECUTABLE", NameKind, func(_ *View, p *source.Process) string { return p.Executable }),
		Text("ARGUMENTS", TextKind, func(_ *View, p *source.Process) string { return strings.Join(p.Args, " ") }),
		Text("GO_VERSION", WordKind, func(_ *View, p *source.Process) string { return p.Release }),
		Optional("STARTED", "varchar(32)", func(_ *View, p *source.Process) (string, bool) {
			return p.Start.UTC().Format(time.DateTime), !p.Start.IsZero()
		}),
		Text("STATE", WordKind, func(_ *View, p *source.Process) string { return p.State }),
	),
	New("session_status", status, variableColumns...),
	New("global_status", status, variableColumns...),
	New("session_variables", variables, variableColumns...),
	New("global_variables", variables, variableColumns...),
}

// memory returns what the tracer uses memory for.
func (v *View) memory() []source.Memory {
	if v.Memory == nil {
		return nil
	}
	return v.Memory()
}

// threads returns all goroutines. Those that have called no armed function come after the others.
func threads(v *View) []source.Thread {
	if v.States == nil {
		return v.Threads
	}
	states, err := v.States()
	if err != nil {
		v.Statement.Fail(err)
	}
	list := slices.Clone(v.Threads)
	known := map[uint64]int{}
	for i := range list {
		known[list[i].ID] = i
	}
	for i := range states {
		s := &states[i]
		at, ok := known[s.Thread]
		if !ok {
			at = len(list)
			list = append(list, source.Thread{ID: s.Thread, Started: s.Started})
		}
		t := &list[at]
		if t.Parent == 0 {
			t.Parent = s.Parent
		}
		t.Made, t.Least = s.Creator, s.Least
		switch {
		case t.Waiting != nil:
			w := v.told(*t.Waiting, s)
			t.Waiting = &w
		case s.Wait != 0:
			w := waitOf(s)
			t.Waiting = &w
		case s.Waits:
			t.Stopped = s.Does
		}
	}
	return list
}

// processlist returns what all goroutines do, as far as that is known.
func processlist(v *View) []source.State {
	if v.States != nil {
		list, err := v.States()
		if err != nil {
			v.Statement.Fail(err)
		}
		return list
	}
	var list []source.State
	for i := range v.Threads {
		t := &v.Threads[i]
		s := source.State{Thread: t.ID, Started: t.Started, Since: -1}
		if s.Started == "" && t.Entry != 0 {
			s.Started = v.Function(t.Entry).FullName()
		}
		if n := len(t.Current); n > 0 {
			s.Within, s.Since = v.Function(t.Current[n-1].Function).FullName(), t.Current[n-1].Start
		}
		if w := t.Waiting; w != nil {
			s.Wait, s.Object, s.Objects, s.Since, s.Source = w.Function, w.Object, append([]uint64{w.Object}, w.Others...), w.Start, w.Source
		}
		if !t.Ended {
			list = append(list, s)
		}
	}
	return list
}

// seconds returns for how many a goroutine has done what it does since a moment, or at least if
// that is -1. It returns nil if neither is known.
func (v *View) seconds(since, least int64) value {
	switch {
	case since >= 0:
		return max(v.Now-since, 0) / 1e12
	case least > 0:
		return least / 1e12
	}
	return nil
}

// waitFor returns what is waited for, with the names that are known: wait/synch/mutex main.mu.
func (v *View) waitFor(kind uint32, objects ...uint64) string {
	var names []string
	for _, object := range objects {
		if name := v.ObjectName(kind, object, true); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.TrimSuffix(v.Function(kind).Instrument()+" "+strings.Join(names, ", "), " ")
}

// waitsFor returns what a goroutine waits for.
func (v *View) waitsFor(t *source.Thread) string {
	if t.Waiting == nil {
		return t.Stopped
	}
	return v.waitFor(t.Waiting.Function, append([]uint64{t.Waiting.Object}, t.Waiting.Others...)...)
}

// innermost returns the innermost call, statement or stage under way.
func (v *View) innermost(t *source.Thread) string {
	n, span := len(t.Current), v.Inside(t.ID)
	switch {
	case span != nil && (n == 0 || span.ID > t.Current[n-1].ID):
		return v.Function(span.Function).Instrument()
	case n > 0:
		return v.Function(t.Current[n-1].Function).Instrument()
	}
	return ""
}

// entry returns the name of the function that a goroutine was started with.
func (v *View) entry(t *source.Thread) string {
	if t.Started != "" {
		return entryOf(t.Started)
	}
	return v.functionOr(t.Entry, "?")
}

// entryOf returns the name of the function that a goroutine was started with, given its full name.
func entryOf(full string) string {
	switch full {
	case "":
		return "?"
	case "runtime.main":
		return "call/main/main"
	}
	return source.InstrumentOf(full)
}

// functionOr returns the name of a function, or none if its key is 0.
func (v *View) functionOr(key uint32, none string) string {
	if key == 0 {
		return none
	}
	return v.Function(key).Instrument()
}

// A variable is one of SHOW STATUS or SHOW VARIABLES.
type variable struct{ name, value string }

var variableColumns = []Column[variable]{
	Text("VARIABLE_NAME", WordKind, func(_ *View, r *variable) string { return r.name }),
	Text("VARIABLE_VALUE", "varchar(1024)", func(_ *View, r *variable) string { return r.value }),
}

// lostNames are what can be lost, after MySQL's names. A source has those numbers that are not 0.
var lostNames = []string{"call_classes_lost", source.LeftOut, "thread_instances_lost", "thread_classes_lost", "nested_calls_lost", "records_lost", "summary_instances_lost"}

func status(v *View) []variable {
	const prefix = "Performance_schema_"
	own := map[string]string{}
	for _, name := range lostNames {
		own[prefix+name] = "0"
	}
	for _, c := range v.Lost {
		own[prefix+c.Name] = fmt.Sprint(c.Value)
	}
	return sortedVariables(own, v.Statement.Status())
}

func variables(v *View) []variable {
	own := map[string]string{"performance_schema": "ON"}
	for _, c := range v.Limits {
		own["performance_schema_"+c.Name] = fmt.Sprint(c.Value)
	}
	return sortedVariables(own, v.Statement.Variables())
}

func sortedVariables(lists ...map[string]string) (rows []variable) {
	for _, list := range lists {
		for name, value := range list {
			rows = append(rows, variable{name, value})
		}
	}
	slices.SortFunc(rows, func(a, b variable) int { return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	return slices.Compact(rows)
}
