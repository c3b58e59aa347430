package gentest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

type datum = recording.Datum

// A call is a recorded call of the function.
type call struct {
	number        uint64
	args, results []*datum
	why           string // it can't be a case
}

// recorded is what recordings have of the function.
type recorded struct {
	shown, importPath, name string
	calls                   []*call
}

// readCalls reads the calls of the function with that name from a recording, and from those of
// child processes in it.
func readCalls(dir, name string) (*recorded, error) {
	dirs, err := recording.Dirs(dir)
	if err != nil {
		return nil, err
	}
	found := &recorded{}
	var others []string
	for _, dir := range dirs {
		r, err := recording.Open(dir)
		if err != nil {
			return nil, err
		}
		key := uint32(0)
		for _, f := range r.Functions() {
			if f.Probe || f.Wait || f.Span {
				continue
			}
			others = append(others, f.ShortName())
			if !slices.Contains([]string{f.FullName(), f.ShortName(), f.ImportPath + "." + f.Name, f.Name}, name) {
				continue
			}
			if found.shown != "" && (found.importPath != f.ImportPath || found.name != f.Name) {
				return nil, fmt.Errorf("-func %s: it may be %s.%s or %s: name the package too", name, found.importPath, found.name, f.ImportPath+"."+f.Name)
			}
			found.shown, found.importPath, found.name, key = f.ShortName(), f.ImportPath, f.Name, f.Key
		}
		if key != 0 {
			if err := found.read(r, key); err != nil {
				return nil, err
			}
		}
	}
	switch {
	case found.shown == "":
		hint := "ftrace report lists those that were called"
		if near := words.Near(name[strings.LastIndexByte(name, '.')+1:], others); len(near) > 0 {
			hint = "did you mean " + words.Or(near) + "?"
		}
		return nil, fmt.Errorf("-func %s: the recording has no such function: %s", name, hint)
	case len(found.calls) == 0:
		return nil, fmt.Errorf("%s: no call of it was recorded", found.shown)
	}
	return found, nil
}

// read adds the calls that a recording has of a function.
func (found *recorded) read(r *recording.Recording, key uint32) error {
	type (
		stack = walk.Stack[struct{}, struct{}]
		frame = walk.Frame[struct{}]
	)
	printer := r.Printer(recording.DefaultFormat)
	under := map[uint64][]*call{}
	w := walk.New[struct{}, struct{}](walk.Source{Recording: r})
	w.More = func(*stack, *frame, *recording.Event) {}
	w.Wait = func(*stack, *recording.Event) {}
	w.Begin = func(st *stack, c *frame, e *recording.Event) {
		if c.Function != key {
			return
		}
		begun := &call{number: c.Number}
		if e.Kind == recording.EntryArgs {
			begun.args = printer.Data(e)
		} else if len(r.Function(key).Params) > 0 {
			begun.why = "its parameters were not recorded: record it with args, not call"
		}
		under[st.Goroutine] = append(under[st.Goroutine], begun)
		found.calls = append(found.calls, begun)
	}
	w.End = func(st *stack, c *frame, e *recording.Event) {
		calls := under[st.Goroutine]
		if c == nil || c.Function != key || len(calls) == 0 {
			return
		}
		ended := calls[len(calls)-1]
		under[st.Goroutine] = calls[:len(calls)-1]
		switch {
		case e == nil:
			ended.why = "its end was not recorded"
		case c.Mock:
			ended.why = "it was replaced"
		case e.Kind == recording.ExitPanic:
			ended.why = "it ended in a panic"
		case e.Kind == recording.ExitResults:
			ended.results = printer.Data(e)
		case e.Kind != recording.Exit:
			ended.why = "it did not return"
		}
	}
	if err := w.Run(nil); err != nil {
		return fmt.Errorf("reading %s: %v", strings.TrimSuffix(r.Dir, "/"), err)
	}
	return nil
}
