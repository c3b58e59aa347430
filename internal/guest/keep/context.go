//go:build ftrace_core

// FTRACE_ON_ERROR: nothing is printed until something goes wrong. Then the last calls of the
// goroutine are printed from the recording, and those under way. While tests run, package testing
// gets those of a test that fails, and prints them.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceOnError is FTRACE_ON_ERROR: the number of calls to show, 0 if it is not set.
var ftraceOnError int

// ftraceTesting reports whether the program is one of tests. Of these, only failures are errors: a
// panic that is recovered and a line in the log are not.
var ftraceTesting bool

const ftraceOnErrorMax = 1000

// ftraceTakesLine is called with each line of a context: what it is, how many calls that are shown
// are around it, and its text, which is overwritten later.
type ftraceTakesLine func(kind byte, depth int, line string)

const (
	ftraceLineBegins = '+' // a call begins
	ftraceLineEnds   = '}' // it ends
	ftraceLinePanics = '!' // it ends by a panic
	ftraceLineOther  = '-'
)

// ftraceParseOnError reads FTRACE_ON_ERROR.
func ftraceParseOnError(s, record string) {
	n, ok := ftraceParseInt(s)
	switch {
	case s == "" || s == "off":
	case !ok || n > ftraceOnErrorMax:
		ftraceComplain("FTRACE_ON_ERROR: " + s + " is not the number of calls to show, at most 1000; nothing is shown when something goes wrong")
	case record != "" && record != "ring" && (len(record) < 5 || record[:5] != "ring:"):
		ftraceComplain("FTRACE_ON_ERROR: the calls are found in rings, not in files: with FTRACE_RECORD=" + record + " nothing is shown when something goes wrong")
	default:
		ftraceOnError, ftraceDeadlocked = n, ftraceShowDeadlock
	}
}

// ftracePanicking is called when a panic begins.
func ftracePanicking(e any) {
	if ftraceOnError != 0 && !ftraceTesting {
		ftraceShowContext("panic", e)
	}
}

// ftraceUnrecovered is called when a panic ends the program. If the goroutine is one of a test that
// has failed by it, its calls are shown already.
func ftraceUnrecovered(p *_panic) {
	if t := getg().ftrace; ftraceTesting && t != nil && t.contextShown == 0 {
		ftraceShowContext("panic", p.arg)
		ftraceKeepRings("panic")
	}
}

// ftraceExits is called when the program ends by os.Exit, or because main returns. Goroutines other
// than the main one do not end tests so.
func ftraceExits(code int) {
	gp := getg()
	if t := gp.ftrace; ftraceTesting && code != 0 && gp.goid != 1 && t != nil && t.contextShown == 0 {
		var digits [20]byte
		ftraceShowContext("os.Exit("+string(ftraceItoa(digits[:], uint64(code)))+")", nil)
		ftraceKeepRings("exit")
	}
}

const ftraceDeadlockedMax = 100 // goroutines whose calls are shown

// ftraceDeadlocked is called when all goroutines wait for one another; nil: nothing is shown then.
// It is a variable because its callers may have no write barriers, which the compiler checks in
// what they call directly. The collector does not run while all goroutines are asleep.
var ftraceDeadlocked func()

var ftraceDeadlockShown uint32 // 1: a thread shows it, or has

// ftraceShowDeadlock shows the calls of the goroutines that are in one. It is on a system stack,
// without a processor: it allocates nothing, and takes no lock that a goroutine may hold.
//
// Meanwhile another thread that goes idle may find the same deadlock. It waits for the first one to
// end the program: if it went on, it would show the calls once more, or end the program in the
// midst of them.
func ftraceShowDeadlock() {
	if ftraceOnError == 0 || !ftraceRecording.on {
		return
	}
	for !atomic.Cas(&ftraceDeadlockShown, 0, 1) {
		usleep(1000)
	}
	ftraceDying()
	n := uint64(0)
	forEachGRace(func(gp *g) {
		t := gp.ftrace
		if t == nil || !t.recorded || t.depth == 0 || t.busy != 0 || isSystemGoroutine(gp, false) {
			return
		}
		if n++; n > ftraceDeadlockedMax {
			return
		}
		ftraceWriteDeadlock("G", gp.goid)
		ftraceContext(gp, t, ftraceOnError, t.contextShown, ftraceWriteLine)
	})
	if n > ftraceDeadlockedMax {
		ftraceWriteDeadlock("so many more goroutines: ", n-ftraceDeadlockedMax)
	}
}

