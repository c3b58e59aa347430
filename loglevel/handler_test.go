package loglevel

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"time"
)

func TestJSONHandlerConforms(t *testing.T) {
	var b bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		b.Reset()
		return NewJSONHandler(&b, nil)
	}, func(t *testing.T) map[string]any {
		m := map[string]any{}
		if err := json.Unmarshal(b.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		return m
	})
}

func TestTextHandlerConforms(t *testing.T) {
	var b bytes.Buffer
	slogtest.Run(t, func(*testing.T) slog.Handler {
		b.Reset()
		return NewTextHandler(&b, &HandlerOptions{Time: true})
	}, func(t *testing.T) map[string]any { return parseLine(t, b.String()) })
}

// parseLine reads a line of text whose message is one word and whose values have no spaces. There
// may be a time in front.
func parseLine(t *testing.T, line string) map[string]any {
	head, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "- ")
	words := strings.Fields(text)
	if !ok || len(words) < 2 || strings.Contains(text, "\n") {
		t.Fatalf("line %q", line)
	}
	m := map[string]any{slog.LevelKey: words[0], slog.MessageKey: words[1]}
	if head = strings.TrimSpace(head); head != "" {
		if _, err := time.Parse("15:04:05.000000Z", head); err != nil {
			t.Fatal(err)
		}
		m[slog.TimeKey] = head
	}
	for _, word := range words[2:] {
		key, value, _ := strings.Cut(word, "=")
		path := strings.Split(key, ".")
		in := m
		for _, group := range path[:len(path)-1] {
			inner, _ := in[group].(map[string]any)
			if inner == nil {
				inner = map[string]any{}
				in[group] = inner
			}
			in = inner
		}
		in[path[len(path)-1]] = value
	}
	return m
}

type broken struct{}

func (*broken) MarshalText() ([]byte, error) { panic("broken") }

type secret string

func (secret) LogValue() slog.Value { return slog.StringValue("***") }

func TestTextHandler(t *testing.T) {
	var b strings.Builder
	log := slog.New(NewTextHandler(&b, &HandlerOptions{Level: Trace}))
	log.Info("listening", "addr", ":8080")
	log.Log(t.Context(), Notice.Level()+1, "two words")
	log.Error("", "err", errors.New("no file"), "empty", "", "quoted", `a"b`, "eq", "a=b", "key with space", 1)
	log.Warn("two\nlines", "text", "two\nlines", "tab", "\t", "wrong", "\xff")
	log.Log(t.Context(), Trace.Level(), "kinds", "i", -1, "u", uint(1), "f", 1.5, "t", true, "d", time.Second, "at", time.Date(2024, 2, 29, 1, 2, 3, 4e6, time.UTC),
		"bytes", []byte("ab"), "struct", struct{ A int }{1}, "nil", nil, "level", slog.LevelDebug-4, "secret", secret("x"), "nilpanic", (*broken)(nil), "panic", &broken{})
	log.With("a", 1).WithGroup("g").With("b", 2).WithGroup("h").Debug("groups", "c", 3, slog.Group("", "d", 4), slog.Group("i", "e", 5), slog.Group("none"))
	const want = `- info listening addr=:8080
- notice+1 two words
- err  err="no file" empty="" quoted="a\"b" eq="a=b" "key with space"=1
- warn "two\nlines" text="two\nlines" tab="\t" wrong="\xff"
- trace kinds i=-1 u=1 f=1.5 t=true d=1s at=2024-02-29T01:02:03.004Z bytes=ab struct={A:1} nil=<nil> level=TRACE secret=*** nilpanic="!PANIC: broken" panic="!PANIC: broken"
- debug groups a=1 g.b=2 g.h.c=3 g.h.d=4 g.h.i.e=5
`
	if b.String() != strings.ReplaceAll(want, `nilpanic="!PANIC: broken"`, `nilpanic=<nil>`) {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestHandlerOptions(t *testing.T) {
	replace := func(groups []string, a slog.Attr) slog.Attr {
		switch {
		case a.Key == slog.TimeKey && len(groups) == 0:
			return slog.Attr{}
		case a.Key == slog.LevelKey && len(groups) == 0:
			return slog.String("severity", "<"+Level(a.Value.Any().(slog.Level)).String()+">")
		case a.Key == slog.SourceKey && len(groups) == 0:
			source := a.Value.Any().(*slog.Source)
			return slog.String("at", source.File[strings.LastIndexByte(source.File, '/')+1:])
		case a.Key == "password":
			return slog.Attr{}
		}
		return slog.String(strings.Join(append(groups, a.Key), "/"), strings.ToUpper(a.Value.String()))
	}
	for _, test := range []struct {
		make func(io.Writer, *HandlerOptions) slog.Handler
		want string
	}{
		{NewTextHandler, "- <WARN> HELLO at=handler_test.go g.g/a=B\n"},
		{NewJSONHandler, `{"severity":"<WARN>","at":"handler_test.go","MSG":"HELLO","g":{"g/a":"B"}}` + "\n"},
	} {
		var b strings.Builder
		log := slog.New(test.make(&b, &HandlerOptions{Level: Warn, AddSource: true, Time: true, ReplaceAttr: replace}))
		log.Info("dropped")
		log.Warn("hello", "password", "x", slog.Group("g", "a", "b", "password", "x"))
		if got := strings.Replace(b.String(), `"msg"`, `"MSG"`, 1); got != test.want {
			t.Errorf("got  %swant %s", got, test.want)
		}
	}
	var b strings.Builder
	slog.New(NewTextHandler(&b, &HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == "x" {
			return a
		}
		return slog.Attr{}
	}})).Info("hello", "x", 1)
	if b.String() != "-  x=1\n" {
		t.Errorf("%q", b.String())
	}
}

