package inject

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/rewrite"
)

// A splice inserts text after a piece of source that appears exactly once in a file, or before it,
// or in the place of what follows it there if that is to be cut. It adds no line.
type splice struct {
	file   string
	behind string
	before bool   // the text goes before that piece
	cut    string // what the text takes the place of
	text   string
	from   string // first release that it is for, "" for all
	to     string // last release
	unix   bool   // not for windows
	goos   string // the only system that it is for, "" for all
}

// splices are the changes to the sources of Go's packages.
var splices = map[string][]splice{
	"runtime": {
		// The compiler and assembly code know where the first fields of a g are.
		{file: "runtime2.go", behind: "// goid of goroutine that created this goroutine\n", text: "ftrace *ftraceG; ftraceRecovered any; ftraceKept *ftraceKept; ftraceMock ftraceMockG; ftraceWeave ftraceWeaveG; ftraceProtocol ftraceProtocolG; ftraceWait ftraceWaitG; ftraceLocks *ftraceHeldLocks; ftraceTrace *ftrace_tracecontext_Context;"},
		{file: "runtime2.go", behind: "// must not split stack\n", text: "ftraceInSyscall bool;"}, // exitsyscall has the line in its cache
		{file: "runtime2.go", behind: "\tpcache      pageCache\n", text: "ftrace *ftraceWriter;"},
		{file: "proc.go", behind: "\nfunc gopark(unlockf func(*g, unsafe.Pointer) bool, lock unsafe.Pointer, reason waitReason, traceReason traceBlockReason, traceskip int) {", text: "if ftraceWaits.on != 0 { ftraceStops(lock, reason) }; if raceenabled { ftraceRaceStops() };"},
		{file: "proc.go", behind: "\nfunc goexit1() {", text: "if raceenabled { ftraceRaceStops() };"},
		{file: "proc.go", behind: "\tmcall(park_m)\n", text: "if getg().ftraceWait.begin != 0 { ftraceGoesOn() };"},
		{file: "proc.go", behind: "\nfunc ready(gp *g, traceskip int, next bool) {", text: "if gp.ftraceWait.begin != 0 { ftraceReadied(gp) };"},
		{file: "proc.go", behind: "\nfunc goschedImpl(gp *g, preempted bool) {", text: "if ftraceWaits.on != 0 { ftraceYields(gp, ftraceWaitCPU, preempted) };"},
		{file: "proc.go", behind: "\nfunc goyield_m(gp *g) {", text: "if ftraceWaits.on != 0 { ftraceYields(gp, ftraceWaitCPU, false) };"},
		{file: "proc.go", behind: "\nfunc preemptPark(gp *g) {", text: "if ftraceWaits.on != 0 { ftraceYields(gp, ftraceWaitScan, true) };"},
		{file: "proc.go", behind: "\tif mp.profilehz != hz {\n\t\tsetThreadCPUProfiler(hz)\n\t}\n", text: "if gp.ftraceWait.begin != 0 && (gp.ftraceWait.operating || gp.ftraceWait.kind >= ftraceWaitScan) { ftraceRuns(gp) };"},
		{file: "proc.go", behind: "\tsched.gcwaiting.Store(false)\n", text: "if ftraceWaits.on != 0 { ftraceWorldStarts() };"},
		{file: "proc.go", behind: "\nfunc reentersyscall(pc, sp, bp uintptr) {", text: "if ftraceWaits.long != 0 { ftraceEntersSyscall() };"},
		{file: "proc.go", behind: "\nfunc entersyscallblock() {", text: "if ftraceWaits.long != 0 { ftraceEntersSyscall() };"},
		{file: "proc.go", behind: "\t\t\t// Scheduling of this goroutine is disabled.\n\t\t\tGosched()\n\t\t}\n", text: "if gp.ftraceInSyscall { ftraceLeavesSyscall() };"},
		{file: "proc.go", behind: "\tgp.m.p.ptr().syscalltick++\n\tgp.throwsplit = false\n", text: "if gp.ftraceInSyscall { ftraceLeavesSyscall() };"},
		{file: "proc.go", behind: "\nfunc exitsyscall0(gp *g) {", text: "if gp.ftraceInSyscall || gp.ftraceWait.operating { ftraceReadied(gp) };", to: "go1.25"},
		{file: "proc.go", behind: "\nfunc exitsyscallNoP(gp *g) {", text: "if gp.ftraceInSyscall || gp.ftraceWait.operating { ftraceReadied(gp) };", from: "go1.26"},
		{file: "proc.go", behind: "\nfunc dropm() {", text: "ftraceForgetsSyscall(getg().m.curg);"},
		// Messages that the program takes from a channel. The mark is where the struct has a gap.
		{file: "chan.go", behind: "\telemsize uint16\n", text: "ftraceTaker uint8;"},
		{file: "chan.go", behind: "\nfunc chanrecv1(c *hchan, elem unsafe.Pointer) {\n\tchanrecv(c, elem, true)\n", text: "if c.ftraceTaker != 0 { ftraceTaken(c, elem) };"},
		{file: "chan.go", behind: "\t_, received = chanrecv(c, elem, true)\n", text: "if received && c.ftraceTaker != 0 { ftraceTaken(c, elem) };"},
		{file: "chan.go", behind: "\nfunc selectnbrecv(elem unsafe.Pointer, c *hchan) (selected, received bool) {\n\t", cut: "return chanrecv(c, elem, false)", text: "selected, received = chanrecv(c, elem, false); if received && c.ftraceTaker != 0 { ftraceTaken(c, elem) }; return"},
		{file: "select.go", behind: "\t\tblockevent(caseReleaseTime-t0, 1)\n\t}\n", text: "if recvOK && c.ftraceTaker != 0 { ftraceTaken(c, cas.elem) };"},
		{file: "sema.go", behind: "\t\troot.queue(addr, s, lifo)\n", text: "gp.ftraceWait.at = uintptr(unsafe.Pointer(addr));"},
		{file: "sema.go", behind: "\t\tl.tail.next = s\n\t}\n", text: "s.g.ftraceWait.at = uintptr(unsafe.Pointer(l));"},
		{file: "sema.go", behind: "func sync_runtime_SemacquireRWMutexR(", cut: "addr *uint32, lifo bool, skipframes int", text: "rw unsafe.Pointer, readers int32"},
		{file: "sema.go", behind: "func sync_runtime_SemacquireRWMutexR(rw unsafe.Pointer, readers int32) {", text: "if readers < 0 {"},
		{file: "sema.go", behind: "\tsemacquire1(", cut: "addr, lifo, semaBlockProfile|semaMutexProfile, skipframes, waitReasonSyncRWMutexRLock)", text: "(*uint32)(add(rw, 12)), false, semaBlockProfile|semaMutexProfile, 0, waitReasonSyncRWMutexRLock) }; if !ftraceLocksOff { ftrace_locked(add(rw, ftraceForReading)) }"},
		{file: "mgcmark.go", behind: "\t\t\tgp.waitsince = work.tstart\n", text: "gp.ftraceWait.seen = nanotime();"}, // the runtime's own is when the cycle before ended
		{file: "mgc.go", behind: "\t\tsetGCPhase(_GCoff)\n", text: "if ftraceOrders.n != 0 { ftraceForgetDead() };"},
		{file: "netpoll.go", behind: "// protects against stale pollDesc\n", text: "ftraceKind uint8;"},
		{file: "netpoll.go", behind: "\tpd.fd = fd\n", text: "pd.ftraceKind = 0;"},
		{file: "netpoll.go", behind: "\tif waitio || netpollcheckerr(pd, mode) == pollNoError {\n", text: "getg().ftraceWait.at = uintptr(unsafe.Pointer(pd)); if ftraceWaits.on != 0 { ftracePolls(pd, mode) };"},
		{file: "netpoll.go", behind: "\t\trg = netpollunblock(pd, 'r', true, &delta)\n", text: "if rg != nil && rg.ftraceWait.begin != 0 { ftraceReadied(rg) };"},
		{file: "netpoll.go", behind: "\t\twg = netpollunblock(pd, 'w', true, &delta)\n", text: "if wg != nil && wg.ftraceWait.begin != 0 { ftraceReadied(wg) };"},
		{file: "proc.go", behind: "\n\tgcenable()\n", text: "ftraceInit();"},
		{file: "proc.go", behind: "\n\tneedUnlock = false\n", text: "ftraceReport();"},
		{file: "proc.go", behind: "\n\tnewg.startpc = fn.fn\n", text: "ftraceGoroutineStart(newg, callergp); if ftraceWaits.on != 0 && !parked { ftraceCreates(newg) };"},
		{file: "proc.go", behind: "\nfunc newproc(fn *funcval) {", text: "ftraceBeforeGo();"},
		{file: "proc.go", behind: "\nfunc goexit1() {", text: "ftraceDropFrames();"},
		{file: "proc.go", behind: "\nfunc gdestroy(gp *g) {", text: "ftraceGoroutineEnd(gp); ftraceLocksEnd(gp);"},
		{file: "proc.go", behind: "\nfunc runExitHooks(code int) {", text: "ftraceExits(code); ftraceFinish();"},
		{file: "proc.go", behind: "\t\t// this goroutine is explicitly resumed by sysmon\n", text: "if ftraceHandlerResumed() { continue };"},
		{file: "proc.go", behind: "\tfatal(\"all goroutines are asleep - deadlock!\")\n", before: true, text: "if ftraceDeadlocked != nil { ftraceDeadlocked() };"},
		{file: "signal_unix.go", behind: "\n\tgsignal := getg()\n\tmp := gsignal.m\n\tc := &sigctxt{info, ctxt}\n", text: "if ftraceTouchFaulted(sig, c) { return }; ftraceSignalled(sig, gp, c);", goos: "linux"},
		// sysmon writes what is held of the trace, and what else is due.
		{file: "proc.go", behind: "\t\t// most of their time sleeping.\n\t\tnow := nanotime()\n", text: "ftraceSysmonTick(now); ftraceClockTick(now); if ftraceBudget.share != 0 { ftraceBudgetTick(now) }; if !ftraceLocksOff { ftraceLocksTick() };"},
		{file: "proc.go", behind: "\t\t\t\t\tsleep := forcegcperiod / 2\n", text: "sleep = ftraceSysmonIdle(sleep); ftraceLocksIdle();"},
		{file: "cgocall.go", behind: "\n\tmp := getg().m\n\tmp.ncgocall++\n", text: "if ftraceWeaves != 0 { ftraceWriteHeldFirst(-1) };"},
		{file: "cgocall.go", behind: "\t// wired this M to a P.\n", text: "if ftraceWeaves != 0 { ftraceForgetStreams() };"},
		{file: "cgocall.go", behind: "\texitsyscall() // coming out of cgo call\n", text: "if ftraceWeaves != 0 { ftraceForgetStreams() };"},
		{file: "panic.go", behind: "\nfunc gopanic(e any) {", text: "ftracePanicking(e);"},
		{file: "panic.go", behind: "\nfunc recovery(gp *g) {", text: "ftraceRecovery(gp);"},
		{file: "panic.go", behind: "\nfunc preprintpanics(p *_panic) {", text: "ftraceDropFrames();"}, // this makes text of the values
		{file: "panic.go", behind: "\nfunc fatalpanic(msgs *_panic) {", text: "ftraceUnrecovered(msgs); ftraceFinish();"},
		{file: "panic.go", behind: "\nfunc startpanic_m() bool {", text: "ftraceDying();"},
		{file: "signal_unix.go", behind: "\nfunc dieFromSignal(sig uint32) {", text: "ftraceDying();", unix: true},
		{file: "signal_unix.go", behind: "\n\tunblocksig(sig)\n\tsetsig(sig, handler)\n", text: "ftraceDying();", unix: true}, // of C's threads
		{file: "runtime.go", behind: "\nfunc syscall_Exit(code int) {", text: "ftraceDying();"},
		{file: "proc.go", behind: "\nfunc syscall_runtime_BeforeExec() {", text: "ftraceCopiesDisable();"},
		{file: "proc.go", behind: "\nfunc syscall_runtime_AfterExec() {", text: "ftraceCopiesEnable();"},
		{file: "print.go", behind: "\trecordForPanic(b)\n\tgp := getg()\n", text: "if ftraceWeaves != 0 && ftraceCollect(gp, b) { return };"},
		// Tests replace these functions.
		{file: "time.go", behind: "\nfunc timeSleep(ns int64) {", text: "if ftraceShims.hooks[ftraceShimSleep] != nil && ftrace_e1(&ftraceShims.hooks[ftraceShimSleep], nil, ns) { return };"},
		{file: "mgc.go", behind: "\nfunc GC() {", text: "if ftraceShims.hooks[ftraceShimGC] != nil && ftrace_e0(&ftraceShims.hooks[ftraceShimGC], nil) { return };"},
		{file: "debug.go", behind: "\nfunc GOMAXPROCS(n int) int {", text: "if ftraceShims.hooks[ftraceShimGOMAXPROCS] != nil { var v int; if ftrace_e1(&ftraceShims.hooks[ftraceShimGOMAXPROCS], &v, n) { return v } };"},
		{file: "debug.go", behind: "\nfunc NumCPU() int {", text: "if ftraceShims.hooks[ftraceShimNumCPU] != nil { var v int; if ftrace_e0(&ftraceShims.hooks[ftraceShimNumCPU], &v) { return v } };"},
		{file: "debug.go", behind: "\nfunc NumGoroutine() int {", text: "if ftraceShims.hooks[ftraceShimNumGoroutine] != nil { var v int; if ftrace_e0(&ftraceShims.hooks[ftraceShimNumGoroutine], &v) { return v } };"},
		{file: "mstats.go", behind: "\nfunc ReadMemStats(m *MemStats) {", text: "if ftraceShims.hooks[ftraceShimReadMemStats] != nil && ftrace_e1(&ftraceShims.hooks[ftraceShimReadMemStats], nil, m) { return };"},
		{file: "write_err.go", behind: "\nfunc writeErr(b []byte) {", text: "ftraceWriteHeldFirst(2);"},
		{file: "print.go", behind: "\tmp.printlock--\n\tif mp.printlock == 0 {\n", text: "ftraced := ftraceCollected();"},
		{file: "print.go", behind: "\t\tunlock(&debuglock)\n", text: "if ftraced != nil { ftracePrintedBy(ftraced) };"},
	},
	"internal/runtime/maps": {}, // a file is added
	// Who holds locks. The fast paths read one word more, and stay short enough to be inlined.
	"internal/sync": {
		{file: "mutex.go", behind: "\tif atomic.CompareAndSwapInt32(&m.state, ", cut: "0", text: "ftraceLocksNever"},
		{file: "mutex.go", behind: "\nfunc (m *Mutex) lockSlow() {", text: "if !ftraceLocksOff && atomic.CompareAndSwapInt32(&m.state, 0, mutexLocked) { if race.Enabled { race.Acquire(unsafe.Pointer(m)) }; ftraceLocked(unsafe.Pointer(m)); return };"},
		{file: "mutex.go", behind: "\t\t} else {\n\t\t\told = m.state\n\t\t}\n\t}\n", text: "if !ftraceLocksOff { ftraceLocked(unsafe.Pointer(m)) };"},
		{file: "mutex.go", behind: "if !atomic.CompareAndSwapInt32(&m.state, old, old|mutexLocked) {\n\t\treturn false\n\t}\n", text: "if !ftraceLocksOff { ftraceTried(unsafe.Pointer(m)) };"},
		{file: "mutex.go", behind: "// Fast path: drop lock bit.\n\tnew := ", cut: "atomic.AddInt32(&m.state, -mutexLocked)", text: "int32(-1 << 31); if ftraceLocksOff { new = atomic.AddInt32(&m.state, -mutexLocked) }"},
		{file: "mutex.go", behind: "\nfunc (m *Mutex) unlockSlow(new int32) {", text: "if new == -1<<31 { ftraceUnlocks(unsafe.Pointer(m)); if new = atomic.AddInt32(&m.state, -mutexLocked); new == 0 { return } };"},
	},
	"sync": {
		{file: "runtime.go", behind: "func runtime_SemacquireRWMutexR(", cut: "s *uint32, lifo bool, skipframes int", text: "rw *RWMutex, readers int32"},
		{file: "rwmutex.go", behind: "\tif ", cut: "rw.readerCount.Add(1) < 0", text: "r := rw.readerCount.Add(1); r < ftraceLocksNever"},
		{file: "rwmutex.go", behind: "runtime_SemacquireRWMutexR(", cut: "&rw.readerSem, false, 0", text: "rw, r"},
		{file: "rwmutex.go", behind: "\t\tif rw.readerCount.CompareAndSwap(c, c+1) {", text: "if !ftraceLocksOff { ftraceTried(unsafe.Add(unsafe.Pointer(rw), ftraceForReading)) };"},
		{file: "rwmutex.go", behind: "if r := rw.readerCount.Add(-1); r < ", cut: "0", text: "ftraceLocksNever"},
		{file: "rwmutex.go", behind: "\nfunc (rw *RWMutex) rUnlockSlow(r int32) {", text: "if !ftraceLocksOff { ftraceUnlocks(unsafe.Add(unsafe.Pointer(rw), ftraceForReading)) }; if r >= 0 { return };"},
		{file: "rwmutex.go", behind: "\t\truntime_SemacquireRWMutex(&rw.writerSem, false, 0)\n\t}\n", text: "if !ftraceLocksOff { ftraceWrites(unsafe.Pointer(rw)) };"},
		{file: "rwmutex.go", behind: "\t\trw.w.Unlock()\n\t\tif race.Enabled {\n\t\t\trace.Enable()\n\t\t}\n\t\treturn false\n\t}\n", text: "if !ftraceLocksOff { ftraceWrites(unsafe.Pointer(rw)) };"},
	},
	// The go command keeps test results by the environment variables that the test has read. What
	// is traced is such a dependency.
	"testing/internal/testdeps": {
		{file: "deps.go", behind: "// known to cmd/go/internal/test/test.go\n", text: `log.w.WriteString("getenv FTRACE\ngetenv FTRACE_OUT\ngetenv FTRACE_FORMAT\ngetenv FTRACE_STATS\ngetenv FTRACE_SHOW\ngetenv FTRACE_FAIL\ngetenv FTRACE_RECORD\ngetenv FTRACE_ON_ERROR\ngetenv FTRACE_KEEP\ngetenv FTRACE_REDACT\ngetenv FTRACE_WEAVE\ngetenv FTRACE_GROUP\ngetenv FTRACE_CONSUMERS\ngetenv FTRACE_LOCKS\ngetenv FTRACE_BUDGET\ngetenv FTRACE_MEMORY\ngetenv FTRACE_TIMER\ngetenv FTRACE_PROTOCOL\ngetenv FTRACE_SHAKE\ngetenv FTRACE_PROPAGATE\n");`},
	},
	// A test that fails, or takes too long, is an error, of which FTRACE_ON_ERROR shows the calls
	// that led to it.
	"testing": {
		{file: "testing.go", behind: "\nfunc (c *common) Fail() {", text: "c.ftraceFails();"},
		{file: "testing.go", behind: "\tif c.parent != nil {\n\t\t", cut: "c.parent.Fail()", text: "c.parent.ftraceFail()"},
		{file: "testing.go", behind: "\ntype common struct {\n", text: "ftrace ftraceFailure;"},
		{file: "testing.go", behind: "\nfunc (c *common) log(s string) {", text: "c.ftraceLog(s);", to: "go1.26"},
		{file: "testing.go", behind: "\nfunc (c *common) log(s string, isErr bool) {", text: "c.ftraceLog(s);", from: "go1.27"},
		{file: "testing.go", behind: "\tif len(c.output) > 0 {\n\t\t// Add the current c.output to the print,\n", before: true, text: "c.ftraceFlush(p, testName);"},
		{file: "testing.go", behind: "\nfunc MainStart(deps testDeps, tests []InternalTest, benchmarks []InternalBenchmark, fuzzTargets []InternalFuzzTarget, examples []InternalExample) *M {", text: "ftraceStart(deps);"},
		{file: "testing.go", behind: "\nfunc (t *T) report() {\n\tif t.parent == nil {\n\t\treturn\n\t}\n", text: "t.ftraceKeeps();"},
		{file: "fuzz.go", behind: "\nfunc (f *F) report() {\n\tif *isFuzzWorker || f.parent == nil {\n\t\treturn\n\t}\n", text: "f.ftraceKeeps();"},
		{file: "testing.go", behind: "\nfunc tRunner(t *T, fn func(t *T)) {", text: "t.ftraceBegins();"},
		{file: "testing.go", behind: "\t\tpanic(fmt.Sprintf(\"test timed out after", before: true, text: "ftraceTimedOut();"},
	},
	// What the program writes and logs is woven into the trace.
	"syscall": {
		{file: "syscall_unix.go", behind: "\t\t\tn, err = 0, errnoErr(Errno(-n))\n\t\t}\n\t}", text: " else if ftraceWeaves != 0 { n, err = ftraceWrite(fd, p) }", unix: true},
		{file: "syscall_windows.go", behind: "\terr := ", cut: "writeFile(fd, p, done, overlapped)", text: "ftraceWriteFile(fd, p, done, overlapped)", goos: "windows"},
		{file: "exec_unix.go", behind: "\nfunc forkExec(argv0 string, argv []string, attr *ProcAttr) (pid int, err error) {", text: "if ftraceWeaves != 0 { ftraceWriteCopies() };", goos: "linux"},
		{file: "syscall_linux.go", behind: "\nfunc RawSyscall6(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err Errno) {", text: "if ftraceWeaves != 0 { ftraceCalling(trap, a1, a2, a3) };", goos: "linux"},
		{file: "syscall_linux.go", behind: ".Syscall6(trap, a1, a2, a3, a4, a5, a6)\n\terr = Errno(errno)\n", text: "if ftraceWeaves != 0 { ftraceCalled(trap, a1, a2) };", goos: "linux"},
	},
	"internal/poll": {
		{file: "fd_windows.go", behind: "n, err = ", cut: "fd.writeConsole(b)", text: "fd.ftraceWriteConsole(b)", goos: "windows"},
	},
	"log": {
		{file: "log.go", behind: "\n\tformatHeader(buf, now, prefix, flag, file, line)\n", text: "ftraceMessage := len(*buf);"},
		{file: "log.go", behind: "= append(*buf, '\\n')\n\t}\n\n\tl.outMu.Lock()\n\tdefer l.outMu.Unlock()\n",
			text: "if ftraceWeaves != 0 { defer ftraceLogged(ftraceLog(*buf, ftraceMessage, prefix, flag, file, line)) };"},
		logFatal("Fatal(v ...any)"), logFatal("Fatalf(format string, v ...any)"), logFatal("Fatalln(v ...any)"),
		logFatal("(l *Logger) Fatal(v ...any)"), logFatal("(l *Logger) Fatalf(format string, v ...any)"), logFatal("(l *Logger) Fatalln(v ...any)"),
	},
	"log/slog": {
		{file: "handler.go", behind: "\n\tbuf.WriteString(r.Message)\n", text: "ftraceAttrs := len(*buf);"},
		{file: "handler.go", behind: "\tdefer state.free()\n\tstate.appendNonBuiltIns(r)\n",
			text: "if ftraceWeaves != 0 { defer ftraceLogged(h.ch.ftraceHandle(r, *buf, ftraceAttrs, ftraceDefault)) };"},
		{file: "handler.go", behind: "\t\tstate.appendAttr(String(key, msg))\n\t}\n", text: "ftraceAttrs := len(*state.buf);"},
		{file: "logger.go", behind: "\n\tif !w.h.Enabled(context.Background(), level) {\n", text: "if ftraceWeaves != 0 { ftrace_dropped(buf) };"},
		{file: "handler.go", behind: "\n\th.mu.Lock()\n\tdefer h.mu.Unlock()\n", text: "if ftraceWeaves != 0 { defer ftraceLogged(h.ftraceHandle(r, *state.buf, ftraceAttrs, ftraceText)) };"},
	},
	// The static probes tcp and udp. Where package net reads and writes, and connections begin and
	// end, it calls guest/std/net.
	"net": netSplices,
	"net/http": {
		{file: "server.go", behind: "\t\th, r.Pattern, r.pat, r.matches = mux.findHandler(r)\n\t}\n", text: "if ftraceSpans != 0 { defer ftraceServes(w, r).end() };"},
		{file: "server.go", behind: "\t\thandler = globalOptionsHandler{}\n\t}\n", text: "if ftraceSpans != 0 { defer ftraceHandles(handler, rw, req).end() };"},
		// With FTRACE_PROPAGATE the request that is sent is another one, which nobody else sees.
		{file: "transport.go", behind: "altRT.RoundTrip(", cut: "req", text: "ftraceCarry(req)"},
		{file: "transport.go", behind: "; err != ErrSkipAltProtocol {\n", text: "if ftracePropagate { ftraceCarried(resp, origReq) };"},
		{file: "transport.go", behind: "pconn.alt.RoundTrip(", cut: "req", text: "ftraceCarry(req)"},
		{file: "transport.go", behind: "resp, err = pconn.roundTrip(", before: true, text: "treq.Request = ftraceCarry(req);"},
	},
	"os": slices.Concat([]splice{
		{file: "zero_copy_linux.go", behind: "written, err, handled = poll.SendFile(pfd, fd, 0)\n", text: "ftraceMoved(pfd, written, true);", goos: "linux"},
		{file: "zero_copy_linux.go", behind: "pollSplice(&f.pfd, pfd, remain)\n", text: "ftraceMoved(pfd, written, false);", goos: "linux"},
		// Operations on files, see guest/wait/operation.go.
		{file: "file_unix.go", behind: "\n\tpfd         poll.FD\n", text: "ftraceFile uint64;", unix: true},
		{file: "file_windows.go", behind: "\n\tpfd        poll.FD\n", text: "ftraceFile uint64;", goos: "windows"},
		{file: "file.go", behind: "f, err := openFileNolog(name, flag, perm)\n", before: true, text: "ftraced := ftraceOperations != 0 && ftraceOpens(name);"},
		{file: "file.go", behind: "f, err := openFileNolog(name, flag, perm)\n", text: "if ftraced { ftraceOpened(f) };"},
		{file: "exec_posix.go", behind: "\tsysattr.Files = make(", before: true, text: "if ftracePropagate { sysattr.Env = ftraceEnvironment(sysattr.Env) };"},
	},
		osOperation("file_posix.go", "n, err = ", "f.pfd.Read(b)", "Read", "n"),
		osOperation("file_posix.go", "n, err = ", "f.pfd.Pread(b, off)", "Read", "n"),
		osOperation("file_posix.go", "n, err = ", "f.pfd.Write(b)", "Write", "n"),
		osOperation("file_posix.go", "n, err = ", "f.pfd.Pwrite(b, off)", "Write", "n"),
		osOperation("file_unix.go", "ret, err = ", "f.pfd.Seek(offset, whence)", "Seek", "0"),
		osOperation("file_windows.go", "ret, err = ", "f.pfd.Seek(offset, whence)", "Seek", "0"),
		osOperation("zero_copy_linux.go", "written, handled, err = ", "pollCopyFileRange(&f.pfd, &src.pfd, remain)", "Write", "written"),
		osOperation("zero_copy_linux.go", "written, handled, err = ", "pollSplice(&f.pfd, pfd, remain)", "Write", "written"),
		osOperation("zero_copy_linux.go", "written, err, handled = ", "poll.SendFile(pfd, fd, 0)", "Read", "written"),
		failing("file_posix.go", "f", "f.pfd.Fsync()", "Sync"),
		failing("file_posix.go", "f", "f.pfd.Ftruncate(size)", "Resize"),
		failing("file_unix.go", "file", "file.pfd.Close()", "Close"),
		failing("file_windows.go", "file", "file.pfd.Close()", "Close"),
	),
}

