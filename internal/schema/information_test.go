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
