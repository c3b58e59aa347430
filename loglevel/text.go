package loglevel

import (
	"context"
	"encoding"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// HandlerOptions are for [NewTextHandler] and [NewJSONHandler]. The zero value, as nil, is all
// defaults.
type HandlerOptions struct {
	// Level is the lowest level that is handled; nil is INFO. A [LevelVar] can be changed while the
	// program runs. A [LevelsVar] is its lowest level; put a [NewFilter] around the handler.
	Level slog.Leveler

	// AddSource adds the attribute "source" with file and line.
	AddSource bool

	// ReplaceAttr is called for each attribute, as that of [slog.HandlerOptions]. The text of a
	// trace has no keys for time, level and message: only their values are taken from what it
	// returns.
	ReplaceAttr func(groups []string, a slog.Attr) slog.Attr

	// Time puts the time of day, UTC, in front of a line of text, as FTRACE_FORMAT=wall does. JSON
	// always has the time.
	Time bool
}

func (o *HandlerOptions) enabled(l slog.Level) bool {
	if o.Level == nil {
		return l >= slog.LevelInfo
	}
	return l >= o.Level.Level()
}

// NewTextHandler returns a handler that writes records as lines of a trace,
//
//	G1     - info listening addr=:8080
//
// at the depth of the traced calls under way on the goroutine. Without the wrapper a line is
// "- info listening addr=:8080". Attributes are printed as by [slog.TextHandler]. A message with
// line breaks or other characters that do not print is quoted. Each line is one Write. The trace
// does not get the line a second time. A nil options has all defaults.
func NewTextHandler(w io.Writer, options *HandlerOptions) slog.Handler {
	h := &textHandler{out: newSink(w)}
	if options != nil {
		h.options = *options
	}
	return h
}

type textHandler struct {
	options HandlerOptions
	out     *sink
	attrs   []byte   // those of WithAttrs, formatted
	groups  []string // open ones
	prefix  string   // the same, each with a dot
}

func (h *textHandler) Enabled(_ context.Context, l slog.Level) bool { return h.options.enabled(l) }

func (h *textHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.groups = append(slices.Clip(h.groups), name)
	with.prefix = h.prefix + name + "."
	return &with
}

func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	b := lineBuffer(slices.Clone(h.attrs))
	for _, a := range attrs {
		h.attr(&b, h.groups, h.prefix, a)
	}
	with.attrs = b
	return &with
}

func (h *textHandler) Handle(_ context.Context, r slog.Record) error {
	b := newLine()
	defer b.free()
	if h.options.Time && !r.Time.IsZero() {
		if a := h.replaced(slog.Time(slog.TimeKey, r.Time.Round(0))); a.Value.Kind() == slog.KindTime {
			*b = append(a.Value.Time().UTC().AppendFormat(*b, "15:04:05.000000Z"), ' ')
		} else if !a.Equal(slog.Attr{}) {
			*b = append(append(*b, a.Value.String()...), ' ')
		}
	}
	b.begin()
	text := len(*b)
	h.level(b, r.Level)
	if a := h.replaced(slog.String(slog.MessageKey, r.Message)); !a.Equal(slog.Attr{}) {
		b.message(a.Value.String())
	}
	if h.options.AddSource {
		if source := r.Source(); source != nil {
			h.attr(b, nil, "", slog.Any(slog.SourceKey, source))
		}
	}
	*b = append(*b, h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		h.attr(b, h.groups, h.prefix, a)
		return true
	})
	*b = append(*b, '\n')
	_, err := h.out.log(int(r.Level), *b, text)
	return err
}

// replaced returns what is to be printed for an attribute of the record itself.
func (h *textHandler) replaced(a slog.Attr) slog.Attr {
	if h.options.ReplaceAttr != nil {
		a = h.options.ReplaceAttr(nil, a)
		a.Value = a.Value.Resolve()
	}
	return a
}

func (h *textHandler) level(b *lineBuffer, l slog.Level) {
	if h.options.ReplaceAttr == nil {
		*b = append(append(*b, Level(l).lower()...), ' ')
		return
	}
	a := h.replaced(slog.Any(slog.LevelKey, l))
	if a.Equal(slog.Attr{}) {
		return
	}
	word := a.Value.String()
	if l, ok := a.Value.Any().(slog.Level); ok {
		word = Level(l).lower()
	}
	*b = append(append(*b, word...), ' ')
}

// attr appends an attribute with a space in front, and those of a group one by one.
func (h *textHandler) attr(b *lineBuffer, groups []string, prefix string, a slog.Attr) {
	a.Value = a.Value.Resolve()
	if h.options.ReplaceAttr != nil && a.Value.Kind() != slog.KindGroup {
		a = h.options.ReplaceAttr(groups, a)
		a.Value = a.Value.Resolve()
	}
	if a.Equal(slog.Attr{}) {
		return
	}
	if a.Value.Kind() == slog.KindGroup {
		if a.Key != "" {
			groups = append(slices.Clip(groups), a.Key)
			prefix += a.Key + "."
		}
		for _, inner := range a.Value.Group() {
			h.attr(b, groups, prefix, inner)
		}
		return
	}
	*b = append(*b, ' ')
	b.quotable(prefix + a.Key)
	*b = append(*b, '=')
	b.value(a.Value)
}

// message appends the text of a record, which may have spaces.
func (b *lineBuffer) message(s string) {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			*b = strconv.AppendQuote(*b, s)
			return
		}
	}
	*b = append(*b, s...)
}

// quotable appends a key or value, quoted if it could not be told where it ends.
func (b *lineBuffer) quotable(s string) {
	quote := s == ""
	for _, r := range s {
		quote = quote || r == ' ' || r == '"' || r == '=' || r == utf8.RuneError || !unicode.IsPrint(r)
	}
	if quote {
		*b = strconv.AppendQuote(*b, s)
	} else {
		*b = append(*b, s...)
	}
}

func (b *lineBuffer) value(v slog.Value) {
	switch v.Kind() {
	case slog.KindString:
		b.quotable(v.String())
	case slog.KindInt64:
		*b = strconv.AppendInt(*b, v.Int64(), 10)
	case slog.KindUint64:
		*b = strconv.AppendUint(*b, v.Uint64(), 10)
	case slog.KindBool:
		*b = strconv.AppendBool(*b, v.Bool())
	case slog.KindTime:
		*b = v.Time().AppendFormat(*b, "2006-01-02T15:04:05.000Z07:00")
	case slog.KindAny:
		b.quotable(textOf(v.Any()))
	default:
		b.quotable(v.String())
	}
}

// textOf is the text of any value. A method that panics costs its value only, as with package slog.
func textOf(v any) (text string) {
	defer func() {
		if r := recover(); r != nil {
			if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && p.IsNil() {
				text = "<nil>"
			} else {
				text = fmt.Sprintf("!PANIC: %v", r)
			}
		}
	}()
	switch v := v.(type) {
	case *slog.Source:
		return v.File + ":" + strconv.Itoa(v.Line)
	case slog.Level:
		return Level(v).String()
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		if err != nil {
			return "!ERROR:" + err.Error()
		}
		return string(text)
	case []byte:
		return string(v)
	}
	return fmt.Sprintf("%+v", v)
}
