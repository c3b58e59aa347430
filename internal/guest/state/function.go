//go:build ftrace_core

// Functions and packages: the tables that instrumented packages register.

package runtime

import (
	"internal/bytealg"
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/stringslite"
	"unsafe"
)

// ftraceFunc is one entry of a package's table of functions. The rewriter leaves room for the
// table.
type ftraceFunc struct {
	mocks unsafe.Pointer // *ftraceMocks: its replacements, or nil; atomic
	hook  *eface         // what the function checks at its entry: nil, or this entry if the core is to be called

	// What the fast path reads.
	count        uintptr        // calls while armed; atomic
	limit        uintptr        // the count from which on the budget is asked; atomic
	fast         unsafe.Pointer // *ftrace_rule_Clause by which its calls take the fast path, or nil, see call/fast.go; atomic
	key          uint32         // its number, from 1 on
	flags        uint32
	entryLayouts ftraceKnownLayouts // see record/capture.go
	exitLayouts  ftraceKnownLayouts

	line   uint32
	file   uint32 // index into the package's files
	name   string // without the package: "F", "(*T).M", "F.func1"
	params string // names of parameters and results, see rewrite.signature.names, and the type

	pkg        *ftracePkg
	laid       unsafe.Pointer // *ftraceLaid: what the rules say of it, nil if they say nothing; atomic
	rated      int64          // start of the rate limit's current window, in ns; atomic
	inWindow   uint32         // calls printed in it; atomic
	suppressed uint32         // calls not printed since the last one that was; atomic
	window     uint32         // the budget's window in which limit was set; atomic
	back       uint32         // the window from which on the budget notes its calls again; 0: it notes them; atomic
	counted    uint32         // calls since wasOff that were only counted; with ftraceUncounted others were not; atomic
	switched   uint32         // which of ftraceBudget.switches turned its hook on or off last; atomic
	wasOff     uint64         // ticks since which the budget left calls out, until its next call that is noted; atomic
	leftOut    uint32         // 0: the budget left no calls out; otherwise bits, see ftraceUncounted; atomic
	keeping    uint32         // calls that were left out and noted at their end since calls were last noted again; atomic
	failed     uint32         // calls since wasOff that failed and were only counted; atomic
	since      uint32         // the window of the budget from which on it last noted its calls; atomic
	sinceCount uint32         // count at the first of these calls; atomic
	said       uint8          // 1: it was reported that its calls are no longer printed; atomic
	looks      uint8          // bits of the sessions that look at it, see ftraceLook; under the registry's lock
	granted    uint16         // calls that it was granted in that window of the budget, or the most that fit
}

// The flags of a function. The lowest bits are flags of its calls' frames, if the calls take the
// fast path: ftrace_format_FrameAtReturns, and ftrace_format_FrameNotTimed if its calls are not
// timed.
const (
	ftraceMayFail    = (ftrace_format_FrameFlags + 1) << iota // its last result is an error
	ftraceReceives                                            // its first parameter is a receiver that is a pointer
	ftraceSwitchedOn                                          // whatever the rules say
	ftraceSwitchedOff
	ftraceAskedUntimed  // by the rules, or switched
	ftraceMaskedOff     // setup_objects keeps it off, see arm/setup.go
	ftraceMaskedUntimed // setup_objects keeps it untimed
	ftraceIsProbe       // it is a probe, not a function: see probe/probes.go
	ftraceIsWait        // it is a kind of waits: see wait/instruments.go
	ftraceIsSpan        // it is a kind of spans: see span/span.go
	ftraceHasSecrets    // some of its names may be secret: see value/redact.go
	ftraceTellsInstance // its hook tells the instantiation: see ftraceFunc.instance
	ftraceLookedAt      // of what is laid on it: sessions look at it, and nobody else wants it
)

// Bits of what ftraceFunc says of calls that the budget left out.
const (
	ftraceUncounted    = 1 << 31 // in counted: there are calls that were not counted; in leftOut: there were
	ftraceSummed       = 1 << 30 // in leftOut: they count in the function's summary
	ftraceWasSlow      = 1 << 29 // in leftOut: a call that was left out was slow
	ftraceSaid         = 1 << 1  // in leftOut: shifted by an observer, its recording says that they are left out
	ftraceKeepingEnded = 1 << 31 // in keeping: no more calls are noted at their end
	ftraceSlower       = 1 << 24 // in leftOut, five bits: how often what counts as a slow call was doubled
	ftraceSlowerMax    = 31
)

const ftraceTableEntry = goarch.PtrSize + ftrace_format_EntryWords*8

