package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// A Session is attached to a process, which records to a temporary directory.
type Session struct {
	Process *live.Process
	Dir     string // where the recording is
	remove  func()
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
	s := &Session{p, to.Here, func() { to.Remove(); restore() }}
	if err := o.begin(p, to.Inside, warn); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for !recording.Is(s.Dir) {
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
		detached = s.Process.Detach()
		close(done)
	}()
	err := Tail(s.Dir, done, s.nothing(), v, room, warn)
	stop() // the view may have had enough
	<-done
	return errors.Join(err, detached)
}

// Close leaves the process as it was, and removes the recording.
func (s *Session) Close() error {
	err := s.Process.Close()
	s.remove()
	return err
}
