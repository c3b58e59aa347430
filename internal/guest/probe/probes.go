//go:build ftrace_core

// Static probes: places in the program's text, or in Go's own packages, that say that something
// happened, with arguments.
//
// Probes come in providers. A provider is in the registry as packages are, and its probes are in
// its table as functions are. Each has a hook, which is checked where the probe fires, but no body.
// What rules, recordings and readers do with functions they do with probes. But rules that name
// functions do not match probes (rule.Func.Probe).

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceProvider has a provider's probes that were declared together.
type ftraceProvider struct {
	ftracePkg
	file [1]string
	// What it costs to fire its probes may depend on the parts of their arguments that are wanted.
	// The parts are given as text, separated by spaces, from the lowest bit on. Each part is the
	// names of what belongs to it, separated by commas.
	parts  string
	wanted *uint64 // by probe: the parts that the rules want
	whole  bool    // the parts are the arguments: those that are not wanted are left out here
}

// ftrace_declare adds n probes to the registry, with their hooks. text has a line for each, as the
// text of a package's functions has. Without wanted the parts are the arguments.
//
//go:linkname ftrace_declare
func ftrace_declare(provider, file, text string, hooks *any, n uintptr, parts string, wanted *uint64) {
	p := new(ftraceProvider)
	p.Version, p.Path, p.Symbol, p.Funcs, p.Nfuncs = ftrace_format_TableVersion, "probe/"+provider, provider, text, n
	p.file[0] = file
	p.Files = p.file[:]
	p.Hooks = unsafe.Pointer(hooks)
	p.Table = ftraceAlloc(n * ftraceTableEntry)
	p.parts, p.wanted, p.whole = parts, wanted, wanted == nil
	if p.whole {
		p.wanted = (*uint64)(ftraceAlloc(n * 8))
	}
	for i := range n {
		p.fn(i).flags = ftraceIsProbe
	}
	ftrace_register(&p.ftracePkg)
}

// ftrace_fire is called where an armed probe fires, with its hook and its arguments.
//
//go:linkname ftrace_fire
func ftrace_fire(hook *any, args ...any) {
	ftraceFire(ftraceHooked(hook), getg().stack.hi-sys.GetCallerSP(), args)
}

// ftraceFire notes and shows that f fires. The caller's stack frame is at offset below the stack's
// top.
func ftraceFire(f *ftraceFunc, offset uintptr, args []any) {
	gp := getg()
	if !ftraceMayTrace(gp) {
		return
	}
	t := gp.ftrace
	if t != nil && t.busy != 0 {
		return
	}
	count := atomic.Xadduintptr(&f.count, 1)
	laid := f.loadLaid()
	if laid == nil || count > laid.until {
		return
	}
	if t == nil {
		if t = ftraceStateOf(gp); t == nil {
			atomic.Xadd(&ftraceLost, 1)
			return
		}
	}
	if t.goroutine == 0 {
		t.goroutine, t.start = gp.goid, uint64(gp.startpc)
	}
	if t.depth > 0 && !t.settled(gp, offset) {
		t.sweep(gp, offset)
	}
	if t.config != laid.config.number {
		t.remark(laid.config)
	}
	if clause := laid.shows(f, t.mask, t.shown, count); clause != nil {
		ftraceFireFor(gp, t, -1, laid, clause, f, count, args)
	}
	for o := laid.others; o != nil; o = o.next {
		if clause := o.laid.shows(f, t.mask, t.seen[o.session], count); clause != nil {
			ftraceFireFor(gp, t, o.session, laid, clause, f, count, args)
		}
	}
}

// ftraceFireFor records and prints that f fires, with what an observer wants of its arguments: a
// session, or, for -1, the program's own rules.
func ftraceFireFor(gp *g, t *ftraceG, session int, laid *ftraceLaid, clause *ftrace_rule_Clause, f *ftraceFunc, count uintptr, args []any) {
	if clause.Detail < ftrace_rule_Args {
		args = nil
	}
	p := (*ftraceProvider)(unsafe.Pointer(f.pkg))
	if !p.whole || clause.Fields == "" {
		ftraceFireArgs(gp, t, session, f, clause, count, args)
		return
	}
	wanted := atomic.Load64(p.wantedOf(f))
	if laid.others != nil {
		wanted = p.wants(clause) // others want other parts
	}
	ftraceFireSelected(gp, t, session, f, clause, count, args, wanted)
}

// ftraceFireSelected is ftraceFireArgs with those of the first 64 arguments that are wanted. The
// caller's slice stays as it is.
func ftraceFireSelected(gp *g, t *ftraceG, session int, f *ftraceFunc, clause *ftrace_rule_Clause, count uintptr, args []any, wanted uint64) {
	var some [64]any
	n := min(len(args), len(some))
	for i := range n {
		if wanted>>i&1 != 0 {
			some[i] = args[i]
		}
	}
	ftraceFireArgs(gp, t, session, f, clause, count, unsafe.Slice((*any)(noescape(unsafe.Pointer(&some))), n))
}

// ftraceFireArgs records and prints that f fires.
func ftraceFireArgs(gp *g, t *ftraceG, session int, f *ftraceFunc, clause *ftrace_rule_Clause, count uintptr, args []any) {
	if f.flags&ftraceHasSecrets != 0 {
		ftraceFireHiding(gp, t, session, f, clause, count, args)
		return
	}
	ftraceShowProbe(gp, t, session, f, clause, count, args)
}

