package schema

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
)

// Each of these is a rule of WL#2360, whose section is named.

// TestSeedStatements runs the statements of "EXAMPLES OF STATEMENTS", adapted in names alone.
func TestSeedStatements(t *testing.T) {
	f := newFake("app")
	s := open(t, f)
	enabled := func() string { return ask(t, s, "SELECT GROUP_CONCAT(ENABLED SEPARATOR ',') FROM SETUP_INSTRUMENTS") }

	if got, want := ask(t, s, "SELECT * FROM SETUP_INSTRUMENTS;"), `call/main/main|NO|NO
call/main/Pool.Get|NO|NO
call/net/http/Client.Do|NO|NO
call/example.com/mutex/Lock|NO|NO
call/example.com/mutex/Lock.func1|NO|NO
`; got != want {
		t.Errorf("at start all instruments are disabled, but:\n%s", got)
	}
	ask(t, s, "UPDATE SETUP_INSTRUMENTS SET ENABLED='YES'")
	ask(t, s, "UPDATE SETUP_CONSUMERS SET ENABLED='YES'")
	if got := enabled(); got != "YES,YES,YES,YES,YES\n" {
		t.Errorf("all on: %s", got)
	}
	ask(t, s, "UPDATE SETUP_INSTRUMENTS SET ENABLED='no' WHERE NAME LIKE '%/MUTEX/%';")
	if got := enabled(); got != "YES,YES,YES,NO,NO\n" {
		t.Errorf("without mutexes: %s", got)
	}
	ask(t, s, "CREATE TABLE test.SAVED_SETTINGS AS SELECT * FROM SETUP_INSTRUMENTS;")
	ask(t, s, "UPDATE SETUP_INSTRUMENTS SET ENABLED='NO', TIMED='yes'")
	if got := enabled(); got != "NO,NO,NO,NO,NO\n" {
		t.Errorf("all off: %s", got)
	}
	ask(t, s, `UPDATE SETUP_INSTRUMENTS x
		SET ENABLED=(SELECT ENABLED FROM test.SAVED_SETTINGS y WHERE x.NAME=y.NAME);`)
	if got := enabled(); got != "YES,YES,YES,NO,NO\n" {
		t.Errorf("restored: %s", got)
	}
	ask(t, s, "UPDATE SETUP_CONSUMERS SET ENABLED='No' WHERE NAME<>'EVENTS_CALLS_CURRENT';")
	if f.consumers != source.Current|source.GlobalInstrumentation|source.ThreadInstrumentation {
		t.Errorf("every consumer but one and what it needs is off: %b", f.consumers)
	}
	ask(t, s, "INSERT INTO SETUP_ACTORS VALUES ('%main', 'tenant=%', 'NO'); ")
	if len(f.actors) != 2 || f.actors[1].Pattern != [3]string{"%main", "tenant=%"} || f.actors[1].Enabled {
		t.Errorf("actors: %+v", f.actors)
	}
	ask(t, s, "UPDATE SETUP_INSTRUMENTS SET Timed='no';")
	ask(t, s, "UPDATE SETUP_TIMERS SET TIMER_NAME='MILLISECOND' WHERE NAME='Call';")
	if got := ask(t, s, "SELECT * FROM SETUP_TIMERS"); got != "call|MILLISECOND\nwait|MILLISECOND\n" || f.timer != "MILLISECOND" {
		t.Errorf("the timer: %s", got)
	}
	if _, _, err := try(t, s, "UPDATE SETUP_TIMERS SET TIMER_NAME='NONE'"); err == nil || err.Number != mysqlerr.Truncated {
		t.Errorf("there always is a timer: %v", err)
	}
}

// TestChangesAreImmediate: "If you set a flag for another user, there's almost no delay enabling
// it."
func TestChangesAreImmediate(t *testing.T) {
	f := newFake("app")
	s := open(t, f)
	f.call(1, 1, 100, "")
	ask(t, s, "UPDATE setup_instruments SET ENABLED='YES' WHERE NAME='call/main/main'")
	f.call(1, 1, 100, "")
	f.call(1, 2, 100, "")
	ask(t, s, "UPDATE setup_instruments SET TIMED='YES' WHERE NAME='call/main/main'")
	f.call(1, 1, 100, "broken")
	if got, want := ask(t, s, "SELECT EVENT_NAME, TIMER_START, TIMER_END, TIMER_WAIT, ARGS, ERROR FROM events_calls_history ORDER BY EVENT_ID"),
		"call/main/main|NULL|NULL|NULL|n=1|NULL\ncall/main/main|100|200|100|n=1|broken\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got, want := ask(t, s, "SELECT COUNT_STAR, SUM_TIMER_WAIT, AVG_TIMER_WAIT, SUM_ERRORS FROM events_calls_summary_global_by_event_name WHERE EVENT_NAME = 'CALL/MAIN/MAIN'"),
		"2|100|100|1\n"; got != want {
		t.Errorf("the summary: got %s want %s", got, want)
	}
}

