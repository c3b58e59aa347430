package schema

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// show is SHOW: a query of information_schema, or of the tables of status.
func (s *Session) show(ctx context.Context, st *language.Statement) (*Result, error) {
	i := 1
	for st.Is(i, "FULL") || st.Is(i, "GLOBAL") || st.Is(i, "SESSION") || st.Is(i, "LOCAL") || st.Is(i, "EXTENDED") {
		i++
	}
	full := st.Is(1, "FULL")
	what := strings.ToUpper(st.Word(i))
	i++
	switch what {
	case "CREATE":
		return s.showCreate(ctx, st, i)
	case "ENGINE":
		return s.showEngine(ctx, st, i)
	case "TABLE", "PROCEDURE", "FUNCTION", "MASTER", "SLAVE", "REPLICA", "BINARY", "OPEN": // SHOW TABLE STATUS
		what, i = what+" "+strings.ToUpper(st.Word(i)), i+1
	case "CHARACTER":
		what, i = "CHARSET", i+1
	case "STORAGE":
		what, i = "ENGINES", i+1
	case "WARNINGS", "ERRORS":
		return s.warnings(ctx, st, i, what == "ERRORS")
	case "COUNT": // SHOW COUNT(*) WARNINGS
		name := strings.ToLower(strings.TrimSuffix(st.Word(i+3), "S")) + "_count"
		n, err := s.variable(name)
		if err != nil || name != "warning_count" && name != "error_count" {
			return nil, st.Near(i)
		}
		return s.read(ctx, "SELECT "+language.Literal(n)+" AS "+language.QuoteName("@@session."+name), nil, nil)
	}
	t := target{Table: language.Table{Schema: s.database}}
	ofTable := what == "COLUMNS" || what == "FIELDS" || what == "INDEX" || what == "INDEXES" || what == "KEYS"
	if ofTable {
		if !st.Is(i, "FROM") && !st.Is(i, "IN") {
			return nil, st.Near(i)
		}
		var err error
		if t, err = s.target(st, i+1); err != nil {
			return nil, err
		}
		i = t.next
	}
	if st.Is(i, "FROM") || st.Is(i, "IN") {
		t.Schema = st.Word(i + 1)
		if _, err := s.catalog.nameOf(t.Schema); err != nil {
			return nil, err
		}
		i += 2
	}
	if ofTable {
		if err := s.shows(ctx, t); err != nil {
			return nil, err
		}
	}
	if what == "GRANTS" {
		return s.showGrants(st, i)
	}
	of, known := shown()[what]
	if !known {
		return nil, st.Near(1)
	}
	from := of.from
	if full && of.full != "" {
		from = of.full
	}
	name := strings.ReplaceAll(of.name, "{schema}", t.Schema)
	from = strings.NewReplacer("{name}", language.QuoteName(name), "{schema}", language.QuoteString(t.Schema), "{table}", language.QuoteString(t.Name)).Replace(from)
	q, args := "SELECT * FROM ("+from+")", []any(nil)
	switch {
	case i == st.Len():
	case st.Is(i, "LIKE"), st.Is(i, "WHERE"), st.Is(i, "LIMIT"):
		p, err := st.Filter(names{s}, i, name)
		if err != nil {
			return nil, err
		}
		q, args = q+p.Text, p.Args
	default:
		return nil, st.Near(i)
	}
	if err := s.readTest(ctx); err != nil {
		return nil, err
	}
	return s.read(ctx, q, args, nil)
}

// A showing is what SHOW lists.
type showing struct {
	name string // the column to which LIKE applies
	from string // the query of it
	full string // that of SHOW FULL; "": the same
}

