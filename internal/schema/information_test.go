package schema

import "testing"

// askTyped asks what information_schema has of a table's types, which is as MariaDB has it.
const (
	createTyped = "CREATE TABLE test.typed (a bigint unsigned, b bigint, c int, d smallint, e tinyint, f varchar(512), g longtext, h decimal(10,2), i double, j float, k datetime, l date, m mediumint)"
	askTyped    = "SELECT COLUMN_NAME, NUMERIC_PRECISION, NUMERIC_SCALE, CHARACTER_MAXIMUM_LENGTH, CHARACTER_OCTET_LENGTH IS NULL, CHARACTER_SET_NAME IS NULL FROM information_schema.columns WHERE TABLE_SCHEMA = 'test' AND TABLE_NAME = 'typed' ORDER BY ORDINAL_POSITION"
	typed       = "a|20|0|NULL|1|1\nb|19|0|NULL|1|1\nc|10|0|NULL|1|1\nd|5|0|NULL|1|1\ne|3|0|NULL|1|1\nf|NULL|NULL|512|0|0\ng|NULL|NULL|4294967295|0|0\nh|10|2|NULL|1|1\ni|22|NULL|NULL|1|1\nj|12|NULL|NULL|1|1\nk|NULL|NULL|NULL|1|1\nl|NULL|NULL|NULL|1|1\nm|7|0|NULL|1|1\n"
)

// TestColumnTypes: information_schema tells how large the values of columns can be.
func TestColumnTypes(t *testing.T) {
	s := open(t, newFake("app"))
	ask(t, s, createTyped)
	for query, want := range map[string]string{
		askTyped: typed,
		"SELECT CHARACTER_MAXIMUM_LENGTH FROM information_schema.columns WHERE TABLE_NAME = 'setup_actors' AND COLUMN_NAME = 'ENABLED'": "3\n",
	} {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s:\n%s, want\n%s", query, got, want)
		}
	}
}

// TestKeys: clients learn by which columns they can tell rows apart, and what GRANT can give.
func TestKeys(t *testing.T) {
	s := open(t, newFake("app"))
	for query, want := range map[string]string{
		"SHOW PRIVILEGES WHERE Context <> 'Tables' AND Privilege LIKE 'C%'":                                                                "CREATE USER|Server Admin|To make and drop accounts\nCONNECTION_ADMIN|Server Admin|To end what other accounts do\n",
		"SELECT CHECKSUM, NODEGROUP FROM information_schema.partitions ORDER BY PARTITION_ORDINAL_POSITION, SUBPARTITION_ORDINAL_POSITION": "",
		"SHOW KEYS FROM threads":         "threads|0|PRIMARY|1|THREAD_ID|A|NULL|NULL|NULL||HASH||\n",
		"SHOW INDEX FROM setup_actors":   "",
		"SHOW CREATE TABLE setup_timers": "setup_timers|CREATE TABLE `setup_timers` (\n  `NAME` varchar(64) NOT NULL,\n  `TIMER_NAME` enum('CYCLE','NANOSECOND','MICROSECOND','MILLISECOND','TICK') NOT NULL,\n  PRIMARY KEY (`NAME`)\n) ENGINE=PERFORMANCE_SCHEMA DEFAULT CHARSET=utf8mb4\n",
		"SELECT TABLE_NAME, CONSTRAINT_TYPE FROM information_schema.table_constraints":                                               "setup_consumers|PRIMARY KEY\nsetup_instruments|PRIMARY KEY\nsetup_timers|PRIMARY KEY\nthreads|PRIMARY KEY\n",
		"SELECT TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION FROM information_schema.key_column_usage WHERE TABLE_NAME LIKE 'setup_i%'": "setup_instruments|NAME|1\n",
	} {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}
