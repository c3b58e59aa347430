//go:build ftrace_core

// Waits: what goroutines stop for, for how long, and who ends that.
//
// A goroutine that has to await something passes gopark. While some kind of wait is observed,
// ftraceStops notes there when and for what it stops, ftraceReadied notes who makes it runnable,
// and ftraceGoesOn makes the event when it runs again. Otherwise gopark reads one word more.
// Likewise where a goroutine stops without gopark: see syscall.go and yield.go.
//
// Each kind is an instrument. Rules name it wait/synch/mutex and so on. In the registry the kinds
// are a package of their own, and a wait is a call of one: it has a frame while it lasts, is
// recorded once it has ended, and goes to the same histories and summaries as calls do.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// The kinds of waits.
const (
	ftraceWaitMutex = iota
	ftraceWaitReadLock
	ftraceWaitWriteLock
	ftraceWaitCond
	ftraceWaitGroup
	ftraceWaitOnce
	ftraceWaitSemaphore
	ftraceWaitReceive
	ftraceWaitSend
	ftraceWaitSelect
	ftraceWaitSleep
	ftraceWaitFileRead // see ftraceWaitOf for these and the next eight
	ftraceWaitFileWrite
	ftraceWaitFileMisc
	ftraceWaitPipeRead
	ftraceWaitPipeWrite
	ftraceWaitPipeMisc
	ftraceWaitSocketRead
	ftraceWaitSocketWrite
	ftraceWaitSocketMisc
	ftraceWaitAssist
	ftraceWaitCollector
	ftraceWaitSyscall
	ftraceWaitScan // from here on the scheduler sees the wait begin and end, see yield.go
	ftraceWaitStopped
	ftraceWaitCPU
	ftraceWaitKinds
	ftraceNoWait = ftraceWaitKinds // a goroutine of the runtime stops, or it is not clear why
)

// ftraceWaitText has a line for each kind, as the text of a package's functions has: line, file,
// name, names of parameters.
const ftraceWaitText = "0 0 synch/mutex object;;\n" +
	"0 0 synch/rwlock/read object;;\n" +
	"0 0 synch/rwlock/write object;;\n" +
	"0 0 synch/cond object;;\n" +
	"0 0 synch/waitgroup object;;\n" +
	"0 0 synch/once object;;\n" +
	"0 0 synch/semaphore object;;\n" +
	"0 0 synch/chan/receive object;;\n" +
	"0 0 synch/chan/send object;;\n" +
	"0 0 synch/select object;;\n" +
	"0 0 sleep ;;\n" +
	"0 0 io/file/read fd;;\n" +
	"0 0 io/file/write fd;;\n" +
	"0 0 io/file/misc fd;;\n" +
	"0 0 io/pipe/read fd;;\n" +
	"0 0 io/pipe/write fd;;\n" +
	"0 0 io/pipe/misc fd;;\n" +
	"0 0 io/socket/read fd;;\n" +
	"0 0 io/socket/write fd;;\n" +
	"0 0 io/socket/misc fd;;\n" +
	"0 0 gc/assist ;;\n" +
	"0 0 gc/cycle ;;\n" +
	"0 0 syscall ;;\n" +
	"0 0 gc/scan ;;\n" +
	"0 0 gc/stw ;;\n" +
	"0 0 cpu ;;\n"