var _ [ftraceTableEntry - unsafe.Sizeof(ftraceFunc{})]byte // an ftraceFunc fits into its entry

// ftracePkg is one instrumented package. The rewriter writes what it begins with, and leaves room
// for the rest. The entries of its table are all zero until read is called.
type ftracePkg struct {
	ftrace_format_Package
	before  uint32 // functions registered before its own
	defined bool   // its functions are in the recording's tables
	from    uint32 // 1 + where the end of the path begins by which it is shown; 0: by its clause; atomic
}

var _ [unsafe.Sizeof(ftrace_format_Package{}) + ftrace_format_PackageWords*8 - unsafe.Sizeof(ftracePkg{})]byte // it fits

// next returns the package that was registered after p, or nil.
func (p *ftracePkg) next() *ftracePkg {
	return (*ftracePkg)(p.Next)
}

func (p *ftracePkg) fn(i uintptr) *ftraceFunc {
	return (*ftraceFunc)(add(p.Table, i*ftraceTableEntry))
}

// read fills in the table, once, from the text of the functions.
func (p *ftracePkg) read() {
	if p.fn(0).pkg != nil {
		return
	}
	if p.spans() {
		(*ftraceSpan)(unsafe.Pointer(p)).read()
		return
	}
	p.distinguish()
	text := p.Funcs
	word := func(end byte) string {
		i := bytealg.IndexByteString(text, end)
		word := text[:i]
		text = text[i+1:]
		return word
	}
	number := func() (n uint32) {
		for _, c := range word(' ') {
			n = n*10 + uint32(c-'0')
		}
		return n
	}
	for i := range p.Nfuncs {
		f := p.fn(i)
		f.hook = (*eface)(add(p.Hooks, i*unsafe.Sizeof(eface{})))
		f.line, f.file, f.name, f.params = number(), number(), word(' '), word('\n')
		f.pkg = p
		f.key = p.before + uint32(i) + 1
		f.flags |= ftrace_format_FrameAtReturns
		if f.lastResult() == "error" {
			f.flags |= ftraceMayFail
		}
		if typ, method := f.object(); typ != "" && f.name[0] == '(' && bytealg.IndexByteString(method, '.') < 0 {
			f.flags |= ftraceReceives
		}
		if text := f.typeText(); text != "" && text[0] == '+' {
			f.flags |= ftraceTellsInstance
		}
	}
}

// distinguish has p, and those registered before it whose clauses have the same name, shown by as
// much of their paths as tells them apart.
func (p *ftracePkg) distinguish() {
	for other := ftraceRegistry.first; other != nil && other != p; other = other.next() {
		if other.Clause == p.Clause && p.Clause != "" && p.Symbol != "main" && other.Symbol != "main" {
			p.lengthen(other)
			other.lengthen(p)
		}
	}
}

// lengthen has p shown by an end of its path that other's does not have.
func (p *ftracePkg) lengthen(other *ftracePkg) {
	a, b := p.Path, other.Path
	from := len(a)
	for from > 0 {
		from = bytealg.LastIndexByteString(a[:from], '/')
		if !ftraceEndsInElements(b, a[from+1:]) {
			break
		}
	}
	if from = max(from, -1) + 2; p.from == 0 || uint32(from) < p.from {
		atomic.Store(&p.from, uint32(from))
	}
}

// ftraceEndsInElements reports whether a path ends in these elements.
func ftraceEndsInElements(path, elements string) bool {
	n := len(path) - len(elements)
	return n >= 0 && path[n:] == elements && (n == 0 || path[n-1] == '/')
}

// label returns the package's name as lines show it.
func (p *ftracePkg) label() string {
	switch from := atomic.Load(&p.from); {
	case from != 0:
		return p.Path[from-1:]
	case p.Clause != "" && p.Symbol != "main":
		return p.Clause
	}
	return p.Symbol[bytealg.LastIndexByteString(p.Symbol, '/')+1:]
}

// ftraceLabelOf returns the name by which lines show a package, given what precedes the names of
// its functions in symbols.
func ftraceLabelOf(symbol string) string {
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if p.Symbol == symbol {
			return p.label()
		}
	}
	// As funcname.Short has it.
	at := bytealg.LastIndexByteString(symbol, '/') + 1
	last := symbol[at:]
	if before, after, escaped := stringslite.Cut(last, "%2e"); escaped && before != "" && ftraceIsVersion(after) {
		return before
	}
	if at > 1 && last != "v1" && ftraceIsVersion(last) {
		return symbol[bytealg.LastIndexByteString(symbol[:at-1], '/')+1 : at-1]
	}
	return last
}

