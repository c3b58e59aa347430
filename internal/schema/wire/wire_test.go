package wire

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/accounts"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// process is a source with so many functions, whose flags can be set.
type process struct {
	mu        sync.Mutex
	functions []source.Function
}

func newProcess(n int) *process {
	p := &process{}
	for i := range n {
		p.functions = append(p.functions, source.Function{Key: uint32(i + 1), Package: "main", Name: fmt.Sprintf("f%d", i), File: "main.go", Line: i})
	}
	return p
}

func (p *process) Name() string { return "1" }
func (p *process) Alive() bool  { return true }

func (p *process) Snapshot(live.Contents) (*source.Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	none := func() []source.Summary { return nil }
	return &source.Snapshot{Functions: append([]source.Function{}, p.functions...), ByThread: none, ByCaller: none, ByInstance: none}, nil
}

func (p *process) SetInstruments(changes map[uint32]source.Flags) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, flags := range changes {
		p.functions[key-1].Flags = flags
	}
	return nil
}

func (p *process) Timers() ([]source.Timer, error)               { return nil, nil }
func (p *process) SetThreads(map[uint64]bool) error              { return source.ErrReadOnly }
func (p *process) SetConsumers(source.Consumers) error           { return source.ErrReadOnly }
func (p *process) Want(source.Consumers) error                   { return source.ErrReadOnly }
func (p *process) Look(map[uint32]bool) error                    { return source.ErrReadOnly }
func (p *process) SetTimer(string) error                         { return source.ErrReadOnly }
func (p *process) SetBudget(int) error                           { return source.ErrReadOnly }
func (p *process) SetRules(source.RuleKind, []source.Rule) error { return source.ErrReadOnly }
func (p *process) Truncate(source.Part) error                    { return source.ErrReadOnly }
func (p *process) Close() error                                  { return nil }

// deep lets recursions of a catalog's sessions go on for ever.
func deep(t *testing.T, c *schema.Catalog) {
	s, err := c.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Query(t.Context(), "SET GLOBAL cte_max_recursion_depth = 4294967295", nil); err != nil {
		t.Fatal(err)
	}
}

// serve serves a process with some functions and returns the address.
func serve(t *testing.T, functions int, change func(*Server)) string {
	t.Helper()
	catalog := &schema.Catalog{Accounts: accounts.New("ftrace", "secret")}
	catalog.Accounts.AddReader("reader", "readers")
	catalog.Add(newProcess(functions))
	s := &Server{Catalog: catalog}
	if change != nil {
		change(s)
	}
	deep(t, catalog)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		catalog.Close()
	})
	return l.Addr().String()
}

