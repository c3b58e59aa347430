package live

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
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
	if _, set := os.LookupEnv("FTRACE_WEAVE"); !set && sameFile(cmd.Stdout, cmd.Stderr) {
		// What the program writes stands beside the trace; in the trace it would stand there twice.
		cmd.Env = append(cmd.Environ(), "FTRACE_WEAVE=off")
	}
	p, err := Start(cmd, dir, rules)
	if err != nil {
		return 1, err
	}
	err = Tail(dir, p.Done, ErrNothing(cmd.Path), &textView{options: o, out: out}, Room{}, warn)
	return p.Wait(), err
}

// sameFile reports whether both are files, and the same one, such as a terminal.
func sameFile(a, b io.Writer) bool {
	f, ok := a.(*os.File)
	g, also := b.(*os.File)
	if !ok || !also {
		return false
	}
	x, err := f.Stat()
	y, err2 := g.Stat()
	return err == nil && err2 == nil && os.SameFile(x, y)
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

// Room is how much of what a process records stays.
type Room struct {
	Unread int64 // bytes that the view may not have read yet: older events are lost to it; 0: any
	Read   int64 // bytes that it has read; 0: none stay, KeepAll: all do
}

const (
	AttachedBehind = 1 << 30 // bytes of what an attached process records that may be unread
	KeepAll        = -1
)

// Tail tells a view what a process records to a directory until it has ended, or the view has
// enough. What there is no room for is removed. If the view is so slow that there is no room for
// what it has not read, older events are lost to it, also while it is busy. Tail fails with nothing
// if the process recorded nothing. warn gets what could not be read.
func Tail(dir string, done <-chan struct{}, nothing error, v View, room Room, warn io.Writer) error {
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
			if !recording.Begun(dir) {
				return nothing
			}
		}
		var err error
		if r, err = recording.Open(dir); err != nil && ended {
			return err
		}
	}
	v.Begin(r)
	s := r.Events(recording.Window{Follow: true, Free: room.Read == 0})
	defer s.Close()
	var reading sync.Mutex
	if room.Unread > 0 {
		over, gone := make(chan struct{}), make(chan struct{})
		defer func() { close(over); <-gone }()
		go func() {
			defer close(gone)
			for {
				select {
				case <-over:
					return
				case <-time.After(pollEvery):
				}
				reading.Lock()
				s.Skip(room.Unread)
				reading.Unlock()
			}
		}()
	}
	next := func(e *recording.Event) bool {
		reading.Lock()
		defer reading.Unlock()
		return s.Next(e)
	}
	var before, polled time.Time
	for more := true; more; {
		last := ended
		before, polled = polled, time.Now()
		reading.Lock()
		s.Poll(last)
		reading.Unlock()
		// What records refer to is in the tables before them.
		if err := r.Refresh(); err != nil {
			return err
		}
		v.Refreshed()
		var e recording.Event
		for more && next(&e) {
			more = v.Event(&e)
		}
		if last {
			before = polled
		}
		if room.Read > 0 {
			reading.Lock()
			s.Trim(room.Read)
			reading.Unlock()
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
