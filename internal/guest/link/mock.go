//go:build ftrace_core

// This file is added to package github.com/ftrace-wrap/ftrace-wrap/mock when the wrapper compiles
// it: the links into the core.

package mock

import "unsafe"

//go:linkname linkStart runtime.ftrace_mock_start
func linkStart(dispatcher func(data any, params []any, want, instance any) (results any, n int), ended func(call any, results []any, panicked bool), run uintptr)

//go:linkname linkFind runtime.ftrace_mock_find
func linkFind(name string) (fn unsafe.Pointer, pkg, typ string, hooked bool)

//go:linkname linkAdd runtime.ftrace_mock_add
func linkAdd(fn unsafe.Pointer, data any, everywhere bool, plan unsafe.Pointer, handle *unsafe.Pointer)

//go:linkname linkTables runtime.ftrace_mock_tables
func linkTables() [][3]string

//go:linkname linkLists runtime.ftrace_mock_lists
func linkLists(path string) (lists any, hooked bool)

//go:linkname linkRemove runtime.ftrace_mock_remove
func linkRemove(mock unsafe.Pointer)

//go:linkname linkQuiet runtime.ftrace_mock_quiet
func linkQuiet(quiet bool) (before bool)

//go:linkname linkBypass runtime.ftrace_mock_bypass
func linkBypass(mock unsafe.Pointer) (previous unsafe.Pointer)

//go:linkname linkCode runtime.ftrace_mock_code
func linkCode(symbol string) uintptr

//go:linkname linkWrapper runtime.ftrace_mock_wrapper
func linkWrapper(code uintptr) bool

//go:linkname linkReceiver runtime.ftrace_mock_receiver
func linkReceiver(closure unsafe.Pointer) (receiver any, ok bool)

//go:linkname linkFail runtime.ftrace_mock_fail
func linkFail(pattern string, err error, first, last uint64, everywhere bool) (faults []unsafe.Pointer, named int, message string)

//go:linkname linkFailed runtime.ftrace_mock_failed
func linkFailed(fault unsafe.Pointer) (name string, n uint64)

//go:linkname linkMatching runtime.ftrace_mock_matching
func linkMatching(pattern string) (names []string, message string)

//go:linkname linkGoroutine runtime.ftrace_api_goroutine
func linkGoroutine() uint64

//go:linkname linkScope runtime.ftrace_mock_scope
func linkScope() unsafe.Pointer

//go:linkname linkBubbled runtime.ftrace_mock_bubbled
func linkBubbled() bool

//go:linkname linkTicks runtime.ftrace_mock_ticks
func linkTicks(on bool) (before bool)

//go:linkname linkBusy runtime.ftrace_mock_busy
func linkBusy(scope unsafe.Pointer) int

// The links are there before package mock's init function.
var _ = connect()

func connect() bool {
	coreStart, coreFind, coreAdd, coreRemove = linkStart, linkFind, linkAdd, linkRemove
	coreQuiet, coreBypass, coreCode, coreReceiver = linkQuiet, linkBypass, linkCode, linkReceiver
	coreFail, coreFailed, coreTables, coreGoroutine = linkFail, linkFailed, linkTables, linkGoroutine
	coreMatching, coreLists, coreWrapper = linkMatching, linkLists, linkWrapper
	coreScope, coreBubbled, coreTicks, coreBusy = linkScope, linkBubbled, linkTicks, linkBusy
	return true
}
