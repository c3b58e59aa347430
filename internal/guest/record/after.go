//go:build ftrace_core

// Parameters when a call ends, for rules with changes: they are kept from the call's beginning on.
//
// What they lead to must not be freed meanwhile, so they are kept where the garbage collector sees
// them. These are the only allocations of the tracer that a program's statistics count. Stacks
// move, and the collector does not like pointers to old ones: so a pointer into the goroutine's
// stack is kept as a distance from the stack's top.

package runtime

import (
	"internal/goarch"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceKept is the parameters of a call under way.
type ftraceKept struct {
	next    *ftraceKept // of a call around it
	depth   int32       // number of frames when the call began, its own included
	ended   bool        // the call was seen to end, so what is on the stack is still there
	n       int
	onStack [ftraceKeptMax]uint64 // bits of a value's first words: they are distances from the stack's top
	values  [ftraceKeptMax]any    // what is not a pointer itself is a copy
}

const (
	ftraceKeptMax   = 16 // parameters of a call
	ftraceKeptWords = 64 // of a parameter
)

// ftraceKeepParams keeps the parameters of the innermost call under way.
func ftraceKeepParams(gp *g, depth int32, args []any) {
	k := new(ftraceKept)
	k.next, k.depth, k.n = gp.ftraceKept, depth, min(len(args), ftraceKeptMax)
	for i := range k.n {
		t := efaceOf(&args[i])._type
		if t == nil {
			continue
		}
		to := efaceOf(&k.values[i])
		if t.IsDirectIface() {
			mp := acquirem() // while the stack stays where it is
			to.data = efaceOf(&args[i]).data
			k.onStack[i] = gp.ftraceHideStack(unsafe.Pointer(&to.data), 1)
			releasem(mp)
			to._type = t
			continue
		}
		words := t.PtrBytes / goarch.PtrSize
		if words > ftraceKeptWords || !ftraceReadable(efaceOf(&args[i]).data, t.Size_) {
			*to = ftraceNoSuchField()
			continue
		}
		copied := mallocgc(t.Size_, t, true)
		mp := acquirem()
		typedmemmove(t, copied, efaceOf(&args[i]).data)
		k.onStack[i] = gp.ftraceHideStack(copied, words)
		releasem(mp)
		to._type, to.data = t, copied
	}
	gp.ftraceKept = k
}

// ftraceHideStack makes a distance of each of n words at p that is an address in the stack. It
// returns the bits of these.
func (gp *g) ftraceHideStack(p unsafe.Pointer, n uintptr) (found uint64) {
	for i := range n {
		if word := (*uintptr)(add(p, i*goarch.PtrSize)); *word >= gp.stack.lo && *word < gp.stack.hi {
			*word = gp.stack.hi - *word
			found |= 1 << i
		}
	}
	return found
}

// end notes that the call whose frame has that number, if its parameters were kept, ends now.
func (k *ftraceKept) end(depth int32) {
	if k != nil && k.depth == depth {
		k.ended = true
	}
}

// turn makes addresses of the distances, or distances of the addresses.
func (k *ftraceKept) turn(gp *g) {
	for i := range k.n {
		e := efaceOf(&k.values[i])
		p := e.data
		if e._type != nil && e._type.IsDirectIface() {
			p = unsafe.Pointer(&e.data)
		}
		for bits := k.onStack[i]; bits != 0; bits &= bits - 1 {
			word := (*uintptr)(add(p, uintptr(sys.TrailingZeros64(bits))*goarch.PtrSize))
			*word = gp.stack.hi - *word
		}
	}
}

// after records the parameters of the call of frame, which ends, and what paths lead to in them.
// Its goroutine is held on its processor, so its stack stays where it is.
//
//go:noinline
func (w *ftraceWriter) after(gp *g, frame *ftraceFrame, clause *ftrace_rule_Clause, depth int32) {
	k, f := gp.ftraceKept, frame.fn.ptr()
	if k == nil || !k.ended || k.depth != gp.ftrace.depth {
		return
	}
	k.turn(gp)
	var room [ftraceValuesMax]any
	values := k.values[:k.n]
	if f.flags&ftraceHasSecrets != 0 {
		values = f.hide((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&room))), values, clause.Own, false, false)
	}
	var more [ftraceValuesMax]any
	own, flags := len(values), ftraceLayoutFlags(clause)
	var layout *ftraceLayout
	if clause.Capture != "" {
		paths := ftracePaths{f: f, text: clause.Capture, redaction: clause.Own}
		values = paths.follow((*[ftraceValuesMax]any)(noescape(unsafe.Pointer(&more))), values, false)
		layout = f.entryLayouts.find(values, flags, &paths, own)
	} else {
		layout = f.entryLayouts.find(values, flags, nil, own)
	}
	if layout != nil {
		r := w.begin(gp, ftrace_format_KindAfter, f, depth)
		w.end(r, ftraceRecordSize+layout.capture(add(unsafe.Pointer(r), ftraceRecordSize), r, values))
	}
	k.turn(gp)
}
