package schema

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// informationTables are those of information_schema, which clients ask for what there is.
var informationTables = func() map[string]*table {
	byName := map[string]*table{}
	for _, t := range []*table{
		newTable("schemata", func(v *view) []string { return v.session.schemas() },
			text("CATALOG_NAME", wordKind, func(*view, *string) string { return "def" }),
			text("SCHEMA_NAME", wordKind, func(_ *view, s *string) string { return *s }),
			text("DEFAULT_CHARACTER_SET_NAME", wordKind, func(*view, *string) string { return "utf8mb4" }),
			text("DEFAULT_COLLATION_NAME", wordKind, func(*view, *string) string { return "utf8mb4_general_ci" }),
		),
		newTable("tables", func(v *view) []tableInfo { return v.session.tables() },
			text("TABLE_CATALOG", wordKind, func(*view, *tableInfo) string { return "def" }),
			text("TABLE_SCHEMA", wordKind, func(_ *view, t *tableInfo) string { return t.schema }),
			text("TABLE_NAME", wordKind, func(_ *view, t *tableInfo) string { return t.name }),
			text("TABLE_TYPE", wordKind, func(_ *view, t *tableInfo) string { return t.kind }),
			text("ENGINE", wordKind, func(_ *view, t *tableInfo) string { return t.engine }),
			optional("TABLE_ROWS", "bigint", func(*view, *tableInfo) (string, bool) { return "", false }),
			text("TABLE_COLLATION", wordKind, func(*view, *tableInfo) string { return "utf8mb4_general_ci" }),
			text("TABLE_COMMENT", wordKind, func(*view, *tableInfo) string { return "" }),
		),
		newTable("columns", func(v *view) []columnInfo { return v.session.columns() },
			text("TABLE_CATALOG", wordKind, func(*view, *columnInfo) string { return "def" }),
			text("TABLE_SCHEMA", wordKind, func(_ *view, c *columnInfo) string { return c.schema }),
			text("TABLE_NAME", wordKind, func(_ *view, c *columnInfo) string { return c.table }),
			text("COLUMN_NAME", wordKind, func(_ *view, c *columnInfo) string { return c.name }),
			number("ORDINAL_POSITION", func(c *columnInfo) int64 { return int64(c.position) }),
			optional("COLUMN_DEFAULT", wordKind, func(*view, *columnInfo) (string, bool) { return "", false }),
			text("IS_NULLABLE", wordKind, func(_ *view, c *columnInfo) string { return yes(c.null) }),
			text("DATA_TYPE", wordKind, func(_ *view, c *columnInfo) string {
				kind, _, _ := strings.Cut(c.kind, "(")
				return strings.TrimSuffix(kind, " unsigned")
			}),
			text("COLUMN_TYPE", nameKind, func(_ *view, c *columnInfo) string { return c.kind }),
			text("COLUMN_KEY", wordKind, func(*view, *columnInfo) string { return "" }),
			text("EXTRA", wordKind, func(*view, *columnInfo) string { return "" }),
			text("PRIVILEGES", wordKind, func(_ *view, c *columnInfo) string {
				if c.updatable {
					return "select,update"
				}
				return "select"
			}),
			text("COLUMN_COMMENT", wordKind, func(*view, *columnInfo) string { return "" }),
		),
		newTable("engines", func(*view) []string { return []string{"PERFORMANCE_SCHEMA"} },
			text("ENGINE", wordKind, func(_ *view, e *string) string { return *e }),
			text("SUPPORT", wordKind, func(*view, *string) string { return "DEFAULT" }),
			text("COMMENT", nameKind, func(*view, *string) string { return "Performance Schema" }),
			text("TRANSACTIONS", wordKind, func(*view, *string) string { return "NO" }),
			text("XA", wordKind, func(*view, *string) string { return "NO" }),
			text("SAVEPOINTS", wordKind, func(*view, *string) string { return "NO" }),
		),
		newTable("character_sets", func(*view) []string { return []string{"utf8mb4"} },
			text("CHARACTER_SET_NAME", wordKind, func(_ *view, c *string) string { return *c }),
			text("DEFAULT_COLLATE_NAME", wordKind, func(*view, *string) string { return "utf8mb4_general_ci" }),
			text("DESCRIPTION", wordKind, func(*view, *string) string { return "UTF-8 Unicode" }),
			number("MAXLEN", func(*string) int64 { return 4 }),
		),
		newTable("collations", func(*view) []string { return []string{"utf8mb4_general_ci"} },
			text("COLLATION_NAME", wordKind, func(_ *view, c *string) string { return *c }),
			text("CHARACTER_SET_NAME", wordKind, func(*view, *string) string { return "utf8mb4" }),
			number("ID", func(*string) int64 { return 45 }),
			text("IS_DEFAULT", wordKind, func(*view, *string) string { return "Yes" }),
			text("IS_COMPILED", wordKind, func(*view, *string) string { return "Yes" }),
			number("SORTLEN", func(*string) int64 { return 1 }),
		),
		newTable("processlist", func(v *view) []*identity { return v.session.catalog.everyone() },
			number("ID", func(w **identity) int64 { return int64((*w).id) }),
			text("USER", wordKind, func(_ *view, w **identity) string { return (*w).user }),
			text("HOST", wordKind, func(_ *view, w **identity) string { return (*w).host }),
			text("COMMAND", wordKind, func(*view, **identity) string { return "Query" }),
		),
	} {
		byName[t.name] = t
	}
	return byName
}()

