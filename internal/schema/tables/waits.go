package tables

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// waitTables have a row for each wait, sums of them, and what was waited for.
var waitTables = slices.Concat([]*Table{
	reading(live.LongWaits, New("events_waits_current", currentWaits, waitColumns...)),
	withParts(reading(live.LongWaits, New("events_waits_history", historyWaits, waitColumns...)), source.WaitHistoryPart),
	withParts(reading(live.LongWaits, New("events_waits_history_long", func(v *View) []source.Wait { return v.LongWaits }, waitColumns...)), source.WaitHistoryLongPart),
	withParts(reading(live.SumsOfWaits, New("events_waits_summary_global_by_event_name", func(v *View) []source.Summary { return every(v.only(v.Global, source.WaitClass), v.Waits) },
		waitSummaryColumns()...)), source.WaitGlobalPart),
	withParts(reading(live.LongWaits|live.SumsByReceiver, New("events_waits_summary_by_instance", func(v *View) []source.Summary { return v.only(v.ByInstance(), source.WaitClass) },
		waitSummaryColumns(
			id("OBJECT_INSTANCE_BEGIN", func(s *source.Summary) uint64 { return s.Object }),
			Known("OBJECT_NAME", NameKind, func(v *View, s *source.Summary) string { return v.ObjectName(s.Function, s.Object, false) }))...)), source.ByInstancePart),
	instanceTable("mutex_instances", Unsigned("LOCKED_BY_THREAD_ID", func(i *instance) uint64 { return i.holder })),
	instanceTable("rwlock_instances", Unsigned("WRITE_LOCKED_BY_THREAD_ID", func(i *instance) uint64 { return i.holder }),
		id("READ_LOCKED_BY_COUNT", func(i *instance) uint64 { return i.readers })),
	instanceTable("cond_instances"),
	instanceTable("chan_instances"),
}, summariesBy(source.WaitClass, waitSummaryColumns, source.ByThreadPart, source.ByCallerPart))

type waitKind struct{ operation, object, table, name string }

// waitKinds has, of each kind of waits, what OPERATION and OBJECT_TYPE say, the table of its
// objects, and what NAME says there.
var waitKinds = map[string]waitKind{
	"synch/mutex":        {"lock", "MUTEX", "mutex_instances", "wait/synch/mutex"},
	"synch/rwlock/read":  {"read_lock", "RWLOCK", "rwlock_instances", "wait/synch/rwlock"},
	"synch/rwlock/write": {"write_lock", "RWLOCK", "rwlock_instances", "wait/synch/rwlock"},
	"synch/cond":         {"wait", "COND", "cond_instances", "wait/synch/cond"},
	"synch/waitgroup":    {"wait", "WAITGROUP", "", ""},
	"synch/once":         {"do", "ONCE", "", ""},
	"synch/semaphore":    {"acquire", "SEMAPHORE", "", ""},
	"synch/chan/receive": {"receive", "CHAN", "chan_instances", "wait/synch/chan"},
	"synch/chan/send":    {"send", "CHAN", "chan_instances", "wait/synch/chan"},
	"synch/select":       {"select", "CHAN", "chan_instances", "wait/synch/chan"},
	"sleep":              {"sleep", "", "", ""},
	"io/file":            {"poll", "FILE", "file_instances", "wait/io/file"},
	"io/pipe":            {"poll", "PIPE", "file_instances", "wait/io/pipe"},
	"io/socket":          {"poll", "SOCKET", "socket_instances", "wait/io/socket"},
	"gc/assist":          {"assist", "", "", ""},
	"gc/cycle":           {"wait", "", "", ""},
	"syscall":            {"call", "", "", ""},
	"gc/scan":            {"wait", "", "", ""},
	"gc/stw":             {"wait", "", "", ""},
	"cpu":                {"run", "", "", ""},
}

// waitKind has what waitKinds has of a kind of waits. Of files it has reads, writes and other
// operations as one.
func (v *View) waitKind(function uint32) waitKind {
	name := v.Function(function).Name
	if what, _, ok := strings.Cut(strings.TrimPrefix(name, "io/"), "/"); ok && strings.HasPrefix(name, "io/") {
		name = "io/" + what
	}
	return waitKinds[name]
}

// currentWaits returns the wait that each thread is in, or its last one if it is in none. Of a
// running program it also has those of goroutines that stopped before their kind was enabled.
func currentWaits(v *View) []source.Wait {
	stopped := map[uint64]*source.State{}
	if v.States != nil && v.Consumers&source.WaitCurrent != 0 {
		states := processlist(v)
		for i := range states {
			if s := &states[i]; s.Wait != 0 && v.Function(s.Wait).Enabled {
				stopped[s.Thread] = s
			}
		}
	}
	var rows []source.Wait
	for i := range v.Threads {
		t := &v.Threads[i]
		s := stopped[t.ID]
		delete(stopped, t.ID)
		switch n := len(t.Waits); {
		case t.Waiting != nil:
			rows = append(rows, v.told(*t.Waiting, s))
		case s != nil:
			w := waitOf(s)
			w.Nesting, w.Level = t.Innermost, t.Level
			rows = append(rows, w)
		case n > 0:
			rows = append(rows, t.Waits[n-1])
		}
	}
	for _, thread := range slices.Sorted(maps.Keys(stopped)) {
		rows = append(rows, waitOf(stopped[thread]))
	}
	return rows
}