// osOperation is for an operation of package os.
func osOperation(file, results, call, operation, n string) []splice {
	return operates(file, results, call, "f", operation, n)
}

// netOperation is for an operation of package net.
func netOperation(file, results, call, operation, n string) []splice {
	return operates(file, results, call, "fd", operation, n)
}

// operates is for an operation on a file that is a statement of its own: results, and a call. n is
// how many bytes were read or written.
func operates(file, results, call, receiver, operation, n string) []splice {
	return forFile(file,
		splice{behind: results + call + "\n", before: true, text: "ftraced := ftraceOperations != 0 && " + receiver + ".ftraceOperates(ftraceOp" + operation + ");"},
		splice{behind: call + "\n", text: "if ftraced { ftrace_operated(int64(" + n + ")) };"})
}

// failing is for an operation on a file that returns nothing but an error.
func failing(file, receiver, call, operation string) []splice {
	return forFile(file,
		splice{behind: call, before: true, text: "ftraceOperated(ftraceOperations != 0 && " + receiver + ".ftraceOperates(ftraceOp" + operation + "), "},
		splice{behind: call, text: ")"})
}

// forFile completes splices for a file, which may be of some systems only.
func forFile(file string, list ...splice) []splice {
	for i := range list {
		s := &list[i]
		s.file = file
		switch {
		case strings.HasSuffix(file, "_unix.go"):
			s.unix = true
		case strings.HasSuffix(file, "_linux.go"):
			s.goos = "linux"
		case strings.HasSuffix(file, "_windows.go"):
			s.goos = "windows"
		}
	}
	return list
}

