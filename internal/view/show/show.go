// Package show shows single calls, and what they changed.
//
// It takes the calls that package walk puts together, and writes what was recorded of those of one
// function: where they were made, their parameters and results, and the fields that differ between
// the call's beginning and its end. cmd/ftrace calls it. It compares what was recorded, so only
// rules with changes have it see that a call changed anything.
package show

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// Options say what is shown.
type Options struct {
	Call    string // FUNC or FUNC#N, FUNC as in rules
	Calls   int    // at most; 0: all
	Changes bool   // what a call changed, in place of its values
	JSON    bool
}

// A Change is a part of a parameter that was not the same when the call ended.
type Change struct {
	Path   string `json:"path"`
	Before string `json:"before"` // "" if it was not there
	After  string `json:"after"`
}

// call is what there is to say of a call.
type call struct {
	Function  string            `json:"function"`
	Call      uint64            `json:"call"`
	Goroutine uint64            `json:"goroutine"`
	Time      int64             `json:"time"` // ns since the recording began
	Duration  *int64            `json:"duration,omitempty"`
	Path      []string          `json:"path"` // the calls around it, the innermost first
	Args      []recording.Value `json:"args,omitempty"`
	Results   []recording.Value `json:"results,omitempty"`
	Panic     []recording.Value `json:"panic,omitempty"`
	Changes   *[]Change         `json:"changes,omitempty"` // nil: what changed was not recorded

	place      string // file and line
	parameters bool   // it has some
	over       bool   // it has ended, or the recording has
	ended      bool
	panicked   bool
}

type (
	stack = walk.Stack[struct{}, struct{}]
	frame = walk.Frame[struct{}]
)

// valuesFormat shows all that was recorded.
var valuesFormat = recording.ValueFormat{Line: 1 << 16, String: 64, Elements: 8, Nest: 3, Messages: true}

// callersShown is how many of the calls around a call are shown.
const callersShown = 10

// Write writes the calls that the options name.
func Write(from walk.Source, o Options, out io.Writer) error {
	r := from.Recording
	name, number, err := parse(o.Call)
	if err != nil {
		return err
	}
	functions, err := walk.Named(r, name)
	if err != nil {
		return err
	}
	wanted := map[uint32]*recording.Function{}
	for _, f := range functions {
		wanted[f.Key] = f
	}
	b := bufio.NewWriter(out)
	printer, clock := r.Printer(valuesFormat), r.Converter()
	type at struct {
		goroutine uint64
		depth     int
	}
	open := map[at]*call{}
	var list []*call // not yet written
	shown, more, called := 0, uint64(0), uint64(0)
	var failed error
	flush := func() {
		for len(list) > 0 && list[0].over && failed == nil {
			if shown++; shown > 1 && !o.JSON {
				fmt.Fprintln(b)
			}
			failed = list[0].write(b, o)
			list = list[1:]
		}
	}
	w := walk.New[struct{}, struct{}](from)
	here := func(st *stack, c *frame) at { return at{st.Goroutine, st.Outer() + len(st.Calls)} }
	w.Begin = func(st *stack, c *frame, e *recording.Event) {
		f := wanted[c.Function]
		if f == nil {
			return
		}
		if called = max(called, c.Number); number != 0 && c.Number != number {
			return
		}
		if o.Calls > 0 && shown+len(list) >= o.Calls {
			more++
			return
		}
		made := &call{Function: f.FullName(), Call: c.Number, Goroutine: st.Goroutine, Time: int64(clock.Since(e.Ticks)), Path: []string{}, parameters: len(f.Params) > 0, place: f.File + ":" + strconv.Itoa(f.Line)}
		for around := range walk.Callers(st) {
			if len(made.Path) == callersShown {
				break
			}
			made.Path = append(made.Path, fmt.Sprintf("%s#%d", r.Function(around.Function).FullName(), around.Number))
		}
		if e.Kind == recording.EntryArgs && c.Data.Clause.Detail >= rule.Args {
			made.Args = printer.Structured(e, f.Params)
		}
		open[here(st, c)] = made
		list = append(list, made)
	}
	w.After = func(st *stack, c *frame, e *recording.Event) {
		if made := open[here(st, c)]; made != nil && c.Data.Clause.Detail >= rule.Args {
			changed := Compare(made.Args, printer.Structured(e, wanted[c.Function].Params))
			made.Changes = &changed
		}
	}
	w.More = func(*stack, *frame, *recording.Event) {}
	w.End = func(st *stack, c *frame, e *recording.Event) {
		if c == nil {
			return
		}
		made := open[here(st, c)]
		if made == nil {
			return
		}
		delete(open, here(st, c))
		made.over = true
		if e != nil {
			lasted := int64(clock.Between(c.Start, e.Ticks))
			made.ended, made.panicked, made.Duration = true, e.Kind == recording.ExitPanic, &lasted
			switch {
			case c.Data.Clause.Detail < rule.Args:
			case e.Kind == recording.ExitResults:
				made.Results = printer.Structured(e, wanted[c.Function].Results)
			case e.Kind == recording.ExitPanic:
				made.Panic = printer.Structured(e, []recording.Param{{Interface: true}})
			}
		}
		flush()
	}
	if err := w.Run(func() bool { return failed == nil && (number == 0 || shown == 0) }); err != nil {
		return err
	}
	switch {
	case failed != nil:
		return failed
	case shown == 0 && number > 0 && called > 0:
		return fmt.Errorf("the recording has no call %d of %s: its last is %s#%d", number, name, name, called)
	case shown == 0:
		return fmt.Errorf("no call of %s is in what is shown of the recording", name)
	case more > 0 && !o.JSON:
		fmt.Fprintf(b, "\n%d more calls: -n 0 shows all, %s#N one\n", more, name)
	}
	return b.Flush()
}

