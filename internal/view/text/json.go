package text

import (
	"cmp"
	"encoding/json"
	"io"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

type (
	plainWalker = walk.Walker[struct{}, struct{}]
	plainStack  = walk.Stack[struct{}, struct{}]
	plainFrame  = walk.Frame[struct{}]
)

// jsonEvent is an event as a line of JSON. Times are in ns.
type jsonEvent struct {
	Time      int64             `json:"time"`          // since the recording began
	PID       int               `json:"pid,omitempty"` // of several processes
	Goroutine uint64            `json:"goroutine,omitempty"`
	Event     string            `json:"event"`
	Function  string            `json:"function,omitempty"`
	Call      uint64            `json:"call,omitempty"`
	Depth     int               `json:"depth"`
	Values    []recording.Value `json:"values,omitempty"`
	Duration  *int64            `json:"duration,omitempty"`
	Parent    uint64            `json:"parent,omitempty"`
	Mock      bool              `json:"mock,omitempty"`
	Note      string            `json:"note,omitempty"`
	Text      string            `json:"text,omitempty"`
	Level     *int32            `json:"level,omitempty"`
	Lost      uint64            `json:"lost,omitempty"`
	AtEnd     bool              `json:"at_end,omitempty"`    // the entry was noted when the call ended
	LeftOut   uint64            `json:"left_out,omitempty"`  // calls that were counted
	Noted     uint64            `json:"noted,omitempty"`     // of these, or those of before, that were noted at their end
	Failed    uint64            `json:"failed,omitempty"`    // of these, so many failed
	Uncounted bool              `json:"uncounted,omitempty"` // others were not
	Wait      *jsonWait         `json:"wait,omitempty"`
}

// jsonWait is what there is of a wait.
type jsonWait struct {
	Runnable int64    `json:"runnable"`           // between being made runnable and going on
	Object   uint64   `json:"object,omitempty"`   // address, or the number of a file
	Channels []uint64 `json:"channels,omitempty"` // of a select, if it has several: first the object
	Name     string   `json:"name,omitempty"`     // of a file
	Done     string   `json:"operation,omitempty"`
	Bytes    uint64   `json:"bytes,omitempty"`
	By       uint64   `json:"by,omitempty"` // the goroutine that ended it
	Function string   `json:"by_function,omitempty"`
	Call     uint64   `json:"by_call,omitempty"`
	At       string   `json:"at,omitempty"` // function
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
}

// newJSONWait returns what a record says of a wait.
func newJSONWait(r *recording.Recording, clock recording.Converter, e *recording.Event) *jsonWait {
	w := e.Wait()
	j := &jsonWait{Object: w.Object, By: w.Goroutine, Call: w.Call}
	if others := e.Others(); others != nil {
		j.Channels = append([]uint64{w.Object}, others...)
	}
	if done := recording.Operation(w.Operation); done != 0 {
		j.Done = done.Name()
		j.Bytes, _ = done.Bytes()
	}
	if OfFile(r.Function(e.Function)) {
		j.Name = FileName(r, w.Object)
	}
	if w.Ready != 0 {
		j.Runnable = int64(clock.Between(w.Ready, e.Ticks))
	}
	if w.Function != 0 {
		j.Function = r.Function(w.Function).FullName()
	}
	if site := r.Site(w.Site); site != nil {
		j.At, j.File, j.Line = site.Function, site.File, site.Line
	}
	return j
}

// writeJSON lets a walker write lines of JSON, with the process's number if there are several,
// whose recording began so many ns later than what times are since.
func writeJSON(w *plainWalker, out io.Writer, err *error, pid int, later int64) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	clock := w.Recording.Converter()
	printer := w.Recording.Printer(recording.DefaultFormat)
	write := func(st *plainStack, c *plainFrame, e *recording.Event) {
		j := jsonEvent{Time: later + int64(clock.Since(e.Ticks)), PID: pid, Goroutine: e.Goroutine, Event: e.Kind.String(), Depth: int(e.Depth)}
		detail := rule.Args
		if c != nil {
			j.Depth = int(c.Data.Shown)
			j.Call = c.Number
			detail = c.Data.Clause.Detail
		}
		f := w.Recording.Function(e.Function)
		if e.Function != 0 {
			j.Function = f.FullName()
		}
		if detail < rule.Args {
			e.Layout = 0
		}
		switch e.Kind {
		case recording.EntryArgs, recording.After:
			j.Values = printer.Structured(e, f.Params)
		case recording.ExitResults:
			j.Values = printer.Structured(e, f.Results)
		case recording.ExitPanic, recording.Recovered:
			j.Values = printer.Structured(e, []recording.Param{{Interface: true}})
		case recording.GoroutineStart:
			j.Parent, j.Call = e.Parent, e.Call
		case recording.Wait:
			lasted := int64(clock.Between(e.Wait().Begin, e.Ticks))
			j.Call, j.Duration, j.Wait = e.Call, &lasted, newJSONWait(w.Recording, clock, e)
			if w.Ruled() {
				j.Depth = int(st.Data.Shown)
			}
		case recording.Probe:
			j.Depth, j.Call = int(e.Depth), e.Call
			if w.Ruled() {
				j.Depth = int(st.Data.Shown)
			}
			if e.Layout != 0 {
				j.Values = printer.Structured(e, f.Params)
			}
		case recording.Line:
			level := e.Level
			j.Text, j.Level = string(e.Data), &level
		case recording.Off:
			j.Call = e.Call
		case recording.On:
			lasted := int64(clock.Between(e.Parent, e.Ticks))
			j.Duration, j.LeftOut, j.Noted, j.Failed, j.Uncounted = &lasted, e.Call, e.Noted, e.Failed, e.Uncounted
		case recording.Lost:
			j.Lost, j.Call = e.Call, 0
		}
		j.AtEnd = e.AtEnd
		if e.Exits() && c != nil {
			j.Mock, j.Note = c.Mock, c.Note
			if c.BeginKnown() {
				lasted := int64(clock.Between(c.Start, e.Ticks))
				j.Duration = &lasted
			}
		}
		if *err == nil {
			*err = enc.Encode(j)
		}
	}
	w.Begin, w.After = write, write
	w.End = func(st *plainStack, c *plainFrame, e *recording.Event) {
		if e != nil {
			write(st, c, e)
		}
	}
	w.More = func(st *plainStack, c *plainFrame, e *recording.Event) { write(st, c, e) }
	w.Wait = func(st *plainStack, e *recording.Event) { write(st, nil, e) }
}

// JSON writes a line of JSON for each event.
func JSON(s walk.Source, out io.Writer) error {
	w := walk.New[struct{}, struct{}](s)
	var failed error
	writeJSON(w, out, &failed, 0, 0)
	err := w.Walk(func() bool { return failed == nil })
	return cmp.Or(failed, err)
}

// JSONFamily writes a line of JSON for each event of several recordings. Times are since the start
// of the first.
func JSONFamily(family []walk.Source, o Options, out io.Writer) error {
	var failed error
	members := walk.Members[struct{}, struct{}](family, o.From, o.To)
	for _, m := range members {
		writeJSON(m.Walker, out, &failed, m.Recording.Env.PID, int64(m.Later))
	}
	err := walk.Together(members, func() bool { return failed == nil })
	return cmp.Or(failed, err)
}