// logFatal is for the place where package log logs the line that ends the program.
func logFatal(signature string) splice {
	return splice{file: "log.go", behind: "\nfunc " + signature + " {\n", text: "if ftraceWeaves != 0 { ftraceFatal() };"}
}

// netSplices are those of package net.
var netSplices = slices.Concat([]splice{
	{file: "fd_posix.go", behind: "\n\tpfd poll.FD\n", text: "ftraceFile uint64;"},
	{file: "fd_posix.go", behind: "// handshake completed or use of association with peer\n", text: "ftrace ftraceConn;", goos: "linux"},
	{file: "fd_posix.go", behind: "\nfunc (fd *netFD) Close() error {", text: "fd.ftraceCloses();", goos: "linux"},
	{file: "fd_posix.go", behind: " := fd.pfd.Shutdown(how)\n", text: "if err == nil { fd.ftraceShut(how) };", goos: "linux"},
	netRead("fd.pfd.Read(p)", "ftraceAddress{}"),
	netRead("fd.pfd.ReadFrom(p)", "ftraceAddressOf(sa)"),
	netRead("fd.pfd.ReadFromInet4(p, from)", "ftraceAddress4(from)"),
	netRead("fd.pfd.ReadFromInet6(p, from)", "ftraceAddress6(from)"),
	netRead("fd.pfd.ReadMsg(p, oob, flags)", "ftraceAddressOf(sa)"),
	netRead("fd.pfd.ReadMsgInet4(p, oob, flags, sa)", "ftraceAddress4(sa)"),
	netRead("fd.pfd.ReadMsgInet6(p, oob, flags, sa)", "ftraceAddress6(sa)"),
	netWrite("fd_posix.go", "fd.pfd.Write(p)", "nn", "ftraceAddress{}"),
	netWrite("fd_posix.go", "fd.pfd.WriteTo(p, sa)", "n", "ftraceAddressOf(sa)"),
	netWrite("fd_posix.go", "fd.pfd.WriteToInet4(p, sa)", "n", "ftraceAddress4(sa)"),
	netWrite("fd_posix.go", "fd.pfd.WriteToInet6(p, sa)", "n", "ftraceAddress6(sa)"),
	netWrite("fd_posix.go", "fd.pfd.WriteMsg(p, oob, sa)", "n", "ftraceAddressOf(sa)"),
	netWrite("fd_posix.go", "fd.pfd.WriteMsgInet4(p, oob, sa)", "n", "ftraceAddress4(sa)"),
	netWrite("fd_posix.go", "fd.pfd.WriteMsgInet6(p, oob, sa)", "n", "ftraceAddress6(sa)"),
	netWrite("writev_unix.go", "fd.pfd.Writev((*[][]byte)(v))", "n", "ftraceAddress{}"),
	{file: "fd_unix.go", behind: "// so no concurrent operations are possible.\n\tswitch err := ", text: "ftraceConnects(fd, ra, ", goos: "linux"},
	{file: "fd_unix.go", behind: "connectFunc(fd.pfd.Sysfd, ra)", text: ")", goos: "linux"},
	{file: "fd_unix.go", behind: "\tnetfd.setAddr(netfd.addrFunc()(lsa), netfd.addrFunc()(rsa))\n", text: "netfd.ftraceAccepted();", goos: "linux"},
	{file: "sock_posix.go", behind: " = fd.connect(ctx, lsa, rsa); err != nil {\n", text: "fd.ftraceNotConnected(rsa, err);", goos: "linux"},
	{file: "sock_posix.go", behind: "\t\tfd.setAddr(fd.addrFunc()(lsa), raddr)\n\t}\n", text: "fd.ftraceConnected();", goos: "linux"},
	{file: "sock_posix.go", behind: "\t\treturn os.NewSyscallError(\"listen\", err)\n\t}\n", text: "fd.ftraceListens();", goos: "linux"},
	// What the kernel copies.
	{file: "sendfile.go", behind: "\t\tlr.N = remain - written\n\t}\n", text: "if ftraceSends() { c.ftraceSent(written, ftraceAddress{}, nil) };", goos: "linux"},
	{file: "splice_linux.go", behind: "pollSplice(&c.pfd, &s.pfd, remain)\n", text: "ftraceSpliced(c, s, written);", goos: "linux"},
	{file: "splice_linux.go", behind: "pollSplice(&uc.fd.pfd, &c.pfd, 1<<63-1)\n", text: "ftraceSpliced(uc.fd, c, written);", goos: "linux"},
	{file: "fd_unix.go", behind: "connect(ctx context.Context, la, ra syscall.Sockaddr) (rsa syscall.Sockaddr, ret error) {", text: "if ftraceOperations != 0 && fd.ftraceConnecting(ra) { defer ftrace_operated(0) };", unix: true},
},
	netOperation("fd_posix.go", "n, err = ", "fd.pfd.Read(p)", "Receive", "n"),
	netOperation("fd_posix.go", "n, sa, err = ", "fd.pfd.ReadFrom(p)", "Receive", "n"),
	netOperation("fd_posix.go", "n, err = ", "fd.pfd.ReadFromInet4(p, from)", "Receive", "n"),
	netOperation("fd_posix.go", "n, err = ", "fd.pfd.ReadFromInet6(p, from)", "Receive", "n"),
	netOperation("fd_posix.go", "n, oobn, retflags, sa, err = ", "fd.pfd.ReadMsg(p, oob, flags)", "Receive", "n"),
	netOperation("fd_posix.go", "n, oobn, retflags, err = ", "fd.pfd.ReadMsgInet4(p, oob, flags, sa)", "Receive", "n"),
	netOperation("fd_posix.go", "n, oobn, retflags, err = ", "fd.pfd.ReadMsgInet6(p, oob, flags, sa)", "Receive", "n"),
	netOperation("fd_posix.go", "nn, err = ", "fd.pfd.Write(p)", "Send", "nn"),
	netOperation("fd_posix.go", "n, err = ", "fd.pfd.WriteTo(p, sa)", "Send", "n"),
	netOperation("fd_posix.go", "n, err = ", "fd.pfd.WriteToInet4(p, sa)", "Send", "n"),
	netOperation("fd_posix.go", "n, err = ", "fd.pfd.WriteToInet6(p, sa)", "Send", "n"),
	netOperation("fd_posix.go", "n, oobn, err = ", "fd.pfd.WriteMsg(p, oob, sa)", "Send", "n"),
	netOperation("fd_posix.go", "n, oobn, err = ", "fd.pfd.WriteMsgInet4(p, oob, sa)", "Send", "n"),
	netOperation("fd_posix.go", "n, oobn, err = ", "fd.pfd.WriteMsgInet6(p, oob, sa)", "Send", "n"),
	netOperation("writev_unix.go", "n, err = ", "fd.pfd.Writev((*[][]byte)(v))", "Send", "n"),
	netOperation("fd_unix.go", "d, rsa, errcall, err := ", "fd.pfd.Accept()", "Accept", "0"),
	operates("splice_linux.go", "written, handled, err = ", "pollSplice(&c.pfd, &s.pfd, remain)", "c", "Send", "written"),
	operates("splice_linux.go", "written, handled, err = ", "pollSplice(&uc.fd.pfd, &c.pfd, 1<<63-1)", "uc.fd", "Send", "written"),
	failing("fd_posix.go", "fd", "fd.pfd.Close()", "Close"),
	kernelSends,
)

