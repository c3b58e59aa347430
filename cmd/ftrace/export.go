package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/ownfile"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/screen"
)

// exporters write a recording in the formats of other tools. Each goes through it once.
var exporters = map[string]func(w *walker, window recording.Window, out io.Writer) error{
	"json":       replayJSON,
	"chrome":     exportChrome,
	"perfetto":   exportPerfetto,
	"folded":     exportFolded,
	"pprof":      exportPprof,
	"speedscope": exportSpeedscope,
	"mermaid":    exportMermaid,
}

// dirExporters do so in a new directory.
var dirExporters = map[string]func(w *walker, window recording.Window, dir string) error{
	"uftrace": exportUftrace,
	"ctf":     exportCTF,
}

// newDirectory says why a directory can't be made.
func newDirectory(format, dir string) error {
	if dir == "" {
		return usagef("-format %s is a directory: -o names it", format)
	}
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s is there already: -o names a new directory", dir)
	}
	return nil
}

// exportCommand is "ftrace export -format FORMAT [FLAGS] [DIR]".
func exportCommand(args []string) int {
	o := newOptions("export")
	name := o.flags.String("format", "", "")
	file := o.flags.String("o", "", "")
	args, err := o.parse(args)
	if err != nil {
		return fail("export", err)
	}
	export := exporters[*name]
	exportDir := dirExporters[*name]
	if export == nil && exportDir == nil {
		return fail("export", usagef("-format is perfetto, chrome, pprof, folded, speedscope, json, mermaid, uftrace or ctf, not %q", *name))
	}
	r, err := o.open(args)
	if err != nil {
		return fail("export", err)
	}
	w, err := o.walker(r)
	if err != nil {
		return fail("export", err)
	}
	if w.rules != nil && w.rules.hasMin() {
		fmt.Fprintln(stderr, "ftrace: export: -f: min= chooses in replay and report; shorter calls are exported too")
	}
	if *file == "" && atTerminal() {
		if noText[*name] {
			return fail("export", usagef("-format %s is no text for a terminal: -o names a file", *name))
		}
		w.verb = "" // a progress bar would be between the lines
	}
	if exportDir != nil {
		if err = newDirectory(*name, *file); err == nil {
			err = exportDir(w, o.window(r), *file)
		}
	} else {
		err = exportTo(*name, *file, func(out io.Writer) error { return export(w, o.window(r), out) })
	}
	if err != nil {
		return fail("export", err)
	}
	complain(r, nil)
	return 0
}

// noText are the formats that are no text, textual those that are not JSON.
var (
	noText  = map[string]bool{"perfetto": true, "pprof": true}
	textual = map[string]bool{"folded": true, "mermaid": true}
)

// exportTo gives write a file, or stdout.
func exportTo(format, file string, write func(io.Writer) error) error {
	out, _ := files()
	var to io.Writer = stdout
	if file != "" {
		f, err := ownfile.Create(file) // what programs were given may be secret
		if err != nil {
			return err
		}
		defer f.Close()
		out, to = f, screen.New(f, screen.Text)
	}
	switch {
	case noText[format]:
		to = out
	case !textual[format]:
		to = asJSON(to)
	}
	b := bufio.NewWriterSize(to, 1<<16)
	if err := write(b); err != nil {
		return err
	}
	if err := b.Flush(); err != nil {
		return err
	}
	if file != "" {
		return out.Close()
	}
	return nil
}

// run goes through the events in a window; then it ends what is under way, without events.
func (w *walker) run(window recording.Window) (last uint64, err error) {
	s := w.events(window)
	defer s.Close()
	for e := s.Next(); e != nil; e = s.Next() {
		last = e.Ticks
		w.event(e)
	}
	for _, st := range w.stacks.Every() {
		for len(st.Calls) > 0 {
			w.ended(st, &st.Calls[len(st.Calls)-1], nil)
		}
	}
	return last, s.Err()
}

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
}

// replayJSON writes a line of JSON for each event.
func replayJSON(w *walker, window recording.Window, out io.Writer) error {
	var err error
	writeJSON(w, out, &err, 0, 0)
	s := w.events(window)
	defer s.Close()
	for e := s.Next(); err == nil && e != nil; e = s.Next() {
		w.event(e)
	}
	if err == nil {
		err = s.Err()
	}
	return err
}

