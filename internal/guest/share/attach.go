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

const ftraceBeatsMissed = 5 // seconds without a beat, after which a session has ended

// ftraceAttach is the state of requests.
var ftraceAttach struct {
	wanted    uint32 // the goroutine is to answer; atomic
	abandoned uint32 // the session's other side is gone; atomic

	// When the session began.
	before    *ftraceConfig
	consumers [2]uint32
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
		reply := atomic.Load(&h.Reply)
		timeout := int64(3600e9)
		if atomic.Load(&h.Session) != 0 {
			timeout = 1e9
		}
		passed := int64(0)
		if atomic.Load(&h.Request) == reply && ftraceWait(&h.Request, reply, timeout) {
			passed = min(timeout, 1e9)
		}
		if atomic.Load(&h.Session) != 0 && atomic.Load(&h.Request) == reply {
			missed += passed
			if now := atomic.Load64(&h.Beats); now != beats {
				beats, missed = now, 0
			}
			if missed <= ftraceBeatsMissed*1e9 {
				continue
			}
			atomic.Store(&ftraceAttach.abandoned, 1)
		}
		missed = 0
		if atomic.Load(&h.Request) == reply && atomic.Load(&ftraceAttach.abandoned) == 0 {
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
	if request := atomic.Load(&h.Request); request != h.Reply {
		text := string(unsafe.Slice((*byte)(add(unsafe.Pointer(h), ftrace_format_RequestAt)), min(h.Asked, ftrace_format_RequestMax)))
		reply := ftraceAnswer(h, h.Kind, text)
		h.Failed = 0
		if reply != "" {
			h.Failed = 1
		} else if h.Kind == ftrace_format_AskLook {
			reply = ftraceSetup()
		} else if h.Kind == ftrace_format_AskStates {
			reply = ftraceListStates(*(*uint64)(unsafe.Pointer(unsafe.StringData(text))))
		}
		h.Answered = uint32(min(len(reply), ftrace_format_RequestMax))
		memmove(add(unsafe.Pointer(h), ftrace_format_ReplyAt), unsafe.Pointer(unsafe.StringData(reply)), uintptr(h.Answered))
		if h.Kind != ftrace_format_AskLook {
			h.Now = ftraceReadClock()
		}
		atomic.Store(&h.Reply, request)
		ftraceWake(&h.Reply)
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
	case ftrace_format_AskLook:
		ftraceStartTables()
		h.Functions = ftraceRegistry.funcs
		ftraceMakeCut(h)
	case ftrace_format_AskStates:
		if len(text) != 8 {
			return "this is not a number of 8 bytes"
		}
	case ftrace_format_AskRules:
		c, err, ok := ftraceNewConfig(text)
		if !ok {
			var digits [20]byte
			return err.Message + " (at byte " + string(ftraceItoa(digits[:], uint64(err.Offset))) + ")"
		}
		ftraceArm(c)
	case ftrace_format_AskSwitch:
		return ftraceSwitch(unsafe.Slice((*[2]uint32)(unsafe.Pointer(unsafe.StringData(text))), len(text)/8))
	case ftrace_format_AskRecord, ftrace_format_AskRing:
		if ftraceRecording.on {
			return "the program records already"
		}
		chunks := uint64(0)
		if kind == ftrace_format_AskRing {
			chunks = h.RingChunks
		}
		return ftraceRecordFromNow(text, chunks)
	case ftrace_format_AskStop:
		if !ftraceRecording.on {
			return "the program does not record"
		}
		if ftraceOnError != 0 {
			return "the recording is for FTRACE_ON_ERROR"
		}
		ftraceStopRecording()
	case ftrace_format_AskDump:
		if !ftraceRecording.on || ftraceRecording.chunks == 0 {
			return "the program does not record to rings"
		}
		return ftraceDumpRings(text)
	case ftrace_format_AskClear:
		if len(text) != 8 {
			return "these are not two numbers of 4 bytes"
		}
		which := *(*[2]uint32)(unsafe.Pointer(unsafe.StringData(text)))
		stw := stopTheWorld(stwUnknown)
		ftraceForgetCalls(h, which[0], which[1])
		startTheWorld(stw)
	case ftrace_format_AskTimers:
		ftraceMeasureTimers(&h.Timers)
	case ftrace_format_AskTimer:
		if len(text) != 4 {
			return "this is not a number of 4 bytes"
		}
		return ftraceChangeTimer(h, *(*uint32)(unsafe.Pointer(unsafe.StringData(text))))
	case ftrace_format_AskMute:
		ftraceMute(unsafe.Slice((*[2]uint64)(unsafe.Pointer(unsafe.StringData(text))), len(text)/16))
	case ftrace_format_AskActors, ftrace_format_AskObjects:
		if len(text) > ftrace_format_RequestMax/2-4 {
			return "these are too many rules"
		}
		if kind == ftrace_format_AskActors {
			return ftraceSetActors(text)
		}
		return ftraceSetObjects(text)
	case ftrace_format_AskSession:
		if h.Session != 0 {
			ftraceDetach()
		}
		a := &ftraceAttach
		a.before, a.consumers, a.recording, a.began = ftraceLoadConfig(), [2]uint32{h.Consumers, h.Waits}, ftraceRecording.on, false
		atomic.Store(&h.Session, 1)
	case ftrace_format_AskDetach:
		ftraceDetach()
	default:
		return "the program does not know this request"
	}
	return ""
}

// ftraceDetach ends the session: what was in force before it is in force again.
func ftraceDetach() {
	h, a := ftraceMemory.head, &ftraceAttach
	if atomic.Xchg(&h.Session, 0) == 0 {
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
	atomic.Store(&h.Consumers, a.consumers[0])
	atomic.Store(&h.Waits, a.consumers[1])
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
		if what&ftrace_format_SwitchOn != 0 {
			f.flags = f.flags&^ftraceSwitchedOff | ftraceSwitchedOn
		}
		if what&ftrace_format_SwitchOff != 0 {
			f.flags = f.flags&^ftraceSwitchedOn | ftraceSwitchedOff
		}
		if what&ftrace_format_SwitchTimed != 0 {
			f.flags &^= ftraceAskedUntimed
		}
		if what&ftrace_format_SwitchUntimed != 0 {
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
	ftraceMemory.head.Recording = ftrace_format_ToRings
	if chunks == 0 {
		ftraceMemory.head.Recording = ftrace_format_ToFiles
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
	ftraceRecordWaits()
	r := &ftraceRecording
	stw := stopTheWorld(stwUnknown)
	r.on = false
	for _, w := range r.writers {
		if w == nil {
			continue
		}
		if r.chunks == 0 && w.chunk != nil {
			ftraceUnmap(unsafe.Pointer(w.chunk), ftrace_format_FileChunk)
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
	ftraceMemory.head.Recording = ftrace_format_ToNothing
	ftraceSetWeavesNow()
}

// ftraceDumpRings makes a recording of what the rings have while the program goes on writing to
// them.
func ftraceDumpRings(directory string) string {
	if failed := ftraceMakeRecording(directory); failed != "" {
		return failed
	}
	defer ftraceCloseRecording()
	ftraceRecordWaits()
	ftraceDefineClock()
	buffer := make([]byte, ftrace_format_RingChunk)
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
			content := atomic.Load64(&c.Content)
			memmove(to, unsafe.Pointer(c), ftrace_format_RingChunk)
			copied := (*ftraceChunk)(to)
			if content == 0 || atomic.Load64(&c.Content) < content || atomic.Load64(&c.Number) != number || copied.Number != number {
				continue // it was overwritten, or is being: emptying it is the first step of that
			}
			copied.Content = content
			if errno := ftraceWriteAt(fd, to, ftrace_format_RingChunk, -1); errno != 0 {
				ftraceClose(fd)
				return ftraceErrno(errno)
			}
		}
		ftraceClose(fd)
	}
	return ""
}

// ftraceForgetCalls forgets what these consumers have of calls and of waits. The tables of tallies
// have both. The world is stopped.
func ftraceForgetCalls(h *ftraceHead, calls, waits uint32) {
	call, summary, tally := uint64(unsafe.Sizeof(ftraceCall{})), uint64(unsafe.Sizeof(ftraceSummary{})), uint64(unsafe.Sizeof(ftraceTally{}))
	first := uint64(ftraceWaitKind(0).key) // the keys of kinds follow one another
	end := min(first+ftraceWaitKinds, h.SummariesMax)
	parts := [...]struct {
		forget         uint32
		at, most, size uint64
	}{
		{calls & ftrace_format_ConsumerHistoryLong, h.LongAt, h.LongMax, call},
		{waits & ftrace_format_ConsumerHistoryLong, h.WaitsAt, h.LongMax, call},
		{calls & ftrace_format_ConsumerSummary, h.SummariesAt, min(first, h.SummariesMax), summary},
		{calls & ftrace_format_ConsumerSummary, h.SummariesAt + end*summary, h.SummariesMax - end, summary},
		{waits & ftrace_format_ConsumerSummary, h.SummariesAt + first*summary, end - min(first, end), summary},
		{(calls | waits) & ftrace_format_ConsumerGoroutines, h.TalliesAt[ftrace_format_ByGoroutine], h.TalliesMax, tally},
		{(calls | waits) & ftrace_format_ConsumerCallers, h.TalliesAt[ftrace_format_ByCaller], h.TalliesMax, tally},
		{(calls | waits) & ftrace_format_ConsumerReceivers, h.TalliesAt[ftrace_format_ByReceiver], h.TalliesMax, tally},
	}
	for id, w := range ftraceRecording.writers {
		if w == nil || w.summaries == nil {
			continue
		}
		for i := range parts {
			if p := &parts[i]; p.forget != 0 && p.most != 0 {
				at := h.Processors.At + uint64(id)*h.Processors.Size + p.at
				ftraceForget(at, p.most*p.size)
				ftraceForget(at+h.HalfSize, p.most*p.size)
			}
		}
	}
	n := 2 * uintptr(h.HistoryMax) * unsafe.Sizeof(ftraceCall{})
	forEachG(func(gp *g) {
		t := gp.ftrace
		if t != nil && t.history != nil && calls&ftrace_format_ConsumerHistory != 0 {
			memclrNoHeapPointers(t.history, n)
		}
		if t != nil && t.waits != nil && waits&ftrace_format_ConsumerHistory != 0 {
			memclrNoHeapPointers(t.waits, n)
		}
	})
}

// ftraceChangeTimer has calls that begin from now on timed by another timer. What is kept of
// earlier calls, in histories, summaries and rings, is in the old timer's ticks and is forgotten.
// Calls under way are not timed.
func ftraceChangeTimer(h *ftraceHead, timer uint32) string {
	switch {
	case timer >= ftrace_format_Timers || ftraceReadTimer(int(timer)) == 0:
		return "there is no such timer on this system"
	case int(timer) == ftraceTimer:
		return ""
	case ftraceRecording.on && ftraceRecording.chunks == 0:
		return "the program records to files, whose times are all by one timer"
	}
	stw := stopTheWorld(stwUnknown)
	ftraceTimer = int(timer)
	h.Timer, h.Begun.Ticks = timer, ftraceEpoch[timer]
	ftraceRestartWriters()
	ftraceForgetCalls(h, ftrace_format_ConsumersAll, ftrace_format_ConsumersAll)
	now := ftraceTicks()
	for _, w := range ftraceRecording.writers {
		if w != nil {
			w.last = now
		}
	}
	forEachG(func(gp *g) {
		if w := &gp.ftraceWait; w.begin != 0 {
			w.begin, w.ready = now, 0 // it was by the other timer
		}
		t := gp.ftrace
		if t == nil {
			return
		}
		t.last, t.contextShown = now, 0
		for i := range t.depth {
			if frame := t.frame(i); frame.Place.Ticks != 0 {
				frame.Place, frame.within = ftrace_format_Place{now, ftrace_format_Nowhere}, 0
				frame.Flags |= ftrace_format_FrameNotTimed
			}
		}
	})
	startTheWorld(stw)
	ftraceDefineTimer()
	return ""
}