// ftraceShowProbe is ftraceFireArgs with values that may be seen.
func ftraceShowProbe(gp *g, t *ftraceG, session int, f *ftraceFunc, clause *ftrace_rule_Clause, count uintptr, args []any) {
	t.busy++
	if session < 0 {
		ftraceKeepProbe(gp, t, f, clause, count, args)
	}
	if session >= 0 || ftraceRecording.on {
		ftraceRecordProbe(gp, t, session, f, clause, count, args)
	}
	if session < 0 && ftraceOut.on {
		ftracePrintProbe(gp, t, f, clause, count, args)
	}
	t.busy--
}

// ftraceRecordProbe records that f fires.
func ftraceRecordProbe(gp *g, t *ftraceG, session int, f *ftraceFunc, clause *ftrace_rule_Clause, count uintptr, args []any) {
	var layout *ftraceLayout
	if len(args) > 0 {
		layout = f.entryLayouts.find(args, ftraceLayoutFlags(clause), nil, len(args))
	}
	mp := acquirem()
	if w, depth := ftraceRecorderFor(gp, mp, t, session); w != nil {
		r := w.begin(gp, ftrace_format_KindProbe, f, depth)
		p := add(unsafe.Pointer(r), ftraceRecordSize)
		*(*uint64)(p) = uint64(count)
		size := ftraceRecordSize + 8
		if layout != nil {
			size += layout.capture(add(p, 8), r, args)
		} else {
			*(*[2]uint32)(add(p, 8)) = [2]uint32{}
			size += 8
		}
		w.end(r, size)
	}
	releasem(mp)
}

// ftracePrintProbe prints that f fires.
func ftracePrintProbe(gp *g, t *ftraceG, f *ftraceFunc, clause *ftrace_rule_Clause, count uintptr, args []any) {
	t.release(t.depth)
	b := ftraceNewText()
	suppressed := atomic.Xchg(&f.suppressed, 0)
	if ftraceFormat.json {
		b.jsonPrefix(gp, t.shown, ftraceLevel)
		b.str(`,"event":"probe","probe":`)
		b.jsonName(f)
		b.number(`,"call":`, uint64(count))
		if len(args) > 0 {
			b.str(`,"args":`)
			b.jsonValues(f, false, args, false, clause)
		}
		if suppressed != 0 {
			b.number(`,"suppressed":`, uint64(suppressed))
		}
		b.str("}\n")
	} else {
		b.open(gp, t.shown, "- ", f)
		p := b.printer(clause)
		p.list(f.names(false), args, false)
		b.byte(')')
		if suppressed != 0 {
			b.number(" // (", uint64(suppressed))
			b.str(" not shown: ")
			b.str(f.hiddenBy())
			b.byte(')')
		}
		b.byte('\n')
	}
	t.emit(b)
	if t.shown == 0 {
		t.ungroup()
	}
	ftraceFreeText(b)
}

// ftraceNetMoved is package net's function, for package os: see std/net/probes.go.
//
//go:linkname ftraceNetMoved
var ftraceNetMoved func(pfd unsafe.Pointer, n int64, sent bool)

// tell stores which parts of its arguments are wanted, for the code that fires f.
func (l *ftraceLaid) tell(f *ftraceFunc) {
	if f.flags&ftraceIsProbe == 0 || l.clause == nil && l.others == nil {
		return
	}
	p := (*ftraceProvider)(unsafe.Pointer(f.pkg))
	wanted := p.wants(l.clause)
	for o := l.others; o != nil; o = o.next {
		wanted |= p.wants(o.laid.clause)
	}
	atomic.Store64(p.wantedOf(f), wanted)
}

// wants returns which parts of the arguments of its probes a clause wants.
func (p *ftraceProvider) wants(clause *ftrace_rule_Clause) uint64 {
	switch {
	case clause == nil, clause.Detail < ftrace_rule_Args:
		return 0
	case clause.Fields != "":
		return ftrace_rule_Parts(clause.Fields, p.parts)
	}
	return ^uint64(0)
}

// wantedOf returns where it is stored what is wanted of the arguments of f.
func (p *ftraceProvider) wantedOf(f *ftraceFunc) *uint64 {
	return (*uint64)(add(unsafe.Pointer(p.wanted), uintptr(f.key-p.before-1)*8))
}

// unknownField returns a name in fields= of clause i that none of its probes knows, or "" if there
// is none.
func (c *ftraceConfig) unknownField(i int) string {
	for rest := c.clauses[i].Fields; rest != ""; {
		name, next := rest, ""
		if at := bytealg.IndexByteString(rest, '+'); at >= 0 {
			name, next = rest[:at], rest[at+1:]
		}
		rest = next
		known := false
		for p := ftraceRegistry.first; p != nil && !known; p = p.next() {
			if !p.probes() {
				continue
			}
			for j := range p.Nfuncs {
				if l := p.fn(j).loadLaid(); l.config == c && l.number == uint32(i)+1 {
					known = known || ftrace_rule_Parts(name, (*ftraceProvider)(unsafe.Pointer(p)).parts) != 0
				}
			}
		}
		if !known {
			return name
		}
	}
	return ""
}

// ftraceProbes returns how many probes there are.
func ftraceProbes() (n uintptr) {
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if p.probes() {
			n += p.Nfuncs
		}
	}
	return n
}

// ftraceFireHiding is ftraceFireArgs without the secrets of f.
//
//go:noinline
func ftraceFireHiding(gp *g, t *ftraceG, session int, f *ftraceFunc, clause *ftrace_rule_Clause, count uintptr, args []any) {
	var room [ftraceValuesMax]any
	ftraceShowProbe(gp, t, session, f, clause, count, f.hide((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room))), args, clause.Own, false, false))
}
