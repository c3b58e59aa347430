package schema

import (
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// newWaiting returns a process with kinds of waits, and with three threads. Thread 1 waits in a
// call, thread 2 has waited twice, thread 3 has never waited.
func newWaiting() *fake {
	f := newFake("app")
	for i, name := range []string{"synch/mutex", "synch/rwlock/read", "synch/rwlock/write", "io/socket"} {
		f.waits = append(f.waits, source.Function{Key: uint32(101 + i), Wait: true, Package: "wait", Name: name, Flags: source.Flags{Enabled: true, Timed: true}})
	}
	f.clock = 5e12
	long := []source.Wait{
		{Event: source.Event{Thread: 2, ID: 2, EndID: 2, Nesting: 1, Level: 1, Function: 101, Timed: true, Start: 10, End: 30}, Runnable: 4, Object: 0x5000, Source: "/src/a.go:7", Ender: source.Ender{Thread: 1, Function: 1, Call: 9}},
		{Event: source.Event{Thread: 2, ID: 3, EndID: 3, Nesting: 1, Level: 1, Function: 104, Timed: true, Start: 40, End: 41}, Runnable: -1, Object: 7},
	}
	f.longWaits = long
	f.threads[1] = &source.Thread{ID: 1, Current: []source.Call{{Event: source.Event{Thread: 1, ID: 1, Function: 1, Inside: true, Timed: true, Start: 5}}},
		Waiting: &source.Wait{Event: source.Event{Thread: 1, ID: 2, Nesting: 1, Level: 1, Function: 101, Timed: true, Inside: true, Start: 2e12}, Runnable: -1, Object: 0x5000}}
	f.threads[2] = &source.Thread{ID: 2, Waits: long}
	f.threads[3] = &source.Thread{ID: 3}
	f.global[101] = &source.Summary{Function: 101, Count: 1, Timed: 1, Sum: 20, Min: 20, Max: 20, Self: 20, Buckets: make([]uint64, 64)}
	f.global[101].Buckets[5] = 1
	return f
}

// TestWaits: the tables of waits have waits, those of calls have none.
func TestWaits(t *testing.T) {
	s := open(t, newWaiting())
	for query, want := range map[string]string{
		"SELECT THREAD_ID, EVENT_ID, END_EVENT_ID, EVENT_NAME, SOURCE, TIMER_START, TIMER_END, TIMER_WAIT, NESTING_EVENT_ID, NESTING_EVENT_TYPE, OPERATION FROM events_waits_current": `1|2|NULL|wait/synch/mutex|NULL|2000000000000|NULL|NULL|1|CALL|lock
2|3|3|wait/io/socket|NULL|40|41|1|1|CALL|poll
`,
		"SELECT EVENT_NAME, TIMER_WAIT, TIMER_RUNNABLE, OBJECT_SCHEMA, OBJECT_NAME, OBJECT_TYPE, OBJECT_INSTANCE_BEGIN, ENDED_BY_THREAD_ID, ENDED_BY_EVENT_NAME, ENDED_BY_CALL FROM events_waits_history_long": `wait/synch/mutex|20|4|main|main.mu|MUTEX|20480|1|call/main/main|9
wait/io/socket|1|NULL|NULL|fd 7|SOCKET|7|NULL|NULL|NULL
`,
		"SELECT EVENTS_WAITS_ID, EVENTS_WAITS_NAME, WAIT_TIME, WAIT_CONNECTION_ID FROM events_waits_history":                                                         "2|wait/synch/mutex|20|2\n3|wait/io/socket|1|2\n",
		"SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM events_waits_summary_global_by_event_name":                                                               "wait/synch/mutex|1|20\nwait/synch/rwlock/read|0|0\nwait/synch/rwlock/write|0|0\nwait/io/socket|0|0\n",
		"SELECT THREAD_ID, EVENT_ID FROM events_calls_current":                                                                                                       "1|1\n",
		"SELECT COUNT(*), SUM(EVENT_NAME LIKE 'wait%') FROM events_calls_summary_global_by_event_name":                                                               "5|0\n",
		"SELECT COUNT(*) FROM events_calls_histogram_global":                                                                                                         "0\n",
		"SELECT NAME, OBJECT_INSTANCE_BEGIN, OBJECT_NAME, WAITING_THREADS, SOURCE FROM mutex_instances":                                                              "wait/synch/mutex|20480|main.mu|1|/src/a.go:7\n",
		"SELECT NAME, OBJECT_INSTANCE_BEGIN FROM socket_instances":                                                                                                   "wait/io/socket|7\n",
		"SELECT COUNT(*) FROM chan_instances":                                                                                                                        "0\n",
		"SELECT THREAD_ID, STATE, PROCESSLIST_STATE, PROCESSLIST_INFO FROM threads":                                                                                  "1|WAITING|wait/synch/mutex main.mu|call/main/main\n2|OUTSIDE|NULL|NULL\n3|OUTSIDE|NULL|NULL\n",
		"SELECT ID, TIME, STATE FROM processlist WHERE STATE IS NOT NULL":                                                                                            "1|3|wait/synch/mutex main.mu\n",
		"SELECT w.EVENT_NAME, c.EVENT_NAME FROM events_waits_current w JOIN events_calls_current c ON c.THREAD_ID = w.THREAD_ID AND c.EVENT_ID = w.NESTING_EVENT_ID": "wait/synch/mutex|call/main/main\n",
		"SELECT NAME FROM setup_timers":                                                                                                                              "call\nwait\n",
	} {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s: got\n%swant\n%s", query, got, want)
		}
	}
}