// ftraceWriteDeadlock writes the line before the calls of a goroutine.
func ftraceWriteDeadlock(who string, n uint64) {
	b := ftraceNewText()
	b.str("# ftrace: deadlock on ")
	b.number(who, n)
	b.byte('\n')
	b.put(ftraceWriteLine, ftraceLineOther, 0)
	ftraceFreeText(b)
}

// ftraceWriteLine writes a line on any stack, unless nobody reads what was written before.
func ftraceWriteLine(_ byte, _ int, line string) {
	ftraceWriteDying(unsafe.Pointer(unsafe.StringData(line)), len(line))
}

// chunk returns the chunk, or nil if another has taken its place.
func (p *ftrace_format_Place) chunk() *ftraceChunk {
	if p.writer() >= ftrace_format_ProcessorsMax {
		return nil
	}
	w := ftraceRecording.writers[p.writer()]
	if w == nil {
		return nil
	}
	if c := w.chunkAt(uint64(p.number())); c != nil && uint32(c.Number) == p.number() {
		return c
	}
	return nil
}

// kind returns the record's kind, or 0 if it is gone.
func (p *ftrace_format_Place) kind() uint8 {
	if c := p.chunk(); c != nil {
		return c.record(p.offset()).Kind
	}
	return 0
}

// read copies the record, or returns nil if it is gone. In the copy an entry has its number after
// the head, an exit the whole head, and values their layout and size, whatever the record has, and
// the kinds are those of others.
func (p *ftrace_format_Place) read(to *ftraceText) *ftraceEvent {
	c := p.chunk()
	if c == nil {
		return nil
	}
	from, r := c.record(p.offset()), (*ftraceEvent)(unsafe.Pointer(&to.data))
	kind, size, had, has, words := from.Kind, from.size(), ftraceRecordSize, ftraceRecordSize, false
	switch kind {
	case ftrace_format_KindEntry, ftrace_format_KindEntryArgs:
		has += 8
	case ftrace_format_KindEntryLong, ftrace_format_KindEntryLongArgs:
		kind -= ftrace_format_KindEntryLong - ftrace_format_KindEntry
	case ftrace_format_KindExitNear, ftrace_format_KindExitNearResults:
		kind -= ftrace_format_KindExitNear - ftrace_format_KindExit
		had = ftrace_format_RecordNear
	case ftrace_format_KindEntryWords:
		kind, words = ftrace_format_KindEntryArgs, true
		has += 8 + 8
	case ftrace_format_KindExitWords:
		kind, words = ftrace_format_KindExitResults, true
		had = ftrace_format_RecordNear
		has += 8
	}
	if size < had {
		return nil // it is being overwritten
	}
	memmove(unsafe.Pointer(r), unsafe.Pointer(from), had)
	memmove(add(unsafe.Pointer(r), has), add(unsafe.Pointer(from), had), size-had)
	r.Kind = kind
	switch {
	case had < ftraceRecordSize:
		back := uintptr(r.Depth) * 8
		if back > p.offset() {
			return nil
		}
		entry := c.record(p.offset() - back)
		r.Depth, r.Function = entry.Depth, entry.Function
	case has > ftraceRecordSize:
		*(*uint64)(add(unsafe.Pointer(r), ftraceRecordSize)) = uint64(r.Call)
	}
	if words {
		l := ftraceImpliedOf(ftraceFuncOf(r.Function), kind == ftrace_format_KindExitResults)
		if l == nil {
			return nil
		}
		*(*uint64)(add(unsafe.Pointer(r), has-8)) = l.head
	}
	if p.chunk() == nil || r.Ticks != uint32(p.Ticks) {
		return nil
	}
	return r
}

func (c *ftraceChunk) record(offset uintptr) *ftraceEvent {
	return (*ftraceEvent)(add(unsafe.Pointer(c), offset))
}

// chunkAt returns the ring's chunk of this number, or nil if it was overwritten or has not begun.
// It may be overwritten at any time.
func (w *ftraceWriter) chunkAt(number uint64) *ftraceChunk {
	if begun := atomic.Load64(&w.number); number >= begun || number+ftraceRecording.chunks < begun {
		return nil
	}
	return (*ftraceChunk)(add(w.ring, uintptr(number%ftraceRecording.chunks)*ftrace_format_RingChunk))
}

// ftracePlaces are records in the order of their ticks. They lie in a text buffer.
type ftracePlaces struct {
	text *ftraceText
	n    int
}

