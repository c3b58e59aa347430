package schema

import (
	"maps"
	"reflect"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
)

// TestReading: a table has the same rows where the snapshot has no more than the table reads.
func TestReading(t *testing.T) {
	kinds := []source.Function{{Key: 1, Package: "main", Name: "f"}}
	waits := []source.Function{{Key: 2, Wait: true, Package: "wait", Name: "synch/mutex"}, {Key: 3, Wait: true, Package: "wait", Name: "io/file/read"}, {Key: 4, Wait: true, Package: "wait", Name: "io/socket/read"},
		{Key: 8, Wait: true, Package: "wait", Name: "synch/rwlock/read"}, {Key: 9, Wait: true, Package: "wait", Name: "synch/cond"}, {Key: 10, Wait: true, Package: "wait", Name: "synch/chan/send"}}
	spans := []source.Function{{Key: 5, Span: true, Package: "statement", Name: "sql/query"}, {Key: 6, Span: true, Package: "stage", Name: "http/server"}}
	probes := []source.Function{{Key: 7, Probe: true, Package: "tcp", Name: "send"}}
	whole := func(of live.Contents) *source.Snapshot {
		var sums []source.Summary
		for key := uint32(1); key <= 10; key++ {
			sums = append(sums, source.Summary{Function: key, Thread: 1, Caller: 1, Object: uint64(key) << 8, Count: 3, Buckets: []uint64{1, 2}})
		}
		all := func() []source.Summary { return sums }
		s := &source.Snapshot{Functions: kinds, Waits: waits, Kinds: spans, Probes: probes, Global: sums, ByThread: all, ByCaller: all, ByInstance: all, History: 10,
			Long: []source.Call{{Event: source.Event{Thread: 1, ID: 1, Function: 1}}}, LongWaits: []source.Wait{{Event: source.Event{Thread: 1, ID: 2, Function: 2}, Object: 0x900, Place: "main.f a.go:1"}, {Event: source.Event{Thread: 1, ID: 3, Function: 10}, Object: 0x901}},
			Threads: []source.Thread{{ID: 1, Waits: []source.Wait{{Event: source.Event{Thread: 1, ID: 2, Function: 2}, Object: 0x900}}}}}
		s.Locks = func() (source.Locks, error) {
			return source.Locks{Holders: []source.Holder{{Object: 0x900, Mode: "LOCK", Thread: 1}}, Findings: []source.Finding{{Kind: "LONG", Objects: [2]uint64{0x900}}}}, nil
		}
		s.Name = func(address uint64) string { // as that of a running program has it
			for _, w := range s.LongWaits {
				if w.Object == address {
					return w.Place
				}
			}
			return ""
		}
		s.Statements = func() (source.Statements, error) { // what the rings have, which is not shown if the core knows of any statement
			one := []source.Statement{{Event: source.Event{Thread: 1, ID: 4}}}
			return source.Statements{Current: one, History: one, Long: one, Digests: []source.StatementSummary{{}}}, nil
		}
		leaveOut(s, of)
		return s
	}
	session := open(t, newFake("p"))
	rows := func(table *tables.Table, of live.Contents) (list [][]value) {
		set := table.Rows(&tables.View{Source: newFake("p"), Statement: underWay{session}, Snapshot: whole(of)})
		for i := range set.Len() {
			var row []value
			for c := range table.Columns {
				row = append(row, set.At(i, c))
			}
			list = append(list, row)
		}
		return list
	}
	read := live.Contents(0)
	for _, tables := range []map[string]*tables.Table{tables.Performance, sysTables()} {
		for name, table := range maps.All(tables) {
			if table.Rows == nil {
				continue
			}
			got, want := rows(table, table.Reads), rows(table, live.AllContents)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, and with all of the snapshot %v", name, got, want)
			}
			if table.Reads != 0 && reflect.DeepEqual(want, rows(table, 0)) {
				t.Errorf("%s reads %b, and has the same rows without: %v", name, table.Reads, want)
			}
			read |= table.Reads
		}
	}
	if read != live.AllContents {
		t.Errorf("the tables read %b", read)
	}
}
