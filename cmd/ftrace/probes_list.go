package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/dtrace"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// listAll lists probes.
func (p *probes) listAll() error {
	functions, err := p.functions()
	if err != nil {
		return err
	}
	list, err := dtrace.List(p.source, functions)
	if err != nil {
		return err
	}
	out := stdout
	enc := json.NewEncoder(asJSON(out))
	enc.SetEscapeHTML(false)
	var b strings.Builder
	for _, l := range list {
		if p.json {
			if err := enc.Encode(l); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(&b, "%s:%s:%s:%s(%s)\n", l.Provider, l.Module, l.Function, l.Name, strings.Join(l.Args, ", "))
	}
	_, err = io.WriteString(out, b.String())
	return err
}

// functions returns all functions and static probes of what the arguments name.
func (p *probes) functions() ([]*recording.Function, error) {
	name := p.process
	if name == "" && len(p.rest) > 0 {
		name = p.rest[0]
	}
	if name == "" {
		name = defaultDir
	}
	if len(p.command) > 0 {
		return commandFunctions(p.command)
	}
	if p.process == "" && isRecording(name) {
		r, err := recording.Open(name)
		if err != nil {
			return nil, err
		}
		return r.Functions(), nil
	}
	if name == defaultDir {
		return nil, usagef("of which process, program or recording? ftrace -l PID|RECORDING, ftrace -l -c CMD")
	}
	process, err := processNamed(name)
	if err != nil {
		return nil, err
	}
	defer process.Close()
	s, err := process.Snapshot()
	if err != nil {
		return nil, err
	}
	return s.Program.Functions(), nil
}

// listAfter is how long a command is let run so that it says its functions.
const listAfter = 300 * time.Millisecond

// commandFunctions starts a command, with nothing traced, and ends it as soon as its packages have been initialised.
func commandFunctions(command []string) ([]*recording.Function, error) {
	temp, err := os.MkdirTemp("", "ftrace-probes-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "recording")
	p, err := start(command, dir, "*=off")
	if err != nil {
		return nil, err
	}
	select {
	case <-p.done:
	case <-time.After(listAfter):
		p.cmd.Process.Signal(syscall.SIGTERM)
	}
	p.wait()
	r, err := recording.Open(dir)
	if err != nil {
		return nil, errNothing(command[0])
	}
	return r.Functions(), nil
}
