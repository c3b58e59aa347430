package schema

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/tables"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// informationTables are the tables of information_schema, in which clients look for schemas, tables
// and columns. Graphical clients look for much that does not exist here, and expect tables without
// rows for it.
var informationTables = tables.ByName([]*tables.Table{
	tables.New("schemata", func(v *tables.View) []string { return sessionOf(v).schemas() },
		def[string]("CATALOG_NAME"),
		tables.Text("SCHEMA_NAME", tables.WordKind, func(_ *tables.View, s *string) string { return *s }),
		tables.Constant[string]("DEFAULT_CHARACTER_SET_NAME", "utf8mb4"),
		tables.Constant[string]("DEFAULT_COLLATION_NAME", "utf8mb4_general_ci"),
		tables.Null[string]("SQL_PATH", tables.TextKind),
	),
	tables.New("tables", func(v *tables.View) []tableInfo { return sessionOf(v).tables() },
		def[tableInfo]("TABLE_CATALOG"),
		tables.Text("TABLE_SCHEMA", tables.WordKind, func(_ *tables.View, t *tableInfo) string { return t.schema }),
		tables.Text("TABLE_NAME", tables.WordKind, func(_ *tables.View, t *tableInfo) string { return t.name }),
		tables.Text("TABLE_TYPE", tables.WordKind, func(_ *tables.View, t *tableInfo) string { return t.kind }),
		tables.Known("ENGINE", tables.WordKind, func(_ *tables.View, t *tableInfo) string { return t.engine }),
		tables.Number("VERSION", func(*tableInfo) int64 { return 10 }),
		tables.Constant[tableInfo]("ROW_FORMAT", "Dynamic"),
		tables.Null[tableInfo]("TABLE_ROWS", "bigint unsigned"), tables.Null[tableInfo]("AVG_ROW_LENGTH", "bigint unsigned"), tables.Null[tableInfo]("DATA_LENGTH", "bigint unsigned"),
		tables.Null[tableInfo]("MAX_DATA_LENGTH", "bigint unsigned"), tables.Null[tableInfo]("INDEX_LENGTH", "bigint unsigned"), tables.Null[tableInfo]("DATA_FREE", "bigint unsigned"),
		tables.Null[tableInfo]("AUTO_INCREMENT", "bigint unsigned"), tables.Null[tableInfo]("CREATE_TIME", "datetime"), tables.Null[tableInfo]("UPDATE_TIME", "datetime"), tables.Null[tableInfo]("CHECK_TIME", "datetime"),
		tables.Constant[tableInfo]("TABLE_COLLATION", "utf8mb4_general_ci"),
		tables.Null[tableInfo]("CHECKSUM", "bigint unsigned"),
		tables.Constant[tableInfo]("CREATE_OPTIONS", ""),
		tables.Text("TABLE_COMMENT", tables.WordKind, func(_ *tables.View, t *tableInfo) string {
			if t.kind == viewType {
				return viewType
			}
			return ""
		}),
	),
	tables.New("columns", func(v *tables.View) []columnInfo { return sessionOf(v).columns() },
		def[columnInfo]("TABLE_CATALOG"),
		tables.Text("TABLE_SCHEMA", tables.WordKind, func(_ *tables.View, c *columnInfo) string { return c.schema }),
		tables.Text("TABLE_NAME", tables.WordKind, func(_ *tables.View, c *columnInfo) string { return c.table }),
		tables.Text("COLUMN_NAME", tables.WordKind, func(_ *tables.View, c *columnInfo) string { return c.Name }),
		tables.Number("ORDINAL_POSITION", func(c *columnInfo) int64 { return int64(c.position) }),
		tables.Null[columnInfo]("COLUMN_DEFAULT", tables.TextKind),
		tables.Text("IS_NULLABLE", tables.WordKind, func(_ *tables.View, c *columnInfo) string { return map[bool]string{true: "YES", false: "NO"}[c.Null] }),
		tables.Text("DATA_TYPE", tables.WordKind, func(_ *tables.View, c *columnInfo) string {
			kind, _, _ := strings.Cut(c.Kind, "(")
			return strings.TrimSuffix(kind, " unsigned")
		}),
		tables.Unsigned("CHARACTER_MAXIMUM_LENGTH", func(c *columnInfo) uint64 { return c.length() }),
		tables.Unsigned("CHARACTER_OCTET_LENGTH", func(c *columnInfo) uint64 { return min(4*c.length(), 1<<32-1) }),
		tables.Unsigned("NUMERIC_PRECISION", (*columnInfo).precision),
		tables.Optional("NUMERIC_SCALE", "bigint unsigned", func(_ *tables.View, c *columnInfo) (string, bool) {
			t, places, _ := language.KindOf(c.Kind).Shown()
			return strconv.Itoa(places), t == language.Integer || t == language.Decimal
		}),
		tables.Null[columnInfo]("DATETIME_PRECISION", "bigint unsigned"),
		tables.Optional("CHARACTER_SET_NAME", tables.WordKind, func(_ *tables.View, c *columnInfo) (string, bool) { return "utf8mb4", c.length() > 0 }),
		tables.Optional("COLLATION_NAME", tables.WordKind, func(_ *tables.View, c *columnInfo) (string, bool) { return "utf8mb4_general_ci", c.length() > 0 }),
		tables.Text("COLUMN_TYPE", tables.NameKind, func(_ *tables.View, c *columnInfo) string { return c.Kind }),
		tables.Text("COLUMN_KEY", tables.WordKind, func(_ *tables.View, c *columnInfo) string { return map[bool]string{true: "PRI"}[c.Key] }),
		tables.Constant[columnInfo]("EXTRA", ""),
		tables.Text("PRIVILEGES", tables.WordKind, func(_ *tables.View, c *columnInfo) string {
			privileges := "select"
			if c.insertable {
				privileges += ",insert"
			}
			if c.Updatable {
				privileges += ",update"
			}
			return privileges
		}),
		tables.Constant[columnInfo]("COLUMN_COMMENT", ""),
		tables.Constant[columnInfo]("GENERATION_EXPRESSION", ""),
	),
	tables.Fixed("engines", "ENGINE", "PERFORMANCE_SCHEMA", "SUPPORT", "DEFAULT", "COMMENT", "Performance Schema", "TRANSACTIONS", "NO", "XA", "NO", "SAVEPOINTS", "NO"),
	tables.Fixed("plugins", "PLUGIN_NAME", "PERFORMANCE_SCHEMA", "PLUGIN_VERSION", "0.1", "PLUGIN_STATUS", "ACTIVE", "PLUGIN_TYPE", "STORAGE ENGINE", "PLUGIN_TYPE_VERSION", "50744.0", "PLUGIN_LIBRARY", nil,
		"PLUGIN_LIBRARY_VERSION", nil, "PLUGIN_AUTHOR", "ftrace-wrap", "PLUGIN_DESCRIPTION", "Performance Schema", "PLUGIN_LICENSE", "MIT", "LOAD_OPTION", "ON"),
	tables.Fixed("character_sets", "CHARACTER_SET_NAME", "utf8mb4", "DEFAULT_COLLATE_NAME", "utf8mb4_general_ci", "DESCRIPTION", "UTF-8 Unicode", "MAXLEN", int64(4)),
	tables.Fixed("collations", "COLLATION_NAME", "utf8mb4_general_ci", "CHARACTER_SET_NAME", "utf8mb4", "ID", int64(45), "IS_DEFAULT", "Yes", "IS_COMPILED", "Yes", "SORTLEN", int64(1)),
	tables.Fixed("collation_character_set_applicability", "COLLATION_NAME", "utf8mb4_general_ci", "CHARACTER_SET_NAME", "utf8mb4"),
	tables.New("processlist", func(v *tables.View) []client { return sessionOf(v).clients() },
		tables.Number("ID", func(c *client) int64 { return int64(c.id) }),
		tables.Text("USER", tables.WordKind, func(_ *tables.View, c *client) string { return c.user }),
		tables.Text("HOST", tables.WordKind, func(_ *tables.View, c *client) string { return c.host }),
		tables.Text("DB", tables.WordKind, func(_ *tables.View, c *client) string { return c.database }),
		tables.Text("COMMAND", tables.WordKind, func(_ *tables.View, c *client) string {
			if c.statement == "" {
				return "Sleep"
			}
			return "Query"
		}),
		tables.Number("TIME", func(c *client) int64 { return int64(time.Since(c.since).Seconds()) }),
		tables.Text("STATE", tables.WordKind, func(_ *tables.View, c *client) string {
			if c.statement == "" {
				return ""
			}
			return "executing"
		}),
		tables.Known("INFO", tables.TextKind, func(_ *tables.View, c *client) string { return c.statement }),
	),
	tables.New("user_privileges", func(v *tables.View) []string { return sessionOf(v).account().Global() },
		tables.Text("GRANTEE", tables.WordKind, func(v *tables.View, _ *string) string { return sessionOf(v).who.Load().grantee() }),
		def[string]("TABLE_CATALOG"),
		tables.Text("PRIVILEGE_TYPE", tables.WordKind, func(_ *tables.View, p *string) string { return *p }),
		tables.Constant[string]("IS_GRANTABLE", "NO"),
	),
	tables.Empty("schema_privileges", "GRANTEE TABLE_CATALOG TABLE_SCHEMA PRIVILEGE_TYPE IS_GRANTABLE"),
	tables.Empty("table_privileges", "GRANTEE TABLE_CATALOG TABLE_SCHEMA TABLE_NAME PRIVILEGE_TYPE IS_GRANTABLE"),
	tables.Empty("column_privileges", "GRANTEE TABLE_CATALOG TABLE_SCHEMA TABLE_NAME COLUMN_NAME PRIVILEGE_TYPE IS_GRANTABLE"),
	tables.New("views", func(v *tables.View) []tableInfo {
		return slices.DeleteFunc(sessionOf(v).tables(), func(t tableInfo) bool { return t.kind != viewType })
	},
		def[tableInfo]("TABLE_CATALOG"),
		tables.Text("TABLE_SCHEMA", tables.WordKind, func(_ *tables.View, t *tableInfo) string { return t.schema }),
		tables.Text("TABLE_NAME", tables.WordKind, func(_ *tables.View, t *tableInfo) string { return t.name }),
		tables.Text("VIEW_DEFINITION", tables.TextKind, func(_ *tables.View, t *tableInfo) string { return t.definition }),
		tables.Constant[tableInfo]("CHECK_OPTION", "NONE"),
		tables.Constant[tableInfo]("IS_UPDATABLE", "NO"),
		tables.Text("DEFINER", tables.WordKind, func(v *tables.View, _ *tableInfo) string { return sessionOf(v).who.Load().String() }),
		tables.Constant[tableInfo]("SECURITY_TYPE", "INVOKER"),
		tables.Constant[tableInfo]("CHARACTER_SET_CLIENT", "utf8mb4"),
		tables.Constant[tableInfo]("COLLATION_CONNECTION", "utf8mb4_general_ci"),
	),
	tables.New("statistics", func(v *tables.View) []keyPart { return sessionOf(v).keys() },
		def[keyPart]("TABLE_CATALOG"), schemaOfKey("TABLE_SCHEMA"), tableOfKey,
		tables.Number("NON_UNIQUE", func(*keyPart) int64 { return 0 }),
		schemaOfKey("INDEX_SCHEMA"), tables.Constant[keyPart]("INDEX_NAME", primary), placeInKey("SEQ_IN_INDEX"), columnOfKey,
		tables.Constant[keyPart]("COLLATION", "A"),
		tables.Null[keyPart]("CARDINALITY", "bigint"), tables.Null[keyPart]("SUB_PART", "bigint"), tables.Null[keyPart]("PACKED", tables.WordKind),
		tables.Constant[keyPart]("NULLABLE", ""), tables.Constant[keyPart]("INDEX_TYPE", "HASH"), tables.Constant[keyPart]("COMMENT", ""), tables.Constant[keyPart]("INDEX_COMMENT", ""),
		tables.Constant[keyPart]("IS_VISIBLE", "YES"), tables.Null[keyPart]("EXPRESSION", tables.TextKind),
	),
	tables.New("table_constraints", func(v *tables.View) []keyPart {
		return slices.DeleteFunc(sessionOf(v).keys(), func(k keyPart) bool { return k.place > 1 })
	},
		def[keyPart]("CONSTRAINT_CATALOG"), schemaOfKey("CONSTRAINT_SCHEMA"), tables.Constant[keyPart]("CONSTRAINT_NAME", primary), schemaOfKey("TABLE_SCHEMA"), tableOfKey,
		tables.Constant[keyPart]("CONSTRAINT_TYPE", "PRIMARY KEY"), tables.Constant[keyPart]("ENFORCED", "YES"),
	),
	tables.New("key_column_usage", func(v *tables.View) []keyPart { return sessionOf(v).keys() },
		def[keyPart]("CONSTRAINT_CATALOG"), schemaOfKey("CONSTRAINT_SCHEMA"), tables.Constant[keyPart]("CONSTRAINT_NAME", primary),
		def[keyPart]("TABLE_CATALOG"), schemaOfKey("TABLE_SCHEMA"), tableOfKey, columnOfKey, placeInKey("ORDINAL_POSITION"),
		tables.Null[keyPart]("POSITION_IN_UNIQUE_CONSTRAINT", "bigint"), tables.Null[keyPart]("REFERENCED_TABLE_SCHEMA", tables.WordKind),
		tables.Null[keyPart]("REFERENCED_TABLE_NAME", tables.WordKind), tables.Null[keyPart]("REFERENCED_COLUMN_NAME", tables.WordKind),
	),
	tables.Empty("referential_constraints", `CONSTRAINT_CATALOG CONSTRAINT_SCHEMA CONSTRAINT_NAME UNIQUE_CONSTRAINT_CATALOG UNIQUE_CONSTRAINT_SCHEMA UNIQUE_CONSTRAINT_NAME MATCH_OPTION UPDATE_RULE
			DELETE_RULE TABLE_NAME REFERENCED_TABLE_NAME`),
	tables.Empty("check_constraints", "CONSTRAINT_CATALOG CONSTRAINT_SCHEMA TABLE_NAME CONSTRAINT_NAME CHECK_CLAUSE"),
	tables.Empty("routines", `SPECIFIC_NAME ROUTINE_CATALOG ROUTINE_SCHEMA ROUTINE_NAME ROUTINE_TYPE DATA_TYPE DTD_IDENTIFIER ROUTINE_BODY ROUTINE_DEFINITION PARAMETER_STYLE IS_DETERMINISTIC SQL_DATA_ACCESS
			SECURITY_TYPE CREATED LAST_ALTERED SQL_MODE ROUTINE_COMMENT DEFINER`),
	tables.Empty("parameters", "SPECIFIC_CATALOG SPECIFIC_SCHEMA SPECIFIC_NAME ORDINAL_POSITION PARAMETER_MODE PARAMETER_NAME DATA_TYPE DTD_IDENTIFIER ROUTINE_TYPE"),
	tables.Empty("triggers", `TRIGGER_CATALOG TRIGGER_SCHEMA TRIGGER_NAME EVENT_MANIPULATION EVENT_OBJECT_CATALOG EVENT_OBJECT_SCHEMA EVENT_OBJECT_TABLE ACTION_ORDER ACTION_STATEMENT ACTION_TIMING CREATED
			SQL_MODE DEFINER`),
	tables.Empty("events", `EVENT_CATALOG EVENT_SCHEMA EVENT_NAME DEFINER TIME_ZONE EVENT_BODY EVENT_DEFINITION EVENT_TYPE EXECUTE_AT INTERVAL_VALUE INTERVAL_FIELD SQL_MODE STARTS ENDS STATUS ON_COMPLETION
			CREATED LAST_ALTERED LAST_EXECUTED EVENT_COMMENT ORIGINATOR`),
	tables.Empty("partitions", `TABLE_CATALOG TABLE_SCHEMA TABLE_NAME PARTITION_NAME SUBPARTITION_NAME PARTITION_ORDINAL_POSITION SUBPARTITION_ORDINAL_POSITION PARTITION_METHOD
			SUBPARTITION_METHOD PARTITION_EXPRESSION SUBPARTITION_EXPRESSION PARTITION_DESCRIPTION TABLE_ROWS AVG_ROW_LENGTH DATA_LENGTH MAX_DATA_LENGTH INDEX_LENGTH DATA_FREE CREATE_TIME UPDATE_TIME
			CHECK_TIME CHECKSUM PARTITION_COMMENT NODEGROUP TABLESPACE_NAME`),
	tables.Empty("innodb_cmp", "PAGE_SIZE COMPRESS_OPS COMPRESS_OPS_OK COMPRESS_TIME UNCOMPRESS_OPS UNCOMPRESS_TIME"),
	tables.Empty("innodb_cmpmem", "PAGE_SIZE BUFFER_POOL_INSTANCE PAGES_USED PAGES_FREE RELOCATION_OPS RELOCATION_TIME"),
	tables.Empty("keywords", "WORD RESERVED"),
	tables.Empty("files", "FILE_ID FILE_NAME FILE_TYPE TABLESPACE_NAME TABLE_SCHEMA TABLE_NAME ENGINE"),
	tables.Empty("profiling", "QUERY_ID SEQ STATE DURATION"),
})