// told returns a wait under way with what the list of goroutines has of it: where it is, and, if it
// is for a mutex, what that is in. It is as it was if s is nil, or the goroutine has gone on since.
func (v *View) told(w source.Wait, s *source.State) source.Wait {
	if s == nil || s.Object != w.Object {
		return w
	}
	switch name := v.Function(s.Wait).Name; {
	case s.Wait == w.Function:
	case v.Function(w.Function).Name == "synch/mutex" && (name == "synch/rwlock/write" || name == "synch/once"):
	default:
		return w
	}
	w.Function, w.Source, w.Object, w.Others = s.Wait, s.Source, s.Awaits()[0], s.Awaits()[1:]
	return w
}

// waitOf returns the wait that a goroutine is in. It has no number.
func waitOf(s *source.State) source.Wait {
	return source.Wait{Event: source.Event{Thread: s.Thread, Function: s.Wait, Timed: s.Since >= 0, Inside: true, Start: s.Since}, Runnable: -1, Object: s.Awaits()[0], Others: s.Awaits()[1:], Source: s.Source}
}

func historyWaits(v *View) []source.Wait {
	var rows []source.Wait
	for i := range v.Threads {
		rows = append(rows, v.Threads[i].Waits...)
	}
	return rows
}

var (
	waitEvents  = eventColumns(Unsigned("EVENT_ID", func(w *source.Wait) uint64 { return w.ID }), Known("SOURCE", NameKind, func(_ *View, w *source.Wait) string { return w.Source }))
	waitNesting = nestingColumns[source.Wait]()
)

var waitColumns = slices.Concat(waitEvents, []Column[source.Wait]{
	Null[source.Wait]("SPINS", "int unsigned"),
	Known("OBJECT_SCHEMA", NameKind, func(v *View, w *source.Wait) string { return v.objectPackage(w) }),
	Known("OBJECT_NAME", NameKind, func(v *View, w *source.Wait) string { return v.ObjectName(w.Function, w.Object, w.Inside) }),
	Null[source.Wait]("INDEX_NAME", NameKind),
	Known("OBJECT_TYPE", WordKind, func(v *View, w *source.Wait) string { return v.waitKind(w.Function).object }),
	Unsigned("OBJECT_INSTANCE_BEGIN", func(w *source.Wait) uint64 { return w.Object }),
}, waitNesting[:2], []Column[source.Wait]{
	Text("OPERATION", WordKind, func(v *View, w *source.Wait) string {
		if w.Operation != 0 {
			return w.Operation.Name()
		}
		return v.waitKind(w.Function).operation
	}),
	{Head{Name: "NUMBER_OF_BYTES", Kind: "bigint", Null: true}, func(_ *View, w *source.Wait) value {
		if n, ok := w.Operation.Bytes(); ok && !w.Inside {
			return int64(n)
		}
		return nil
	}},
	Null[source.Wait]("FLAGS", "int unsigned"),
	moment("TIMER_RUNNABLE", func(w *source.Wait) (int64, bool) { return w.Runnable, w.Timed && !w.Inside && w.Runnable >= 0 }),
	Unsigned("ENDED_BY_THREAD_ID", func(w *source.Wait) uint64 { return w.Ender.Thread }),
	Known("ENDED_BY_EVENT_NAME", NameKind, func(v *View, w *source.Wait) string { return v.functionOr(w.Ender.Function, "") }),
	Unsigned("ENDED_BY_CALL", func(w *source.Wait) uint64 { return w.Ender.Call }),
	Known("OTHER_INSTANCES", NameKind, func(_ *View, w *source.Wait) string { return addresses(w.Others) }),
	Known("OTHER_NAMES", TextKind, func(v *View, w *source.Wait) string {
		names := make([]string, len(w.Others))
		for i, channel := range w.Others {
			names[i] = cmp.Or(v.ObjectName(w.Function, channel, w.Inside), fmt.Sprintf("%#x", channel))
		}
		return strings.Join(names, ", ")
	}),
	waitNesting[2],
	alias("EVENTS_WAITS_ID", waitEvents[1]),
	alias("EVENTS_WAITS_NAME", waitEvents[3]),
	alias("WAIT_CONNECTION_ID", waitEvents[0]),
	alias("WAIT_TIME", waitEvents[7]),
})

// addresses returns addresses as OBJECT_INSTANCE_BEGIN has them, for FIND_IN_SET.
func addresses(list []uint64) string {
	var b []byte
	for i, address := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, address, 10)
	}
	return string(b)
}

