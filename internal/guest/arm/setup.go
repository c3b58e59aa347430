//go:build ftrace_core

// What is set from outside besides the rules, as in WL#2360's setup tables. setup_objects keeps
// functions off that would be on. setup_actors chooses the goroutines that are traced. Single
// goroutines can be muted too. All of it stays until it is set anew, and its text is kept as it
// came, for those who read it back.

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceSetupRule is a row of one of these tables. Patterns are LIKE's, without regard to case.
type ftraceSetupRule struct {
	on, timed bool
	patterns  [3]string // objects: package, type, function without the type; actors: the function that the goroutine was started with, label
}

// ftraceSetupRules are the rows of a table. The last one that matches decides; what none matches is
// off. They do not change once they are published.
type ftraceSetupRules struct {
	text   string // as it came
	rules  []ftraceSetupRule
	labels bool // actors: some rule needs labels
}

// The *ftraceSetupRules in force, or nil: all is on; atomic.
var ftraceObjects, ftraceActors unsafe.Pointer

// ftraceParseSetup reads rules. Each is Y or N, twice, for on and for timed, and three texts that
// end in a zero byte. An exclamation mark stands in front of all of them; without it there are
// none.
func ftraceParseSetup(text string) (*ftraceSetupRules, bool) {
	if text == "" {
		return nil, true
	}
	s := &ftraceSetupRules{text: text}
	if text[0] != '!' {
		return nil, false
	}
	for text = text[1:]; text != ""; {
		if len(text) < 2 {
			return nil, false
		}
		r := ftraceSetupRule{on: text[0] == 'Y', timed: text[1] == 'Y'}
		text = text[2:]
		for i := range r.patterns {
			n := bytealg.IndexByteString(text, 0)
			if n < 0 {
				return nil, false
			}
			r.patterns[i], text = text[:n], text[n+1:]
		}
		s.labels = s.labels || r.patterns[1] != "%"
		s.rules = append(s.rules, r)
	}
	return s, true
}

// ftraceSetObjects puts rules for functions in force.
func ftraceSetObjects(text string) string {
	s, ok := ftraceParseSetup(text)
	if !ok {
		return "these are no rules"
	}
	ftraceSomeConfig()
	semacquire(&ftraceRegistry.lock)
	atomicstorep(unsafe.Pointer(&ftraceObjects), unsafe.Pointer(s))
	for p := ftraceRegistry.first; p != nil; p = p.next() {
		for i := range p.Nfuncs {
			p.fn(i).layAgain()
		}
	}
	ftraceUnlockRegistry()
	return ""
}

// mask lays setup_objects on the function.
func (f *ftraceFunc) mask() {
	flags := f.flags &^ (ftraceMaskedOff | ftraceMaskedUntimed | ftrace_format_FrameNotTimed)
	if s := (*ftraceSetupRules)(atomic.Loadp(unsafe.Pointer(&ftraceObjects))); s != nil {
		flags |= ftraceMaskedOff
		typ, name := f.object()
		for i := len(s.rules) - 1; i >= 0; i-- {
			r := &s.rules[i]
			if !ftraceLike(f.pkg.Symbol, r.patterns[0]) || !ftraceLike(typ, r.patterns[1]) || !ftraceLike(name, r.patterns[2]) {
				continue
			}
			if r.on {
				flags &^= ftraceMaskedOff
			}
			if !r.timed {
				flags |= ftraceMaskedUntimed
			}
			break
		}
	}
	if flags&(ftraceAskedUntimed|ftraceMaskedUntimed) != 0 {
		flags |= ftrace_format_FrameNotTimed
	}
	f.flags = flags // now, for calls read it
}

// ftraceSetActors puts rules for goroutines in force. They apply to those that from now on call an
// enabled function for the first time, or get other labels.
func ftraceSetActors(text string) string {
	s, ok := ftraceParseSetup(text)
	if !ok {
		return "these are no rules"
	}
	atomicstorep(unsafe.Pointer(&ftraceActors), unsafe.Pointer(s))
	return ""
}

// ftraceActorOf decides whether the calling goroutine is traced: when it calls an armed function
// for the first time, and when its labels have changed. It returns the goroutine's state, which may
// be nil.
func ftraceActorOf(gp *g) *ftraceG {
	s := (*ftraceSetupRules)(atomic.Loadp(unsafe.Pointer(&ftraceActors)))
	t := gp.ftrace
	if t == nil {
		if s == nil {
			return nil
		}
		if t = ftraceStateOf(gp); t == nil {
			return nil
		}
	}
	first := t.labels == ftraceNotJudged
	if t.goroutine == 0 {
		t.goroutine, t.start = gp.goid, uint64(gp.startpc)
	}
	t.labels = uintptr(gp.labels)
	if s != nil && (first || s.labels) {
		t.muted = !s.chooses(gp)
	}
	return t
}

