//go:build ftrace_core

// Mocks: calls that go to a replacement. What package mock
// (github.com/ftrace-wrap/ftrace-wrap/mock) calls is in mock/api.go.
//
// A function that is replaced has its hook on. The core finds the replacement that is in force for
// the goroutine, copies the parameters to the heap (mock/lift.go) and calls package mock. That
// calls the replacement or declines. The results go back through the hook: to where it has room for
// them, or, in a function with a deferred hook, by ftrace_exit.

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceScope is a goroutine and those that it starts, at any depth: all whose scope is this one or
// one below it.
type ftraceScope struct {
	parent *ftraceScope
	depth  int
	clock  bool // a clock waits for what its goroutines do
}

// ftraceMock is one replacement in force. It does not change.
type ftraceMock struct {
	fn         *ftraceFunc
	scope      *ftraceScope // in which it was made, or nil
	everywhere bool         // it is for goroutines outside of that, too
	seq        uint64       // later ones have higher numbers
	data       any          // belongs to package mock
	plan       *ftracePlan  // how to call it without package mock, or nil
	fault      *ftraceFault // if not nil it is not package mock's: calls fail
}

// ftraceMocks are the replacements of one function: those of inner scopes first, then later ones
// first. It does not change.
type ftraceMocks struct {
	list []*ftraceMock
	fast ftraceFastMock
}

// ftraceMockG is the state of a goroutine.
type ftraceMockG struct {
	scope    *ftraceScope
	ownScope bool         // the scope is this goroutine's, not that of the goroutine that started it
	quiet    bool         // package mock itself is at work: what it calls is neither replaced nor traced
	ticks    bool         // it is at work for a clock, see clock.go
	bypass   *ftraceMock  // the next call of its function skips it
	results  any          // what ftrace_exit is to store: a pointer to the result, or to a struct of the results; or an *ftraceFault
	n        int          // number of results
	lift     *ftraceLift  // the copies that these results may point to, or nil
	noted    *ftraceNoted // the innermost call of whose end package mock wants to hear, or nil
}

// ftraceDispatcher belongs to package mock. It calls what data stands for, with the parameters. It
// returns a pointer to the result, or to a struct of the results, and their number, or -1 if it
// declines.
//
// want is of the type of the result or of that struct, if that is known. If it is not, the results
// can also be a pointer to ftraceAnyResults, and the number ftraceAny. instance is what
// ftraceFunc.instance returns.
var ftraceDispatcher func(data any, params []any, want, instance any) (results any, n int)

// ftraceTestRun has the bounds of the code of testing.(*T).Run, which starts goroutines that are
// scopes of their own.
var ftraceTestRun [2]uintptr

// ftraceAnyResults are results that package mock could not give their types. It has the same type,
// anyResults.
type ftraceAnyResults struct {
	values   []any // nil: the zero value
	function string
}

const ftraceAny = -2

var ftraceMockSeq uint64

// depth returns how far in m's scope is.
func (m *ftraceMock) depth() int {
	if m.scope == nil {
		return 0
	}
	return m.scope.depth
}

// depthFor returns how far in m's scope is for a goroutine in scope, or 0 if that is outside of it.
func (m *ftraceMock) depthFor(scope *ftraceScope) int {
	if m.scope == nil || !m.scope.contains(scope) {
		return 0
	}
	return m.scope.depth
}

// before reports whether m is tried before o in scope.
func (m *ftraceMock) before(o *ftraceMock, scope *ftraceScope) bool {
	depth, other := m.depthFor(scope), o.depthFor(scope)
	return depth > other || depth == other && m.seq > o.seq
}

// contains reports whether o is this scope or one below it.
func (s *ftraceScope) contains(o *ftraceScope) bool {
	for o != nil && o.depth > s.depth {
		o = o.parent
	}
	return s == o
}

// mock returns the replacement of f that is tried first in scope; if after is not nil, of those
// that are tried after it. Replacements from outside of scope come last.
func (f *ftraceFunc) mock(scope *ftraceScope, after *ftraceMock) *ftraceMock {
	mocks := (*ftraceMocks)(atomic.Loadp(unsafe.Pointer(&f.mocks)))
	if mocks == nil {
		return nil
	}
	mocks.fast.seen()
	var outer *ftraceMock
	for _, m := range mocks.list {
		switch depth := m.depthFor(scope); {
		case depth == 0 && !m.everywhere || after != nil && !after.before(m, scope):
		case depth > 0:
			return m
		case outer == nil || m.seq > outer.seq:
			outer = m
		}
	}
	return outer
}

