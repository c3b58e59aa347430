//go:build ftrace_core

// Spans: statements that the program sends to servers, and stages, which are HTTP requests that it
// serves and makes.
//
// A span is a call of its kind: it has a frame among those of the functions around it, so what is
// called and awaited within it is nested in it, and recordings, summaries and lines have it as they
// have calls. The code that begins and ends it is added to the packages that know of it (see
// link/spans.go). A kind is in the registry as a package of one function. Kinds are named after
// what happens (statement/sql/select), so most are declared when they are first seen.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceSpan is a kind of spans.
type ftraceSpan struct {
	ftracePkg
	hook   [1]any
	file   [1]string
	name   string // sql/select
	family string // statement/sql
	own    string // select
	params string
	next   *ftraceSpan // of the same hash
}

// ftraceSpans is not 0 while someone may want spans. The code that begins them reads it.
//
//go:linkname ftraceSpans
var ftraceSpans uint32

// ftraceSpanKinds are all kinds, by a hash of their names.
var ftraceSpanKinds = struct {
	lock  uint32 // semaphore; taken before that of the registry
	n     int
	table [256]unsafe.Pointer // *ftraceSpan; atomic
}{lock: 1}

// ftraceSpanOther is the kind of a family for what has no name of its own. It is declared first.
const ftraceSpanOther = "other"

// ftrace_span_declare declares a kind of a family such as statement/sql. params are the names and
// types as in the text of a package's functions.
//
//go:linkname ftrace_span_declare
func ftrace_span_declare(family, own, params string) { ftraceSpanOf(family, own, params) }

// ftraceSpanOf returns a kind of a family. If it is new, it gets the names of parameters and the
// switches of the kind other.
func ftraceSpanOf(family, own, params string) *ftraceSpan {
	const room = 200
	own = own[:min(len(own), room)]
	slot := &ftraceSpanKinds.table[ftraceSpanHash(family, own)%uint32(len(ftraceSpanKinds.table))]
	if s := ftraceFindSpan(slot, family, own); s != nil {
		return s
	}
	var other *ftraceSpan
	if own != ftraceSpanOther {
		other = ftraceSpanOf(family, ftraceSpanOther, params)
	}
	semacquire(&ftraceSpanKinds.lock)
	s := ftraceFindSpan(slot, family, own)
	if s == nil && other != nil && ftraceSpanKinds.n >= ftrace_format_SpanKindsMax {
		s = other
	}
	if s == nil {
		s = new(ftraceSpan)
		class := 0
		for family[class] != '/' {
			class++
		}
		s.family, s.name, s.params = family, family[class+1:]+"/"+own, params
		s.own = s.name[len(s.name)-len(own):]
		if other != nil {
			s.params = other.params
		}
		s.Version, s.Path, s.Symbol, s.Nfuncs = ftrace_format_TableVersion, family[:class], family[:class], 1
		s.Files = s.file[:]
		s.Hooks = unsafe.Pointer(&s.hook)
		s.Table = ftraceAlloc(ftraceTableEntry)
		s.fn(0).flags = ftraceIsSpan
		ftrace_register(&s.ftracePkg)
		semacquire(&ftraceRegistry.lock)
		if other != nil && ftraceLoadConfig() != nil {
			s.fn(0).flags |= other.fn(0).flags & (ftraceSwitchedOn | ftraceSwitchedOff | ftraceAskedUntimed)
			s.fn(0).layAgain()
		}
		// Whoever finds the kind begins a span by its hook, so it is found only now.
		s.next = (*ftraceSpan)(atomic.Loadp(unsafe.Pointer(slot)))
		atomicstorep(unsafe.Pointer(slot), unsafe.Pointer(s))
		ftraceSpanKinds.n++
		ftraceCountSpans()
		ftraceUnlockRegistry()
	}
	semrelease(&ftraceSpanKinds.lock)
	return s
}

func ftraceSpanHash(family, own string) uint32 {
	h := uint32(2166136261)
	for i := range len(family) {
		h = (h ^ uint32(family[i])) * 16777619
	}
	for i := range len(own) {
		h = (h ^ uint32(own[i])) * 16777619
	}
	return h
}

