package forward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// A family is a recording and those of child processes within it, of which a signal is sent.
type family struct {
	options Options
	dir     string // of the first
	sender  *sender
	named   []string // directories of recordings that are sent by themselves
	warn    io.Writer
	room    chan struct{} // for children that are complete: reading takes memory
	looks   chan struct{} // has something when all members have ended

	members sync.WaitGroup
	lock    sync.Mutex
	active  int // of the members
	errs    []error

	// What became of those that were begun.
	begun, done        int
	sent, refused      uint64
	outside, beginless uint64
}

// run sends the members until all are complete and no other can begin, or none would be taken.
func (m *family) run(outer context.Context, from walk.Source) error {
	ctx, stop := context.WithCancel(outer)
	defer stop()
	m.add(func() error {
		err := m.send(ctx, from, "")
		if err != nil {
			stop()
		}
		return err
	})
	for seen := map[string]bool{}; ; {
		began := time.Now()
		last := m.last() // so what has begun is seen now
		dirs, _ := from.Recording.Children()
		dirs = slices.DeleteFunc(dirs, func(dir string) bool { return seen[dir] })
		for _, dir := range recording.Without(dirs, m.named) {
			seen[dir], last = true, false
			m.add(func() error { return m.child(ctx, from, dir) })
		}
		if last || ctx.Err() != nil || m.sender.refused() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-m.looks:
		case <-time.After(max(lookEvery, 20*time.Since(began))): // there may be many
		}
	}
	m.members.Wait()
	if outer.Err() == nil { // others were stopped for the first one's error
		m.errs = slices.DeleteFunc(m.errs, func(err error) bool { return errors.Is(err, context.Canceled) })
	}
	return errors.Join(m.errs...)
}

// add has a member be sent. An error that several have is told once.
func (m *family) add(send func() error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.active++
	m.members.Go(func() {
		err := send()
		m.lock.Lock()
		defer m.lock.Unlock()
		m.active--
		if err != nil && !slices.ContainsFunc(m.errs, func(other error) bool { return errors.Is(err, other) }) {
			m.errs = append(m.errs, err)
		}
		if m.active == 0 {
			select {
			case m.looks <- struct{}{}:
			default:
			}
		}
	})
}

// last reports whether all members have ended, and no other can begin.
func (m *family) last() bool {
	if m.options.Ended != nil {
		select {
		case <-m.options.Ended:
		default:
			return false
		}
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.active == 0
}

// child sends the recording of a child process as that of its parent is sent.
func (m *family) child(ctx context.Context, from walk.Source, dir string) (err error) {
	if from.Recording, err = recording.Open(dir); err != nil {
		return err
	}
	if from.Rules != nil {
		if from.Rules, err = walk.NewRules(m.options.Rules, from.Recording, "the recording"); err != nil {
			return err
		}
	}
	if !m.options.writing(from.Recording) {
		m.room <- struct{}{}
		defer func() { <-m.room }()
	}
	return m.send(ctx, from, dir)
}

// send sends a member; of is its name in errors, if it is a child.
func (m *family) send(ctx context.Context, from walk.Source, of string) error {
	f, err := begin(ctx, from, m.sender, m.options)
	if err == nil {
		if f.position.Done && of == "" {
			m.options.tell("it was sent before, as %s says", f.position.file)
		}
		err = f.run(m.warn)
		m.count(f)
		if refused := m.sender.refused(); refused != nil && err == refused && f.position.Sent+f.position.Refused == 0 {
			os.Remove(f.position.file) // all is to be sent to where somebody takes it
		}
	}
	if err != nil && of != "" && !errors.Is(err, context.Canceled) && !errors.Is(err, m.sender.refused()) {
		err = fmt.Errorf("%s: %w", of, err)
	}
	return err
}

// count counts what became of a member.
func (m *family) count(f *forwarding) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.begun++
	m.sent += f.position.Sent
	m.refused += f.position.Refused
	if f.position.Done {
		m.done++
	}
	if f.ended && f.left != nil {
		outside, beginless := f.left()
		m.outside += outside
		m.beginless += beginless
	}
}

// sum says what became of the family, after it has told what was not sent; "" if that is nothing.
func (m *family) sum() string {
	if m.begun == 0 || errors.Is(m.sender.refused(), errNotReceived) {
		return ""
	}
	if m.outside > 0 {
		m.options.tell("%s in no span, and not sent", words(m.outside, "line or probe is", "lines and probes are"))
	}
	if m.beginless > 0 {
		m.options.tell("%s not sent, since the recording does not have their beginnings", words(m.beginless, "call is", "calls are"))
	}
	text := m.dir
	if m.begun > 1 {
		text += fmt.Sprintf(" and %d within it", m.begun-1)
	}
	s := m.sender.Signal
	text += fmt.Sprintf(": %s sent to %s, %d refused", words(m.sent, s.one+" was", s.many+" were"), m.sender.shown(), m.refused)
	if m.done < m.begun {
		text += "; it is not complete: " + cmp.Or(m.options.Resume, "the same command") + " goes on from here"
	}
	return text
}