// waitSummaryColumns are those of MySQL, and how much of the time goroutines could run.
func waitSummaryColumns(by ...Column[source.Summary]) []Column[source.Summary] {
	all := summaryColumns(by...)
	return append(all[:slices.IndexFunc(all, func(c Column[source.Summary]) bool { return c.Name == "MAX_TIMER_WAIT" })+1],
		Number("SUM_TIMER_RUNNABLE", func(s *source.Summary) int64 { return s.Sum - s.Self }))
}

// objectPackage returns the package of what a wait was for, "" if it is not known.
func (v *View) objectPackage(w *source.Wait) string {
	if strings.HasPrefix(v.Function(w.Function).Name, "io/") {
		return ""
	}
	return packageOf(v.ObjectName(w.Function, w.Object, w.Inside))
}

// packageOf returns the package of a variable or function, "" if the name has none.
func packageOf(full string) string {
	path := strings.LastIndexByte(full, '/') + 1
	dot := strings.IndexByte(full[path:], '.')
	if dot < 0 {
		return ""
	}
	return full[:path+dot]
}

// An instance is an object for which goroutines waited.
type instance struct {
	name    string
	object  uint64
	called  string // "" if it is not known
	waiting int    // goroutines that wait for it
	thread  uint64 // which waited for it last, 0: that is not known
	source  string // where that was, file:line; "": that is not known
	open    int    // of a running program: 1 if the descriptor is still that file
	holder  uint64 // the thread that holds it, and not for reading; 0: none does, or it is not known
	readers uint64 // how often it is held for reading
}

// instanceTable returns a table of objects of which some wait is known, or that someone holds.
func instanceTable(name string, more ...Column[instance]) *Table {
	columns := append([]Column[instance]{
		Text("NAME", NameKind, func(v *View, i *instance) string { return i.name }),
		id("OBJECT_INSTANCE_BEGIN", func(i *instance) uint64 { return i.object }),
	}, more...)
	return reading(live.LongWaits|live.SumsByReceiver, New(name, func(v *View) []instance { return v.instances(name) }, append(columns,
		Known("OBJECT_NAME", NameKind, func(_ *View, i *instance) string { return i.called }),
		Number("WAITING_THREADS", func(i *instance) int64 { return int64(i.waiting) }),
		Known("SOURCE", NameKind, func(_ *View, i *instance) string { return i.source }),
	)...))
}

// instances returns the objects of a table, of which some wait is in the snapshot, or a holder is
// known.
func (v *View) instances(table string) []instance {
	seen := map[uint64]*instance{}
	add := func(kind uint32, object, thread uint64, source string, waiting int) {
		of := v.waitKind(kind)
		if object == 0 || of.table != table {
			return
		}
		if seen[object] == nil {
			seen[object] = &instance{name: of.name, object: object, called: v.ObjectName(kind, object, true)}
			if i := seen[object]; v.File != nil && strings.HasPrefix(of.name, "wait/io/") && v.File(object&format.ObjectDescriptor) == i.called {
				i.open = 1
			}
		}
		seen[object].waiting += waiting
		seen[object].thread = cmp.Or(thread, seen[object].thread)
		seen[object].source = cmp.Or(source, seen[object].source)
	}
	ended := func(w *source.Wait) {
		add(w.Function, w.Object, w.Thread, w.Source, 0)
		for _, object := range w.Others {
			add(w.Function, object, w.Thread, w.Source, 0)
		}
	}
	for i := range v.LongWaits {
		ended(&v.LongWaits[i])
	}
	states := processlist(v)
	told := map[uint64]*source.State{}
	for i := range states {
		told[states[i].Thread] = &states[i]
	}
	current := map[uint64]bool{} // threads whose wait under way is in the snapshot
	for i := range v.Threads {
		t := &v.Threads[i]
		for j := range t.Waits {
			ended(&t.Waits[j])
		}
		if t.Waiting != nil && t.Waiting.Object != 0 {
			w := v.told(*t.Waiting, told[t.ID])
			current[t.ID] = true
			for _, object := range append([]uint64{w.Object}, w.Others...) {
				add(w.Function, object, t.ID, w.Source, 1)
			}
		}
	}
	for i := range states {
		s := &states[i]
		if current[s.Thread] {
			continue // it may have gone on since then, but the tables of events have its wait
		}
		for _, object := range s.Awaits() {
			add(s.Wait, object, s.Thread, s.Source, 1)
		}
	}
	for _, s := range v.only(v.ByInstance(), source.WaitClass) {
		add(s.Function, s.Object, 0, "", 0)
	}
	v.addHolders(table, seen)
	rows := make([]instance, 0, len(seen))
	for _, address := range slices.Sorted(maps.Keys(seen)) {
		rows = append(rows, *seen[address])
	}
	return rows
}
