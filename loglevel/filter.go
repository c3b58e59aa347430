package loglevel

import (
	"context"
	"log/slog"
)

// NewFilter returns a handler that passes a record to next if it is at or above the level of the
// package and the file that it was made in. A record without a position has the default level. Give
// next levels as its Level, or Trace, so that it drops nothing more.
//
// A record that is dropped costs no memory. Enabled compares with the lowest level of all packages.
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