// TestRefused: what can't be done, with the numbers that MySQL has.
func TestRefused(t *testing.T) {
	f := newFake("app")
	s := open(t, f)
	for query, number := range map[string]uint16{
		"SELECT 1 +":                                                           1064,
		"UPDATE setup_instruments SET NAME='x'":                                1683,
		"UPDATE setup_instruments SET NAME=NAME":                               1683,
		"UPDATE setup_instruments SET ENABLED='YES', NAME='x' WHERE 0":         1683,
		"UPDATE setup_consumers SET NAME='x'":                                  1683,
		"UPDATE setup_timers SET NAME='x'":                                     1683,
		"UPDATE setup_instruments SET PROCESS='x'":                             1683,
		"UPDATE setup_instruments SET WAIT_NAME='x'":                           1683,
		"UPDATE setup_instruments SET WAIT='x'":                                1054,
		"UPDATE setup_instruments SET ENABLED='maybe'":                         1265,
		"UPDATE setup_instruments SET ENABLED=NULL":                            1048,
		"UPDATE events_calls_current SET EVENT_ID=1":                           1142,
		"UPDATE performance_timers SET TIMER_NAME='CYCLE'":                     1142,
		"INSERT INTO setup_instruments VALUES ('x','YES','YES')":               1142,
		"REPLACE INTO setup_actors VALUES ('x','YES')":                         1142,
		"DELETE FROM setup_consumers":                                          1142,
		"DELETE FROM performance_schema.events_calls_history":                  1142,
		"TRUNCATE TABLE setup_instruments":                                     1142,
		"TRUNCATE performance_timers":                                          1142,
		"DROP TABLE setup_instruments":                                         1142,
		"DROP TABLE IF EXISTS performance_schema.threads":                      1142,
		"ALTER TABLE setup_instruments ADD COLUMN x INT":                       1142,
		"CREATE TABLE x (a INT)":                                               1142,
		"CREATE TABLE performance_schema.x AS SELECT 1":                        1142,
		"CREATE INDEX i ON setup_instruments (NAME)":                           1142,
		"LOCK TABLES setup_instruments READ":                                   1142,
		"DROP DATABASE performance_schema":                                     1044,
		"CREATE DATABASE test":                                                 1007,
		"SELECT * FROM nosuch":                                                 1146,
		"SELECT * FROM test.nosuch":                                            1146,
		"SELECT * FROM nosuch.threads":                                         1146,
		"TRUNCATE nosuch":                                                      1146,
		"DESCRIBE nosuch":                                                      1146,
		"SHOW TABLES FROM nosuch":                                              1049,
		"USE nosuch":                                                           1049,
		"SELECT nosuch FROM threads":                                           1054,
		"SELECT @@nosuch":                                                      1193,
		"SET nosuch = 1":                                                       1193,
		"SET GLOBAL performance_schema = 0":                                    1238,
		"SELECT nosuch(1)":                                                     1305,
		"SELECT * FROM threads t JOIN events_calls_history h ON THREAD_ID = 1": 1052,
		"SELEC 1":                                                1064,
		"SELECT 1 FRO threads":                                   1064,
		"SELECT 'open":                                           1064,
		"SELECT 1; SELECT 2":                                     1064,
		"SET @a = 1,":                                            1064,
		"SHOW WARNINGS LIKE 'a'":                                 1064,
		"DESCRIBE threads NAME NAME":                             1064,
		"SELECT @a := @b := @b + 1":                              1235,
		"SELECT * FROM (SELECT 1, 2) AS v (a)":                   1353,
		"SELECT * FROM (SELECT 1, 2) AS v (a, A)":                1060,
		"SELECT * FROM (SELECT 1, 2) (a, b)":                     1064,
		"SELECT * FROM threads AS t (a)":                         1064,
		"WITH v (a) AS (SELECT 1, 2) SELECT * FROM v":            1353,
		"WITH v (a, a) AS (SELECT 1, 2) SELECT 1":                1060,
		"CREATE TABLE test.x (a INT PRIMARY KEY AUTO_INCREMENT)": 1235,
		"WITH x AS (SELECT 1) DELETE FROM setup_actors":          1235,
		"SELECT":                    1064,
		"":                          1065,
		"GRANT ALL ON *.* TO x":     1290,
		"ATTACH '/etc/passwd' AS p": 1064,
		"PRAGMA table_list":         1064,
		"CREATE VIRTUAL TABLE test.x USING ftrace(1,'performance_schema','threads')": 1235,
		"CREATE TRIGGER test.x AFTER INSERT ON setup_actors BEGIN SELECT 1; END":     1064,
		"CREATE TEMPORARY TABLE performance_schema.x (a INT)":                        1142,
	} {
		if _, _, err := try(t, s, query); err == nil || err.Number != number {
			t.Errorf("%s: got %v, want error %d", query, err, number)
		}
	}
	if n := len(f.functions); n != 5 || f.functions[0].Name != "main" {
		t.Errorf("something was changed: %+v", f.functions)
	}
}

