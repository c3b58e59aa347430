//go:build ftrace_core

// The rules in force, and how they are laid on the functions.
//
// Each function knows the number of the clause that decides for it. Clauses that look at the calls
// around a call ("tree", "in=") or at earlier ones ("after=") have a bit each. A call of a function
// that such a clause names sets the bit: in its frame, from which the frames of deeper calls
// inherit it, or for the whole process.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceUnlockRegistry unlocks the registry after hooks may have been turned on or off.
func ftraceUnlockRegistry() {
	if ftraceRegistry.switched {
		ftraceRegistry.switched = false
		ftraceDoubt(ftraceHooksChanged)
	}
	semrelease(&ftraceRegistry.lock)
}

// ftraceNewRules parses rules. Where nobody reads calls line by line, limits are only those that
// the rules name.
func ftraceNewRules(text string, lines bool) (*ftraceRules, ftrace_rule_Error, bool) {
	clauses, err, ok := ftrace_rule_Parse(text)
	if !ok {
		return nil, err, false
	}
	n := len(clauses)
	r := &ftraceRules{text: text, clauses: clauses, in: make([]uint32, n), after: make([]uint32, n), tree: make([]uint32, n), matches: make([]uint32, n), limited: make([]uint32, n)}
	r.all.Detail = ftrace_rule_Args
	bits := 0
	for i := range clauses {
		clause := &clauses[i]
		for _, needs := range [...]bool{clause.In != "", clause.After != "", clause.Tree} {
			if needs {
				bits++
			}
		}
	}
	if bits > 32 {
		err.Message = "more than 32 clauses with tree, in= or after="
		return nil, err, false
	}
	if !lines || ftraceFormat.lines != 0 {
		r.noUsualFirst()
	}
	if !r.redact() {
		err.Message = "more than 254 different values of redact= since the program started"
		return nil, err, false
	}
	return r, err, true
}

// noUsualFirst takes away the limit of lines that functions have whose clause sets none: there is
// another, or nobody reads line by line.
func (r *ftraceRules) noUsualFirst() {
	for i := range r.clauses {
		if clause := &r.clauses[i]; !clause.FirstSet {
			clause.First = 0
		}
	}
}

// number gives the clauses their marks and triggers, of those that are not taken. It returns false
// if there are too few.
func (r *ftraceRules) number(taken uint32) bool {
	for i := range r.clauses {
		clause := &r.clauses[i]
		for _, use := range [...]struct {
			wanted bool
			bits   []uint32
		}{{clause.In != "", r.in}, {clause.After != "", r.after}, {clause.Tree, r.tree}} {
			if !use.wanted {
				continue
			}
			if taken == ^uint32(0) {
				return false
			}
			use.bits[i] = ^taken & (taken + 1)
			taken |= use.bits[i]
			r.bits |= use.bits[i]
		}
		r.trees |= r.tree[i]
	}
	return true
}

// ftrace_register is called by each instrumented package before any other initialisation of the
// package.
//
//go:linkname ftrace_register
func ftrace_register(p *ftracePkg) uintptr {
	semacquire(&ftraceRegistry.lock)
	if p.Version != ftrace_format_TableVersion {
		if !ftraceRegistry.refused {
			ftraceComplain("package " + p.Path + " was built by another version of ftrace-wrap than package runtime; it is not traced")
		}
		ftraceRegistry.refused = true
		semrelease(&ftraceRegistry.lock)
		return 0
	}
	p.before = ftraceRegistry.funcs
	ftraceRegistry.funcs += uint32(p.Nfuncs)
	if ftraceRegistry.last == nil {
		ftraceRegistry.first = p
	} else {
		atomicstorep(unsafe.Pointer(&ftraceRegistry.last.Next), unsafe.Pointer(p)) // some go through the list without the lock
	}
	ftraceRegistry.last = p
	if goarch.IsAmd64 == 0 { // there a goroutine that sees the hook on may still see its other word as it was before
		for i := range p.Nfuncs {
			(*eface)(add(p.Hooks, i*unsafe.Sizeof(eface{}))).data = unsafe.Pointer(p.fn(i))
		}
	}
	if c := ftraceLoadConfig(); c != nil {
		c.apply(p, true)
		if atomic.Load(&ftraceWeaves) == 0 {
			ftraceSetWeaves()
		}
	} else {
		p.define()
	}
	if ftraceFailing.text != "" && p.functions() {
		ftraceFail(p)
	}
	semrelease(&ftraceRegistry.lock)
	return p.Nfuncs
}

