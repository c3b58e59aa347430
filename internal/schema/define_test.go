package schema

import (
	"fmt"
	"strings"
	"testing"
)

// TestCreateLike: a table with the columns of another, and no rows.
func TestCreateLike(t *testing.T) {
	s := open(t, newFake("p"))
	ask(t, s, "CREATE TABLE test.own (a INT NOT NULL, b VARCHAR(5))")
	ask(t, s, "CREATE VIEW test.v AS SELECT 1 AS n")
	for _, step := range strings.Split(strings.TrimSpace(`
0 CREATE TABLE test.saved LIKE setup_instruments
1050 CREATE TABLE test.saved LIKE setup_instruments
0 CREATE TABLE IF NOT EXISTS test.saved LIKE setup_instruments
0 CREATE TABLE test.other (LIKE test.own)
1146 CREATE TABLE test.x LIKE nosuch
1347 CREATE TABLE test.x LIKE test.v
1347 CREATE TABLE test.x LIKE sys.top_functions
1064 CREATE TABLE test.x LIKE
1064 CREATE TABLE test.x LIKE test.own b
1064 CREATE TABLE test.x (LIKE test.own
1142 CREATE TABLE x LIKE test.own
0 INSERT INTO test.saved SELECT * FROM setup_instruments
1048 INSERT INTO test.other VALUES (NULL, NULL)
0 INSERT INTO test.other VALUES (1, NULL)
0 CREATE TABLE test.keyed (a INT PRIMARY KEY, b DECIMAL(10, 2))
0 INSERT INTO test.keyed VALUES (1, 2)
1062 INSERT INTO test.keyed VALUES (1, 3)
0 CREATE UNIQUE INDEX one_b ON test.keyed (b) # each b once
1062 INSERT INTO test.keyed VALUES (2, 2)
1064 CREATE INDEX two_b test.keyed (b)
1235 CREATE INDEX two_b ON test.keyed (pragma_x)
0 DROP INDEX one_b ON test.keyed
0 DROP INDEX IF EXISTS one_b ON test.keyed
0 INSERT INTO test.keyed VALUES (2, 2)
`), "\n") {
		want, query, _ := strings.Cut(step, " ")
		if _, _, err := try(t, s, query); err == nil && want != "0" || err != nil && fmt.Sprint(err.Number) != want {
			t.Errorf("%s: %v, want error %s", query, err, want)
		}
	}
	for query, want := range map[string]string{
		"DESCRIBE test.saved": "NAME|varchar(512)|NO||NULL|\nENABLED|varchar(16)|NO||NULL|\nTIMED|varchar(16)|NO||NULL|\n",
		"DESCRIBE test.other": "a|int|NO||NULL|\nb|varchar(5)|YES||NULL|\n",
		"DESCRIBE test.keyed": "a|int|YES||NULL|\nb|decimal(10,2)|YES||NULL|\n",
		"SELECT COUNT(*) FROM test.saved WHERE NAME = 'CALL/MAIN/MAIN'": "1\n",
	} {
		if got := ask(t, s, query); got != want {
			t.Errorf("%s:\n%swant\n%s", query, got, want)
		}
	}
}
