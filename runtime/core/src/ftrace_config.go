//go:build ftrace_core

// What is traced: the FTRACE rules and how they are laid on the functions.
//
// Each function knows the number of the clause that decides for it. Clauses that look at the calls around ("tree", "in=") or before
// ("after=") have a bit each: calls of functions that such a clause names set the bit in their frame, from which the frames of
// deeper calls inherit it, or for the whole process.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceConfig is a set of rules in force. It does not change once it is published, and is never freed: frames point to clauses.
type ftraceConfig struct {
	text    string
	clauses []ftrace_rule_Clause
	in      []uint32           // by clause: the mark that must be set around a call; 0 if the clause does not ask for one
	after   []uint32           // by clause: the trigger that must be set
	tree    []uint32           // by clause: the mark that its own functions set
	trees   uint32             // all marks of trees
	matches []uint32           // by clause: functions it decides for; atomic
	named   [32]bool           // marks and triggers that some function sets
	all     ftrace_rule_Clause // for functions that are switched on whatever the rules say
	prev    *ftraceConfig
}

// ftraceCurrent is the *ftraceConfig in force, or nil; atomic.
var ftraceCurrent unsafe.Pointer

// ftraceTriggered has the triggers that were hit.
var ftraceTriggered atomic.Uint32

// ftraceRegistry lists the instrumented packages.
var ftraceRegistry = struct {
	lock    uint32 // semaphore
	first   *ftracePkg
	last    *ftracePkg
	funcs   uint32
	refused bool // a table of another version was seen
}{lock: 1}

func ftraceLoadConfig() *ftraceConfig {
	return (*ftraceConfig)(atomic.Loadp(unsafe.Pointer(&ftraceCurrent)))
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
			clauses[i].First = 0 // that is for what someone is to read line by line
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
	return c, err, true
}

// clauseOf returns the clause that decides for f, or nil.
func (c *ftraceConfig) clauseOf(f *ftraceFunc) *ftrace_rule_Clause {
	if c == nil {
		return nil
	}
	if i := f.clause; i != 0 && int(i) <= len(c.clauses) {
		return &c.clauses[i-1]
	}
	if f.flags&ftraceSwitchedOn != 0 {
		return &c.all
	}
	return nil
}

// shows returns the clause by which the count-th call of f is to be shown now, or nil if it is not. mask has the marks around and of the
// call, and shown is how many shown calls are around it.
func (c *ftraceConfig) shows(f *ftraceFunc, mask uint32, shown int32, count uintptr) *ftrace_rule_Clause {
	if f.flags&(ftraceSwitchedOff|ftraceMaskedOff) != 0 {
		return nil // it is armed for what it is a mark of
	}
	clause := c.clauseOf(f)
	if clause == nil {
		if clause = c.treeAround(mask); clause == nil {
			return nil
		}
	} else if clause == &c.all {
		return clause
	} else if i := int(f.clause) - 1; c.in[i]&^mask != 0 || c.after[i]&^ftraceTriggered.Load() != 0 {
		return nil
	}
	switch {
	case clause.Detail < ftrace_rule_Call,
		clause.Depth != 0 && uint32(shown) >= clause.Depth:
		return nil
	case clause.First != 0 && uint64(count) > clause.First:
		if atomic.Load(&f.said) == 0 {
			ftraceSayFirst(f, clause.First)
		}
		return nil
	case clause.Rate != 0 && !f.withinRate(clause):
		return nil
	}
	return clause
}

// treeAround returns the innermost-written clause whose tree the marks say we are in.
func (c *ftraceConfig) treeAround(mask uint32) *ftrace_rule_Clause {
	if mask&c.trees == 0 {
		return nil
	}
	for i := len(c.tree) - 1; i >= 0; i-- {
		if c.tree[i]&mask != 0 && c.after[i]&^ftraceTriggered.Load() == 0 && c.in[i]&^mask == 0 {
			return &c.clauses[i]
		}
	}
	return nil
}

// withinRate says whether one more call of f may be shown in the current window.
func (f *ftraceFunc) withinRate(clause *ftrace_rule_Clause) bool {
	now := nanotime()
	if now-f.window >= clause.Per {
		f.window = now
		atomic.Store(&f.inWindow, 0)
	}
	if atomic.Xadd(&f.inWindow, 1) <= clause.Rate {
		return true
	}
	atomic.Xadd(&f.suppressed, 1)
	return false
}

// ftraceSayFirst says once that calls of f are no longer shown.
func ftraceSayFirst(f *ftraceFunc, first uint64) {
	if !atomic.Cas(&f.said, 0, 1) {
		return
	}
	b := ftraceNewText()
	b.str("# ftrace: ")
	b.name(f)
	b.str(" was shown ")
	b.uint(first)
	b.str(" times; further calls are only counted (first=N sets how many are shown)\n")
	b.flush()
	ftraceFreeText(b)
}

