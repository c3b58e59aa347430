//go:build ftrace_core

// Requests from outside. A thread waits at a word of the memory file, on Windows and macOS for an
// event, as sysmon does without a processor, which costs nothing while there is no request. Another
// process writes the request there and wakes the thread.
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
	listens   uint32                               // the thread does; atomic
	wanted    uint32                               // the goroutine is to answer; atomic
	tell      uint32                               // it is to record which waits last for long; atomic
	abandoned uint32                               // bits of the sessions whose other side is gone; atomic
	consumers [ftrace_format_SessionsMax][2]uint32 // that the sessions want, of calls and of waits
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
	var beats [ftrace_format_SessionsMax]uint64
	var missed [ftrace_format_SessionsMax]int64 // nanoseconds without a beat
	before := nanotime()
	told := before
	atomic.Store(&ftraceAttach.listens, 1)
	// After a second the program has begun, and it is known whether it records.
	timeout := int64(1e9)
	for {
		reply := atomic.Load(&h.Reply)
		if atomic.Load(&h.Request) == reply {
			ftraceWait(&h.Request, reply, timeout)
		}
		// If more has passed, all may have been stopped, and a reader makes its next beat later.
		passed := min(nanotime()-before, 1e9)
		before = nanotime()
		files := ftraceRecording.on && ftraceRecording.chunks == 0 || ftraceSessionsRecord()
		timeout = 3600e9
		if files || atomic.Load(&h.Sessions) != 0 {
			timeout = 1e9
		}
		tell := files && before-told >= 1e9 && atomic.Load(&ftraceWaits.on) != 0
		if tell {
			told = before
			atomic.Store(&ftraceAttach.tell, 1)
		}
		abandoned := uint32(0)
		for i := range missed {
			missed[i] += passed
			if now := atomic.Load64(&h.Beats[i]); now != beats[i] || atomic.Load(&h.Sessions)>>i&1 == 0 {
				beats[i], missed[i] = now, 0
			}
			if missed[i] > ftraceBeatsMissed*1e9 {
				abandoned |= 1 << i
				missed[i] = 0
			}
		}
		if atomic.Load(&h.Request) == reply && abandoned == 0 && !tell {
			continue
		}
		atomic.Store(&ftraceAttach.abandoned, abandoned)
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
	for i := range uint32(ftrace_format_SessionsMax) {
		if atomic.Load(&ftraceAttach.abandoned)>>i&1 != 0 {
			ftraceDetach(h, i+1)
		}
	}
	atomic.Store(&ftraceAttach.abandoned, 0)
	if atomic.Load(&ftraceAttach.tell) != 0 {
		atomic.Store(&ftraceAttach.tell, 0)
		ftraceTellWaits()
	}
	if request := atomic.Load(&h.Request); request != h.Reply {
		text := string(unsafe.Slice((*byte)(add(unsafe.Pointer(h), ftrace_format_RequestAt)), min(h.Asked, ftrace_format_RequestMax)))
		reply := ftraceAnswer(h, h.Kind, h.Observer, text)
		var list *ftraceText // not copied: garbage would have the collector stop the world the sooner
		h.Failed = 0
		if reply != "" {
			h.Failed = 1
		} else if h.Kind == ftrace_format_AskLook {
			reply = ftraceSetup()
		} else if h.Kind == ftrace_format_AskStates {
			list = ftraceListStates(*(*uint64)(unsafe.Pointer(unsafe.StringData(text))))
		} else if h.Kind == ftrace_format_AskStuck {
			list = ftraceFindStuck(int64(*(*uint64)(unsafe.Pointer(unsafe.StringData(text)))))
		} else if h.Kind == ftrace_format_AskWhat {
			list = ftraceTellObjects(unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.StringData(text))), len(text)/8))
		} else if h.Kind == ftrace_format_AskLocks {
			list = ftraceListLocks(*(*uint64)(unsafe.Pointer(unsafe.StringData(text))))
		}
		if list != nil {
			reply = list.string()
		}
		h.Answered = uint32(min(len(reply), ftrace_format_RequestMax))
		memmove(add(unsafe.Pointer(h), ftrace_format_ReplyAt), unsafe.Pointer(unsafe.StringData(reply)), uintptr(h.Answered))
		ftraceFreeText(list)
		if h.Kind != ftrace_format_AskLook {
			h.Now = ftraceReadClock()
		}
		atomic.Store(&h.Reply, request)
		ftraceWake(&h.Reply)
	}
	atomic.Store(&ftraceAttach.wanted, 0)
	return true
}

