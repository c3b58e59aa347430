package loglevel

import (
	"encoding"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"strings"
	"testing"
)

// What the package says a level is.
var (
	_ slog.Leveler             = Info
	_ encoding.TextMarshaler   = Info
	_ encoding.TextUnmarshaler = new(Level)
	_ flag.Value               = new(Level)

	_ Var                      = new(LevelVar)
	_ flag.Value               = new(LevelVar)
	_ encoding.TextMarshaler   = new(LevelVar)
	_ encoding.TextUnmarshaler = new(LevelVar)

	_ Var                      = new(LevelsVar)
	_ flag.Value               = new(LevelsVar)
	_ encoding.TextMarshaler   = new(LevelsVar)
	_ encoding.TextUnmarshaler = new(LevelsVar)
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Level{
		"err": Error, "error": Error, "e": Error, "ERROR": Error, "warn": Warn, "Warning": Warn, "w": Warn, "notice": Notice, "N": Notice,
		"info": Info, "i": Info, "debug": Debug, "d": Debug, "trace": Trace, "T": Trace, " trace\n": Trace,
		"info+2": Notice, "DEBUG-1": -5, "e+4": 12, "warn-0": Warn, "-8": Trace, "0": Info, "+3": 3, "12": 12,
	} {
		if got, err := Parse(text); got != want || err != nil {
			t.Errorf("Parse(%q) = %d, %v, want %d", text, int(got), err, int(want))
		}
	}
	for _, text := range []string{"", "trcae", "info+", "info+x", "info 2", "+", "info+99999999999", "warn+1.5", "fatal", "0x8", "9223372036854775808"} {
		if got, err := Parse(text); err == nil || got != 0 || !strings.Contains(err.Error(), "err, warn, notice, info, debug, trace") {
			t.Errorf("Parse(%q) = %d, %v", text, int(got), err)
		}
	}
}

func TestString(t *testing.T) {
	for l, want := range map[Level]string{
		Error: "ERROR", Error + 3: "ERROR+3", Warn: "WARN", 7: "WARN+3", Notice: "NOTICE", 3: "NOTICE+1", Info: "INFO", 1: "INFO+1",
		-1: "DEBUG+3", Debug: "DEBUG", -5: "TRACE+3", Trace: "TRACE", -9: "TRACE-1",
	} {
		if got := l.String(); got != want {
			t.Errorf("%d: %s, want %s", int(l), got, want)
		}
		if back, err := Parse(want); back != l || err != nil {
			t.Errorf("Parse(%q) = %v, %v", want, back, err)
		}
	}
}

// TestSlog compares names and numbers with those of package slog, where it has them.
func TestSlog(t *testing.T) {
	for l, want := range map[Level]slog.Level{Error: slog.LevelError, Warn: slog.LevelWarn, Info: slog.LevelInfo, Debug: slog.LevelDebug} {
		if l.Level() != want || l.String() != want.String() {
			t.Errorf("%v is %v", l, want)
		}
	}
}

func TestJSON(t *testing.T) {
	type config struct {
		One  Level
		Var  *LevelVar
		Many *LevelsVar
		All  Levels
	}
	const text = `{"One":"NOTICE","Var":"TRACE","Many":"warn,net/...=trace","All":"info,db.go=debug+1"}`
	var c config
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if c.One != Notice || c.Var.Load() != Trace || c.Many.Load().Default() != Warn || c.All.Of("x", "/src/db.go") != Debug+1 {
		t.Errorf("%+v", c)
	}
	if got, err := json.Marshal(c); string(got) != text || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	for _, wrong := range []string{`{"One":"loud"}`, `{"Var":"loud"}`, `{"Many":"x=loud"}`, `{"All":"x=loud"}`} {
		if err := json.Unmarshal([]byte(wrong), &c); err == nil || c.One != Notice || c.Var.Load() != Trace {
			t.Errorf("%s: %v, %+v", wrong, err, c)
		}
	}
}

func TestFlag(t *testing.T) {
	var one Level
	var v LevelVar
	var many LevelsVar
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Var(&one, "one", "")
	flags.Var(&v, "v", "")
	flags.Var(&many, "many", "")
	if err := flags.Parse([]string{"-one=debug", "-v", "t", "-many", "err,main=info"}); err != nil {
		t.Fatal(err)
	}
	if one != Debug || v.Load() != Trace || many.String() != "err,main=info" {
		t.Error(one, &v, &many)
	}
	if err := flags.Parse([]string{"-v=loud"}); err == nil || v.Load() != Trace {
		t.Error(err, &v)
	}
}

func TestReplaceAttr(t *testing.T) {
	var b strings.Builder
	log := slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: Trace, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return ReplaceAttr(groups, a)
	}}))
	log.Log(t.Context(), Notice.Level(), "a")
	log.Log(t.Context(), Trace.Level(), "b")
	log.WithGroup("g").Info("c", "level", slog.LevelDebug-4)
	log.Info("d", "level", "high", slog.Group("g", "level", slog.LevelDebug-4))
	const want = "level=NOTICE msg=a\nlevel=TRACE msg=b\nlevel=INFO msg=c g.level=DEBUG-4\nlevel=INFO msg=d level=high g.level=DEBUG-4\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestSteps(t *testing.T) {
	var v LevelVar
	v.Store(Error + 1)
	var all []string
	for range 8 {
		all = append(all, v.String())
		v.More()
	}
	for range 7 {
		v.Less()
		all = append(all, v.String())
	}
	if got, want := strings.Join(all, " "), "ERROR+1 ERROR WARN NOTICE INFO DEBUG TRACE TRACE DEBUG INFO NOTICE WARN ERROR ERROR ERROR"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	var many LevelsVar
	many.More()
	if many.Set("info,net/...=warn"); many.String() != "info,net/...=warn" {
		t.Error(&many)
	}
	if many.More(); many.String() != "debug,net/...=warn" || many.Level() != slog.LevelDebug {
		t.Error(&many)
	}
}
