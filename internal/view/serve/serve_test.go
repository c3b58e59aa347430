package serve

import (
	"bufio"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/listen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/wire"
	"github.com/ftrace-wrap/ftrace-wrap/internal/testenv"
)

// TestListen: others can reach a server only if that is said.
func TestListen(t *testing.T) {
	for _, c := range []struct {
		address  string
		anywhere bool
		want     string // the address without the port; "": it is refused
		usage    bool   // as the user's mistake
	}{
		{"127.0.0.1:0", false, "127.0.0.1", false},
		{":0", false, "127.0.0.1", false},
		{"localhost:0", false, "127.0.0.1", false},
		{"0.0.0.0:0", false, "", true},
		{"[::]:0", false, "", true},
		{"192.0.2.1:0", false, "", true},
		{"0.0.0.0:0", true, "::", false}, // all addresses, of both kinds
		{"127.0.0.1", false, "", true},
		{"", false, "", true},
		{"127.0.0.1:0:0", false, "", true},
		{"127.0.0.1:70000", false, "", false},
		{"no-such-name.invalid:0", false, "", false},
	} {
		s, err := Listen(Options{Address: c.address, Anywhere: c.anywhere, User: "ftrace"}, io.Discard)
		if err == nil {
			host, _, _ := net.SplitHostPort(s.listeners[0].Addr().String())
			s.Close()
			if ip := net.ParseIP(host); c.address == "localhost:0" && ip.IsLoopback() || c.anywhere && ip.IsUnspecified() {
				host = c.want
			}
			if host != c.want {
				t.Errorf("%q, %v: it listens at %s, not %q", c.address, c.anywhere, host, c.want)
			}
			continue
		}
		var usage listen.UsageError
		if c.want != "" || errors.As(err, &usage) != c.usage {
			t.Errorf("%q, %v: %v", c.address, c.anywhere, err)
		}
	}
}