// TestSeedWaits runs the statements of WL#2360 about waits as they are written there.
func TestSeedWaits(t *testing.T) {
	f := newWaiting()
	s := open(t, f)
	enabled := func() string { return ask(t, s, "SELECT NAME FROM setup_instruments WHERE ENABLED = 'YES'") }
	change := func(query string, rows int64) {
		t.Helper()
		if _, r, err := try(t, s, query); err != nil || r.Affected != rows {
			t.Errorf("%s: %d rows are changed, not %d: %v", query, r.Affected, rows, err)
		}
	}
	change("UPDATE SETUP_INSTRUMENTS SET ENABLED='NO' WHERE WAIT_NAME LIKE '/Mutex/%';", 1)
	if got := enabled(); got != "wait/synch/rwlock/read\nwait/synch/rwlock/write\nwait/io/socket\n" {
		t.Errorf("without mutexes:\n%s", got)
	}
	change("UPDATE SETUP_INSTRUMENTS SET ENABLED='no' WHERE NAME LIKE '%/RWLOCK/%';", 2)
	if got := enabled(); got != "wait/io/socket\n" {
		t.Errorf("without rwlocks:\n%s", got)
	}
	change("UPDATE SETUP_TIMERS SET TIMER_NAME='MILLISECOND' WHERE NAME='Wait';", 1)
	if f.timer != "MILLISECOND" {
		t.Errorf("the timer: %s", f.timer)
	}
	change("UPDATE SETUP_CONSUMERS SET ENABLED='No' WHERE NAME<>'EVENTS_WAITS';", int64(len(source.ConsumerNames)-3))
	if in := f.consumers.InForce(); in&^(source.GlobalInstrumentation|source.ThreadInstrumentation) != source.WaitCurrent {
		t.Errorf("in force is not events_waits_current alone: %b", in)
	}
	change("UPDATE SETUP_CONSUMERS SET ENABLED='YES' WHERE NAME='EVENTS_WAITS_HISTORY'", 1)
	if f.consumers.InForce()&source.WaitHistory == 0 {
		t.Error("events_waits_history is off")
	}
	ask(t, s, "TRUNCATE TABLE PERFORMANCE_SCHEMA.EVENTS_WAITS_HISTORY;")
	if got := ask(t, s, "SELECT RESOLUTION FROM PERFORMANCE_TIMERS LIMIT 1"); got != "1\n" {
		t.Errorf("the resolution: %s", got)
	}
	ask(t, s, "USE test")
	ask(t, s, "CREATE TABLE t AS SELECT * FROM PERFORMANCE_SCHEMA.EVENTS_WAITS_CURRENT;")
	if got := ask(t, s, "SELECT COUNT(*) FROM t"); got != "1\n" {
		t.Errorf("the copy: %s", got)
	}
}

// TestInstancesOfSnapshot: an object that a thread waits for in the snapshot has it among its
// waiting threads, though the thread has gone on since.
func TestInstancesOfSnapshot(t *testing.T) {
	f := newWaiting()
	f.states = func() ([]source.State, error) {
		return []source.State{{Thread: 1, Since: -1}, {Thread: 3, Wait: 101, Object: 0x5000, Since: -1}}, nil
	}
	query := "SELECT i.WAITING_THREADS FROM events_waits_current w JOIN mutex_instances i USING (OBJECT_INSTANCE_BEGIN) WHERE w.THREAD_ID = 1"
	if got := ask(t, open(t, f), query); got != "2\n" {
		t.Errorf("got %s, want 2", got)
	}
}

