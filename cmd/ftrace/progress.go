package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// A progress is a bar on stderr, if that is a terminal and the work takes longer than half a second. nil is none.
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

// newProgress begins work of which done, called by another goroutine, says how far it is on the way to all.
func newProgress(name string, all int64, done func() int64) *progress {
	_, file := files()
	if info, err := file.Stat(); err != nil || !isTerminal(info) {
		return nil
	}
	return showProgress(file, name, all, done, progressAfter)
}

// showProgress shows the bar on out, after a time, until it is closed.
func showProgress(out io.Writer, name string, all int64, done func() int64, after time.Duration) *progress {
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
	if p != nil {
		close(p.stop)
		<-p.ended
	}
}
