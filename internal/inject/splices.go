package inject

import (
	"bytes"
	"fmt"
	"strings"
)

// A splice inserts text after a piece of source that appears exactly once in a file. It adds no
// line.
type splice struct {
	file   string
	behind string
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
		{file: "runtime2.go", behind: "// goid of goroutine that created this goroutine\n", text: "ftrace *ftraceG; ftraceRecovered any; ftraceMock ftraceMockG; ftraceWeave ftraceWeaveG; ftraceProtocol ftraceProtocolG; ftraceWait ftraceWaitG;"},
		{file: "runtime2.go", behind: "\tpcache      pageCache\n", text: "ftrace *ftraceWriter;"},
		{file: "proc.go", behind: "\nfunc gopark(unlockf func(*g, unsafe.Pointer) bool, lock unsafe.Pointer, reason waitReason, traceReason traceBlockReason, traceskip int) {", text: "if ftraceWaits.on != 0 { ftraceStops(lock, reason) };"},
		{file: "proc.go", behind: "\tmcall(park_m)\n", text: "if getg().ftraceWait.begin != 0 { ftraceGoesOn() };"},
		{file: "proc.go", behind: "\nfunc ready(gp *g, traceskip int, next bool) {", text: "if gp.ftraceWait.begin != 0 { ftraceReadied(gp) };"},
		{file: "sema.go", behind: "\t\troot.queue(addr, s, lifo)\n", text: "if ftraceWaits.on != 0 { ftraceAcquires(addr) };"},
		{file: "netpoll.go", behind: "// protects against stale pollDesc\n", text: "ftraceKind uint8;"},
		{file: "netpoll.go", behind: "\tpd.fd = fd\n", text: "pd.ftraceKind = 0;"},
		{file: "netpoll.go", behind: "\tif waitio || netpollcheckerr(pd, mode) == pollNoError {\n", text: "if ftraceWaits.on != 0 { ftracePolls(pd) };"},
		{file: "netpoll.go", behind: "\t\trg = netpollunblock(pd, 'r', true, &delta)\n", text: "if rg != nil && rg.ftraceWait.begin != 0 { ftraceReadied(rg) };"},
		{file: "netpoll.go", behind: "\t\twg = netpollunblock(pd, 'w', true, &delta)\n", text: "if wg != nil && wg.ftraceWait.begin != 0 { ftraceReadied(wg) };"},
		{file: "proc.go", behind: "\n\tgcenable()\n", text: "ftraceInit();"},
		{file: "proc.go", behind: "\n\tneedUnlock = false\n", text: "ftraceReport();"},
		{file: "proc.go", behind: "\n\tnewg.startpc = fn.fn\n", text: "ftraceGoroutineStart(newg, callergp);"},
		{file: "proc.go", behind: "\nfunc newproc(fn *funcval) {", text: "ftraceBeforeGo();"},
		{file: "proc.go", behind: "\nfunc goexit1() {", text: "ftraceDropFrames();"},
		{file: "proc.go", behind: "\nfunc gdestroy(gp *g) {", text: "ftraceGoroutineEnd(gp);"},
		{file: "proc.go", behind: "\nfunc runExitHooks(code int) {", text: "ftraceFinish();"},
		{file: "proc.go", behind: "\t\t// this goroutine is explicitly resumed by sysmon\n", text: "if ftraceHandlerResumed() { continue };"},
		// sysmon writes what is held of the trace.
		{file: "proc.go", behind: "\t\t// most of their time sleeping.\n\t\tnow := nanotime()\n", text: "ftraceSysmonTick(now);"},
		{file: "proc.go", behind: "\t\t\t\t\tsleep := forcegcperiod / 2\n", text: "sleep = ftraceSysmonIdle(sleep);"},
		{file: "cgocall.go", behind: "\n\tmp := getg().m\n\tmp.ncgocall++\n", text: "if ftraceWeaves != 0 { ftraceWriteHeldFirst(-1) };"},
		{file: "cgocall.go", behind: "\t// wired this M to a P.\n", text: "if ftraceWeaves != 0 { ftraceForgetStreams() };"},
		{file: "cgocall.go", behind: "\texitsyscall() // coming out of cgo call\n", text: "if ftraceWeaves != 0 { ftraceForgetStreams() };"},
		{file: "panic.go", behind: "\nfunc gopanic(e any) {", text: "ftracePanicking(e);"},
		{file: "panic.go", behind: "\nfunc recovery(gp *g) {", text: "ftraceRecovery(gp);"},
		{file: "panic.go", behind: "\nfunc preprintpanics(p *_panic) {", text: "ftraceDropFrames();"}, // this makes text of the values
		{file: "panic.go", behind: "\nfunc fatalpanic(msgs *_panic) {", text: "ftraceFinish();"},
		{file: "panic.go", behind: "\nfunc startpanic_m() bool {", text: "ftraceDying();"},
		{file: "signal_unix.go", behind: "\nfunc dieFromSignal(sig uint32) {", text: "ftraceDying();", unix: true},
		{file: "signal_unix.go", behind: "\n\tunblocksig(sig)\n\tsetsig(sig, handler)\n", text: "ftraceDying();", unix: true}, // of C's threads
		{file: "runtime.go", behind: "\nfunc syscall_Exit(code int) {", text: "ftraceDying();"},
		{file: "proc.go", behind: "\nfunc syscall_runtime_BeforeExec() {", text: "ftraceCopiesDisable();"},
		{file: "proc.go", behind: "\nfunc syscall_runtime_AfterExec() {", text: "ftraceCopiesEnable();"},
		{file: "print.go", behind: "\trecordForPanic(b)\n\tgp := getg()\n", text: "if ftraceWeaves != 0 && ftraceCollect(gp, b) { return };"},
		{file: "write_err.go", behind: "\nfunc writeErr(b []byte) {", text: "ftraceWriteHeldFirst(2);"},
		{file: "print.go", behind: "\tmp.printlock--\n\tif mp.printlock == 0 {\n", text: "ftraced := ftraceCollected();"},
		{file: "print.go", behind: "\t\tunlock(&debuglock)\n", text: "if ftraced != nil { ftracePrintedBy(ftraced) };"},
	},
	"internal/runtime/maps": {}, // a file is added
	// The go command keeps test results by the environment variables that the test has read. What
	// is traced is such a dependency.
	"testing/internal/testdeps": {
		{file: "deps.go", behind: "// known to cmd/go/internal/test/test.go\n", text: `log.w.WriteString("getenv FTRACE\ngetenv FTRACE_OUT\ngetenv FTRACE_FORMAT\ngetenv FTRACE_STATS\ngetenv FTRACE_SHOW\ngetenv FTRACE_FAIL\ngetenv FTRACE_RECORD\ngetenv FTRACE_ON_ERROR\ngetenv FTRACE_WEAVE\ngetenv FTRACE_GROUP\ngetenv FTRACE_CONSUMERS\ngetenv FTRACE_MEMORY\ngetenv FTRACE_TIMER\ngetenv FTRACE_PROTOCOL\n");`},
	},
	// What the program writes and logs is woven into the trace.
	"syscall": {
		{file: "syscall_unix.go", behind: "\t\t\tn, err = 0, errnoErr(Errno(-n))\n\t\t}\n\t}", text: " else if ftraceWeaves != 0 { n, err = ftraceWrite(fd, p) }", unix: true},
		{file: "exec_unix.go", behind: "\nfunc forkExec(argv0 string, argv []string, attr *ProcAttr) (pid int, err error) {", text: "if ftraceWeaves != 0 { ftraceWriteCopies() };", goos: "linux"},
		{file: "syscall_linux.go", behind: "\nfunc RawSyscall6(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err Errno) {", text: "if ftraceWeaves != 0 { ftraceCalling(trap, a1, a2, a3) };", goos: "linux"},
		{file: "syscall_linux.go", behind: ".Syscall6(trap, a1, a2, a3, a4, a5, a6)\n\terr = Errno(errno)\n", text: "if ftraceWeaves != 0 { ftraceCalled(trap, a1, a2) };", goos: "linux"},
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
	"os": {
		{file: "zero_copy_linux.go", behind: "written, err, handled = poll.SendFile(pfd, fd, 0)\n", text: "ftraceMoved(pfd, written, true);", goos: "linux"},
		{file: "zero_copy_linux.go", behind: "pollSplice(&f.pfd, pfd, remain)\n", text: "ftraceMoved(pfd, written, false);", goos: "linux"},
	},
}

// logFatal is for the place where package log logs the line that ends the program.
func logFatal(signature string) splice {
	return splice{file: "log.go", behind: "\nfunc " + signature + " {\n", text: "if ftraceWeaves != 0 { ftraceFatal() };"}
}

// netSplices are those of package net.
var netSplices = []splice{
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

// apply makes the splice in the file that it names.
func (s splice) apply(files []File, changed map[int][]byte) error {
	for i, f := range files {
		if base(f) != s.file {
			continue
		}
		source, ok := changed[i]
		if !ok {
			source = f.Source
		}
		if n := bytes.Count(source, []byte(s.behind)); n != 1 {
			return fmt.Errorf("%s has %q %d times, not once", s.file, strings.TrimSpace(s.behind), n)
		}
		at := bytes.Index(source, []byte(s.behind)) + len(s.behind)
		changed[i] = append(source[:at:at], append([]byte(s.text), source[at:]...)...)
		return nil
	}
	return fmt.Errorf("there is no file %s", s.file)
}
