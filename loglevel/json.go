package loglevel

import (
	"context"
	"io"
	"log/slog"

	ftrace "github.com/ftrace-wrap/ftrace-wrap/runtime"
)

// NewJSONHandler returns a handler that writes records as lines of JSON, as [slog.JSONHandler]
// does. The level has its name in this package, and the goroutine and the depth in the trace follow
// it:
//
//	{"time":"2024-02-29T12:00:00Z","level":"INFO","goroutine":1,"depth":2,"msg":"listening","addr":":8080"}
//
// Without the wrapper these two are absent. Each line is one Write. The trace does not get the line
// a second time. A nil options has all defaults.
func NewJSONHandler(w io.Writer, options *HandlerOptions) slog.Handler {
	h := &jsonHandler{}
	if options != nil {
		h.options = *options
	}
	h.Handler = slog.NewJSONHandler(newSink(w), &slog.HandlerOptions{
		AddSource:   h.options.AddSource,
		ReplaceAttr: h.options.place,
	})
	return h
}

// A jsonHandler is one of package slog whose ReplaceAttr puts a group without a name, which is
// printed as its members, in the place of the level.
type jsonHandler struct {
	slog.Handler
	options HandlerOptions
}

// ownLevel is added to a record's level on its way to ReplaceAttr, which knows it by that from
// other attributes called "level".
const ownLevel = 1 << 30

// A placed value is on its second way through ReplaceAttr, as a member of the group that stands for
// the level.
type placed struct{ slog.Value }

func (h *jsonHandler) Enabled(_ context.Context, l slog.Level) bool { return h.options.enabled(l) }

func (h *jsonHandler) Handle(ctx context.Context, r slog.Record) error {
	r.Level += ownLevel
	var err error
	ftrace.WithoutWeaving(func() { err = h.Handler.Handle(ctx, r) }) // package slog would say that it logs
	return err
}

func (h *jsonHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &jsonHandler{h.Handler.WithAttrs(attrs), h.options}
}

func (h *jsonHandler) WithGroup(name string) slog.Handler {
	return &jsonHandler{h.Handler.WithGroup(name), h.options}
}

// place is the ReplaceAttr.
func (o *HandlerOptions) place(groups []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindAny {
		switch v := a.Value.Any().(type) {
		case placed:
			return slog.Attr{Key: a.Key, Value: v.Value}
		case slog.Level:
			if v > ownLevel/2 && len(groups) == 0 && a.Key == slog.LevelKey {
				return o.withGoroutine(v - ownLevel)
			}
		}
	}
	if o.ReplaceAttr == nil {
		return a
	}
	return o.ReplaceAttr(groups, a)
}

// withGoroutine returns what stands in the place of the level.
func (o *HandlerOptions) withGoroutine(l slog.Level) slog.Attr {
	a := slog.Any(slog.LevelKey, l)
	if o.ReplaceAttr != nil {
		a = o.ReplaceAttr(nil, a)
		a.Value = a.Value.Resolve()
	}
	if a.Value.Kind() == slog.KindAny {
		if l, ok := a.Value.Any().(slog.Level); ok {
			a.Value = slog.StringValue(Level(l).String())
		}
	}
	id := ftrace.Goroutine()
	if id == 0 {
		return a
	}
	if !a.Equal(slog.Attr{}) {
		a.Value = slog.AnyValue(placed{a.Value})
	}
	return slog.Attr{Value: slog.GroupValue(a, slog.Uint64("goroutine", id), slog.Int("depth", ftrace.Depth()))}
}
