package tables

import (
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// lockTables have who holds which lock, and what is wrong with how locks are held.
var lockTables = []*Table{
	reading(live.LongWaits, New("lock_holders", func(v *View) []source.Holder { return v.locks().Holders },
		id("OBJECT_INSTANCE_BEGIN", func(h *source.Holder) uint64 { return h.Object }),
		Known("OBJECT_NAME", NameKind, func(v *View, h *source.Holder) string { return v.lockName(h.Object) }),
		Text("LOCK_MODE", WordKind, func(_ *View, h *source.Holder) string { return h.Mode }),
		id("OWNER_THREAD_ID", func(h *source.Holder) uint64 { return h.Thread }),
		moment("TIMER_HELD", func(h *source.Holder) (int64, bool) { return h.Held, true }),
		Known("OWNER_EVENT_NAME", NameKind, func(v *View, h *source.Holder) string { return v.functionOr(h.Function, "") }),
		Unsigned("OWNER_CALL", func(h *source.Holder) uint64 { return h.Call }),
		Known("SOURCE", NameKind, func(_ *View, h *source.Holder) string { return h.Source }))),
	reading(live.LongWaits, New("lock_findings", func(v *View) []source.Finding { return v.locks().Findings }, append([]Column[source.Finding]{
		Text("FINDING", WordKind, func(_ *View, f *source.Finding) string { return f.Kind }),
		id("COUNT_STAR", func(f *source.Finding) uint64 { return f.Count }),
		moment("MAX_TIMER_WAIT", func(f *source.Finding) (int64, bool) { return f.Lasted, f.Kind == "LONG" }),
		id("OBJECT_INSTANCE_BEGIN", func(f *source.Finding) uint64 { return f.Objects[0] }),
		Known("OBJECT_NAME", NameKind, func(v *View, f *source.Finding) string { return v.lockName(f.Objects[0]) }),
		id("OTHER_INSTANCE_BEGIN", func(f *source.Finding) uint64 { return f.Objects[1] }),
		Known("OTHER_NAME", NameKind, func(v *View, f *source.Finding) string { return v.lockName(f.Objects[1]) }),
	}, append(actColumns("", 1), actColumns("OTHER_", 0)...)...)...)),
}

// actColumns are those of the nth act of a finding.
func actColumns(prefix string, n int) []Column[source.Finding] {
	return []Column[source.Finding]{
		Unsigned(prefix+"THREAD_ID", func(f *source.Finding) uint64 { return f.Acts[n].Thread }),
		Known(prefix+"EVENT_NAME", NameKind, func(v *View, f *source.Finding) string { return v.functionOr(f.Acts[n].Function, "") }),
		Unsigned(prefix+"CALL", func(f *source.Finding) uint64 { return f.Acts[n].Call }),
		Known(prefix+"SOURCE", NameKind, func(_ *View, f *source.Finding) string { return f.Acts[n].Held }),
		Known(prefix+"THEN_SOURCE", NameKind, func(_ *View, f *source.Finding) string { return f.Acts[n].Took }),
	}
}

// locks returns who holds locks, and findings.
func (v *View) locks() (l source.Locks) {
	if v.Locks == nil {
		return l
	}
	l, err := v.Locks()
	if err != nil {
		v.Statement.Fail(err)
	}
	return l
}

func (v *View) lockName(object uint64) string {
	if v.Name == nil {
		return ""
	}
	return v.Name(object)
}

// addHolders adds who holds the objects of a table, and those that someone holds.
func (v *View) addHolders(table string, to map[uint64]*instance) {
	for _, h := range v.locks().Holders {
		i := to[h.Object]
		if name := map[bool]string{true: "mutex", false: "rwlock"}[h.Mode == "LOCK"]; i == nil && table == name+"_instances" {
			i = &instance{name: "wait/synch/" + name, object: h.Object, called: v.lockName(h.Object)}
			to[h.Object] = i
		}
		switch {
		case i == nil:
		case h.Mode == "READ":
			i.readers++
		case h.Mode == "LOCK" && table == "rwlock_instances": // it waits for readers
		default:
			i.holder = h.Thread
		}
	}
}