// kernelSends is for files that the kernel sends.
var kernelSends = onLinux(operates("sendfile.go", "written, werr, handled = ", "poll.SendFile(&c.pfd, fd, remain)", "c", "Send", "written"))

func onLinux(list []splice) []splice {
	for i := range list {
		list[i].goos = "linux"
	}
	return list
}

// insertions are statements put into functions of Go's packages.
var insertions = map[string][]rewrite.Insertion{
	"net/http": {
		{Func: "(*Transport).roundTrip", Type: "func(*Request) (*Response, error)", Entry: "if ftraceSpans!=0{defer ftraceMakes({p0}).made(&{r0},&{r1})};"},
	},
	"database/sql": {
		{Func: "(*DB).execDC", Type: "func(context.Context, *driverConn, func(error), string, []any) (Result, error)",
			Entry: "if ftraceSpans!=0{defer ftraceStatement({p3}).end(&{r1});if ftracePropagateSQL{{p3}=ftraceCommented({p0},{p3})}};"},
		{Func: "(*DB).queryDC", Type: "func(context.Context, context.Context, *driverConn, func(error), string, []any) (*Rows, error)",
			Entry: "if ftraceSpans!=0{defer ftraceStatement({p4}).end(&{r1});if ftracePropagateSQL{{p4}=ftraceCommented({p0},{p4})}};"},
		// Those that the program has prepared.
		{Func: "(*Stmt).ExecContext", Type: "func(context.Context, ...any) (Result, error)", Entry: "if ftraceSpans!=0{defer ftraceStatement({recv}.query).end(&{r1})};"},
		{Func: "(*Stmt).QueryContext", Type: "func(context.Context, ...any) (*Rows, error)", Entry: "if ftraceSpans!=0{defer ftraceStatement({recv}.query).end(&{r1})};"},
		{Func: "(*DB).beginDC", Type: "func(context.Context, *driverConn, func(error), *TxOptions) (*Tx, error)", Entry: "if ftraceSpans!=0{defer ftraceStatement(\"BEGIN\").end(&{r1})};"},
		{Func: "(*Tx).Commit", Type: "func() error", Entry: "if ftraceSpans!=0{defer ftraceStatement(\"COMMIT\").end(&{r0})};"},
		{Func: "(*Tx).rollback", Type: "func(bool) error", Entry: "if ftraceSpans!=0&&!{recv}.isDone(){defer ftraceStatement(\"ROLLBACK\").end(&{r0})};"},
	},
}

