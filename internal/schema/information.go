package schema

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// informationTables are the tables of information_schema, in which clients look for schemas, tables
// and columns. Graphical clients look for much that does not exist here, and expect tables without
// rows for it.
var informationTables = byName([]*table{
	newTable("schemata", func(v *view) []string { return sessionOf(v).schemas() },
		def[string]("CATALOG_NAME"),
		text("SCHEMA_NAME", wordKind, func(_ *view, s *string) string { return *s }),
		constant[string]("DEFAULT_CHARACTER_SET_NAME", "utf8mb4"),
		constant[string]("DEFAULT_COLLATION_NAME", "utf8mb4_general_ci"),
		null[string]("SQL_PATH", textKind),
	),
	newTable("tables", func(v *view) []tableInfo { return sessionOf(v).tables() },
		def[tableInfo]("TABLE_CATALOG"),
		text("TABLE_SCHEMA", wordKind, func(_ *view, t *tableInfo) string { return t.schema }),
		text("TABLE_NAME", wordKind, func(_ *view, t *tableInfo) string { return t.name }),
		text("TABLE_TYPE", wordKind, func(_ *view, t *tableInfo) string { return t.kind }),
		known("ENGINE", wordKind, func(_ *view, t *tableInfo) string { return t.engine }),
		number("VERSION", func(*tableInfo) int64 { return 10 }),
		constant[tableInfo]("ROW_FORMAT", "Dynamic"),
		null[tableInfo]("TABLE_ROWS", "bigint unsigned"), null[tableInfo]("AVG_ROW_LENGTH", "bigint unsigned"), null[tableInfo]("DATA_LENGTH", "bigint unsigned"),
		null[tableInfo]("MAX_DATA_LENGTH", "bigint unsigned"), null[tableInfo]("INDEX_LENGTH", "bigint unsigned"), null[tableInfo]("DATA_FREE", "bigint unsigned"),
		null[tableInfo]("AUTO_INCREMENT", "bigint unsigned"), null[tableInfo]("CREATE_TIME", "datetime"), null[tableInfo]("UPDATE_TIME", "datetime"), null[tableInfo]("CHECK_TIME", "datetime"),
		constant[tableInfo]("TABLE_COLLATION", "utf8mb4_general_ci"),
		null[tableInfo]("CHECKSUM", "bigint unsigned"),
		constant[tableInfo]("CREATE_OPTIONS", ""),
		text("TABLE_COMMENT", wordKind, func(_ *view, t *tableInfo) string {
			if t.kind == viewType {
				return viewType
			}
			return ""
		}),
	),
	newTable("columns", func(v *view) []columnInfo { return sessionOf(v).columns() },
		def[columnInfo]("TABLE_CATALOG"),
		text("TABLE_SCHEMA", wordKind, func(_ *view, c *columnInfo) string { return c.schema }),
		text("TABLE_NAME", wordKind, func(_ *view, c *columnInfo) string { return c.table }),
		text("COLUMN_NAME", wordKind, func(_ *view, c *columnInfo) string { return c.name }),
		number("ORDINAL_POSITION", func(c *columnInfo) int64 { return int64(c.position) }),
		null[columnInfo]("COLUMN_DEFAULT", textKind),
		text("IS_NULLABLE", wordKind, func(_ *view, c *columnInfo) string { return map[bool]string{true: "YES", false: "NO"}[c.null] }),
		text("DATA_TYPE", wordKind, func(_ *view, c *columnInfo) string {
			kind, _, _ := strings.Cut(c.kind, "(")
			return strings.TrimSuffix(kind, " unsigned")
		}),
		unsigned("CHARACTER_MAXIMUM_LENGTH", func(c *columnInfo) uint64 { return c.length() }),
		unsigned("CHARACTER_OCTET_LENGTH", func(c *columnInfo) uint64 { return min(4*c.length(), 1<<32-1) }),
		unsigned("NUMERIC_PRECISION", (*columnInfo).precision),
		optional("NUMERIC_SCALE", "bigint unsigned", func(_ *view, c *columnInfo) (string, bool) {
			k := kindOfColumn(c.kind)
			return strconv.Itoa(k.scale), k.class == integerClass || k.class == decimalClass
		}),
		null[columnInfo]("DATETIME_PRECISION", "bigint unsigned"),
		optional("CHARACTER_SET_NAME", wordKind, func(_ *view, c *columnInfo) (string, bool) { return "utf8mb4", c.length() > 0 }),
		optional("COLLATION_NAME", wordKind, func(_ *view, c *columnInfo) (string, bool) { return "utf8mb4_general_ci", c.length() > 0 }),
		text("COLUMN_TYPE", nameKind, func(_ *view, c *columnInfo) string { return c.kind }),
		constant[columnInfo]("COLUMN_KEY", ""),
		constant[columnInfo]("EXTRA", ""),
		text("PRIVILEGES", wordKind, func(_ *view, c *columnInfo) string {
			privileges := "select"
			if c.insertable {
				privileges += ",insert"
			}
			if c.updatable {
				privileges += ",update"
			}
			return privileges
		}),
		constant[columnInfo]("COLUMN_COMMENT", ""),
		constant[columnInfo]("GENERATION_EXPRESSION", ""),
	),
	fixed("engines", "ENGINE", "PERFORMANCE_SCHEMA", "SUPPORT", "DEFAULT", "COMMENT", "Performance Schema", "TRANSACTIONS", "NO", "XA", "NO", "SAVEPOINTS", "NO"),
	fixed("plugins", "PLUGIN_NAME", "PERFORMANCE_SCHEMA", "PLUGIN_VERSION", "0.1", "PLUGIN_STATUS", "ACTIVE", "PLUGIN_TYPE", "STORAGE ENGINE", "PLUGIN_TYPE_VERSION", "50744.0", "PLUGIN_LIBRARY", nil,
		"PLUGIN_LIBRARY_VERSION", nil, "PLUGIN_AUTHOR", "ftrace-wrap", "PLUGIN_DESCRIPTION", "Performance Schema", "PLUGIN_LICENSE", "MIT", "LOAD_OPTION", "ON"),
	fixed("character_sets", "CHARACTER_SET_NAME", "utf8mb4", "DEFAULT_COLLATE_NAME", "utf8mb4_general_ci", "DESCRIPTION", "UTF-8 Unicode", "MAXLEN", int64(4)),
	fixed("collations", "COLLATION_NAME", "utf8mb4_general_ci", "CHARACTER_SET_NAME", "utf8mb4", "ID", int64(45), "IS_DEFAULT", "Yes", "IS_COMPILED", "Yes", "SORTLEN", int64(1)),
	fixed("collation_character_set_applicability", "COLLATION_NAME", "utf8mb4_general_ci", "CHARACTER_SET_NAME", "utf8mb4"),
	newTable("processlist", func(v *view) []client { return sessionOf(v).clients() },
		number("ID", func(c *client) int64 { return int64(c.id) }),
		text("USER", wordKind, func(_ *view, c *client) string { return c.user }),
		text("HOST", wordKind, func(_ *view, c *client) string { return c.host }),
		text("DB", wordKind, func(_ *view, c *client) string { return c.database }),
		text("COMMAND", wordKind, func(_ *view, c *client) string {
			if c.statement == "" {
				return "Sleep"
			}
			return "Query"
		}),
		number("TIME", func(c *client) int64 { return int64(time.Since(c.since).Seconds()) }),
		text("STATE", wordKind, func(_ *view, c *client) string {
			if c.statement == "" {
				return ""
			}
			return "executing"
		}),
		known("INFO", textKind, func(_ *view, c *client) string { return c.statement }),
	),
	newTable("user_privileges", func(v *view) []string { return sessionOf(v).account().global() },
		text("GRANTEE", wordKind, func(v *view, _ *string) string { return sessionOf(v).who.Load().grantee() }),
		def[string]("TABLE_CATALOG"),
		text("PRIVILEGE_TYPE", wordKind, func(_ *view, p *string) string { return *p }),
		constant[string]("IS_GRANTABLE", "NO"),
	),
	empty("schema_privileges", "GRANTEE TABLE_CATALOG TABLE_SCHEMA PRIVILEGE_TYPE IS_GRANTABLE"),
	empty("table_privileges", "GRANTEE TABLE_CATALOG TABLE_SCHEMA TABLE_NAME PRIVILEGE_TYPE IS_GRANTABLE"),
	empty("column_privileges", "GRANTEE TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME PRIVILEGE_TYPE IS_GRANTABLE"),
	newTable("views", func(v *view) []tableInfo {
		return slices.DeleteFunc(sessionOf(v).tables(), func(t tableInfo) bool { return t.kind != viewType })
	},
		def[tableInfo]("TABLE_CATALOG"),
		text("TABLE_SCHEMA", wordKind, func(_ *view, t *tableInfo) string { return t.schema }),
		text("TABLE_NAME", wordKind, func(_ *view, t *tableInfo) string { return t.name }),
		text("VIEW_DEFINITION", textKind, func(_ *view, t *tableInfo) string { return t.definition }),
		constant[tableInfo]("CHECK_OPTION", "NONE"),
		constant[tableInfo]("IS_UPDATABLE", "NO"),
		text("DEFINER", wordKind, func(v *view, _ *tableInfo) string { return sessionOf(v).who.Load().String() }),
		constant[tableInfo]("SECURITY_TYPE", "INVOKER"),
		constant[tableInfo]("CHARACTER_SET_CLIENT", "utf8mb4"),
		constant[tableInfo]("COLLATION_CONNECTION", "utf8mb4_general_ci"),
	),
	empty("statistics", `TABLE_CATALOG TABLE_SCHEMA TABLE_NAME NON_UNIQUE INDEX_SCHEMA INDEX_NAME SEQ_IN_INDEX COLUMN_NAME COLLATION CARDINALITY SUB_PART PACKED NULLABLE INDEX_TYPE COMMENT
			INDEX_COMMENT IS_VISIBLE EXPRESSION`),
	empty("table_constraints", "CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME TABLE_SCHEMA TABLE_NAME CONSTRAINT_TYPE ENFORCED"),
	empty("key_column_usage", `CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME ORDINAL_POSITION POSITION_IN_UNIQUE_CONSTRAINT
			REFERENCED_TABLE_SCHEMA REFERENCED_TABLE_NAME REFERENCED_COLUMN_NAME`),
	empty("referential_constraints", `CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME UNIQUE_CONSTRAINT_CATALOG UNIQUE_CONSTRAINT_SCHEMA UNIQUE_CONSTRAINT_NAME MATCH_OPTION UPDATE_RULE
			DELETE_RULE TABLE_NAME REFERENCED_TABLE_NAME`),
	empty("check_constraints", "CONSTRAINT_CATALOG CONSTRAINT_SCHEMA TABLE_NAME CONSTRAINT_NAME CHECK_CLAUSE"),
	empty("routines", `SPECIFIC_NAME ROUTINE_CATALOG ROUTINE_SCHEMA ROUTINE_NAME ROUTINE_TYPE DATA_TYPE DTD_IDENTIFIER ROUTINE_BODY ROUTINE_DEFINITION PARAMETER_STYLE IS_DETERMINISTIC SQL_DATA_ACCESS
			SECURITY_TYPE CREATED LAST_ALTERED SQL_MODE ROUTINE_COMMENT DEFINER`),
	empty("parameters", "SPECIFIC_CATALOG SPECIFIC_SCHEMA SPECIFIC_NAME ORDINAL_POSITION PARAMETER_MODE PARAMETER_NAME DATA_TYPE DTD_IDENTIFIER ROUTINE_TYPE"),
	empty("triggers", `TRIGGER_CATALOG TRIGGER_SCHEMA TRIGGER_NAME EVENT_MANIPULATION EVENT_OBJECT_CATALOG EVENT_OBJECT_SCHEMA EVENT_OBJECT_TABLE ACTION_ORDER ACTION_STATEMENT ACTION_TIMING CREATED
			SQL_MODE DEFINER`),
	empty("events", `EVENT_CATALOG EVENT_SCHEMA EVENT_NAME DEFINER TIME_ZONE EVENT_BODY EVENT_DEFINITION EVENT_TYPE EXECUTE_AT INTERVAL_VALUE INTERVAL_FIELD SQL_MODE STARTS ENDS STATUS ON_COMPLETION
			CREATED LAST_ALTERED LAST_EXECUTED EVENT_COMMENT ORIGINATOR`),
	empty("partitions", `TABLE_CATALOG TABLE_SCHEMA TABLE_NAME PARTITION_NAME SUBPARTITION_NAME PARTITION_ORDINAL_POSITION PARTITION_METHOD SUBPARTITION_METHOD PARTITION_EXPRESSION
			SUBPARTITION_EXPRESSION PARTITION_DESCRIPTION TABLE_ROWS DATA_LENGTH INDEX_LENGTH PARTITION_COMMENT`),
	empty("innodb_cmp", "PAGE_SIZE COMPRESS_OPS COMPRESS_OPS_OK COMPRESS_TIME UNCOMPRESS_OPS UNCOMPRESS_TIME"),
	empty("innodb_cmpmem", "PAGE_SIZE BUFFER_POOL_INSTANCE PAGES_USED PAGES_FREE RELOCATION_OPS RELOCATION_TIME"),
	empty("keywords", "WORD RESERVED"),
	empty("files", "FILE_ID FILE_NAME FILE_TYPE TABLESPACE_NAME TABLE_SCHEMA TABLE_NAME ENGINE"),
	empty("profiling", "QUERY_ID SEQ STATE DURATION"),
})

