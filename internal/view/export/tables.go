package export

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// The tables, each a file. Times that are numbers are in ns: begin, end and at since the recording
// began. docs/columns.md says what the columns are.
var (
	callColumns = []column{
		{name: "time", kind: moment}, {name: "function", kind: name}, {name: "package", kind: name}, {name: "goroutine", kind: number}, {name: "call", kind: number}, {name: "depth", kind: number},
		{name: "begin", kind: maybeNumber}, {name: "end", kind: maybeNumber}, {name: "duration", kind: maybeNumber}, {name: "self", kind: maybeNumber}, {name: "ended", kind: maybeName},
		{name: "caller", kind: maybeName}, {name: "caller_call", kind: maybeNumber},
		{name: "params", kind: maybeSentence}, {name: "after", kind: maybeSentence}, {name: "results", kind: maybeSentence},
		{name: "error", kind: maybeSentence}, {name: "panic", kind: maybeSentence}, {name: "recovered", kind: maybeSentence}, {name: "mock", kind: flag}, {name: "note", kind: maybeSentence},
	}
	waitColumns = []column{
		{name: "time", kind: moment}, {name: "wait", kind: name}, {name: "goroutine", kind: number}, {name: "number", kind: maybeNumber},
		{name: "begin", kind: number}, {name: "end", kind: maybeNumber}, {name: "duration", kind: number}, {name: "runnable", kind: maybeNumber},
		{name: "object", kind: maybeName}, {name: "operation", kind: maybeName}, {name: "bytes", kind: maybeNumber},
		{name: "function", kind: maybeName}, {name: "call", kind: maybeNumber}, {name: "stopped_in", kind: maybeName}, {name: "file", kind: maybeName}, {name: "line", kind: maybeNumber},
		{name: "by_goroutine", kind: maybeNumber}, {name: "by_function", kind: maybeName}, {name: "by_call", kind: maybeNumber},
	}
	lineColumns = []column{
		{name: "time", kind: moment}, {name: "at", kind: number}, {name: "goroutine", kind: number}, {name: "function", kind: maybeName}, {name: "call", kind: maybeNumber}, {name: "level", kind: maybeNumber}, {name: "text", kind: sentence},
	}
	probeColumns = []column{
		{name: "time", kind: moment}, {name: "at", kind: number}, {name: "goroutine", kind: number}, {name: "function", kind: maybeName}, {name: "call", kind: maybeNumber}, {name: "probe", kind: name}, {name: "number", kind: number}, {name: "args", kind: maybeSentence},
	}
	goroutineColumns = []column{
		{name: "goroutine", kind: number}, {name: "function", kind: maybeName}, {name: "parent", kind: maybeNumber}, {name: "creator", kind: maybeName}, {name: "creator_call", kind: maybeNumber},
		{name: "begin", kind: number}, {name: "end", kind: number}, {name: "calls", kind: number}, {name: "waits", kind: number}, {name: "waiting", kind: number}, {name: "runnable", kind: number},
	}
	functionColumns = []column{
		{name: "function", kind: name}, {name: "package", kind: name}, {name: "import_path", kind: name}, {name: "file", kind: name}, {name: "line", kind: number},
		{name: "calls", kind: number}, {name: "left_out", kind: number}, {name: "uncounted", kind: flag}, {name: "values_file", kind: maybeSentence},
	}
)

// A columnar export writes a row for each call, wait, line and probe as it ends or happens, and at
// the end one for each goroutine and function.
type columnar struct {
	r       *recording.Recording
	clock   recording.Converter
	printer *recording.Printer
	start   int64 // ns since 1970, when the recording began

	format                      tableFormat
	dir                         string
	said                        map[string]string
	all                         []*table
	calls, waits, lines, probes *table
	values                      *values
	failed                      atomic.Bool // a table could not be written
	failure                     error       // why one was not begun

	names      names
	endings    map[recording.Kind]int64 // names of how calls end
	functions  []functionRow            // by key
	unknown    map[uint32]*functionRow  // of functions that the recording's tables do not have
	nothing    functionRow              // of no function
	goroutines map[uint64]*goroutineRow
}

// A functionRow has the cells for a function's name and that of its package, 0 if there are none
// yet, and how many calls there were.
type functionRow struct{ full, pkg, calls int64 }

// A goroutineRow is what becomes a row.
type goroutineRow struct {
	function, creator              uint32
	parent, creatorCall            uint64
	begin, end                     uint64 // ticks
	calls, waits, waited, runnable int64  // the last two in ns
}

// A goroutine is what a walk knows of one that has calls under way.
type goroutine struct {
	row    *goroutineRow
	values []callValues // of calls under way, inner ones last
}