// TestPassword: without one that is given, each server has another, which is long; and none only if
// that is said.
func TestPassword(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		s, err := Listen(Options{Address: ":0", User: "ftrace", Reader: "reader"}, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		for _, p := range []string{s.options.Password, s.options.ReaderPassword} {
			if len(p) < 16 || seen[p] {
				t.Errorf("password %q", p)
			}
			seen[p] = true
		}
	}
	for _, o := range []Options{{User: "u", Password: "p"}, {User: "u", Password: "p", Reader: "r", ReaderPassword: "q"}, {User: "u", Open: true}} {
		o.Address = ":0"
		s, err := Listen(o, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if s.options != o || (s.accounts == nil) != o.Open {
			t.Errorf("%+v: %+v, accounts %v", o, s.options, s.accounts)
		}
		for _, user := range []string{"u", "r"} {
			if s.accounts == nil {
				continue
			}
			if _, known := s.accounts.Secret(user); known != (user == "u" || o.Reader != "") {
				t.Errorf("%+v: %s is known: %v", o, user, known)
			}
		}
	}
}

func TestTLS(t *testing.T) {
	dir := t.TempDir()
	certificate, err := wire.SelfSigned()
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	name := func(name, kind string, data []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	own, its := name("cert", "CERTIFICATE", certificate.Certificate[0]), name("key", "PRIVATE KEY", key)
	for _, c := range []struct {
		tls                  string
		none, refused, usage bool
	}{
		{tls: "", none: true},
		{tls: "auto"},
		{tls: own + "," + its},
		{tls: own, refused: true, usage: true},
		{tls: own + "," + own, refused: true},
		{tls: own + "," + filepath.Join(dir, "missing"), refused: true},
	} {
		config, err := tlsConfig(c.tls)
		var usage listen.UsageError
		switch {
		case c.refused != (err != nil), c.usage != errors.As(err, &usage), (config == nil) != (c.none || c.refused):
			t.Errorf("%q: %v, %v", c.tls, config, err)
		case config != nil && (len(config.Certificates) != 1 || config.MinVersion == 0):
			t.Errorf("%q: %+v", c.tls, config)
		}
		if err != nil { // a server that can't do what is asked does not listen without it
			if s, err := Listen(Options{Address: ":0", TLS: c.tls}, io.Discard); err == nil {
				s.Close()
				t.Errorf("%q: it listens", c.tls)
			}
		}
	}
}

// process is a source that can end.
type process struct {
	source.Source
	ended *atomic.Bool
}

func (p process) Alive() bool  { return !p.ended.Load() }
func (p process) Close() error { return nil }

// started is a server that runs.
type started struct {
	*Server
	said   *bufio.Reader
	warned *strings.Builder
	err    chan error
}

func start(t *testing.T, o Options, c *schema.Catalog) started {
	t.Helper()
	o.Address = ":0"
	warned := new(strings.Builder)
	s, err := Listen(o, warned)
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	run := started{s, bufio.NewReader(r), warned, make(chan error, 1)}
	go func() {
		err := s.Run(c, w)
		w.Close()
		run.err <- err
	}()
	return run
}

// ends reports how the server ended, and fails if it does not within that time.
func (s started) ends(t *testing.T, within time.Duration) {
	t.Helper()
	go io.Copy(io.Discard, s.said)
	select {
	case err := <-s.err:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(within):
		t.Fatalf("it did not end within %v", within)
	}
	if c, err := net.DialTimeout("tcp", s.listeners[0].Addr().String(), time.Second); err == nil {
		c.Close()
		t.Error("it has ended, and still listens")
	}
}

// TestRun: it says how to connect, and ends when all that it shows has ended.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string // of the line that says how to connect
	}{
		{Options{User: "ftrace"}, "-u ftrace -pPASSWORD"},
		{Options{User: "u", Password: "secret"}, "-u u -p"}, // which asks for the one that is known
		{Options{Open: true}, ""},
	} {
		ended := new(atomic.Bool)
		catalog := &schema.Catalog{}
		catalog.Add(process{ended: ended})
		s := start(t, c.o, catalog)
		host, port, _ := net.SplitHostPort(s.listeners[0].Addr().String())
		want := strings.TrimSpace(fmt.Sprintf("mysql -h %s -P %s %s", host, port, strings.Replace(c.want, "PASSWORD", s.options.Password, 1)))
		for _, want := range []string{"serving on " + s.listeners[0].Addr().String(), want} {
			if line, err := s.said.ReadString('\n'); strings.TrimSuffix(line, "\n") != want {
				t.Errorf("it said %q, not %q, %v", line, want, err)
			}
		}
		ended.Store(true)
		s.ends(t, 10*time.Second)
		if !strings.Contains(s.warned.String(), "the process has ended") {
			t.Errorf("it warned of %q", s.warned.String())
		}
	}
}

// TestSignal: a recording does not end, nor do clients; SIGTERM ends all within a second.
func TestSignal(t *testing.T) {
	recorded, err := source.OpenRecording(filepath.Join(testenv.Root(t), "testdata", "recordings", "workers"), source.RecordingOptions{})
	if err != nil {
		t.Fatal(err)
	}
	catalog := &schema.Catalog{}
	if _, err := catalog.AddSchema("workers", recorded); err != nil {
		t.Fatal(err)
	}
	catalog.Add(recorded)
	s := start(t, Options{Open: true}, catalog)
	for range 2 {
		s.said.ReadString('\n')
	}
	c, err := net.Dial("tcp", s.listeners[0].Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	greeting := make([]byte, 5)
	if _, err := io.ReadFull(c, greeting); err != nil || greeting[4] != 10 {
		t.Fatalf("it greets with % x, %v", greeting, err)
	}
	select {
	case err := <-s.err:
		t.Fatalf("it ended: %v", err)
	case <-time.After(1500 * time.Millisecond): // longer than between two looks at whether processes have ended
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(syscall.SIGTERM); err != nil {
		t.Skipf("no signal can be sent: %v", err)
	}
	s.ends(t, 5*time.Second)
	c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := io.Copy(io.Discard, c); err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the client was not disconnected")
	}
}
