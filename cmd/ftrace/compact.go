package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/ftrace-wrap/ftrace-wrap/recording"
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
		fmt.Printf("{\"before\":%d,\"after\":%d}\n", before, after)
	} else {
		fmt.Printf("%d bytes, were %d: %.0f %%\n", after, before, 100*float64(after)/float64(max(before, 1)))
	}
	return 0
}

// compact makes the recording r compact, and those within it, to a new directory, or, if that is not named, in its place.
func compact(r *recording.Recording, to string) (before, after int64, err error) {
	if r.IsCompact() {
		return 0, 0, fmt.Errorf("%s is compact already", r.Dir)
	}
	inPlace := to == ""
	if inPlace {
		to = filepath.Clean(r.Dir) + ".compact"
		if first, last := r.Clocks(); last.Ticks == first.Ticks && alive(r.Env.PID) {
			return 0, 0, fmt.Errorf("%s may still be written by process %d: compact it when that has ended, or to another directory (-o)", r.Dir, r.Env.PID)
		}
	}
	if _, err := os.Lstat(to); err == nil {
		return 0, 0, fmt.Errorf("%s is there already: -o names a new directory", to)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return 0, 0, err
	}
	before = sizeOf(r.Dir)
	var read atomic.Int64
	bar := newProgress("ftrace compact", before, read.Load)
	err = compactAll(r, to, inPlace, func(n int64) { read.Add(n) })
	bar.close()
	after = sizeOf(to)
	if err != nil || !inPlace {
		if err != nil {
			os.RemoveAll(to)
		}
		return before, after, err
	}
	// The old one is there until the new one is in its place.
	old := filepath.Clean(r.Dir) + ".raw"
	if err := os.Rename(r.Dir, old); err != nil {
		return before, after, err
	}
	if err := os.Rename(to, r.Dir); err != nil {
		return before, after, errors.Join(err, os.Rename(old, r.Dir))
	}
	return before, after, os.RemoveAll(old)
}

// compactAll writes the compact forms of a recording and of those within it, of which one that is compact already is copied.
func compactAll(r *recording.Recording, to string, inPlace bool, progress func(int64)) error {
	if r.IsCompact() {
		return os.CopyFS(to, os.DirFS(r.Dir))
	}
	if err := r.Compact(to, progress); err != nil {
		return err
	}
	complain(r, nil)
	if inPlace && len(r.Damage()) > 0 {
		return fmt.Errorf("%s is damaged, and what could not be read would be gone: compact it to another directory (-o)", r.Dir)
	}
	children, err := r.Children()
	if err != nil {
		return err
	}
	for _, dir := range children {
		child, err := recording.Open(dir)
		if err != nil {
			return err
		}
		if err := compactAll(child, filepath.Join(to, filepath.Base(dir)), inPlace, progress); err != nil {
			return err
		}
	}
	return nil
}

// alive says whether there is a process with this number.
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