// calls are those of a goroutine.
type calls = walk.Stack[goroutine, struct{}]

// callValues are values of a call.
type callValues struct {
	function                 uint32
	number                   uint64
	params, after, recovered []byte
	raw                      *rawEvents // nil: there are no values
}

// exportTables returns what writes a directory of tables in a format.
func exportTables(format tableFormat) func(from walk.Source, dir string) error {
	return func(from walk.Source, dir string) error { return writeTables(from, dir, format) }
}

func writeTables(from walk.Source, dir string, format tableFormat) error {
	w := walk.New[goroutine, struct{}](from)
	r := w.Recording
	first, _ := r.Clocks()
	x := &columnar{
		r: r, clock: r.Converter(), printer: r.Printer(recording.DefaultFormat), format: format, dir: dir,
		functions: make([]functionRow, r.Keys()), unknown: map[uint32]*functionRow{}, nothing: functionRow{full: none, pkg: none}, goroutines: map[uint64]*goroutineRow{},
	}
	returned := x.names.add("return")
	x.endings = map[recording.Kind]int64{recording.Exit: returned, recording.ExitResults: returned, recording.ExitPanic: x.names.add("panic"), recording.ExitGoexit: x.names.add("goexit")}
	began := x.clock.Wall(first.Ticks)
	x.start = began.UnixNano() - x.since(first.Ticks)
	x.said = map[string]string{"executable": r.Env.Executable, "pid": strconv.Itoa(r.Env.PID), "began": began.UTC().Format(time.RFC3339Nano)}
	x.values = newValues(x)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	w.Begin, w.After, w.End, w.More, w.Wait = x.begin, x.after, x.end, x.more, x.wait
	err := errors.Join(
		x.open(&x.calls, "calls", callColumns), x.open(&x.waits, "waits", waitColumns),
		x.open(&x.lines, "lines", lineColumns), x.open(&x.probes, "probes", probeColumns))
	if err == nil {
		err = cmp.Or(w.Run(x.fits), x.failure)
	}
	err = cmp.Or(x.values.close(), err)
	if err == nil {
		err = x.sumUp()
	}
	for _, t := range x.all {
		err = cmp.Or(t.close(), err) // that a disk is full is why the walk ended
	}
	return err
}

// open begins a table.
func (x *columnar) open(to **table, name string, columns []column) (err error) {
	if *to, err = newTable(x.format, filepath.Join(x.dir, name), columns, &x.names, x.said, &x.failed); err == nil {
		x.all = append(x.all, *to)
	}
	return err
}

// fits reports whether all was written so far.
func (x *columnar) fits() bool { return !x.failed.Load() }

// since returns ticks as a time since the recording began, in ns.
func (x *columnar) since(ticks uint64) int64 { return int64(x.clock.Since(ticks)) }

// between returns the ns between two times.
func (x *columnar) between(from, to uint64) int64 { return int64(x.clock.Between(from, to)) }

// moment returns the cell for the time of day, given that since the recording began.
func (x *columnar) moment(since int64) int64 { return (x.start + since) / 1000 }

// function returns the row of a function.
func (x *columnar) function(key uint32) *functionRow {
	var row *functionRow
	switch {
	case key == 0:
		return &x.nothing
	case uint64(key) < uint64(len(x.functions)):
		row = &x.functions[key]
	default:
		if row = x.unknown[key]; row == nil {
			row = &functionRow{}
			x.unknown[key] = row
		}
	}
	if row.full == 0 {
		f := x.r.Function(key)
		row.full, row.pkg = x.names.add(f.FullName()), x.names.add(f.Package)
	}
	return row
}

// goroutine returns the row of a goroutine of which there is an event.
func (x *columnar) goroutine(st *calls, number, ticks uint64) *goroutineRow {
	g := st.Data.View.row
	if g == nil {
		if g = x.goroutines[number]; g == nil {
			g = &goroutineRow{begin: ticks}
			x.goroutines[number] = g
		}
		st.Data.View.row = g
	}
	g.begin, g.end = min(g.begin, ticks), max(g.end, ticks)
	return g
}

// of returns what was noted so far of the values of c, the innermost call under way. The caller may
// add to it.
func (g *goroutine) of(c *frame) *callValues {
	n := len(g.values)
	if n == 0 || !g.values[n-1].are(c) {
		g.values = append(g.values, callValues{function: c.Function, number: c.Number})
		n++
	}
	return &g.values[n-1]
}