// viewType is the TABLE_TYPE of a view.
const viewType = "VIEW"

type tableInfo struct {
	schema, name, kind string
	engine             string // "" of a view
	definition         string // of a view
}

type columnInfo struct {
	schema, table string
	position      int
	insertable    bool
	columnHead
}

// length returns how many characters a column of text can have, 0 for other columns.
func (c *columnInfo) length() uint64 {
	kind, size, _ := strings.Cut(c.kind, "(")
	size = strings.TrimSuffix(size, ")")
	switch k := kindOfColumn(c.kind); {
	case k.numeric() || k.time != noTime || strings.EqualFold(kind, "time"):
		return 0
	case k.class == enumClass:
		longest := 0
		for value := range strings.SplitSeq(size, ",") {
			longest = max(longest, len(strings.Trim(value, " '")))
		}
		return uint64(longest)
	case size == "":
		return 1<<32 - 1
	}
	n, _ := strconv.ParseUint(size, 10, 32)
	return n
}

// precision returns how many digits a column of numbers can have, 0 for other columns.
func (c *columnInfo) precision() uint64 {
	kind, size, _ := strings.Cut(strings.ToLower(c.kind), "(")
	switch k := kindOfColumn(c.kind); {
	case k.class == decimalClass:
		whole, _, _ := strings.Cut(strings.TrimRight(size, ") "), ",")
		n, _ := strconv.ParseUint(strings.TrimSpace(whole), 10, 32)
		return cmp.Or(n, 10)
	case strings.HasPrefix(kind, "float"):
		return 12
	case k.class == doubleClass:
		return 22
	case k.class != integerClass:
		return 0
	case strings.Contains(c.kind, "unsigned") && strings.HasPrefix(kind, "bigint"):
		return 20
	}
	name, _, _ := strings.Cut(kind, " ")
	return cmp.Or(map[string]uint64{"bigint": 19, "mediumint": 7, "smallint": 5, "tinyint": 3}[name], 10)
}