func (s *ftracePlaces) at(i int) *ftrace_format_Place {
	return (*ftrace_format_Place)(add(unsafe.Pointer(&s.text.data), uintptr(i)*unsafe.Sizeof(ftrace_format_Place{})))
}

// insert adds a place. If there are too many it drops the first.
func (s *ftracePlaces) insert(p ftrace_format_Place) {
	if (s.n+1)*int(unsafe.Sizeof(p)) > len(s.text.data) {
		s.n--
		memmove(unsafe.Pointer(s.at(0)), unsafe.Pointer(s.at(1)), uintptr(s.n)*unsafe.Sizeof(p))
	}
	i := s.n
	for i > 0 && s.at(i-1).Ticks > p.Ticks {
		*s.at(i) = *s.at(i - 1)
		i--
	}
	*s.at(i) = p
	s.n++
}

// collect finds the records of goroutine goid since the beginning of its last n calls, but none
// before since. It returns when that was.
func (s *ftracePlaces) collect(goid uint64, n int, since uint64) uint64 {
	// By writer: 1 + the number of the chunk to read next.
	buffer := ftraceNewText()
	defer ftraceFreeText(buffer)
	left := (*[ftrace_format_ProcessorsMax]uint64)(unsafe.Pointer(&buffer.data))
	*left = [ftrace_format_ProcessorsMax]uint64{}
	for i, w := range ftraceRecording.writers {
		if w != nil {
			left[i] = atomic.Load64(&w.number)
		}
	}
	for {
		// Of all chunks that are left, the one that began last.
		var last *ftraceChunk
		at := -1
		for i, w := range ftraceRecording.writers {
			if left[i] == 0 {
				continue
			}
			c := w.chunkAt(left[i] - 1)
			if c == nil {
				left[i] = 0
				continue
			}
			if last == nil || c.Begin > last.Begin {
				last, at = c, i
			}
		}
		if last == nil {
			return since
		}
		number := left[at] - 1
		left[at] = number
		if next := ftraceRecording.writers[at].chunkAt(number + 1); next != nil && next.Begin < since {
			left[at] = 0 // the goroutine's records of interest begin after this chunk and those before it
			continue
		}
		s.scan(last, number, at, goid, since)
		since = max(since, s.beginning(n))
	}
}

// scan inserts those of the goroutine's records in a chunk that are not before since.
func (s *ftracePlaces) scan(c *ftraceChunk, number uint64, writer int, goid, since uint64) {
	var turn ftraceRecordTurn
	for offset := unsafe.Sizeof(*c); offset+ftrace_format_RecordNear <= uintptr(atomic.Load64(&c.Content)/8); {
		r := c.record(offset)
		turn.sees(r)
		if ticks := turn.ticksOf(r); turn.goroutine == goid && ticks >= since && r.Kind != ftrace_format_KindTurn {
			s.insert(ftracePlaceAt(ticks, number, int32(writer), offset))
		}
		size := r.size()
		if size == 0 {
			return // it is being overwritten
		}
		offset += size
	}
}

// ftraceStartedSince calls take for each goroutine whose first record is in the rings, and not
// before since.
func ftraceStartedSince(since uint64, take func(goid, by, at uint64)) {
	for _, w := range ftraceRecording.writers {
		if w == nil {
			continue
		}
		for number := atomic.Load64(&w.number); number > 0; number-- {
			c := w.chunkAt(number - 1)
			if c == nil {
				break
			}
			var turn ftraceRecordTurn
			for offset := unsafe.Sizeof(*c); offset+ftrace_format_RecordNear <= uintptr(atomic.Load64(&c.Content)/8); {
				r := c.record(offset)
				turn.sees(r)
				goid, at, size, by := turn.goroutine, turn.ticksOf(r), r.size(), uint64(0)
				starts := r.Kind == ftrace_format_KindGoroutineStart && at >= since
				if offset += size; starts && offset <= ftrace_format_RingChunk {
					by = *(*uint64)(add(unsafe.Pointer(r), ftraceRecordSize))
				}
				if size == 0 || w.chunkAt(number-1) != c {
					break // it is being overwritten
				}
				if starts {
					take(goid, by, at)
				}
			}
			if c.Begin < since {
				break
			}
		}
	}
}

// beginning returns when the nth last entry was, or 0 if there are fewer.
func (s *ftracePlaces) beginning(n int) uint64 {
	for i := s.n - 1; i >= 0; i-- {
		switch s.at(i).kind() {
		case ftrace_format_KindEntry, ftrace_format_KindEntryArgs, ftrace_format_KindEntryLate, ftrace_format_KindEntryLong, ftrace_format_KindEntryLongArgs, ftrace_format_KindEntryWords:
			if n--; n == 0 {
				return s.at(i).Ticks
			}
		}
	}
	return 0
}