// writeJSON lets a walker write lines of JSON, with the process's number if there are several, whose recording began so many ns later than what times are since.
func writeJSON(w *walker, out io.Writer, err *error, pid int, later int64) {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	clock := w.r.Converter()
	printer := w.r.Printer(recording.DefaultFormat)
	write := func(st *stack, c *frame, e *recording.Event) {
		j := jsonEvent{Time: later + int64(clock.Since(e.Ticks)), PID: pid, Goroutine: e.Goroutine, Event: e.Kind.String(), Depth: int(e.Depth)}
		detail := rule.Args
		if c != nil {
			j.Depth = int(c.Data.shown)
			j.Call = c.Number
			detail = c.Data.clause.Detail
		}
		f := w.r.Function(e.Function)
		if e.Function != 0 {
			j.Function = f.FullName()
		}
		if detail < rule.Args {
			e.Layout = 0
		}
		switch e.Kind {
		case recording.EntryArgs:
			j.Values = printer.Values(e, f.Params)
		case recording.ExitResults:
			j.Values = printer.Values(e, f.Results)
		case recording.ExitPanic, recording.Recovered:
			j.Values = printer.Values(e, []recording.Param{{Interface: true}})
		case recording.GoroutineStart:
			j.Parent, j.Call = e.Parent, e.Call
		case recording.Probe:
			j.Depth, j.Call = int(e.Depth), e.Call
			if w.rules != nil {
				j.Depth = int(st.Data.shown)
			}
			if e.Layout != 0 {
				j.Values = printer.Values(e, f.Params)
			}
		case recording.Line:
			level := e.Level
			j.Text, j.Level = string(e.Data), &level
		case recording.Lost:
			j.Lost, j.Call = e.Call, 0
		}
		if e.Exits() && c != nil {
			lasted := int64(clock.Between(c.Start, e.Ticks))
			j.Duration, j.Mock, j.Note = &lasted, c.Mock, c.Note
		}
		if *err == nil {
			*err = enc.Encode(j)
		}
	}
	w.begin = write
	w.end = func(st *stack, c *frame, e *recording.Event) {
		if e != nil {
			write(st, c, e)
		}
	}
	w.more = func(st *stack, c *frame, e *recording.Event) { write(st, c, e) }
}

