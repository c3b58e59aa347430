//go:build ftrace_core

// Lines of loggers that may come to the descriptors 1 and 2 later than they were logged, or from
// another goroutine, because a buffer or a pipe is between. Those that were woven are remembered,
// so that they are not woven a second time.

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceUnseen has the last lines of loggers that were woven, or are being, and may still come to
// the descriptors 1 and 2. A line that has come is taken out.
var ftraceUnseen = ftraceUnseenLines{lock: 1}

const (
	ftraceUnseenMax  = 1024      // lines
	ftraceUnseenText = 256 << 10 // and their bytes
)

type ftraceUnseenLines struct {
	lock   uint32        // semaphore
	n      uint32        // lines that are remembered or being logged, and beginnings that have come; atomic
	active *ftraceRecord // lines being logged
	store  *ftraceUnseenStore
	begun  [3]ftraceBegunLine // by descriptor
}

// ftraceBegunLine is the beginning of a line that has come to a descriptor without the rest.
type ftraceBegunLine struct {
	text   *ftraceText // nil if there is none
	logger bool        // it came while a logger was writing, so it is certainly the logger's
}

type ftraceUnseenStore struct {
	_     sys.NotInHeap
	lines [ftraceUnseenMax]ftraceUnseenLine // a ring: the first is number first
	first uint32
	next  uint32
	at    uint32 // where the next line's bytes go
	data  [ftraceUnseenText]byte
}

// ftraceUnseenLine is where the bytes of a line are. It has none if the line has come.
type ftraceUnseenLine struct{ at, size, hash uint32 }

func (u *ftraceUnseenLines) bytes(l ftraceUnseenLine) string {
	return unsafe.String(&u.store.data[l.at], l.size)
}

func ftraceLineHash(p string) uint32 {
	return uint32(memhash(unsafe.Pointer(unsafe.StringData(p)), 0, uintptr(len(p))))
}

// begin notes that r is being logged: another goroutine may write the line.
func (u *ftraceUnseenLines) begin(r *ftraceRecord) {
	semacquire(&u.lock)
	r.active = u.active
	u.active = r
	atomic.Xadd(&u.n, 1)
	semrelease(&u.lock)
}

// end notes that r was logged.
func (u *ftraceUnseenLines) end(r *ftraceRecord) {
	semacquire(&u.lock)
	for at := &u.active; *at != nil; at = &(*at).active {
		if *at == r {
			*at = r.active
			break
		}
	}
	atomic.Xadd(&u.n, -1)
	if (!r.used || r.again && r.seen == 0) && !r.delivered {
		u.add(r.line)
	}
	semrelease(&u.lock)
}

// add remembers a line. The oldest are forgotten if there is no room.
func (u *ftraceUnseenLines) add(line *ftraceText) {
	size := uint32(line.n)
	if size == 0 || line.data[size-1] != '\n' {
		return
	}
	if u.store == nil {
		u.store = (*ftraceUnseenStore)(ftraceAlloc(unsafe.Sizeof(ftraceUnseenStore{})))
	}
	s := u.store
	if s.at+size > ftraceUnseenText {
		for s.first != s.next && s.lines[s.first%ftraceUnseenMax].at >= s.at {
			u.drop()
		}
		s.at = 0
	}
	for s.first != s.next {
		oldest := s.lines[s.first%ftraceUnseenMax]
		if s.next-s.first < ftraceUnseenMax && (oldest.at < s.at || oldest.at >= s.at+size) {
			break
		}
		u.drop()
	}
	l := ftraceUnseenLine{at: s.at, size: size, hash: ftraceLineHash(line.string())}
	memmove(unsafe.Pointer(&s.data[l.at]), unsafe.Pointer(&line.data), uintptr(size))
	s.lines[s.next%ftraceUnseenMax] = l
	s.next++
	s.at += size
	atomic.Xadd(&u.n, 1)
}

// drop forgets the oldest line.
func (u *ftraceUnseenLines) drop() {
	s := u.store
	if s.lines[s.first%ftraceUnseenMax].size != 0 {
		atomic.Xadd(&u.n, -1)
	}
	s.first++
}

// take returns how many of the first bytes of p, which are written to fd, were woven before or are
// about to be: a line, its beginning or its end. logger says that they are written for a logger.
//
// If the beginning of a line had come but something else follows, before is that beginning: it was
// not one of the remembered lines.
func (u *ftraceUnseenLines) take(fd int32, p []byte, logger bool) (before *ftraceText, seen int) {
	if len(p) == 0 {
		return nil, 0
	}
	semacquire(&u.lock)
	size := bytealg.IndexByte(p, '\n') + 1
	whole := size > 0
	if !whole {
		size = len(p)
	}
	if begun := &u.begun[fd]; begun.text != nil {
		at := begun.text.n
		begun.text.bytes(p[:size])
		goesOn := begun.text.n == at+size && u.knows(begun.text.string(), whole)
		switch {
		case goesOn && whole:
			ftraceFreeText(u.rest(begun))
			seen = size
		case goesOn:
			seen = size
		default:
			begun.text.n = at
			// A logger's line goes on later: another goroutine's came between.
			if !begun.logger {
				before = u.rest(begun)
			} else if !u.begins(begun.text.string()) {
				ftraceFreeText(u.rest(begun))
			}
		}
	}
	const least = 16 // bytes that are taken for the beginning of a line where no logger writes
	if seen == 0 && size < ftraceTextSize && (whole || logger || size >= least) && u.knows(unsafe.String(&p[0], size), whole) {
		seen = size
		if begun := &u.begun[fd]; !whole {
			if begun.text != nil {
				ftraceFreeText(u.rest(begun))
			}
			begun.text, begun.logger = ftraceNewText(), logger
			begun.text.bytes(p)
			atomic.Xadd(&u.n, 1)
		}
	}
	semrelease(&u.lock)
	return before, seen
}

// rest ends the wait for the rest of a line, and returns its beginning.
func (u *ftraceUnseenLines) rest(begun *ftraceBegunLine) *ftraceText {
	text := begun.text
	*begun = ftraceBegunLine{}
	atomic.Xadd(&u.n, -1)
	return text
}

// knows reports whether text is a known line, which it takes out; or, unless whole is set, begins
// one.
func (u *ftraceUnseenLines) knows(text string, whole bool) bool {
	if !whole {
		return u.begins(text)
	}
	hash := ftraceLineHash(text)
	if s := u.store; s != nil {
		for i := s.first; i != s.next; i++ {
			l := &s.lines[i%ftraceUnseenMax]
			if int(l.size) == len(text) && l.hash == hash && u.bytes(*l) == text {
				l.size = 0
				atomic.Xadd(&u.n, -1)
				for s.first != s.next && s.lines[s.first%ftraceUnseenMax].size == 0 {
					s.first++
				}
				return true
			}
		}
	}
	for r := u.active; r != nil; r = r.active {
		if !r.delivered && r.line.n == len(text) && r.line.string() == text {
			r.delivered = true // and is still to be woven
			return true
		}
	}
	return false
}

// begins reports whether a known line begins with text.
func (u *ftraceUnseenLines) begins(text string) bool {
	if s := u.store; s != nil {
		for i := s.first; i != s.next; i++ {
			if l := s.lines[i%ftraceUnseenMax]; int(l.size) > len(text) && u.bytes(l)[:len(text)] == text {
				return true
			}
		}
	}
	for r := u.active; r != nil; r = r.active {
		if r.line.n > len(text) && r.line.string()[:len(text)] == text {
			return true
		}
	}
	return false
}