// ftraceIsVersion reports whether s is the major version of a module, v1 or higher.
func ftraceIsVersion(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return len(s) > 1 && s[0] == 'v' && s[1] != '0'
}

// object cuts the function's name into the type of which it is a method, and the rest: T and M of
// (*T).M.
func (f *ftraceFunc) object() (typ, name string) {
	depth := 0
	for i := range len(f.name) {
		switch f.name[i] {
		case '[':
			depth++
		case ']':
			depth--
		case '.':
			switch rest := f.name[i+1:]; {
			case depth != 0:
			case i > 3 && f.name[:2] == "(*":
				return f.name[2 : i-1], rest
			case ftraceCompilers(rest):
				return "", f.name
			default:
				return f.name[:i], rest
			}
		}
	}
	return "", f.name
}

// lastResult returns the type of the last result, as far as the source shows it.
func (f *ftraceFunc) lastResult() string {
	results := f.resultsText()
	from := len(results)
	for from > 0 && results[from-1] != ',' {
		from--
	}
	return results[from:]
}

// resultsText returns the results in the text of the function's type, "" if it has none or can't be
// replaced.
func (f *ftraceFunc) resultsText() string {
	text := f.typeText()
	nested := 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			nested++
		case ')':
			if nested--; nested == 0 {
				if text = text[i+1:]; text == "" {
					return ""
				}
				return text[1 : len(text)-1]
			}
		}
	}
	return ""
}

// probes reports whether these are probes and not functions.
func (p *ftracePkg) probes() bool { return p.fn(0).flags&ftraceIsProbe != 0 }

// waits reports whether these are kinds of waits and not functions.
func (p *ftracePkg) waits() bool { return p.fn(0).flags&ftraceIsWait != 0 }

// spans reports whether this is a kind of spans and not functions.
func (p *ftracePkg) spans() bool { return p.fn(0).flags&ftraceIsSpan != 0 }

// functions reports whether these are functions.
func (p *ftracePkg) functions() bool {
	return p.fn(0).flags&(ftraceIsProbe|ftraceIsWait|ftraceIsSpan) == 0
}

// loadLaid returns what the rules say of f, nil if there are none.
func (f *ftraceFunc) loadLaid() *ftraceLaid {
	return (*ftraceLaid)(atomic.Loadp(unsafe.Pointer(&f.laid)))
}

// keyAndFlags returns two fields at once.
//
//go:nosplit
func (f *ftraceFunc) keyAndFlags() uint64 { return *(*uint64)(unsafe.Pointer(&f.key)) }

// replaced reports whether f has replacements, which costs next to nothing if it has none.
func (f *ftraceFunc) replaced() bool { return atomic.Loadp(unsafe.Pointer(&f.mocks)) != nil }

// ftraceHooked returns the function that a hook belongs to. It may have been disarmed since the
// function read the hook, but the second word stays.
func ftraceHooked(hook *any) *ftraceFunc { return (*ftraceFunc)(efaceOf(hook).data) }

// ftraceValues returns the n values at first, four at most, hidden from escape analysis.
func ftraceValues(first *any, n int) []any {
	return (*[4]any)(noescape(unsafe.Pointer(first)))[:n:n]
}

// ftraceFuncOf returns the function with this key.
func ftraceFuncOf(key uint32) *ftraceFunc {
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if i := key - p.before - 1; i < uint32(p.Nfuncs) {
			return p.fn(uintptr(i))
		}
	}
	return nil
}

// ftraceCompilers reports whether that is the name of a function that the compiler made within
// another: func1, gowrap1, deferwrap1.
func ftraceCompilers(name string) bool {
	for _, word := range [...]string{"func", "gowrap", "deferwrap"} {
		if n := len(word); len(name) > n && name[:n] == word && name[n] >= '0' && name[n] <= '9' {
			return true
		}
	}
	return false
}

// typeText returns the text of the function's type, as package rewrite writes it.
func (f *ftraceFunc) typeText() string {
	semicolons := 0
	for i := range len(f.params) {
		if f.params[i] != ';' {
			continue
		}
		if semicolons++; semicolons == 2 {
			return f.params[i+1:]
		}
	}
	return ""
}

// subject returns the function as the rules see it.
func (f *ftraceFunc) subject() ftrace_rule_Func {
	p := f.pkg
	return ftrace_rule_Func{Probe: f.flags&ftraceIsProbe != 0, Wait: f.flags&ftraceIsWait != 0, Span: f.flags&ftraceIsSpan != 0, Package: p.Symbol, ImportPath: p.Path, PackageName: p.Clause, Name: f.name, File: p.Files[f.file], Line: int(f.line), Binary: ftraceBinary}
}
