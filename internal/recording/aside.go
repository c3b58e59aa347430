package recording

import (
	"encoding/binary"
	"reflect"
	"sync"
	"unsafe"
)

// A stack overflow leaves millions of calls under way. The outer calls of a deep stack are set
// aside in blocks. A block keeps, in a few bytes a call, how each call differs from the one around
// it. In a recursion the differences are few and small. The calls come back as they were when the
// calls within them have ended.

// asideCalls is the number of calls set aside at once. At least as many, the innermost, are never
// set aside.
const asideCalls = 8 << 10

// setAside sets aside the outermost calls that are not set aside yet.
func (st *Stack[G, C]) setAside() {
	if !plain[C]() {
		return
	}
	var b []byte
	var before [wordsMax]uint64
	for i := range st.Calls[:asideCalls] {
		c := &st.Calls[i]
		if c.Note != "" {
			if st.notes == nil {
				st.notes = map[int]string{}
			}
			st.notes[st.outer+i] = c.Note
			c.Note = ""
		}
		if st.counts == nil {
			st.counts = map[uint32]int{}
		}
		st.counts[c.Function]++
		words := wordsOf(c)
		marks := len(b)
		b = append(b, make([]byte, (len(words)+7)/8)...)
		for j, w := range words {
			if w != before[j] {
				b[marks+j/8] |= 1 << (j % 8)
				b = binary.AppendVarint(b, int64(w-before[j]))
				before[j] = w
			}
		}
	}
	st.aside = append(st.aside, append([]byte(nil), b...))
	st.outer += asideCalls
	n := copy(st.Calls, st.Calls[asideCalls:])
	clear(st.Calls[n:])
	st.Calls = st.Calls[:n]
}

// takeBack brings back the calls that were set aside last.
func (st *Stack[G, C]) takeBack() {
	last := len(st.aside) - 1
	b := st.aside[last]
	st.aside[last] = nil
	st.aside = st.aside[:last]
	st.outer -= asideCalls
	n := len(st.Calls)
	for range asideCalls {
		st.Calls = append(st.Calls, Call[C]{})
	}
	copy(st.Calls[asideCalls:], st.Calls[:n])
	block := st.Calls[:asideCalls]
	st.unfold(block, b, st.outer)
	for i := range block {
		c := &block[i]
		delete(st.notes, st.outer+i)
		if st.counts[c.Function]--; st.counts[c.Function] == 0 {
			delete(st.counts, c.Function)
		}
	}
}

// unfold restores the calls of a block. outer is the number of calls around them.
func (st *Stack[G, C]) unfold(calls []Call[C], b []byte, outer int) {
	var before [wordsMax]uint64
	for i := range calls {
		c := &calls[i]
		*c = Call[C]{}
		words := wordsOf(c)
		marks := b[:(len(words)+7)/8]
		b = b[len(marks):]
		for j := range words {
			if marks[j/8]>>(j%8)&1 != 0 {
				d, size := binary.Varint(b)
				b = b[size:]
				before[j] += uint64(d)
			}
			words[j] = before[j]
		}
		c.Note = st.notes[outer+i]
	}
}

// wordsMax is the number of words that a Call may have if it is to be set aside.
const wordsMax = 24

// wordsOf returns the memory of a call after its note, which is its first field.
func wordsOf[C any](c *Call[C]) []uint64 {
	const note = unsafe.Sizeof("")
	return unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(c), note)), (unsafe.Sizeof(*c)-note)/8)
}

var plainTypes sync.Map // of bool, by reflect.Type

// plain reports whether a Call[C] can be set aside: its only pointer is its note.
func plain[C any]() bool {
	t := reflect.TypeFor[C]()
	if is, ok := plainTypes.Load(t); ok {
		return is.(bool)
	}
	is := pointerFree(t) && unsafe.Sizeof(Call[C]{})/8 <= wordsMax && unsafe.Sizeof(Call[C]{})%8 == 0
	plainTypes.Store(t, is)
	return is
}

func pointerFree(t reflect.Type) bool {
	switch k := t.Kind(); {
	case k == reflect.Struct:
		for i := range t.NumField() {
			if !pointerFree(t.Field(i).Type) {
				return false
			}
		}
		return true
	case k == reflect.Array:
		return pointerFree(t.Elem())
	default:
		return k >= reflect.Bool && k <= reflect.Complex128
	}
}