// primary is the name of each table's only index.
const primary = "PRIMARY"

// A keyPart is a column of a table's primary key.
type keyPart struct {
	*columnInfo
	place int // from 1 on
}

// These are columns of tables of keys.
var (
	tableOfKey  = tables.Text("TABLE_NAME", tables.WordKind, func(_ *tables.View, k *keyPart) string { return k.table })
	columnOfKey = tables.Text("COLUMN_NAME", tables.WordKind, func(_ *tables.View, k *keyPart) string { return k.Name })
)

func schemaOfKey(name string) tables.Column[keyPart] {
	return tables.Text(name, tables.WordKind, func(_ *tables.View, k *keyPart) string { return k.schema })
}

func placeInKey(name string) tables.Column[keyPart] {
	return tables.Number(name, func(k *keyPart) int64 { return int64(k.place) })
}

// keys returns the columns of all primary keys, table by table.
func (s *Session) keys() (list []keyPart) {
	columns := s.columns()
	for i := range columns {
		c := &columns[i]
		if !c.Key {
			continue
		}
		place := 1
		if n := len(list); n > 0 && list[n-1].schema == c.schema && list[n-1].table == c.table {
			place = list[n-1].place + 1
		}
		list = append(list, keyPart{c, place})
	}
	return list
}

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
	tables.Head
}