// TestTruncate: "It is possible to clear any history table with a TRUNCATE statement."
func TestTruncate(t *testing.T) {
	f := newFake("app")
	s := open(t, f)
	ask(t, s, "UPDATE setup_instruments SET ENABLED='YES', TIMED='YES'")
	for _, table := range []string{"events_calls_history", "events_calls_history_long", "events_calls_summary_global_by_event_name"} {
		for range 3 {
			f.call(1, 1, 5, "")
		}
		column := "1"
		if strings.Contains(table, "summary") {
			column = "COUNT_STAR"
		}
		count := "SELECT COALESCE(SUM(" + column + "), 0) FROM " + table
		if got := ask(t, s, count); got == "0\n" {
			t.Fatalf("%s has no rows", table)
		}
		ask(t, s, "TRUNCATE TABLE PERFORMANCE_SCHEMA."+table)
		if got := ask(t, s, count); got != "0\n" {
			t.Errorf("%s has %s rows behind TRUNCATE", table, got)
		}
	}
}

// TestConsumerHierarchy: a consumer is in force if those that it depends on are enabled too;
// setup_consumers keeps what was said.
func TestConsumerHierarchy(t *testing.T) {
	f := newFake("app")
	s := open(t, f)
	ask(t, s, "UPDATE setup_instruments SET ENABLED='YES'")
	ask(t, s, "UPDATE setup_consumers SET ENABLED='NO' WHERE NAME='thread_instrumentation'")
	f.call(1, 1, 5, "")
	got := ask(t, s, "SELECT (SELECT COUNT(*) FROM events_calls_history), (SELECT COUNT(*) FROM events_calls_history_long), (SELECT SUM(COUNT_STAR) FROM events_calls_summary_global_by_event_name)")
	if got != "0|0|1\n" {
		t.Errorf("without threads: %s", got)
	}
	if got := ask(t, s, "SELECT ENABLED FROM setup_consumers WHERE NAME='events_calls_history'"); got != "YES\n" {
		t.Errorf("what was said of the history: %s", got)
	}
	ask(t, s, "UPDATE setup_consumers SET ENABLED='NO' WHERE NAME='global_instrumentation'")
	f.call(1, 1, 5, "")
	if got := ask(t, s, "SELECT SUM(COUNT_STAR) FROM events_calls_summary_global_by_event_name"); got != "1\n" {
		t.Errorf("the table is not frozen: %s", got)
	}
	if in := f.consumers.InForce(); in != 0 {
		t.Errorf("in force: %b", in)
	}
}

// TestThreads: a thread can only be switched between instrumented and not.
func TestThreads(t *testing.T) {
	f := newFake("app")
	f.threads[1], f.threads[2] = &source.Thread{ID: 1, Entry: 1}, &source.Thread{ID: 2, Entry: 2}
	s := open(t, f)
	ask(t, s, "UPDATE threads SET INSTRUMENTED='NO' WHERE ENTRY_FUNCTION LIKE '%/Pool.Get'")
	if got := ask(t, s, "SELECT THREAD_ID, INSTRUMENTED FROM threads"); got != "1|YES\n2|NO\n" {
		t.Errorf("got %q", got)
	}
	for query, number := range map[string]uint16{"UPDATE threads SET THREAD_ID=3": 1683, "UPDATE threads SET INSTRUMENTED='maybe'": 1265, "DELETE FROM threads": 1142} {
		if _, _, err := try(t, s, query); err == nil || err.Number != number {
			t.Errorf("%s: got %v, want error %d", query, err, number)
		}
	}
}

// TestPerformanceTimers: five rows, from the highest frequency to the lowest; "We recalculate every
// time that a user selects".
func TestPerformanceTimers(t *testing.T) {
	f := newFake("app")
	s := open(t, f)
	first := ask(t, s, "SELECT * FROM performance_timers")
	second := ask(t, s, "SELECT * FROM performance_timers")
	if first == second || strings.Count(first, "\n") != 5 || f.readings != 2 {
		t.Errorf("read %d times:\n%s%s", f.readings, first, second)
	}
	if got := ask(t, s, "SELECT GROUP_CONCAT(TIMER_NAME) FROM performance_timers"); got != "CYCLE,NANOSECOND,MICROSECOND,MILLISECOND,TICK\n" {
		t.Errorf("their order: %s", got)
	}
}