// ftraceArm puts the rules of an observer in force, beside those of all others. A session without
// rules sees nothing, or, if it follows, what the program's own rules let it see. ftraceArm returns
// why it can't.
func ftraceArm(observer uint32, r *ftraceRules, follows bool) string {
	semacquire(&ftraceRegistry.lock)
	before, c := ftraceLoadConfig(), new(ftraceConfig)
	c.number = 1
	if before != nil {
		c.number += before.number
		c.ftraceRules, c.sessions, c.follow, c.since = before.ftraceRules, before.sessions, before.follow, before.since
	}
	if c.ftraceRules == nil {
		c.ftraceRules, _, _ = ftraceNewRules("", true)
	}
	if observer == 0 {
		c.ftraceRules = r
	} else {
		c.sessions[observer-1] = r
		if c.follow &^= 1 << (observer - 1); follows {
			c.follow |= 1 << (observer - 1)
		}
	}
	taken := uint32(0)
	for i := range uint32(ftrace_format_SessionsMax + 1) {
		if other := c.of(i); i != observer && other != nil {
			taken |= other.bits
		}
	}
	if r != nil {
		if !r.number(taken) {
			semrelease(&ftraceRegistry.lock)
			return "all who observe the program have more than 32 clauses with tree, in= or after= together"
		}
		for i := range c.since {
			if r.bits>>i&1 != 0 {
				c.since[i] = c.number
			}
		}
	}
	if before != nil {
		c.triggered.Store(before.triggered.Load() & taken)
	}
	c.prev, ftraceConfigs = ftraceConfigs, c
	atomicstorep(unsafe.Pointer(&ftraceCurrent), unsafe.Pointer(c))
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		c.apply(p, observer == 0)
	}
	if before != nil { // what was hit meanwhile
		c.triggered.Or(before.triggered.Load() & taken)
	}
	ftraceCountSpans()
	ftraceSetWeaves()
	ftraceBudgetAgain()
	ftraceUnlockRegistry()
	return ""
}

// apply lays the rules on the functions of a package. afresh: the program's own are new to it, and
// put an end to what was switched.
func (c *ftraceConfig) apply(p *ftracePkg, afresh bool) {
	p.read()
	p.define()
	for i := range p.Nfuncs {
		f := p.fn(i)
		c.markSecrets(f)
		if afresh {
			f.flags &^= ftraceAskedUntimed | ftraceSwitchedOn | ftraceSwitchedOff
		}
		key := c.lay(f)
		if clause := key.number; clause != 0 && afresh {
			c.matches[clause-1]++
		}
	}
}

// decide returns what an observer's rules say of a function.
func (c *ftraceConfig) decide(observer uint32, f *ftraceFunc, subject *ftrace_rule_Func) ftraceLaidKey {
	r := c.of(observer)
	clause := ftrace_rule_Decide(r.clauses, subject)
	key := ftraceLaidKey{observer: observer, number: uint32(clause + 1), flags: f.flags & ftraceMaskedOff}
	if clause >= 0 {
		key.marks |= r.tree[clause]
	}
	for i := range r.clauses {
		if r.in[i] != 0 && ftrace_rule_MatchFunc(r.clauses[i].In, subject) {
			key.marks |= r.in[i]
		}
		if r.after[i] != 0 && ftrace_rule_MatchFunc(r.clauses[i].After, subject) {
			key.triggers |= r.after[i]
		}
	}
	c.note(key.marks | key.triggers)
	return key
}

// lay lays on f what the rules of all observers, its switch and setup_objects say of it. It returns
// what the program's own rules say. The registry is locked.
func (c *ftraceConfig) lay(f *ftraceFunc) ftraceLaidKey {
	subject := f.subject()
	own := c.decide(0, f, &subject)
	if old := f.loadLaid(); (old == nil || old.rules != c.ftraceRules) && own.number != 0 && c.clauses[own.number-1].Untimed {
		f.flags |= ftraceAskedUntimed
	}
	f.mask()
	own.flags = f.flags & (ftraceSwitchedOn | ftraceSwitchedOff | ftraceMaskedOff)
	key := own
	if f.looks != 0 && own.number|own.flags|c.trees == 0 && !ftraceOut.on && !ftraceRecording.on {
		key.flags |= ftraceLookedAt
	}
	for i := len(c.sessions) - 1; i >= 0; i-- {
		var wants ftraceLaidKey
		switch {
		case c.follow>>i&1 != 0:
			wants = own
		case c.sessions[i] == nil:
			continue
		default:
			wants = c.decide(uint32(i+1), f, &subject)
		}
		if l := c.says(wants); l.wantsOwn(f) {
			key.others = c.list(i, l, key.others)
		}
		key.marks |= wants.marks
		key.triggers |= wants.triggers
	}
	l := c.says(key)
	l.tell(f)
	atomicstorep(unsafe.Pointer(&f.laid), unsafe.Pointer(l))
	l.arm(f)
	l.showFlags(f)
	return own
}