// length returns how many characters a column of text can have, 0 for other columns.
func (c *columnInfo) length() uint64 {
	kind, size, _ := strings.Cut(c.Kind, "(")
	size = strings.TrimSuffix(size, ")")
	switch t, _, _ := language.KindOf(c.Kind).Shown(); {
	case t != language.String || strings.EqualFold(kind, "time"):
		return 0
	case strings.EqualFold(kind, "enum"):
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
	kind, size, _ := strings.Cut(strings.ToLower(c.Kind), "(")
	switch t, _, _ := language.KindOf(c.Kind).Shown(); {
	case t == language.Decimal:
		whole, _, _ := strings.Cut(strings.TrimRight(size, ") "), ",")
		n, _ := strconv.ParseUint(strings.TrimSpace(whole), 10, 32)
		return cmp.Or(n, 10)
	case strings.HasPrefix(kind, "float"):
		return 12
	case t == language.Float:
		return 22
	case t != language.Integer:
		return 0
	case strings.Contains(c.Kind, "unsigned") && strings.HasPrefix(kind, "bigint"):
		return 20
	}
	name, _, _ := strings.Cut(kind, " ")
	return cmp.Or(map[string]uint64{"bigint": 19, "mediumint": 7, "smallint": 5, "tinyint": 3}[name], 10)
}

// sessionOf returns the session whose statement reads a table.
func sessionOf(v *tables.View) *Session { return v.Statement.(underWay).s }

// def is the column of the catalog, of which there is only one.
func def[T any](name string) tables.Column[T] { return tables.Constant[T](name, "def") }

// client is a session as others see it.
type client struct {
	*identity
	*activity
}

// clients returns the sessions of the catalog that the user may see, ordered by their connections.
func (s *Session) clients() []client {
	var list []client
	user, all := s.who.Load().user, s.account().May(accounts.Process, "", "")
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
	names = slices.DeleteFunc(names, func(name string) bool { return !may.Sees(name, "") })
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
				info.definition = "/* computed from performance_schema */"
				if v := sysViews()[name].view; v != nil {
					info.definition = v.Definition
				}
			}
			list = append(list, info)
		}
	}
	for _, t := range s.statement.test {
		list = append(list, t.tableInfo)
	}
	may := s.account()
	list = slices.DeleteFunc(list, func(t tableInfo) bool { return !may.Sees(t.schema, t.name) })
	slices.SortFunc(list, func(a, b tableInfo) int { return strings.Compare(a.schema+"."+a.name, b.schema+"."+b.name) })
	return list
}