func ftraceFindSpan(slot *unsafe.Pointer, family, own string) *ftraceSpan {
	s := (*ftraceSpan)(atomic.Loadp(unsafe.Pointer(slot)))
	for s != nil && (s.own != own || s.family != family) {
		s = s.next
	}
	return s
}

// read fills in the table, as that of a package does. A name may have blanks in it, which a text of
// functions can't.
func (s *ftraceSpan) read() {
	f := s.fn(0)
	f.hook = (*eface)(unsafe.Pointer(&s.hook))
	f.name, f.params, f.pkg, f.key = s.name, s.params, &s.ftracePkg, s.before+1
	if f.lastResult() == "error" {
		f.flags |= ftraceMayFail
	}
}

// ftraceCountSpans notes whether someone may want spans: a kind is armed, or a rule may name one
// that was not seen yet. The registry is locked.
func ftraceCountSpans() {
	on := uint32(0)
	for i := range ftraceSpanKinds.table {
		for s := (*ftraceSpan)(atomic.Loadp(unsafe.Pointer(&ftraceSpanKinds.table[i]))); s != nil; s = s.next {
			if efaceOf(&s.hook[0])._type != nil {
				on = 1
			}
		}
	}
	if c := ftraceLoadConfig(); c != nil {
		for i := range uint32(ftrace_format_SessionsMax + 1) {
			if r := c.of(i); r != nil && r.wantsSpans() {
				on = 1
			}
		}
	}
	atomic.Store(&ftraceSpans, on)
}

func (r *ftraceRules) wantsSpans() bool {
	for i := range r.clauses {
		if c := &r.clauses[i]; c.Detail != ftrace_rule_Off && c.Spans() {
			return true
		}
	}
	return false
}

// ftrace_span_begin is called by a helper of the function in which a span begins, and ends. text is
// what it is about, and is the first of args. The result is for ftrace_span_end: token 0 if
// nobody wants the span.
//
//go:linkname ftrace_span_begin
func ftrace_span_begin(family, own, text string, args ...any) (token int, number uint64) {
	f := ftraceSpanOf(family, own, "").fn(0)
	if f.hook == nil || f.hook._type == nil {
		return 0, 0
	}
	token = ftraceEntryFast(f, ftraceHelped(sys.GetCallerSP()), unsafe.SliceData(args), len(args), nil)
	if token <= 0 {
		return 0, 0
	}
	gp := getg()
	t := gp.ftrace
	t.busy++
	frame := t.frame(int32(token) - 1)
	frame.Flags &^= ftrace_format_FrameAtReturns
	if len(text) > ftraceCaptureString {
		ftraceRecordNote(gp, t, frame, text)
	}
	if frame.Place.Ticks != 0 && ftraceConsumers()&(ftrace_format_ConsumerCurrent|ftrace_format_ConsumerHistory|ftrace_format_ConsumerHistoryLong) != 0 {
		number = t.keepSpan(frame, text, args[1:])
	}
	t.busy--
	return token, number
}

// keepSpan keeps the span of frame, the topmost, among the last ones. It returns its number, 0 if
// there is no memory for it. trace are strings: where a request is in its trace, if it is in one.
func (t *ftraceG) keepSpan(frame *ftraceFrame, text string, trace []any) (number uint64) {
	h := ftraceArmed()
	if h == nil || ftraceMemory.spans == nil {
		return 0
	}
	number = uint64(atomic.Xadd64(&h.Spans.Used, 1))
	s := ftraceSpanAt(number)
	sys.Prefetch(uintptr(unsafe.Pointer(ftraceSpanAt(number + 1)))) // no cache has it
	ftraceStore64(&s.Number, 0)
	s.Key, s.Flags, s.Goroutine, s.Start, s.End = frame.Key, frame.fn.ptr().spanClass(), t.goroutine, frame.Place.Ticks, 0
	if frame.Flags&ftrace_format_FrameNotTimed != 0 {
		s.Start = 0
	}
	s.Event, s.Nesting, s.Last, s.Depth, s.Status, s.Message = frame.Event, 0, 0, uint32(frame.shown), 0, 0
	if around := t.around(); around != nil {
		s.Nesting = around.Event
	}
	s.Text, s.Trace = uint16(copy(s.Bytes[:ftrace_format_SpanText], text)), 0
	for i := range trace {
		s.Trace += uint16(copy(s.Bytes[s.Text+s.Trace:], *(*string)(efaceOf(&trace[i]).data)))
	}
	ftraceStore64(&s.Number, number)
	return number
}