// ftraceReplacement returns the replacement of f that is in force for this call, or nil.
func ftraceReplacement(gp *g, f *ftraceFunc) *ftraceMock {
	if t := gp.ftrace; !ftraceMayTrace(gp) || t != nil && t.busy != 0 {
		return nil
	}
	state := &gp.ftraceMock
	after := state.bypass
	if after != nil && after.fn == f {
		state.bypass = nil
	} else {
		after = nil
	}
	return f.mock(state.scope, after)
}

// instance returns what a generic function's hook tells of the instantiation that is called, which
// lies after the parameters: a func of the type arguments that returns the function. It returns nil
// if the hook does not tell, or the function is not generic.
func (f *ftraceFunc) instance(params []any) any {
	if f.flags&ftraceTellsInstance == 0 {
		return nil
	}
	return *(*any)(add(unsafe.Pointer(unsafe.SliceData(params)), uintptr(len(params))*unsafe.Sizeof(eface{})))
}

// ftraceReplace calls m, and if that declines the ones after it. It returns what ftraceDispatcher
// does, or, if the call is to fail, the *ftraceFault and 0. The call's frame is at offset.
func ftraceReplace(gp *g, f *ftraceFunc, offset uintptr, m *ftraceMock, params []any, want *_type) (results any, n int) {
	for m != nil && m.fault != nil { // which keeps nothing of the parameters
		if m.fault.fails(want) {
			return m.fault.of(f, params), 0
		}
		m = f.mock(gp.ftraceMock.scope, m)
	}
	if m == nil {
		return nil, -1
	}
	instance := f.instance(params)
	if results, n = m.plan.results(gp, params, want, instance); n >= 0 {
		return results, n
	}
	var l ftraceLift
	l.take(params)
	if l.failed != "" {
		panic(plainError("mock: " + f.pkg.Symbol + "." + f.name + " can't be replaced in this call: a parameter " + l.failed))
	}
	if l.changes() {
		results, n = l.dispatch(f, offset, m, want, instance)
		if n != 0 && n != -1 {
			lift := new(ftraceLift)
			*lift = l
			gp.ftraceMock.lift = lift
		}
		return results, n
	}
	return ftraceDispatch(gp, f, offset, m, l.values, want, instance)
}

// dispatch is ftraceDispatch with copies. They are given back even if the replacement panics.
func (l *ftraceLift) dispatch(f *ftraceFunc, offset uintptr, m *ftraceMock, want *_type, instance any) (results any, n int) {
	defer l.giveBack()
	return ftraceDispatch(l.gp, f, offset, m, l.values, want, instance)
}

// ftraceDispatch calls m, and if that declines the ones after it.
func ftraceDispatch(gp *g, f *ftraceFunc, offset uintptr, m *ftraceMock, params []any, want *_type, instance any) (results any, n int) {
	state := &gp.ftraceMock
	state.sweepNoted(f, offset)
	var wanted any
	efaceOf(&wanted)._type = want
	for n = -1; m != nil; m = f.mock(state.scope, m) {
		if m.fault != nil {
			if m.fault.fails(want) {
				return m.fault.of(f, params), 0
			}
			continue
		}
		if results, n = m.plan.results(gp, params, want, instance); n >= 0 {
			return results, n
		}
		state.quiet = true
		results, n = ftraceDispatcher(m.data, params, wanted, instance) // resets quiet
		switch n {
		case -1:
		case ftraceContinues:
			state.note(f, offset, want == nil, results)
		default:
			return results, n
		}
	}
	return nil, -1
}

