//go:build ftrace_core

// FTRACE_FORMAT=json: each line is a JSON object, for log pipelines.
//
//	{"time":"2026-01-02T15:04:05.000000001Z","level":"TRACE","goroutine":1,"depth":0,"event":"call","func":"main.add","call":1,"args":{"a":1,"b":2}}
//	{"time":"2026-01-02T15:04:05.000000002Z","level":"TRACE","goroutine":1,"depth":0,"event":"return","func":"main.add","call":1,"results":{"0":3}}
//	{"time":"2026-01-02T15:04:05.000000003Z","level":"INFO","goroutine":1,"depth":0,"msg":"3"}

package runtime

import (
	"internal/abi"
	"internal/bytealg"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceJSONLine is the number of bytes at which the values of a line are cut. Escaped, that many
// still fit into the buffer.
const ftraceJSONLine = 24 << 10

// jsonString appends s as a string. What is not UTF-8 becomes U+FFFD.
func (b *ftraceText) jsonString(s string) {
	b.byte('"')
	for i := 0; i < len(s); {
		from := i
		i += ftraceJSONPlain(s[i:])
		b.str(s[from:i])
		if i == len(s) {
			break
		}
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b.byte('\\')
			b.byte(c)
		case c == '\n':
			b.str(`\n`)
		case c == '\t':
			b.str(`\t`)
		case c == '\r':
			b.str(`\r`)
		default:
			n, safe := ftrace_escape_Next(s[i:])
			if safe {
				b.str(s[i : i+n])
			} else {
				for _, r := range s[i : i+n] {
					b.jsonRune(uint32(r))
				}
			}
			i += n
			continue
		}
		i++
	}
	b.byte('"')
}

