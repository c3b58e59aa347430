package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// compactCommand is "ftrace compact [-o DIR] [DIR]".
func compactCommand(args []string) int {
	o := newOptions("compact")
	to := o.flags.String("o", "", "")
	args, err := o.parse(args)
	if err != nil {
		return fail("compact", err)
	}
	if o.rules != "" || o.goroutines != "" || o.from != 0 || o.to != 0 || o.children {
		return fail("compact", usagef("all of a recording is compacted, with those of children: ftrace export -format ctf copies a part"))
	}
	r, err := o.open(args)
	if err != nil {
		return fail("compact", err)
	}
	before, after, err := compact(r, *to)
	if err != nil {
		return fail("compact", err)
	}
	if o.json {
		fmt.Fprintf(stdout, "{\"before\":%d,\"after\":%d}\n", before, after)
	} else {
		fmt.Fprintf(stdout, "%d bytes, were %d: %.0f %%\n", after, before, 100*float64(after)/float64(max(before, 1)))
	}
	return 0
}

// compact makes the recording r compact, and those within it, in a new directory, or, if that is not named, in place.
func compact(r *recording.Recording, to string) (before, after int64, err error) {
	if r.IsCompact() {
		return 0, 0, fmt.Errorf("%s is compact already", r.Dir)
	}
	before = sizeOf(r.Dir)
	var read atomic.Int64
	bar := newProgress("ftrace compact", before, read.Load)
	progress := func(n int64) { read.Add(n) }
	if to == "" {
		to = r.Dir
		err = compactInPlace(r, progress)
	} else if _, failed := os.Lstat(to); failed == nil {
		err = fmt.Errorf("%s is there already: -o names a new directory", to)
	} else if err = compactTo(r, to, progress); err != nil {
		os.RemoveAll(to)
	}
	bar.close()
	return before, sizeOf(to), err
}

// compactTo writes the compact forms of a recording and of those within it, of which one that is compact already is copied.
func compactTo(r *recording.Recording, to string, progress func(int64)) error {
	if r.IsCompact() {
		return os.CopyFS(to, os.DirFS(r.Dir))
	}
	err := r.Compact(to, progress)
	complain(r, nil)
	if err != nil {
		return err
	}
	return eachChild(r, func(child *recording.Recording) error {
		return compactTo(child, filepath.Join(to, filepath.Base(child.Dir)), progress)
	})
}

// compactInPlace makes a recording compact, and those within it. What is in the directory beside them stays as it is.
func compactInPlace(r *recording.Recording, progress func(int64)) error {
	if !r.IsCompact() {
		if err := replaceByCompact(r, progress); err != nil {
			return err
		}
	}
	return eachChild(r, func(child *recording.Recording) error { return compactInPlace(child, progress) })
}

// replaceByCompact puts the compact form of a recording in its place. At any time all of it is there: which files count the metadata say, which are replaced in one step.
func replaceByCompact(r *recording.Recording, progress func(int64)) error {
	if first, last := r.Clocks(); last.Ticks == first.Ticks && alive(r.Env.PID) {
		return fmt.Errorf("%s may still be written by process %d: compact it when that has ended, or to another directory (-o)", r.Dir, r.Env.PID)
	}
	temp := filepath.Clean(r.Dir) + ".compact"
	if _, err := os.Lstat(temp); err == nil {
		return fmt.Errorf("%s is there already, and is where the compact recording is made: remove it", temp)
	}
	defer os.RemoveAll(temp)
	err := r.Compact(temp, progress)
	complain(r, nil)
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
