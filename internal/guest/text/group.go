//go:build ftrace_core

// Groups. With FTRACE_GROUP a goroutine's lines wait until its outermost shown call ends. Then they
// are written in one piece, so that the lines of many goroutines can be read. What would take more
// than ftraceGroupMax buffers is written earlier. When the program ends, all that goroutines hold
// is written.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceGroup has the lines that a goroutine holds. It belongs to the goroutine; its fields are
// used under ftraceOut's lock.
type ftraceGroup struct {
	_        sys.NotInHeap
	next     *ftraceGroup // in the list of all, or of free ones
	prev     *ftraceGroup
	first    *ftraceText // buffers, in order
	last     *ftraceText
	buffers  int
	open     ftraceOpenLine // whose unfinished line ends what is held, as in ftraceOut
	orphaned uint32         // the goroutine has ended; atomic
	goid     uint64
}

// ftraceGroupMax is the number of buffers that a goroutine fills at most: 1 MiB.
const ftraceGroupMax = 16

// ftraceGroups lists the groups, under ftraceOut's lock.
var ftraceGroups struct {
	on      uint32 // FTRACE_GROUP, until the program ends; atomic
	orphans uint32 // groups whose goroutine has ended; atomic
	all     *ftraceGroup
	free    *ftraceGroup
}

// grouping reports whether the goroutine's lines are held: from the first line of the outermost
// shown call to its last.
func (t *ftraceG) grouping() bool {
	return t != nil && atomic.Load(&ftraceGroups.on) != 0 && (t.shown > 0 || t.group != nil)
}

// emit writes the lines in b, or holds them, and empties it.
func (t *ftraceG) emit(b *ftraceText) {
	if !t.grouping() {
		b.flush()
		return
	}
	if b.n == 0 {
		return
	}
	ftraceLockOut()
	w := ftraceGroupOf(t)
	if w.open.goid != 0 {
		if to := w.text(8); w.open.goid != 0 { // it may have written what is held
			to.str(w.open.end())
			w.open = ftraceOpenLine{}
		}
	}
	to := w.text(b.n)
	to.n += copy(to.data[to.n:], b.data[:b.n])
	w.ended()
	ftraceUnlockOut()
	b.n = 0
}

// ungroup writes what the goroutine holds. Its outermost shown call has ended.
func (t *ftraceG) ungroup() {
	if t.group == nil {
		return
	}
	ftraceLockOut()
	t.group.write()
	t.group.remove()
	t.group = nil
	if atomic.Load(&ftraceGroups.orphans) != 0 {
		ftraceWriteGroups(false)
	}
	ftraceUnlockOut()
}

// ftraceGroupOf returns the goroutine's group. It and the methods below are called under
// ftraceOut's lock.
func ftraceGroupOf(t *ftraceG) *ftraceGroup {
	if t.group == nil {
		w := ftraceGroups.free
		if w != nil {
			ftraceGroups.free = w.next
		} else {
			w = (*ftraceGroup)(ftraceAlloc(unsafe.Sizeof(ftraceGroup{})))
		}
		*w = ftraceGroup{next: ftraceGroups.all, goid: getg().goid}
		if w.next != nil {
			w.next.prev = w
		}
		ftraceGroups.all = w
		t.group = w
	}
	return t.group
}

// text returns a buffer with room for n bytes.
func (w *ftraceGroup) text(n int) *ftraceText {
	if w.last != nil && len(w.last.data)-w.last.n >= n {
		return w.last
	}
	if w.buffers == ftraceGroupMax {
		w.cut()
	}
	b := ftraceNewText()
	if w.first == nil {
		w.first = b
	} else {
		w.last.next = b
	}
	w.last = b
	w.buffers++
	return b
}

// cut writes what is held because it is too much. It says so, unless it is in the middle of a line.
func (w *ftraceGroup) cut() {
	whole := w.last.n > 0 && w.last.data[w.last.n-1] == '\n'
	w.write()
	if !whole {
		return
	}
	note := ftraceNewText()
	note.number("# ftrace: G", w.goid)
	note.str(" goes on: FTRACE_GROUP holds 1 MiB of a goroutine's lines\n")
	note.convert()
	w.writeText(note)
	ftraceFreeText(note)
}

// ended writes what is held if the program has begun to end since: all that was held was written at
// that moment.
func (w *ftraceGroup) ended() {
	if atomic.Load(&ftraceGroups.on) == 0 {
		w.write()
	}
}

// write writes what is held.
func (w *ftraceGroup) write() {
	if w.first != nil && ftraceOut.open.goid != 0 && atomic.Load(&ftraceOut.dead) == 0 {
		end := ftraceOut.open.end()
		ftraceWriteAll(unsafe.Pointer(unsafe.StringData(end)), len(end))
	}
	for w.first != nil {
		b := w.first
		w.first = b.next
		w.writeText(b)
		ftraceFreeText(b)
		ftraceOut.open = w.open
	}
	w.last, w.buffers, w.open = nil, 0, ftraceOpenLine{}
}

func (w *ftraceGroup) writeText(b *ftraceText) {
	if atomic.Load(&ftraceOut.dead) != 0 {
		atomic.Xadd(&ftraceOut.lost, 1)
		return
	}
	if errno := ftraceWriteAll(unsafe.Pointer(&b.data), b.n); errno != 0 {
		ftraceDead(errno)
	}
}

// remove takes an empty group out of the list.
func (w *ftraceGroup) remove() {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		ftraceGroups.all = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	}
	w.prev = nil
	w.next = ftraceGroups.free
	ftraceGroups.free = w
}

// ftraceWriteGroups writes what all goroutines hold, or what those hold that have ended.
func ftraceWriteGroups(all bool) {
	for w := ftraceGroups.all; w != nil; {
		next := w.next
		orphaned := atomic.Load(&w.orphaned) != 0
		if all || orphaned {
			w.write()
		}
		if orphaned {
			atomic.Xadd(&ftraceGroups.orphans, -1)
			w.remove()
		}
		w = next
	}
}

// ftraceEndGroups writes what all goroutines hold because the program ends. From then on nothing is
// held.
func ftraceEndGroups() {
	if !atomic.Cas(&ftraceGroups.on, 1, 0) {
		return
	}
	ftraceLockOut()
	ftraceWriteGroups(true)
	ftraceUnlockOut()
}

// ftraceGroupsDying is ftraceEndGroups for ftraceDying, which has the lock, on any stack. The
// buffers are left as they are.
//
//go:nosplit
//go:nowritebarrierrec
func ftraceGroupsDying() {
	atomic.Store(&ftraceGroups.on, 0)
	open := &ftraceOut.open
	for w := ftraceGroups.all; w != nil && atomic.Load(&ftraceOut.dead) == 0; w = w.next {
		b := w.first
		if b != nil && open.goid != 0 {
			end := open.end()
			ftraceWriteDying(unsafe.Pointer(unsafe.StringData(end)), len(end))
		}
		for ; b != nil; b = b.next {
			ftraceWriteDying(unsafe.Pointer(&b.data), b.n)
			open = &w.open
		}
		w.first, w.last, w.buffers = nil, nil, 0
	}
}

// orphan leaves the group to others because its goroutine ends in the middle of a call. It is
// called on the system stack.
func (w *ftraceGroup) orphan() {
	atomic.Store(&w.orphaned, 1)
	atomic.Xadd(&ftraceGroups.orphans, 1)
}
