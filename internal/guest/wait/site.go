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
	ftraceSitesMax  = 1 << 15 // beyond that, there are none
)

// ftraceSite is a place where goroutines stop.
type ftraceSite struct {
	number  uint32 // 0: there are too many
	once    bool   // sync.Once waits, by its mutex
	defined bool   // it is in the tables
}

// ftraceSites are the sites: a hash table by all the return addresses, at most half full. A slot is
// filled before its hash is stored, and filled again once its site is in the tables.
var ftraceSites struct {
	n     uint32 // atomic
	slots [2 * ftraceSitesMax]struct {
		hash uint64 // 0: free; atomic
		site uint32 // see pack; atomic
	}
}

// pack returns the site as one word.
func (s ftraceSite) pack() uint32 {
	word := s.number << 2
	if s.once {
		word |= 1
	}
	if s.defined {
		word |= 2
	}
	return word
}

// ftraceUnpackSite is the opposite of pack.
func ftraceUnpackSite(word uint32) ftraceSite {
	return ftraceSite{number: word >> 2, once: word&1 != 0, defined: word&2 != 0}
}

// ftracePCs are return addresses, the innermost first.
type ftracePCs struct {
	n    int
	hash uint64
	pcs  [ftraceSiteDepth]uintptr
}

// read reads those of a goroutine's frames. It follows frame pointers, from fp on, and stops where
// these leave the goroutine's stack.
func (p *ftracePCs) read(gp *g, fp uintptr) {
	p.n, p.hash = 0, 1
	if goarch.IsAmd64|goarch.IsArm64 == 0 {
		return
	}
	for p.n < len(p.pcs) && gp.stack.lo <= fp && fp <= gp.stack.hi-2*goarch.PtrSize {
		pc := *(*uintptr)(unsafe.Pointer(fp + goarch.PtrSize))
		if pc == 0 {
			break
		}
		p.pcs[p.n] = pc
		p.n++
		p.hash = (p.hash ^ uint64(pc)) * 0x9E3779B97F4A7C15
		next := *(*uintptr)(unsafe.Pointer(fp))
		if next <= fp {
			break
		}
		fp = next
	}
	p.hash |= 1
}

// ftraceSiteOf returns the site where the goroutine is that calls it, whose frame pointer is fp. If
// define is set, and the tables have begun, it is in them then.
func ftraceSiteOf(gp *g, fp uintptr, define bool) ftraceSite {
	var pcs ftracePCs
	pcs.read(gp, fp)
	return pcs.site(define)
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
			return p.add(at, define)
		case 0:
			if atomic.Load(&ftraceSites.n) == ftraceSitesMax {
				return ftraceSite{}
			}
			return p.add(at, define)
		}
	}
}

// add is site for one that is not in the table, or not defined yet. Its slot is at, or later.
func (p *ftracePCs) add(at uint32, define bool) ftraceSite {
	var place ftracePosition
	place.find(p.pcs[:p.n])
	lock(&ftraceTables.lock)
	site := p.addLocked(at, &place, define)
	unlock(&ftraceTables.lock)
	return site
}

// addLocked is add while the tables are locked.
func (p *ftracePCs) addLocked(at uint32, place *ftracePosition, define bool) ftraceSite {
	for ; ; at++ {
		slot := &ftraceSites.slots[at%uint32(len(ftraceSites.slots))]
		site := ftraceSite{once: place.once}
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
