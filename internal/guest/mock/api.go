//go:build ftrace_core

// What package mock calls: finding functions, putting replacements in force and ending them.

package runtime

import (
	"internal/abi"
	"unsafe"
)

// ftrace_mock_start is called when package mock is initialised. run is where the code of
// testing.(*T).Run begins.
//
//go:linkname ftrace_mock_start
func ftrace_mock_start(dispatcher func(data any, params []any, want, instance any) (results any, n int), ended func(call any, results []any, panicked bool), run uintptr) {
	ftraceDispatcher, ftraceToldEnd = dispatcher, ended
	if f := findfunc(run); f.valid() {
		_, end, _ := ftraceFuncRange(f)
		ftraceTestRun = [2]uintptr{f.entry(), end}
	}
}

// ftraceFuncRange returns where a function's code begins and ends.
func ftraceFuncRange(f funcInfo) (start, end uintptr, ok bool) {
	start = f.entry()
	tab := f.datap.ftab
	for i := 0; i+1 < len(tab); i++ {
		if f.datap.textAddr(tab[i].entryoff) == start {
			return start, f.datap.textAddr(tab[i+1].entryoff), true
		}
	}
	return start, start, false
}

// ftrace_mock_find finds the function with this name, which begins with its package's import path,
// or with what stands for that in symbols. It returns the function, what stands for the path, and
// the text of its type. If there is none it reports whether any function of the package has hooks.
//
//go:linkname ftrace_mock_find
func ftrace_mock_find(name string) (fn unsafe.Pointer, pkg, typ string, hooked bool) {
	semacquire(&ftraceRegistry.lock)
	ftraceMakeShims()
	found := func(p *ftracePkg) (ofPackage bool) {
		for _, path := range [...]string{p.Symbol, p.Path} {
			if !p.functions() || len(name) <= len(path) || name[:len(path)] != path || name[len(path)] != '.' {
				continue
			}
			ofPackage = true
			p.read()
			for i := range p.Nfuncs {
				if f := p.fn(i); f.name == name[len(path)+1:] {
					fn, pkg, typ = unsafe.Pointer(f), p.Symbol, f.typeText()
				}
			}
		}
		return ofPackage
	}
	for i := range ftraceShims.pkgs {
		found(&ftraceShims.pkgs[i])
	}
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		hooked = found(p) || hooked
	}
	semrelease(&ftraceRegistry.lock)
	return fn, pkg, typ, hooked
}

// ftrace_mock_tables returns of each package with hooks its import path, what stands for that in
// symbols, and the text of its functions.
//
//go:linkname ftrace_mock_tables
func ftrace_mock_tables() (tables [][3]string) {
	semacquire(&ftraceRegistry.lock)
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if p.functions() {
			tables = append(tables, [3]string{p.Path, p.Symbol, p.Funcs})
		}
	}
	semrelease(&ftraceRegistry.lock)
	return tables
}

// ftrace_mock_lists returns the lists of the package with this import path, or nil, and reports
// whether any function of it has hooks.
//
//go:linkname ftrace_mock_lists
func ftrace_mock_lists(path string) (lists any, hooked bool) {
	semacquire(&ftraceRegistry.lock)
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		if p.Path == path && p.functions() {
			lists, hooked = p.Lists, true
		}
	}
	semrelease(&ftraceRegistry.lock)
	return lists, hooked
}

// ftrace_mock_matching returns the functions that a pattern names, or what is wrong with it.
//
//go:linkname ftrace_mock_matching
func ftrace_mock_matching(pattern string) (names []string, message string) {
	clauses, fault, ok := ftraceParsePattern(pattern)
	if !ok {
		return nil, fault.Message
	}
	semacquire(&ftraceRegistry.lock)
	if ftraceBinary == "" {
		ftraceBinary = ftraceExecutable()
	}
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		p.read()
		for i := range p.Nfuncs {
			if f := p.fn(i); p.functions() && ftraceSelects(clauses, f) {
				names = append(names, p.Symbol+"."+f.name)
			}
		}
	}
	semrelease(&ftraceRegistry.lock)
	return names, ""
}

