package schema

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// TestPrivileges: what each account may do, by MySQL's numbers of errors.
func TestPrivileges(t *testing.T) {
	c := &Catalog{Accounts: accounts.New("ftrace", "secret")}
	c.Accounts.AddReader("reader", "readers")
	c.Add(newFake("p"))
	sessions := map[string]*Session{}
	as := func(user string) *Session {
		s := sessions[user]
		if s == nil {
			s = openIn(t, c)
			s.Identify(uint32(len(sessions)+1), user+"@localhost", nil)
			sessions[user] = s
		}
		return s
	}
	for _, step := range strings.Split(strings.TrimSpace(`
ftrace 0 CREATE TABLE test.own (a INT)
ftrace 0 CREATE USER 'ann'@'%' IDENTIFIED BY 'x', bob@localhost IDENTIFIED WITH caching_sha2_password BY "y"
ftrace 1396 CREATE USER ann IDENTIFIED BY 'x'
ftrace 0 CREATE USER IF NOT EXISTS ann IDENTIFIED BY 'x'
ftrace 1396 CREATE USER ftrace IDENTIFIED BY 'x'
ftrace 1396 DROP USER ftrace
ftrace 1396 DROP USER nobody
ftrace 0 DROP USER IF EXISTS nobody
ftrace 1396 ALTER USER nobody IDENTIFIED BY 'x'
ftrace 1819 CREATE USER carl IDENTIFIED BY ''
ftrace 1064 CREATE USER carl
ftrace 1064 CREATE USER carl IDENTIFIED BY ?
ftrace 1524 CREATE USER carl IDENTIFIED WITH sha256_password BY 'x'
ftrace 1235 CREATE USER carl@example.com IDENTIFIED BY 'x'
ftrace 1470 CREATE USER carl567890123456789012345678901234567890 IDENTIFIED BY 'x'
ftrace 1235 RENAME USER ann TO carl
ftrace 1410 GRANT SELECT ON *.* TO carl
ftrace 1141 REVOKE SELECT ON *.* FROM carl
ftrace 1221 GRANT PROCESS ON performance_schema.* TO ann
ftrace 1144 GRANT UPDATE (ENABLED) ON performance_schema.* TO ann
ftrace 1146 GRANT SELECT ON performance_schema.nosuch TO ann
ftrace 1054 GRANT UPDATE (NOSUCH) ON performance_schema.setup_instruments TO ann
ftrace 1235 GRANT SELECT (NAME) ON performance_schema.setup_instruments TO ann
ftrace 1235 GRANT TRIGGER ON *.* TO ann
ftrace 1064 GRANT SELECT ON *.* FROM ann
ftrace 1064 GRANT SELECT *.* TO ann
ftrace 1396 GRANT SELECT ON *.* TO ftrace
ftrace 1396 REVOKE ALL PRIVILEGES, GRANT OPTION FROM ftrace
ftrace 1141 REVOKE SELECT ON performance_schema.* FROM ann
ftrace 1147 REVOKE SELECT ON performance_schema.threads FROM ann
ann 1142 SELECT * FROM setup_instruments
ann 1142 SELECT 1 WHERE 1 IN (SELECT THREAD_ID FROM threads)
ann 1142 WITH a AS (SELECT * FROM threads) SELECT * FROM a
ann 1142 SELECT * FROM sys.top_functions
ann 1142 DESCRIBE threads
ann 1142 SHOW CREATE TABLE threads
ann 1142 EXPLAIN SELECT * FROM threads
ann 1142 SELECT * FROM nosuch
ann 1044 USE performance_schema
ann 1049 USE nosuch
ann 1044 SHOW GRANTS FOR bob
ann 1227 CREATE USER carl IDENTIFIED BY 'x'
ann 1227 DROP USER bob
ann 1227 ALTER USER bob IDENTIFIED BY 'x'
ann 1227 ALTER USER ann IDENTIFIED BY 'x', bob IDENTIFIED BY 'x'
ann 0 ALTER USER ann IDENTIFIED BY 'z'
ann 0 ALTER USER CURRENT_USER() IDENTIFIED BY 'z'
ann 1227 SET GLOBAL max_execution_time = 5
ann 0 SET max_execution_time = 0
ann 1227 SHOW ENGINE PERFORMANCE_SCHEMA STATUS
ann 1045 GRANT SELECT ON *.* TO bob
ann 1142 GRANT SELECT ON performance_schema.threads TO bob
ftrace 0 GRANT SELECT ON performance_schema.* TO 'ann'@'localhost', bob
ann 0 SELECT * FROM setup_instruments
ann 1142 SELECT * FROM sys.top_functions
ann 1142 SELECT * FROM test.own
ann 1142 UPDATE setup_instruments SET ENABLED = 'YES'
ann 1142 INSERT INTO setup_actors VALUES ('a', 'b', 'YES')
ann 1142 DELETE FROM setup_actors
ann 1142 TRUNCATE events_calls_history
ann 1142 CREATE TABLE test.t (a INT)
ann 1142 CREATE TABLE test.t AS SELECT * FROM threads
ann 1142 DROP TABLE test.own
ann 1142 ALTER TABLE test.own ADD b INT
ann 1142 RENAME TABLE test.own TO test.other
ann 1142 CREATE INDEX i ON test.own (a)
ftrace 0 GRANT UPDATE (ENABLED, TIMED) ON performance_schema.setup_instruments TO ann
ann 0 UPDATE setup_instruments SET ENABLED = 'YES', TIMED = 'NO' WHERE NAME LIKE '%main'
ann 1143 UPDATE setup_instruments SET NAME = 'x'
ann 1142 UPDATE setup_consumers SET ENABLED = 'NO'
ann 1143 UPDATE setup_instruments a JOIN setup_instruments b USING (NAME) SET a.NAME = 'x'
ann 0 UPDATE setup_instruments a JOIN setup_instruments b USING (NAME) SET a.ENABLED = b.ENABLED
ftrace 0 GRANT UPDATE ON performance_schema.setup_consumers TO bob WITH GRANT OPTION
ftrace 0 REVOKE SELECT ON performance_schema.* FROM bob
bob 0 UPDATE setup_consumers SET ENABLED = 'YES'
bob 1143 UPDATE setup_consumers SET ENABLED = 'YES' WHERE NAME = 'x'
bob 0 GRANT UPDATE ON performance_schema.setup_consumers TO ann
bob 1142 GRANT SELECT ON performance_schema.setup_consumers TO ann
ann 0 UPDATE setup_consumers SET ENABLED = 'YES' WHERE NAME = 'x'
ftrace 0 GRANT ALL ON test.* TO ann
ann 0 CREATE TABLE test.t AS SELECT * FROM threads
ann 0 INSERT INTO test.own VALUES (1)
ann 0 DELETE FROM test.own WHERE a = 1
ann 1235 CREATE TRIGGER test.x
ann 0 DROP TABLE test.t
ftrace 0 REVOKE INSERT ON test.* FROM ann
ann 1142 INSERT INTO test.own VALUES (1)
ann 1142 REPLACE INTO test.own VALUES (1)
ftrace 0 REVOKE ALL PRIVILEGES, GRANT OPTION FROM ann
ann 1142 SELECT * FROM setup_instruments
reader 0 SELECT * FROM setup_instruments
reader 0 SELECT * FROM sys.top_functions
reader 0 SHOW ENGINE PERFORMANCE_SCHEMA STATUS
reader 0 SHOW CREATE VIEW sys.top_functions
reader 1142 UPDATE setup_instruments SET ENABLED = 'YES'
reader 1142 UPDATE setup_instruments SET NAME = 'x'
reader 1142 CREATE TABLE test.t (a INT)
reader 0 USE information_schema
reader 1227 CREATE USER carl IDENTIFIED BY 'x'
reader 1227 SET GLOBAL max_execution_time = 5
ftrace 0 DROP USER ann, bob
`), "\n") {
		user, rest, _ := strings.Cut(step, " ")
		want, query, _ := strings.Cut(rest, " ")
		number := uint16(0)
		if r, err := as(user).Query(context.Background(), query, nil); err != nil {
			number = err.(*mysqlerr.Error).Number
		} else {
			for row, err := r.Next(); row != nil && err == nil; row, err = r.Next() {
			}
			r.Close()
		}
		if got := strconv.Itoa(int(number)); got != want {
			t.Errorf("%s: %s: error %s, want %s", user, query, got, want)
		}
	}
}