// shown are what SHOW can list. {schema} and {table} are what it is of, and {name} its name.
var shown = sync.OnceValue(func() map[string]showing {
	columns := func(collation, more string) string {
		return `SELECT COLUMN_NAME AS Field, COLUMN_TYPE AS Type, ` + collation + `IS_NULLABLE AS "Null", COLUMN_KEY AS "Key", COLUMN_DEFAULT AS "Default", EXTRA AS Extra` + more +
			` FROM information_schema.columns WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table}`
	}
	clients := func(info string) string {
		return "SELECT ID AS Id, USER AS User, HOST AS Host, DB AS db, COMMAND AS Command, TIME AS Time, STATE AS State, " + info + " AS Info FROM information_schema.processlist"
	}
	list := map[string]showing{
		"DATABASES": {"Database", `SELECT SCHEMA_NAME AS "Database" FROM information_schema.schemata`, ""},
		"TABLES": {"Tables_in_{schema}", "SELECT TABLE_NAME AS {name} FROM information_schema.tables WHERE TABLE_SCHEMA = {schema}",
			"SELECT TABLE_NAME AS {name}, TABLE_TYPE AS Table_type FROM information_schema.tables WHERE TABLE_SCHEMA = {schema}"},
		"TABLE STATUS": {"Name", `SELECT TABLE_NAME AS Name, ENGINE AS Engine, VERSION AS Version, ROW_FORMAT AS Row_format, TABLE_ROWS AS Rows, AVG_ROW_LENGTH AS Avg_row_length, DATA_LENGTH AS Data_length,
			MAX_DATA_LENGTH AS Max_data_length, INDEX_LENGTH AS Index_length, DATA_FREE AS Data_free, AUTO_INCREMENT AS Auto_increment, CREATE_TIME AS Create_time, UPDATE_TIME AS Update_time,
			CHECK_TIME AS Check_time, TABLE_COLLATION AS Collation, CHECKSUM AS Checksum, CREATE_OPTIONS AS Create_options, TABLE_COMMENT AS Comment
			FROM information_schema.tables WHERE TABLE_SCHEMA = {schema}`, ""},
		"COLUMNS": {"Field", columns("", ""),
			columns("CASE WHEN DATA_TYPE LIKE '%int' OR DATA_TYPE = 'double' THEN NULL ELSE 'utf8mb4_general_ci' END AS Collation, ", ", PRIVILEGES AS Privileges, COLUMN_COMMENT AS Comment")},
		"STATUS": {"Variable_name", `SELECT VARIABLE_NAME AS Variable_name, CASE WHEN VARIABLE_NAME LIKE 'Performance%' THEN SUM(VARIABLE_VALUE) ELSE MAX(VARIABLE_VALUE) END AS Value
			FROM performance_schema.session_status GROUP BY 1`, ""},
		"VARIABLES":   {"Variable_name", "SELECT DISTINCT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS Value FROM performance_schema.session_variables", ""},
		"ENGINES":     {"Engine", "SELECT ENGINE AS Engine, SUPPORT AS Support, COMMENT AS Comment, TRANSACTIONS AS Transactions, XA, SAVEPOINTS AS Savepoints FROM information_schema.engines", ""},
		"PLUGINS":     {"Name", "SELECT PLUGIN_NAME AS Name, PLUGIN_STATUS AS Status, PLUGIN_TYPE AS Type, PLUGIN_LIBRARY AS Library, PLUGIN_LICENSE AS License FROM information_schema.plugins", ""},
		"PROCESSLIST": {"Id", clients("SUBSTR(INFO, 1, 100)"), clients("INFO")},
		"CHARSET":     {"Charset", `SELECT CHARACTER_SET_NAME AS Charset, DESCRIPTION AS Description, DEFAULT_COLLATE_NAME AS "Default collation", MAXLEN AS Maxlen FROM information_schema.character_sets`, ""},
		"COLLATION": {"Collation", `SELECT COLLATION_NAME AS Collation, CHARACTER_SET_NAME AS Charset, ID AS Id, IS_DEFAULT AS "Default", IS_COMPILED AS Compiled, SORTLEN AS Sortlen
			FROM information_schema.collations`, ""},
		"PRIVILEGES": {"Privilege", showPrivileges(), ""},
		"INDEX": {"Key_name", `SELECT TABLE_NAME AS "Table", NON_UNIQUE AS Non_unique, INDEX_NAME AS Key_name, SEQ_IN_INDEX AS Seq_in_index, COLUMN_NAME AS Column_name, COLLATION AS Collation,
			CARDINALITY AS Cardinality, SUB_PART AS Sub_part, PACKED AS Packed, NULLABLE AS "Null", INDEX_TYPE AS Index_type, COMMENT AS Comment, INDEX_COMMENT AS Index_comment
			FROM information_schema.statistics WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {table}`, ""},
	}
	for what, columns := range map[string]string{ // what never exists here
		"PROCEDURE STATUS": "Db,Name,Type,Definer,Modified,Created,Security_type,Comment,character_set_client,collation_connection,Database Collation",
		"TRIGGERS":         "Trigger,Event,Table,Statement,Timing,Created,sql_mode,Definer,character_set_client,collation_connection,Database Collation",
		"EVENTS":           "Db,Name,Definer,Time zone,Type,Execute at,Interval value,Interval field,Starts,Ends,Status,Originator,character_set_client,collation_connection,Database Collation",
		"PROFILES":         "Query_ID,Duration,Query",
		"OPEN TABLES":      "Database,Table,In_use,Name_locked",
		"BINARY LOGS":      "Log_name,File_size",
		"BINARY LOG":       "File,Position,Binlog_Do_DB,Binlog_Ignore_DB,Executed_Gtid_Set",
		"SLAVE STATUS":     "Slave_IO_State,Master_Host,Master_User,Master_Port",
		"SLAVE HOSTS":      "Server_id,Host,Port,Master_id,Slave_UUID",
	} {
		names := strings.Split(columns, ",")
		name := names[map[bool]int{true: 1}[what == "PROCEDURE STATUS"]]
		for i := range names {
			names[i] = "NULL AS " + language.QuoteName(names[i])
		}
		list[what] = showing{name, "SELECT " + strings.Join(names, ", ") + " WHERE 0", ""}
	}
	for other, what := range map[string]string{"SCHEMAS": "DATABASES", "FIELDS": "COLUMNS", "INDEXES": "INDEX", "KEYS": "INDEX", "FUNCTION STATUS": "PROCEDURE STATUS", "MASTER LOGS": "BINARY LOGS",
		"MASTER STATUS": "BINARY LOG", "REPLICA STATUS": "SLAVE STATUS"} {
		list[other] = list[what]
	}
	return list
})

