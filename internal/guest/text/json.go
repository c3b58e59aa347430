//go:build ftrace_core

// FTRACE_FORMAT=json: each line is a JSON object, for log pipelines.
//
//	{"time":"2026-01-02T15:04:05.000000001Z","level":"TRACE","goroutine":1,"depth":0,"event":"call","func":"main.add","call":1,"args":{"a":1,"b":2}}
//	{"time":"2026-01-02T15:04:05.000000002Z","level":"TRACE","goroutine":1,"depth":0,"event":"return","func":"main.add","call":1,"results":{"0":3}}
//	{"time":"2026-01-02T15:04:05.000000003Z","level":"INFO","goroutine":1,"depth":0,"msg":"3"}

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceJSONLine is the number of bytes at which the values of a line are cut. Escaped, that many
// still fit into the buffer.
const ftraceJSONLine = 24 << 10

// jsonTime appends the time of day in the form of RFC 3339, UTC, in nanoseconds.
func (b *ftraceText) jsonTime() {
	sec, nsec, _ := time_now()
	b.instant(sec, uint32(nsec), false)
}

// wallTime appends the time of day, UTC, in microseconds.
func (b *ftraceText) wallTime() {
	sec, nsec, _ := time_now()
	if text := b.form("00:00:00.000000Z "); text != nil {
		ftraceClock(text, sec, uint32(nsec)/1000, 6)
	}
}

// jsonName appends a function's name as a string.
func (b *ftraceText) jsonName(f *ftraceFunc) {
	at := b.n
	b.name(f)
	b.jsonQuote(at)
}

// jsonPrefix begins a line of goroutine gp: its time, level and place.
func (b *ftraceText) jsonPrefix(gp *g, depth int32, level int) {
	b.str(`{"time":"`)
	b.jsonTime()
	b.str(`","level":"`)
	b.level(level, true)
	b.byte('"')
	if ftraceFormat.seq {
		b.number(`,"seq":`, atomic.Xadd64(&ftraceOut.atLine, 1))
	}
	if ftraceFormat.elapsed {
		b.str(`,"elapsed":`)
		b.fixed(nanotime()-ftraceStarted, 9)
	}
	if ftraceFormat.tid {
		b.number(`,"thread":`, ftraceTid())
	}
	b.jsonPlace(gp, depth)
}

// jsonPlace appends where a line stands in the trace.
func (b *ftraceText) jsonPlace(gp *g, depth int32) {
	b.number(`,"goroutine":`, gp.goid)
	b.number(`,"depth":`, uint64(depth))
}

// ftraceLevel is the trace's own level.
const ftraceLevel = -8

// jsonCall begins a line about a call of f.
func (b *ftraceText) jsonCall(gp *g, depth int32, event string, f *ftraceFunc) {
	b.jsonPrefix(gp, depth, ftraceLevel)
	b.str(`,"event":"`)
	b.str(event)
	b.str(`","func":`)
	b.jsonName(f)
}

// jsonFrame begins a line about the call of frame.
func (b *ftraceText) jsonFrame(gp *g, frame *ftraceFrame, event string) {
	b.jsonCall(gp, frame.shown, event, frame.fn.ptr())
	b.number(`,"call":`, frame.Count)
}

// jsonEntry appends the line that says that a call begins. suppressed is the number of calls before
// it that were not shown.
func (b *ftraceText) jsonEntry(gp *g, t *ftraceG, frame *ftraceFrame, clause *ftrace_rule_Clause, args []any, suppressed uint32) {
	f := frame.fn.ptr()
	b.jsonFrame(gp, frame, "call")
	if clause.Detail >= ftrace_rule_Args && len(args) > 0 {
		b.str(`,"args":`)
		b.jsonValues(f, false, args, false, clause)
	}
	if !t.headed && t.parentFn != 0 {
		b.number(`,"from":{"goroutine":`, t.parent)
		b.str(`,"func":`)
		b.jsonName(t.parentFn.ptr())
		b.number(`,"call":`, uint64(t.parentCount))
		b.byte('}')
	}
	if suppressed != 0 {
		b.number(`,"suppressed":`, uint64(suppressed))
	}
	if ftraceFormat.pos {
		b.str(`,"file":`)
		b.jsonString(f.pkg.Files[f.file])
		b.number(`,"line":`, uint64(f.line))
	}
	b.str("}\n")
}

