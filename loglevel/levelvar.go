package loglevel

import (
	"log/slog"
	"sync/atomic"
)

// A Var is a [*LevelVar] or a [*LevelsVar]: levels that can be changed while the program runs.
// Loggers share one. All methods may be called from several goroutines at once.
type Var interface {
	slog.Leveler
	String() string        // as Set reads it
	Set(text string) error // makes it a flag.Value
	More()                 // one step towards TRACE
	Less()                 // one step towards ERROR

	watched() *atomic.Int32
	traced() []part
}

// A LevelVar is a [Level] that can be changed while loggers use it. The zero value is INFO. It must
// not be copied.
//
// It is a [slog.Leveler], for [slog.HandlerOptions]; a flag.Value; and an encoding.TextMarshaler
// and TextUnmarshaler.
type LevelVar struct {
	level   atomic.Int64
	binding atomic.Int32 // how many bindings there are
}

// Load returns the level.
func (v *LevelVar) Load() Level { return Level(v.level.Load()) }

// Store sets the level. If it is bound, what is traced has changed when Store returns.
func (v *LevelVar) Store(l Level) {
	v.level.Store(int64(l))
	changed(v)
}

// Set sets the level to what [Parse] reads. The level stays as it is if there is an error.
func (v *LevelVar) Set(text string) error {
	l, err := Parse(text)
	if err == nil {
		v.Store(l)
	}
	return err
}

// More sets the next level towards TRACE.
func (v *LevelVar) More() { v.step(true) }

// Less sets the next level towards ERROR.
func (v *LevelVar) Less() { v.step(false) }

func (v *LevelVar) step(more bool) {
	for {
		l := v.level.Load()
		if v.level.CompareAndSwap(l, int64(Level(l).step(more))) {
			changed(v)
			return
		}
	}
}

// Level returns the level for package slog.
func (v *LevelVar) Level() slog.Level { return slog.Level(v.level.Load()) }

// String returns the level's name.
func (v *LevelVar) String() string { return v.Load().String() }

// MarshalText returns the level's name. The error is nil.
func (v *LevelVar) MarshalText() ([]byte, error) { return v.Load().MarshalText() }

// UnmarshalText is [LevelVar.Set].
func (v *LevelVar) UnmarshalText(text []byte) error { return v.Set(string(text)) }

func (v *LevelVar) watched() *atomic.Int32 { return &v.binding }

// traced returns what is at TRACE: everything or nothing.
func (v *LevelVar) traced() []part {
	if v.Load() > Trace {
		return nil
	}
	return []part{{}}
}
