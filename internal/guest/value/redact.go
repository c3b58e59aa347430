//go:build ftrace_core

// Secrets. A value whose name says that it is one is shown as ***, and nothing of it is recorded.
// Names are those of parameters, results, fields, keys of maps, and of types.
//
// A redaction says which names these are: the usual one, which is FTRACE_REDACT, or that of a
// clause with redact=. Where names are known when rules are laid on functions, it is decided then.
// A function has ftraceHasSecrets if one of its own names is secret. Only then are they checked
// when it is called, and an ftraceSecret replaces each secret value before anything else sees it.
// What depends on a type is decided once for the type.

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"internal/stringslite"
	"unsafe"
)

// ftraceSecret stands for a value that is hidden.
type ftraceSecret struct{}

var (
	ftraceASecret        any = ftraceSecret{}
	ftraceASecretPointer any = &ftraceTheSecret
	ftraceTheSecret      ftraceSecret
)

const ftraceStars = "***"

// ftraceRedactions are the patterns, in the form of package redact, by their numbers. None is
// changed once a clause has its number.
var ftraceRedactions = struct {
	lock     mutex
	usual    uint32 // 1, or 0 if FTRACE_REDACT is off
	n        uint32
	patterns [ftraceRedactionsMax]string // 0: none is secret; 1: FTRACE_REDACT; others: that and what a clause names
}{usual: 1, n: 2, patterns: [ftraceRedactionsMax]string{1: ftrace_redact_Default}}

const (
	ftraceRedactionsMax = 256
	ftraceOfRedaction   = 8 // by which a layout's flags are shifted for the redaction's number
)

// ftraceParseRedact reads FTRACE_REDACT.
func ftraceParseRedact(s string) {
	pattern, ok := ftrace_redact_Parse(s)
	if !ok {
		ftraceComplain("FTRACE_REDACT: " + s + " is neither off nor parts of names with | between; " + ftrace_redact_Default + " holds")
	}
	if pattern == "" {
		ftraceRedactions.usual = 0
	} else {
		ftraceRedactions.patterns[1] = pattern
	}
}

// ftraceRedactionOf returns the number of the redaction that a clause has after redact=, and false
// if there are too many.
func ftraceRedactionOf(names string) (n uint32, ok bool) {
	r := &ftraceRedactions
	switch names {
	case "":
		return r.usual, true
	case "off":
		return 0, true
	}
	text := []byte(names)
	for i := range text {
		if text[i] == '+' {
			text[i] = '|'
		}
	}
	pattern := string(text)
	if r.usual != 0 {
		pattern = r.patterns[r.usual] + "|" + pattern
	}
	lock(&r.lock)
	for n = 2; n < r.n && r.patterns[n] != pattern; n++ {
	}
	if ok = n < ftraceRedactionsMax; ok && n == r.n {
		r.patterns[n] = pattern
		r.n++
	}
	unlock(&r.lock)
	return n, ok
}

// ftraceIsSecret reports whether a name is secret.
func ftraceIsSecret(name string, redaction uint32) bool {
	return redaction != 0 && ftrace_redact_Secret(ftraceRedactions.patterns[redaction], name)
}

// redact gives the clauses the numbers of their redactions. It returns false if there are too many.
func (r *ftraceRules) redact() (ok bool) {
	for i := range r.clauses {
		if r.clauses[i].Own, ok = ftraceRedactionOf(r.clauses[i].Redact); !ok {
			return false
		}
	}
	r.all.Own = ftraceRedactions.usual
	return true
}

// markSecrets marks f, on which the rules are about to be laid, if they make one of its names
// secret. The mark stays: it only says where to look.
func (c *ftraceConfig) markSecrets(f *ftraceFunc) {
	secret := f.namesSecret(c.all.Own)
	for observer := range uint32(ftrace_format_SessionsMax + 1) {
		r := c.of(observer)
		if r == nil {
			continue
		}
		for i := range r.clauses {
			if n := r.clauses[i].Own; n != c.all.Own && !secret {
				secret = f.namesSecret(n)
			}
		}
	}
	if secret {
		f.flags |= ftraceHasSecrets
	}
}

// namesSecret reports whether the name of a parameter or result is secret, or that of the function,
// which stands for results without names.
func (f *ftraceFunc) namesSecret(redaction uint32) bool {
	if redaction == 0 {
		return false
	}
	if own := f.ownName(); ftraceIsSecret(own, redaction) {
		return true
	}
	if !ftraceIsSecret(f.params, redaction) {
		return false // as nearly all
	}
	for _, names := range [...]ftraceNames{f.names(false), f.names(true)} {
		for names != "" {
			if name, _, _ := names.next(); ftraceIsSecret(name, redaction) {
				return true
			}
		}
	}
	return false
}

