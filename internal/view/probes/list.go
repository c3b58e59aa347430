package probes

import (
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/dtrace"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/live"
)

// List lists the probes of what the options name, of which Recording may be a process too.
func List(o Options, out Output) error {
	functions, err := o.functions()
	if err != nil {
		return err
	}
	list, err := dtrace.List(o.Source, functions)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(out.JSON)
	enc.SetEscapeHTML(false)
	var b strings.Builder
	for _, l := range list {
		if o.JSON {
			if err := enc.Encode(l); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(&b, "%s:%s:%s:%s(%s)\n", l.Provider, l.Module, l.Function, l.Name, strings.Join(l.Args, ", "))
	}
	_, err = io.WriteString(out.Text, b.String())
	return err
}

// functions returns all functions and static probes of what the options name.
func (o Options) functions() ([]*recording.Function, error) {
	if o.Command != nil {
		return commandFunctions(o.Command)
	}
	name := o.Process
	if name == "" {
		name = o.Recording
	}
	if o.Process == "" && recording.Is(name) {
		r, err := recording.Open(name)
		if err != nil {
			return nil, err
		}
		return r.Functions(), nil
	}
	process, err := live.Named(name)
	if err != nil {
		return nil, err
	}
	defer process.Close()
	s, err := process.Snapshot(0)
	if err != nil {
		return nil, err
	}
	return s.Program.Functions(), nil
}

// listAfter is how long a command is let run so that it says its functions.
const listAfter = 300 * time.Millisecond

// commandFunctions starts a command, with nothing traced, and ends it as soon as its packages have
// been initialised.
func commandFunctions(command *exec.Cmd) ([]*recording.Function, error) {
	dir, remove, err := live.Temporary()
	if err != nil {
		return nil, err
	}
	defer remove()
	program := command.Args[0]
	p, err := live.Start(command, dir, "*=off")
	if err != nil {
		return nil, err
	}
	select {
	case <-p.Done:
	case <-time.After(listAfter):
		p.End()
	}
	p.Wait()
	r, err := recording.Open(dir)
	if err != nil {
		return nil, live.ErrNothing(program)
	}
	return r.Functions(), nil
}
