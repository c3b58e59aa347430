//go:build ftrace_core

// Reports: what the rules match, after all packages are initialised; and statistics at the end.

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceReport is called by main when all packages are initialised. It says what each clause
// matches.
func ftraceReport() {
	ftraceReportFailing()
	if ftraceRecording.on && ftraceRecording.chunks == 0 {
		ftraceRecording.writeMetadata() // with the functions' names
	}
	c := ftraceLoadConfig()
	if c == nil {
		return
	}
	b := ftraceNewText()
	all := ftraceInstrumented()
	for i := range c.clauses {
		clause := &c.clauses[i]
		what, overridden := "function", uint64(0)
		switch {
		case clause.Probes():
			what = "probe"
		case clause.Waits():
			what = "wait"
		}
		if c.matches[i] == 0 && !clause.Spans() { // one that is named may be seen later
			overridden = ftraceOverridden(clause)
			var digits [20]byte
			switch overridden {
			case 0:
				ftraceComplain(`FTRACE: "` + clause.Text + `" matches no ` + what + ftraceAdvice(clause))
			case 1:
				ftraceComplain(`FTRACE: "` + clause.Text + `" matches 1 ` + what + `, but a later clause decides for it (the last one that matches does)`)
			default:
				ftraceComplain(`FTRACE: "` + clause.Text + `" matches ` + string(ftraceItoa(digits[:], overridden)) + " " + what + `s, but later clauses decide for them (the last one that matches does)`)
			}
		}
		if c.matches[i] != 0 && clause.Fields != "" {
			if name := c.unknownField(i); name != "" {
				ftraceComplain(`FTRACE: fields= of "` + clause.Text + `": no argument of these probes, nor a field of one, is called ` + name)
			}
		}
		for _, named := range [...]struct {
			bits uint32
			what string
			glob string
		}{{c.in[i], "in=", clause.In}, {c.after[i], "after=", clause.After}} {
			if named.bits != 0 && !c.someName(named.bits) {
				ftraceComplain("FTRACE: " + named.what + named.glob + ` of "` + clause.Text + `" matches no function, so nothing is shown by this clause`)
			}
		}
		if !ftraceOut.on || ftraceStats != 0 && gogetenv("FTRACE") == "" || c.matches[i] == 0 && ftraceOut.fd == 2 {
			continue
		}
		b.str("# ftrace: \"")
		b.shown(clause.Text)
		b.str("\" matches ")
		b.uint(uint64(c.matches[i]) + overridden)
		b.str(" of ")
		switch {
		case clause.Probes():
			b.uint(uint64(ftraceProbes()))
			b.str(" probes (")
		case clause.Waits():
			b.uint(ftraceWaitKinds)
			b.str(" kinds of waits (")
		case clause.Spans():
			b.uint(uint64(ftraceSpanKinds.n))
			b.str(" kinds of statements and stages (")
		default:
			b.uint(uint64(all))
			b.str(" functions (")
		}
		b.str(clause.Detail.String())
		b.byte(')')
		if overridden != 0 {
			b.str(", but later clauses decide")
		}
		b.byte('\n')
		b.flush()
	}
	ftraceFreeText(b)
	if ftraceShow {
		ftraceShowAll(c)
	}
}

// ftraceAdvice tells what can be done about a clause that matches nothing.
func ftraceAdvice(clause *ftrace_rule_Clause) string {
	if ftraceInstrumented() == 0 {
		return ": no function of the program has a hook: FTRACE_PACKAGES chooses packages when it is built (ftrace-wrap go install PKG@VERSION does so), and FTRACE_INLINE=keep leaves out what the compiler would inline"
	}
	name, reason, kept := ftraceSkipped(clause)
	if name != "" {
		return " with a hook: " + name + " can't have one: " + reason
	}
	advice := ftraceOtherwise(clause)
	if kept {
		advice += "; FTRACE_INLINE=keep has left out what the compiler would inline"
	}
	return advice
}

// ftraceSkipped returns a function that a clause matches and that can't have a hook, with the
// reason. If there is none, it reports whether functions have no hooks that the compiler would
// inline.
func ftraceSkipped(clause *ftrace_rule_Clause) (name, reason string, kept bool) {
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if !p.functions() {
			continue
		}
		for text := p.Funcs; text != ""; {
			end := bytealg.IndexByteString(text, '\n')
			line := text[:end]
			text = text[end+1:]
			if !ftraceHasPrefix(line, "! ") {
				continue
			}
			line = line[len("! "):]
			end = bytealg.IndexByteString(line, ' ')
			if line[:end] == "*" {
				kept = true
				continue
			}
			subject := ftrace_rule_Func{Package: p.Symbol, ImportPath: p.Path, PackageName: p.Clause, Name: line[:end], Binary: ftraceBinary}
			if clause.Match(&subject) {
				return p.label() + "." + line[:end], line[end+1:], false
			}
		}
	}
	return "", "", kept
}