// spanClass returns the flag that tells stages from statements.
func (f *ftraceFunc) spanClass() uint32 {
	if f.pkg.Symbol == "stage" {
		return ftrace_format_SpanStage
	}
	return 0
}

// ftraceForgetSpans forgets what Clear... says: spans that have ended, and summaries of kinds. The
// world is stopped.
func ftraceForgetSpans(h *ftraceHead, which uint32) {
	for class, bits := range [...][2]uint32{{ftrace_format_ClearStatements, ftrace_format_ClearStatementSums}, {ftrace_format_ClearStages, ftrace_format_ClearStageSums}} {
		flag := uint32(class) * ftrace_format_SpanStage
		for n := uint64(1); which&bits[0] != 0 && ftraceMemory.spans != nil && n <= min(h.Spans.Used, h.Spans.Max); n++ {
			if s := ftraceSpanAt(n); s.Flags&ftrace_format_SpanStage == flag && s.End != 0 {
				s.Number = 0
			}
		}
		for i := range ftraceSpanKinds.table {
			for s := (*ftraceSpan)(atomic.Loadp(unsafe.Pointer(&ftraceSpanKinds.table[i]))); s != nil && which&bits[1] != 0; s = s.next {
				if f := s.fn(0); f.pkg != nil && f.spanClass() == flag {
					f.forgetSums()
				}
			}
		}
	}
}

// forgetSums forgets the summary of f, of all processors. The world is stopped.
func (f *ftraceFunc) forgetSums() {
	for _, w := range ftraceRecording.writers {
		if w == nil || w.summaries == nil || f.key >= w.summariesMax {
			continue
		}
		for half := range uintptr(2) {
			memclrNoHeapPointers(add(w.summaries, half*w.halfSize+uintptr(f.key)*unsafe.Sizeof(ftraceSummary{})), unsafe.Sizeof(ftraceSummary{}))
		}
	}
}

// ftraceSpanAt returns where the nth span is kept.
func ftraceSpanAt(number uint64) *ftrace_format_Span {
	return (*ftrace_format_Span)(add(ftraceMemory.spans, uintptr((number-1)%ftrace_format_SpansMax)*unsafe.Sizeof(ftrace_format_Span{})))
}

// ftrace_span_end is called by a deferred call of the function in which a span began. status is
// what the other side answered with, 0 if there is none. results are pointers to
// the span's results.
//
//go:linkname ftrace_span_end
func ftrace_span_end(token int, number uint64, status int, err error, results ...any) {
	gp := getg()
	t := gp.ftrace
	if token <= 0 || t == nil || token > int(t.depth) {
		return
	}
	frame := t.frame(int32(token) - 1)
	outcome, message := uint32(0), ""
	switch p := ftracePanic(gp, frame.sp); {
	case p != nil && p.goexit:
		outcome = ftrace_format_CallGoexit
	case p != nil:
		outcome = ftrace_format_CallPanicked
	case err != nil:
		outcome = ftrace_format_CallFailed
		if number != 0 {
			t.busy++
			message, _ = ftraceCallError(err)
			t.busy--
		}
	}
	last := t.events
	t.endCalls(gp, int32(token), results)
	if number == 0 {
		return
	}
	s := ftraceSpanAt(number)
	if atomic.Load64(&s.Number) != number {
		return // there were many others since
	}
	s.Flags, s.Last, s.Status = s.Flags|outcome, last, int32(status)
	s.Message = uint32(copy(s.Bytes[s.Text+s.Trace:], message))
	ftraceStore64(&s.End, max(t.last, 1))
}