// sessionOf returns the session whose statement reads a table.
func sessionOf(v *view) *Session { return v.statement.(underWay).s }

// def is the column of the catalog, of which there is only one.
func def[T any](name string) column[T] { return constant[T](name, "def") }

// client is a session as others see it.
type client struct {
	*identity
	*activity
}

// clients returns the sessions of the catalog that the user may see, ordered by their connections.
func (s *Session) clients() []client {
	var list []client
	user, all := s.who.Load().user, s.account().may(mayProcess, "", "")
	sessions.Range(func(_, other any) bool {
		if other := other.(*Session); other.catalog == s.catalog {
			if who := other.who.Load(); all || who.user == user {
				list = append(list, client{who, other.doing.Load()})
			}
		}
		return true
	})
	slices.SortFunc(list, func(a, b client) int { return cmp.Compare(a.id, b.id) })
	return list
}

// schemas returns the names of all schemas.
func (s *Session) schemas() []string {
	names := []string{"test"}
	for _, sc := range s.catalog.schemas {
		names = append(names, sc.name)
	}
	may := s.account()
	names = slices.DeleteFunc(names, func(name string) bool { return !may.sees(name, "") })
	slices.Sort(names)
	return names
}

// tables describes all tables. Those of test were read before the statement began,
// because a table can't query SQLite.
func (s *Session) tables() []tableInfo {
	var list []tableInfo
	for _, sc := range s.catalog.schemas {
		for name := range sc.tables {
			info := tableInfo{schema: sc.name, name: name, kind: "BASE TABLE", engine: "PERFORMANCE_SCHEMA"}
			switch {
			case sc.information:
				info.kind = "SYSTEM VIEW"
			case sc.name == sysSchema:
				info.kind, info.engine = viewType, ""
				info.definition = cmp.Or(sysViews[name].definition, "/* computed from performance_schema */")
			}
			list = append(list, info)
		}
	}
	for _, t := range s.statement.test {
		list = append(list, t.tableInfo)
	}
	may := s.account()
	list = slices.DeleteFunc(list, func(t tableInfo) bool { return !may.sees(t.schema, t.name) })
	slices.SortFunc(list, func(a, b tableInfo) int { return strings.Compare(a.schema+"."+a.name, b.schema+"."+b.name) })
	return list
}