// ftraceAnswer carries out the request of an observer, and returns why it can't.
func ftraceAnswer(h *ftraceHead, kind, observer uint32, text string) string {
	semacquire(&ftracePreparing)
	ftracePrepare(0, ftraceConsumersOr(ftraceConsumersUsual))
	semrelease(&ftracePreparing)
	if ftraceArmed() == nil {
		return "the program has no memory for it"
	}
	if !ftraceOut.on {
		ftraceRecording.wanted = true // first= is no limit for calls that nobody reads line by line
	}
	recording := &ftraceRecording.ftraceStream
	switch {
	case observer > ftrace_format_SessionsMax:
		return "there is no such session"
	case observer != 0:
		recording = &ftraceSessions[observer-1]
		if kind != ftrace_format_AskSession && h.Sessions>>(observer-1)&1 == 0 {
			return "the session has ended: no beat was seen for 5 seconds"
		}
		ftraceStartTables() // calls that a session's rules name have values, recorded or not
	}
	switch kind {
	case ftrace_format_AskLook:
		ftraceStartTables()
		h.Functions = ftraceRegistry.funcs
		h.Lost.Functions = uint64(h.Functions+1) - min(uint64(h.Functions+1), h.SummariesMax)
		h.Running = ftraceCountGoroutines()
		ftraceMakeCut(h)
	case ftrace_format_AskWhat:
		if len(text)%8 != 0 {
			return "these are not numbers of 8 bytes"
		}
	case ftrace_format_AskStates, ftrace_format_AskStuck, ftrace_format_AskLocks:
		if len(text) != 8 {
			return "this is not a number of 8 bytes"
		}
	case ftrace_format_AskRules:
		r, err, ok := ftraceNewRules(text, observer == 0 && !ftraceRecording.wanted)
		if !ok {
			var digits [20]byte
			return err.Message + " (at byte " + string(ftraceItoa(digits[:], uint64(err.Offset))) + ")"
		}
		return ftraceArm(observer, r, false)
	case ftrace_format_AskSwitch:
		return ftraceSwitch(observer, unsafe.Slice((*[2]uint32)(unsafe.Pointer(unsafe.StringData(text))), len(text)/8))
	case ftrace_format_AskRecord, ftrace_format_AskRing:
		chunks := uint64(0)
		if kind == ftrace_format_AskRing {
			chunks = h.RingChunks
		}
		switch {
		case chunks != 0 && observer != 0:
			return "a session records to files"
		case chunks != 0 && recording.on && recording.chunks != 0:
			ftraceRecording.asked |= ftraceAskedLater
			ftraceShowRecording()
			return ""
		case recording.on:
			return "the program records already"
		}
		if observer == 0 {
			ftraceRecording.asked = ftraceAskedLater
		} else if c := ftraceLoadConfig(); c == nil || c.of(observer) == nil {
			if failed := ftraceArm(observer, nil, true); failed != "" {
				return failed
			}
		}
		return ftraceRecordFromNow(recording, observer, text, chunks)
	case ftrace_format_AskStop:
		if !recording.on {
			return "the program does not record"
		}
		if observer == 0 {
			if ftraceRecording.asked&^ftraceAskedLater != 0 {
				if ftraceRecording.asked&ftraceAskedLater == 0 {
					return "the recording is for FTRACE_RECORD or FTRACE_ON_ERROR"
				}
				ftraceRecording.asked &^= ftraceAskedLater
				ftraceShowRecording()
				return ""
			}
			ftraceRecording.asked = 0
		}
		ftraceStopRecording(recording)
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
		ftraceForgetSpans(h, which[0])
		ftraceForgetProbes(h, which[0])
		startTheWorld(stw)
	case ftrace_format_AskConsumers:
		if len(text) != 8 {
			return "these are not two numbers of 4 bytes"
		}
		wants := &h.Own
		if observer != 0 {
			wants = &ftraceAttach.consumers[observer-1]
		}
		*wants = *(*[2]uint32)(unsafe.Pointer(unsafe.StringData(text)))
		ftraceKeep(h)
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
		if observer == 0 {
			return "there is no such session"
		}
		ftraceDetach(h, observer) // of one that ended without a word
		atomic.Or(&h.Sessions, 1<<(observer-1))
	case ftrace_format_AskDetach:
		ftraceDetach(h, observer)
	case ftrace_format_AskBudget:
		if len(text) != 4 {
			return "this is not a number of 4 bytes"
		}
		share := *(*uint32)(unsafe.Pointer(unsafe.StringData(text)))
		if observer == 0 && share == ^uint32(0) {
			share = ftraceBudget.start
		}
		if failed := ftraceAskBudget(observer, share); failed != "" {
			return "a budget: " + failed
		}
	case ftrace_format_AskKept:
		if len(text) != 4 {
			return "this is not a number of 4 bytes"
		}
		if failed := ftraceAskKept(h, *(*uint32)(unsafe.Pointer(unsafe.StringData(text)))); failed != "" {
			return "a budget: " + failed
		}
	default:
		return "the program does not know this request"
	}
	return ""
}