// ftraceOtherwise tells of another package that a clause may mean, or of another function.
func ftraceOtherwise(clause *ftrace_rule_Clause) string {
	if pkg := ftraceUnhooked(clause); pkg != "" {
		return " with a hook: build with FTRACE_PACKAGES=main," + pkg + " so that package " + pkg + " has hooks"
	}
	least, name := -1, ""
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		for i := range p.Nfuncs {
			subject := p.fn(i).subject()
			if d := clause.Misspells(&subject); d >= 0 && (least < 0 || d < least) {
				least, name = d, p.label()+"."+subject.Name
			}
		}
	}
	if name != "" {
		return ": did you mean " + name + "?"
	}
	return " (FTRACE_SHOW=1 lists them)"
}

// ftraceUnhooked returns the package of a function in the program that a clause matches or names,
// if no function of that package has a hook, though it could; otherwise "".
func ftraceUnhooked(clause *ftrace_rule_Clause) string {
	pattern := clause.Selectors[0].Pattern
	for _, m := range activeModules() {
		for i := range max(len(m.ftab)-1, 0) {
			name := funcname(funcInfo{(*_func)(unsafe.Pointer(&m.pclntable[m.ftab[i].funcoff])), m})
			path := name
			if generic := bytealg.IndexByteString(name, '['); generic >= 0 {
				path = name[:generic]
			}
			slash := bytealg.LastIndexByteString(path, '/')
			dot := bytealg.IndexByteString(path[slash+1:], '.')
			if dot < 0 || bytealg.IndexByteString(path, ':') >= 0 { // it is what the compiler makes for a type
				continue
			}
			pkg := path[:slash+1+dot]
			subject := ftrace_rule_Func{Package: pkg, ImportPath: pkg, Name: name[len(pkg)+1:], Binary: ftraceBinary}
			// A function that is inlined wherever it is called is not in the table, but others of
			// its package are.
			named := ftraceHasPrefix(pattern, path[:slash+1+dot+1]) || ftraceHasPrefix(pattern, path[slash+1:slash+1+dot+1])
			if (named || clause.Match(&subject)) && !ftraceHasHooks(pkg) && !ftraceIsHookless(pkg) {
				return pkg
			}
		}
	}
	return ""
}

// ftraceIsHookless reports whether a package is runtime, or may be one that it depends on. These
// have no hooks.
func ftraceIsHookless(pkg string) bool {
	return pkg == "runtime" || ftraceHasPrefix(pkg, "runtime/") || ftraceHasPrefix(pkg, "internal/")
}

func ftraceHasHooks(pkg string) bool {
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if p.functions() && p.Symbol == pkg {
			return true
		}
	}
	return false
}

// ftraceOverridden returns how many functions, or probes, a clause matches that decides for none:
// later clauses decide for all of them.
func ftraceOverridden(clause *ftrace_rule_Clause) (n uint64) {
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		for i := range p.Nfuncs {
			subject := p.fn(i).subject()
			if clause.Match(&subject) {
				n++
			}
		}
	}
	return n
}

func (c *ftraceConfig) someName(bits uint32) bool {
	for i := range c.named {
		if bits>>i&1 != 0 && c.named[i] {
			return true
		}
	}
	return false
}

// ftraceShowAll lists the instrumented functions with their setting and the names of their secrets.
func ftraceShowAll(c *ftraceConfig) {
	b := ftraceNewText()
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		p.read()
		for i := range p.Nfuncs {
			f := p.fn(i)
			b.str("# ")
			from := b.n
			clause := f.clauseOf(c)
			if f.flags&(ftraceIsWait|ftraceIsSpan) != 0 && clause == nil {
				b.n = 0
				continue // the kinds are the same in all programs
			}
			if clause != nil {
				b.str(clause.Detail.String())
			} else {
				b.str("off")
			}
			b.pad(from, 6)
			b.fullName(f)
			if f.flags&(ftraceIsWait|ftraceIsSpan) == 0 {
				b.byte(' ')
				b.shown(p.Files[f.file])
				b.byte(':')
				b.uint(uint64(f.line))
			}
			redaction := c.all.Own
			if clause != nil {
				redaction = clause.Own
				b.str(" by \"")
				b.shown(clause.Text)
				b.byte('"')
			}
			b.secrets(f, redaction)
			b.byte('\n')
			b.flush()
		}
	}
	ftraceFreeText(b)
}

// ftraceFinish is called before the program ends in an orderly way: by return of main, os.Exit, or
// a panic that no one recovers.
func ftraceFinish() {
	gp := getg()
	if !ftraceMayTrace(gp) {
		ftraceDying()
		return
	}
	ftraceCopiesDisable()
	if t := gp.ftrace; t != nil {
		t.releaseLong()
	}
	ftraceEndGroups()
	ftraceReportRates()
	ftraceReportFailed()
	ftraceReportLocks()
	ftraceFinishTestTrace()
	ftraceFinishBudget(true)
	ftraceFinishRecordings()
	if ftraceStats != 0 && atomic.Cas(&ftraceFinished, 0, 1) {
		ftraceWriteStats()
	}
	if lost := atomic.Xchg(&ftraceLost, 0); lost != 0 {
		var digits [20]byte
		ftraceComplain(string(ftraceItoa(digits[:], uint64(lost))) + " calls were not seen: no memory for them")
	}
	if lost := atomic.Load(&ftraceOut.lost); lost != 0 && atomic.Cas(&ftraceOut.lost, lost, 0) {
		var digits [20]byte
		ftraceComplain(string(ftraceItoa(digits[:], uint64(lost))) + " lines of the trace were lost")
	}
	ftraceEndMemory()
}