// TestShowGrants: what SHOW GRANTS prints can be granted again; who may see what is listed.
func TestShowGrants(t *testing.T) {
	c := &Catalog{Accounts: accounts.New("ftrace", "secret")}
	c.Accounts.AddReader("reader", "readers")
	c.Add(newFake("p"))
	owner, ann := openIn(t, c), openIn(t, c)
	ann.Identify(7, "ann@localhost", nil)
	for _, query := range []string{"CREATE USER ann IDENTIFIED BY 'x'", "CREATE USER `b``c` IDENTIFIED BY 'x'", "GRANT SELECT ON performance_schema.* TO ann", "GRANT SELECT, UPDATE (ENABLED, TIMED) ON performance_schema.setup_instruments TO ann",
		"GRANT PROCESS, CREATE USER ON *.* TO `b``c` WITH GRANT OPTION", "GRANT ALL ON test.* TO `b``c`"} {
		ask(t, owner, query)
	}
	for query, want := range map[string]string{
		"SHOW GRANTS":            "GRANT ALL PRIVILEGES ON *.* TO `ftrace`@`%` WITH GRANT OPTION\n",
		"SHOW GRANTS FOR reader": "GRANT SELECT, SHOW VIEW, PROCESS ON *.* TO `reader`@`%`\n",
		"SHOW GRANTS FOR ann": "GRANT USAGE ON *.* TO `ann`@`%`\nGRANT SELECT ON `performance_schema`.* TO `ann`@`%`\n" +
			"GRANT SELECT, UPDATE (`ENABLED`, `TIMED`) ON `performance_schema`.`setup_instruments` TO `ann`@`%`\n",
		"SHOW GRANTS FOR `b``c`": "GRANT PROCESS, CREATE USER ON *.* TO `b``c`@`%` WITH GRANT OPTION\nGRANT ALL PRIVILEGES ON `test`.* TO `b``c`@`%`\n",
	} {
		got := ask(t, owner, query)
		if got != want {
			t.Errorf("%s:\n%swant\n%s", query, got, want)
		}
		if query == "SHOW GRANTS" {
			continue
		}
		for again := range strings.Lines(got) {
			ask(t, owner, again)
		}
		if got := ask(t, owner, query); got != want {
			t.Errorf("%s, granted again:\n%swant\n%s", query, got, want)
		}
	}
	if _, _, err := try(t, owner, "SHOW GRANTS FOR nobody"); err == nil || err.Number != 1141 {
		t.Errorf("grants of nobody: %v", err)
	}
	for query, want := range map[string]string{
		"SHOW GRANTS":    ask(t, owner, "SHOW GRANTS FOR ann"),
		"SHOW DATABASES": "information_schema\nperformance_schema\n",
		"SELECT DISTINCT TABLE_SCHEMA FROM information_schema.columns WHERE TABLE_SCHEMA <> 'information_schema'": "performance_schema\n",
		"SELECT COUNT(*) FROM information_schema.tables WHERE TABLE_SCHEMA = 'sys'":                               "0\n",
		"SELECT PRIVILEGE_TYPE FROM information_schema.user_privileges":                                           "USAGE\n",
		"SELECT COUNT(*) FROM information_schema.processlist":                                                     "1\n",
	} {
		if got := ask(t, ann, query); got != want {
			t.Errorf("ann: %s:\n%swant\n%s", query, got, want)
		}
	}
}

// TestPasswordsUnseen: the list of clients shows no password.
func TestPasswordsUnseen(t *testing.T) {
	s := open(t, newFake("p"))
	for _, query := range []string{"CREATE USER a IDENTIFIED BY 'hunter2'", "alter user a identified with mysql_native_password by 'hunter2'", "/* x */ CREATE USER a IDENTIFIED BY 'hunter2'"} {
		s.setActivity(query)
		if shown := s.doing.Load().statement; strings.Contains(shown, "hunter2") || !strings.Contains(strings.ToLower(shown), "identified") {
			t.Errorf("%s is shown as %s", query, shown)
		}
	}
	if _, _, err := try(t, s, "CREATE USER a IDENTIFIED BY 'x'"); err == nil || err.Number != 1290 {
		t.Errorf("without accounts: %v", err)
	}
}