// TestMutexWithin: a wait under way for a mutex is for what the mutex is in, as the list of
// goroutines has it, unless the goroutine has gone on since and waits for something else.
func TestMutexWithin(t *testing.T) {
	const query = "SELECT EVENT_NAME, SOURCE FROM events_waits_current WHERE THREAD_ID = 1; SELECT OBJECT_INSTANCE_BEGIN, WAITING_THREADS FROM rwlock_instances; SELECT WAITING_THREADS FROM mutex_instances; SELECT PROCESSLIST_STATE FROM threads WHERE THREAD_ID = 1"
	for _, test := range []struct {
		kind   uint32
		object uint64
		want   string
	}{
		{103, 0x5000, "wait/synch/rwlock/write|/src/b.go:9\n20480|1\n0\nwait/synch/rwlock/write main.mu\n"},
		{101, 0x5000, "wait/synch/mutex|/src/b.go:9\n1\nwait/synch/mutex main.mu\n"},
		{103, 0x6000, "wait/synch/mutex|NULL\n1\nwait/synch/mutex main.mu\n"},
	} {
		f := newWaiting()
		f.states = func() ([]source.State, error) {
			return []source.State{{Thread: 1, Wait: test.kind, Object: test.object, Source: "/src/b.go:9", Since: 2e12}}, nil
		}
		s, got := open(t, f), ""
		for q := range strings.SplitSeq(query, "; ") {
			got += ask(t, s, q)
		}
		if got != test.want {
			t.Errorf("%d for %#x: got\n%swant\n%s", test.kind, test.object, got, test.want)
		}
	}
}

