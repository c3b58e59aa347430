// Package progress shows on a terminal how far work is.
//
// It takes a function that says so, from a verb of cmd/ftrace or by way of package walk, and writes
// a bar to the writer that it is given, which is the terminal itself: what is written is the bar
// alone, nothing that a program made up. It asks nobody whether it may: the caller knows whether
// there is a terminal.
package progress

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A progress is a bar, if the work takes longer than half a second.
type progress struct {
	name        string
	all         int64
	done        func() int64
	stop, ended chan bool
}

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
	progressWidth = 30
)

// On returns what begins to show work of that name on a terminal. Of that, done, called by another
// goroutine, says how far it is on the way to all; end takes the bar away.
func On(terminal io.Writer, name string) func(all int64, done func() int64) (end func()) {
	return func(all int64, done func() int64) (end func()) {
		return show(terminal, name, all, done, progressAfter).close
	}
}

// show shows the bar on out, after a time, until it is closed.
func show(out io.Writer, name string, all int64, done func() int64, after time.Duration) *progress {
	p := &progress{name: name, all: all, done: done, stop: make(chan bool), ended: make(chan bool)}
	go func() {
		defer close(p.ended)
		shown := false
		for wait := after; ; wait = progressEvery {
			select {
			case <-time.After(wait):
				io.WriteString(out, "\r"+p.line())
				shown = true
			case <-p.stop:
				if shown {
					io.WriteString(out, "\r\x1b[K")
				}
				return
			}
		}
	}()
	return p
}

// line returns the bar as it is now.
func (p *progress) line() string {
	part := min(1, float64(p.done())/float64(max(p.all, 1)))
	n := int(part * progressWidth)
	return fmt.Sprintf("%s [%s%s] %3.0f %%", p.name, strings.Repeat("#", n), strings.Repeat(" ", progressWidth-n), part*100)
}

// close takes the bar away.
func (p *progress) close() {
	close(p.stop)
	<-p.ended
}
