//go:build ftrace_core

// Where the words are that lead to the channels which goroutines wait for: fields of receivers and
// of what other parameters lead to, and package variables. By these, readers of a recording name
// channels as they name locks. Receivers and stacks are looked at while goroutines wait, package
// variables when the recording ends.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

const (
	ftraceChannelTries   = 8       // waits for one channel, after which the search for its name ends
	ftraceKeepersMax     = 8       // the receivers of so many innermost calls are searched
	ftraceKeeperWordsMax = 128     // words of an object that are searched
	ftraceStackTries     = 2       // waits for one channel at which the stack is searched
	ftraceStackLooksMax  = 1 << 12 // searches of stacks in all: programs may make channels without end
	ftraceStackLooked    = 2 << 10 // bytes of a stack that are searched, the innermost calls first
)

// ftraceStackLooks is how many stacks were searched.
var ftraceStackLooks uint32 // atomic

// ftraceKeepers are addresses of words that lead to a channel. 0: there are no more.
type ftraceKeepers struct {
	words [4]uintptr
	sure  bool // the only one is part of a receiver or a package variable: there is no better one
}

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

// ftraceKeepersOf returns words that lead to a channel for which gp waits or waited. gp stays where
// it is meanwhile.
func ftraceKeepersOf(gp *g, channel uintptr) (k ftraceKeepers) {
	c, t := ftraceChannelAt(channel), gp.ftrace
	switch was := atomic.Loaduintptr(&c.channel); {
	case was == channel && atomic.Load(&c.tries) >= ftraceChannelTries, c.known(was):
		return k
	case was != channel:
		atomic.Store(&c.tries, 0)
		atomic.Storeuintptr(&c.channel, channel)
	}
	if t == nil {
		return k
	}
	tries := atomic.Xadd(&c.tries, 1)
	for i := t.depth - 1; i >= max(0, t.depth-ftraceKeepersMax); i-- {
		frame := t.frame(i)
		if frame.Object == 0 || frame.fn.ptr().flags&ftraceReceives == 0 {
			continue
		}
		if k.words[0] = ftraceWordIn(uintptr(frame.Object), channel); k.words[0] != 0 {
			k.sure = true
			return k
		}
	}
	if tries <= ftraceStackTries && atomic.Load(&ftraceStackLooks) < ftraceStackLooksMax {
		atomic.Xadd(&ftraceStackLooks, 1)
		k.onStack(gp, channel)
	}
	return k
}

// onStack adds words of objects to which the innermost calls of gp lead. Which of them a parameter
// led to, readers find out.
func (k *ftraceKeepers) onStack(gp *g, channel uintptr) {
	sp, n := gp.sched.sp, 0
	if gp == getg() {
		sp = sys.GetCallerSP()
	}
	ftraceWordBetween(sp, min(gp.stack.hi, sp+ftraceStackLooked), func(p uintptr) bool {
		s := spanOf(p)
		if s == nil || s.state.get() != mSpanInUse || s.spanclass.noscan() || p < s.base() || p >= s.limit {
			return false
		}
		base := s.base() + s.objIndex(p)*s.elemsize
		for waits := gp.waiting; waits != nil; waits = waits.waitlink {
			if base == uintptr(unsafe.Pointer(waits)) {
				return false // that it leads to the channel says nothing
			}
		}
		word := ftraceWordIn(base, channel)
		for _, known := range k.words[:n] {
			if word == known {
				return false // another word of the stack led there
			}
		}
		if word != 0 {
			k.words[n] = word
			n++
		}
		return n == len(k.words)
	})
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

// ftraceDefineChannel puts into the tables that words lead to a channel.
func ftraceDefineChannel(channel uintptr, k ftraceKeepers) {
	if k.words[0] == 0 {
		return
	}
	lock(&ftraceTables.lock)
	for _, word := range k.words {
		if word == 0 {
			break
		}
		if b := ftraceTableBegin(ftrace_format_TableChannel); b != nil {
			b.word(uint64(channel))
			b.word(uint64(word))
			ftraceTableEnd()
			ftraceFlushTables()
			if k.sure {
				atomic.Storeuintptr(&ftraceChannelAt(channel).word, word)
			}
		}
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
				ftraceDefineChannel(*(*uintptr)(unsafe.Pointer(at)), ftraceKeepers{words: [4]uintptr{at}, sure: true})
			}
		}
	}
}