// exportChrome writes trace events, which chrome://tracing, Perfetto and others read: a pair of events for each call, a thread for each goroutine.
func exportChrome(w *walker, window recording.Window, out io.Writer) error {
	clock := w.r.Converter()
	format := recording.DefaultFormat
	printer := w.r.Printer(format)
	io.WriteString(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")
	fmt.Fprintf(out, `{"ph":"M","pid":%d,"name":"process_name","args":{"name":%s}}`, w.r.Env.PID, jsonText(w.r.Env.Executable))
	named := map[uint64]bool{}
	begin := func(ph string, goroutine, ticks uint64) {
		if !named[goroutine] {
			named[goroutine] = true
			fmt.Fprintf(out, ",\n"+`{"ph":"M","pid":%d,"tid":%d,"name":"thread_name","args":{"name":"G%d"}}`, w.r.Env.PID, goroutine, goroutine)
		}
		fmt.Fprintf(out, ",\n"+`{"ph":"%s","pid":%d,"tid":%d,"ts":%.3f`, ph, w.r.Env.PID, goroutine, float64(clock.Since(ticks))/1e3)
	}
	w.begin = func(st *stack, c *frame, e *recording.Event) {
		f := w.r.Function(c.Function)
		begin("B", st.Goroutine, e.Ticks)
		fmt.Fprintf(out, `,"name":%s,"cat":%s,"args":{"call":%d`, jsonText(f.ShortName()), jsonText(f.Package), c.Number)
		if e.Kind == recording.EntryArgs && c.Data.clause.Detail >= rule.Args {
			fmt.Fprintf(out, `,"params":%s`, jsonText(string(printer.Append(nil, 0, e, f.Params))))
		}
		io.WriteString(out, "}}")
	}
	var last uint64
	w.end = func(st *stack, c *frame, e *recording.Event) {
		if c == nil {
			return
		}
		f := w.r.Function(c.Function)
		at := max(last, c.Start)
		if e != nil {
			at = e.Ticks
		}
		begin("E", st.Goroutine, at)
		fmt.Fprintf(out, `,"name":%s,"cat":%s`, jsonText(f.ShortName()), jsonText(f.Package)) // Chromium's DevTools want them
		switch {
		case e == nil:
		case c.Data.clause.Detail < rule.Args:
		case e.Kind == recording.ExitResults:
			fmt.Fprintf(out, `,"args":{"results":%s}`, jsonText(string(printer.Append(nil, 0, e, f.Results))))
		case e.Kind == recording.ExitPanic && e.Layout != 0:
			fmt.Fprintf(out, `,"args":{"panic":%s}`, jsonText(string(printer.AppendPanic(nil, 0, e))))
		}
		io.WriteString(out, "}")
	}
	w.more = func(st *stack, c *frame, e *recording.Event) {
		last = e.Ticks
		if e.Kind == recording.Line {
			begin("i", e.Goroutine, e.Ticks)
			fmt.Fprintf(out, `,"s":"t","name":%s}`, jsonText(string(e.Data)))
		}
		if e.Kind == recording.Probe {
			f := w.r.Function(e.Function)
			begin("i", e.Goroutine, e.Ticks)
			fmt.Fprintf(out, `,"s":"t","name":%s`, jsonText(f.FullName()))
			if e.Layout != 0 {
				fmt.Fprintf(out, `,"args":{"args":%s}`, jsonText(string(printer.Append(nil, 0, e, f.Params))))
			}
			io.WriteString(out, "}")
		}
	}
	event := w.event
	s := w.events(window)
	defer s.Close()
	for e := s.Next(); e != nil; e = s.Next() {
		event(e)
		last = e.Ticks
	}
	for _, st := range w.stacks.Every() {
		for len(st.Calls) > 0 {
			w.ended(st, &st.Calls[len(st.Calls)-1], nil)
		}
	}
	if _, err := io.WriteString(out, "\n]}\n"); err != nil {
		return err
	}
	return s.Err()
}

// jsonText returns s as JSON has it.
func jsonText(s string) []byte {
	b, _ := json.Marshal(valid(s))
	return b
}

// valid returns s with what is no UTF-8 replaced.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// A path is a function called from a path: all calls that have the same functions around them.
type path struct {
	parent   *path
	function uint32
	calls    uint64
	self     uint64 // ticks
	children map[uint32]*path
}

func (p *path) child(function uint32) *path {
	c := p.children[function]
	if c == nil {
		c = &path{parent: p, function: function}
		if p.children == nil {
			p.children = map[uint32]*path{}
		}
		p.children[function] = c
	}
	return c
}

// pathMax is how many functions a path has. Calls further in count for paths that end at that depth: each of the millions of calls of a stack overflow
// would have a path of its own, which nothing could draw.
const pathMax = 1000

// paths returns the root of the paths of all calls.
func paths(w *walker, window recording.Window) (*path, error) {
	root := &path{}
	type place struct {
		*path
		depth int // of the innermost shown call
	}
	at := map[uint64]*place{} // by goroutine
	w.begin = func(st *stack, c *frame, e *recording.Event) {
		p := at[st.Goroutine]
		if p == nil {
			p = &place{path: root}
			at[st.Goroutine] = p
		}
		if p.depth++; p.depth > pathMax {
			p.path = p.parent
		}
		p.path = p.child(c.Function)
	}
	w.end = func(st *stack, c *frame, e *recording.Event) {
		p := at[st.Goroutine]
		if c == nil || p == nil {
			return
		}
		p.calls++
		if e != nil {
			lasted := e.Ticks - c.Start
			p.self += lasted - min(lasted, c.Data.inner)
		}
		switch p.depth--; {
		case p.depth == 0:
			delete(at, st.Goroutine)
		case p.depth < pathMax:
			p.path = p.parent
		default:
			if caller := shownCaller(st); caller != nil {
				p.path = p.parent.child(caller.Function)
			}
		}
	}
	w.more = func(*stack, *frame, *recording.Event) {}
	_, err := w.run(window)
	return root, err
}

// visit calls f for each path below p, in the order of their functions' names.
func (p *path) visit(r *recording.Recording, f func(*path)) {
	var list []*path
	for _, c := range p.children {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *path) int {
		return cmp.Compare(r.Function(a.function).FullName(), r.Function(b.function).FullName())
	})
	for _, c := range list {
		f(c)
		c.visit(r, f)
	}
}

// functions returns the functions of a path, the outermost first.
func (p *path) functions() []uint32 {
	var list []uint32
	for ; p.parent != nil; p = p.parent {
		list = append(list, p.function)
	}
	slices.Reverse(list)
	return list
}

// exportFolded writes a line for each path: its functions and its own time in ns, for flamegraph.pl and others.
func exportFolded(w *walker, window recording.Window, out io.Writer) error {
	root, err := paths(w, window)
	if err != nil {
		return err
	}
	clock := w.r.Converter()
	root.visit(w.r, func(p *path) {
		if ns := int64(clock.Between(0, p.self)); ns > 0 {
			var names []string
			for _, key := range p.functions() {
				names = append(names, escape.String(strings.ReplaceAll(w.r.Function(key).FullName(), ";", ":")))
			}
			fmt.Fprintf(out, "%s %d\n", strings.Join(names, ";"), ns)
		}
	})
	return nil
}
