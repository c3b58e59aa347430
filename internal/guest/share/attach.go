//go:build ftrace_core

// Requests from outside. A thread waits at a word of the memory file, as sysmon does without a
// processor, which costs nothing while there is no request. Another process writes the request
// there and wakes the thread.
//
// The thread has the goroutine answer that otherwise forces garbage collections: every program has
// it, and it may do what goroutines do.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// The kinds of requests. docs/format.md says what each takes and answers.
const (
	ftraceAskLook    = 1 + iota // begin the tables, make a cut
	ftraceAskRules              // rules: put them in force
	ftraceAskSwitch             // pairs of key and what: switch functions on or off, timed or not
	ftraceAskRecord             // directory: record there
	ftraceAskRing               // record to rings
	ftraceAskStop               // record no more
	ftraceAskClear              // consumers: forget what they have
	ftraceAskTimers             // measure the timers
	ftraceAskSession            // what is set from now on ends with the session
	ftraceAskDetach             // end the session
	ftraceAskDump               // directory: write there what the rings have
	ftraceAskTimer              // number: use another timer
	ftraceAskMute               // goroutines, and whether to trace them
	ftraceAskActors             // rules: which goroutines to trace
	ftraceAskObjects            // rules: which functions stay off
)

// ftraceSwitch... is what a function can be switched to.
const (
	ftraceSwitchOn = 1 << iota
	ftraceSwitchOff
	ftraceSwitchTimed
	ftraceSwitchUntimed
)

const ftraceBeatsMissed = 5 // seconds without a beat, after which a session has ended

// ftraceAttach is the state of requests.
var ftraceAttach struct {
	wanted    uint32 // the goroutine is to answer; atomic
	abandoned uint32 // the session's other side is gone; atomic

	// When the session began.
	before    *ftraceConfig
	consumers uint32
	recording bool // there was a recording, which stays
	began     bool // the session began a recording
}

// ftraceListen is what the thread runs.
//
//go:nowritebarrierrec
func ftraceListen() {
	lock(&sched.lock)
	sched.nmsys++
	checkdead()
	unlock(&sched.lock)
	h := ftraceMemory.head
	beats, missed := uint64(0), int64(0) // nanoseconds without a beat
	for {
		reply := atomic.Load(&h.reply)
		timeout := int64(3600e9)
		if atomic.Load(&h.session) != 0 {
			timeout = 1e9
		}
		passed := int64(0)
		if atomic.Load(&h.request) == reply && ftraceWait(&h.request, reply, timeout) {
			passed = min(timeout, 1e9)
		}
		if atomic.Load(&h.session) != 0 && atomic.Load(&h.request) == reply {
			missed += passed
			if now := atomic.Load64(&h.beats); now != beats {
				beats, missed = now, 0
			}
			if missed <= ftraceBeatsMissed*1e9 {
				continue
			}
			atomic.Store(&ftraceAttach.abandoned, 1)
		}
		missed = 0
		if atomic.Load(&h.request) == reply && atomic.Load(&ftraceAttach.abandoned) == 0 {
			continue
		}
		atomic.Store(&ftraceAttach.wanted, 1)
		for !ftraceCallHelper() {
			usleep(500)
		}
		for atomic.Load(&ftraceAttach.wanted) != 0 {
			usleep(50)
		}
	}
}

// ftraceCallHelper lets the goroutine run, unless it is running already.
func ftraceCallHelper() bool {
	lock(&forcegc.lock)
	idle := forcegc.idle.Load()
	if idle {
		forcegc.idle.Store(false)
		var list gList
		list.push(forcegc.g)
		injectglist(&list)
	}
	unlock(&forcegc.lock)
	return idle
}