func connect(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// TestDriver asks as go-sql-driver does: plainly, and with statements that are prepared.
func TestDriver(t *testing.T) {
	addr := serve(t, 1000, nil)
	for _, plugin := range []string{"", "&interpolateParams=true"} {
		db := connect(t, "ftrace:secret@tcp("+addr+")/performance_schema?timeout=1m"+plugin)
		var n int
		if err := db.QueryRow("SELECT COUNT(*) FROM setup_instruments WHERE NAME LIKE ? AND ENABLED <> ?", "call/main/f1%", "YES").Scan(&n); err != nil || n != 111 {
			t.Errorf("counted %d: %v", n, err)
		}
		res, err := db.Exec("UPDATE setup_instruments SET ENABLED=? WHERE NAME = ?", "YES", "call/main/f1")
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := res.RowsAffected(); n != 1 {
			t.Errorf("%d rows were changed", n)
		}
		st, err := db.Prepare("SELECT ?, NAME, 1.5, NULL, 7, ENABLED FROM setup_instruments WHERE NAME = ? LIMIT ?")
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		for i := range 3 {
			var (
				name, enabled string
				number        int64
				float         float64
				null          *string
				given         sql.NullInt64
			)
			if err := st.QueryRow(-i, fmt.Sprintf("call/main/f%d", i), 10).Scan(&given, &name, &float, &null, &number, &enabled); err != nil {
				t.Fatal(err)
			}
			if given.Int64 != int64(-i) || name != fmt.Sprintf("call/main/f%d", i) || float != 1.5 || null != nil || number != 7 || (enabled == "YES") != (i == 1) {
				t.Error(given, name, float, null, number, enabled)
			}
		}
		if _, err := db.Exec("UPDATE setup_instruments SET ENABLED='NO'"); err != nil {
			t.Error(err)
		}
		var refused *mysql.MySQLError
		if _, err := db.Exec("UPDATE setup_instruments SET NAME = ?", "x"); !errors.As(err, &refused) || refused.Number != 1683 {
			t.Errorf("NAME: %v", err)
		}
		if err := db.QueryRow("SELECT * FROM nosuch").Scan(&n); !errors.As(err, &refused) || refused.Number != 1146 || string(refused.SQLState[:]) != "42S02" {
			t.Errorf("no such table: %v", err)
		}
		if _, err := db.Exec("INSERT INTO setup_instruments VALUES ('x', 'NO', 'NO')"); !errors.As(err, &refused) || refused.Number != 1142 || !strings.Contains(refused.Message, "'ftrace'@'localhost'") {
			t.Errorf("INSERT: %v", err)
		}
		if err := db.Ping(); err != nil {
			t.Error(err)
		}
	}
}

// TestLarge reads a result of many packets, and a value of more than one.
func TestLarge(t *testing.T) {
	db := connect(t, "ftrace:secret@tcp("+serve(t, 300, nil)+")/performance_schema?maxAllowedPacket=0")
	rows, err := db.Query("SELECT a.NAME, b.NAME FROM setup_instruments a, setup_instruments b")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		var a, b string
		if err := rows.Scan(&a, &b); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if rows.Err() != nil || n != 90000 {
		t.Errorf("%d rows: %v", n, rows.Err())
	}
	var long string
	if err := db.QueryRow("SELECT REPLACE(HEX(ZEROBLOB(9000000)), '0', 'x')").Scan(&long); err != nil || len(long) != 18000000 || strings.Trim(long, "x") != "" {
		t.Errorf("%d bytes: %v", len(long), err)
	}
	if err := db.QueryRow("SELECT LENGTH(?)", long).Scan(&n); err != nil || n != len(long) {
		t.Errorf("sent %d bytes, received %d: %v", len(long), n, err)
	}
}

// TestLogin: who does not know the password does not come in, by whatever way.
func TestLogin(t *testing.T) {
	certificate, err := SelfSigned()
	if err != nil {
		t.Fatal(err)
	}
	plain := serve(t, 1, nil)
	secure := serve(t, 1, func(s *Server) { s.TLS, s.TLSOnly = &tls.Config{Certificates: []tls.Certificate{certificate}}, true })
	open := serve(t, 1, func(s *Server) { s.Catalog.Accounts = nil })
	for _, c := range []struct {
		dsn    string
		number uint16
	}{
		{"ftrace:secret@tcp(" + plain + ")/", 0},
		{"ftrace:secret@tcp(" + plain + ")/test", 0},
		{"ftrace:secret@tcp(" + plain + ")/nosuch", 1049},
		{"ftrace:Secret@tcp(" + plain + ")/", 1045},
		{"ftrace@tcp(" + plain + ")/", 1045},
		{"root:secret@tcp(" + plain + ")/", 1045},
		{"@tcp(" + plain + ")/", 1045},
		{"ftrace:secret@tcp(" + secure + ")/?tls=skip-verify", 0},
		{"ftrace:wrong@tcp(" + secure + ")/?tls=skip-verify", 1045},
		{"ftrace:secret@tcp(" + secure + ")/", 3159},
		{"anyone@tcp(" + open + ")/", 0},
		{"anyone:anything@tcp(" + open + ")/", 0},
	} {
		db := connect(t, c.dsn)
		var refused *mysql.MySQLError
		err := db.Ping()
		if c.number == 0 && err != nil || c.number != 0 && (!errors.As(err, &refused) || refused.Number != c.number) {
			t.Errorf("%s: %v, want error %d", c.dsn, err, c.number)
		}
	}
	for address, want := range map[string]string{"(" + secure + ")/?tls=skip-verify": "TLSv1.3", "(" + plain + ")/": ""} {
		var name, version string
		if err := connect(t, "ftrace:secret@tcp"+address).QueryRow("SHOW STATUS LIKE 'Ssl_version'").Scan(&name, &version); err != nil || version != want {
			t.Errorf("%s: Ssl_version is %q, %v, want %q", address, version, err, want)
		}
	}
}

// TestKill interrupts a query of another connection.
func TestKill(t *testing.T) {
	addr := serve(t, 2000, nil)
	busy, other := connect(t, "ftrace:secret@tcp("+addr+")/"), connect(t, "ftrace:secret@tcp("+addr+")/")
	var id int
	if err := busy.QueryRow("SELECT CONNECTION_ID()").Scan(&id); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() {
		var n int
		failed <- busy.QueryRow("SELECT COUNT(*) FROM setup_instruments a, setup_instruments b, setup_instruments c WHERE a.NAME <> b.NAME").Scan(&n)
	}()
	until(t, "the query runs", func() bool {
		var n int
		err := other.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE ID = ? AND INFO LIKE 'SELECT COUNT%'", id).Scan(&n)
		return err == nil && n == 1
	})
	if _, err := other.Exec(fmt.Sprintf("/* from a program */ KILL QUERY %d;", id)); err != nil {
		t.Fatal(err)
	}
	var refused *mysql.MySQLError
	if err := <-failed; !errors.As(err, &refused) || refused.Number != 1317 {
		t.Errorf("the query that was killed: %v", err)
	}
	if err := busy.Ping(); err != nil {
		t.Errorf("behind it: %v", err)
	}
	if _, err := other.Exec("KILL 4711"); !errors.As(err, &refused) || refused.Number != 1094 {
		t.Errorf("no such connection: %v", err)
	}
}

// TestMalformed: a client that sends rubbish is sent away, and others are served.
func TestMalformed(t *testing.T) {
	addr := serve(t, 1, nil)
	for _, sent := range []string{"", "\x00", "GET / HTTP/1.1\r\n\r\n", "\x00\x00\x00\x01", "\x01\x00\x00\x01\xff", "\xff\xff\xff\x01", "\x20\x00\x00\x01" + strings.Repeat("\xff", 32),
		"\x21\x00\x00\x01\x00\x82\x08\x00" + strings.Repeat("\x00", 29)} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, sent)
		c.(*net.TCPConn).CloseWrite()
		c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.Copy(io.Discard, c); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%q: %v", sent, err)
		}
		c.Close()
	}
	if err := connect(t, "ftrace:secret@tcp("+addr+")/").Ping(); err != nil {
		t.Error(err)
	}
}

