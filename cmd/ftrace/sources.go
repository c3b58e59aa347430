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
	if len(args) == 0 {
		if !recording.Is(defaultDir) {
			return nil, command.Usagef("no process, program or recording given, and there is no %s: ftrace list lists processes", defaultDir)
		}
		args = []string{defaultDir}
	}
	var pids []int
	var dirs, names []string
	for _, arg := range args {
		pid, err := strconv.Atoi(arg)
		switch {
		case err == nil && slices.Contains(pids, pid):
			return nil, fmt.Errorf("process %d is named twice: leave one out", pid)
		case err == nil:
			pids = append(pids, pid)
		case isDirectory(arg):
			dirs = append(dirs, arg)
		case strings.ContainsRune(arg, filepath.Separator):
			return nil, fmt.Errorf("%s: there is no such recording: name the directory that ftrace record wrote", arg)
		default:
			names = append(names, arg)
		}
	}
	if err := recording.Distinct(dirs); err != nil {
		return nil, err
	}
	if len(pids) > 0 && len(names) > 0 {
		for _, p := range live.List() {
			if slices.Contains(pids, p.PID) && slices.ContainsFunc(names, p.Called) {
				return nil, fmt.Errorf("process %d runs a program that is named, too: leave the number out", p.PID)
			}
		}
	}
	alone := len(pids) == 0 && len(names) == 0 // there are only recordings
	c := &schema.Catalog{Several: len(pids) > 1 || len(names) > 0 || alone && len(dirs) > 1}
	if err := addSources(c, pids, dirs, alone, options); err != nil {
		c.Close()
		return nil, err
	}
	if len(names) > 0 {
		c.Follow(names...)
	}
	return c, nil
}

// addSources adds processes and recordings to a catalog. Recordings that are alone are in
// performance_schema, too.
func addSources(c *schema.Catalog, pids []int, dirs []string, alone bool, options source.RecordingOptions) error {
	for _, pid := range pids {
		s, err := source.Attach(pid)
		if err != nil {
			return err
		}
		c.Add(s)
	}
	delays := sync.OnceValue(func() []time.Duration { return delaysOf(dirs) })
	for i, dir := range dirs {
		options.Later = func() time.Duration { return delays()[i] }
		s, err := source.OpenRecording(dir, options)
		if err == nil {
			_, err = c.AddSchema(filepath.Base(filepath.Clean(dir)), s)
		}
		if err != nil {
			return err
		}
		if alone {
			c.Add(s)
		}
	}
	return nil
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