// TestWaitsByObject: what has the same name is one row, for each kind of waits.
func TestWaitsByObject(t *testing.T) {
	f := newWaiting()
	f.waits = append(f.waits, source.Function{Key: 105, Wait: true, Package: "wait", Name: "io/file/read", Flags: source.Flags{Enabled: true, Timed: true}})
	f.fileName = func(object uint64) string { return "/tmp/x" }
	sum := func(function uint32, object, count uint64, total, most int64) source.Summary {
		return source.Summary{Function: function, Object: object, Count: count, Timed: count, Sum: total, Max: most}
	}
	f.byObject = []source.Summary{sum(1, 0x9000, 5, 5, 5), sum(101, 0x5000, 2, 30e6, 20e6), sum(101, 0x6000, 1, 3e6, 3e6), sum(103, 0x5000, 1, 1e6, 1e6), sum(105, 1<<format.ObjectFile|5, 1, 4e6, 4e6), sum(105, 2<<format.ObjectFile|6, 3, 44e6, 30e6)}
	want := `/tmp/x|wait/io/file/read|2|4|48.00 us|12.00 us|30.00 us
main.mu|wait/synch/mutex|1|2|30.00 us|15.00 us|20.00 us
NULL|wait/synch/mutex|1|1|3.00 us|3.00 us|3.00 us
main.mu|wait/synch/rwlock/write|1|1|1.00 us|1.00 us|1.00 us
`
	if got := ask(t, open(t, f), "SELECT * FROM sys.waits_by_object"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestFiles: the tables of files and sockets have operations, with bytes.
func TestFiles(t *testing.T) {
	f := newFake("app")
	for i, name := range []string{"synch/mutex", "io/file/read", "io/file/write", "io/file/misc", "io/pipe/read", "io/socket/read", "io/socket/write", "io/socket/misc"} {
		f.waits = append(f.waits, source.Function{Key: uint32(101 + i), Wait: true, Package: "wait", Name: name, Flags: source.Flags{Enabled: true, Timed: true}})
	}
	const file, socket, listener = 1<<format.ObjectFile | 5, 2<<format.ObjectFile | 6, 3<<format.ObjectFile | 7
	f.fileName = func(object uint64) string {
		return map[uint64]string{1: "/tmp/x", 2: "tcp 127.0.0.1:80->[::1]:4000", 3: "tcp [::]:80"}[object>>format.ObjectFile]
	}
	done := func(operation, bytes uint64) recording.Operation {
		return recording.Operation(operation | bytes<<format.OperationBytes)
	}
	f.longWaits = []source.Wait{
		{Event: source.Event{Thread: 2, ID: 2, EndID: 2, Function: 102, Timed: true, Start: 10, End: 30}, Runnable: -1, Object: file, Operation: done(format.OperationRead, 100)},
		{Event: source.Event{Thread: 2, ID: 3, EndID: 3, Function: 104, Timed: true, Start: 40, End: 41}, Runnable: -1, Object: file, Operation: done(format.OperationSync, 0)},
		{Event: source.Event{Thread: 3, ID: 4, EndID: 4, Function: 107, Timed: true, Start: 50, End: 57}, Runnable: -1, Object: socket, Operation: done(format.OperationSend, 0)},
		{Event: source.Event{Thread: 3, ID: 5, EndID: 5, Function: 106, Timed: true, Start: 60, End: 61}, Runnable: -1, Object: 9},
	}
	f.threads[1] = &source.Thread{ID: 1, Waiting: &source.Wait{Event: source.Event{Thread: 1, ID: 2, Function: 108, Timed: true, Inside: true, Start: 2}, Object: listener, Operation: done(format.OperationAccept, 0)}}
	sum := func(function uint32, object, count, bytes uint64, least, most int64) source.Summary {
		return source.Summary{Function: function, Object: object, Count: count, Timed: count, Sum: least + most, Min: least, Max: most, Bytes: bytes}
	}
	for _, s := range []source.Summary{sum(102, 0, 2, 300, 5, 9), sum(103, 0, 2, 7, 3, 4), sum(104, 0, 2, 0, 1, 2), sum(106, 0, 2, 40, 6, 8)} {
		f.global[s.Function] = &s
	}
	f.byObject = []source.Summary{sum(101, 0x5000, 2, 0, 1, 1), sum(102, file, 2, 300, 5, 9), sum(103, file+1, 2, 7, 3, 4), sum(106, socket, 2, 40, 6, 8)}
	s := open(t, f)
	for query, want := range map[string]string{
		"SELECT EVENT_NAME, OBJECT_TYPE, OBJECT_NAME, OPERATION, NUMBER_OF_BYTES FROM events_waits_history_long":                                              "wait/io/file/read|FILE|/tmp/x|read|100\nwait/io/file/misc|FILE|/tmp/x|sync|NULL\nwait/io/socket/write|SOCKET|tcp 127.0.0.1:80->[::1]:4000|send|0\nwait/io/socket/read|SOCKET|fd 9|poll|NULL\n",
		"SELECT OPERATION, OBJECT_NAME FROM events_waits_current":                                                                                             "accept|tcp [::]:80\n",
		"SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT, MIN_TIMER_WAIT, AVG_TIMER_WAIT, MAX_TIMER_WAIT FROM file_summary_by_event_name":                       "wait/io/file|6|24|1|4|9\nwait/io/pipe|0|0|0|0|0\n",
		"SELECT COUNT_READ, SUM_TIMER_READ, MIN_TIMER_READ, AVG_TIMER_READ, MAX_TIMER_READ, SUM_NUMBER_OF_BYTES_READ FROM file_summary_by_event_name LIMIT 1": "2|14|5|7|9|300\n",
		"SELECT COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, COUNT_MISC, SUM_TIMER_MISC, MAX_TIMER_MISC FROM file_summary_by_event_name LIMIT 1":                   "2|7|2|3|2\n",
		"SELECT FILE_NAME, EVENT_NAME, OBJECT_INSTANCE_BEGIN, COUNT_STAR, SUM_NUMBER_OF_BYTES_READ, SUM_NUMBER_OF_BYTES_WRITE FROM file_summary_by_instance":  "/tmp/x|wait/io/file|4294967301|4|300|7\n",
		"SELECT EVENT_NAME, COUNT_READ, SUM_NUMBER_OF_BYTES_READ, COUNT_WRITE FROM socket_summary_by_event_name":                                              "wait/io/socket|2|40|0\n",
		"SELECT EVENT_NAME, OBJECT_INSTANCE_BEGIN, OBJECT_NAME, SUM_NUMBER_OF_BYTES_READ FROM socket_summary_by_instance":                                     "wait/io/socket|8589934598|tcp 127.0.0.1:80->[::1]:4000|40\n",
		"SELECT FILE_NAME, EVENT_NAME FROM file_instances":                                                                                                    "/tmp/x|wait/io/file\n/tmp/x|wait/io/file\n",
		"SELECT EVENT_NAME, THREAD_ID, SOCKET_ID, IP, PORT, STATE FROM socket_instances":                                                                      "wait/io/socket|3|9|NULL|NULL|IDLE\nwait/io/socket|3|6|::1|4000|IDLE\nwait/io/socket|1|7|::|80|ACTIVE\n",
	} {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s: got\n%swant\n%s", query, got, want)
		}
	}
}
