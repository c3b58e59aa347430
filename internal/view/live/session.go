package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A Session is attached to a process, which records to a temporary directory.
type Session struct {
	Process *live.Process
	Dir     string // where the recording is
	Rules   string // what is recorded at first; "": what the program's own rules say
	remove  func()

	mu      sync.Mutex // held while the process is asked, and while the session ends
	over    bool       // it has ended
	holders bool       // the process notes who holds which lock
}

// ErrOver is that a session has ended.
var ErrOver = errors.New("the process is not followed any more")

// Ask calls f, which asks the process for something of the session, unless that has ended.
func (s *Session) Ask(f func(*live.Process) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return ErrOver // a request would be about what the program itself has set, and stay
	}
	return f(s.Process)
}

// detach ends the session.
func (s *Session) detach() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	return s.Process.Detach()
}

// Begin attaches to the process of that number or name, and has it record what Rules say, within
// Budget. It returns once there is a recording.
func Begin(name string, o AttachOptions, warn io.Writer) (*Session, error) {
	p, err := Named(name)
	if err != nil {
		return nil, err
	}
	to, err := p.Scratch()
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	restore := KeepPipes()
	s := &Session{Process: p, Dir: to.Here, remove: func() { to.Remove(); restore() }}
	if s.Rules, err = o.begin(p, to.Inside, warn); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for !recording.Begun(s.Dir) {
		if !p.Alive() {
			return nil, errors.Join(s.nothing(), s.Close())
		}
		time.Sleep(pollEvery)
	}
	return s, nil
}

func (s *Session) nothing() error {
	return fmt.Errorf("process %d ended before it recorded anything", s.Process.PID)
}

// Follow tells a view what the process records, until the context ends or the process has ended.
// Then the process records no more, and the view has been told all.
func (s *Session) Follow(ctx context.Context, v View, room Room, warn io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	var detached error
	go func() {
		Wait(s.Process, 0, ctx.Done())
		detached = s.detach()
		close(done)
	}()
	err := Tail(s.Dir, done, s.nothing(), v, room, warn)
	stop() // the view may have had enough
	<-done
	return errors.Join(err, detached)
}

// Close leaves the process as it was, and removes the recording.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	err := s.Process.Close()
	s.remove()
	return err
}