type tableInfo struct{ schema, name, kind, engine string }

type columnInfo struct {
	schema, table string
	position      int
	columnHead
}

// everyone returns who has sessions of the catalog, in the order of their connections.
func (c *Catalog) everyone() []*identity {
	var list []*identity
	sessions.Range(func(_, s any) bool {
		if s := s.(*Session); s.catalog == c {
			list = append(list, s.who.Load())
		}
		return true
	})
	slices.SortFunc(list, func(a, b *identity) int { return cmp.Compare(a.id, b.id) })
	return list
}

// schemas returns the names of all schemas.
func (s *Session) schemas() []string {
	names := []string{"test"}
	for _, sc := range s.catalog.schemas {
		names = append(names, sc.name)
	}
	slices.Sort(names)
	return names
}

// tables returns what is known of all tables. Those of test were read before the statement began: a table can't ask SQLite.
func (s *Session) tables() []tableInfo {
	var list []tableInfo
	for _, sc := range s.catalog.schemas {
		for name := range sc.tables {
			kind := "BASE TABLE"
			if sc.information {
				kind = "SYSTEM VIEW"
			}
			list = append(list, tableInfo{sc.name, name, kind, "PERFORMANCE_SCHEMA"})
		}
	}
	for _, t := range s.statement.test {
		list = append(list, t.tableInfo)
	}
	slices.SortFunc(list, func(a, b tableInfo) int { return strings.Compare(a.schema+"."+a.name, b.schema+"."+b.name) })
	return list
}

func (s *Session) columns() []columnInfo {
	var list []columnInfo
	for _, sc := range s.catalog.schemas {
		for name, t := range sc.tables {
			heads := t.columns
			if sc.several {
				heads = append([]columnHead{{name: processColumn, kind: wordKind}}, heads...)
			}
			for i, c := range heads {
				list = append(list, columnInfo{sc.name, name, i + 1, c})
			}
		}
	}
	for _, t := range s.statement.test {
		list = append(list, t.columns...)
	}
	slices.SortStableFunc(list, func(a, b columnInfo) int { return strings.Compare(a.schema+"."+a.table, b.schema+"."+b.table) })
	return list
}

// A testTable is one that the user made.
type testTable struct {
	tableInfo
	columns []columnInfo
}

// readTest reads what tables there are in test, for a statement that asks information_schema.
func (s *Session) readTest(ctx context.Context) error {
	rows, err := s.conn.QueryContext(ctx, `SELECT m.name, m.type, c.name, c.type, c."notnull", c.cid FROM test.sqlite_master m, pragma_table_info(m.name, 'test') c
		WHERE m.type IN ('table', 'view') ORDER BY m.name, c.cid`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var table, kind, column, columnKind string
		var notNull, position int
		if err := rows.Scan(&table, &kind, &column, &columnKind, &notNull, &position); err != nil {
			return err
		}
		if n := len(s.statement.test); n == 0 || s.statement.test[n-1].name != table {
			info := tableInfo{"test", table, "BASE TABLE", "SQLite"}
			if kind == "view" {
				info.kind = "VIEW"
			}
			s.statement.test = append(s.statement.test, testTable{tableInfo: info})
		}
		t := &s.statement.test[len(s.statement.test)-1]
		t.columns = append(t.columns, columnInfo{"test", table, position + 1, columnHead{column, strings.ToLower(columnKind), true, notNull == 0}})
	}
	return rows.Err()
}

