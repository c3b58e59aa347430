//go:build ftrace_core

// Faults: calls that fail, with an error that a test or FTRACE_FAIL gives, without running the
// function. A fault is a replacement (mock/mock.go) that needs no package mock: all results are
// zero but the last, the error.
//
// The text of a function's type shows an error as its last result. Where only the compiler can
// tell, the call shows it.

package runtime

import (
	"internal/abi"
	"internal/bytealg"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceFault is one function's fault. Only the counts change.
type ftraceFault struct {
	err         error
	first, last uint64 // the calls that fail, counted from 1
	certain     bool   // the last result is an error; else it may be
	several     bool   // it has other results before that
	calls       uint64 // calls that could fail; atomic
	failed      uint64 // calls that failed; atomic

	named   *ftraceNamed   // which error FTRACE_FAIL wants; nil if package mock gave err
	callers unsafe.Pointer // *[ftraceFaultCallers]uintptr: of the first call that FTRACE_FAIL let fail; atomic
}

// ftraceNewFault returns a fault for f, or nil if f returns no error.
func ftraceNewFault(f *ftraceFunc, err error, first, last uint64) *ftraceFault {
	word := f.lastResult()
	if word != "error" && word != "_" {
		return nil
	}
	x := new(ftraceFault)
	x.err, x.first, x.last = err, first, last
	x.certain = word == "error"
	x.several = len(f.resultsText()) > len(word)
	return x
}

// fails reports whether this call fails, and counts it. want is of the type of the results, as for
// ftraceDispatcher, or nil if that is not known.
func (x *ftraceFault) fails(want *_type) bool {
	switch {
	case x.named != nil && !x.named.found():
		return false
	case want == nil && x.certain:
	case want == nil:
		return false
	case x.place(want) < 0:
		return false
	}
	n := uint64(atomic.Xadd64(&x.calls, 1))
	if n < x.first || n > x.last {
		return false
	}
	atomic.Xadd64(&x.failed, 1)
	return true
}

// of returns the fault for a call of f that fails, with the error that this call returns.
func (x *ftraceFault) of(f *ftraceFunc, params []any) *ftraceFault {
	if x.named == nil {
		return x
	}
	if atomic.Loadp(unsafe.Pointer(&x.callers)) == nil {
		pcs := new([ftraceFaultCallers]uintptr)
		callers(0, pcs[:])
		atomicstorep(unsafe.Pointer(&x.callers), unsafe.Pointer(pcs))
	}
	own := new(ftraceFault)
	own.certain, own.several, own.err = x.certain, x.several, x.named.error(x.err)
	if wrap := ftraceWrapOS; wrap != nil && f.pkg.Symbol == "os" && x.named.name != "" {
		own.err = wrap(f.name, params, own.err)
	}
	if wrap := ftraceWrapNet; wrap != nil && f.pkg.Symbol == "net" && x.named.name != "" {
		own.err = wrap(f.name, params, own.err)
	}
	return own
}

// ftraceFaultCallers is how many callers are shown of a call that FTRACE_FAIL lets fail, and what
// hooks call.
const ftraceFaultCallers = 64

// place returns where the error is in results of type want, or -1 if the last of them is not an
// error.
func (x *ftraceFault) place(want *_type) int {
	last, offset := want, uintptr(0)
	if x.several {
		fields := (*structtype)(unsafe.Pointer(want)).Fields
		last, offset = fields[len(fields)-1].Typ, fields[len(fields)-1].Offset
	}
	if last.Kind() != abi.Interface || toRType(last).string() != "error" {
		return -1
	}
	return int(offset)
}

// number returns the number of results of type want.
func (x *ftraceFault) number(want *_type) int {
	if x.several {
		return len((*structtype)(unsafe.Pointer(want)).Fields)
	}
	return 1
}

// results makes the results of a call that fails.
func (x *ftraceFault) results(want *_type) unsafe.Pointer {
	p := newobject(want)
	*(*error)(add(p, uintptr(x.place(want)))) = x.err
	return p
}

// store puts the error where the function has its results. It ends before it began, so they are
// zero.
func (x *ftraceFault) store(results []any) {
	if n := len(results); n > 0 {
		*(*error)(efaceOf(&results[n-1]).data) = x.err
	}
}

// ftraceFailing is FTRACE_FAIL: which functions of the program fail.
var ftraceFailing struct {
	text        string // "" if none do
	clauses     []ftrace_rule_Clause
	named       []*ftraceNamed // by Clause.Own
	first, last uint64
	matches     uint64
	faults      []*ftraceMock
	reported    uint32 // it was reported which failed; atomic
}

// ftraceInjected is the error with which FTRACE_FAIL makes a function fail.
type ftraceInjected struct {
	name string
}

func (e *ftraceInjected) Error() string { return "ftrace-wrap: injected failure of " + e.name }

// ftraceParseFail reads FTRACE_FAIL: RULES; RULES#N for the Nth call of each function; RULES#N+ for
// that and all later ones; RULES#0 for none. A clause of the rules may end in =ERROR. It reports
// whether any function is to fail.
func ftraceParseFail(s string) bool {
	if s == "" || s == "0" || s == "off" || s == "false" {
		return false
	}
	rules, first, last := s, uint64(1), ^uint64(0)
	if i := bytealg.LastIndexByteString(s, '#'); i >= 0 {
		number, further := s[i+1:], false
		if n := len(number); n > 0 && number[n-1] == '+' {
			number, further = number[:n-1], true
		}
		n, ok := ftraceParseInt(number)
		if !ok || further && n == 0 {
			ftraceComplain("FTRACE_FAIL: " + s[i:] + " is neither #N, the call that fails, nor #N+, the first call that does; nothing fails")
			return false
		}
		rules, first = s[:i], uint64(n)
		if !further {
			last = first
		}
	}
	selecting, named := ftraceCutErrors(rules)
	clauses, err, ok := ftraceParsePattern(selecting)
	for i := 0; ok && i < len(clauses); i++ {
		clauses[i].Own = uint32(i)
		if n := named[i].name; n != "" && clauses[i].Detail == ftrace_rule_Off {
			err.Message, ok = "a clause with ! lets nothing fail, so it names no error such as "+n, false
			err.Length = len(rules)
		}
	}
	if !ok {
		ftraceComplainRules("FTRACE_FAIL", rules, "nothing fails", &err)
		return false
	}
	for _, e := range named {
		e.lookStd()
	}
	f := &ftraceFailing
	f.named = named
	f.text, f.clauses, f.first, f.last = s, clauses, first, last
	return true
}

// ftraceCutErrors takes =ERROR off each clause, and puts spaces there. It returns an error for each
// clause that is not empty.
func ftraceCutErrors(rules string) (selecting string, named []*ftraceNamed) {
	text := []byte(rules)
	for from := 0; from <= len(text); {
		to, end := from, -1 // end is where a comment begins
		for to < len(text) && text[to] != '\n' && (text[to] != ';' || end >= 0) {
			if text[to] == '#' && end < 0 {
				end = to
			}
			to++
		}
		if end < 0 {
			end = to
		}
		e, empty := new(ftraceNamed), true
		for i := from; i < end; i++ {
			empty = empty && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r')
			if text[i] == '=' {
				e.name = ftraceTrimmed(rules[i+1 : end])
				if e.name == "" {
					break // the rules complain
				}
				for ; i < end; i++ {
					text[i] = ' '
				}
			}
		}
		if !empty {
			named = append(named, e)
		}
		from = to + 1
	}
	return string(text), named
}

func ftraceTrimmed(s string) string {
	for len(s) > 0 && s[0] <= ' ' {
		s = s[1:]
	}
	for len(s) > 0 && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// ftraceParsePattern reads a pattern of functions that are to fail: rules that only select.
func ftraceParsePattern(s string) (clauses []ftrace_rule_Clause, err ftrace_rule_Error, ok bool) {
	clauses, err, ok = ftrace_rule_Parse(s)
	if !ok {
		return nil, err, false
	}
	if i := bytealg.IndexByteString(s, '='); i >= 0 {
		err.Message, err.Offset, err.Length = "functions are named without settings here", i, len(s)-i
	} else if len(clauses) == 0 {
		err.Message, err.Length = "no function is named", len(s)
	}
	return clauses, err, err.Message == ""
}

// ftraceSelects reports whether clauses without settings name f, which is a function and not a kind
// of something else.
func ftraceSelects(clauses []ftrace_rule_Clause, f *ftraceFunc) bool {
	return ftraceSelecting(clauses, f) != nil
}

// ftraceSelecting returns the clause that does so, or nil.
func ftraceSelecting(clauses []ftrace_rule_Clause, f *ftraceFunc) *ftrace_rule_Clause {
	subject := f.subject()
	i := ftrace_rule_Decide(clauses, &subject)
	if i < 0 || clauses[i].Detail == ftrace_rule_Off || !f.pkg.functions() {
		return nil
	}
	return &clauses[i]
}

// ftraceFail puts FTRACE_FAIL in force for the functions of a package. The registry is locked.
func ftraceFail(p *ftracePkg) {
	p.read()
	for _, e := range ftraceFailing.named {
		e.lookIn(p)
	}
	for i := range p.Nfuncs {
		f := p.fn(i)
		clause := ftraceSelecting(ftraceFailing.clauses, f)
		if clause == nil {
			continue
		}
		err := new(ftraceInjected)
		err.name = p.Symbol + "." + f.name
		if x := ftraceNewFault(f, err, ftraceFailing.first, ftraceFailing.last); x != nil {
			x.named = ftraceFailing.named[clause.Own]
			m := new(ftraceMock)
			m.fn, m.fault, m.everywhere = f, x, true
			f.setMocks(m, nil)
			ftraceFailing.matches++
			ftraceFailing.faults = append(ftraceFailing.faults, m)
		}
	}
}

// ftraceReportFailing says what FTRACE_FAIL matches, and which errors it names that there are not.
func ftraceReportFailing() {
	if ftraceFailing.text == "" {
		return
	}
	for _, e := range ftraceFailing.named {
		if e.lookStd(); e.found() {
			continue
		}
		hint := "known are error variables and error types of the packages with hooks, and those of Go's packages that docs/mock.md lists"
		if similar := e.similar(); similar != "" {
			hint = "did you mean " + similar + "?"
		}
		ftraceComplain("FTRACE_FAIL: this program has no error " + e.name + ", so nothing fails with it; " + hint)
	}
	if ftraceFailing.matches == 0 {
		ftraceComplain(`FTRACE_FAIL: "` + ftraceFailing.text + `" matches no function with a hook that returns an error (ftrace-wrap list lists those with hooks)`)
		return
	}
	b := ftraceNewText()
	b.str("# ftrace: FTRACE_FAIL: \"")
	b.str(ftraceFailing.text)
	b.str("\" matches ")
	b.uint(ftraceFailing.matches)
	if ftraceFailing.matches == 1 {
		b.str(" function that returns an error\n")
	} else {
		b.str(" functions that return an error\n")
	}
	b.flush()
	ftraceFreeText(b)
}

// ftraceReportFailed says which functions failed because of FTRACE_FAIL, and which could have.
func ftraceReportFailed() {
	if ftraceFailing.text == "" || !atomic.Cas(&ftraceFailing.reported, 0, 1) {
		return
	}
	for _, e := range ftraceFailing.named {
		if atomic.Load(&e.empty) != 0 {
			ftraceComplain("FTRACE_FAIL: " + e.name + " was nil, so another error was made up")
		}
	}
	b := ftraceNewText()
	for _, m := range ftraceFailing.faults {
		calls := atomic.Load64(&m.fault.calls)
		if calls == 0 {
			continue
		}
		b.str("# ftrace: ")
		b.str(m.fn.pkg.Symbol)
		b.byte('.')
		b.str(m.fn.name)
		b.str(" failed in ")
		b.uint(atomic.Load64(&m.fault.failed))
		b.str(" of ")
		b.uint(calls)
		b.str(" calls\n")
		b.flush()
		m.reportCallers(b)
	}
	ftraceFreeText(b)
}

// reportCallers prints the call stack of the first call that FTRACE_FAIL let fail, the direct
// caller first.
func (m *ftraceMock) reportCallers(b *ftraceText) {
	pcs := (*[ftraceFaultCallers]uintptr)(atomic.Loadp(unsafe.Pointer(&m.fault.callers)))
	if pcs == nil {
		return
	}
	n := 0
	for n < len(pcs) && pcs[n] != 0 {
		n++
	}
	own, before := m.fn.pkg.Symbol+"."+m.fn.name, ""
	frames := CallersFrames(pcs[:n])
	for more := true; more; {
		var frame Frame
		frame, more = frames.Next()
		name := ftracePlainName(frame.Function)
		switch {
		case before != "" && name != "runtime.goexit" && name != "runtime.main":
			b.str(before)
			b.shown(name)
			b.str(" (")
			b.shown(frame.File[bytealg.LastIndexByteString(frame.File, '/')+1:])
			b.byte(':')
			b.uint(uint64(frame.Line))
			b.byte(')')
			before = ", "
		case name == own:
			b.str("# ftrace: ")
			b.str(own)
			before = " was called by "
		}
	}
	if before == ", " {
		b.byte('\n')
		b.flush()
	} else {
		b.n = 0
	}
}

// ftracePlainName returns a function's name as tables have it: in the stack's names, dots of the
// last element of an import path are %2e.
func ftracePlainName(name string) string {
	for i := 0; i+3 <= len(name); i++ {
		if name[i:i+3] == "%2e" {
			name = name[:i] + "." + name[i+3:]
		}
	}
	return name
}

// ftrace_mock_fail makes the functions that pattern names fail with err: the calls first to last of
// each, everywhere or in the goroutine's scope. It returns the faults, and how many functions with
// hooks the pattern names; or what is wrong with the pattern.
//
//go:linkname ftrace_mock_fail
func ftrace_mock_fail(pattern string, err error, first, last uint64, everywhere bool) (faults []unsafe.Pointer, named int, message string) {
	clauses, fault, ok := ftraceParsePattern(pattern)
	if !ok {
		return nil, 0, fault.Message
	}
	semacquire(&ftraceRegistry.lock)
	if ftraceBinary == "" {
		ftraceBinary = ftraceExecutable()
	}
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		p.read()
		for i := range p.Nfuncs {
			f := p.fn(i)
			if !ftraceSelects(clauses, f) {
				continue
			}
			named++
			x := ftraceNewFault(f, err, first, last)
			if x == nil {
				continue
			}
			m := new(ftraceMock)
			m.fn, m.fault = f, x
			m.limit(everywhere)
			ftraceMockSeq++
			m.seq = ftraceMockSeq
			f.setMocks(m, nil)
			faults = append(faults, unsafe.Pointer(m))
		}
	}
	ftraceUnlockRegistry()
	return faults, named, ""
}

// ftrace_mock_failed returns the name of a fault's function, and how many of its calls failed.
//
//go:linkname ftrace_mock_failed
func ftrace_mock_failed(fault unsafe.Pointer) (name string, n uint64) {
	m := (*ftraceMock)(fault)
	return m.fn.pkg.Symbol + "." + m.fn.name, atomic.Load64(&m.fault.failed)
}
