package loglevel

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// pcIn returns a place in a function.
func pcIn(f any) uintptr { return reflect.ValueOf(f).Pointer() + 1 }

func recordAt(pc uintptr, l Level) slog.Record {
	return slog.NewRecord(time.Time{}, slog.Level(l), "message", pc)
}

// A counter is a handler that counts what it handles.
type counter struct {
	n     *int
	attrs string
}

func (c counter) Enabled(context.Context, slog.Level) bool      { return true }
func (c counter) Handle(_ context.Context, r slog.Record) error { *c.n++; return nil }
func (c counter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return counter{c.n, c.attrs + attrs[0].String()}
}
func (c counter) WithGroup(name string) slog.Handler { return counter{c.n, c.attrs + name + "."} }

func TestFilter(t *testing.T) {
	var n int
	v := new(LevelsVar)
	h := NewFilter(counter{n: &n}, v)
	passes := func(pc uintptr, l Level) bool {
		t.Helper()
		before := n
		if err := h.Handle(t.Context(), recordAt(pc, l)); err != nil {
			t.Fatal(err)
		}
		return n > before && h.Enabled(t.Context(), slog.Level(l))
	}
	places := map[string]uintptr{"strings": pcIn(strings.ToUpper), "utf8": pcIn(utf8.ValidString), "fmt": pcIn((*slog.LevelVar).Set), "here": pcIn(TestFilter), "": 0}
	for _, test := range []struct {
		levels string
		want   map[string]Level
	}{
		{"", map[string]Level{"strings": Info, "utf8": Info, "fmt": Info, "here": Info, "": Info}},
		{"warn,strings=debug,unicode/...=err,filter_test.go=trace", map[string]Level{"strings": Debug, "utf8": Error, "fmt": Warn, "here": Trace, "": Warn}},
		{"debug,strings/strings.go=info,log/...=notice", map[string]Level{"strings": Info, "utf8": Debug, "fmt": Notice, "here": Debug, "": Debug}},
	} {
		if err := v.Set(test.levels); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time from what is known
			for place, want := range test.want {
				if !passes(places[place], want) || passes(places[place], want-1) {
					t.Errorf("%q: the level of %q is not %v", test.levels, place, want)
				}
			}
		}
		if lowest := slog.Level(v.Load().Lowest()); h.Enabled(t.Context(), lowest-1) || !h.Enabled(t.Context(), lowest) {
			t.Errorf("%q: Enabled", test.levels)
		}
	}
	if got := h.WithAttrs([]slog.Attr{slog.Int("a", 1)}).WithGroup("g").(*filter).next.(counter).attrs; got != "a=1g." {
		t.Error(got)
	}
}

// TestFilterLogger logs by a Logger, whose records have the position of the caller.
func TestFilterLogger(t *testing.T) {
	var n int
	v := new(LevelsVar)
	v.Set("err,filter_test.go=debug")
	log := slog.New(NewFilter(counter{n: &n}, v))
	log.Debug("passes")
	if log.Log(t.Context(), slog.LevelDebug-1, "does not"); n != 1 {
		t.Error(n)
	}
}

func TestFilterAllocs(t *testing.T) {
	v := new(LevelsVar)
	v.Set("warn,nothing=trace")
	log := slog.New(NewFilter(counter{n: new(int)}, v))
	if n := testing.AllocsPerRun(100, func() { log.Info("dropped") }); n != 0 {
		t.Errorf("%v allocations for what is dropped", n)
	}
}

// TestSites has several goroutines ask for many places while levels change.
func TestSites(t *testing.T) {
	v := new(LevelsVar)
	for _, text := range []string{"info,strings=debug", "info,strings=warn,fmt=debug"} {
		v.Set(text)
		l := v.Load()
		var done sync.WaitGroup
		for g := range 4 {
			done.Go(func() {
				from, to := pcIn(strings.ToUpper), pcIn(fmt.Sprint)
				if from > to {
					from, to = to, from
				}
				step := (to - from) / 997
				for i := range uintptr(1000) {
					pc := from + (i+uintptr(g)*250)%1000*step
					frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
					if got, want := v.At(pc), l.Of(packageOf(frame.Function), frame.File); got != want {
						t.Errorf("%s: %v, want %v", frame.Function, got, want)
						return
					}
				}
			})
		}
		done.Wait()
	}
}

// TestSitesPublish asks for places while they become known: with them comes their level.
func TestSitesPublish(t *testing.T) {
	const places = 200000
	var s sites
	var done sync.WaitGroup
	for range 2 {
		done.Go(func() {
			for pc := uintptr(1); pc <= places; {
				l, known := s.get(pc)
				if known && l != Level(pc) {
					t.Errorf("place %d has level %d", pc, l)
					return
				}
				if known {
					pc++
				} else {
					runtime.Gosched()
				}
			}
		})
	}
	for pc := uintptr(1); pc <= places; pc++ {
		s.put(pc, Level(pc))
	}
	done.Wait()
}

func TestPackageOf(t *testing.T) {
	for function, want := range map[string]string{
		"main.main": "main", "net/http.(*Client).Do": "net/http", "gopkg.in/yaml%2ev3.Unmarshal": "gopkg.in/yaml.v3", "example.com/a%25b%2ec.F[...].func1": "example.com/a%b.c",
		"": "", "x": "x", "runtime.goexit": "runtime",
	} {
		if got := packageOf(function); got != want {
			t.Errorf("%s: %q, want %q", function, got, want)
		}
	}
}