// show is SHOW: a query of information_schema, or of the tables of status.
func (s *Session) show(ctx context.Context, st *stmt) (*Result, error) {
	i := 1
	for st.at(i).is("FULL") || st.at(i).is("GLOBAL") || st.at(i).is("SESSION") || st.at(i).is("LOCAL") || st.at(i).is("EXTENDED") {
		i++
	}
	full := st.at(1).is("FULL")
	what := strings.ToUpper(st.at(i).text)
	i++
	switch what {
	case "CREATE":
		return s.showCreate(ctx, st, i)
	case "TABLE": // SHOW TABLE STATUS
		what, i = "TABLE STATUS", i+1
	case "CHARACTER":
		what, i = "CHARSET", i+1
	case "STORAGE":
		what, i = "ENGINES", i+1
	case "COUNT": // SHOW COUNT(*) WARNINGS
		return nil, NewError(erUnsupported, "This version of ftrace doesn't yet support 'SHOW COUNT'")
	}
	t := target{schema: s.database}
	ofTable := what == "COLUMNS" || what == "FIELDS" || what == "INDEX" || what == "INDEXES" || what == "KEYS"
	if ofTable {
		if !st.at(i).is("FROM") && !st.at(i).is("IN") {
			return nil, syntaxError(st.rest(i))
		}
		var err error
		if t, err = s.target(st, i+1); err != nil {
			return nil, err
		}
		i = t.next
	}
	if st.at(i).is("FROM") || st.at(i).is("IN") {
		t.schema = st.at(i + 1).text
		if sc := s.catalog.schema(t.schema); sc == nil && !strings.EqualFold(t.schema, "test") {
			return nil, NewError(erUnknownDB, "Unknown database '%s'", t.schema)
		}
		i += 2
	}
	if ofTable {
		if err := s.exists(ctx, t); err != nil {
			return nil, err
		}
	}
	in := quoteString(t.schema)
	name, from := "", ""
	switch what {
	case "DATABASES", "SCHEMAS":
		name, from = "Database", "SELECT SCHEMA_NAME AS `Database` FROM information_schema.schemata"
	case "TABLES":
		name = "Tables_in_" + t.schema
		from = "SELECT TABLE_NAME AS " + quoteName(name)
		if full {
			from += ", TABLE_TYPE AS Table_type"
		}
		from += " FROM information_schema.tables WHERE TABLE_SCHEMA = " + in
	case "TABLE STATUS":
		name = "Name"
		from = "SELECT TABLE_NAME AS Name, ENGINE AS Engine, TABLE_ROWS AS Rows, TABLE_COLLATION AS Collation, TABLE_COMMENT AS Comment FROM information_schema.tables WHERE TABLE_SCHEMA = " + in
	case "COLUMNS", "FIELDS":
		name = "Field"
		collation, more := "", ""
		if full {
			collation, more = "CASE WHEN DATA_TYPE LIKE '%int' OR DATA_TYPE = 'double' THEN NULL ELSE 'utf8mb4_general_ci' END AS Collation, ", ", PRIVILEGES AS Privileges, COLUMN_COMMENT AS Comment"
		}
		from = `SELECT COLUMN_NAME AS Field, COLUMN_TYPE AS Type, ` + collation + `IS_NULLABLE AS "Null", COLUMN_KEY AS "Key", COLUMN_DEFAULT AS "Default", EXTRA AS Extra` + more +
			` FROM information_schema.columns WHERE TABLE_SCHEMA = ` + in + " AND TABLE_NAME = " + quoteString(t.name)
	case "INDEX", "INDEXES", "KEYS":
		name, from = "Key_name", `SELECT '' AS "Table", '' AS Non_unique, '' AS Key_name, '' AS Seq_in_index, '' AS Column_name WHERE 0`
	case "STATUS":
		name = "Variable_name"
		from = `SELECT VARIABLE_NAME AS Variable_name, CASE WHEN VARIABLE_NAME LIKE 'Performance%' THEN SUM(VARIABLE_VALUE) ELSE MAX(VARIABLE_VALUE) END AS Value
			FROM performance_schema.session_status GROUP BY 1`
	case "VARIABLES":
		name, from = "Variable_name", "SELECT DISTINCT VARIABLE_NAME AS Variable_name, VARIABLE_VALUE AS Value FROM performance_schema.session_variables"
	case "ENGINES":
		name, from = "Engine", "SELECT ENGINE AS Engine, SUPPORT AS Support, COMMENT AS Comment, TRANSACTIONS AS Transactions, XA, SAVEPOINTS AS Savepoints FROM information_schema.engines"
	case "PROCESSLIST":
		name, from = "Id", "SELECT ID AS Id, USER AS User, HOST AS Host, COMMAND AS Command FROM information_schema.processlist"
	case "CHARSET":
		name, from = "Charset", `SELECT CHARACTER_SET_NAME AS Charset, DESCRIPTION AS Description, DEFAULT_COLLATE_NAME AS "Default collation", MAXLEN AS Maxlen FROM information_schema.character_sets`
	case "COLLATION":
		name, from = "Collation", `SELECT COLLATION_NAME AS Collation, CHARACTER_SET_NAME AS Charset, ID AS Id, IS_DEFAULT AS "Default", IS_COMPILED AS Compiled, SORTLEN AS Sortlen FROM information_schema.collations`
	case "WARNINGS", "ERRORS":
		name, from = "Level", "SELECT '' AS Level, 0 AS Code, '' AS Message WHERE 0"
	case "GRANTS":
		who := s.who.Load()
		grant := fmt.Sprintf("GRANT SELECT, UPDATE ON performance_schema.* TO '%s'@'%s'", who.user, who.host)
		name, from = "Grants", fmt.Sprintf("SELECT %s AS %s", quoteString(grant), quoteName("Grants for "+who.String()))
		i = len(st.tokens)
	case "PLUGINS", "PRIVILEGES", "EVENTS", "TRIGGERS", "PROCEDURE", "FUNCTION", "PROFILES", "OPEN", "MASTER", "SLAVE", "BINARY":
		name, from = "Name", "SELECT '' AS Name, '' AS Status, '' AS Type WHERE 0"
		i = len(st.tokens)
	default:
		return nil, syntaxError(st.rest(1))
	}
	q := "SELECT * FROM (" + strings.ReplaceAll(from, "`", `"`) + ")"
	switch {
	case i == len(st.tokens):
	case st.at(i).is("LIKE"):
		q += " WHERE " + quoteName(name) + " LIKE " + literal(st.at(i+1).text) + ` ESCAPE '\'`
	case st.at(i).is("WHERE"), st.at(i).is("LIMIT"):
		where, _, err := s.rewrite(st.text, st.tokens[i:])
		if err != nil {
			return nil, err
		}
		q += " " + where
	default:
		return nil, syntaxError(st.rest(i))
	}
	if err := s.readTest(ctx); err != nil {
		return nil, err
	}
	return s.read(ctx, q, nil, st.args)
}