// ftraceReportRates says how many calls the rate limits have kept back since the last one shown.
func ftraceReportRates() {
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		for i := range p.Nfuncs {
			f := p.fn(i)
			if n := atomic.Xchg(&f.suppressed, 0); n != 0 {
				b := ftraceNewText()
				b.str("# ftrace: ")
				b.name(f)
				b.str(": ")
				b.uint(uint64(n))
				b.str(" calls not shown: ")
				b.str(f.hiddenBy())
				b.byte('\n')
				b.flush()
				ftraceFreeText(b)
			}
		}
	}
}

// ftraceWriteStats lists the functions by calls, most called first, and the probes among them.
func ftraceWriteStats() {
	var of [4]struct{ calls, called, all uint64 } // functions, probes, waits, spans
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		sum := &of[0]
		switch {
		case p.probes():
			sum = &of[1]
		case p.waits():
			sum = &of[2]
		case p.spans():
			sum = &of[3]
		}
		for i := range p.Nfuncs {
			sum.all++
			if n := atomic.Loaduintptr(&p.fn(i).count); n != 0 {
				sum.calls += uint64(n)
				sum.called++
			}
		}
	}
	called := int(of[0].called + of[1].called + of[2].called + of[3].called)
	list := make([]*ftraceFunc, 0, called)
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		for i := range p.Nfuncs {
			if f := p.fn(i); atomic.Loaduintptr(&f.count) != 0 && len(list) < called {
				list = append(list, f)
			}
		}
	}
	ftraceSort(list)
	b := ftraceNewText()
	for i, words := range [...][2]string{{" calls to ", " functions instrumented\n"}, {" firings of ", " probes\n"}, {" waits of ", " kinds\n"}, {" statements and stages of ", " kinds\n"}} {
		if i > 0 && of[i].called == 0 {
			continue
		}
		b.str("# ftrace: ")
		b.uint(of[i].calls)
		b.str(words[0])
		b.uint(of[i].called)
		b.str(" of ")
		b.uint(of[i].all)
		b.str(words[1])
		b.flush()
	}
	uncounted := 0
	for _, f := range list {
		if atomic.Load(&f.leftOut)&ftraceUncounted != 0 {
			uncounted++
		}
	}
	if uncounted > 0 {
		b.str("# ftrace: FTRACE_BUDGET left out calls of ")
		b.uint(uint64(uncounted))
		if uncounted == 1 {
			b.str(" function that were not counted: there were more than the count marked * says\n")
		} else {
			b.str(" functions that were not counted: there were more than the counts marked * say\n")
		}
		b.flush()
	}
	for i, f := range list {
		if i >= ftraceStats {
			break
		}
		b.str("#")
		var digits [20]byte
		n := ftraceItoa(digits[:], uint64(f.count))
		for range 12 - min(12, len(n)) {
			b.byte(' ')
		}
		b.str(unsafe.String(&n[0], len(n)))
		if atomic.Load(&f.leftOut)&ftraceUncounted != 0 {
			b.byte('*')
		} else {
			b.byte(' ')
		}
		b.fullName(f)
		b.byte('\n')
		b.flush()
	}
	ftraceFreeText(b)
}

// fullName appends the name of a function or probe, whatever FTRACE_FORMAT says.
func (b *ftraceText) fullName(f *ftraceFunc) {
	if f.flags&(ftraceIsProbe|ftraceIsWait|ftraceIsSpan) != 0 {
		b.name(f)
		return
	}
	b.shown(f.pkg.Symbol)
	b.byte('.')
	b.shown(f.name)
}

// ftraceSort sorts by calls, most called first, then by order of registration. It is a heap sort
// because there is no package sort here.
func ftraceSort(list []*ftraceFunc) {
	for i := len(list)/2 - 1; i >= 0; i-- {
		ftraceSift(list, i)
	}
	for n := len(list) - 1; n > 0; n-- {
		list[0], list[n] = list[n], list[0]
		ftraceSift(list[:n], 0)
	}
}

// ftraceSift restores the heap below i, whose root is the least called.
func ftraceSift(list []*ftraceFunc, i int) {
	for {
		child := 2*i + 1
		if child >= len(list) {
			return
		}
		if child+1 < len(list) && ftraceLess(list[child+1], list[child]) {
			child++
		}
		if !ftraceLess(list[child], list[i]) {
			return
		}
		list[i], list[child] = list[child], list[i]
		i = child
	}
}

func ftraceLess(a, b *ftraceFunc) bool {
	if a.count != b.count {
		return a.count < b.count
	}
	return a.pkg.Symbol+"."+a.name > b.pkg.Symbol+"."+b.name
}
