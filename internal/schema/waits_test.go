package schema

import "testing"

// newWaiting returns a process with kinds of waits, and with three threads. Thread 1 waits in a
// call, thread 2 has waited twice, thread 3 has never waited.
func newWaiting() *fake {
	f := newFake("app")
	for i, name := range []string{"synch/mutex", "synch/rwlock/read", "synch/rwlock/write", "io/socket"} {
		f.waits = append(f.waits, Function{Key: uint32(101 + i), Wait: true, Package: "wait", Name: name, Flags: Flags{Enabled: true, Timed: true}})
	}
	f.clock = 5e12
	long := []Wait{
		{Thread: 2, ID: 2, EndID: 2, Nesting: 1, Level: 1, Function: 101, Timed: true, Start: 10, End: 30, Runnable: 4, Object: 0x5000, Source: "/src/a.go:7", Ender: Ender{1, 1, 9}},
		{Thread: 2, ID: 3, EndID: 3, Nesting: 1, Level: 1, Function: 104, Timed: true, Start: 40, End: 41, Runnable: -1, Object: 7},
	}
	f.longWaits = long
	f.threads[1] = &Thread{ID: 1, Current: []Call{{Thread: 1, ID: 1, Function: 1, Inside: true, Timed: true, Start: 5}},
		Waiting: &Wait{Thread: 1, ID: 2, Nesting: 1, Level: 1, Function: 101, Timed: true, Inside: true, Start: 2e12, Runnable: -1, Object: 0x5000}}
	f.threads[2] = &Thread{ID: 2, Waits: long}
	f.threads[3] = &Thread{ID: 3}
	f.global[101] = &Summary{Function: 101, Count: 1, Timed: 1, Sum: 20, Min: 20, Max: 20, Self: 20, Buckets: new([64]uint64)}
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
		"SELECT EVENT_NAME, TIMER_WAIT, TIMER_RUNNABLE, OBJECT_SCHEMA, OBJECT_NAME, OBJECT_TYPE, OBJECT_INSTANCE_BEGIN, ENDED_BY_THREAD_ID, ENDED_BY_EVENT_NAME, ENDED_BY_CALL FROM events_waits_history_long": `wait/synch/mutex|20|4|main|mu|MUTEX|20480|1|call/main/main|9
wait/io/socket|1|NULL|NULL|fd 7|SOCKET|7|NULL|NULL|NULL
`,
		"SELECT EVENTS_WAITS_ID, EVENTS_WAITS_NAME, WAIT_TIME, WAIT_CONNECTION_ID FROM events_waits_history":                                                         "2|wait/synch/mutex|20|2\n3|wait/io/socket|1|2\n",
		"SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM events_waits_summary_global_by_event_name":                                                               "wait/synch/mutex|1|20\nwait/synch/rwlock/read|0|0\nwait/synch/rwlock/write|0|0\nwait/io/socket|0|0\n",
		"SELECT THREAD_ID, EVENT_ID FROM events_calls_current":                                                                                                       "1|1\n",
		"SELECT COUNT(*), SUM(EVENT_NAME LIKE 'wait%') FROM events_calls_summary_global_by_event_name":                                                               "5|0\n",
		"SELECT COUNT(*) FROM events_calls_histogram_global":                                                                                                         "0\n",
		"SELECT NAME, OBJECT_INSTANCE_BEGIN, OBJECT_NAME, WAITING_THREADS FROM mutex_instances":                                                                      "wait/synch/mutex|20480|main.mu|1\n",
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
	change("UPDATE SETUP_CONSUMERS SET ENABLED='No' WHERE NAME<>'EVENTS_WAITS';", int64(len(consumerNames)-3))
	if in := f.consumers.InForce(); in&^(GlobalInstrumentation|ThreadInstrumentation) != WaitCurrent {
		t.Errorf("in force is not events_waits_current alone: %b", in)
	}
	change("UPDATE SETUP_CONSUMERS SET ENABLED='YES' WHERE NAME='EVENTS_WAITS_HISTORY'", 1)
	if f.consumers.InForce()&WaitHistory == 0 {
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