// ftraceHandlerResumed is called by the goroutine when it was let run. It answers the request, if
// there is one, and reports whether there was.
func ftraceHandlerResumed() bool {
	if atomic.Load(&ftraceAttach.wanted) == 0 {
		return false
	}
	h := ftraceMemory.head
	if atomic.Load(&ftraceAttach.abandoned) != 0 {
		ftraceDetach()
		atomic.Store(&ftraceAttach.abandoned, 0)
	}
	if request := atomic.Load(&h.request); request != h.reply {
		text := string(unsafe.Slice((*byte)(add(unsafe.Pointer(h), ftraceRequestAt)), min(h.asked, ftraceRequestMax)))
		reply := ftraceAnswer(h, h.kind, text)
		h.failed = 0
		if reply != "" {
			h.failed = 1
		} else if h.kind == ftraceAskLook {
			reply = ftraceSetup()
		}
		h.answered = uint32(min(len(reply), ftraceRequestMax))
		memmove(add(unsafe.Pointer(h), ftraceReplyAt), unsafe.Pointer(unsafe.StringData(reply)), uintptr(h.answered))
		if h.kind != ftraceAskLook {
			h.now = ftraceReadClock()
		}
		atomic.Store(&h.reply, request)
		ftraceWake(&h.reply)
	}
	atomic.Store(&ftraceAttach.wanted, 0)
	return true
}

// ftraceAnswer carries out the request, and returns why it can't.
func ftraceAnswer(h *ftraceHead, kind uint32, text string) string {
	semacquire(&ftracePreparing)
	ftracePrepare(0, ftraceConsumersUsual)
	semrelease(&ftracePreparing)
	if ftraceArmed() == nil {
		return "the program has no memory for it"
	}
	if !ftraceOut.on {
		ftraceRecording.wanted = true // first= is no limit for calls that nobody reads line by line
	}
	switch kind {
	case ftraceAskLook:
		ftraceStartTables()
		h.functions = ftraceRegistry.funcs
		ftraceMakeCut(h)
	case ftraceAskRules:
		c, err, ok := ftraceNewConfig(text)
		if !ok {
			var digits [20]byte
			return err.Message + " (at byte " + string(ftraceItoa(digits[:], uint64(err.Offset))) + ")"
		}
		ftraceArm(c)
	case ftraceAskSwitch:
		return ftraceSwitch(unsafe.Slice((*[2]uint32)(unsafe.Pointer(unsafe.StringData(text))), len(text)/8))
	case ftraceAskRecord, ftraceAskRing:
		if ftraceRecording.on {
			return "the program records already"
		}
		chunks := uint64(0)
		if kind == ftraceAskRing {
			chunks = h.ringChunks
		}
		return ftraceRecordFromNow(text, chunks)
	case ftraceAskStop:
		if !ftraceRecording.on {
			return "the program does not record"
		}
		if ftraceOnError != 0 {
			return "the recording is for FTRACE_ON_ERROR"
		}
		ftraceStopRecording()
	case ftraceAskDump:
		if !ftraceRecording.on || ftraceRecording.chunks == 0 {
			return "the program does not record to rings"
		}
		return ftraceDumpRings(text)
	case ftraceAskClear:
		if len(text) != 4 {
			return "this is not a number of 4 bytes"
		}
		ftraceClear(h, *(*uint32)(unsafe.Pointer(unsafe.StringData(text))))
	case ftraceAskTimers:
		ftraceMeasureTimers(&h.timers)
	case ftraceAskTimer:
		if len(text) != 4 {
			return "this is not a number of 4 bytes"
		}
		return ftraceChangeTimer(h, *(*uint32)(unsafe.Pointer(unsafe.StringData(text))))
	case ftraceAskMute:
		ftraceMute(unsafe.Slice((*[2]uint64)(unsafe.Pointer(unsafe.StringData(text))), len(text)/16))
	case ftraceAskActors, ftraceAskObjects:
		if len(text) > ftraceRequestMax/2-4 {
			return "these are too many rules"
		}
		if kind == ftraceAskActors {
			return ftraceSetActors(text)
		}
		return ftraceSetObjects(text)
	case ftraceAskSession:
		if h.session != 0 {
			ftraceDetach()
		}
		a := &ftraceAttach
		a.before, a.consumers, a.recording, a.began = ftraceLoadConfig(), h.consumers, ftraceRecording.on, false
		atomic.Store(&h.session, 1)
	case ftraceAskDetach:
		ftraceDetach()
	default:
		return "the program does not know this request"
	}
	return ""
}

