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
		ftraceDoubt()
	}
	semrelease(&ftraceRegistry.lock)
}

// ftraceNewConfig parses rules.
func ftraceNewConfig(text string) (*ftraceConfig, ftrace_rule_Error, bool) {
	clauses, err, ok := ftrace_rule_Parse(text)
	if !ok {
		return nil, err, false
	}
	c := new(ftraceConfig)
	c.text = text
	c.clauses = clauses
	c.all.Detail = ftrace_rule_Args
	c.in = make([]uint32, len(clauses))
	c.after = make([]uint32, len(clauses))
	c.tree = make([]uint32, len(clauses))
	c.matches = make([]uint32, len(clauses))
	bit := uint32(1)
	for i := range clauses {
		if ftraceRecording.wanted && !clauses[i].FirstSet {
			clauses[i].First = 0 // First is a limit for lines that someone reads, which these are not
		}
		for _, use := range [...]struct {
			wanted bool
			bits   []uint32
		}{{clauses[i].In != "", c.in}, {clauses[i].After != "", c.after}, {clauses[i].Tree, c.tree}} {
			if !use.wanted {
				continue
			}
			if bit == 0 {
				err.Message = "more than 32 clauses with tree, in= or after="
				return nil, err, false
			}
			use.bits[i] = bit
			bit <<= 1
		}
		c.trees |= c.tree[i]
	}
	if !c.redact() {
		err.Message = "more than 254 different values of redact= since the program started"
		return nil, err, false
	}
	return c, err, true
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
		c.apply(p)
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

// ftraceArm puts c in force for all functions.
func ftraceArm(c *ftraceConfig) {
	semacquire(&ftraceRegistry.lock)
	if c.number == 0 { // else it was in force before, and is again
		c.number = 1
		if ftraceConfigs != nil {
			c.number += ftraceConfigs.number
		}
		c.prev, ftraceConfigs = ftraceConfigs, c
	}
	clear(c.matches)
	atomicstorep(unsafe.Pointer(&ftraceCurrent), unsafe.Pointer(c))
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		c.apply(p)
	}
	ftraceSetWeaves()
	ftraceUnlockRegistry()
}

// apply lays the rules on the functions of a package.
func (c *ftraceConfig) apply(p *ftracePkg) {
	p.read()
	p.define()
	for i := range p.Nfuncs {
		f := p.fn(i)
		subject := f.subject()
		clause := ftrace_rule_Decide(c.clauses, &subject)
		key := ftraceLaidKey{number: uint32(clause + 1)}
		if clause >= 0 {
			c.matches[clause]++
			key.marks |= c.tree[clause]
		}
		for i := range c.clauses {
			if c.in[i] != 0 && ftrace_rule_MatchFunc(c.clauses[i].In, &subject) {
				key.marks |= c.in[i]
			}
			if c.after[i] != 0 && ftrace_rule_MatchFunc(c.clauses[i].After, &subject) {
				key.triggers |= c.after[i]
			}
		}
		f.flags &^= ftraceAskedUntimed | ftraceSwitchedOn | ftraceSwitchedOff
		if clause >= 0 && c.clauses[clause].Untimed {
			f.flags |= ftraceAskedUntimed
		}
		c.note(key.marks | key.triggers)
		c.markSecrets(f)
		c.lay(f, key)
	}
}

// lay lays on f what the rules, its switch and setup_objects say of it. The registry is locked.
func (c *ftraceConfig) lay(f *ftraceFunc, key ftraceLaidKey) {
	f.mask()
	key.flags = f.flags & (ftraceSwitchedOn | ftraceSwitchedOff | ftraceMaskedOff)
	l := c.says(key)
	l.tell(f)
	atomicstorep(unsafe.Pointer(&f.laid), unsafe.Pointer(l))
	l.arm(f)
	l.showFlags(f)
}

// layAgain is lay after something other than the rules has changed. The registry is locked.
func (f *ftraceFunc) layAgain() {
	l := f.loadLaid()
	l.config.lay(f, l.ftraceLaidKey)
}

// says returns the ftraceLaid with that key, and makes it if there is none. The registry is locked.
func (c *ftraceConfig) says(key ftraceLaidKey) *ftraceLaid {
	first := &c.laid[(key.number*31+key.marks*7+key.triggers*3+key.flags>>8)%uint32(len(c.laid))]
	for l := *first; l != nil; l = l.next {
		if l.ftraceLaidKey == key {
			return l
		}
	}
	l := &ftraceLaid{config: c, ftraceLaidKey: key, next: *first}
	if i := key.number; i != 0 {
		l.clause, l.in, l.after = &c.clauses[i-1], c.in[i-1], c.after[i-1]
	} else if key.flags&ftraceSwitchedOn != 0 {
		l.clause = &c.all
	}
	l.until = l.last()
	*first = l
	return l
}

// arms reports whether the hook of f, on which l is laid, is to be on.
func (l *ftraceLaid) arms(f *ftraceFunc) bool {
	return f.mocks != nil || l != nil && (l.marks|l.triggers != 0 || l.flags&ftraceMaskedOff == 0 && l.wants(f))
}

// wants reports whether the hook of f is to be on for its own sake, if setup_objects allows it.
func (l *ftraceLaid) wants(f *ftraceFunc) bool {
	switch {
	case l.flags&ftraceSwitchedOff != 0:
		return false
	case l.clause != nil:
		return l.clause.Detail != ftrace_rule_Off
	}
	return l.config.trees != 0 && f.flags&(ftraceIsProbe|ftraceIsWait) == 0
}

// last returns the number of calls after which calls are only counted. The first call that is no
// longer shown is still within it, because that is reported.
func (l *ftraceLaid) last() uintptr {
	clause := l.clause
	switch {
	case clause == nil, l.marks|l.triggers != 0:
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
	f.arm(l.arms(f))
}

// arm switches the function's hook. A call that reads the hook at the same time may see either word
// first. The second word alone identifies the function, and it stays.
func (f *ftraceFunc) arm(on bool) {
	if on != (f.hook._type != nil) {
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
		c, _, _ := ftraceNewConfig("")
		ftraceArm(c)
	}
}