// store stores the values where results point.
func (r *ftraceAnyResults) store(results []any, lift *ftraceLift) {
	for i := range results {
		to := (*ptrtype)(unsafe.Pointer(efaceOf(&results[i])._type)).Elem
		p, value := newobject(to), efaceOf(&r.values[i])
		switch {
		case value._type == nil:
		case to.Kind() == abi.Interface:
			if !ftraceInterface(to, value, (*[2]unsafe.Pointer)(p)) {
				r.misfit(value._type, to)
			}
		case value._type != to:
			r.misfit(value._type, to)
		case to.IsDirectIface():
			*(*unsafe.Pointer)(p) = value.data
		default:
			typedmemmove(to, p, value.data)
		}
		systemstack(func() {
			if lift != nil {
				lift.lower(p, to)
			}
			typedmemmove(to, efaceOf(&results[i]).data, p)
		})
	}
}

func (r *ftraceAnyResults) misfit(got, want *_type) {
	panic(plainError("mock: the replacement of " + r.function + " returned a " + toRType(got).string() + ", the function's result is a " + toRType(want).string()))
}

// ftraceInterface makes the two words of an interface of type t that holds e.
func ftraceInterface(t *_type, e *eface, words *[2]unsafe.Pointer) bool {
	switch {
	case e._type == nil:
		return true
	case len((*interfacetype)(unsafe.Pointer(t)).Methods) == 0:
		words[0] = unsafe.Pointer(e._type)
	default:
		tab := getitab((*interfacetype)(unsafe.Pointer(t)), e._type, true)
		if tab == nil {
			return false
		}
		words[0] = unsafe.Pointer(tab)
	}
	words[1] = e.data
	return true
}

// ftracePointed returns the type and place of what the pointer p leads to.
func ftracePointed(p *any) (*_type, unsafe.Pointer) {
	e := efaceOf(p)
	return (*ptrtype)(unsafe.Pointer(e._type)).Elem, e.data
}

// ftraceResult returns the type and place of result i of n. At p is the result, or a struct of the
// results, of type t.
func ftraceResult(t *_type, p unsafe.Pointer, n, i int) (*_type, unsafe.Pointer) {
	if n == 1 {
		return t, p
	}
	field := &(*structtype)(unsafe.Pointer(t)).Fields[i]
	return field.Typ, add(p, field.Offset)
}

// ftraceUnpack returns results as a hook at a return would get them.
func ftraceUnpack(t *_type, p unsafe.Pointer, n int) []any {
	values := make([]any, n)
	for i := range values {
		typ, at := ftraceResult(t, p, n, i)
		values[i] = ftraceResultValue(typ, at)
	}
	return values
}

// ftraceResultValue returns the result of type t at p.
func ftraceResultValue(t *_type, p unsafe.Pointer) (value any) {
	v := efaceOf(&value)
	switch {
	case t.Kind() == abi.Interface && len((*interfacetype)(unsafe.Pointer(t)).Methods) == 0:
		*v = *(*eface)(p)
	case t.Kind() == abi.Interface:
		if i := (*iface)(p); i.tab != nil {
			v._type, v.data = i.tab.Type, i.data
		}
	case t.IsDirectIface():
		v._type, v.data = t, *(*unsafe.Pointer)(p)
	default:
		v._type, v.data = t, p
	}
	return value
}

// ftraceScopeStart is called for each new goroutine, on the system stack. The goroutine is in the
// scope of the one that starts it; a test is in a scope of its own.
func ftraceScopeStart(newg, callergp *g) {
	newg.ftraceMock.scope = callergp.ftraceMock.scope
	if newg.gopc >= ftraceTestRun[0] && newg.gopc < ftraceTestRun[1] {
		newg.ftraceMock.enter()
	}
}

// clear forgets what a goroutine had. Most have had nothing.
func (state *ftraceMockG) clear() {
	if state.scope != nil || state.quiet || state.bypass != nil || state.results != nil || state.lift != nil || state.noted != nil {
		*state = ftraceMockG{}
	}
}

// own returns the goroutine's own scope, and makes it if there is none.
func (state *ftraceMockG) own() *ftraceScope {
	if !state.ownScope {
		state.enter()
	}
	return state.scope
}

// enter makes a scope of its own for a goroutine.
func (state *ftraceMockG) enter() {
	scope := &ftraceScope{parent: state.scope, depth: 1}
	if state.scope != nil {
		scope.depth = state.scope.depth + 1
	}
	state.scope, state.ownScope = scope, true
}
