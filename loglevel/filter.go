package loglevel

import (
	"context"
	"log/slog"
)

// NewFilter returns a handler that gives next the records that are at or above the level of the
// package and file they were made in. A record without a position has the default level. next must
// let pass what levels do: give it levels as its Level, or [Trace].
//
// What is dropped costs no memory; Enabled is a comparison with the lowest level that any package
// has.
func NewFilter(next slog.Handler, levels *LevelsVar) slog.Handler { return &filter{next, levels} }

type filter struct {
	next   slog.Handler
	levels *LevelsVar
}

func (f *filter) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= f.levels.Level() && f.next.Enabled(ctx, l)
}

func (f *filter) Handle(ctx context.Context, r slog.Record) error {
	if Level(r.Level) < f.levels.At(r.PC) {
		return nil
	}
	return f.next.Handle(ctx, r)
}

func (f *filter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &filter{f.next.WithAttrs(attrs), f.levels}
}

func (f *filter) WithGroup(name string) slog.Handler {
	return &filter{f.next.WithGroup(name), f.levels}
}