// jsonEnding appends the line that says that a call ends.
func (b *ftraceText) jsonEnding(gp *g, frame *ftraceFrame, results []any, p *_panic, lasted int64) {
	b.jsonFrame(gp, frame, "return")
	panicked := func(what string, value any) {
		b.str(what)
		at := b.n
		printer := b.printer(frame.clause.ptr())
		printer.limit = at + min(ftraceFormat.line, ftraceJSONLine)
		printer.panicked("", value, frame)
		b.jsonQuote(at)
	}
	switch {
	case p != nil && p.goexit:
		b.str(`,"goexit":true`)
	case p != nil:
		panicked(`,"panic":`, p.arg)
	case frame.Flags&ftrace_format_FramePanicked != 0:
		panicked(`,"panic":`, gp.ftraceRecovered)
	default:
		if len(results) > 0 && frame.clause.ptr().Detail >= ftrace_rule_Args {
			b.str(`,"results":`)
			b.jsonValues(frame.fn.ptr(), true, results, frame.Flags&ftrace_format_FrameAtReturns == 0, frame.clause.ptr())
		}
		if frame.Flags&ftrace_format_FrameRecovered != 0 {
			panicked(`,"recovered":`, gp.ftraceRecovered)
		}
	}
	if frame.Flags&ftrace_format_FrameReplaced != 0 {
		b.str(`,"mock":true`)
	}
	if ftraceFormat.duration {
		b.str(`,"duration_ns":`)
		b.int(lasted)
	}
	if frame.note != 0 {
		notes := gp.ftrace.notes
		from := int(frame.note) - 1
		b.str(`,"note":`)
		b.jsonString(unsafe.String(&notes.data[from], notes.n-from))
	}
	b.str("}\n")
}

// jsonValues appends parameters or results of f as an object, and what capture= names. A value
// without a name is named by its position.
func (b *ftraceText) jsonValues(f *ftraceFunc, results bool, values []any, pointers bool, clause *ftrace_rule_Clause) {
	names, limit := f.names(results), b.n+min(ftraceFormat.line, ftraceJSONLine)
	b.byte('{')
	i := 0
	for ; i < len(values) && b.n < limit; i++ {
		if i > 0 {
			b.byte(',')
		}
		name, kind, typ := names.next()
		b.jsonMember(name, i)
		e := efaceOf(&values[i])
		t, v := e._type, e.data
		switch {
		case pointers:
			t = (*ptrtype)(unsafe.Pointer(t)).Elem
		case t == nil:
			b.str("null")
			continue
		case kind == '!' || kind == ':' && ftraceTypeName(t) != typ:
			at := b.n
			p := b.printer(clause)
			p.limit = limit
			p.dynamic(values[i], true)
			b.jsonQuote(at)
			continue
		case t.IsDirectIface():
			v = unsafe.Pointer(&e.data)
		}
		b.jsonValue(t, v, limit, clause)
	}
	rest := clause.Capture
	if rest != "" {
		paths := ftracePaths{f: f, text: rest, results: results, redaction: clause.Own}
		for b.n < limit {
			path, e := paths.take(&rest, values, pointers)
			if path == "" {
				break
			}
			b.byte(',')
			b.jsonMember(path, i)
			switch v := e.data; {
			case e._type == nil || ftraceMissing(e):
				b.str("null")
			default:
				if e._type.IsDirectIface() {
					v = unsafe.Pointer(&e.data)
				}
				b.jsonValue(e._type, v, limit, clause)
			}
		}
	}
	b.byte('}')
	if i < len(values) || rest != "" {
		b.str(`,"cut":true`)
	}
}

// jsonValue appends the value of type t at v, until there are limit bytes in the buffer.
func (b *ftraceText) jsonValue(t *_type, v unsafe.Pointer, limit int, clause *ftrace_rule_Clause) {
	p := b.printer(clause)
	p.limit = limit
	p.json(t, v, ftraceFormat.nest)
}

// jsonMember begins the member of value i. Its name is its position if it has none.
func (b *ftraceText) jsonMember(name string, i int) {
	if name == "" || name == "_" {
		var digits [20]byte
		name = string(ftraceItoa(digits[:], uint64(i)))
	}
	b.jsonString(name)
	b.byte(':')
}

// convert turns the tracer's own lines, which begin with "#", into objects if lines are to be JSON.
func (b *ftraceText) convert() {
	if !ftraceFormat.json || b.n == 0 || b.data[0] != '#' {
		return
	}
	lines := ftraceNewText()
	for rest := b.string(); rest != ""; {
		n := bytealg.IndexByteString(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		line := rest[:n]
		rest = rest[min(len(rest), n+1):]
		for line != "" && (line[0] == '#' || line[0] == ' ') {
			line = line[1:]
		}
		const own = "ftrace: "
		if len(line) > len(own) && line[:len(own)] == own {
			line = line[len(own):]
		}
		lines.str(`{"time":"`)
		lines.jsonTime()
		lines.str(`","level":"TRACE","event":"ftrace","msg":`)
		lines.jsonString(line)
		lines.str("}\n")
	}
	b.n = 0
	b.str(lines.string())
	ftraceFreeText(lines)
}
