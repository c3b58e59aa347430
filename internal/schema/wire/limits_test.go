package wire

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
)

const endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c"

// until waits until something is so, which it is within milliseconds if it ever is.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("it never is so that %s", what)
}

func number(err error) uint16 {
	var refused *mysql.MySQLError
	if errors.As(err, &refused) {
		return refused.Number
	}
	return 0
}

// TestGone: a client that goes away takes its statement with it, whatever that does, with TLS and
// without.
func TestGone(t *testing.T) {
	if testing.Short() {
		t.Skip("moves more data than the race detector can follow")
	}
	certificate, err := SelfSigned()
	if err != nil {
		t.Fatal(err)
	}
	addr := serve(t, 10, func(s *Server) { s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}} })
	watcher := connect(t, "ftrace:secret@tcp("+addr+")/performance_schema")
	others := func() (n int) {
		if err := watcher.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE ID <> CONNECTION_ID()").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := others(); n != 0 {
		t.Fatalf("%d connections", n)
	}
	goroutines := runtime.NumGoroutine()
	for _, secure := range []string{"", "?tls=skip-verify"} {
		for _, query := range []string{endless + " WHERE n < 10", endless, "SELECT SLEEP(100000)", "SELECT COUNT(*) FROM (" + endless + ") y", "SELECT REGEXP_REPLACE(REPEAT('a', 10000000), 'a(.*b)?', 'c')"} {
			db, err := sql.Open("mysql", "ftrace:secret@tcp("+addr+")/performance_schema"+secure)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			began := make(chan struct{})
			go func() {
				<-began
				until(t, "the statement runs", func() bool { return others() == 1 })
				time.Sleep(20 * time.Millisecond)
				cancel()
			}()
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			close(began)
			rows, err := conn.QueryContext(ctx, query)
			for err == nil && rows.Next() {
			}
			conn.Close()
			db.Close()
			until(t, "there is no other connection after "+query, func() bool { return others() == 0 })
		}
	}
	until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
}

// TestTimeLimit: the server's limit ends a statement, not its connection.
func TestTimeLimit(t *testing.T) {
	addr := serve(t, 1, func(s *Server) { s.Catalog.Timeout = 50 * time.Millisecond })
	db := connect(t, "ftrace:secret@tcp("+addr+")/")
	for _, query := range []string{endless + " WHERE n < 10", "SELECT SLEEP(100000)"} {
		rows, err := db.Query(query)
		for err == nil && rows.Next() {
		}
		if err == nil {
			err = rows.Err()
		}
		if number(err) != 3024 {
			t.Errorf("%s: %v", query, err)
		}
	}
	if err := db.Ping(); err != nil {
		t.Error(err)
	}
}

// TestEnd: a server ends, whatever its clients do.
func TestEnd(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	catalog := &schema.Catalog{}
	catalog.Add(newProcess(10))
	deep(t, catalog)
	s := &Server{Catalog: catalog}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	queries := []string{endless + " WHERE n < 10", endless, "SELECT SLEEP(100000)", "SELECT COUNT(*) FROM (" + endless + ") y", ""}
	failed := make(chan error)
	var dbs []*sql.DB
	for _, query := range queries {
		db, err := sql.Open("mysql", "x@tcp("+l.Addr().String()+")/")
		if err != nil {
			t.Fatal(err)
		}
		dbs = append(dbs, db)
		if err := db.Ping(); err != nil {
			t.Fatal(err)
		}
		if query == "" {
			continue // it is idle
		}
		go func() {
			rows, err := db.Query(query)
			for err == nil && rows.Next() {
			}
			if err == nil {
				err = rows.Err()
			}
			failed <- err
		}()
	}
	silent, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	for range len(queries) - 1 {
		if err := <-failed; err == nil {
			t.Error("a statement ended as if it were done")
		}
	}
	silent.Close()
	for _, db := range dbs {
		db.Close()
	}
	catalog.Close()
	until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
}