// showPrivileges is the query that SHOW PRIVILEGES runs: what GRANT can give.
func showPrivileges() string {
	comments := []string{"To read rows", "To insert rows", "To change rows", "To delete rows", "To make tables", "To drop and empty tables, and to drop views", "To make and drop indexes", "To alter tables", "To make views",
		"To see how views are defined", "To see what all clients do", "To make and drop accounts", "To end what other accounts do", "To set variables for all"}
	var rows []string
	for i, name := range accounts.PrivilegeNames {
		context := "Tables"
		if accounts.OfTables>>i&1 == 0 {
			context = "Server Admin"
		}
		rows = append(rows, fmt.Sprintf("SELECT %s AS Privilege, %s AS Context, %s AS Comment", language.Literal(name), language.Literal(context), language.Literal(comments[i])))
	}
	return strings.Join(rows, " UNION ALL ")
}

// showEngine is SHOW ENGINE PERFORMANCE_SCHEMA STATUS: the tracer's memory.
func (s *Session) showEngine(ctx context.Context, st *language.Statement, i int) (*Result, error) {
	if err := s.needs(accounts.Process); err != nil {
		return nil, err
	}
	if !strings.EqualFold(st.Word(i), "performance_schema") {
		return nil, mysqlerr.New(1286, "Unknown storage engine '%s'", st.Word(i))
	}
	return s.read(ctx, `SELECT 'performance_schema' AS "Type", REPLACE(EVENT_NAME, 'memory/ftrace/', '') || '.memory' AS "Name", SUM(CURRENT_NUMBER_OF_BYTES_USED) AS "Status"
		FROM performance_schema.memory_summary_global_by_event_name GROUP BY 2`, nil, nil)
}

// shows returns an error if a table does not exist, or nothing of it is for the user.
func (s *Session) shows(ctx context.Context, t target) error {
	if !s.account().Sees(t.Schema, t.Name) {
		return s.denied("SELECT", t.Name)
	}
	return s.exists(ctx, t)
}

// exists returns an error if a table does not exist.
func (s *Session) exists(ctx context.Context, t target) error {
	if sc := s.catalog.schema(t.Schema); sc != nil && sc.tables[strings.ToLower(t.Name)] != nil {
		return nil
	}
	if strings.EqualFold(t.Schema, "test") {
		var n int
		if v, err := s.userView(ctx, t.Schema, t.Name); err != nil || v != nil {
			return err
		}
		if s.conn.QueryRowContext(ctx, "SELECT count(*) FROM test.sqlite_master WHERE name = ? COLLATE NOCASE", t.Name).Scan(&n); n > 0 {
			return nil
		}
	}
	return t.missing()
}