// secrets appends the names by which the function's calls have secrets: " password=*** ret0=***".
func (b *ftraceText) secrets(f *ftraceFunc, redaction uint32) {
	names := ftrace_redact_Names{Pattern: ftraceRedactions.patterns[redaction], Function: f.ownName(), Params: f.params}
	for name, n, ok := names.Next(); ok; name, n, ok = names.Next() {
		b.byte(' ')
		if name != "" {
			b.shown(name)
		} else {
			b.str("ret")
			b.uint(uint64(n))
		}
		b.str("=" + ftraceStars)
	}
}

// ownName returns the last part of the function's name.
func (f *ftraceFunc) ownName() string {
	name, _, _ := stringslite.Cut(f.name[ftrace_rule_lastDot(f.name)+1:], "[")
	return name
}

// hide puts values, or pointers to them, into room, with a secret in place of each whose name is
// secret. A result without a name goes by the function's, unless it is a boolean or a number. The
// error that is the last result is no secret: it says what went wrong, and whether anything did.
func (f *ftraceFunc) hide(room *[ftraceValuesMax]any, values []any, redaction uint32, results, pointers bool) []any {
	n := min(len(values), len(room))
	names, unnamed, err := f.names(results), false, -1
	if results {
		unnamed = ftraceIsSecret(f.ownName(), redaction)
		if f.flags&ftraceMayFail != 0 {
			err = len(values) - 1
		}
	}
	for i := range n {
		*efaceOf(&room[i]) = *efaceOf(&values[i])
		name, _, _ := names.next()
		secret := ftraceIsSecret(name, redaction)
		if results && (name == "" || name == "_") {
			t := efaceOf(&values[i])._type
			if pointers {
				t = (*ptrtype)(unsafe.Pointer(t)).Elem
			}
			secret = unnamed && t != nil && t.Kind() > abi.Complex128
		}
		switch {
		case !secret || i == err:
		case pointers:
			*efaceOf(&room[i]) = *efaceOf(&ftraceASecretPointer)
		default:
			*efaceOf(&room[i]) = *efaceOf(&ftraceASecret)
		}
	}
	return room[:n]
}

// ftraceHiding is what is hidden of the values of a type.
type ftraceHiding struct {
	t         uintptr // the type; 0: the entry is free; ftraceHidingTaken; atomic, written last
	redaction uint32
	whole     bool   // all of it
	fields    uint64 // a bit for each hidden field; the last bit stands for all from number 63 on
}

// ftraceHidingTaken stands for a type while its entry is being written.
const ftraceHidingTaken = 1

// ftraceHidings is a hash table of these, for the types met so far. There are no locks, since it is
// read and written where others are held. A type that two goroutines meet at once is in it twice.
var ftraceHidings struct {
	slots [ftraceHidingsMax]ftraceHiding
	n     uint32 // in use; atomic
}

const ftraceHidingsMax = 1 << 12

// ftraceHidingOf returns what is hidden of the values of type t.
func ftraceHidingOf(t *_type, redaction uint32) (whole bool, fields uint64) {
	i := uint32(uint64(uintptr(unsafe.Pointer(t))) >> 3 * 0x9E3779B97F4A7C15 >> 40)
	for ; ; i++ {
		h := &ftraceHidings.slots[i%ftraceHidingsMax]
		switch at := atomic.Loaduintptr(&h.t); {
		case at == uintptr(unsafe.Pointer(t)) && h.redaction == redaction:
			return h.whole, h.fields
		case at != 0:
			continue
		}
		whole, fields = ftraceDecideHiding(t, redaction)
		if atomic.Load(&ftraceHidings.n) < ftraceHidingsMax*3/4 && atomic.Casuintptr(&h.t, 0, ftraceHidingTaken) {
			atomic.Xadd(&ftraceHidings.n, 1)
			h.redaction, h.whole, h.fields = redaction, whole, fields
			atomic.Storeuintptr(&h.t, uintptr(unsafe.Pointer(t)))
		} // else it is decided again the next time
		return whole, fields
	}
}