// ftraceDetach ends the session: what was in force before it is in force again.
func ftraceDetach() {
	h, a := ftraceMemory.head, &ftraceAttach
	if atomic.Xchg(&h.session, 0) == 0 {
		return
	}
	if a.began && ftraceRecording.on {
		ftraceStopRecording()
	}
	c := a.before
	if c == nil {
		c, _, _ = ftraceNewConfig("")
	}
	ftraceArm(c)
	atomic.Store(&h.consumers, a.consumers)
}

// ftraceSwitch switches functions.
func ftraceSwitch(list [][2]uint32) string {
	ftraceSomeConfig()
	semacquire(&ftraceRegistry.lock)
	unknown := 0
	for i := range list {
		f := ftraceFuncOf(list[i][0])
		if f == nil {
			unknown++
			continue
		}
		what := list[i][1]
		if what&ftraceSwitchOn != 0 {
			f.flags = f.flags&^ftraceSwitchedOff | ftraceSwitchedOn
		}
		if what&ftraceSwitchOff != 0 {
			f.flags = f.flags&^ftraceSwitchedOn | ftraceSwitchedOff
		}
		if what&ftraceSwitchTimed != 0 {
			f.flags &^= ftraceAskedUntimed
		}
		if what&ftraceSwitchUntimed != 0 {
			f.flags |= ftraceAskedUntimed
		}
		f.layAgain()
	}
	ftraceUnlockRegistry()
	if unknown != 0 {
		return "there is no such function"
	}
	return ""
}

// ftraceRecordFromNow begins a recording while the program runs.
func ftraceRecordFromNow(directory string, chunks uint64) string {
	stw := stopTheWorld(stwUnknown)
	ftraceRestartWriters()
	ftraceRecording.failed = 0
	startTheWorld(stw)
	if failed := ftraceRecordTo(directory, chunks); failed != "" {
		return failed
	}
	ftraceAttach.began = true
	ftraceMemory.head.recording = 1
	if chunks == 0 {
		ftraceMemory.head.recording = 2
	}
	ftraceSetWeavesNow()
	return ""
}

// ftraceRestartWriters makes the next record the first. The world is stopped.
func ftraceRestartWriters() {
	for _, w := range ftraceRecording.writers {
		if w != nil {
			w.chunk, w.pos, w.limit, w.number, w.fd, w.failed = nil, 0, 0, 0, 0, 0
		}
	}
	forEachG(func(gp *g) {
		if gp.ftrace != nil {
			gp.ftrace.recorded = false
		}
	})
}

// ftraceStopRecording ends the recording. One in files is then complete.
func ftraceStopRecording() {
	r := &ftraceRecording
	stw := stopTheWorld(stwUnknown)
	r.on = false
	for _, w := range r.writers {
		if w == nil {
			continue
		}
		if r.chunks == 0 && w.chunk != nil {
			ftraceUnmap(unsafe.Pointer(w.chunk), ftraceFileChunk)
		}
		if w.fd != 0 {
			ftraceClose(w.fd)
		}
		w.chunk, w.pos, w.limit, w.fd = nil, 0, 0, 0
	}
	startTheWorld(stw)
	if r.chunks == 0 {
		ftraceDefineClock()
		ftraceWriteMetadata()
		ftraceCloseRecording()
	}
	ftraceMemory.head.recording = 0
	ftraceSetWeavesNow()
}

// ftraceDumpRings makes a recording of what the rings have while the program goes on writing to
// them.
func ftraceDumpRings(directory string) string {
	if failed := ftraceMakeRecording(directory); failed != "" {
		return failed
	}
	defer ftraceCloseRecording()
	ftraceDefineClock()
	buffer := make([]byte, ftraceRingChunk)
	to := unsafe.Pointer(&buffer[0])
	for id, w := range ftraceRecording.writers {
		if w == nil {
			continue
		}
		fd := ftraceNewCalls(int32(id))
		if fd < 0 {
			return ftraceErrno(-fd)
		}
		begun := atomic.Load64(&w.number)
		for number := begun - min(begun, ftraceRecording.chunks); number < begun; number++ {
			c := w.chunkAt(number)
			if c == nil {
				continue
			}
			content := atomic.Load64(&c.content)
			memmove(to, unsafe.Pointer(c), ftraceRingChunk)
			copied := (*ftraceChunk)(to)
			if content == 0 || atomic.Load64(&c.content) < content || atomic.Load64(&c.number) != number || copied.number != number {
				continue // it was overwritten, or is being: emptying it is the first step of that
			}
			copied.content = content
			if errno := ftraceWriteAt(fd, to, ftraceRingChunk, -1); errno != 0 {
				ftraceClose(fd)
				return ftraceErrno(errno)
			}
		}
		ftraceClose(fd)
	}
	return ""
}