// ftraceWaitReasons has the kind of what the runtime calls a reason to wait, and how far the
// address that it waits at lies behind the beginning of the object: a sync.Mutex has its semaphore
// in its second word. Names are the same in all releases, numbers are not.
var ftraceWaitReasons = [...]struct {
	reason string
	kind   uint8
	within uint8
}{
	{"sync.Mutex.Lock", ftraceWaitMutex, 4},
	{"sync.RWMutex.RLock", ftraceWaitReadLock, 12},
	{"sync.RWMutex.Lock", ftraceWaitWriteLock, 8},
	{"sync.Cond.Wait", ftraceWaitCond, 16},
	{"sync.WaitGroup.Wait", ftraceWaitGroup, 8},
	{"sync.WaitGroup.Wait (durable)", ftraceWaitGroup, 8},
	{"semacquire", ftraceWaitSemaphore, 0},
	{"chan receive", ftraceWaitReceive, 0},
	{"chan receive (durable)", ftraceWaitReceive, 0},
	{"chan receive (nil chan)", ftraceWaitReceive, 0},
	{"chan send", ftraceWaitSend, 0},
	{"chan send (durable)", ftraceWaitSend, 0},
	{"chan send (nil chan)", ftraceWaitSend, 0},
	{"select", ftraceWaitSelect, 0},
	{"select (durable)", ftraceWaitSelect, 0},
	{"select (no cases)", ftraceWaitSelect, 0},
	{"sleep", ftraceWaitSleep, 0},
	{"IO wait", ftraceWaitSocketRead, 0}, // or what its descriptor is of
	{"GC assist wait", ftraceWaitAssist, 0},
	{"wait for GC cycle", ftraceWaitCollector, 0},
}

// ftraceWaits has the kinds, and how many are observed.
var ftraceWaits struct {
	pkg    ftracePkg
	hooks  [ftraceWaitKinds]any
	table  [ftraceWaitKinds * ftraceTableEntry / 8]uint64
	files  [1]string
	kinds  [256]uint8 // by reason
	within [256]uint8
	on     uint32      // how many kinds are observed; atomic
	long   uint64      // ticks of the shortest system call that is a wait, 0: none is observed; atomic
	began  uint64      // ticks when the world was last started; under sched.lock
	starts [32]uintptr // functions that goroutines of the program were started with; atomic
}

// ftraceLongSyscall is how long the shortest system call takes that is a wait.
const ftraceLongSyscall = 20e3 // ns; after as long sysmon may take its processor from it

// ftraceMakeWaits registers the kinds, before all packages.
func ftraceMakeWaits() {
	w := &ftraceWaits
	for reason, name := range waitReasonStrings {
		w.kinds[reason] = ftraceNoWait
		for _, known := range ftraceWaitReasons {
			if known.reason == name {
				w.kinds[reason], w.within[reason] = known.kind, known.within
			}
		}
	}
	p := &w.pkg
	p.Version, p.Path, p.Symbol, p.Funcs, p.Nfuncs = ftrace_format_TableVersion, "wait", "wait", ftraceWaitText, ftraceWaitKinds
	p.Files = w.files[:]
	p.Hooks = unsafe.Pointer(&w.hooks)
	p.Table = unsafe.Pointer(&w.table)
	for i := range p.Nfuncs {
		p.fn(i).flags = ftraceIsWait
	}
	ftrace_register(p)
}

// ftraceWaitKind returns the function that stands for a kind.
//
//go:nosplit
func ftraceWaitKind(kind uint8) *ftraceFunc { return ftraceWaits.pkg.fn(uintptr(kind)) }

// ftraceCountWaits counts how many kinds are observed. The registry is locked, or the world is
// stopped because the timer changes.
func ftraceCountWaits() {
	n := uint32(0)
	for i := range ftraceWaits.hooks {
		if efaceOf(&ftraceWaits.hooks[i])._type != nil {
			n++
		}
	}
	atomic.Store(&ftraceWaits.on, n)
	operations := uint32(0)
	for kind := uint8(ftraceWaitFileRead); kind <= ftraceWaitSocketMisc; kind++ {
		if ftraceWaitKind(kind).hook._type != nil {
			operations = 1
		}
	}
	atomic.Store(&ftraceOperations, operations)
	long := uint64(0)
	if ftraceWaitKind(ftraceWaitSyscall).hook._type != nil {
		const some = 1 << 30
		long = max(ftraceLongSyscall*some/max(ftraceNanoseconds(some), 1), 1)
	}
	atomic.Store64(&ftraceWaits.long, long)
}
