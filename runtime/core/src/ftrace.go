//go:build ftrace_core

// The files ftrace*.go are added to package runtime by ftrace-wrap. They are the core of the tracer: instrumented packages
// call ftrace_register once, ftrace_enter at the entry and ftrace_exit at the exit of each armed function.
//
// They live in package runtime because everything they need is here: the goroutine (getg, no parsing of goroutine ids), the
// types of all values (internal/abi), the panics under way, and because this package is initialised before any other, so
// that package-level initialisers are traced too.
//
// The rules of this package hold: no implicit heap allocation, no locks but the runtime's. The tracer's own memory is off the
// heap (ftrace_mem.go), so tracing does not show in the program's allocation counts. Nothing here may be called on
// a system stack or with runtime locks held, which ftraceMayTrace checks; events there are not seen.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceTableVersion is rewrite.TableVersion: the version of ftraceFunc and ftracePkg.
const ftraceTableVersion = 1

// ftraceFunc is one entry of a package's table of functions. The fields down to leaf are written by the rewriter.
type ftraceFunc struct {
	on     uint32 // what the function looks at when it is entered; nonzero: it calls the core
	line   uint32
	file   uint32 // index into the package's files
	kind   uint32
	name   string      // without the package: "F", "(*T).M", "F.func1"
	params string      // names of parameters and results, see rewrite.signature.names
	leaf   *ftraceLeaf // the hook of a function that is traced by a wrapper, else nil
	count  uintptr     // calls while armed; atomic

	// What the rules say of the function, see ftraceApply.
	pkg        *ftracePkg
	clause     uint32 // 1 + index of the clause that decides, 0 if none does
	marks      uint32 // bits that a call of it sets in its frame and those below, see ftraceConfig
	triggers   uint32 // bits that a call of it sets for the whole process
	said       uint32 // it was said that its calls are no longer printed; atomic
	window     int64  // start of the rate limit's current window, in ns
	inWindow   uint32 // calls printed in it; atomic
	suppressed uint32 // calls not printed since the last one that was; atomic
}

// ftraceLeaf is the hook of a leaf: cur is what it calls if not nil, wrap its wrapper. Both point to func values.
type ftraceLeaf struct {
	cur, wrap unsafe.Pointer
}

// ftracePkg is one instrumented package, written by the rewriter.
type ftracePkg struct {
	version uintptr
	path    string // import path
	symbol  string // what precedes the function's name in symbols: the import path, or "main"
	files   []string
	funcs   unsafe.Pointer // of nfuncs ftraceFunc
	nfuncs  uintptr
	next    *ftracePkg
}

func (p *ftracePkg) fn(i uintptr) *ftraceFunc {
	return (*ftraceFunc)(add(p.funcs, i*unsafe.Sizeof(ftraceFunc{})))
}

// ftraceFrame is one call of an armed function that is under way.
type ftraceFrame struct {
	_      sys.NotInHeap
	fn     *ftraceFunc
	clause *ftrace_rule_Clause // by which it is shown; nil if it is not shown
	sp     uintptr             // of the function's frame, as a distance from the stack's top, which a stack copy keeps
	count  uintptr             // the how-manyeth call it is
	start  int64               // nanotime, if something needs it
	mask   uint32              // marks of this call and of those around it
	shown  int32               // shown calls around it
	held   int32               // 1 + where its entry line begins in the goroutine's held text, 0 if it is not held
	heldAt int32               // where the part behind the brace begins
	note   int32               // 1 + where its notes begin in the goroutine's notes, 0 if it has none
	flags  uint32
}

const (
	ftraceRecovered = 1 << iota // the function recovered a panic, which is in g.ftraceRecovered
	ftraceHeldLost              // its entry line is still to be shown, but did not fit into the held text
	ftracePrinted               // its entry line was printed
)

// ftrace_enter is called at the entry of an armed function, with its parameters. It returns what ftrace_exit is to be given,
// 0 if the exit is of no interest.
//
//go:linkname ftrace_enter
func ftrace_enter(f *ftraceFunc, args ...any) uintptr {
	gp := getg()
	if !ftraceMayTrace(gp) {
		return 0
	}
	t := gp.ftrace
	if t != nil && t.busy != 0 {
		return 0
	}
	count := atomic.Xadduintptr(&f.count, 1)
	config := ftraceLoadConfig()
	clause := config.clauseOf(f)
	if clause != nil && clause.Detail == ftrace_rule_Count && f.marks|f.triggers == 0 {
		return 0
	}
	if t == nil {
		if t = ftraceNewG(); t == nil {
			return 0
		}
		gp.ftrace = t
	}
	if f.triggers&^ftraceTriggered.Load() != 0 {
		ftraceTriggered.Or(f.triggers)
	}
	frame := t.push()
	if frame == nil {
		atomic.Xadd(&ftraceLost, 1)
		return 0
	}
	frame.fn = f
	frame.sp = gp.stack.hi - sys.GetCallerSP()
	frame.count = count
	frame.mask = t.mask | f.marks
	frame.shown = t.shown
	t.mask = frame.mask
	if clause = config.shows(clause, f, t, count); clause != nil {
		t.busy++
		ftraceEntry(gp, t, frame, clause, args)
		t.busy--
	}
	return uintptr(t.depth)
}

// ftrace_exit is called when a function leaves for which ftrace_enter returned token: it returns, panics or ends its
// goroutine. results are pointers to its results.
//
//go:linkname ftrace_exit
func ftrace_exit(token uintptr, results ...any) {
	if token == 0 {
		return
	}
	gp := getg()
	t := gp.ftrace
	if t == nil || token > uintptr(t.depth) || t.busy != 0 || !ftraceMayTrace(gp) {
		return
	}
	t.depth = int32(token) // calls above it were abandoned
	frame := t.frame(t.depth - 1)
	if frame.clause != nil {
		t.busy++
		ftraceLeave(gp, t, frame, results)
		t.busy--
	}
	if frame.flags&ftraceRecovered != 0 {
		gp.ftraceRecovered = nil
	}
	t.pop(frame)
}

// ftraceMayTrace says whether this is an ordinary goroutine in ordinary circumstances: not a system stack, no runtime lock
// held, not within malloc or between fork and exec.
func ftraceMayTrace(gp *g) bool {
	mp := gp.m
	return mp.curg == gp && mp.locks == 0 && mp.mallocing == 0 && mp.dying == 0 && mp.preemptoff == "" && !gp.throwsplit
}

// ftracePanic returns the panic (or Goexit) that is just running the deferred calls of frame's function, or nil if the function
// returns.
func ftracePanic(gp *g, frame *ftraceFrame) *_panic {
	p := gp._panic
	if p != nil && !p.deferreturn && gp.stack.hi-uintptr(p.sp) == frame.sp {
		return p
	}
	return nil
}

// ftraceRecovery is called by recovery when a deferred call of the function at the panic's frame recovered.
func ftraceRecovery(gp *g) {
	t := gp.ftrace
	p := gp._panic
	if t == nil || t.depth == 0 || p == nil {
		return
	}
	frame := t.frame(t.depth - 1)
	if gp.stack.hi-uintptr(p.sp) == frame.sp && frame.clause != nil {
		frame.flags |= ftraceRecovered
		gp.ftraceRecovered = p.arg
	}
}
