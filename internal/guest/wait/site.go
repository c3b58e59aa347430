//go:build ftrace_core

// Sites: where in the program goroutines stop.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/stringslite"
	"unsafe"
)

const (
	ftraceSpread    = 0x9E3779B97F4A7C15
	ftraceSiteDepth = 24      // frames that are looked at, from gopark on
	ftraceSitesMax  = 1 << 15 // beyond that, there are none
)

// ftraceSite is a place where goroutines stop.
type ftraceSite struct {
	number  uint32 // 0: there are too many
	lock    uint8  // what is waited for if a mutex is: see ftraceLockOf
	defined bool   // it is in the tables
}

// ftraceSites are the sites: a hash table by the return addresses that lead there, at most half
// full. A slot is filled before its hash is stored, and again once its site is in the tables.
var ftraceSites struct {
	n     uint32 // atomic
	slots [2 * ftraceSitesMax]struct {
		hash uint64 // 0: free; atomic
		site uint32 // see pack; atomic
	}
}

// pack returns the site as one word.
func (s ftraceSite) pack() uint32 {
	word := s.number<<4 | uint32(s.lock)<<1
	if s.defined {
		word |= 1
	}
	return word
}

// ftraceUnpackSite is the opposite of pack.
func ftraceUnpackSite(word uint32) ftraceSite {
	return ftraceSite{number: word >> 4, lock: uint8(word >> 1 & 7), defined: word&1 != 0}
}

// ftracePCs are return addresses, from the current function's outwards to that of the site.
type ftracePCs struct {
	n    int
	hash uint64
	pcs  [ftraceSiteDepth]uintptr
}

// read reads those of a goroutine's frames, after the inner ones. It follows frame pointers, from
// fp on, and stops where these leave the goroutine's stack.
func (p *ftracePCs) read(gp *g, fp uintptr, inner ...uintptr) {
	p.n = 0
	if goarch.IsAmd64|goarch.IsArm64 != 0 {
		for _, pc := range inner {
			p.add(pc)
		}
		for p.n < len(p.pcs) && gp.stack.lo <= fp && fp <= gp.stack.hi-2*goarch.PtrSize {
			pc := *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize))
			if pc == 0 {
				break
			}
			p.add(pc)
			next := *(*uintptr)(unsafe.Pointer(fp))
			if next <= fp {
				break
			}
			fp = next
		}
	}
	p.end()
}

func (p *ftracePCs) add(pc uintptr) {
	p.pcs[p.n] = pc
	p.n++
}

// end leaves those addresses that lead to the site, and hashes them.
func (p *ftracePCs) end() {
	p.hash = 1
	for i, pc := range p.pcs[:p.n] {
		p.hash = (p.hash ^ uint64(pc)) * ftraceSpread
		if ftraceIsSite(pc) {
			p.n = i + 1
			break
		}
	}
	p.hash |= 1
}

// ftraceSitePCs has return addresses that were looked at, and in the lowest bit whether they are
// sites. One address may take the place of another.
var ftraceSitePCs [1 << 11]uintptr // atomic

//go:nosplit
func ftraceSitePC(pc uintptr) *uintptr {
	return &ftraceSitePCs[(pc^pc>>11)%uintptr(len(ftraceSitePCs))]
}

// ftraceIsSite reports whether the site of waits is at this return address at the latest, whatever
// the addresses before it are.
func ftraceIsSite(pc uintptr) bool {
	known := ftraceSitePC(pc)
	word := atomic.Loaduintptr(known)
	if word>>1 != pc {
		var place ftracePosition
		word = pc << 1
		if place.findAt(pc) {
			word |= 1
		}
		atomic.Storeuintptr(known, word)
	}
	return word&1 != 0
}

// ftraceSiteOf returns the site where the goroutine is that calls it, whose frame pointer is fp. If
// define is set, and the tables have begun, it is in them then.
//
// It is nosplit: the stack may not move once its caller has read fp.
//
//go:nosplit
func ftraceSiteOf(gp *g, fp uintptr, define bool) ftraceSite {
	if site, ok := ftraceKnownSite(gp, fp, 0, define); ok {
		return site
	}
	return ftraceNewSite(gp, fp, define)
}

//go:noinline
func ftraceNewSite(gp *g, fp uintptr, define bool) ftraceSite {
	var pcs ftracePCs
	pcs.read(gp, fp)
	return pcs.site(define)
}

// ftraceKnownSite does what ftracePCs.read and site do, in 2 or 3 ns a frame, if all the addresses
// and the site are known; ok reports whether they are. inner is an address before those of the
// frames, or 0 if there is none.
//
//go:nosplit
func ftraceKnownSite(gp *g, fp, inner uintptr, define bool) (site ftraceSite, ok bool) {
	if goarch.IsAmd64|goarch.IsArm64 == 0 {
		return
	}
	hash, lo, hi := uint64(1), gp.stack.lo, gp.stack.hi-2*goarch.PtrSize
	for pc, n := inner, 0; ; n++ {
		if pc == 0 {
			if n == ftraceSiteDepth || fp < lo || fp > hi {
				break
			}
			if pc = *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize)); pc == 0 {
				break
			}
			next := *(*uintptr)(unsafe.Pointer(fp))
			if next <= fp {
				next = 0
			}
			fp = next
		}
		word := atomic.Loaduintptr(ftraceSitePC(pc))
		if word>>1 != pc {
			return
		}
		hash = (hash ^ uint64(pc)) * ftraceSpread
		if word&1 != 0 {
			break
		}
		pc = 0
	}
	hash |= 1
	slot := &ftraceSites.slots[uint32(hash>>40)%uint32(len(ftraceSites.slots))]
	if atomic.Load64(&slot.hash) != hash {
		return // it may be in another slot
	}
	site = ftraceUnpackSite(atomic.Load(&slot.site))
	return site, site.defined || !define || atomic.Loadp(unsafe.Pointer(&ftraceTables.text)) == nil
}

