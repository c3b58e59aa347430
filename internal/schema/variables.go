package schema

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/functions"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/language"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// variableDefaults are the variables that clients read, with MySQL's values.
var variableDefaults = map[string]string{
	"autocommit": "ON", "auto_increment_increment": "1", "cte_max_recursion_depth": "1000", "character_set_client": "utf8mb4", "character_set_connection": "utf8mb4",
	"character_set_database": "utf8mb4", "character_set_results": "utf8mb4", "character_set_server": "utf8mb4", "character_set_system": "utf8",
	"collation_connection": "utf8mb4_general_ci", "collation_database": "utf8mb4_general_ci", "collation_server": "utf8mb4_general_ci",
	"default_storage_engine": "PERFORMANCE_SCHEMA", "foreign_key_checks": "ON", "have_ssl": "DISABLED", "init_connect": "",
	"interactive_timeout": "28800", "license": "MIT", "lower_case_table_names": "2", "max_allowed_packet": "67108864", "max_execution_time": "0", "max_statement_time": "0",
	"net_buffer_length": "16384", "net_read_timeout": "30", "net_write_timeout": "60", "performance_schema": "ON", "protocol_version": "10",
	"query_cache_size": "0", "query_cache_type": "OFF", "session_track_schema": "ON", "session_track_gtids": "OFF",
	"session_track_state_change": "OFF", "session_track_system_variables": "", "session_track_transaction_info": "OFF", "character_set_filesystem": "binary", "sql_log_bin": "OFF", "sql_auto_is_null": "OFF", "sql_mode": "STRICT_TRANS_TABLES",
	"sql_notes": "ON", "sql_safe_updates": "OFF", "sql_select_limit": "18446744073709551615", "sql_warnings": "OFF",
	"storage_engine": "PERFORMANCE_SCHEMA", "system_time_zone": "UTC", "time_zone": "SYSTEM", "transaction_isolation": "REPEATABLE-READ",
	"transaction_read_only": "OFF", "tx_isolation": "REPEATABLE-READ", "tx_read_only": "OFF", "unique_checks": "ON", "version": serverVersion,
	"version_comment": "ftrace: the Performance Schema of Go programs", "version_compile_machine": "", "version_compile_os": "", "wait_timeout": "28800",
	"hostname": "localhost", "port": "3306", "profiling": "OFF", "net_retry_count": "10", "sql_quote_show_create": "ON", "read_only": "OFF",
	"super_read_only": "OFF", "skip_networking": "OFF", "big_tables": "OFF", "group_concat_max_len": "1048576", "lock_wait_timeout": "31536000",
	"optimizer_switch": "", "disabled_storage_engines": "", "lc_messages": "en_US", "lc_time_names": "en_US", "default_week_format": "0", "event_scheduler": "OFF",
	"offline_mode": "OFF", "have_profiling": "NO", "have_openssl": "DISABLED", "innodb_version": "", "log_bin": "OFF", "basedir": "", "datadir": "",
	"socket": "", "tmpdir": "", "max_connections": "151", "max_user_connections": "0", "table_open_cache": "2000", "key_buffer_size": "8388608",
	"sql_big_selects": "ON", "div_precision_increment": "4", "timestamp": "0", "server_id": "0", "server_uuid": "", "local_infile": "OFF",
	"plugin_dir": "", "default_authentication_plugin": "caching_sha2_password", "tls_version": "TLSv1.2,TLSv1.3",
	"explicit_defaults_for_timestamp": "ON", "default_tmp_storage_engine": "PERFORMANCE_SCHEMA", "secure_file_priv": "", "slow_query_log": "OFF",
	"general_log": "OFF", "pseudo_thread_id": "0", "identity": "0", "last_insert_id": "0", "warning_count": "0", "error_count": "0", "max_error_count": "64",
}

// fixedVariables can't be set.
var fixedVariables = []string{"version", "version_comment", "license", "hostname", "port", "performance_schema", "protocol_version", "lower_case_table_names", "character_set_system", "system_time_zone", "have_ssl"}