// showCreate is SHOW CREATE TABLE, and SHOW CREATE VIEW.
func (s *Session) showCreate(ctx context.Context, st *language.Statement, i int) (*Result, error) {
	if st.Is(i, "DATABASE") || st.Is(i, "SCHEMA") {
		name := st.Word(st.Len() - 1)
		if _, err := s.catalog.nameOf(name); err != nil {
			return nil, err
		}
		return &Result{Columns: textColumns("Database", "Create Database"), ahead: [][]any{{name, fmt.Sprintf("CREATE DATABASE `%s` /*!40100 DEFAULT CHARACTER SET utf8mb4 */", name)}}}, nil
	}
	if !st.Is(i, "TABLE") && !st.Is(i, "VIEW") {
		return nil, mysqlerr.NotYet("SHOW CREATE " + strings.ToUpper(st.Word(i)))
	}
	t, err := s.target(st, i+1)
	if err != nil {
		return nil, err
	}
	if err := s.shows(ctx, t); err != nil {
		return nil, err
	}
	if err := s.readTest(ctx); err != nil {
		return nil, err
	}
	var lines, names, keys []string
	for _, c := range s.columnsOfTarget(t) {
		names = append(names, "`"+c.Name+"`")
		if c.Key {
			keys = append(keys, "`"+c.Name+"`")
		}
		lines = append(lines, fmt.Sprintf("  `%s` %s %s", c.Name, c.Kind, map[bool]string{true: "DEFAULT NULL", false: "NOT NULL"}[c.Null]))
	}
	for _, info := range s.tables() {
		if info.kind == viewType && t.has(info.schema, info.name) {
			text := fmt.Sprintf("CREATE VIEW `%s` (%s) AS %s", info.name, strings.Join(names, ","), info.definition)
			return &Result{Columns: textColumns("View", "Create View", "character_set_client", "collation_connection"),
				ahead: [][]any{{info.name, text, "utf8mb4", "utf8mb4_general_ci"}}}, nil
		}
	}
	if st.Is(i, "VIEW") {
		return nil, mysqlerr.New(mysqlerr.NotView, "'%s.%s' is not VIEW", t.Schema, t.Name)
	}
	if keys != nil {
		lines = append(lines, "  PRIMARY KEY ("+strings.Join(keys, ",")+")")
	}
	text := fmt.Sprintf("CREATE TABLE `%s` (\n%s\n) ENGINE=PERFORMANCE_SCHEMA DEFAULT CHARSET=utf8mb4", t.Name, strings.Join(lines, ",\n"))
	return &Result{Columns: textColumns("Table", "Create Table"), ahead: [][]any{{t.Name, text}}}, nil
}

// describe is DESCRIBE t, and EXPLAIN of a query, which shows what SQLite does.
func (s *Session) describe(ctx context.Context, st *language.Statement) (*Result, error) {
	i, asJSON := 1, false
	switch {
	case st.Is(1, "FORMAT", "="):
		if asJSON = st.Is(3, "JSON"); !asJSON && !st.Is(3, "TRADITIONAL") {
			return nil, mysqlerr.NotYet("EXPLAIN FORMAT=" + st.Word(3))
		}
		i = 4
	case st.Is(1, "FOR", "CONNECTION"):
		return nil, mysqlerr.NotYet("EXPLAIN FOR CONNECTION")
	case (st.Is(1, "EXTENDED") || st.Is(1, "PARTITIONS") || st.Is(1, "ANALYZE")) && handlers[st.Verb(2)] != nil:
		if st.Is(1, "ANALYZE") {
			return nil, mysqlerr.NotYet("EXPLAIN ANALYZE")
		}
		i = 2
	}
	if handlers[st.Verb(i)] != nil {
		p, err := s.explained(st, i)
		if err != nil {
			return nil, err
		}
		r, err := s.read(ctx, "EXPLAIN QUERY PLAN "+p.Text, p.Args, nil)
		if err != nil || !asJSON {
			return r, err
		}
		return planJSON(r)
	}
	t, err := s.target(st, i)
	if err != nil {
		return nil, err
	}
	text := "SHOW COLUMNS FROM `" + t.Schema + "`.`" + t.Name + "`"
	switch st.Len() - t.next {
	case 0:
	case 1: // a column, or a pattern
		text += " LIKE " + language.QuoteString(st.Word(t.next))
	default:
		return nil, st.Near(t.next + 1)
	}
	if st, err = language.Read(text, nil); err != nil {
		return nil, err
	}
	return s.show(ctx, st)
}