// ftraceDetach ends a session. What it asked for goes, and nothing else.
func ftraceDetach(h *ftraceHead, session uint32) {
	bit := uint32(1) << (session - 1)
	if h.Sessions&bit == 0 {
		return
	}
	atomic.And(&h.Sessions, ^bit)
	ftraceAttach.consumers[session-1] = [2]uint32{}
	ftraceKeep(h)
	if s := &ftraceSessions[session-1]; s.on {
		ftraceStopRecording(s)
	}
	ftraceLayLooks(uint8(bit), uint8(bit))
	if ftraceBudget.asked[session] != 0 {
		ftraceAskBudget(session, 0)
	}
	if c := ftraceLoadConfig(); c != nil && (c.of(session) != nil || c.follow&bit != 0) {
		ftraceArm(session, nil, false)
	}
}

// ftraceKeep has the consumers on that anyone wants.
func ftraceKeep(h *ftraceHead) {
	keep := h.Own
	for _, wants := range ftraceAttach.consumers {
		keep[0] |= wants[0]
		keep[1] |= wants[1]
	}
	atomic.Store(&h.Consumers, keep[0])
	atomic.Store(&h.Waits, keep[1]&^ftrace_format_ConsumerLocks)
	ftraceObserveLocks(keep[1]&ftrace_format_ConsumerLocks != 0)
	ftraceBudgetAnother()
}

// ftraceStopRecording ends a recording while the program runs.
func ftraceStopRecording(s *ftraceStream) {
	ftraceFinishBudget(false)
	s.end()
	ftraceBudgetAnother()
	ftraceShowRecording()
	ftraceLayLooks(^uint8(0), 0)
	ftraceSetWeavesNow()
}