func (s *Session) columns() []columnInfo {
	var list []columnInfo
	for _, sc := range s.catalog.schemas {
		for name, t := range sc.tables {
			heads := t.Columns
			if sc.several && t.Rows != nil {
				keyed := slices.ContainsFunc(heads, func(h tables.Head) bool { return h.Key })
				heads = append([]tables.Head{{Name: processColumn, Kind: tables.WordKind, Key: keyed}}, heads...)
			}
			for i, c := range heads {
				if !c.Hidden {
					list = append(list, columnInfo{sc.name, name, i + 1, t.Rules != nil, c})
				}
			}
		}
	}
	for _, t := range s.statement.test {
		list = append(list, t.columns...)
	}
	may := s.account()
	list = slices.DeleteFunc(list, func(c columnInfo) bool { return !may.Sees(c.schema, c.table) })
	slices.SortStableFunc(list, func(a, b columnInfo) int { return strings.Compare(a.schema+"."+a.table, b.schema+"."+b.table) })
	return list
}

// has reports whether a table is the target.
func (t *target) has(schema, name string) bool {
	return strings.EqualFold(schema, t.Schema) && strings.EqualFold(name, t.Name)
}

// columnsOfTarget returns the columns of a table, as far as the user may see them.
func (s *Session) columnsOfTarget(t target) []columnInfo {
	return slices.DeleteFunc(s.columns(), func(c columnInfo) bool { return !t.has(c.schema, c.table) })
}

