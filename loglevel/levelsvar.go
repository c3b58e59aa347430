package loglevel

import (
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
)

// A LevelsVar is a [Levels] that can be changed while loggers use it. The zero value is INFO for
// all. It must not be copied.
//
// As a [slog.Leveler] it is the lowest level that any package has; [NewFilter] makes the
// difference. It is a flag.Value, and an encoding.TextMarshaler and TextUnmarshaler.
type LevelsVar struct {
	state   atomic.Pointer[levelsState]
	binding atomic.Int32 // how many bindings there are
}

// levelsState is what a LevelsVar is set to.
type levelsState struct {
	levels Levels
	lowest Level
	known  sites // the levels of places in the program, once they were needed
}

// infoForAll is the state of the zero LevelsVar.
var infoForAll levelsState

// FromEnv returns the levels that the environment variable name holds, or those of fallback if it
// is empty. If either is wrong, the error names the variable. The levels are then those of
// fallback, or INFO for all if fallback is wrong. The result is never nil.
//
// Who starts a program chooses its environment, also that of a setuid program. One that binds these
// levels lets its caller choose which functions are traced.
func FromEnv(name, fallback string) (*LevelsVar, error) {
	v := new(LevelsVar)
	if err := v.Set(fallback); err != nil {
		return v, fmt.Errorf("levels in place of %s: %w", name, err)
	}
	if text := os.Getenv(name); text != "" {
		if err := v.Set(text); err != nil {
			return v, fmt.Errorf("environment variable %s: %w", name, err)
		}
	}
	return v, nil
}

func (v *LevelsVar) load() *levelsState {
	if s := v.state.Load(); s != nil {
		return s
	}
	return &infoForAll
}

// Load returns the levels.
func (v *LevelsVar) Load() Levels { return v.load().levels }

// Store sets the levels. If they are bound, what is traced has changed when Store returns.
func (v *LevelsVar) Store(l Levels) {
	v.state.Store(&levelsState{levels: l, lowest: l.Lowest()})
	changed(v)
}

// Set sets the levels to what [ParseLevels] reads. The levels stay as they are if there is an
// error.
func (v *LevelsVar) Set(text string) error {
	l, err := ParseLevels(text)
	if err == nil {
		v.Store(l)
	}
	return err
}

// More sets the default to the next level towards TRACE. Packages and files that have a level of
// their own keep it.
func (v *LevelsVar) More() { v.step(true) }

// Less sets the default to the next level towards ERROR. Packages and files that have a level of
// their own keep it.
func (v *LevelsVar) Less() { v.step(false) }

func (v *LevelsVar) step(more bool) {
	for {
		s := v.state.Load()
		var l Levels
		if s != nil {
			l = s.levels
		}
		l.base = l.base.step(more)
		if v.state.CompareAndSwap(s, &levelsState{levels: l, lowest: l.Lowest()}) {
			changed(v)
			return
		}
	}
}

// Level returns the lowest level that any package has.
func (v *LevelsVar) Level() slog.Level { return slog.Level(v.load().lowest) }

// At returns the level of the package and the file of the code at pc, for loggers other than slog.
// pc is one of [runtime.Callers], or of a [slog.Record]; for 0, At returns the default. The first
// call for a pc looks it up; further ones take a few nanoseconds and no memory.
func (v *LevelsVar) At(pc uintptr) Level {
	s := v.load()
	if pc == 0 || len(s.levels.entries) == 0 {
		return s.levels.base
	}
	if l, ok := s.known.get(pc); ok {
		return l
	}
	l := s.levels.Of(source(pc))
	s.known.put(pc, l)
	return l
}

// String returns the levels as Set reads them.
func (v *LevelsVar) String() string { return v.Load().String() }

// MarshalText returns what String does. The error is nil.
func (v *LevelsVar) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText is [LevelsVar.Set].
func (v *LevelsVar) UnmarshalText(text []byte) error { return v.Set(string(text)) }

func (v *LevelsVar) watched() *atomic.Int32 { return &v.binding }

func (v *LevelsVar) traced() []part { return v.Load().traced() }