// take removes what was noted of the values of c, the innermost call under way, and returns it.
func (g *goroutine) take(c *frame) (v callValues) {
	if n := len(g.values); n > 0 && g.values[n-1].are(c) {
		v, g.values[n-1] = g.values[n-1], v
		g.values = g.values[:n-1]
	}
	return v
}

// are reports whether the values are those of a call.
func (v *callValues) are(c *frame) bool { return v.function == c.Function && v.number == c.Number }

// detailed reports whether the values of a call are shown.
func detailed(c *frame) bool { return c.Data.Clause.Detail >= rule.Args }

// json returns the values of an event as JSON, nil if there are none.
func (x *columnar) json(e *recording.Event, names []recording.Param) []byte {
	if e.Layout == 0 {
		return nil
	}
	return recording.AppendJSON(nil, x.printer.Structured(e, names))
}

// panicked returns the value of a panic.
func (x *columnar) panicked(c *frame, e *recording.Event) []byte {
	if e.Layout == 0 || !detailed(c) {
		return []byte("?")
	}
	return bytes.Clone(x.printer.AppendPanic(nil, 0, e))
}

func (x *columnar) begin(st *calls, c *frame, e *recording.Event) {
	g := x.goroutine(st, st.Goroutine, e.Ticks)
	if g.calls++; g.function == 0 {
		g.function = c.Function
	}
	x.function(c.Function).calls++
	if e.Kind == recording.EntryArgs && detailed(c) {
		v := st.Data.View.of(c)
		v.params = x.json(e, x.r.Function(c.Function).Params)
		v.raw = v.raw.with(0, e)
	}
}

func (x *columnar) after(st *calls, c *frame, e *recording.Event) {
	if detailed(c) {
		v := st.Data.View.of(c)
		v.after = x.json(e, x.r.Function(c.Function).Params)
		v.raw = v.raw.with(1, e)
	}
}

func (x *columnar) end(st *calls, c *frame, e *recording.Event) {
	var (
		t                           = x.calls
		started, begin              int64
		end, lasted, self, ended    int64 = none, none, none, none
		values                      callValues
		caller                      *frame
		results, failure, panicking []byte
	)
	if c == nil { // its entry is not there
		c = &frame{Function: e.Function, Depth: e.Depth}
		c.Data.Clause.Detail, c.Data.Shown = rule.Deep, int32(e.Depth)
		started, begin = x.since(e.Ticks), none
	} else {
		started, begin = x.since(c.Start), x.since(c.Start)
		values, caller = st.Data.View.take(c), walk.ShownCaller(st)
	}
	if !c.BeginKnown() {
		begin = none
	}
	if e != nil {
		x.goroutine(st, st.Goroutine, e.Ticks)
		end, ended = x.since(e.Ticks), x.endings[e.Kind]
		if begin != none && !c.Untimed {
			lasted = x.between(c.Start, e.Ticks)
			if !c.AtEnd {
				self = lasted - x.between(0, c.Data.Inner)
			}
		}
		switch f := x.r.Function(c.Function); {
		case e.Kind == recording.ExitResults && detailed(c):
			results, values.raw = x.json(e, f.Results), values.raw.with(2, e)
			if x.printer.Fails(e, f) {
				_, message := errorOf(x.printer, e, f)
				failure = []byte(message)
			}
		case e.Kind == recording.ExitPanic:
			panicking = x.panicked(c, e)
		}
	}
	row := x.function(c.Function)
	t.add(x.moment(started), row.full, row.pkg, int64(st.Goroutine), int64(c.Number), int64(c.Data.Shown), begin, end, lasted, self, ended)
	x.addCall(t, caller)
	t.text(values.params)
	t.text(values.after)
	t.text(results)
	t.text(failure)
	t.text(panicking)
	t.text(values.recovered)
	t.flag(c.Mock)
	t.textOf(c.Note)
	t.end()
	if values.raw != nil {
		x.values.add(c.Function, [8]int64{x.moment(started), int64(st.Goroutine), int64(c.Number), begin, end, lasted, self, ended}, failure, values.raw)
	}
}

// addCall adds cells for a call: its function, and its number.
func (x *columnar) addCall(t *table, c *frame) {
	if c == nil {
		t.add(none, none)
		return
	}
	t.add(x.function(c.Function).full, int64(c.Number))
}

// errorOf returns the type and the message of the error that is the last result, or the text of it
// that lines have.
func errorOf(p *recording.Printer, e *recording.Event, f *recording.Function) (typ, message string) {
	last := len(f.Results) - 1
	v, d := p.Structured(e, f.Results)[last], within(p.Data(e)[last])
	typ, message = v.Type, v.Text
	if d.Type != nil {
		typ = d.Type.Name
	}
	if d.HasMessage {
		message = d.Message
	}
	return typ, message
}

