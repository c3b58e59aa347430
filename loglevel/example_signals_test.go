//go:build unix

package loglevel_test

import (
	"fmt"
	"os"
	"syscall"

	"github.com/ftrace-wrap/ftrace-wrap/loglevel"
)

// kill -USR1 shows more, kill -USR2 less.
func ExampleNotifySignals() {
	var level loglevel.LevelVar
	changed := make(chan bool)
	stop, err := loglevel.NotifySignals(&level, loglevel.Signals{
		More:   []os.Signal{syscall.SIGUSR1},
		Less:   []os.Signal{syscall.SIGUSR2},
		Report: func(v loglevel.Var, err error) { fmt.Println(v, err); changed <- true },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	<-changed
	// Output: DEBUG <nil>
}
