//go:build ftrace_core

// Sites: where in the program goroutines stop.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

const (
	ftraceSiteDepth = 24      // frames that are looked at, from gopark on
	ftraceSitesMax  = 1 << 13 // beyond that, there are none
)

// ftraceSite is what is known of a place where goroutines stop.
type ftraceSite struct {
	number uint32 // in the tables, 0: not there
	once   bool   // sync.Once waits, by its mutex
}

// ftraceSites are the sites in the tables: a hash table by all the return addresses, at most half
// full. A slot is filled before its hash is stored.
var ftraceSites struct {
	n     uint32
	slots [2 * ftraceSitesMax]struct {
		hash uint64 // 0: free; atomic
		site ftraceSite
	}
}

// ftraceCallers stores the return addresses of frames of the goroutine, the innermost first, and
// returns how many there are. It follows frame pointers, from fp on, and stops where these leave the
// goroutine's stack.
func ftraceCallers(gp *g, fp uintptr, pcs *[ftraceSiteDepth]uintptr) (n int) {
	if goarch.IsAmd64|goarch.IsArm64 == 0 {
		return 0
	}
	for n < len(pcs) && gp.stack.lo <= fp && fp <= gp.stack.hi-2*goarch.PtrSize {
		pc := *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize))
		if pc == 0 {
			break
		}
		pcs[n] = pc
		n++
		next := *(*uintptr)(unsafe.Pointer(fp))
		if next <= fp {
			break
		}
		fp = next
	}
	return n
}

// ftraceSiteOf returns the site of these return addresses. It puts it into the tables, once they
// have begun.
func ftraceSiteOf(pcs []uintptr) ftraceSite {
	hash := uint64(len(pcs)) + 1
	for _, pc := range pcs {
		hash = (hash ^ uint64(pc)) * 0x9E3779B97F4A7C15
		hash ^= hash >> 29
	}
	if len(pcs) == 0 || hash == 0 {
		return ftraceSite{}
	}
	at := uint32(hash >> 40)
	for ; ; at++ {
		slot := &ftraceSites.slots[at%uint32(len(ftraceSites.slots))]
		switch atomic.Load64(&slot.hash) {
		case hash:
			return slot.site
		case 0:
			return ftraceNewSite(pcs, hash, at)
		}
	}
}

// ftraceNewSite is ftraceSiteOf for a site that is not in the table. Its slot is at, or later.
func ftraceNewSite(pcs []uintptr, hash uint64, at uint32) ftraceSite {
	var place ftracePosition
	place.find(pcs)
	site := ftraceSite{once: place.once}
	if place.function == "" {
		return site
	}
	lock(&ftraceTables.lock)
	for ; ; at++ {
		slot := &ftraceSites.slots[at%uint32(len(ftraceSites.slots))]
		if slot.hash == hash {
			site = slot.site
			break
		}
		if slot.hash != 0 {
			continue
		}
		if ftraceTables.text != nil && ftraceSites.n < ftraceSitesMax {
			ftraceSites.n++
			site.number = ftraceSites.n
			slot.site = site
			atomic.Store64(&slot.hash, hash)
			b := ftraceTableBegin(ftrace_format_TableSite)
			b.word(uint64(site.number))
			b.word(uint64(place.line))
			b.cString(place.function)
			b.cString(place.file)
			ftraceTableEnd()
			ftraceFlushTables()
		}
		break
	}
	unlock(&ftraceTables.lock)
	return site
}

// ftracePosition is a position in the program's source.
type ftracePosition struct {
	function, file string
	line           int32
	once           bool // sync.Once is on the way there
}

// find finds the innermost position that is not in a package by which programs wait, or else the
// outermost of all.
func (p *ftracePosition) find(pcs []uintptr) {
	for _, pc := range pcs {
		f := findfunc(pc)
		if !f.valid() {
			return
		}
		calls, call := newInlineUnwinder(f, pc-1)
		for ; call.valid(); call = calls.next(call) {
			fn := calls.srcFunc(call)
			name := fn.name()
			if fn.funcID == abi.FuncIDWrapper {
				continue
			}
			if name == "runtime.goexit" || name == "runtime.main" {
				return
			}
			if name == "sync.(*Once).doSlow" {
				p.once = true
			}
			file, line := calls.fileLine(call)
			p.function, p.file, p.line = name, file, int32(line)
			if !ftraceWaitsFor(name) {
				return
			}
		}
	}
}

// ftraceWaitsFor reports whether a function belongs to a package by which programs wait.
func ftraceWaitsFor(name string) bool {
	for _, pkg := range [...]string{"runtime.", "internal/", "sync.", "time.", "syscall.", "os.", "net.", "io.", "bufio."} {
		if len(name) > len(pkg) && name[:len(pkg)] == pkg {
			return true
		}
	}
	return false
}
