package live

import (
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Show runs a command and writes its calls as it runs. It returns the command's exit status.
func Show(cmd *exec.Cmd, rules string, o text.Options, out, warn io.Writer) (status int, err error) {
	dir, remove, err := Temporary()
	if err != nil {
		return 1, err
	}
	defer remove()
	p, err := Start(cmd, dir, rules)
	if err != nil {
		return 1, err
	}
	err = Tail(dir, p.Done, ErrNothing(cmd.Path), &textView{options: o, out: out}, warn)
	return p.Wait(), err
}

// pollEvery is how often a recording that is being written is looked at.
const pollEvery = 50 * time.Millisecond

// A View is told what a process records, while it does.
type View interface {
	Begin(r *recording.Recording)
	Refreshed() // the tables, and with them the clock
	// Event tells what happened. It returns false if that is enough.
	Event(e *recording.Event) bool
	// Settled tells that all that happened until then has been told. It returns false if that is
	// enough.
	Settled(until time.Time) bool
	Finish() error
}

// Tail tells a view what a process records until it has ended, or the view has enough. It fails
// with nothing if the process recorded nothing. warn gets what could not be read.
func Tail(dir string, done <-chan struct{}, nothing error, v View, warn io.Writer) error {
	ended := false
	poll := func() {
		select {
		case <-done:
			ended = true
		case <-time.After(pollEvery):
		}
	}
	var r *recording.Recording
	for r == nil {
		if poll(); ended {
			if !recording.Is(dir) {
				return nothing
			}
		}
		var err error
		if r, err = recording.Open(dir); err != nil && ended {
			return err
		}
	}
	v.Begin(r)
	s := r.Events(recording.Window{Follow: true})
	defer s.Close()
	var before, polled time.Time
	for more := true; more; {
		last := ended
		before, polled = polled, time.Now()
		s.Poll(last)
		// What records refer to is in the tables before them.
		if err := r.Refresh(); err != nil {
			return err
		}
		v.Refreshed()
		var e recording.Event
		for more && s.Next(&e) {
			more = v.Event(&e)
		}
		if last {
			before = polled
		}
		if more = v.Settled(before) && more && !last; more {
			poll()
		}
	}
	err := v.Finish()
	if s.Err() != nil {
		fmt.Fprintf(warn, "ftrace: %v\n", s.Err())
	}
	walk.Complain(warn, r)
	return err
}

// textView shows the text of a trace.
type textView struct {
	options text.Options
	out     io.Writer
	late    <-chan struct{} // closed when nothing more is to be shown, though there may be more; nil: never
	behind  time.Time       // of the first event that was not shown for that, zero: there was none
	r       *recording.Recording
	view    *text.View
}

func (v *textView) Begin(r *recording.Recording) {
	v.r, v.view = r, text.NewView(walk.Source{Recording: r}, v.options, v.out)
}

func (v *textView) Refreshed() { v.view.Refresh() }

func (v *textView) Event(e *recording.Event) bool {
	select {
	case <-v.late:
		c := v.r.Converter()
		v.behind = c.Wall(e.Ticks)
		return false
	default:
	}
	return v.view.Event(e) == nil
}

func (v *textView) Settled(time.Time) bool { return v.view.Flush() == nil }

func (v *textView) Finish() error { return v.view.Close() }
