//go:build ftrace_core

// Functions of package runtime that tests replace, time.Sleep among them. The rewriter can't give
// them hooks. So splices do (internal/inject/splices.go), in the form that it gives others. No rule
// selects these functions: the hooks serve replacements alone.

package runtime

import (
	"internal/bytealg"
	"unsafe"
)

// The numbers of the functions, in the order of ftraceShimText: in package time, then in runtime.
const (
	ftraceShimSleep = iota
	ftraceShimGC
	ftraceShimGOMAXPROCS
	ftraceShimNumCPU
	ftraceShimNumGoroutine
	ftraceShimReadMemStats
	ftraceShimCount
)

// ftraceShimText are the functions by package. A type that begins with ~ tells package mock to
// convert the parameters, whose named types package runtime does not have.
var ftraceShimText = [...]string{
	"0 0 Sleep d;;~func(_)\n",
	"0 0 GC ;;func()\n0 0 GOMAXPROCS n;;func(int)(int)\n0 0 NumCPU ;;func()(int)\n0 0 NumGoroutine ;;func()(int)\n0 0 ReadMemStats m;;func(*MemStats)\n",
}

var ftraceShims struct {
	pkgs  [len(ftraceShimText)]ftracePkg
	files [1]string
	hooks [ftraceShimCount]any
	table [ftraceShimCount]struct {
		mocks unsafe.Pointer
		core  [ftrace_format_EntryWords]uint64
	}
}

// ftraceMakeShims makes the packages. They are in no list. The registry is locked.
func ftraceMakeShims() {
	s := &ftraceShims
	if s.pkgs[0].Path != "" {
		return
	}
	first := uintptr(0)
	for i := range s.pkgs {
		p := &s.pkgs[i]
		p.Path = [...]string{"time", "runtime"}[i]
		p.Symbol, p.Funcs, p.Nfuncs = p.Path, ftraceShimText[i], uintptr(bytealg.CountString(ftraceShimText[i], '\n'))
		p.Files = s.files[:]
		p.Hooks = unsafe.Pointer(&s.hooks[first])
		p.Table = unsafe.Pointer(&s.table[first])
		first += p.Nfuncs
		p.read()
		for i := range p.Nfuncs {
			p.fn(i).hook.data = unsafe.Pointer(p.fn(i)) // as ftrace_register does
		}
	}
}