// site returns the site of the addresses, as ftraceSiteOf does.
func (p *ftracePCs) site(define bool) ftraceSite {
	if p.n == 0 {
		return ftraceSite{}
	}
	for at := uint32(p.hash >> 40); ; at++ {
		slot := &ftraceSites.slots[at%uint32(len(ftraceSites.slots))]
		switch atomic.Load64(&slot.hash) {
		case p.hash:
			if site := ftraceUnpackSite(atomic.Load(&slot.site)); site.defined || !define || atomic.Loadp(unsafe.Pointer(&ftraceTables.text)) == nil {
				return site
			}
			return p.enter(at, define)
		case 0:
			if atomic.Load(&ftraceSites.n) == ftraceSitesMax {
				return ftraceSite{}
			}
			return p.enter(at, define)
		}
	}
}

// enter is site for one that is not in the table, or not defined yet. Its slot is at, or later.
func (p *ftracePCs) enter(at uint32, define bool) ftraceSite {
	var place ftracePosition
	place.find(p.pcs[:p.n])
	lock(&ftraceTables.lock)
	site := p.enterLocked(at, &place, define)
	unlock(&ftraceTables.lock)
	return site
}

// enterLocked is enter while the tables are locked.
func (p *ftracePCs) enterLocked(at uint32, place *ftracePosition, define bool) ftraceSite {
	for ; ; at++ {
		slot := &ftraceSites.slots[at%uint32(len(ftraceSites.slots))]
		site := ftraceSite{lock: place.lock}
		switch slot.hash {
		case p.hash:
			site = ftraceUnpackSite(slot.site)
		case 0:
			if ftraceSites.n == ftraceSitesMax {
				return site
			}
			site.number = atomic.Xadd(&ftraceSites.n, 1)
		default:
			continue
		}
		if define && !site.defined && ftraceTables.text != nil {
			site.defined = true
			place.define(site.number)
		}
		atomic.Store(&slot.site, site.pack())
		atomic.Store64(&slot.hash, p.hash)
		return site
	}
}

// define puts a site into the tables, which are locked.
func (p *ftracePosition) define(number uint32) {
	b := ftraceTableBegin(ftrace_format_TableSite)
	b.word(uint64(number))
	b.word(uint64(p.line))
	b.cString(p.function)
	b.cString(p.file)
	ftraceTableEnd()
	ftraceFlushTables()
}

// ftracePosition is a position in the program's source.
type ftracePosition struct {
	function, file string
	line           int32
	lock           uint8 // what is waited for if a mutex is: see ftraceLockOf
}

// find finds the innermost position that is not in a package by which programs wait, or else the
// outermost of all.
func (p *ftracePosition) find(pcs []uintptr) {
	for _, pc := range pcs {
		if p.findAt(pc) {
			return
		}
	}
}

// findAt is find at one address. It reports whether no further one is to be looked at.
func (p *ftracePosition) findAt(pc uintptr) bool {
	f := findfunc(pc)
	if !f.valid() {
		return true
	}
	calls, call := newInlineUnwinder(f, pc-1)
	for ; call.valid(); call = calls.next(call) {
		fn := calls.srcFunc(call)
		name := fn.name()
		if fn.funcID == abi.FuncIDWrapper {
			continue
		}
		if name == "runtime.goexit" || name == "runtime.main" {
			return true
		}
		if p.function == "sync.(*Mutex).Lock" {
			p.lock = ftraceLockOf(name)
		}
		file, line := calls.fileLine(call)
		p.function, p.file, p.line = name, file, int32(line)
		if !ftraceWaitsFor(name) {
			return true
		}
	}
	return false
}

// ftraceLockOf returns the kind of waits of what a function locks by locking a mutex: a mutex, or
// what the mutex is in.
func ftraceLockOf(function string) uint8 {
	switch function {
	case "sync.(*RWMutex).Lock":
		return ftraceWaitWriteLock
	case "sync.(*Once).doSlow":
		return ftraceWaitOnce
	}
	return ftraceWaitMutex
}

// ftraceWaitsFor reports whether a function belongs to a package by which programs wait, or is what
// cgo makes for a function of C.
func ftraceWaitsFor(name string) bool {
	if stringslite.Index(name, "._Cfunc_") >= 0 {
		return true
	}
	for _, pkg := range [...]string{"runtime.", "internal/", "sync.", "sync/atomic.", "time.", "syscall.", "os.", "net.", "io.", "bufio.", "fmt.", "log."} {
		if len(name) > len(pkg) && name[:len(pkg)] == pkg {
			return true
		}
	}
	return false
}