// within returns what is in a value that is an interface.
func within(d *recording.Datum) *recording.Datum {
	for d.Type != nil && d.Type.Kind == reflect.Interface && len(d.Parts) == 1 {
		d = d.Parts[0]
	}
	return d
}

// happened adds cells for when and where something happened.
func (x *columnar) happened(t *table, st *calls, e *recording.Event) {
	x.goroutine(st, e.Goroutine, e.Ticks)
	at := x.since(e.Ticks)
	t.add(x.moment(at), at, int64(e.Goroutine))
	x.addCall(t, walk.Innermost(st))
}

func (x *columnar) more(st *calls, c *frame, e *recording.Event) {
	switch e.Kind {
	case recording.GoroutineStart:
		g := x.goroutine(st, e.Goroutine, e.Ticks)
		g.parent, g.creator, g.creatorCall = e.Parent, e.Function, e.Call
	case recording.Recovered:
		st.Data.View.of(c).recovered = x.panicked(c, e)
	case recording.Line:
		t := x.lines
		x.happened(t, st, e)
		t.numberIf(e.Level != recording.UnknownLevel, int64(e.Level))
		t.text(append([]byte{}, e.Data...))
		t.end()
	case recording.Probe:
		t := x.probes
		x.happened(t, st, e)
		t.add(x.function(e.Function).full, int64(e.Call))
		t.text(x.json(e, x.r.Function(e.Function).Params))
		t.end()
	}
}

func (x *columnar) wait(st *calls, e *recording.Event) {
	t, w, g := x.waits, e.Wait(), x.goroutine(st, st.Goroutine, e.Ticks)
	begin, end := x.since(w.Begin), x.since(e.Ticks)
	lasted, runnable := x.between(w.Begin, e.Ticks), int64(0)
	if w.Ready != 0 {
		runnable = x.between(w.Ready, e.Ticks)
	}
	g.begin = min(g.begin, w.Begin)
	g.waits++
	g.waited += lasted - runnable
	g.runnable += runnable
	number := int64(e.Call)
	if e.Call == 0 { // it is under way
		number, end = none, none
	}
	t.add(x.moment(begin), x.function(e.Function).full, int64(st.Goroutine), number, begin, end, lasted)
	t.numberIf(w.Ready != 0, runnable)
	t.text(text.AppendObject(nil, x.r, e.Function, w.Object, 0))
	if done := recording.Operation(w.Operation); done != 0 {
		n, counts := done.Bytes()
		t.text([]byte(done.Name()))
		t.numberIf(counts, int64(n))
	} else {
		t.add(none, none)
	}
	x.addCall(t, walk.Innermost(st))
	if site := x.r.Site(w.Site); site != nil {
		t.textOf(site.Function)
		t.textOf(site.File)
		t.add(int64(site.Line))
	} else {
		t.add(none, none, none)
	}
	t.numberIf(w.Goroutine != 0, int64(w.Goroutine))
	t.add(x.function(w.Function).full)
	t.numberIf(w.Function != 0, int64(w.Call))
	t.end()
}

// sumUp writes the tables that have a row for each goroutine and each function.
func (x *columnar) sumUp() error {
	var goroutines, functions *table
	if err := errors.Join(x.open(&goroutines, "goroutines", goroutineColumns), x.open(&functions, "functions", functionColumns)); err != nil {
		return err
	}
	t := goroutines
	for _, number := range slices.Sorted(maps.Keys(x.goroutines)) {
		g := x.goroutines[number]
		t.add(int64(number), x.function(g.function).full)
		t.numberIf(g.parent != 0, int64(g.parent))
		t.add(x.function(g.creator).full)
		t.numberIf(g.creator != 0, int64(g.creatorCall))
		t.add(x.since(g.begin), x.since(g.end), g.calls, g.waits, g.waited, g.runnable)
		t.end()
	}
	_, last := x.r.Clocks()
	left := map[uint32]recording.LeftOut{}
	for _, l := range x.r.LeftOut(last.Ticks) {
		left[l.Function] = l
	}
	t = functions
	for _, f := range x.r.Functions() {
		if f.Probe || f.Wait {
			continue
		}
		row := x.function(f.Key)
		t.add(row.full, row.pkg)
		t.text([]byte(f.ImportPath))
		t.text([]byte(f.File))
		t.add(int64(f.Line), row.calls, int64(left[f.Key].Calls))
		t.flag(left[f.Key].More)
		t.textOf(x.values.fileOf(f.Key))
		t.end()
	}
	return nil
}
