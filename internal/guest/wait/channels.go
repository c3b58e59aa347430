//go:build ftrace_core

// Where the words are that lead to the channels which goroutines wait for: fields of receivers, and
// package variables. By these, readers of a recording name channels as they name locks. Receivers
// are looked at while their methods wait, package variables when the recording ends.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

const (
	ftraceChannelTries   = 8   // waits for a channel at which receivers are looked at
	ftraceKeepersMax     = 8   // calls whose receivers are looked at, the innermost first
	ftraceKeeperWordsMax = 128 // words of a receiver that are
)

// ftraceChannels are channels that goroutines waited for while that was recorded, each at a place
// that its address says. One takes the place of another of which no word is known.
var ftraceChannels [1 << 11]ftraceChannel

type ftraceChannel struct {
	channel uintptr // 0: there is none; atomic
	word    uintptr // the address of a word that leads to it, 0: none is known; atomic
	tries   uint32  // atomic
}

func ftraceChannelAt(channel uintptr) *ftraceChannel {
	return &ftraceChannels[uint64(channel)*ftraceSpread>>40%uint64(len(ftraceChannels))]
}

// known reports whether it is known where a channel is. The place may be another channel's, and the
// address may have been another's before.
func (c *ftraceChannel) known(channel uintptr) bool {
	word := atomic.Loaduintptr(&c.word)
	return word != 0 && word < ftraceEndOf(word) && *(*uintptr)(unsafe.Pointer(word)) == channel
}

// ftraceKeeperOf returns the address of a word that leads to a channel for which the goroutine of t
// waits or waited, 0 if none is found. The goroutine stays where it is meanwhile.
func ftraceKeeperOf(t *ftraceG, channel uintptr) uintptr {
	c := ftraceChannelAt(channel)
	switch was := atomic.Loaduintptr(&c.channel); {
	case was == channel && atomic.Load(&c.tries) >= ftraceChannelTries, c.known(was):
		return 0
	case was != channel:
		atomic.Store(&c.tries, 0)
		atomic.Storeuintptr(&c.channel, channel)
	}
	if t == nil {
		return 0
	}
	atomic.Xadd(&c.tries, 1)
	for i := t.depth - 1; i >= max(0, t.depth-ftraceKeepersMax); i-- {
		frame := t.frame(i)
		if frame.Object == 0 || frame.fn.ptr().flags&ftraceReceives == 0 {
			continue
		}
		if word := ftraceWordIn(uintptr(frame.Object), channel); word != 0 {
			return word
		}
	}
	return 0
}

// ftraceWordIn returns the address of the word in a receiver that leads to a channel, 0 if there is
// none.
func ftraceWordIn(receiver, channel uintptr) uintptr {
	end := min(ftraceEndOf(receiver), receiver+ftraceKeeperWordsMax*goarch.PtrSize)
	return ftraceWordBetween(receiver, end, func(word uintptr) bool { return word == channel })
}

// ftraceEndOf returns where the object of the heap, or the package variables, end in which an
// address is, 0 if it is in none that may be read.
func ftraceEndOf(address uintptr) uintptr {
	if s := spanOf(address); s != nil {
		if s.state.get() == mSpanInUse && address >= s.base() && address < s.limit {
			return s.base() + (s.objIndex(address)+1)*s.elemsize
		}
		return 0
	}
	for m := &firstmoduledata; m != nil; m = m.next {
		switch {
		case address >= m.data && address < m.edata:
			return m.edata
		case address >= m.bss && address < m.ebss:
			return m.ebss
		}
	}
	return 0
}

// ftraceWordBetween returns the address of the first word of which is is true, 0 if there is none.
func ftraceWordBetween(from, to uintptr, is func(uintptr) bool) uintptr {
	for at := alignUp(from, goarch.PtrSize); at+goarch.PtrSize <= to; at += goarch.PtrSize {
		if is(*(*uintptr)(unsafe.Pointer(at))) {
			return at
		}
	}
	return 0
}

// ftraceDefineChannel puts into the tables that the word at this address leads to a channel.
func ftraceDefineChannel(channel, word uintptr) {
	if word == 0 {
		return
	}
	lock(&ftraceTables.lock)
	if b := ftraceTableBegin(ftrace_format_TableChannel); b != nil {
		b.word(uint64(channel))
		b.word(uint64(word))
		ftraceTableEnd()
		ftraceFlushTables()
		atomic.Storeuintptr(&ftraceChannelAt(channel).word, word)
	}
	unlock(&ftraceTables.lock)
}

// ftraceDefineVariables puts into the tables which package variables lead to channels of which
// no word is known.
func ftraceDefineVariables() {
	find := func(word uintptr) bool {
		c := ftraceChannelAt(word)
		return word != 0 && atomic.Loaduintptr(&c.channel) == word && !c.known(word)
	}
	for m := &firstmoduledata; m != nil; m = m.next {
		for _, segment := range [...][2]uintptr{{m.data, m.edata}, {m.bss, m.ebss}} {
			for at := segment[0]; ; at += goarch.PtrSize {
				if at = ftraceWordBetween(at, segment[1], find); at == 0 {
					break
				}
				ftraceDefineChannel(*(*uintptr)(unsafe.Pointer(at)), at)
			}
		}
	}
}
