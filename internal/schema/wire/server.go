package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// A Server serves a catalog.
type Server struct {
	Catalog *schema.Catalog // if it has no accounts anyone may log in
	// TLS, if it is not nil, is for clients that want it. TLSOnly refuses those that do not.
	TLS     *tls.Config
	TLSOnly bool
	// Log is called for connections that end with an error. It may be nil.
	Log func(format string, args ...any)

	mu      sync.Mutex
	conns   map[uint32]*conn
	waiting []*conn // those of them that have not logged in, the oldest first
	last    uint32
	used    atomic.Int64  // bytes that clients have sent and that are kept
	patient time.Duration // time before a wrong password is refused, if not refusalTime
}

// connsMax is how many clients can be logged in at once, and waitingMax how many can be about to
// log in: when there are more, the oldest of the address that has most is disconnected. heldMax is
// how many bytes all of them may have sent that are still needed.
const (
	connsMax   = 151
	waitingMax = 64
	heldMax    = 256 << 20
)

// refusalTime is how long it takes to refuse a wrong password.
const refusalTime = 500 * time.Millisecond

func (s *Server) refusal() time.Duration { return cmp.Or(s.patient, refusalTime) }

// admit takes in a client that has logged in, and opens its session.
func (c *conn) admit(ctx context.Context) error {
	if c.session != nil {
		return nil
	}
	s := c.server
	s.mu.Lock()
	full := len(s.conns)-len(s.waiting) >= connsMax
	if i := slices.Index(s.waiting, c); i >= 0 && !full {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.mu.Unlock()
	if full {
		return mysqlerr.New(1040, "Too many connections")
	}
	session, err := s.Catalog.Session(ctx)
	c.mu.Lock()
	c.session = session
	c.mu.Unlock()
	return err
}

// Serve serves the connections of a listener until ctx ends. It closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var clients sync.WaitGroup
	defer clients.Wait()
	ctx, cancel := context.WithCancel(ctx)
	closed := make(chan struct{})
	defer func() {
		cancel()
		<-closed // Accept may return before the port is free
	}()
	go func() {
		defer close(closed)
		<-ctx.Done()
		l.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, c := range s.conns {
			c.raw.Close()
		}
	}()
	for {
		nc, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				nc.Close()
			}
			return nil
		}
		if err != nil {
			var temporary interface{ Temporary() bool }
			if errors.As(err, &temporary) && temporary.Temporary() {
				time.Sleep(50 * time.Millisecond)
				continue
			}
			return err
		}
		// Admitted here, not by its goroutine, so that the oldest is the one that came first.
		c := s.admit(ctx, nc)
		clients.Go(func() { s.client(ctx, c) })
	}
}

// admit adds a connection to those that have not logged in, which may send another one away.
func (s *Server) admit(ctx context.Context, nc net.Conn) *conn {
	c := &conn{packets: newPackets(nc), raw: nc, server: s, statements: map[uint32]*prepared{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil { // the others may have been closed already
		nc.Close()
	}
	s.last++
	c.id = s.last
	if s.conns == nil {
		s.conns = map[uint32]*conn{}
	}
	s.conns[c.id] = c
	if s.waiting = append(s.waiting, c); len(s.waiting) > waitingMax {
		i := crowded(s.waiting)
		s.waiting[i].raw.Close()
		delete(s.conns, s.waiting[i].id)
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	return c
}

// client serves one connection.
func (s *Server) client(ctx context.Context, c *conn) {
	defer c.raw.Close()
	defer func() {
		s.mu.Lock()
		delete(s.conns, c.id)
		if i := slices.Index(s.waiting, c); i >= 0 {
			s.waiting = slices.Delete(s.waiting, i, i+1)
		}
		s.mu.Unlock()
		if c.session != nil {
			c.session.Close()
		}
	}()
	if err := c.serve(ctx); err != nil && ctx.Err() == nil {
		s.log("client %d at %s: %v", c.id, c.raw.RemoteAddr(), err)
	}
}

// crowded returns the oldest of those that come from the address that most come from: one address
// can't take the places of others.
func crowded(waiting []*conn) int {
	address := func(c *conn) string {
		a, _, _ := net.SplitHostPort(c.raw.RemoteAddr().String())
		return a
	}
	of := map[string]int{}
	for _, c := range waiting {
		of[address(c)]++
	}
	most := slices.Max(slices.Collect(maps.Values(of)))
	return slices.IndexFunc(waiting, func(c *conn) bool { return of[address(c)] == most })
}

func (s *Server) log(format string, args ...any) {
	if s.Log != nil {
		s.Log(format, args...)
	}
}

// knows reports whether there is such a user, whose password the client knows.
func (s *Server) knows(user, plugin string, salt, answer []byte) bool {
	if s.Catalog.Accounts == nil {
		return true
	}
	secret, ok := s.Catalog.Accounts.Secret(user)
	return proves(plugin, secret, salt, answer) && ok
}

func (s *Server) conn(id uint32) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns[id]
}

func (s *Server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}