// FuzzValues reads what clients send as the values of a statement.
func FuzzValues(f *testing.F) {
	f.Add(2, []byte("\x00\x01\x08\x00\xfd\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01x"))
	f.Add(9, []byte("\x01\x00\x01"))
	f.Fuzz(func(t *testing.T, n int, b []byte) {
		st := &prepared{params: n & 0xFF}
		if args, err := st.values(&reader{b: b}); err == nil && len(args) != st.params {
			t.Errorf("%d values of %d", len(args), st.params)
		}
	})
}

// TestMariaDB asks with the real client.
func TestMariaDB(t *testing.T) {
	testenv.Need(t, "mariadb")
	host, port, _ := net.SplitHostPort(serve(t, 3, nil))
	run := func(args ...string) string {
		cmd := exec.Command("mariadb", append([]string{"--no-defaults", "-h", host, "-P", port, "-u", "ftrace", "-psecret"}, args...)...)
		out, err := cmd.CombinedOutput()
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			t.Fatal(err)
		}
		return string(out)
	}
	for _, c := range []struct{ args, want string }{
		{"-e|UPDATE setup_instruments SET ENABLED='YES' WHERE NAME LIKE '%/f1'; SELECT * FROM setup_instruments", "NAME\tENABLED\tTIMED\ncall/main/f0\tNO\tNO\ncall/main/f1\tYES\tNO\ncall/main/f2\tNO\tNO\n"},
		{"-vv|performance_schema|-e|UPDATE setup_instruments SET ENABLED='YES'", "Query OK, 2 rows affected"},
		{"-vv|performance_schema|-e|UPDATE setup_instruments SET ENABLED='YES'", "Rows matched: 3  Changed: 0  Warnings: 0"},
		{"-t|-e|SELECT COUNT(*) n FROM setup_instruments", "| n    |\n+------+\n|    3 |\n+------+\n"},
		{"-e|UPDATE setup_instruments SET NAME='x'", "ERROR 1683 (HY000) at line 1: Invalid performance_schema usage."},
		{"-e|DROP TABLE setup_instruments", "ERROR 1142 (42000) at line 1: DROP command denied to user 'ftrace'@'localhost' for table 'setup_instruments'"},
		{"--default-auth=caching_sha2_password|-N|-e|SELECT 'in'", "in\n"},
		{"--default-auth=mysql_native_password|-N|-e|SELECT 'in'", "in\n"},
		{"-pwrong|-e|SELECT 1", "ERROR 1045 (28000): Access denied for user 'ftrace'@'localhost' (using password: YES)"},
		{"--database=performance_schema|--auto-rehash|-N|-e|SELECT DATABASE()", "performance_schema\n"},
	} {
		if out := run(strings.Split(c.args, "|")...); !strings.Contains(out, c.want) {
			t.Errorf("%s: got\n%swant\n%s", c.args, out, c.want)
		}
	}
}
