//go:build ftrace_core

// Buffers for text, off the heap, and what is appended to them.

package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

// ftraceText is a buffer for text. It is large, but only the pages in use take memory.
type ftraceText struct {
	_    sys.NotInHeap
	next *ftraceText // in the free list
	n    int
	data [ftraceTextSize]byte
}

const ftraceTextSize = 64<<10 - 64

// ftraceFreeLists holds the free lists.
var ftraceFreeLists struct {
	lock    mutex
	gs      *ftraceG // the first word of a free one links to the next
	texts   *ftraceText
	records *ftraceRecord
	frames  [ftraceClasses]*ftraceFrame // by size class; the first frame of a free block links to the next block
}

func ftraceAlloc(size uintptr) unsafe.Pointer {
	return persistentalloc(size, 0, &memstats.other_sys)
}

// ftraceNewText returns an empty buffer.
func ftraceNewText() *ftraceText {
	lock(&ftraceFreeLists.lock)
	text := ftraceFreeLists.texts
	if text != nil {
		ftraceFreeLists.texts = text.next
	}
	unlock(&ftraceFreeLists.lock)
	if text == nil {
		text = (*ftraceText)(ftraceAlloc(unsafe.Sizeof(ftraceText{})))
	}
	text.next = nil
	text.n = 0
	return text
}

func ftraceFreeText(text *ftraceText) {
	if text == nil {
		return
	}
	lock(&ftraceFreeLists.lock)
	text.next = ftraceFreeLists.texts
	ftraceFreeLists.texts = text
	unlock(&ftraceFreeLists.lock)
}

// add appends n bytes if there is room for all of them.
func (b *ftraceText) add(data unsafe.Pointer, n int) bool {
	if n > len(b.data)-b.n {
		return false
	}
	memmove(unsafe.Pointer(&b.data[b.n]), data, uintptr(n))
	b.n += n
	return true
}

// ftraceItoa writes v at the end of buf.
//
//go:noinline
func ftraceItoa(buf []byte, v uint64) []byte {
	i := len(buf)
	for {
		i--
		buf[i] = byte('0' + v%10)
		v /= 10
		if v == 0 {
			return buf[i:]
		}
	}
}

// byte appends one byte. What does not fit is cut; lines are limited to well below the buffer's
// size.
func (b *ftraceText) byte(c byte) {
	if b.n < len(b.data) {
		b.data[b.n] = c
		b.n++
	}
}

// str appends s. It is called in hundreds of places. Were it inlined there, and the others that may
// not be, each program would be 0.16 MB larger.
//
//go:noinline
func (b *ftraceText) str(s string) {
	b.n += copy(b.data[b.n:], s)
}

//go:noinline
func (b *ftraceText) uint(v uint64) {
	var digits [20]byte
	d := ftraceItoa(digits[:], v)
	b.n += copy(b.data[b.n:], d)
}

// number appends v, after the text that says what it is.
func (b *ftraceText) number(what string, v uint64) {
	b.str(what)
	b.uint(v)
}

func (b *ftraceText) int(v int64) {
	if v < 0 {
		b.byte('-')
		v = -v
	}
	b.uint(uint64(v))
}

func (b *ftraceText) hex(v uint64) {
	b.str("0x")
	b.hexDigits(v)
}

func (b *ftraceText) hexDigits(v uint64) {
	shift := 60
	for shift > 0 && v>>shift == 0 {
		shift -= 4
	}
	for ; shift >= 0; shift -= 4 {
		b.byte("0123456789abcdef"[v>>shift&15])
	}
}

// pad appends spaces until there are n bytes after from.
func (b *ftraceText) pad(from, n int) {
	for b.n < from+n {
		b.byte(' ')
	}
}

// fixed appends v/10^decimals with that many decimals.
func (b *ftraceText) fixed(v int64, decimals int) {
	var text ftrace_decimal_Text
	b.bytes(text.Fixed(v, decimals))
}

// duration appends a duration in the unit that suits it, with three decimals.
func (b *ftraceText) duration(ns int64) {
	var text ftrace_decimal_Text
	b.bytes(text.Duration(ns))
}

// bytes appends p.
func (b *ftraceText) bytes(p []byte) { b.n += copy(b.data[b.n:], p) }

// string returns what is in the buffer.
func (b *ftraceText) string() string { return unsafe.String(&b.data[0], b.n) }
