//go:build unix

package signals

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
)

func TestNotify(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer signal.Reset(syscall.SIGHUP)
	c := make(chan os.Signal, 2)
	Notify(c, syscall.SIGHUP, syscall.SIGUSR1)
	defer signal.Stop(c)
	if !signal.Ignored(syscall.SIGHUP) {
		t.Error("SIGHUP, which was ignored, is not any more")
	}
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
	}
	if s := <-c; s != syscall.SIGUSR1 {
		t.Errorf("got %v, want %v", s, syscall.SIGUSR1)
	}
}