// ftraceSwitch switches functions. Those that a session switches on are only looked at: their calls
// are kept in memory while it lasts, if nobody else says anything of them, and are neither shown
// nor recorded.
func ftraceSwitch(observer uint32, list [][2]uint32) string {
	if observer != 0 && (ftraceOut.on || ftraceRecording.on) {
		return "the program prints or records calls itself, so only those are counted"
	}
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
		if observer != 0 {
			f.looks &^= 1 << (observer - 1)
			f.looks |= uint8(what & ftrace_format_SwitchOn << (observer - 1))
			f.layAgain()
			continue
		}
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
	ftraceBudgetAgain()
	ftraceUnlockRegistry()
	if unknown != 0 {
		return "there is no such function"
	}
	return ""
}

// ftraceLayLooks lays anew what sessions look at. Those that have ended look at nothing any more.
func ftraceLayLooks(sessions, ended uint8) {
	semacquire(&ftraceRegistry.lock)
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		for i := range p.Nfuncs {
			if f := p.fn(i); f.looks&sessions != 0 {
				f.looks &^= ended
				f.layAgain()
			}
		}
	}
	ftraceUnlockRegistry()
}

// ftraceRecordFromNow begins the program's own recording, or that of a session, while the program
// runs.
func ftraceRecordFromNow(s *ftraceStream, session uint32, directory string, chunks uint64) string {
	stw := stopTheWorld(stwUnknown)
	s.restart()
	forEachG(func(gp *g) {
		if t := gp.ftrace; t != nil {
			t.forget(session)
		}
	})
	startTheWorld(stw)
	if failed := s.begin(directory, chunks); failed != "" {
		return failed
	}
	ftraceShowRecording()
	ftraceLayLooks(^uint8(0), 0)
	ftraceBudgetAnother()
	ftraceSetWeavesNow()
	return ""
}

// forget makes nothing of what the goroutine does known to a recording: the program's own, or that
// of a session. The world is stopped.
func (t *ftraceG) forget(session uint32) {
	if session == 0 {
		t.recorded = false
		return
	}
	t.seen[session-1] = 0
	t.recordedIn &^= 1 << (session - 1)
	for i := range t.depth {
		t.frame(i).Flags &^= ftraceFrameSession << (session - 1)
	}
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
				half := add(unsafe.Pointer(w), uintptr(p.at))
				ftraceForget(half, at, p.most*p.size)
				ftraceForget(add(half, uintptr(h.HalfSize)), at+h.HalfSize, p.most*p.size)
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
	case ftraceRecording.on && ftraceRecording.chunks == 0, ftraceSessionsRecord():
		return "the program records to files, whose times are all by one timer"
	}
	stw := stopTheWorld(stwUnknown)
	ftraceTimer = int(timer)
	ftraceCountWaits()
	ftraceTimeLocks()
	h.Timer, h.Begun.Ticks = timer, ftraceEpoch[timer]
	ftraceRecording.restart()
	ftraceForgetCalls(h, ftrace_format_ConsumersAll, ftrace_format_ConsumersAll)
	ftraceForgetSpans(h, ftrace_format_ClearStatements|ftrace_format_ClearStages)
	ftraceForgetProbes(h, ftrace_format_ClearProbes)
	now := ftraceTicks()
	for _, w := range ftraceRecording.writers {
		if w != nil {
			w.last = now
		}
	}
	forEachG(func(gp *g) {
		if w := &gp.ftraceWait; w.begin != 0 {
			w.begin = now // it was by the other timer
			if w.ready != 0 {
				w.ready = now
			}
		}
		t := gp.ftrace
		if t == nil {
			return
		}
		t.last, t.contextShown, t.recorded = now, 0, false
		for i := range t.depth {
			if frame := t.frame(i); frame.Place.Ticks != 0 {
				frame.Place, frame.Within = ftrace_format_Place{now, ftrace_format_Nowhere}, 0
				frame.Flags |= ftrace_format_FrameNotTimed
			} else if frame.Flags&ftrace_format_FrameAtEnd != 0 {
				frame.Flags |= ftrace_format_FrameNotTimed
			}
		}
	})
	startTheWorld(stw)
	ftraceDefineTimer()
	return ""
}
