// These tests are of package protocol, in a program with a client library: they are built with ftrace-wrap (go test -toolexec=ftrace-wrap), and need a MariaDB server whose
// address is in MYSQL_ADDR, with a user root without password. TestProtocolPlugins in the folder above runs them so.
package protocol_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/protocol"
	"github.com/go-sql-driver/mysql"
)

var background = context.Background()

func TestMain(m *testing.M) {
	mysql.SetLogger(log.New(io.Discard, "", 0))
	os.Exit(m.Run())
}

// plugin is made of functions.
type plugin struct {
	start func(c *protocol.Conn) any
	stop  func(c *protocol.Conn, data any)
	event func(c *protocol.Conn, data any, stage protocol.Stage, event protocol.Event, args *protocol.Args) bool
}

func (p *plugin) TracingStart(c *protocol.Conn) any {
	if p.start == nil {
		return nil
	}
	return p.start(c)
}

func (p *plugin) TracingStop(c *protocol.Conn, data any) {
	if p.stop != nil {
		p.stop(c, data)
	}
}

func (p *plugin) TraceEvent(c *protocol.Conn, data any, stage protocol.Stage, event protocol.Event, args *protocol.Args) bool {
	return p.event(c, data, stage, event, args)
}

// load loads p until the test ends.
func load(t testing.TB, p *plugin, options ...protocol.Option) {
	t.Helper()
	if err := protocol.Load(p, options...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(protocol.Unload)
}

func open(t testing.TB, parameters string) *sql.DB {
	t.Helper()
	address := os.Getenv("MYSQL_ADDR")
	if address == "" {
		t.Skip("MYSQL_ADDR names no server")
	}
	db, err := sql.Open("mysql", "root@tcp("+address+")/"+parameters)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func conn(t testing.TB, db *sql.DB) *sql.Conn {
	t.Helper()
	c, err := db.Conn(background)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// recorder keeps what it hears, of all connections.
type recorder struct {
	sync.Mutex
	heard []string
}

func (r *recorder) event(c *protocol.Conn, data any, stage protocol.Stage, event protocol.Event, args *protocol.Args) bool {
	r.Lock()
	defer r.Unlock()
	r.heard = append(r.heard, string(stage)+" "+string(event))
	return false
}

func TestOnePlugin(t *testing.T) {
	load(t, &plugin{event: new(recorder).event})
	if err := protocol.Load(&plugin{}); err == nil || !strings.Contains(err.Error(), "is loaded already") {
		t.Errorf("loading another plugin: %v", err)
	}
	protocol.Unload()
	if err := protocol.Load(&plugin{event: new(recorder).event}); err != nil {
		t.Errorf("loading after Unload: %v", err)
	}
}

func TestOnlyNewConnections(t *testing.T) {
	db := open(t, "")
	before := conn(t, db)
	var r recorder
	load(t, &plugin{event: r.event})
	if err := before.PingContext(background); err != nil {
		t.Fatal(err)
	}
	if len(r.heard) != 0 {
		t.Fatalf("events of a connection that there was: %v", r.heard)
	}
	after := conn(t, db)
	protocol.Unload()
	if err := after.PingContext(background); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"CONNECTING CONNECTING", "CONNECTING CONNECTED", "WAIT_FOR_INIT_PACKET READ_PACKET", "WAIT_FOR_INIT_PACKET PACKET_RECEIVED", "WAIT_FOR_INIT_PACKET INIT_PACKET_RECEIVED",
		"AUTHENTICATE AUTH_PLUGIN", "AUTHENTICATE SEND_AUTH_RESPONSE", "AUTHENTICATE READ_PACKET", "AUTHENTICATE PACKET_RECEIVED", "AUTHENTICATE AUTHENTICATED",
		"READY_FOR_COMMAND SEND_COMMAND", "READY_FOR_COMMAND PACKET_SENT", "WAIT_FOR_PACKET READ_PACKET", "WAIT_FOR_PACKET PACKET_RECEIVED",
	}
	if !slices.Equal(r.heard, want) {
		t.Errorf("events:\n%s\nwant:\n%s", strings.Join(r.heard, "\n"), strings.Join(want, "\n"))
	}
}

func TestStop(t *testing.T) {
	var events, stops atomic.Int32
	load(t, &plugin{
		start: func(c *protocol.Conn) any { return c.Protocol() },
		stop: func(c *protocol.Conn, data any) {
			if data != "mysql" {
				t.Errorf("the plugin's data is %v", data)
			}
			stops.Add(1)
		},
		event: func(c *protocol.Conn, data any, stage protocol.Stage, event protocol.Event, args *protocol.Args) bool {
			events.Add(1)
			return event == protocol.Authenticated
		},
	})
	db := open(t, "")
	if err := conn(t, db).PingContext(background); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if events.Load() != 10 || stops.Load() != 1 {
		t.Errorf("%d events and %d stops, want 10 and 1", events.Load(), stops.Load())
	}
}

// TestCommands sends commands from within the plugin, when the connection is new: as soon as the server accepted it, before commands of Connect's own, and under a context.
func TestCommands(t *testing.T) {
	for _, parameters := range []string{"", "?maxAllowedPacket=0", "?time_zone=%27%2B01%3A00%27", "?compress=true"} {
		t.Run(parameters, func(t *testing.T) {
			var r recorder
			var id uint64
			load(t, &plugin{event: func(c *protocol.Conn, data any, stage protocol.Stage, event protocol.Event, args *protocol.Args) bool {
				r.event(c, data, stage, event, args)
				if event != protocol.Authenticated {
					if _, err := c.Query("select 1"); err == nil {
						t.Errorf("a command could be sent within %s", event)
					}
					return false
				}
				if _, err := c.Exec("set @greeting = 'hello'"); err != nil {
					t.Error(err)
				}
				rows, err := c.Query("select connection_id()")
				if err != nil {
					t.Error(err)
					return false
				}
				row := make([]driver.Value, 1)
				if err := rows.Next(row); err != nil {
					t.Error(err)
				}
				if id = c.ID(); fmt.Sprintf("%s", row[0]) != fmt.Sprint(id) && fmt.Sprint(row[0]) != fmt.Sprint(id) {
					t.Errorf("the connection's number is %v, the plugin has %d", row[0], id)
				}
				if err := rows.Close(); err != nil {
					t.Error(err)
				}
				return false
			}})
			ctx, cancel := context.WithCancel(background)
			defer cancel()
			c, err := open(t, parameters).Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			commands := count(r.heard, "READY_FOR_COMMAND SEND_COMMAND")
			if want := len(parameters) > 0 && parameters != "?compress=true"; (commands != 0) != want {
				t.Errorf("%d commands while the connection was made: the plugin's own are not to be events, those of the driver are", commands)
			}
			var greeting string
			if err := c.QueryRowContext(ctx, "select @greeting").Scan(&greeting); err != nil || greeting != "hello" {
				t.Errorf("what the plugin set is %q, %v", greeting, err)
			}
		})
	}
}

func count(list []string, s string) (n int) {
	for _, l := range list {
		if l == s {
			n++
		}
	}
	return n
}

// transitions are those of WL#6226; a stage in which an event came may also be the next one's.
var transitions = map[protocol.Stage][]protocol.Stage{
	protocol.StageConnecting:      {protocol.StageInitPacket},
	protocol.StageInitPacket:      {protocol.StageAuthenticate, protocol.StageSSLNegotiation},
	protocol.StageSSLNegotiation:  {protocol.StageAuthenticate},
	protocol.StageAuthenticate:    {protocol.StageReadyForCommand},
	protocol.StageReadyForCommand: {protocol.StageWaitForPacket, protocol.StageWaitForResult, protocol.StagePSDescription},
	protocol.StageWaitForPacket:   {protocol.StageReadyForCommand},
	protocol.StageWaitForResult:   {protocol.StageReadyForCommand, protocol.StageWaitForFieldDef, protocol.StageFileRequest, protocol.StageWaitForRow},
	protocol.StageWaitForFieldDef: {protocol.StageWaitForRow, protocol.StageReadyForCommand},
	protocol.StageWaitForRow:      {protocol.StageReadyForCommand, protocol.StageWaitForResult},
	protocol.StagePSDescription:   {protocol.StagePSParameter, protocol.StageReadyForCommand, protocol.StageWaitForFieldDef},
	protocol.StagePSParameter:     {protocol.StageWaitForFieldDef, protocol.StageReadyForCommand},
	protocol.StageFileRequest:     {protocol.StageWaitForResult},
}

// TestManyGoroutines checks that whatever many connections do at once, each one's events come one at a time, in stages that follow each other as they may, from CONNECTING to
// DISCONNECTED.
func TestManyGoroutines(t *testing.T) {
	type state struct {
		busy  atomic.Int32
		stage protocol.Stage
		last  protocol.Event
	}
	var started, stopped atomic.Int32
	load(t, &plugin{
		start: func(*protocol.Conn) any { started.Add(1); return new(state) },
		stop: func(_ *protocol.Conn, data any) {
			stopped.Add(1)
			if s := data.(*state); s.last != protocol.Disconnected {
				t.Errorf("stopped behind %s", s.last)
			}
		},
		event: func(_ *protocol.Conn, data any, stage protocol.Stage, event protocol.Event, _ *protocol.Args) bool {
			s := data.(*state)
			if s.busy.Add(1) != 1 {
				t.Error("two events of a connection at once")
			}
			defer s.busy.Add(-1)
			if s.last == "" && event != protocol.Connecting {
				t.Errorf("the first event is %s", event)
			}
			if s.stage != "" && s.stage != stage && !slices.Contains(transitions[s.stage], stage) {
				t.Errorf("from %s to %s with %s, behind %s", s.stage, stage, event, s.last)
			}
			s.stage, s.last = stage, event
			return false
		},
	})
	db := open(t, "mysql?multiStatements=true")
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(2)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for j := range 30 {
				if err := work(db, (i+j)%7); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	db.Close()
	if started.Load() != stopped.Load() || started.Load() < 8 {
		t.Errorf("%d connections began and %d ended", started.Load(), stopped.Load())
	}
}

func work(db *sql.DB, kind int) error {
	switch kind {
	case 0:
		_, err := db.Exec("do 1; select 2; do 3; select host from user")
		return err
	case 1:
		rows, err := db.Query("select host from user where user = ?", "root")
		if err != nil {
			return err
		}
		return rows.Close() // unread
	case 2:
		if _, err := db.Exec("select nonsense"); err == nil {
			return errors.New("nonsense was selected")
		}
		return nil
	case 3:
		ctx, cancel := context.WithCancel(background)
		go cancel()
		db.ExecContext(ctx, "do sleep(0.01)")
		return nil
	case 4:
		return db.Ping()
	case 5:
		s, err := db.Prepare("select ?")
		if err != nil {
			return err
		}
		for i := range 3 {
			var n int
			if err := s.QueryRow(i).Scan(&n); err != nil || n != i {
				return fmt.Errorf("%d: %d, %v", i, n, err)
			}
		}
		return s.Close()
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	return tx.Commit()
}

func TestSecrets(t *testing.T) {
	const statement = "select password('swordfish'), ?"
	for _, options := range [][]protocol.Option{nil, {protocol.Secrets}, {protocol.Parameters}} {
		var seen []byte
		redacted := 0
		load(t, &plugin{event: func(_ *protocol.Conn, _ any, _ protocol.Stage, event protocol.Event, args *protocol.Args) bool {
			if event == protocol.SendCommand {
				seen = append(seen, args.Packet...)
			}
			if args.Redacted {
				redacted++
			}
			if (event == protocol.SendAuthResponse) != (args.Length > 100 && event != protocol.PacketReceived) && event == protocol.SendAuthResponse {
				t.Errorf("%s of %d bytes", event, args.Length)
			}
			return false
		}}, options...)
		var hash, back string
		if err := open(t, "").QueryRow(statement, "a parameter").Scan(&hash, &back); err != nil || back != "a parameter" {
			t.Errorf("%q, %v", back, err)
		}
		protocol.Unload()
		secrets, parameters := slices.Contains(options, protocol.Secrets), slices.Contains(options, protocol.Parameters)
		if strings.Contains(string(seen), "swordfish") != secrets {
			t.Errorf("with the options %v the commands are %q", options, seen)
		}
		if strings.Contains(string(seen), "a parameter") != parameters {
			t.Errorf("with the options %v the commands are %q", options, seen)
		}
		want := 3 // the authentication, the password, the parameters
		if secrets {
			want -= 2
		}
		if parameters {
			want--
		}
		if redacted != want {
			t.Errorf("with the options %v %d events are redacted, want %d", options, redacted, want)
		}
	}
}

func TestPanic(t *testing.T) {
	for _, where := range []protocol.Event{protocol.Connecting, protocol.Authenticated, protocol.PacketSent} {
		events := 0
		if err := protocol.Load(&plugin{event: func(_ *protocol.Conn, _ any, _ protocol.Stage, event protocol.Event, _ *protocol.Args) bool {
			events++
			if event == where {
				panic("oh no")
			}
			return false
		}}); err != nil {
			t.Fatal(err)
		}
		var one int
		if err := open(t, "").QueryRow("select 1").Scan(&one); err != nil || one != 1 {
			t.Errorf("the connection died when the plugin panicked in %s: %v", where, err)
		}
		heard := events
		if err := open(t, "").Ping(); err != nil || heard != events {
			t.Errorf("after its panic in %s the plugin heard %d events, %v", where, events-heard, err)
		}
	}
	// Another can be loaded, and hears, also if it is of the same type as one that panics on a connection that it still has.
	var c *sql.Conn
	old := &plugin{event: func(_ *protocol.Conn, _ any, _ protocol.Stage, event protocol.Event, _ *protocol.Args) bool {
		if event == protocol.SendCommand {
			panic("oh no")
		}
		return false
	}}
	if err := protocol.Load(old); err != nil {
		t.Fatal(err)
	}
	c = conn(t, open(t, ""))
	protocol.Unload()
	var r recorder
	load(t, &plugin{event: r.event})
	if err := c.PingContext(background); err != nil {
		t.Error(err)
	}
	if err := open(t, "").Ping(); err != nil || len(r.heard) == 0 {
		t.Errorf("after another plugin's panic this one heard %d events, %v", len(r.heard), err)
	}
}

func TestRefused(t *testing.T) {
	var failed protocol.Args
	var r recorder
	load(t, &plugin{event: func(c *protocol.Conn, data any, stage protocol.Stage, event protocol.Event, args *protocol.Args) bool {
		if event == protocol.Error {
			failed = *args
		}
		return r.event(c, data, stage, event, args)
	}})
	db, err := sql.Open("mysql", "root@tcp(127.0.0.1:1)/")
	if err != nil {
		t.Fatal(err)
	}
	err = db.Ping()
	if failed.Err != err || failed.Code != 2003 {
		t.Errorf("the error is %v, the event's arguments are %+v", err, failed)
	}
	if got, want := strings.Join(r.heard, ", "), "CONNECTING CONNECTING, CONNECTING ERROR, CONNECTING DISCONNECTED"; got != want {
		t.Errorf("events: %s, want %s", got, want)
	}
}

// TestFacts asks a connection at its beginning what it is.
func TestFacts(t *testing.T) {
	var facts []string
	load(t, &plugin{
		start: func(c *protocol.Conn) any {
			facts = append(facts, fmt.Sprintf("%t %t %s %s %d", c.Number() > 0, c.Address() == os.Getenv("MYSQL_ADDR"), c.User(), c.Database(), c.ID()))
			return nil
		},
		event: func(*protocol.Conn, any, protocol.Stage, protocol.Event, *protocol.Args) bool { return false },
	})
	if err := open(t, "mysql").Ping(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"true true root mysql 0"}; !slices.Equal(facts, want) {
		t.Errorf("at TracingStart: %q, want %q", facts, want)
	}
}