// ftraceShowContext prints the last calls of this goroutine and those under way, except for what it
// has printed before. A line before them says why, with a panic's value.
func ftraceShowContext(why string, value any) {
	gp := getg()
	t := gp.ftrace
	if ftraceOnError == 0 || t == nil || !t.recorded || t.busy != 0 || !ftraceMayTrace(gp) {
		return
	}
	t.busy++
	b := ftraceNewText()
	b.str("# ftrace: ")
	b.str(why)
	b.number(" on G", gp.goid)
	if value != nil {
		b.str(": ")
		p := ftracePrinter{b: b, limit: ftraceFormat.line, redaction: ftraceRedactions.usual}
		p.dynamic(value, true)
	}
	b.byte('\n')
	b.flush()
	ftraceFreeText(b)
	ftraceContext(gp, t, ftraceOnError, t.contextShown, nil)
	t.busy--
}

// ftraceContext puts out the last n calls of a goroutine, of those that began or ended after shown.
// For the current one t is its state, and calls under way are put out too, whenever they began. For
// others it is nil. If take is nil, lines are printed.
func ftraceContext(gp *g, t *ftraceG, n int, shown uint64, take ftraceTakesLine) {
	places, b, record := ftracePlaces{text: ftraceNewText()}, ftraceNewText(), ftraceNewText()
	depth := int32(0)
	since := places.collect(gp.goid, n, shown)
	if t != nil {
		// First the calls under way that began before that, or whose records were overwritten.
		for i := range t.depth {
			frame := t.frame(i)
			r := frame.Place.read(record)
			if frame.clause == 0 || r != nil && frame.Place.Ticks >= since {
				continue
			}
			b.recordedEntry(gp, frame.shown, frame.fn.ptr(), uintptr(frame.Count), r)
			b.put(take, ftraceLineBegins, frame.shown)
			depth = frame.shown + 1
		}
	}
	for i := range places.n {
		p := places.at(i)
		if p.Ticks < since {
			continue
		}
		r := p.read(record)
		if r == nil || int32(r.Depth) > depth && since == shown && t != nil {
			continue // it is within a call that was printed before
		}
		depth = b.recorded(gp, r, p.Ticks, depth, take)
	}
	if t != nil {
		t.contextShown = ftraceTicks()
	}
	ftraceFreeText(places.text)
	ftraceFreeText(b)
	ftraceFreeText(record)
}

// put prints the buffer's line, or gives it to take.
func (b *ftraceText) put(take ftraceTakesLine, kind byte, depth int32) {
	if take == nil {
		b.flush()
		return
	}
	b.convert()
	take(kind, int(depth), unsafe.String(&b.data[0], b.n))
	b.n = 0
}