// list returns the list that begins with what a session wants and goes on with next. There is one
// of each. The registry is locked.
func (c *ftraceConfig) list(session int, l *ftraceLaid, next *ftraceOther) *ftraceOther {
	for o := c.other; o != nil; o = o.made {
		if o.session == session && o.laid == l && o.next == next {
			return o
		}
	}
	c.other = &ftraceOther{session, l, next, c.other}
	return c.other
}

// layAgain is lay after something other than the rules has changed. The registry is locked.
func (f *ftraceFunc) layAgain() { ftraceLoadConfig().lay(f) }

// says returns the ftraceLaid with that key, and makes it if there is none. The registry is locked.
func (c *ftraceConfig) says(key ftraceLaidKey) *ftraceLaid {
	first := &c.laid[(key.number*31+key.marks*7+key.triggers*3+key.flags>>8+key.observer)%uint32(len(c.laid))]
	for l := *first; l != nil; l = l.next {
		if l.ftraceLaidKey == key {
			return l
		}
	}
	r := c.of(key.observer)
	l := &ftraceLaid{config: c, rules: r, ftraceLaidKey: key, next: *first}
	if i := key.number; i != 0 {
		l.clause, l.in, l.after = &r.clauses[i-1], r.in[i-1], r.after[i-1]
	} else if key.flags&(ftraceSwitchedOn|ftraceLookedAt) != 0 {
		l.clause = &r.all
	}
	l.until = l.last()
	if o := l.others; o != nil && o.next == nil && l.clause == nil && r.trees == 0 && ftraceIsPlain(o.laid.clause) && l.marks|l.triggers|o.laid.in|o.laid.after == 0 {
		l.sole = o
	}
	*first = l
	return l
}

// arms reports whether the hook of f, on which l is laid, is to be on.
func (l *ftraceLaid) arms(f *ftraceFunc) bool {
	return f.mocks != nil || l != nil && (l.marks|l.triggers != 0 || l.others != nil || l.wantsOwn(f))
}

// wantsOwn reports whether the program's own settings want calls of f, on which l is laid. l may be
// nil.
func (l *ftraceLaid) wantsOwn(f *ftraceFunc) bool {
	return l != nil && l.flags&ftraceMaskedOff == 0 && l.wants(f)
}

// wants reports whether the hook of f is to be on for its own sake, if setup_objects allows it.
func (l *ftraceLaid) wants(f *ftraceFunc) bool {
	switch {
	case l.flags&ftraceSwitchedOff != 0:
		return false
	case l.clause != nil:
		return l.clause.Detail != ftrace_rule_Off
	}
	return l.rules.trees != 0 && f.flags&(ftraceIsProbe|ftraceIsWait|ftraceIsSpan) == 0
}

// last returns the number of calls after which calls are only counted. The first call that is no
// longer shown is still within it, because that is reported.
func (l *ftraceLaid) last() uintptr {
	clause := l.clause
	switch {
	case clause == nil, l.marks|l.triggers != 0, l.others != nil:
	case clause.Detail <= ftrace_rule_Count:
		return 0
	case clause.First != 0 && clause.First < uint64(^uintptr(0)) && clause.Depth == 0 && clause.In == "" && clause.After == "":
		return uintptr(clause.First) + 1
	}
	return ^uintptr(0)
}

// note remembers that some function sets these bits.
func (c *ftraceConfig) note(bits uint32) {
	for i := 0; bits != 0; i++ {
		if bits&1 != 0 {
			c.named[i] = true
		}
		bits >>= 1
	}
}

// arm switches the function's hook, after l was laid on it or its replacements have changed.
func (l *ftraceLaid) arm(f *ftraceFunc) {
	atomicstorep(unsafe.Pointer(&f.fast), unsafe.Pointer(l.fastClause(f)))
	atomic.Storeuintptr(&f.limit, 0)
	f.arm(l.arms(f))
}

// arm switches the function's hook. A call that reads the hook at the same time may see either word
// first. The second word alone identifies the function, and it stays.
func (f *ftraceFunc) arm(on bool) {
	if on != f.seesReturns() {
		ftraceRegistry.switched = true
	}
	if on {
		var self any = f
		f.hook.data = unsafe.Pointer(f)
		atomicstorep(unsafe.Pointer(&f.hook._type), unsafe.Pointer(efaceOf(&self)._type))
	} else {
		f.hook._type = nil
	}
	if f.flags&ftraceIsWait != 0 {
		ftraceCountWaits()
	}
	if f.flags&ftraceIsSpan != 0 {
		ftraceCountSpans()
	}
}

// ftraceInstrumented returns how many functions have hooks.
func ftraceInstrumented() (n uintptr) {
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if p.functions() {
			n += p.Nfuncs
		}
	}
	return n
}

// ftraceSomeConfig puts empty rules in force if there are none.
func ftraceSomeConfig() {
	if ftraceLoadConfig() == nil {
		r, _, _ := ftraceNewRules("", true)
		ftraceArm(0, r, false)
	}
}
