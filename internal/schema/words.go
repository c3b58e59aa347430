package schema

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// A NamedTable is what there is to complete of a table.
type NamedTable struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// Tables returns the tables of all schemas but test, those of performance_schema first.
func (c *Catalog) Tables() (list []NamedTable) {
	c.start()
	for _, sc := range c.schemas {
		for _, name := range slices.Sorted(maps.Keys(sc.tables)) {
			t := NamedTable{Schema: sc.name, Name: name}
			for _, column := range sc.tables[name].Columns {
				t.Columns = append(t.Columns, column.Name)
			}
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b NamedTable) int { return cmp.Compare(rank(a.Schema), rank(b.Schema)) })
	return list
}

// rank is 0 for performance_schema, and 1 for sys, which has views of it.
func rank(schema string) int {
	if i := slices.Index([]string{"performance_schema", sysSchema}, schema); i >= 0 {
		return i
	}
	return 2
}

// Words returns the names of schemas, tables and columns, and words of SQL, for completion.
func (c *Catalog) Words() []string {
	words := append([]string{"test", processColumn}, Keywords()...)
	for _, t := range c.Tables() {
		words = append(append(words, t.Schema, t.Name), t.Columns...)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Keywords returns the words with which people write statements, for completion.
func Keywords() []string {
	return strings.Fields(`SELECT FROM WHERE GROUP BY ORDER LIMIT HAVING JOIN LEFT USING ON AS AND OR NOT IN LIKE BETWEEN IS NULL DESC DISTINCT COUNT(*) SUM( AVG( MIN( MAX(
	UPDATE SET INSERT INTO VALUES DELETE TRUNCATE TABLE CREATE DROP SHOW TABLES DATABASES COLUMNS STATUS VARIABLES DESCRIBE EXPLAIN USE FORMAT_PICO_TIME(`)
}