// TestSilent: those that connect and say nothing do not keep out those that log in, and go.
func TestSilent(t *testing.T) {
	addr := serve(t, 1, nil)
	var silent []net.Conn
	for range 3 * connsMax {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	for range 3 {
		if err := connect(t, "ftrace:secret@tcp("+addr+")/").Ping(); err != nil {
			t.Fatal(err)
		}
	}
	// The oldest have been sent away.
	silent[0].SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.Copy(io.Discard, silent[0]); errors.Is(err, context.DeadlineExceeded) || err != nil && strings.Contains(err.Error(), "timeout") {
		t.Errorf("the first: %v", err)
	}
}

// TestCrowd: one address that takes all places sends its own connections away, not those of others.
func TestCrowd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a second address of this machine's own, which Linux has: 127.0.0.2")
	}
	addr := serve(t, 1, nil)
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	other, err := dialer.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	greeting := make([]byte, 1024)
	if _, err := other.Read(greeting); err != nil {
		t.Fatal(err)
	}
	for range 3 * waitingMax {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.Read(greeting) // the server knows of it
	}
	other.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	if _, err := other.Read(greeting); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the other address's connection: %v", err)
	}
}

// TestTooMany: who comes when all are there is told so.
func TestTooMany(t *testing.T) {
	addr := serve(t, 1, nil)
	var dbs []*sql.DB
	for range connsMax {
		db := connect(t, "ftrace:secret@tcp("+addr+")/")
		if err := db.Ping(); err != nil {
			t.Fatal(err)
		}
		dbs = append(dbs, db)
	}
	if err := connect(t, "ftrace:secret@tcp("+addr+")/").Ping(); number(err) != 1040 {
		t.Errorf("one more: %v", err)
	}
	dbs[0].Close()
	until(t, "there is room for another", func() bool { return connect(t, "ftrace:secret@tcp("+addr+")/").Ping() == nil })
}

// TestIdle: a client that is silent for longer than wait_timeout is sent away.
func TestIdle(t *testing.T) {
	db := connect(t, "ftrace:secret@tcp("+serve(t, 1, nil)+")/?timeout=5s")
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "SET wait_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	until(t, "the connection is closed", func() bool {
		time.Sleep(1500 * time.Millisecond)
		return conn.PingContext(t.Context()) != nil
	})
}

// TestSlowReader: a client that does not read its result is given up.
func TestSlowReader(t *testing.T) {
	if testing.Short() {
		t.Skip("moves more data than the race detector can follow")
	}
	addr := serve(t, 1, nil)
	watcher := connect(t, "ftrace:secret@tcp("+addr+")/")
	if err := watcher.Ping(); err != nil {
		t.Fatal(err)
	}
	db := connect(t, "ftrace:secret@tcp("+addr+")/")
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "SET net_write_timeout = 1"); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.QueryContext(t.Context(), endless)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	until(t, "the connection is closed", func() bool {
		n := 0
		err := watcher.QueryRow("SELECT COUNT(*) FROM information_schema.processlist").Scan(&n)
		return err == nil && n == 1
	})
}

// TestHeld: what clients send, and what is kept of it, has a bound for all of them together.
func TestHeld(t *testing.T) {
	var server *Server
	addr := serve(t, 1, func(s *Server) { server = s })
	text := "SELECT ?, '" + strings.Repeat("x", 10<<20) + "'"
	var last error
	for range 2 * heldMax / len(text) {
		db := connect(t, "ftrace:secret@tcp("+addr+")/?maxAllowedPacket=0")
		if _, last = db.Prepare(text); last != nil {
			break
		}
	}
	if last == nil || server.used.Load() > heldMax {
		t.Errorf("%d bytes are held: %v", server.used.Load(), last)
	}
}

// TestClaims: memory is for what has come, not for what the head of a packet claims.
func TestClaims(t *testing.T) {
	s := &Server{}
	here, there := net.Pipe()
	defer there.Close()
	c := &conn{packets: newPackets(here), raw: here, server: s}
	c.limit, c.packets.hold = contentMax, c.holdContent
	go func() {
		io.WriteString(there, "\xff\xff\xff\x00abc")
		there.Close()
	}()
	if _, err := c.read(); !errors.Is(err, io.ErrUnexpectedEOF) || c.held > chunkMax {
		t.Errorf("%d bytes for 3: %v", c.held, err)
	}
}

// TestPlaceholders: a number of parameters that the protocol has no room for is refused.
func TestPlaceholders(t *testing.T) {
	db := connect(t, "ftrace:secret@tcp("+serve(t, 1, nil)+")/")
	if _, err := db.Prepare("SELECT " + strings.Repeat("?,", 65536) + "1"); number(err) != 1390 {
		t.Error(err)
	}
	if got := fmt.Sprint(number(db.Ping())); got != "0" {
		t.Error(got)
	}
}
