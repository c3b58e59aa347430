package export

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/rule"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// exportChrome writes trace events, which chrome://tracing, Perfetto and others read: a pair of
// events for each call, a thread for each goroutine.
func exportChrome(from walk.Source, out *output) error {
	w := walk.New[struct{}, struct{}](from)
	clock := w.Recording.Converter()
	format := recording.DefaultFormat
	printer := w.Recording.Printer(format)
	io.WriteString(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")
	fmt.Fprintf(out, `{"ph":"M","pid":%d,"name":"process_name","args":{"name":%s}}`, w.Recording.Env.PID, jsonText(w.Recording.Env.Executable))
	named := map[uint64]bool{}
	begin := func(ph string, goroutine, ticks uint64) {
		if !named[goroutine] {
			named[goroutine] = true
			fmt.Fprintf(out, ",\n"+`{"ph":"M","pid":%d,"tid":%d,"name":"thread_name","args":{"name":"G%d"}}`, w.Recording.Env.PID, goroutine, goroutine)
		}
		fmt.Fprintf(out, ",\n"+`{"ph":"%s","pid":%d,"tid":%d,"ts":%.3f`, ph, w.Recording.Env.PID, goroutine, float64(clock.Since(ticks))/1e3)
	}
	w.Begin = func(st *stack, c *frame, e *recording.Event) {
		f := w.Recording.Function(c.Function)
		begin("B", st.Goroutine, e.Ticks)
		fmt.Fprintf(out, `,"name":%s,"cat":%s,"args":{"call":%d`, jsonText(f.ShortName()), jsonText(f.Package), c.Number)
		if e.Kind == recording.EntryArgs && c.Data.Clause.Detail >= rule.Args {
			fmt.Fprintf(out, `,"params":%s`, jsonText(string(printer.Append(nil, 0, e, f.Params))))
		}
		io.WriteString(out, "}}")
	}
	w.End = func(st *stack, c *frame, e *recording.Event) {
		if c == nil {
			return
		}
		f := w.Recording.Function(c.Function)
		at := max(w.Last, c.Start)
		if e != nil {
			at = e.Ticks
		}
		begin("E", st.Goroutine, at)
		fmt.Fprintf(out, `,"name":%s,"cat":%s`, jsonText(f.ShortName()), jsonText(f.Package)) // Chromium's DevTools want them
		separator := `,"args":{`
		arg := func(name string, value []byte) {
			fmt.Fprintf(out, "%s%q:%s", separator, name, jsonText(string(value)))
			separator = ","
		}
		if c.Late() && e != nil {
			arg("lasted", recording.AppendDuration(nil, int64(clock.Between(c.Start, e.Ticks))))
		}
		switch {
		case e == nil:
		case c.Data.Clause.Detail < rule.Args:
		case e.Kind == recording.ExitResults:
			arg("results", printer.Append(nil, 0, e, f.Results))
		case e.Kind == recording.ExitPanic && e.Layout != 0:
			arg("panic", printer.AppendPanic(nil, 0, e))
		}
		if separator == "," {
			io.WriteString(out, "}")
		}
		io.WriteString(out, "}")
	}
	w.More = func(st *stack, c *frame, e *recording.Event) {
		if e.Kind == recording.Line {
			begin("i", e.Goroutine, e.Ticks)
			fmt.Fprintf(out, `,"s":"t","name":%s}`, jsonText(string(e.Data)))
		}
		if e.Kind == recording.Probe {
			f := w.Recording.Function(e.Function)
			begin("i", e.Goroutine, e.Ticks)
			fmt.Fprintf(out, `,"s":"t","name":%s`, jsonText(f.FullName()))
			if e.Layout != 0 {
				fmt.Fprintf(out, `,"args":{"args":%s}`, jsonText(string(printer.Append(nil, 0, e, f.Params))))
			}
			io.WriteString(out, "}")
		}
	}
	w.Wait = func(st *stack, e *recording.Event) {
		f := w.Recording.Function(e.Function)
		begin("B", st.Goroutine, e.Wait().Begin)
		fmt.Fprintf(out, `,"name":%s,"cat":"wait","cname":%q,"args":{`, jsonText(f.FullName()), waitColour(f))
		for i, v := range waitValues(w.Recording, clock, e) {
			if i > 0 {
				io.WriteString(out, ",")
			}
			fmt.Fprintf(out, "%q:%s", v.Name, jsonText(v.Text))
		}
		io.WriteString(out, "}}")
		begin("E", st.Goroutine, e.Ticks)
		fmt.Fprintf(out, `,"name":%s,"cat":"wait"}`, jsonText(f.FullName()))
	}
	failed := w.Run(out.fits)
	if _, err := io.WriteString(out, "\n]}\n"); err != nil {
		return err
	}
	return failed
}

// jsonText returns s as JSON has it.
func jsonText(s string) []byte {
	b, _ := json.Marshal(valid(s))
	return b
}

// valid returns s with what is no UTF-8 replaced.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
