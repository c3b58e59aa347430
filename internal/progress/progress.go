// Package progress shows how far work is: on a terminal in a line that is written over and taken
// away at the end, elsewhere in a line every ten seconds.
//
// In come lines from package sweep, and from a verb of cmd/ftrace, often by way of package walk, a
// function that says how far work is, of which it makes a bar. They go to the writer that it is
// given. It asks nobody whether that is a terminal: the caller knows.
package progress

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
)

// A Display shows a line.
type Display struct {
	to       io.Writer
	text     io.Writer // the same, for what sources and programs have made up
	terminal bool
	shown    bool // a line that is to be written over
	last     time.Time
}

// New returns a display that shows nothing yet.
func New(to io.Writer, terminal bool) *Display {
	return &Display{to: to, text: screen.New(to, screen.Text), terminal: terminal}
}

const (
	barAfter     = 500 * time.Millisecond
	everyLine    = 10 * time.Second
	everyChange  = 100 * time.Millisecond // on a terminal
	barWidth     = 30
	displayWidth = 79
)

// Show shows a line, if it is time for one.
func (d *Display) Show(format string, args ...any) {
	if every := time.Since(d.last); every >= everyLine || d.terminal && every >= everyChange {
		d.Say(format, args...)
	}
}

// Say shows a line.
func (d *Display) Say(format string, args ...any) {
	d.last = time.Now()
	line := fmt.Sprintf(format, args...)
	if !d.terminal {
		fmt.Fprintln(d.text, line)
		return
	}
	io.WriteString(d.to, clear)
	fmt.Fprintf(d.text, "%.*s", displayWidth, line)
	d.shown = true
}

// clear takes the line away on which a terminal is.
const clear = "\r\x1b[K"

// End takes the line away.
func (d *Display) End() {
	if d.shown {
		io.WriteString(d.to, clear)
	}
	d.shown = false
}

// Bar returns what begins to show work of that name as a bar, if it takes longer than half a
// second. Of that, done, called by another goroutine, says how far it is on the way to all; end
// takes the bar away.
func (d *Display) Bar(name string) func(all int64, done func() int64) (end func()) {
	return func(all int64, done func() int64) (end func()) { return d.bar(name, barAfter, all, done) }
}

func (d *Display) bar(name string, after time.Duration, all int64, done func() int64) (end func()) {
	stop, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		defer d.End()
		for wait := after; ; wait = everyChange {
			select {
			case <-time.After(wait):
				part := min(1, float64(done())/float64(max(all, 1)))
				n := int(part * barWidth)
				d.Say("%s [%s%s] %3.0f %%", name, strings.Repeat("#", n), strings.Repeat(" ", barWidth-n), part*100)
			case <-stop:
				return
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}