// numericVariables have an effect. They are integers of at least the given value, except
// max_statement_time, which may be any number of seconds. SET GLOBAL changes them for later
// sessions.
var numericVariables = map[string]int64{"max_execution_time": 0, "max_statement_time": 0, "wait_timeout": 1, "net_write_timeout": 1, "cte_max_recursion_depth": 0}

// variables returns the variables that a session begins with.
func (c *Catalog) variables() map[string]string {
	variables := maps.Clone(variableDefaults)
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.Copy(variables, c.globals)
	return variables
}

// Seconds returns a variable of the session that is a number of seconds.
func (s *Session) Seconds(name string) time.Duration {
	seconds, _ := strconv.ParseInt(s.variables[name], 10, 64)
	return time.Duration(min(seconds, maxTime/1000)) * time.Second
}

// plainVariable returns a variable's name without its scope.
func plainVariable(name string) string {
	name = strings.ToLower(name)
	for _, scope := range []string{"session.", "global.", "local."} {
		name = strings.TrimPrefix(name, scope)
	}
	return name
}

// variable returns @@name.
func (s *Session) variable(name string) (value, error) {
	from := s.variables
	if isGlobal(name) && isNumeric(plainVariable(name)) {
		from = s.catalog.variables()
	}
	switch plainVariable(name) {
	case "warning_count":
		s.warned.asked = true
		return int64(s.before.count), nil
	case "error_count":
		s.warned.asked = true
		return int64(s.before.errored), nil
	}
	v, ok := from[plainVariable(name)]
	if !ok {
		return nil, mysqlerr.New(mysqlerr.UnknownVar, "Unknown system variable '%s'", plainVariable(name))
	}
	n, err := strconv.ParseUint(v, 10, 63)
	switch {
	case v == "ON":
		return int64(1), nil
	case v == "OFF":
		return int64(0), nil
	case err == nil:
		return int64(n), nil
	}
	return v, nil
}

// set is SET: of variables, most of which are kept but change nothing, of @variables, and of names
// of character sets.
func (s *Session) set(ctx context.Context, st *language.Statement) (*Result, error) {
	switch {
	case st.Is(1, "STATEMENT"):
		return s.setStatement(ctx, st)
	case st.Is(1, "SESSION", "TRANSACTION"), st.Is(1, "LOCAL", "TRANSACTION"):
		return &Result{}, s.setTransactions(st, 3)
	case st.Is(1, "NAMES"), st.Is(1, "CHARACTER"), st.Is(1, "CHARSET"), st.Is(1, "TRANSACTION"), st.Is(1, "GLOBAL", "TRANSACTION"):
		return &Result{}, nil
	}
	return &Result{}, s.setAll(ctx, st, 1)
}

// setTransactions is SET SESSION TRANSACTION, whose characteristics begin at a token.
func (s *Session) setTransactions(st *language.Statement, i int) error {
	set := map[string]string{}
	for more := true; more; i++ {
		switch {
		case st.Is(i, "READ", "ONLY"):
			set["transaction_read_only"] = "ON"
			i += 2
		case st.Is(i, "READ", "WRITE"):
			set["transaction_read_only"] = "OFF"
			i += 2
		case st.Is(i, "ISOLATION", "LEVEL", "SERIALIZABLE"):
			set["transaction_isolation"] = "SERIALIZABLE"
			i += 3
		case st.Is(i, "ISOLATION", "LEVEL", "REPEATABLE", "READ"), st.Is(i, "ISOLATION", "LEVEL", "READ", "COMMITTED"), st.Is(i, "ISOLATION", "LEVEL", "READ", "UNCOMMITTED"):
			set["transaction_isolation"] = st.Verb(i+2) + "-" + st.Verb(i+3)
			i += 4
		default:
			return st.Near(i)
		}
		more = st.Is(i, ",")
		if !more && i < st.Len() {
			return st.Near(i)
		}
	}
	for name, text := range set {
		s.setBoth(name, text)
	}
	return nil
}