// ftraceClear forgets what the consumers have.
func ftraceClear(h *ftraceHead, consumers uint32) {
	stw := stopTheWorld(stwUnknown)
	ftraceForgetCalls(h, consumers)
	startTheWorld(stw)
}

// ftraceForgetCalls is the part of ftraceClear that needs the world stopped.
func ftraceForgetCalls(h *ftraceHead, consumers uint32) {
	parts := [...]struct {
		consumer       uint32
		at, most, size uint64
	}{
		{ftraceConsumerHistoryLong, h.longAt, h.longMax, uint64(unsafe.Sizeof(ftraceCall{}))},
		{ftraceConsumerSummary, h.summariesAt, h.summariesMax, uint64(unsafe.Sizeof(ftraceSummary{}))},
		{ftraceConsumerGoroutines, h.talliesAt[ftraceByGoroutine], h.talliesMax, uint64(unsafe.Sizeof(ftraceTally{}))},
		{ftraceConsumerCallers, h.talliesAt[ftraceByCaller], h.talliesMax, uint64(unsafe.Sizeof(ftraceTally{}))},
		{ftraceConsumerReceivers, h.talliesAt[ftraceByReceiver], h.talliesMax, uint64(unsafe.Sizeof(ftraceTally{}))},
	}
	for id, w := range ftraceRecording.writers {
		if w == nil || w.summaries == nil {
			continue
		}
		for i := range parts {
			if p := &parts[i]; consumers&p.consumer != 0 {
				at := h.processors.at + uint64(id)*h.processors.size + p.at
				ftraceForget(at, p.most*p.size)
				ftraceForget(at+h.halfSize, p.most*p.size)
			}
		}
	}
	if consumers&ftraceConsumerHistory != 0 {
		n := 2 * uintptr(h.historyMax) * unsafe.Sizeof(ftraceCall{})
		forEachG(func(gp *g) {
			if gp.ftrace != nil && gp.ftrace.history != nil {
				memclrNoHeapPointers(gp.ftrace.history, n)
			}
		})
	}
}

// ftraceChangeTimer has calls that begin from now on timed by another timer. What is kept of
// earlier calls, in histories, summaries and rings, is in the old timer's ticks and is forgotten.
// Calls under way are not timed.
func ftraceChangeTimer(h *ftraceHead, timer uint32) string {
	switch {
	case timer >= ftraceTimers || ftraceReadTimer(int(timer)) == 0:
		return "there is no such timer on this system"
	case int(timer) == ftraceTimer:
		return ""
	case ftraceRecording.on && ftraceRecording.chunks == 0:
		return "the program records to files, whose times are all by one timer"
	}
	stw := stopTheWorld(stwUnknown)
	ftraceTimer = int(timer)
	h.timer, h.begun.ticks = timer, ftraceEpoch[timer]
	ftraceRestartWriters()
	ftraceForgetCalls(h, ftraceConsumersAll)
	now := ftraceTicks()
	for _, w := range ftraceRecording.writers {
		if w != nil {
			w.last = now
		}
	}
	forEachG(func(gp *g) {
		t := gp.ftrace
		if t == nil {
			return
		}
		t.last, t.contextShown = now, 0
		for i := range t.depth {
			if frame := t.frame(i); frame.place.ticks != 0 {
				frame.place, frame.within = ftracePlace{now, ftraceNowhere}, 0
				frame.flags |= ftraceNotTimed
			}
		}
	})
	startTheWorld(stw)
	ftraceDefineTimer()
	return ""
}