// recorded prints a record of this time. depth is how many of the printed calls have not ended;
// recorded returns that number after the record.
func (b *ftraceText) recorded(gp *g, r *ftraceEvent, ticks uint64, depth int32, take ftraceTakesLine) int32 {
	f := ftraceFuncOf(r.Function)
	at := int32(r.Depth)
	kind := byte(ftraceLineOther)
	switch r.Kind {
	case ftrace_format_KindEntry, ftrace_format_KindEntryArgs, ftrace_format_KindEntryLate:
		kind = ftraceLineBegins
		if at > depth && !ftraceFormat.json && take == nil { // the call around it began before those to be shown
			b.prefix(gp, depth)
			b.str("...\n")
		}
		b.recordedEntry(gp, at, f, uintptr(*(*uint64)(add(unsafe.Pointer(r), ftraceRecordSize))&^ftrace_format_Untimed), r)
		depth = at + 1
	case ftrace_format_KindExit, ftrace_format_KindExitResults, ftrace_format_KindExitPanic, ftrace_format_KindExitGoexit:
		if at >= depth {
			return depth // its entry was not printed
		}
		kind = ftraceLineEnds
		if r.Kind == ftrace_format_KindExitPanic {
			kind = ftraceLinePanics
		}
		if ftraceFormat.json {
			b.jsonRecordedExit(gp, at, f, r)
		} else {
			b.prefix(gp, at+1)
			b.recordedExit(f, r)
		}
		depth = at
	case ftrace_format_KindProbe:
		args := add(unsafe.Pointer(r), ftraceRecordSize+8)
		if ftraceFormat.json {
			b.jsonPrefix(gp, at, ftraceLevel)
			b.str(`,"event":"probe","probe":`)
			b.jsonName(f)
			b.jsonRecorded(`,"args":`, args, f.names(false), &f.entryLayouts)
			b.str("}\n")
			break
		}
		b.open(gp, at, "- ", f)
		b.values(args, f.names(false), &f.entryLayouts)
		b.str(")\n")
	case ftrace_format_KindOff, ftrace_format_KindOn:
		if take != nil || ftraceFormat.json {
			break // the end says so
		}
		b.prefix(gp, 0)
		b.str("# ftrace: ")
		b.str(f.pkg.label())
		b.str(".")
		b.str(f.name)
		if r.Kind == ftrace_format_KindOff {
			b.str(": calls are left out from here on\n")
		} else {
			on := (*[4]uint64)(add(unsafe.Pointer(r), ftraceRecordSize))
			calls, uncounted := on[1]&^ftrace_format_Uncounted, on[1]&ftrace_format_Uncounted != 0
			calls -= min(calls, on[3]) // those were noted at their end
			b.str(": ")
			if !uncounted || calls != 0 {
				b.uint(calls)
				b.str(" calls")
			}
			switch {
			case uncounted && calls == 0:
				b.str("uncounted calls")
			case uncounted:
				b.str(" and more")
			}
			b.str(" were left out\n")
		}
	case ftrace_format_KindWait, ftrace_format_KindSelect:
		var unknown ftracePosition
		var others []uint64
		w := (*ftrace_format_Wait)(add(unsafe.Pointer(r), ftraceRecordSize))
		if r.Kind == ftrace_format_KindSelect {
			n := (*uint64)(add(unsafe.Pointer(w), unsafe.Sizeof(*w)))
			others = unsafe.Slice((*uint64)(add(unsafe.Pointer(n), 8)), *n)
		}
		b.wait(gp, at, f, w, others, ticks, &unknown, 0)
	}
	if b.n != 0 {
		b.put(take, kind, at)
	}
	return depth
}

// recordedEntry appends an entry line; r is nil if the record is gone.
func (b *ftraceText) recordedEntry(gp *g, depth int32, f *ftraceFunc, count uintptr, r *ftraceEvent) {
	if ftraceFormat.json {
		b.jsonCall(gp, depth, "call", f)
		b.number(`,"call":`, uint64(count))
		switch {
		case r == nil:
			b.str(`,"cut":true`)
		case r.Kind == ftrace_format_KindEntryArgs:
			b.jsonRecorded(`,"args":`, add(unsafe.Pointer(r), ftraceRecordSize+8), f.names(false), &f.entryLayouts)
		}
		b.str("}\n")
		return
	}
	b.open(gp, depth, "+ ", f)
	switch {
	case r == nil:
		b.str("...")
	case r.Kind == ftrace_format_KindEntryArgs:
		b.values(add(unsafe.Pointer(r), ftraceRecordSize+8), f.names(false), &f.entryLayouts)
	}
	b.number(") { // #", uint64(count))
	b.byte('\n')
}

// recordedExit appends the line of a call's end.
func (b *ftraceText) recordedExit(f *ftraceFunc, r *ftraceEvent) {
	values := add(unsafe.Pointer(r), ftraceRecordSize)
	b.byte('}')
	switch r.Kind {
	case ftrace_format_KindExitResults:
		b.str(" = ")
		b.values(values, f.names(true), &f.exitLayouts)
	case ftrace_format_KindExitPanic:
		b.str(" panic ")
		b.values(values, "", &ftraceRecording.panics)
	case ftrace_format_KindExitGoexit:
		b.str(" Goexit")
	}
	b.str(" // ")
	b.name(f)
	b.byte('\n')
}

// jsonRecordedExit appends the line of a call's end. The record does not have the call's number.
func (b *ftraceText) jsonRecordedExit(gp *g, depth int32, f *ftraceFunc, r *ftraceEvent) {
	values := add(unsafe.Pointer(r), ftraceRecordSize)
	b.jsonCall(gp, depth, "return", f)
	switch r.Kind {
	case ftrace_format_KindExitResults:
		b.jsonRecorded(`,"results":`, values, f.names(true), &f.exitLayouts)
	case ftrace_format_KindExitPanic:
		b.str(`,"panic":`)
		at := b.n
		b.values(values, "", &ftraceRecording.panics)
		b.jsonQuote(at)
	case ftrace_format_KindExitGoexit:
		b.str(`,"goexit":true`)
	}
	b.str("}\n")
}