// TestPicoseconds: they end at the largest number there is.
func TestPicoseconds(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want int64
	}{{0, 0}, {1, 1000}, {106 * 24 * time.Hour, 106 * 86400 * 1e12}, {107 * 24 * time.Hour, math.MaxInt64}, {math.MaxInt64, math.MaxInt64}, {-1, -1000}} {
		if got := source.Picoseconds(c.d); got != c.want {
			t.Errorf("%v are %d, not %d", c.d, got, c.want)
		}
	}
	// A sum of such numbers is no error.
	f := newFake("app")
	s := open(t, f)
	f.global[1] = &source.Summary{Function: 1, Count: 1, Sum: math.MaxInt64}
	f.global[2] = &source.Summary{Function: 2, Count: 1, Sum: math.MaxInt64}
	if got := ask(t, s, "SELECT SUM(SUM_TIMER_WAIT) > 9e18 FROM events_calls_summary_global_by_event_name"); got != "1\n" {
		t.Errorf("the sum: %s", got)
	}
}

// TestConsumerSnapshot: "all readings ... would be readings of the local temporary table, and
// therefore consistent".
func TestConsumerSnapshot(t *testing.T) {
	f := newFake("app")
	s := open(t, f)
	ask(t, s, "UPDATE setup_instruments SET ENABLED='YES'")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				f.call(1, 1, 1, "")
			}
		}
	}()
	for range 20 {
		before := f.snapshots
		got := ask(t, s, `SELECT a.COUNT_STAR = b.COUNT_STAR, a.COUNT_STAR - (SELECT COUNT_STAR FROM events_calls_summary_global_by_event_name c WHERE c.EVENT_NAME = a.EVENT_NAME)
			FROM events_calls_summary_global_by_event_name a JOIN events_calls_summary_global_by_event_name b USING (EVENT_NAME) WHERE EVENT_NAME = 'call/main/main'`)
		if got != "1|0\n" {
			t.Errorf("two looks in one statement differ: %s", got)
		}
		if n := f.snapshots - before; n != 1 {
			t.Errorf("%d snapshots", n)
		}
	}
	close(stop)
	<-done
}

// TestLost: lost instruments "can be seen in show status".
func TestLost(t *testing.T) {
	f := newFake("app")
	f.lost = []source.Counter{{Name: "call_classes_lost", Value: 7}}
	s := open(t, f)
	got := ask(t, s, `show status like "%performance%"`)
	if !strings.Contains(got, "Performance_schema_call_classes_lost|7\n") || !strings.Contains(got, "Performance_schema_thread_instances_lost|0\n") {
		t.Errorf("got\n%s", got)
	}
}

// TestCurrent: the calls under way, TIMER_END and TIMER_WAIT NULL; of a thread that is in none, the
// last.
func TestCurrent(t *testing.T) {
	f := newFake("app")
	f.threads[1] = &source.Thread{ID: 1, Current: []source.Call{{Event: source.Event{Thread: 1, ID: 1, Function: 1, Inside: true, Timed: true, Start: 5}}, {Event: source.Event{Thread: 1, ID: 2, Nesting: 1, Level: 1, Function: 2, Inside: true, Timed: true, Start: 6}}}}
	f.threads[2] = &source.Thread{ID: 2, History: []source.Call{{Event: source.Event{Thread: 2, ID: 1, EndID: 1, Function: 3, Timed: true, Start: 1, End: 2}}, {Event: source.Event{Thread: 2, ID: 2, EndID: 2, Function: 4, Timed: true, Start: 3, End: 5}}}}
	s := open(t, f)
	want := `1|1|NULL|call/main/main|/src/main.go:10|5|NULL|NULL|main|main|NULL|NULL|NULL|0
1|2|NULL|call/main/Pool.Get|/src/pool.go:20|6|NULL|NULL|main|Get|Pool|NULL|1|1
2|2|2|call/example.com/mutex/Lock|/src/mutex.go:40|3|5|2|example.com/mutex|Lock|NULL|NULL|NULL|0
`
	got := ask(t, s, `SELECT THREAD_ID, EVENT_ID, END_EVENT_ID, EVENT_NAME, SOURCE, TIMER_START, TIMER_END, TIMER_WAIT, OBJECT_SCHEMA, OBJECT_NAME, OBJECT_TYPE, OBJECT_INSTANCE_BEGIN,
		NESTING_EVENT_ID, NESTING_LEVEL FROM performance_schema.events_calls_current`)
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