// parse takes FUNC#N apart. The number is 0 if there is none.
func parse(text string) (name string, number uint64, err error) {
	name, after, ok := strings.Cut(text, "#")
	if !ok {
		return name, 0, nil
	}
	number, err = strconv.ParseUint(after, 10, 64)
	if err != nil || number == 0 || name == "" {
		return "", 0, fmt.Errorf("%q is no call: name it as lines do, the function and the number after it, as in main.handle#3", text)
	}
	return strings.TrimSpace(name), number, nil
}

// write writes a call.
func (c *call) write(b *bufio.Writer, o Options) error {
	if o.JSON {
		enc := json.NewEncoder(b)
		enc.SetEscapeHTML(false)
		return enc.Encode(c)
	}
	var since strings.Builder
	since.Write(recording.AppendDuration(nil, c.Time))
	fmt.Fprintf(b, "%s#%d in G%d, %s after the start", c.Function, c.Call, c.Goroutine, &since)
	if c.ended {
		fmt.Fprintf(b, ", took %s", recording.AppendDuration(nil, *c.Duration))
	} else {
		fmt.Fprint(b, ", not seen to end")
	}
	fmt.Fprintf(b, "\n  %s\n", c.place)
	for _, caller := range c.Path {
		fmt.Fprintf(b, "  in %s\n", caller)
	}
	if o.Changes {
		c.writeChanges(b)
		return nil
	}
	rows := [][]string{}
	for part, values := range [][]recording.Value{c.Args, c.Results, c.Panic} {
		for i, v := range values {
			name := v.Name
			switch {
			case part == 2:
				name = "panic"
			case name == "":
				name = strconv.Itoa(i)
			}
			rows = append(rows, []string{[]string{"  ", "= ", "! "}[part] + name, v.Text})
		}
	}
	align(b, rows)
	return nil
}

func (c *call) writeChanges(b *bufio.Writer) {
	switch {
	case !c.parameters:
		fmt.Fprintln(b, "it has no parameters that it could change")
	case c.Changes == nil && !c.ended:
		fmt.Fprintln(b, "what it changed is not known: its end was not recorded")
	case c.Changes == nil && c.panicked:
		fmt.Fprintln(b, "what it changed was not recorded: a panic ended it, and it has no deferred calls")
	case c.Changes == nil:
		fmt.Fprintf(b, "what it changed was not recorded: ftrace record -f '%s=changes' does that\n", c.Function)
	case len(*c.Changes) == 0:
		fmt.Fprintln(b, "nothing that was recorded of its parameters changed")
	default:
		rows := [][]string{{"  changed", "before", "after"}}
		for _, change := range *c.Changes {
			rows = append(rows, []string{"* " + change.Path, orNone(change.Before), orNone(change.After)})
		}
		align(b, rows)
	}
}

func orNone(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// align writes rows in columns.
func align(b *bufio.Writer, rows [][]string) {
	width := map[int]int{}
	for _, row := range rows {
		for i, text := range row[:len(row)-1] {
			width[i] = max(width[i], len(text))
		}
	}
	for _, row := range rows {
		for i, text := range row {
			if i < len(row)-1 {
				text = fmt.Sprintf("%-*s  ", width[i], text)
			}
			b.WriteString(text)
		}
		b.WriteByte('\n')
	}
}

// Compare returns in which parts values differ, the smallest that there are.
func Compare(before, after []recording.Value) []Change {
	changed := []Change{}
	for i := range before {
		if i < len(after) {
			name := before[i].Name
			if name == "" {
				name = strconv.Itoa(i)
			}
			known := len(changed)
			changed = compare(changed, name, &before[i], &after[i])
			if len(changed) > known && slices.ContainsFunc(changed[:known], func(c Change) bool { return c.Path == changed[known].Path }) {
				changed = changed[:known] // capture= named what is a part of another value
			}
		}
	}
	return changed
}

// compare appends in which parts two values differ.
func compare(changed []Change, path string, a, b *recording.Value) []Change {
	if a.Text == b.Text {
		return changed
	}
	n := len(changed)
	if len(a.Parts) > 0 && len(b.Parts) > 0 {
		for i := range max(len(a.Parts), len(b.Parts)) {
			switch {
			case i >= len(a.Parts):
				changed = append(changed, Change{Path: within(path, b.Parts[i].Name), After: b.Parts[i].Text})
			case i >= len(b.Parts):
				changed = append(changed, Change{Path: within(path, a.Parts[i].Name), Before: a.Parts[i].Text})
			default:
				changed = compare(changed, within(path, a.Parts[i].Name), &a.Parts[i], &b.Parts[i])
			}
		}
	}
	if len(changed) == n {
		changed = append(changed, Change{path, a.Text, b.Text})
	}
	return changed
}

// within returns the path of a part.
func within(path, part string) string {
	if strings.HasPrefix(part, "[") {
		return path + part
	}
	return path + "." + part
}