func (s *Session) columns() []columnInfo {
	var list []columnInfo
	for _, sc := range s.catalog.schemas {
		for name, t := range sc.tables {
			heads := t.columns
			if sc.several && t.rows != nil {
				heads = append([]columnHead{{name: processColumn, kind: wordKind}}, heads...)
			}
			for i, c := range heads {
				if !c.hidden {
					list = append(list, columnInfo{sc.name, name, i + 1, t.rules != nil, c})
				}
			}
		}
	}
	for _, t := range s.statement.test {
		list = append(list, t.columns...)
	}
	may := s.account()
	list = slices.DeleteFunc(list, func(c columnInfo) bool { return !may.sees(c.schema, c.table) })
	slices.SortStableFunc(list, func(a, b columnInfo) int { return strings.Compare(a.schema+"."+a.table, b.schema+"."+b.table) })
	return list
}

// has reports whether a table is the target.
func (t *target) has(schema, name string) bool {
	return strings.EqualFold(schema, t.schema) && strings.EqualFold(name, t.name)
}

// columnsOfTarget returns the columns of a table, as far as the user may see them.
func (s *Session) columnsOfTarget(t target) []columnInfo {
	return slices.DeleteFunc(s.columns(), func(c columnInfo) bool { return !t.has(c.schema, c.table) })
}

