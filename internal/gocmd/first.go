package gocmd

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/inject"
	"github.com/ftrace-wrap/ftrace-wrap/internal/progress"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
	"github.com/ftrace-wrap/ftrace-wrap/internal/signals"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec"
	"github.com/ftrace-wrap/ftrace-wrap/internal/toolexec/store"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// Build is Exec for a command that compiles. The first shows how far it is.
func Build(args []string) (status int, err error) {
	end := AnnounceFirst()
	if end == nil {
		return Exec(args)
	}
	defer end()
	return Child(args)
}

// Child runs the go command, and returns its exit status.
func Child(args []string) (status int, err error) {
	path, err := Path()
	if err != nil {
		return 0, err
	}
	ends := make(chan os.Signal, 1)
	signals.Notify(ends, os.Interrupt, syscall.SIGTERM) // Ctrl-C reaches the go command as well
	return runForwarding(exec.Command(path, args...), ends)
}

// AnnounceFirst says on a terminal why the first build takes long, and how long, and shows how many
// packages were compiled until end is called, or none is for a while. end is nil if it is not the
// first. A plain -toolexec can't say so. What tools print with their version, the go command does
// not show. What they print when they compile, it repeats with each build.
func AnnounceFirst() (end func()) {
	if !screen.Terminal(os.Stderr) {
		return nil
	}
	objects, err := toolexec.OpenStore()
	if err != nil || objects == nil || !objects.First(inject.Hash()) {
		return nil
	}
	processors := runtime.NumCPU()
	fmt.Fprintf(os.Stderr, "ftrace-wrap: the first build compiles the standard library with the tracer in it; this happens once, and takes about %v on %d processors\n",
		(firstTakes / time.Duration(processors)).Round(10*time.Second), processors)
	stop, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		showCompiled(objects, stop)
	}()
	return func() {
		close(stop)
		<-ended
	}
}

const (
	firstTakes   = 2 * time.Minute // on one processor
	compiledLast = 3 * time.Second // after this long without a package, none is expected
)

// showCompiled shows how many packages were compiled.
func showCompiled(objects *store.Store, stop <-chan bool) {
	d := progress.New(os.Stderr, true)
	defer d.End()
	before, last, begun, changed := objects.Count(), 0, time.Now(), time.Now()
	for last == 0 || time.Since(changed) < compiledLast {
		select {
		case <-stop:
			return
		case <-time.After(200 * time.Millisecond):
		}
		if n := objects.Count() - before; n != last {
			last, changed = n, time.Now()
			d.Show("ftrace-wrap: %s compiled in %v", words.Count(n, "package"), time.Since(begun).Round(time.Second))
		}
	}
}