// exists says whether a table is there.
func (s *Session) exists(ctx context.Context, t target) error {
	if sc := s.catalog.schema(t.schema); sc != nil && sc.tables[strings.ToLower(t.name)] != nil {
		return nil
	}
	if strings.EqualFold(t.schema, "test") {
		var n int
		if s.conn.QueryRowContext(ctx, "SELECT count(*) FROM test.sqlite_master WHERE name = ? COLLATE NOCASE", t.name).Scan(&n); n > 0 {
			return nil
		}
	}
	return t.missing()
}

// showCreate is SHOW CREATE TABLE.
func (s *Session) showCreate(ctx context.Context, st *stmt, i int) (*Result, error) {
	if !st.at(i).is("TABLE") && !st.at(i).is("VIEW") {
		return nil, NewError(erUnsupported, "This version of ftrace doesn't yet support 'SHOW CREATE %s'", strings.ToUpper(st.at(i).text))
	}
	t, err := s.target(st, i+1)
	if err != nil {
		return nil, err
	}
	if err := s.exists(ctx, t); err != nil {
		return nil, err
	}
	if err := s.readTest(ctx); err != nil {
		return nil, err
	}
	var lines []string
	for _, c := range s.columns() {
		if strings.EqualFold(c.schema, t.schema) && strings.EqualFold(c.table, t.name) {
			line := fmt.Sprintf("  `%s` %s", c.name, c.kind)
			if !c.null {
				line += " NOT NULL"
			} else {
				line += " DEFAULT NULL"
			}
			lines = append(lines, line)
		}
	}
	text := fmt.Sprintf("CREATE TABLE `%s` (\n%s\n) ENGINE=PERFORMANCE_SCHEMA DEFAULT CHARSET=utf8mb4", t.name, strings.Join(lines, ",\n"))
	return &Result{Columns: []Column{{"Table", String}, {"Create Table", String}}, ahead: [][]any{{t.name, text}}}, nil
}

// describe is DESCRIBE t, and EXPLAIN of a query, which says what SQLite does.
func (s *Session) describe(ctx context.Context, st *stmt) (*Result, error) {
	i := 1
	if handlers[strings.ToUpper(st.at(1).text)] != nil && st.at(1).kind != name {
		q, _, err := s.rewrite(st.text, st.tokens[1:])
		if err != nil {
			return nil, err
		}
		return s.read(ctx, "EXPLAIN QUERY PLAN "+q, nil, st.args)
	}
	t, err := s.target(st, i)
	if err != nil {
		return nil, err
	}
	text := "SHOW COLUMNS FROM `" + t.schema + "`.`" + t.name + "`"
	if column := st.at(t.next); column.identifier() || column.kind == str {
		text += " LIKE " + quoteString(column.text)
	}
	list, err := tokens(text)
	if err != nil {
		return nil, err
	}
	return s.show(ctx, &stmt{text, list, nil})
}