// ftrace_register is called by each instrumented package before any other initialisation of the package.
//
//go:linkname ftrace_register
func ftrace_register(p *ftracePkg) uintptr {
	semacquire(&ftraceRegistry.lock)
	if p.version != ftraceTableVersion {
		if !ftraceRegistry.refused {
			ftraceComplain("package " + p.path + " was built by another version of ftrace-wrap than package runtime; it is not traced")
		}
		ftraceRegistry.refused = true
		semrelease(&ftraceRegistry.lock)
		return 0
	}
	if ftraceRegistry.last == nil {
		ftraceRegistry.first = p
	} else {
		ftraceRegistry.last.next = p
	}
	ftraceRegistry.last = p
	p.before = ftraceRegistry.funcs
	ftraceRegistry.funcs += uint32(p.nfuncs)
	if c := ftraceLoadConfig(); c != nil {
		c.apply(p)
	} else {
		p.define()
	}
	if ftraceFailing.text != "" && !p.probes() {
		ftraceFail(p)
	}
	semrelease(&ftraceRegistry.lock)
	return p.nfuncs
}

// ftraceArm puts c in force for all functions.
func ftraceArm(c *ftraceConfig) {
	semacquire(&ftraceRegistry.lock)
	c.prev = ftraceLoadConfig()
	clear(c.matches)
	ftraceTriggered.Store(0)
	atomicstorep(unsafe.Pointer(&ftraceCurrent), unsafe.Pointer(c))
	for p := ftraceRegistry.first; p != nil; p = p.next {
		c.apply(p)
	}
	ftraceSetWeaves()
	semrelease(&ftraceRegistry.lock)
}

// apply lays the rules on the functions of a package.
func (c *ftraceConfig) apply(p *ftracePkg) {
	p.read()
	p.define()
	for i := range p.nfuncs {
		f := p.fn(i)
		subject := f.subject()
		clause := ftrace_rule_Decide(c.clauses, &subject)
		f.clause = uint32(clause + 1)
		f.marks, f.triggers = 0, 0
		if clause >= 0 {
			c.matches[clause]++
			f.marks |= c.tree[clause]
		}
		for i := range c.clauses {
			if c.in[i] != 0 && ftrace_rule_MatchFunc(c.clauses[i].In, &subject) {
				f.marks |= c.in[i]
			}
			if c.after[i] != 0 && ftrace_rule_MatchFunc(c.clauses[i].After, &subject) {
				f.triggers |= c.after[i]
			}
		}
		f.flags &^= ftraceAskedUntimed | ftraceSwitchedOn | ftraceSwitchedOff
		if clause >= 0 && c.clauses[clause].Untimed {
			f.flags |= ftraceAskedUntimed
		}
		f.mask()
		f.until = c.until(f)
		c.note(f.marks | f.triggers)
		c.tell(f)
		c.arm(f)
		f.showFlags(c)
	}
}

// subject is the function as the rules see it.
func (f *ftraceFunc) subject() ftrace_rule_Func {
	p := f.pkg
	return ftrace_rule_Func{Probe: f.flags&ftraceIsProbe != 0, Package: p.symbol, ImportPath: p.path, Name: f.name, File: p.files[f.file], Line: int(f.line), Binary: ftraceBinary}
}

// arms says whether the hook of f, on which the rules are laid, is to be on.
func (c *ftraceConfig) arms(f *ftraceFunc) bool {
	return f.mocks != nil || f.marks|f.triggers != 0 || f.flags&ftraceMaskedOff == 0 && c.wants(f)
}

// wants says whether the hook of f is to be on for its own sake, if setup_objects lets it.
func (c *ftraceConfig) wants(f *ftraceFunc) bool {
	switch clause := c.clauseOf(f); {
	case f.flags&ftraceSwitchedOff != 0:
		return false
	case clause != nil:
		return clause.Detail != ftrace_rule_Off
	}
	return c != nil && c.trees != 0 && f.flags&ftraceIsProbe == 0
}

// until returns the number of calls of f after which nothing but their number is of interest. The first call that is no longer shown is, since that is said.
func (c *ftraceConfig) until(f *ftraceFunc) uintptr {
	clause := c.clauseOf(f)
	switch {
	case clause == nil, f.marks|f.triggers != 0:
	case clause.Detail <= ftrace_rule_Count:
		return 0
	case clause.First != 0 && clause.First < uint64(^uintptr(0)) && clause.Depth == 0 && clause.In == "" && clause.After == "":
		return uintptr(clause.First) + 1
	}
	return ^uintptr(0)
}

// note remembers that a function sets these bits.
func (c *ftraceConfig) note(bits uint32) {
	for i := 0; bits != 0; i++ {
		if bits&1 != 0 {
			c.named[i] = true
		}
		bits >>= 1
	}
}

// arm switches the function's hook, after the rules were laid on it or what they don't say has changed.
func (c *ftraceConfig) arm(f *ftraceFunc) {
	f.plain = c.plain(f)
	f.arm(c.arms(f))
}

// arm switches the function's hook. A function that looks at it at the same time may see either word first; the second word alone
// identifies the function, and it stays.
func (f *ftraceFunc) arm(on bool) {
	if !on {
		f.hook._type = nil
		return
	}
	var self any = f
	f.hook.data = unsafe.Pointer(f)
	f.hook._type = efaceOf(&self)._type
}

// ftraceInstrumented returns how many functions have hooks.
func ftraceInstrumented() (n uintptr) {
	for p := ftraceRegistry.first; p != nil; p = p.next {
		if !p.probes() {
			n += p.nfuncs
		}
	}
	return n
}
