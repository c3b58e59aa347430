// Package compact makes recordings smaller, with those of child processes within them.
//
// It takes a recording and writes its compact form, which package recording makes, to a new
// directory or in its place. cmd/ftrace calls it. It never removes what it has not read: a
// recording that is damaged, or may still be written, is not replaced.
package compact

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Options are where a compact recording goes, and who hears of it.
type Options struct {
	To       string                                          // a new directory; "": it takes the recording's place
	Progress func(all int64, done func() int64) (end func()) // shows how far it is; nil: nothing does
	Warn     io.Writer                                       // what could not be read
}

// Make makes a recording compact, and those within it. It returns the size before and after.
func Make(r *recording.Recording, o Options) (before, after int64, err error) {
	if r.IsCompact() {
		return 0, 0, fmt.Errorf("%s is compact already: there is nothing to do", r.Dir)
	}
	before = sizeOf(r.Dir)
	var read atomic.Int64
	if o.Progress != nil {
		defer o.Progress(before, read.Load)()
	}
	c := &compactor{warn: o.Warn, progress: func(n int64) { read.Add(n) }}
	to := o.To
	if to == "" {
		to = r.Dir
		err = c.inPlace(r)
	} else if _, failed := os.Lstat(to); failed == nil {
		err = fmt.Errorf("%s is there already: -o names a new directory", to)
	} else if err = c.to(r, to); err != nil {
		os.RemoveAll(to)
	}
	return before, sizeOf(to), err
}

// compactor makes recordings compact.
type compactor struct {
	warn     io.Writer
	progress func(int64)
}

// to writes the compact forms of a recording and of those within it, of which one that is compact
// already is copied.
func (c *compactor) to(r *recording.Recording, to string) error {
	if r.IsCompact() {
		return os.CopyFS(to, os.DirFS(r.Dir))
	}
	err := r.Compact(to, c.progress)
	walk.Complain(c.warn, r)
	if err != nil {
		return err
	}
	return eachChild(r, func(child *recording.Recording) error {
		return c.to(child, filepath.Join(to, filepath.Base(child.Dir)))
	})
}

// inPlace makes a recording compact, and those within it. What is in the directory beside them
// stays as it is.
func (c *compactor) inPlace(r *recording.Recording) error {
	if !r.IsCompact() {
		if err := c.replace(r); err != nil {
			return err
		}
	}
	return eachChild(r, c.inPlace)
}

// replace puts the compact form of a recording in its place. At any time all of it is there: which
// files count the metadata say, which are replaced in one step.
func (c *compactor) replace(r *recording.Recording) error {
	if first, last := r.Clocks(); last.Ticks == first.Ticks && alive(r.Env.PID) {
		return fmt.Errorf("%s may still be written by process %d: compact it when that has ended, or to another directory (-o)", r.Dir, r.Env.PID)
	}
	temp := filepath.Clean(r.Dir) + ".compact"
	if _, err := os.Lstat(temp); err == nil {
		return fmt.Errorf("%s is there already, and is where the compact recording is made: remove it", temp)
	}
	defer os.RemoveAll(temp)
	err := r.Compact(temp, c.progress)
	walk.Complain(c.warn, r)
	if err != nil {
		return err
	}
	if len(r.Damage()) > 0 {
		return fmt.Errorf("%s is damaged, and what could not be read would be gone: compact it to another directory (-o)", r.Dir)
	}
	old, err := filepath.Glob(filepath.Join(globQuote(r.Dir), "calls_*"))
	if err != nil {
		return err
	}
	made, err := filepath.Glob(filepath.Join(globQuote(temp), "packed_*"))
	if err != nil {
		return err
	}
	for _, name := range append(made, filepath.Join(temp, "metadata")) {
		if err := os.Rename(name, filepath.Join(r.Dir, filepath.Base(name))); err != nil {
			return err
		}
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// globQuote returns a pattern of which only this path is a match.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// eachChild calls f with the recordings within a recording.
func eachChild(r *recording.Recording, f func(*recording.Recording) error) error {
	children, err := r.Children()
	if err != nil {
		return err
	}
	for _, dir := range children {
		child, err := recording.Open(dir)
		if err != nil {
			return err
		}
		if err := f(child); err != nil {
			return err
		}
	}
	return nil
}

// alive reports whether there is a process with this number.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && pid > 0 && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// sizeOf returns the size of the files in a directory and those within it.
func sizeOf(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, err := entry.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
