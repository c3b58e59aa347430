package loglevel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"sync"
)

// Signals says which signals change a level.
type Signals struct {
	More   []os.Signal // one step towards TRACE
	Less   []os.Signal // one step towards ERROR
	Reload []os.Signal // the level is read from File

	// File holds what Set of the level reads. Levels may be on lines of their own, with comments.
	File string

	// Report is called after each signal, one at a time, with the error if File can't be read or is
	// wrong, which leaves the level as it is. If it is nil the new level, or the error, is logged
	// with slog.
	Report func(v Var, err error)
}

// NotifySignals lets signals change v, until stop is called:
//
//	stop, err := loglevel.NotifySignals(&level, loglevel.Signals{
//		More: []os.Signal{syscall.SIGUSR1},
//		Less: []os.Signal{syscall.SIGUSR2},
//	})
//
// stop waits until a change that is under way is done, so Report must not call it. If a signal
// would do two things, if there is no signal, or if File is missing or not needed, NotifySignals
// returns an error.
func NotifySignals(v Var, s Signals) (stop func(), err error) {
	if err := s.check(); err != nil {
		return func() {}, err
	}
	signals, quit, ended := make(chan os.Signal, 8), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, slices.Concat(s.More, s.Less, s.Reload)...)
	go func() {
		defer close(ended)
		for {
			select {
			case sig := <-signals:
				s.apply(v, sig)
			case <-quit:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		signal.Stop(signals)
		close(quit)
		<-ended
	}), nil
}

func (s *Signals) check() error {
	all := slices.Concat(s.More, s.Less, s.Reload)
	if len(all) == 0 {
		return errors.New("loglevel: no signal is named") // Notify would take all there are
	}
	for i, sig := range all {
		if slices.Contains(all[:i], sig) {
			return fmt.Errorf("loglevel: signal %v is named twice", sig)
		}
	}
	if (len(s.Reload) == 0) != (s.File == "") {
		return errors.New("loglevel: Reload and File go together")
	}
	return nil
}

func (s *Signals) apply(v Var, sig os.Signal) {
	var err error
	switch {
	case slices.Contains(s.More, sig):
		v.More()
	case slices.Contains(s.Less, sig):
		v.Less()
	default:
		err = Reload(v, s.File)
	}
	switch {
	case s.Report != nil:
		s.Report(v, err)
	case err != nil:
		slog.Error("log level stays as it is", "level", v.String(), "signal", sig.String(), "err", err)
	default:
		slog.Log(context.Background(), slog.Level(Notice), "log level", "level", v.String(), "signal", sig.String())
	}
}

// Reload sets v to what a file holds. If the file can't be read or is wrong, the error names it and
// v stays as it is.
func Reload(v Var, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("loglevel: %w", err)
	}
	if err := v.Set(string(text)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