// ftrace_mock_add puts a replacement of fn in force, everywhere or in the goroutine's scope. plan
// is an *ftracePlan or nil. Before that it stores the replacement in handle, because a goroutine
// that is calling fn may need it at once.
//
//go:linkname ftrace_mock_add
func ftrace_mock_add(fn unsafe.Pointer, data any, everywhere bool, plan unsafe.Pointer, handle *unsafe.Pointer) {
	m := &ftraceMock{fn: (*ftraceFunc)(fn), data: data, plan: (*ftracePlan)(plan)}
	*handle = unsafe.Pointer(m)
	m.limit(everywhere)
	semacquire(&ftraceRegistry.lock)
	ftraceMockSeq++
	m.seq = ftraceMockSeq
	m.fn.setMocks(m, nil)
	ftraceUnlockRegistry()
}

// limit says for which goroutines m is.
func (m *ftraceMock) limit(everywhere bool) {
	state := &getg().ftraceMock
	if m.everywhere = everywhere; everywhere {
		m.scope = state.scope
	} else {
		m.scope = state.own()
	}
}

// ftrace_mock_remove ends a replacement.
//
//go:linkname ftrace_mock_remove
func ftrace_mock_remove(mock unsafe.Pointer) {
	m := (*ftraceMock)(mock)
	semacquire(&ftraceRegistry.lock)
	m.fn.setMocks(nil, m)
	ftraceUnlockRegistry()
}

// setMocks adds one replacement and takes off another. The registry is locked.
func (f *ftraceFunc) setMocks(add, remove *ftraceMock) {
	var list []*ftraceMock
	if old := (*ftraceMocks)(f.mocks); old != nil {
		old.fast.seen()
		list = make([]*ftraceMock, 0, len(old.list)+1)
		for _, m := range old.list {
			if add != nil && add.depth() >= m.depth() { // it is the latest
				list = append(list, add)
				add = nil
			}
			if m != remove {
				list = append(list, m)
			}
		}
	}
	if add != nil {
		list = append(list, add)
	}
	var mocks *ftraceMocks
	if len(list) > 0 {
		mocks = &ftraceMocks{list: list}
		mocks.fast.prepare(list[0], len(list) == 1)
		mocks.fast.published()
	}
	atomicstorep(unsafe.Pointer(&f.mocks), unsafe.Pointer(mocks))
	f.loadLaid().arm(f)
}

// ftrace_mock_quiet sets whether package mock is at work on this goroutine: its own calls are then
// neither replaced nor traced. It returns the setting before that.
//
//go:linkname ftrace_mock_quiet
func ftrace_mock_quiet(quiet bool) (before bool) {
	state := &getg().ftraceMock
	before = state.quiet
	state.quiet = quiet
	return before
}

// ftrace_mock_bypass makes the next call of the function skip the replacement, on this goroutine;
// nil takes that back.
//
//go:linkname ftrace_mock_bypass
func ftrace_mock_bypass(mock unsafe.Pointer) (previous unsafe.Pointer) {
	state := &getg().ftraceMock
	previous = unsafe.Pointer(state.bypass)
	state.bypass = (*ftraceMock)(mock)
	return previous
}

// ftrace_mock_code returns where the code of the function with this symbol begins, or 0 if the
// linker left it out.
//
//go:linkname ftrace_mock_code
func ftrace_mock_code(symbol string) uintptr {
	for datap := &firstmoduledata; datap != nil; datap = datap.next {
		for i := 0; i+1 < len(datap.ftab); i++ {
			f := funcInfo{(*_func)(unsafe.Pointer(&datap.pclntable[datap.ftab[i].funcoff])), datap}
			if funcname(f) == symbol {
				return f.entry()
			}
		}
	}
	return 0
}

// ftrace_mock_wrapper reports whether the compiler made the function whose code begins there, to
// call another.
//
//go:linkname ftrace_mock_wrapper
func ftrace_mock_wrapper(code uintptr) bool {
	f := findfunc(code)
	return f.valid() && f.funcID == abi.FuncIDWrapper
}

// ftrace_mock_receiver returns the receiver of the method value with this closure if it was made of
// an interface.
//
//go:linkname ftrace_mock_receiver
func ftrace_mock_receiver(closure unsafe.Pointer) (receiver any, ok bool) {
	bound := (*struct {
		code     uintptr
		receiver iface
	})(closure)
	if !ftraceReadable(closure, unsafe.Sizeof(*bound)) {
		return nil, false
	}
	lock(&itabLock)
	iterate_itabs(func(tab *itab) { ok = ok || tab == bound.receiver.tab })
	unlock(&itabLock)
	if ok {
		e := efaceOf(&receiver)
		e._type, e.data = bound.receiver.tab.Type, bound.receiver.data
	}
	return receiver, ok
}