// ftraceJSONPlain returns how many bytes at the beginning of s stand in a string as they are.
func ftraceJSONPlain(s string) (n int) {
	for n < len(s) && s[n] >= ' ' && s[n] < 0x7F && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// jsonRune escapes a character that must not reach a terminal, in UTF-16.
func (b *ftraceText) jsonRune(u uint32) {
	if u > 0xFFFF {
		b.jsonRune(0xD800 + (u-0x10000)>>10)
		u = 0xDC00 + (u-0x10000)&0x3FF
	}
	b.str(`\u`)
	for shift := 12; shift >= 0; shift -= 4 {
		b.byte("0123456789abcdef"[u>>shift&15])
	}
}

// jsonTime appends the time of day in the form of RFC 3339, UTC, in nanoseconds.
func (b *ftraceText) jsonTime() {
	sec, nsec, _ := time_now()
	// Days since March 1st of the year 0, in eras of 400 years.
	days := sec/86400 + 719468
	era := days / 146097
	day := days - era*146097
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= year*365 + year/4 - year/100
	month := (5*day + 2) / 153
	date := day - (153*month+2)/5 + 1
	year += era * 400
	if month += 3; month > 12 {
		month -= 12
		year++
	}
	text := b.form("0000-00-00T00:00:00.000000000Z")
	if text == nil {
		return
	}
	ftraceDigits(text[:4], uint32(year))
	ftraceDigits(text[5:7], uint32(month))
	ftraceDigits(text[8:10], uint32(date))
	ftraceClock(text[11:], sec, uint32(nsec), 9)
}

// wallTime appends the time of day, UTC, in microseconds.
func (b *ftraceText) wallTime() {
	sec, nsec, _ := time_now()
	if text := b.form("00:00:00.000000Z "); text != nil {
		ftraceClock(text, sec, uint32(nsec)/1000, 6)
	}
}

// form appends a text that is to be filled in, and returns it, or nil if there is no room.
func (b *ftraceText) form(s string) []byte {
	at := b.n
	b.str(s)
	if b.n-at < len(s) {
		return nil
	}
	return b.data[at:b.n]
}

// ftraceClock writes the time of day, and a fraction with so many digits, into a form.
func ftraceClock(text []byte, sec int64, fraction uint32, digits int) {
	second := uint32(sec % 86400)
	ftraceDigits(text[:2], second/3600)
	ftraceDigits(text[3:5], second/60%60)
	ftraceDigits(text[6:8], second%60)
	ftraceDigits(text[9:9+digits], fraction)
}

// ftraceDigits writes v with as many digits as p has room for.
func ftraceDigits(p []byte, v uint32) {
	for i := len(p) - 1; i >= 0; i-- {
		p[i] = byte('0' + v%10)
		v /= 10
	}
}

// jsonQuote makes a string of what the buffer has from at on.
func (b *ftraceText) jsonQuote(at int) {
	if s := b.from(at); ftraceJSONPlain(s) == len(s) {
		b.byte('"') // for the room
		copy(b.data[at+1:b.n], s)
		b.data[at] = '"'
		b.byte('"')
		return
	}
	text := ftraceNewText()
	text.str(b.from(at))
	b.n = at
	b.jsonString(text.string())
	ftraceFreeText(text)
}

// from returns what the buffer has from at on.
func (b *ftraceText) from(at int) string {
	p := b.data[at:b.n]
	return unsafe.String(unsafe.SliceData(p), len(p))
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
		b.jsonValues(f.names(false), args, false, clause)
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
			b.jsonValues(frame.fn.ptr().names(true), results, frame.Flags&ftrace_format_FrameAtReturns == 0, frame.clause.ptr())
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

// jsonValues appends parameters or results as an object. A value without a name is named by its
// position.
func (b *ftraceText) jsonValues(names ftraceNames, values []any, pointers bool, clause *ftrace_rule_Clause) {
	limit := b.n + min(ftraceFormat.line, ftraceJSONLine)
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
	b.byte('}')
	if i < len(values) {
		b.str(`,"cut":true`)
	}
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

// jsonValue appends the value of type t at v: numbers, booleans and strings as themselves, others
// as text.
func (b *ftraceText) jsonValue(t *_type, v unsafe.Pointer, limit int, clause *ftrace_rule_Clause) {
	at := b.n
	p := b.printer(clause)
	p.limit = limit
	switch k := t.Kind(); {
	case !ftraceReadable(v, t.Size_):
		b.byte('?')
		b.jsonQuote(at)
		return
	case k <= abi.Float64:
		p.limit = len(b.data)
	case k == abi.String && !ftraceHidesAll(t, clause.Own):
		s := *(*string)(v)
		if ftraceReadable(unsafe.Pointer(unsafe.StringData(s)), uintptr(min(len(s), ftraceFormat.str))) {
			b.jsonCut(s, len(s))
			return
		}
	}
	p.value(t, v, ftraceFormat.nest, true)
	b.jsonShown(t, at)
}

// jsonShown makes JSON of the value that the buffer has from at on, as a line of text shows it. Its
// type is t, nil if that is not known statically. Numbers and booleans are left, but not a
// duration, an infinity, or what did not fit into a record.
func (b *ftraceText) jsonShown(t *_type, at int) {
	if t != nil && b.n > at {
		switch last := b.data[b.n-1]; {
		case t.Kind() == abi.Bool && last == 'e':
			return
		case t.Kind() <= abi.Float64 && t.Kind() != abi.Uintptr && last >= '0' && last <= '9':
			return
		}
	}
	b.jsonQuote(at)
}

// jsonCut appends s, the beginning of a string of n bytes, cut at the limit for strings.
func (b *ftraceText) jsonCut(s string, n int) {
	shown := min(len(s), ftraceFormat.str)
	if shown == n {
		b.jsonString(s)
		return
	}
	shown = ftrace_escape_Cut(s, shown)
	b.jsonString(s[:shown])
	b.n-- // the quote
	b.str("...(")
	b.int(int64(n - shown))
	b.str(` more)"`)
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