// ftraceDecideHiding decides what is hidden of the values of type t.
func ftraceDecideHiding(t *_type, redaction uint32) (whole bool, fields uint64) {
	if t == efaceOf(&ftraceASecret)._type {
		return true, 0
	}
	if t.TFlag&abi.TFlagNamed != 0 && ftraceHoldsText(t) && ftraceIsSecret(ftraceTypeName(t), redaction) && !ftraceMayBeError(t) {
		return true, 0
	}
	if t.Kind() == abi.Struct {
		s := (*structtype)(unsafe.Pointer(t))
		for i := range s.Fields {
			if ftraceIsSecret(s.Fields[i].Name.Name(), redaction) {
				fields |= 1 << min(i, 63)
			}
		}
	}
	return false, fields
}

// ftraceTextKinds has a bit for each kind of types that can hold text.
const ftraceTextKinds = 1<<abi.String | 1<<abi.Struct | 1<<abi.Slice | 1<<abi.Array

// ftraceHoldsText reports whether values of type t can be secrets because the type's name says so:
// text, bytes and structs, but not numbers, nor what only leads to others.
func ftraceHoldsText(t *_type) bool {
	switch t.Kind() {
	case abi.String, abi.Struct:
		return true
	case abi.Slice:
		return (*slicetype)(unsafe.Pointer(t)).Elem.Kind() == abi.Uint8
	case abi.Array:
		return (*arraytype)(unsafe.Pointer(t)).Elem.Kind() == abi.Uint8
	}
	return false
}

// ftraceMayBeError reports whether t has a method called Error. An assertion, which would tell for
// certain, takes a lock.
func ftraceMayBeError(t *_type) bool {
	u := t.Uncommon()
	if u == nil {
		return false
	}
	methods := u.Methods()
	for i := range methods {
		if toRType(t).nameOff(methods[i].Name).Name() == "Error" {
			return true
		}
	}
	return false
}

// ftraceHidesAll reports whether all of a value of type t is hidden.
func ftraceHidesAll(t *_type, redaction uint32) bool {
	if redaction == 0 || t.TFlag&abi.TFlagNamed == 0 || t == efaceOf(&ftraceAString)._type || !ftraceHoldsText(t) {
		return false
	}
	whole, _ := ftraceHidingOf(t, redaction)
	return whole
}

// ftraceHidesField reports whether field i of a struct is hidden, given what ftraceHidingOf says of
// the fields.
func ftraceHidesField(s *structtype, fields uint64, i int, redaction uint32) bool {
	if fields == 0 {
		return false
	}
	if i < 63 {
		return fields>>i&1 != 0
	}
	return fields>>63 != 0 && ftraceIsSecret(s.Fields[i].Name.Name(), redaction)
}

// ftraceHides reports whether something can be hidden in values of type t, up to nest levels deep.
// What is in interfaces is decided by its dynamic type.
func ftraceHides(t *_type, redaction uint32, nest int) bool {
	if t == nil || redaction == 0 {
		return false
	}
	if ftraceHidesAll(t, redaction) {
		return true
	}
	if nest == 0 {
		return false
	}
	switch t.Kind() {
	case abi.Pointer:
		if elem := (*ptrtype)(unsafe.Pointer(t)).Elem; elem.Kind() == abi.Struct {
			return ftraceHides(elem, redaction, nest-1)
		}
	case abi.Slice:
		return ftraceHides((*slicetype)(unsafe.Pointer(t)).Elem, redaction, nest-1)
	case abi.Array:
		return ftraceHides((*arraytype)(unsafe.Pointer(t)).Elem, redaction, nest-1)
	case abi.Struct:
		if _, fields := ftraceHidingOf(t, redaction); fields != 0 {
			return true
		}
		s := (*structtype)(unsafe.Pointer(t))
		for i := range s.Fields {
			if ftraceHides(s.Fields[i].Typ, redaction, nest-1) {
				return true
			}
		}
	}
	return false
}

// ftraceHidesNest is the number of levels that ftraceHides looks at: those that are recorded, and
// those of a pointer and of the parts of a value of the last level.
const ftraceHidesNest = ftraceCaptureNest + 2

// ftraceKeyIsSecret reports whether a map's key, of type t at v, is text that is secret.
func ftraceKeyIsSecret(t *_type, v unsafe.Pointer, redaction uint32) bool {
	if redaction == 0 {
		return false
	}
	if t.Kind() == abi.Interface {
		e := ftraceDynamic(t, v)
		if t, v = e._type, e.data; t == nil {
			return false
		}
	}
	if t.Kind() != abi.String {
		return false
	}
	const most = 256 // bytes of a key that are checked
	s := *(*string)(v)
	n := min(len(s), most)
	return ftraceReadable(unsafe.Pointer(unsafe.StringData(s)), uintptr(n)) && ftraceIsSecret(s[:n], redaction)
}
