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

// ftraceConfig is a set of rules in force. What hooks read of it does not change once it is
// published, except for triggered. It is never freed: frames point to its clauses.
type ftraceConfig struct {
	number    uint32 // from 1 on, tells its marks from those of others; 0: it was never in force
	text      string
	clauses   []ftrace_rule_Clause
	in        []uint32           // by clause: the mark that must be set around a call, 0 if it needs none
	after     []uint32           // by clause: the trigger that must be set
	tree      []uint32           // by clause: the mark that its own functions set
	trees     uint32             // all marks of trees
	triggered atomic.Uint32      // the triggers that were hit
	all       ftrace_rule_Clause // for functions that are switched on whatever the rules say

	// Under the registry's lock.
	matches []uint32        // by clause: the number of functions that it decides for
	named   [32]bool        // marks and triggers that some function sets
	laid    [64]*ftraceLaid // what it says of functions, by a hash
	prev    *ftraceConfig
}

// ftraceLaid is what a configuration says of a function, and of all others of which it says the
// same. It does not change. A hook loads its function's once and goes by that from the call's
// beginning to its end: a second load might return that of other rules.
type ftraceLaid struct {
	config *ftraceConfig
	clause *ftrace_rule_Clause // the clause that decides, or nil
	until  uintptr             // calls after this many are only counted, whatever goes on around them
	ftraceLaidKey
	in    uint32 // marks that the clause needs around a call
	after uint32 // triggers that it needs
	next  *ftraceLaid
}

// ftraceLaidKey tells one ftraceLaid from the others of its configuration.
type ftraceLaidKey struct {
	number   uint32 // of the clause in the rules, from 1 on; 0: no clause decides
	marks    uint32 // bits that a call sets in its frame and those below
	triggers uint32 // bits that a call sets for the whole process
	flags    uint32 // ftraceSwitchedOn, ftraceSwitchedOff, ftraceMaskedOff
}

// ftraceCurrent is the *ftraceConfig in force, or nil; atomic.
var ftraceCurrent unsafe.Pointer

// ftraceConfigs is the last of all configurations that were in force.
var ftraceConfigs *ftraceConfig

// ftraceRegistry lists the instrumented packages.
var ftraceRegistry = struct {
	lock    uint32 // semaphore
	first   *ftracePkg
	last    *ftracePkg
	funcs   uint32
	refused bool // a table of another version was seen

	switched bool // hooks were turned on or off, and the goroutines do not know yet
}{lock: 1}

// ftraceUnlockRegistry unlocks the registry after hooks may have been turned on or off.
func ftraceUnlockRegistry() {
	if ftraceRegistry.switched {
		ftraceRegistry.switched = false
		ftraceDoubt()
	}
	semrelease(&ftraceRegistry.lock)
}

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

// loadLaid returns what the rules say of f, nil if there are none.
func (f *ftraceFunc) loadLaid() *ftraceLaid {
	return (*ftraceLaid)(atomic.Loadp(unsafe.Pointer(&f.laid)))
}

// clauseOf returns the clause of c that decides for f, or nil.
func (f *ftraceFunc) clauseOf(c *ftraceConfig) *ftrace_rule_Clause {
	if l := f.loadLaid(); l != nil && l.config == c {
		return l.clause
	}
	return nil
}

// trigger notes the call of a function that other clauses wait for.
func (l *ftraceLaid) trigger() {
	if l.triggers&^l.config.triggered.Load() != 0 {
		l.config.triggered.Or(l.triggers)
	}
}

// shows returns the clause by which the nth call of f is to be shown now, n being count, or nil if
// it is not to be shown. mask has the marks of the call and of those around it. shown is the number
// of shown calls around it.
func (l *ftraceLaid) shows(f *ftraceFunc, mask uint32, shown int32, count uintptr) *ftrace_rule_Clause {
	clause := l.clause
	switch {
	case l.flags&(ftraceSwitchedOff|ftraceMaskedOff) != 0:
		return nil // it is armed only to set marks
	case clause == nil:
		if clause = l.config.treeAround(mask); clause == nil {
			return nil
		}
	case l.number == 0:
		return clause
	case l.in&^mask != 0 || l.after&^l.config.triggered.Load() != 0:
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

// treeAround returns the clause, the last in the text of the rules, within whose tree the marks say
// we are.
func (c *ftraceConfig) treeAround(mask uint32) *ftrace_rule_Clause {
	if mask&c.trees == 0 {
		return nil
	}
	for i := len(c.tree) - 1; i >= 0; i-- {
		if c.tree[i]&mask != 0 && c.after[i]&^c.triggered.Load() == 0 && c.in[i]&^mask == 0 {
			return &c.clauses[i]
		}
	}
	return nil
}

// withinRate reports whether one more call of f may be shown in the current window.
func (f *ftraceFunc) withinRate(clause *ftrace_rule_Clause) bool {
	now := nanotime()
	if start := atomic.Loadint64(&f.window); now-start >= clause.Per && atomic.Casint64(&f.window, start, now) {
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

// ftrace_register is called by each instrumented package before any other initialisation of the
// package.
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
	p.before = ftraceRegistry.funcs
	ftraceRegistry.funcs += uint32(p.nfuncs)
	if ftraceRegistry.last == nil {
		ftraceRegistry.first = p
	} else {
		atomicstorep(unsafe.Pointer(&ftraceRegistry.last.next), unsafe.Pointer(p)) // some go through the list without the lock
	}
	ftraceRegistry.last = p
	if goarch.IsAmd64 == 0 { // there a goroutine that sees the hook on may still see its other word as it was before
		for i := range p.nfuncs {
			(*eface)(add(p.hooks, i*unsafe.Sizeof(eface{}))).data = unsafe.Pointer(p.fn(i))
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
	if ftraceFailing.text != "" && !p.probes() {
		ftraceFail(p)
	}
	semrelease(&ftraceRegistry.lock)
	return p.nfuncs
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
	for p := ftraceRegistry.first; p != nil; p = p.next {
		c.apply(p)
	}
	ftraceSetWeaves()
	ftraceUnlockRegistry()
}

// apply lays the rules on the functions of a package.
func (c *ftraceConfig) apply(p *ftracePkg) {
	p.read()
	p.define()
	for i := range p.nfuncs {
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

// subject returns the function as the rules see it.
func (f *ftraceFunc) subject() ftrace_rule_Func {
	p := f.pkg
	return ftrace_rule_Func{Probe: f.flags&ftraceIsProbe != 0, Package: p.symbol, ImportPath: p.path, Name: f.name, File: p.files[f.file], Line: int(f.line), Binary: ftraceBinary}
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
	return l.config.trees != 0 && f.flags&ftraceIsProbe == 0
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
	atomicstorep(unsafe.Pointer(&f.plain), unsafe.Pointer(l.plain(f)))
	f.arm(l.arms(f))
}

// arm switches the function's hook. A call that reads the hook at the same time may see either word
// first. The second word alone identifies the function, and it stays.
func (f *ftraceFunc) arm(on bool) {
	if on != (f.hook._type != nil) {
		ftraceRegistry.switched = true
	}
	if !on {
		f.hook._type = nil
		return
	}
	var self any = f
	f.hook.data = unsafe.Pointer(f)
	atomicstorep(unsafe.Pointer(&f.hook._type), unsafe.Pointer(efaceOf(&self)._type))
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