// beginsView matches what SQLite has before the query of a view.
var beginsView = words.Regexp(`(?is)^create\s.*?\sas\s+`)

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
		WHERE m.type IN ('table', 'view') AND m.name <> '`+language.ViewsTable+`' ORDER BY m.name, c.cid`)
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
				info.kind, info.engine, info.definition = viewType, "", sql[len(beginsView().FindString(sql)):]
			}
			s.statement.test = append(s.statement.test, testTable{tableInfo: info})
		}
		t := &s.statement.test[len(s.statement.test)-1]
		t.columns = append(t.columns, columnInfo{"test", table, position + 1, true, tables.Head{Name: column, Kind: plainKind.Replace(strings.ToLower(columnKind)), Updatable: true, Null: notNull == 0}})
	}
	if err := rows.Err(); err != nil {
		return err
	}
	views, err := s.userViews(ctx, "")
	for _, v := range views {
		t := testTable{tableInfo: tableInfo{schema: "test", name: v.name, kind: viewType, definition: v.definition}}
		for i, c := range v.columns {
			t.columns = append(t.columns, columnInfo{"test", v.name, i + 1, false, tables.Head{Name: c.Name, Kind: c.Kind, Null: true}})
		}
		s.statement.test = append(s.statement.test, t)
	}
	return err
}
