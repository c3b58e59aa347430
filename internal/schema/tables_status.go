package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// statusTables show what exists, and its state.
var statusTables = []*table{
	withUpdate(newTable("threads", threads,
		id("THREAD_ID", func(t *source.Thread) uint64 { return t.ID }),
		text("NAME", nameKind, func(v *view, t *source.Thread) string {
			return "goroutine/" + strings.TrimPrefix(v.entry(t), "call/")
		}),
		text("TYPE", "varchar(10)", func(_ *view, t *source.Thread) string { return "GOROUTINE" }),
		unsigned("PARENT_THREAD_ID", func(t *source.Thread) uint64 { return t.Parent }),
		optional("CREATED_BY", nameKind, func(v *view, t *source.Thread) (string, bool) {
			if t.Creator == 0 {
				return source.InstrumentOf(t.Made), t.Made != ""
			}
			return v.functionOr(t.Creator, ""), true
		}),
		optional("ENTRY_FUNCTION", nameKind, func(v *view, t *source.Thread) (string, bool) { return v.entry(t), v.entry(t) != "?" }),
		text("STATE", "varchar(10)", func(v *view, t *source.Thread) string {
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
		column[source.Thread]{columnHead{name: "PROCESSLIST_TIME", kind: "bigint", null: true}, func(v *view, t *source.Thread) value {
			if t.Waiting != nil && t.Waiting.Timed {
				return v.seconds(t.Waiting.Start, 0)
			}
			return v.seconds(-1, t.Least)
		}},
		known("PROCESSLIST_STATE", nameKind, (*view).waitsFor),
		known("PROCESSLIST_INFO", nameKind, (*view).innermost),
	), func(p *pending, row any, _ int, v value) error {
		on, err := parseYesNo("INSTRUMENTED", v)
		if err != nil {
			return err
		}
		p.threads[row.(*source.Thread).ID] = on
		return nil
	}),
	newTable("processlist", processlist,
		id("ID", func(s *source.State) uint64 { return s.Thread }),
		null[source.State]("USER", wordKind),
		null[source.State]("HOST", wordKind),
		null[source.State]("DB", wordKind),
		text("COMMAND", nameKind, func(_ *view, s *source.State) string { return entryOf(s.Started) }),
		column[source.State]{columnHead{name: "TIME", kind: "bigint", null: true}, func(v *view, s *source.State) value {
			return v.seconds(s.Since, s.Least)
		}},
		known("STATE", nameKind, func(v *view, s *source.State) string {
			if s.Wait != 0 {
				return v.waitFor(s.Wait, s.Object)
			}
			return s.Does
		}),
		optional("INFO", nameKind, func(_ *view, s *source.State) (string, bool) { return source.InstrumentOf(s.Within), s.Within != "" }),
		known("SOURCE", nameKind, func(_ *view, s *source.State) string { return s.Source }),
	),
	newTable("memory_summary_global_by_event_name", (*view).memory,
		text("EVENT_NAME", nameKind, func(_ *view, m *source.Memory) string { return "memory/ftrace/" + m.Name }),
		number("CURRENT_COUNT_USED", func(m *source.Memory) int64 { return m.Count }),
		number("CURRENT_NUMBER_OF_BYTES_USED", func(m *source.Memory) int64 { return m.Bytes }),
		number("MAX_NUMBER_OF_BYTES", func(m *source.Memory) int64 { return m.Most }),
	),
	newTable("processes", func(v *view) []source.Process { return []source.Process{v.Process} },
		number("PID", func(p *source.Process) int64 { return int64(p.PID) }),
		text("EXECUTABLE", nameKind, func(_ *view, p *source.Process) string { return p.Executable }),
		text("ARGUMENTS", textKind, func(_ *view, p *source.Process) string { return strings.Join(p.Args, " ") }),
		text("GO_VERSION", wordKind, func(_ *view, p *source.Process) string { return p.Release }),
		optional("STARTED", "varchar(32)", func(_ *view, p *source.Process) (string, bool) {
			return p.Start.UTC().Format(time.DateTime), !p.Start.IsZero()
		}),
		text("STATE", wordKind, func(_ *view, p *source.Process) string { return p.State }),
	),
	newTable("session_status", status, variableColumns...),
	newTable("global_status", status, variableColumns...),
	newTable("session_variables", variables, variableColumns...),
	newTable("global_variables", variables, variableColumns...),
}

// memory returns what the tracer uses memory for.
func (v *view) memory() []source.Memory {
	if v.Memory == nil {
		return nil
	}
	return v.Memory()
}

// threads returns all goroutines. Those that have called no armed function come after the others.
func threads(v *view) []source.Thread {
	if v.States == nil {
		return v.Threads
	}
	states, err := v.States()
	if err != nil {
		v.statement.Fail(err)
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
func processlist(v *view) []source.State {
	if v.States != nil {
		list, err := v.States()
		if err != nil {
			v.statement.Fail(err)
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
			s.Wait, s.Object, s.Since, s.Source = w.Function, w.Object, w.Start, w.Source
		}
		if !t.Ended {
			list = append(list, s)
		}
	}
	return list
}

// seconds returns for how many a goroutine has done what it does since a moment, or at least if
// that is -1. It returns nil if neither is known.
func (v *view) seconds(since, least int64) value {
	switch {
	case since >= 0:
		return max(v.Now-since, 0) / 1e12
	case least > 0:
		return least / 1e12
	}
	return nil
}

// waitFor returns what is waited for: wait/synch/mutex main.mu.
func (v *view) waitFor(kind uint32, object uint64) string {
	return strings.TrimSuffix(v.Function(kind).Instrument()+" "+v.ObjectName(kind, object, true), " ")
}

// waitsFor returns what a goroutine waits for.
func (v *view) waitsFor(t *source.Thread) string {
	if t.Waiting == nil {
		return t.Stopped
	}
	return v.waitFor(t.Waiting.Function, t.Waiting.Object)
}

// innermost returns the innermost call, statement or stage under way.
func (v *view) innermost(t *source.Thread) string {
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
func (v *view) entry(t *source.Thread) string {
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
func (v *view) functionOr(key uint32, none string) string {
	if key == 0 {
		return none
	}
	return v.Function(key).Instrument()
}

// A variable is one of SHOW STATUS or SHOW VARIABLES.
type variable struct{ name, value string }

var variableColumns = []column[variable]{
	text("VARIABLE_NAME", wordKind, func(_ *view, r *variable) string { return r.name }),
	text("VARIABLE_VALUE", "varchar(1024)", func(_ *view, r *variable) string { return r.value }),
}

// lostNames are what can be lost, after MySQL's names. A source has those numbers that are not 0.
var lostNames = []string{"call_classes_lost", source.LeftOut, "thread_instances_lost", "thread_classes_lost", "nested_calls_lost", "records_lost", "summary_instances_lost"}

func status(v *view) []variable {
	var rows []variable
	known := map[string]bool{}
	for _, c := range v.Lost {
		known[c.Name] = true
		rows = append(rows, variable{"Performance_schema_" + c.Name, fmt.Sprint(c.Value)})
	}
	for _, name := range lostNames {
		if !known[name] {
			rows = append(rows, variable{"Performance_schema_" + name, "0"})
		}
	}
	return sortedVariables(append(rows, v.statement.Status()...))
}

func variables(v *view) []variable {
	rows := []variable{{"performance_schema", "ON"}}
	for _, c := range v.Limits {
		rows = append(rows, variable{"performance_schema_" + c.Name, fmt.Sprint(c.Value)})
	}
	return sortedVariables(append(rows, v.statement.Variables()...))
}

func sortedVariables(rows []variable) []variable {
	slices.SortFunc(rows, func(a, b variable) int { return cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name)) })
	return slices.CompactFunc(rows, func(a, b variable) bool { return strings.EqualFold(a.name, b.name) })
}
