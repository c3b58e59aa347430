//go:build ftrace_core

// The names of function values. Records have only the addresses of their code. The tables have the
// name of the function that begins at each address, once.

package runtime

import "internal/runtime/atomic"

const ftraceCodesMax = 1 << 13 // beyond that, there are only addresses

// ftraceCodes are the addresses whose names are in the tables: a hash table, at most half full, 0:
// free; atomic.
var ftraceCodes struct {
	n     uint32
	slots [2 * ftraceCodesMax]uintptr
}

// ftraceCodeSlot returns the place of an address, or the free one where it would be.
func ftraceCodeSlot(pc uintptr) *uintptr {
	for i := uint32((uint64(pc) * 0x9E3779B97F4A7C15) >> 48); ; i++ {
		slot := &ftraceCodes.slots[i%uint32(len(ftraceCodes.slots))]
		if v := atomic.Loaduintptr(slot); v == pc || v == 0 {
			return slot
		}
	}
}

// ftraceKnowCode makes sure that the name of the function whose code begins at pc is in the tables.
func ftraceKnowCode(pc uintptr) {
	if pc == 0 || atomic.Loaduintptr(ftraceCodeSlot(pc)) == pc {
		return
	}
	f := findfunc(pc)
	lock(&ftraceTables.lock)
	slot := ftraceCodeSlot(pc)
	if *slot == 0 && ftraceCodes.n < ftraceCodesMax && ftraceTables.text != nil {
		ftraceCodes.n++
		if f.valid() {
			b := ftraceTableBegin(ftrace_format_TableCode)
			b.word(uint64(pc))
			b.cString(funcname(f))
			ftraceTableEnd()
			ftraceFlushTables()
		}
		atomic.Storeuintptr(slot, pc)
	}
	unlock(&ftraceTables.lock)
}
