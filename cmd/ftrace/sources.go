package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	command "github.com/ftrace-wrap/ftrace-wrap/internal/cli"
	"github.com/ftrace-wrap/ftrace-wrap/internal/live"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/source"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// openCatalog makes a catalog of what the arguments name: numbers of processes, directories of
// recordings, and names of programs, of which all processes are in it, also those that start later.
// Live processes are in performance_schema; each recording is a schema of its own too. Recordings
// of one run have one clock. Without arguments it is the recording that is there by default.
func openCatalog(args []string, options source.RecordingOptions) (*schema.Catalog, error) {
	c := &schema.Catalog{}
	if len(args) == 0 {
		if !recording.Is(defaultDir) {
			return nil, command.Usagef("no process, program or recording given, and there is no %s: ftrace list lists processes", defaultDir)
		}
		args = []string{defaultDir}
	}
	dirs := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return !isDirectory(arg) })
	if err := recording.Distinct(dirs); err != nil {
		return nil, err
	}
	delays := sync.OnceValue(func() []time.Duration { return delaysOf(dirs) })
	var names []string
	found, processes := []source.Source{}, map[int]bool{}
	for _, arg := range args {
		if pid, err := strconv.Atoi(arg); err == nil {
			if processes[pid] {
				c.Close()
				return nil, fmt.Errorf("process %d is named twice: leave one out", pid)
			}
			s, err := source.Attach(pid)
			if err != nil {
				c.Close()
				return nil, err
			}
			c.Add(s)
			processes[pid] = true
			continue
		}
		if isDirectory(arg) {
			at := len(found)
			options.Later = func() time.Duration { return delays()[at] }
			s, err := source.OpenRecording(arg, options)
			if err == nil {
				_, err = c.AddSchema(filepath.Base(filepath.Clean(arg)), s)
			}
			if err != nil {
				c.Close()
				return nil, err
			}
			found = append(found, s)
			continue
		}
		if strings.ContainsRune(arg, filepath.Separator) {
			c.Close()
			return nil, fmt.Errorf("%s: there is no such recording: name the directory that ftrace record wrote", arg)
		}
		names = append(names, arg)
	}
	c.Several = len(processes) > 1 || len(names) > 0
	if len(processes) == 0 && len(names) == 0 {
		for _, s := range found {
			c.Add(s)
		}
		c.Several = len(found) > 1
	}
	if len(names) > 0 {
		for _, p := range live.List() {
			if processes[p.PID] && slices.ContainsFunc(names, p.Called) {
				c.Close()
				return nil, fmt.Errorf("process %d runs a program that is named, too: leave the number out", p.PID)
			}
		}
		c.Follow(names...)
	}
	return c, nil
}

// delaysOf returns how long after the first of its run each recording began, by clocks that are
// aligned. If that can't be found out it is 0.
func delaysOf(dirs []string) []time.Duration {
	unknown := make([]time.Duration, len(dirs))
	if len(dirs) < 2 {
		return unknown
	}
	var list []*recording.Recording
	for _, dir := range dirs {
		r, err := recording.Open(dir)
		if err != nil {
			return unknown // who reads it next is told
		}
		list = append(list, r)
	}
	traces, err := walk.NewTraces(context.Background(), list)
	if err != nil {
		fmt.Fprintf(stderr, "ftrace: the times of several recordings are not aligned: %v\n", err)
		return unknown
	}
	traces.Align(stderr)
	return traces.Delays()
}

// isDirectory reports whether an argument names a directory. A number is that of a process.
func isDirectory(arg string) bool {
	if _, err := strconv.Atoi(arg); err == nil {
		return false
	}
	info, err := os.Stat(arg)
	return err == nil && info.IsDir()
}

// noneFound returns an error if a catalog is to have programs by name, and none of them runs.
func noneFound(c *schema.Catalog, args []string) error {
	if c.Find == nil {
		return nil
	}
	if c.Find(); len(c.Sources()) > 0 {
		return nil
	}
	for _, f := range live.List() {
		if f.Err != nil && slices.ContainsFunc(args, f.Called) {
			return fmt.Errorf("process %d: %w", f.PID, f.Err)
		}
	}
	return fmt.Errorf("no program runs that was built with ftrace-wrap and is called %s: ftrace list lists those that do", strings.Join(slices.DeleteFunc(slices.Clone(args), isDir), " or "))
}
