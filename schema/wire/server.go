package wire

import (
	"context"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/schema"
)

// A Server serves a catalog.
type Server struct {
	Catalog *schema.Catalog
	// User may log in, with Password. If User is empty anyone may.
	User, Password string
	// TLS, if it is not nil, is for clients that ask for it. TLSOnly refuses those that do not.
	TLS     *tls.Config
	TLSOnly bool
	// Log is told of connections that end by an error. It may be nil.
	Log func(format string, args ...any)

	mu    sync.Mutex
	conns map[uint32]*conn
	last  uint32
}

// connsMost is how many clients can be connected at once.
const connsMost = 151

// Serve serves the connections of a listener until ctx ends. It closes the listener.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	var clients sync.WaitGroup
	defer clients.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		<-ctx.Done()
		l.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, c := range s.conns {
			c.Close()
		}
	}()
	for {
		nc, err := l.Accept()
		if ctx.Err() != nil {
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
		clients.Go(func() { s.client(ctx, nc) })
	}
}

// client serves one connection.
func (s *Server) client(ctx context.Context, nc net.Conn) {
	defer nc.Close()
	c := &conn{packets: newPackets(nc), server: s, statements: map[uint32]*prepared{}}
	s.mu.Lock()
	full := len(s.conns) >= connsMost
	if !full {
		s.last++
		c.id = s.last
		if s.conns == nil {
			s.conns = map[uint32]*conn{}
		}
		s.conns[c.id] = c
	}
	s.mu.Unlock()
	if full {
		c.fail(schema.NewError(1040, "Too many connections"))
		return
	}
	defer func() {
		s.mu.Lock()
		delete(s.conns, c.id)
		s.mu.Unlock()
	}()
	session, err := s.Catalog.Session(ctx)
	if err != nil {
		c.fail(err)
		s.log("%v", err)
		return
	}
	defer session.Close()
	session.Identify(c.id, "@"+c.host(), nil)
	c.session = session
	if err := c.serve(ctx); err != nil && ctx.Err() == nil {
		s.log("client %d at %s: %v", c.id, nc.RemoteAddr(), err)
	}
}

func (s *Server) log(format string, args ...any) {
	if s.Log != nil {
		s.Log(format, args...)
	}
}

// password returns that of a user, and whether there is such a user.
func (s *Server) password(user string) (string, bool) {
	return s.Password, subtle.ConstantTimeCompare([]byte(user), []byte(s.User)) == 1
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