// setBoth sets a variable, and the other name that it has.
func (s *Session) setBoth(name, text string) {
	s.variables[name] = text
	if other, has := otherNames[name]; has {
		s.variables[other] = text
	}
}

// otherNames are variables that have two names.
var otherNames = map[string]string{
	"transaction_read_only": "tx_read_only", "tx_read_only": "transaction_read_only",
	"transaction_isolation": "tx_isolation", "tx_isolation": "transaction_isolation",
}

// setAll sets the variables from a token on.
func (s *Session) setAll(ctx context.Context, st *language.Statement, i int) error {
	list, err := st.Settings(i)
	if err != nil {
		return err
	}
	for _, set := range list {
		v, kind := value(set.Word), language.Kind{}
		if set.Value != nil {
			if v, kind, err = s.evaluate(ctx, set.Value); err != nil {
				return err
			}
		}
		if set.User {
			err = s.assignUser(strings.ToLower(set.Name), v, kind)
		} else {
			err = s.setVariable(plainVariable(set.Name), v, set.Global || isGlobal(set.Name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// evaluate returns the first value of a query, and what it is.
func (s *Session) evaluate(ctx context.Context, q *language.Query) (v value, kind language.Kind, err error) {
	p, err := q.Plan(names{s})
	if err != nil {
		return nil, kind, err
	}
	r, err := s.answer(ctx, p)
	if err != nil {
		return nil, kind, err
	}
	defer r.Close()
	row, err := r.Next()
	if err != nil || row == nil {
		return nil, kind, err
	}
	return row[0], p.Columns[0].Kind, nil
}

func (s *Session) setVariable(name string, v value, global bool) error {
	_, known := s.variables[name]
	switch {
	case strings.HasPrefix(name, "performance_schema"), slices.Contains(fixedVariables, name):
		return mysqlerr.New(mysqlerr.VarReadOnly, "Variable '%s' is a read only variable", name)
	case !known:
		return mysqlerr.New(mysqlerr.UnknownVar, "Unknown system variable '%s'", name)
	}
	text, _ := functions.Text(v)
	switch {
	case strings.EqualFold(text, "DEFAULT"):
		if text = variableDefaults[name]; !global {
			text = s.catalog.variables()[name]
		}
	case isNumeric(name):
		n, err := strconv.ParseFloat(text, 64)
		_, whole := v.(int64)
		if _, number := v.(float64); err != nil || !number && !whole || !whole && name != "max_statement_time" {
			return mysqlerr.New(mysqlerr.VariableType, "Incorrect argument type to variable '%s'", name)
		}
		text = strconv.FormatFloat(max(n, float64(numericVariables[name])), 'f', -1, 64)
	case variableDefaults[name] == "ON" || variableDefaults[name] == "OFF":
		switch strings.ToUpper(text) {
		case "1", "ON", "TRUE":
			text = "ON"
		case "0", "OFF", "FALSE":
			text = "OFF"
		default:
			return mysqlerr.New(mysqlerr.WrongValue, "Variable '%s' can't be set to the value of '%s'", name, text)
		}
	}
	if global {
		if s.catalog.ReadOnly {
			return readOnly("SET GLOBAL")
		}
		if err := s.needs(accounts.SetVariables); err != nil {
			return err
		}
	}
	if global && isNumeric(name) {
		s.catalog.mu.Lock()
		defer s.catalog.mu.Unlock()
		if s.catalog.globals == nil {
			s.catalog.globals = map[string]string{}
		}
		s.catalog.globals[name] = text
		return nil
	}
	s.setBoth(name, text)
	return nil
}

func isNumeric(name string) bool { _, is := numericVariables[name]; return is }

// isGlobal reports whether the name of a variable has the scope GLOBAL.
func isGlobal(name string) bool { return strings.HasPrefix(strings.ToLower(name), "global.") }