// beginsView matches what SQLite has before the query of a view.
var beginsView = regexp.MustCompile(`(?is)^create\s.*?\sas\s+`)

// plainKind takes the spaces out of a type that SQLite has as tokens.
var plainKind = strings.NewReplacer(" ( ", "(", " , ", ",", " )", ")")

// A testTable is a table that the user made.
type testTable struct {
	tableInfo
	columns []columnInfo
}

// readTest reads which tables there are in test, for a statement that queries information_schema.
func (s *Session) readTest(ctx context.Context) error {
	rows, err := s.conn.QueryContext(ctx, `SELECT m.name, m.type, m.sql, c.name, c.type, c."notnull", c.cid FROM test.sqlite_master m, pragma_table_info(m.name, 'test') c
		WHERE m.type IN ('table', 'view') AND m.name <> '`+viewsTable+`' ORDER BY m.name, c.cid`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table, kind, sql, column, columnKind string
		var notNull, position int
		if err := rows.Scan(&table, &kind, &sql, &column, &columnKind, &notNull, &position); err != nil {
			return err
		}
		if n := len(s.statement.test); n == 0 || s.statement.test[n-1].name != table {
			info := tableInfo{schema: "test", name: table, kind: "BASE TABLE", engine: "SQLite"}
			if kind == "view" {
				info.kind, info.engine, info.definition = viewType, "", sql[len(beginsView.FindString(sql)):]
			}
			s.statement.test = append(s.statement.test, testTable{tableInfo: info})
		}
		t := &s.statement.test[len(s.statement.test)-1]
		t.columns = append(t.columns, columnInfo{"test", table, position + 1, true, columnHead{name: column, kind: plainKind.Replace(strings.ToLower(columnKind)), updatable: true, null: notNull == 0}})
	}
	if err := rows.Err(); err != nil {
		return err
	}
	views, err := s.userViews(ctx, "")
	for _, v := range views {
		t := testTable{tableInfo: tableInfo{schema: "test", name: v.name, kind: viewType, definition: v.definition}}
		for i, c := range v.columns {
			t.columns = append(t.columns, columnInfo{"test", v.name, i + 1, false, columnHead{name: c.Name, kind: c.Kind, null: true}})
		}
		s.statement.test = append(s.statement.test, t)
	}
	return err
}
