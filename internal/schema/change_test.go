package schema

import (
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// TestUpdateJoined: UPDATE of a table by what others have.
func TestUpdateJoined(t *testing.T) {
	s := open(t, newFake("app"))
	ask(t, s, "CREATE TABLE test.saved AS SELECT NAME, 'YES' AS ENABLED, 'NO' AS TIMED FROM setup_instruments WHERE NAME LIKE 'call/main/%'")
	ask(t, s, "INSERT INTO test.saved SELECT * FROM test.saved") // a row that is matched twice is changed once
	all, some := "call/main/Pool.Get,call/main/main\n", "call/main/main\n"
	for _, c := range []struct {
		query, want string
		args        []any
	}{
		{"UPDATE setup_instruments i JOIN test.saved s ON i.NAME = s.NAME SET i.ENABLED = s.ENABLED, i.TIMED = s.TIMED", all, nil},
		{"UPDATE setup_instruments INNER JOIN test.saved AS s USING (NAME) SET setup_instruments.ENABLED = IF(s.ENABLED = 'YES', 'YES', 'NO') WHERE NAME LIKE '%main'", some, nil},
		{"UPDATE test.saved s, performance_schema.setup_instruments AS `an i` SET `an i`.ENABLED = 'YES' WHERE s.NAME = `an i`.NAME", all, nil},
		{"UPDATE setup_instruments i LEFT JOIN test.saved s ON s.NAME = i.NAME SET i.ENABLED = 'YES' WHERE s.NAME IS NULL",
			"call/example.com/mutex/Lock,call/example.com/mutex/Lock.func1,call/net/http/Client.Do\n", nil},
		{"UPDATE setup_instruments i JOIN (SELECT DISTINCT NAME FROM test.saved) s ON s.NAME = i.NAME AND i.NAME LIKE ? SET ENABLED = ? WHERE ? = 1", some, []any{"%/main", "YES", int64(1)}},
	} {
		ask(t, s, "UPDATE setup_instruments SET ENABLED = 'NO'")
		ask(t, s, c.query, c.args...)
		if got := ask(t, s, "SELECT GROUP_CONCAT(NAME ORDER BY NAME COLLATE utf8mb4_bin) FROM setup_instruments WHERE ENABLED = 'YES'"); got != c.want {
			t.Errorf("%s: %q", c.query, got)
		}
	}
	if _, r, err := try(t, s, "UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED = 'YES', i.TIMED = 'YES'"); err != nil || r.Info != "Rows matched: 2  Changed: 2  Warnings: 0" {
		t.Errorf("%+v %v", r, err)
	}
	ask(t, s, "UPDATE test.saved s JOIN setup_instruments i USING (NAME) SET s.ENABLED = 'x' WHERE i.NAME LIKE '%Get'")
	if got := ask(t, s, "SELECT NAME, COUNT(*) FROM test.saved WHERE ENABLED = 'x' GROUP BY NAME"); got != "call/main/Pool.Get|2\n" {
		t.Errorf("got %q", got)
	}
	for query, number := range map[string]uint16{
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.NAME = 'x'":                          mysqlerr.Usage,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.COLOUR = 'x'":                        mysqlerr.UnknownColumn,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET x.ENABLED = 'NO'":                      1109,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED = 'NO' ORDER BY i.NAME":      1221,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED = 'NO', WHERE 1":             mysqlerr.Syntax,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED":                             mysqlerr.Syntax,
		"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED = 'maybe'":                   mysqlerr.Truncated,
		"UPDATE setup_instruments i JOIN test.absent s USING (NAME) SET i.ENABLED = 'NO'":                     mysqlerr.NoSuchTable,
		"UPDATE performance_timers p, setup_instruments i SET p.TIMER_NAME = 'x' WHERE p.TIMER_NAME = i.NAME": mysqlerr.Denied,
	} {
		if got, _, err := try(t, s, query); err == nil || err.Number != number {
			t.Errorf("%s: %q %v", query, got, err)
		}
	}
}

// updated are the tables that updates change, updatedA and updatedB ask what is in them then.
var updated = []string{
	"CREATE TABLE a (n VARCHAR(10), x INT)",
	"CREATE TABLE b (n VARCHAR(10), y INT)",
	"INSERT INTO a VALUES ('p', 1), ('q', 2), ('r', 3)",
	"INSERT INTO b VALUES ('p', 10), ('q', 20), ('q', 21), ('s', 40)",
}

const (
	updatedA = "SELECT GROUP_CONCAT(n, ' ', x ORDER BY n, x) FROM a"
	updatedB = "SELECT GROUP_CONCAT(n, ' ', y ORDER BY n, y) FROM b"
)

var updates = []struct {
	query   string
	changed int64
	a, b    string
	same    int64 // how many rows MariaDB does not count, since they stay as they are
}{
	{"UPDATE a JOIN b ON a.n = b.n SET a.x = 100, b.y = 5", 5, "p 100,q 100,r 3", "p 5,q 5,q 5,s 40", 0},
	{"UPDATE a JOIN b USING (n) SET a.x = b.y + 1, b.y = a.x + 1", 5, "p 11,q 21,r 3", "p 2,q 3,q 3,s 40", 0},
	{"UPDATE a LEFT JOIN b ON a.n = b.n SET a.x = 7, b.y = 8", 6, "p 7,q 7,r 7", "p 8,q 8,q 8,s 40", 0},
	{"UPDATE a JOIN a c ON a.n < c.n SET a.x = 1, c.x = 2", 4, "p 1,q 2,r 2", "p 10,q 20,q 21,s 40", 1},
	{"UPDATE a, b SET a.x = a.x + 1, b.y = b.y + a.x WHERE a.n = b.n AND b.y > 10", 3, "p 1,q 3,r 3", "p 10,q 22,q 23,s 40", 0},
	{"UPDATE b JOIN a ON a.n = b.n SET a.x = b.y", 2, "p 10,q 20,r 3", "p 10,q 20,q 21,s 40", 0},
	{"UPDATE a, b SET a.x = 0, b.y = 0 WHERE a.n = 'none'", 0, "p 1,q 2,r 3", "p 10,q 20,q 21,s 40", 0},
}

// TestUpdateSeveral: UPDATE of several tables at once, as MariaDB does it: by what all had before.
func TestUpdateSeveral(t *testing.T) {
	s := open(t, newFake("app"))
	for _, c := range updates {
		ask(t, s, "USE test")
		for _, query := range updated {
			ask(t, s, query)
		}
		_, r, err := try(t, s, c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		if r.Affected != c.changed {
			t.Errorf("%s: %d changed", c.query, r.Affected)
		}
		if a, b := ask(t, s, updatedA), ask(t, s, updatedB); a != c.a+"\n" || b != c.b+"\n" {
			t.Errorf("%s: %q %q", c.query, a, b)
		}
		ask(t, s, "DROP TABLE a")
		ask(t, s, "DROP TABLE b")
	}
	ask(t, s, "USE performance_schema")
	ask(t, s, "CREATE TABLE test.saved AS SELECT NAME, 'NO' AS ENABLED FROM setup_instruments")
	ask(t, s, "UPDATE setup_instruments SET ENABLED = 'NO', TIMED = 'NO'")
	state := func() string {
		return ask(t, s, "SELECT (SELECT GROUP_CONCAT(NAME) FROM setup_instruments WHERE ENABLED = 'YES' AND TIMED = 'YES'), (SELECT GROUP_CONCAT(NAME) FROM test.saved WHERE ENABLED = 'YES'), (SELECT ENABLED FROM setup_consumers WHERE NAME = 'events_calls_history')")
	}
	for _, c := range []struct{ query, info, want string }{
		{"UPDATE setup_instruments i JOIN test.saved s USING (NAME) SET i.ENABLED = ?, s.ENABLED = ?, i.TIMED = 'YES' WHERE NAME LIKE ?", "Rows matched: 2  Changed: 2  Warnings: 0", "call/main/main|call/main/main|YES\n"},
		{"UPDATE setup_instruments i JOIN setup_consumers c SET i.ENABLED = 'NO', c.ENABLED = 'NO' WHERE i.NAME = 'call/main/main' AND c.NAME LIKE '%calls_history'", "Rows matched: 2  Changed: 2  Warnings: 0", "NULL|call/main/main|NO\n"},
	} {
		var args []any
		if strings.Contains(c.query, "?") {
			args = []any{"YES", "YES", "%/main"}
		}
		if _, r, err := try(t, s, c.query, args...); err != nil || r.Info != c.info {
			t.Errorf("%s: %+v %v", c.query, r, err)
		}
		if got := state(); got != c.want {
			t.Errorf("%s: %q", c.query, got)
		}
	}
	// All or nothing, and then again.
	for query, number := range map[string]uint16{
		"UPDATE test.saved s JOIN setup_instruments i USING (NAME) SET s.ENABLED = 'x', i.ENABLED = 'maybe'": mysqlerr.Truncated,
		"UPDATE test.saved s JOIN setup_instruments i USING (NAME) SET s.ENABLED = 'x', i.NAME = 'x'":        mysqlerr.Usage,
		"UPDATE test.saved s JOIN setup_instruments i USING (NAME) SET s.ENABLED = 'x', s.COLOUR = 'x'":      mysqlerr.UnknownColumn,
		"UPDATE test.saved s JOIN performance_timers p SET s.ENABLED = 'x', p.TIMER_NAME = 'x'":              mysqlerr.Denied,
	} {
		for range 2 {
			if got, _, err := try(t, s, query); err == nil || err.Number != number {
				t.Errorf("%s: %q %v", query, got, err)
			}
		}
		if got := state(); got != "NULL|call/main/main|NO\n" {
			t.Errorf("behind %s: %q", query, got)
		}
	}
}

// TestAffected: a definition changes no rows, whatever the statement before did, and a client may
// want to know how many rows an UPDATE found.
func TestAffected(t *testing.T) {
	s := open(t, newFake("app"))
	for _, c := range []struct {
		found    bool
		query    string
		affected int64
	}{
		{false, "CREATE TABLE test.v AS SELECT NAME FROM setup_instruments", 5},
		{false, "CREATE TABLE test.w (x INT)", 0},
		{false, "INSERT INTO test.w VALUES (1), (2)", 2},
		{false, "ALTER TABLE test.w ADD y INT", 0},
		{false, "INSERT INTO test.w VALUES (3, 4)", 1},
		{false, "DROP TABLE test.w", 0},
		{false, "UPDATE setup_instruments SET ENABLED = ENABLED", 0},
		{true, "UPDATE setup_instruments SET ENABLED = ENABLED", 5},
		{true, "UPDATE setup_instruments SET ENABLED = ENABLED WHERE 0", 0},
	} {
		s.FoundRows = c.found
		if _, r, err := try(t, s, c.query); err != nil || r.Affected != c.affected {
			t.Errorf("%s: %+v %v, want %d rows", c.query, r, err, c.affected)
		}
	}
}

// upserts change a table whose rows have keys; upserted has it then. MariaDB does the same.
var (
	upserts = []string{
		"CREATE TABLE hits (name VARCHAR(10) PRIMARY KEY, n INT, last VARCHAR(10))",
		"INSERT INTO hits VALUES ('a', 1, 'x'), ('b', 2, NULL)",
		"INSERT INTO hits (name, n) VALUES ('a', 10), ('c', 5) ON DUPLICATE KEY UPDATE n = n + VALUES(n), last = 'again'",
		"INSERT INTO hits (name, n) SELECT name, n * 100 FROM (SELECT name, n FROM hits WHERE name <> 'a') AS h ON DUPLICATE KEY UPDATE n = VALUES(n) + 1",
		"INSERT INTO hits SET name = 'A', n = 0 ON DUPLICATE KEY UPDATE last = CONCAT(last, '!')",
	}
	upserted = map[string]string{"SELECT * FROM hits ORDER BY name": "a|11|again!\nb|201|NULL\nc|501|NULL\n"}
)

func TestUpserts(t *testing.T) {
	s := open(t, newFake("app"))
	ask(t, s, "USE test")
	for _, query := range upserts {
		ask(t, s, query)
	}
	for query, want := range upserted {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for query, want := range map[string]uint16{
		"INSERT INTO performance_schema.setup_actors VALUES ('a') ON DUPLICATE KEY UPDATE ENABLED = 'NO'": 1142,
		"REPLACE INTO hits VALUES ('a', 1, 'x') ON DUPLICATE KEY UPDATE n = 1":                            1064,
		"INSERT INTO hits VALUES ('a', 1, 'x') ON DUPLICATE KEY UPDATE nothing = 1":                       1054,
	} {
		if _, _, err := try(t, s, query); err == nil || err.Number != want {
			t.Errorf("%s: %v, want error %d", query, err, want)
		}
	}
}
