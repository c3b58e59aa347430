//go:build unix

package loglevel

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSignals(t *testing.T) {
	file := filepath.Join(t.TempDir(), "levels")
	v := new(LevelsVar)
	type report struct {
		level string
		err   error
	}
	reports := make(chan report, 1)
	stop, err := NotifySignals(v, Signals{
		More: []os.Signal{syscall.SIGUSR1}, Less: []os.Signal{syscall.SIGUSR2}, Reload: []os.Signal{syscall.SIGHUP}, File: file,
		Report: func(v Var, err error) { reports <- report{v.String(), err} },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	send := func(sig syscall.Signal) report {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		select {
		case r := <-reports:
			return r
		case <-time.After(time.Minute):
			t.Fatal("no report")
		}
		panic("unreached")
	}
	if r := send(syscall.SIGUSR1); r != (report{"debug", nil}) {
		t.Error(r)
	}
	if r := send(syscall.SIGUSR2); r != (report{"info", nil}) {
		t.Error(r)
	}
	if r := send(syscall.SIGHUP); r.level != "info" || r.err == nil || !strings.Contains(r.err.Error(), file) {
		t.Error(r)
	}
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# for a while\nwarn\nnet/... = trace\n")
	if r := send(syscall.SIGHUP); r != (report{"warn,net/...=trace", nil}) {
		t.Error(r)
	}
	write("loud")
	if r := send(syscall.SIGHUP); r.level != "warn,net/...=trace" || r.err == nil || !strings.Contains(r.err.Error(), `"loud" is no level`) {
		t.Error(r)
	}
	stop()
	stop()
}

func TestSignalsWrong(t *testing.T) {
	usr1 := []os.Signal{syscall.SIGUSR1}
	for _, s := range []Signals{{}, {File: "x"}, {More: usr1, Less: usr1}, {Reload: usr1}, {More: usr1, File: "x"}} {
		stop, err := NotifySignals(new(LevelVar), s)
		if err == nil {
			t.Errorf("%+v: no error", s)
		}
		stop()
	}
}

// TestSignalsLogged has no Report.
func TestSignalsLogged(t *testing.T) {
	var b bytes.Buffer
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(NewTextHandler(&b, nil)))
	s := Signals{More: []os.Signal{syscall.SIGUSR1}, Reload: []os.Signal{syscall.SIGHUP}, File: "nowhere"}
	v := new(LevelVar)
	s.apply(v, syscall.SIGUSR1)
	s.apply(v, syscall.SIGHUP)
	const want = `- notice log level level=DEBUG signal="user defined signal 1"
- err log level stays as it is level=DEBUG signal=hangup err="loglevel: open nowhere: no such file or directory"
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}