// TestJSONLevels has attributes that are called as the level is.
func TestJSONLevels(t *testing.T) {
	var b strings.Builder
	log := slog.New(NewJSONHandler(&b, &HandlerOptions{Level: new(LevelVar)}))
	log.Log(t.Context(), Notice.Level(), "a", "level", slog.LevelWarn, slog.Group("g", "level", slog.LevelDebug))
	if _, got, _ := strings.Cut(b.String(), `,"level"`); got != `:"NOTICE","msg":"a","level":"WARN","g":{"level":"DEBUG"}}`+"\n" {
		t.Error(b.String())
	}
}

// A lines takes one Write a line, and not two at a time.
type lines struct {
	lock sync.Mutex
	all  []string
	bad  []string
}

func (l *lines) Write(p []byte) (int, error) {
	if !l.lock.TryLock() {
		return 0, errors.New("two Writes at a time")
	}
	defer l.lock.Unlock()
	if bytes.Count(p, []byte("\n")) != 1 || p[len(p)-1] != '\n' {
		l.bad = append(l.bad, string(p))
	}
	l.all = append(l.all, string(p))
	return len(p), nil
}

func TestHandlersConcurrently(t *testing.T) {
	for _, make := range []func(io.Writer, *HandlerOptions) slog.Handler{NewTextHandler, NewJSONHandler} {
		var l lines
		h := make(&l, nil)
		var done sync.WaitGroup
		for g := range 4 {
			done.Go(func() {
				log := slog.New(h.WithAttrs([]slog.Attr{slog.Int("g", g)}))
				for i := range 200 {
					log.Info(strings.Repeat("x", i), "i", i)
				}
			})
		}
		done.Wait()
		if len(l.all) != 800 || len(l.bad) > 0 {
			t.Errorf("%d lines, wrong are %q", len(l.all), l.bad)
		}
	}
}

// TestHandlerReentered logs from a LogValuer.
func TestHandlerReentered(t *testing.T) {
	var l lines
	var log *slog.Logger
	for _, make := range []func(io.Writer, *HandlerOptions) slog.Handler{NewTextHandler, NewJSONHandler} {
		log = slog.New(make(&l, nil))
		log.Info("outer", "value", logging{func() { log.Info("inner") }})
	}
	if len(l.all) != 4 || !strings.Contains(l.all[0], "inner") || !strings.Contains(l.all[1], "outer value=logged") || len(l.bad) > 0 {
		t.Errorf("%q", l.all)
	}
}

type logging struct{ log func() }

func (l logging) LogValue() slog.Value { l.log(); return slog.StringValue("logged") }

func TestWriter(t *testing.T) {
	var l lines
	w := NewTextWriter(&l)
	for _, piece := range []string{"a", "", "b\nc\n\nd", "e", "\n", "f"} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := strings.Join(l.all, ""); got != "- ab\n- c\n-\n- de\n" {
		t.Errorf("%q", got)
	}
	if err := w.Flush(); err != nil || len(l.all) != 5 || l.all[4] != "- f\n" || len(l.bad) > 0 {
		t.Errorf("%v, %q", err, l.all)
	}
	if w.Flush(); len(l.all) != 5 {
		t.Errorf("%q", l.all)
	}
	long := strings.Repeat("x", maxHeld/2)
	for range 3 {
		io.WriteString(w, long)
	}
	if len(l.all) != 6 || l.all[5] != "- "+long+long+"\n" {
		t.Errorf("%d lines", len(l.all))
	}
}

func TestJSONWriter(t *testing.T) {
	var l lines
	w := NewJSONWriter(&l, Notice)
	fmt.Fprintf(w, "one \"quoted\"\ntwo\n")
	if len(l.all) != 2 || len(l.bad) > 0 {
		t.Fatalf("%q", l.all)
	}
	var entry struct {
		Time       time.Time
		Level, Msg string
	}
	if err := json.Unmarshal([]byte(l.all[0]), &entry); err != nil || entry.Level != "NOTICE" || entry.Msg != `one "quoted"` || time.Since(entry.Time) > time.Hour {
		t.Errorf("%v, %+v", err, entry)
	}
}

// A full disk takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteErrors(t *testing.T) {
	if n, err := NewTextWriter(full{}).Write([]byte("a\nb\n")); n != 4 || err == nil || err.Error() != "full" {
		t.Error(n, err)
	}
	for _, h := range []slog.Handler{NewTextHandler(full{}, nil), NewJSONHandler(full{}, nil)} {
		if err := h.Handle(t.Context(), recordAt(0, Info)); err == nil || err.Error() != "full" {
			t.Error(err)
		}
	}
}