// insert makes the insertions in a package. If it can't make one, it makes none.
func insert(importPath string, files []File) (changed map[int][]byte, misfits []Misfit, err error) {
	changed = map[int][]byte{}
	if insertions[importPath] == nil {
		return changed, nil, nil
	}
	var sources []rewrite.File
	for _, f := range files {
		sources = append(sources, rewrite.File{Name: f.Name, Source: f.Source})
	}
	texts, lacks, err := rewrite.Insert(sources, insertions[importPath], nil)
	if err != nil {
		return nil, nil, err
	}
	for _, problem := range lacks {
		misfits = append(misfits, Misfit{Problem: problem})
	}
	for i, text := range texts {
		if text != nil {
			changed[i] = text
		}
	}
	return changed, misfits, nil
}

// netRead reports what was read, and from which address, after a call of package poll.
func netRead(call, from string) splice {
	text := "if ftraceReceives(err) { fd.ftraceReceived(int64(n), " + from + ", err) };"
	return splice{file: "fd_posix.go", behind: call + "\n", text: text, goos: "linux"}
}

// netWrite reports how much was written, and to which address.
func netWrite(file, call, n, to string) splice {
	text := "if ftraceSends() { fd.ftraceSent(int64(" + n + "), " + to + ", err) };"
	return splice{file: file, behind: call + "\n", text: text, goos: "linux"}
}

// apply makes the splice in the file that it names, or returns why it can't be made.
func (s splice) apply(files []File, changed map[int][]byte) (problem string) {
	for i, f := range files {
		if base(f) != s.file {
			continue
		}
		source, ok := changed[i]
		if !ok {
			source = f.Source
		}
		place := []byte(s.behind + s.cut)
		if n := bytes.Count(source, place); n != 1 {
			return fmt.Sprintf("%s has %q %d times, not once", s.file, bytes.TrimSpace(place), n)
		}
		at := bytes.Index(source, place)
		if !s.before {
			at += len(s.behind)
		}
		changed[i] = append(source[:at:at], append([]byte(s.text), source[at+len(s.cut):]...)...)
		return ""
	}
	return "there is no file " + s.file
}
