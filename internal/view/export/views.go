package export

import (
	"fmt"
	"io"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/text"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// exportPprof writes a profile for go tool pprof.
func exportPprof(from walk.Source, out *output) error {
	p, err := Profile(from)
	if err != nil {
		return err
	}
	return p.Write(out)
}

// Profile returns a profile for pprof: the calls of each path, and its own time.
func Profile(from walk.Source) (*profile.Profile, error) {
	root, err := paths(from)
	if err != nil {
		return nil, err
	}
	r := from.Recording
	clock := r.Converter()
	first, last := r.Clocks()
	p := &profile.Profile{
		SampleType:    []*profile.ValueType{{Type: "calls", Unit: "count"}, {Type: "time", Unit: "nanoseconds"}},
		PeriodType:    &profile.ValueType{Type: "time", Unit: "nanoseconds"},
		Period:        1,
		TimeNanos:     first.Wall,
		DurationNanos: last.Monotonic - first.Monotonic,
		Mapping:       []*profile.Mapping{{ID: 1, File: r.Env.Executable, HasFunctions: true, HasFilenames: true, HasLineNumbers: true}},
	}
	locations := map[uint32]*profile.Location{}
	location := func(key uint32) *profile.Location {
		if l := locations[key]; l != nil {
			return l
		}
		f := r.Function(key)
		pf := &profile.Function{ID: uint64(len(p.Function) + 1), Name: f.FullName(), SystemName: f.FullName(), Filename: f.File, StartLine: int64(f.Line)}
		l := &profile.Location{ID: uint64(len(p.Location) + 1), Mapping: p.Mapping[0], Line: []profile.Line{{Function: pf, Line: int64(f.Line)}}}
		p.Function, p.Location = append(p.Function, pf), append(p.Location, l)
		locations[key] = l
		return l
	}
	root.visit(r, func(at *path) {
		s := &profile.Sample{Value: []int64{int64(at.calls), int64(clock.Between(0, at.self))}}
		for ; at.parent != nil; at = at.parent {
			s.Location = append(s.Location, location(at.function))
		}
		p.Sample = append(p.Sample, s)
	})
	return p, p.CheckValid()
}

// exportSpeedscope writes a file for https://www.speedscope.app: a profile in the order of time for
// each goroutine.
func exportSpeedscope(from walk.Source, out *output) error {
	w := walk.New[struct{}, struct{}](from)
	clock := w.Recording.Converter()
	frames := map[uint32]int{}
	var order []uint32
	// The events of a goroutine belong together, so they wait until all have been read.
	l := text.NewLines(out, true)
	type span struct{ from, to uint64 }
	spans := map[uint64]*span{}
	event := func(kind string, goroutine uint64, key uint32, ticks uint64) {
		i, ok := frames[key]
		if !ok {
			i = len(order)
			frames[key] = i
			order = append(order, key)
		}
		s := spans[goroutine]
		comma := ","
		if s == nil {
			s = &span{from: ticks}
			spans[goroutine] = s
			comma = ""
		}
		s.to = max(s.to, ticks)
		l.Add(goroutine, fmt.Appendf(nil, "%s{\"type\":%q,\"frame\":%d,\"at\":%d}", comma, kind, i, clock.Since(ticks)))
	}
	w.Begin = func(st *stack, c *frame, e *recording.Event) { event("O", st.Goroutine, c.Function, e.Ticks) }
	w.End = func(st *stack, c *frame, e *recording.Event) {
		switch {
		case c == nil:
		case e == nil:
			event("C", st.Goroutine, c.Function, spans[st.Goroutine].to)
		default:
			event("C", st.Goroutine, c.Function, e.Ticks)
		}
	}
	w.More = func(*stack, *frame, *recording.Event) {}
	if err := w.Run(nil); err != nil {
		return err
	}
	io.WriteString(out, `{"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"ftrace","shared":{"frames":[`)
	for i, key := range order {
		f := w.Recording.Function(key)
		if i > 0 {
			io.WriteString(out, ",")
		}
		fmt.Fprintf(out, "\n"+`{"name":%s,"file":%s,"line":%d}`, jsonText(f.FullName()), jsonText(f.File), f.Line)
	}
	fmt.Fprintf(out, "]},\"name\":%s,\"profiles\":[", jsonText(w.Recording.Env.Executable))
	l.Before = func(i int, goroutine uint64) string {
		s := spans[goroutine]
		text := fmt.Sprintf("\n"+`{"type":"evented","name":"G%d","unit":"nanoseconds","startValue":%d,"endValue":%d,"events":[`, goroutine, clock.Since(s.from), clock.Since(s.to))
		if i > 0 {
			text = "]}," + text
		}
		return text
	}
	if err := l.Close(); err != nil {
		return err
	}
	end := "]}\n"
	if len(spans) > 0 {
		end = "]}" + end
	}
	_, err := io.WriteString(out, end)
	return err
}

// mermaidMax is how many messages a diagram has at most: more cannot be read, and are refused by
// what draws them.
const mermaidMax = 500

// exportMermaid writes a sequence diagram: participants are packages, or types where a function is
// a method, messages are calls.
func exportMermaid(from walk.Source, out *output) error {
	w := walk.New[struct{}, struct{}](from)
	var body strings.Builder
	participants := map[string]string{}
	var order []string
	participant := func(name string) string {
		id := participants[name]
		if id == "" {
			id = fmt.Sprintf("p%d", len(order))
			participants[name] = id
			order = append(order, name)
		}
		return id
	}
	printer := w.Recording.Printer(recording.ValueFormat{Line: 80, String: 24, Elements: 4, Nest: 1, Messages: true})
	messages, left := 0, 0
	of := func(c *frame, goroutine uint64) string {
		if c == nil {
			return participant(fmt.Sprintf("G%d", goroutine))
		}
		return participant(owner(w.Recording.Function(c.Function)))
	}
	message := func(from, arrow, to, text string) {
		if messages++; messages > mermaidMax {
			left++
			return
		}
		fmt.Fprintf(&body, "    %s%s%s: %s\n", from, arrow, to, mermaidText(text))
	}
	w.Begin = func(st *stack, c *frame, e *recording.Event) {
		f := w.Recording.Function(c.Function)
		args := ""
		if e.Kind == recording.EntryArgs && c.Data.Clause.Detail >= rule.Args {
			args = string(printer.Append(nil, 0, e, f.Params))
		}
		name := f.Name[strings.LastIndexByte(f.Name, ')')+1:]
		message(of(walk.ShownCaller(st), st.Goroutine), "->>", of(c, 0), strings.TrimPrefix(name, ".")+"("+args+")")
	}
	w.End = func(st *stack, c *frame, e *recording.Event) {
		if c == nil || e == nil {
			return
		}
		f := w.Recording.Function(c.Function)
		back := of(walk.ShownCaller(st), st.Goroutine)
		switch e.Kind {
		case recording.ExitResults:
			text := ""
			if c.Data.Clause.Detail >= rule.Args {
				text = string(printer.Append(nil, 0, e, f.Results))
			}
			message(of(c, 0), "-->>", back, text)
		case recording.ExitPanic:
			message(of(c, 0), "--x", back, "panic")
		case recording.ExitGoexit:
			message(of(c, 0), "--x", back, "Goexit")
		}
	}
	w.More = func(*stack, *frame, *recording.Event) {}
	if err := w.Run(nil); err != nil {
		return err
	}
	fmt.Fprintln(out, "sequenceDiagram")
	for _, name := range order {
		fmt.Fprintf(out, "    participant %s as %s\n", participants[name], mermaidText(name))
	}
	_, err := io.WriteString(out, body.String())
	if left > 0 && err == nil {
		_, err = fmt.Fprintf(out, "    %%%% %d more messages are left out: choose by -f, -g, -from and -to\n", left)
	}
	return err
}

// owner returns what a function belongs to: its type, or its package.
func owner(f *recording.Function) string {
	name := f.PackageName()
	if recv, ok := strings.CutPrefix(f.Name, "(*"); ok {
		if recv, _, ok = strings.Cut(recv, ")"); ok {
			return name + "." + recv
		}
	}
	if recv, _, ok := strings.Cut(f.Name, "."); ok && !strings.Contains(f.Name, ".func") {
		return name + "." + recv
	}
	return name
}

// mermaidText returns text that a diagram may have in a line: it ends no line, has no markup, and
// is no directive.
func mermaidText(s string) string { return mermaidEscapes.Replace(escape.String(s)) }

var mermaidEscapes = strings.NewReplacer("#", "#35;", ";", "#59;", "<", "#60;", ">", "#62;", "%%", "#37;#37;")