// chooses reports whether the goroutine is to be traced.
func (s *ftraceSetupRules) chooses(gp *g) bool {
	var buf [256]byte
	name := ftraceEntryName(&buf, funcname(findfunc(gp.startpc)))
	for i := len(s.rules) - 1; i >= 0; i-- {
		if r := &s.rules[i]; ftraceLike(name, r.patterns[0]) && (r.patterns[1] == "%" || ftraceLabelled(gp, r.patterns[1])) {
			return r.on
		}
	}
	return false
}

// ftraceEntryName returns the name of a function as that of an instrument: call/net/http/conn.serve
// for net/http.(*conn).serve.
func ftraceEntryName(buf *[256]byte, name string) string {
	if name == "runtime.main" {
		name = "main.main"
	}
	n := copy(buf[:], "call/")
	slash, end := 0, len(name)
	for i := range len(name) {
		if name[i] == '[' {
			end = i
			break
		}
		if name[i] == '/' {
			slash = i + 1
		}
	}
	path := true // its dots are no separators
	for i := 0; i < len(name) && n < len(buf); i++ {
		c := name[i]
		switch {
		case path && i >= slash && c == '.' && i < end:
			c, path = '/', false
		case !path && c == '(' && i+1 < len(name) && name[i+1] == '*' && name[i-1] == '.':
			i++
			continue
		case !path && c == ')' && i+1 < len(name) && name[i+1] == '.':
			continue
		}
		buf[n] = c
		n++
	}
	return unsafe.String(&buf[0], n)
}

// ftraceLabelled reports whether one of the goroutine's labels, as key=value, is like a pattern.
// Labels are those of package runtime/pprof: gp.labels points to a list of keys and values.
func ftraceLabelled(gp *g, pattern string) bool {
	if gp.labels == nil {
		return false
	}
	for _, label := range *(*[][2]string)(gp.labels) {
		var buf [256]byte
		n := copy(buf[:], label[0])
		n += copy(buf[n:], "=")
		n += copy(buf[n:], label[1])
		if ftraceLike(unsafe.String(&buf[0], n), pattern) {
			return true
		}
	}
	return false
}

// ftraceMute sets which goroutines are traced: pairs of id and 1 or 0, by ascending id.
func ftraceMute(list [][2]uint64) {
	stw := stopTheWorld(stwUnknown)
	forEachG(func(gp *g) {
		lo, hi := 0, len(list)
		for lo < hi {
			if mid := (lo + hi) / 2; list[mid][0] < gp.goid {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		if lo == len(list) || list[lo][0] != gp.goid || !ftraceLives(gp) || isSystemGoroutine(gp, false) {
			return
		}
		if t := ftraceStateOf(gp); t != nil {
			t.muted = list[lo][1] == 0
		}
	})
	startTheWorld(stw)
}

// ftraceSetup returns what is set: the size of the actors' rules in 4 bytes, these, and the
// objects'.
func ftraceSetup() string {
	text := [2]string{}
	for i, of := range [...]*unsafe.Pointer{&ftraceActors, &ftraceObjects} {
		if s := (*ftraceSetupRules)(atomic.Loadp(unsafe.Pointer(of))); s != nil {
			text[i] = s.text
		}
	}
	n := uint32(len(text[0]))
	return string((*[4]byte)(unsafe.Pointer(&n))[:]) + text[0] + text[1]
}

// ftraceLike reports whether s matches a pattern of SQL, in which % is any text, _ any byte, and \
// takes the next byte literally. Case is ignored.
func ftraceLike(s, pattern string) bool {
	si, pi, backS, backP := 0, 0, 0, -1 // after a mismatch it resumes after the last %, one byte later
	for si < len(s) {
		c := uint8(0)
		if pi < len(pattern) {
			c = pattern[pi]
		}
		switch {
		case c == '%':
			backS, backP = si, pi
			pi++
		case c == '\\' && pi+1 < len(pattern) && ftraceLower(pattern[pi+1]) == ftraceLower(s[si]):
			si, pi = si+1, pi+2
		case c != '\\' && pi < len(pattern) && (c == '_' || ftraceLower(c) == ftraceLower(s[si])):
			si, pi = si+1, pi+1
		case backP >= 0:
			backS++
			si, pi = backS, backP+1
		default:
			return false
		}
	}
	for pi < len(pattern) && pattern[pi] == '%' {
		pi++
	}
	return pi == len(pattern)
}

func ftraceLower(c uint8) uint8 {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
