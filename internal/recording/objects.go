package recording

import (
	"cmp"
	"fmt"
	"path"
	"reflect"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
)

// Objects learns what the locks and channels in a recording are called. A lock that is part of a
// struct has the name of its field, such as main.cache.mu, and so has a channel to which a field
// leads. The struct is one to which the receiver, or another parameter, of a call pointed in which
// a goroutine waited for the lock or channel. A channel may also have the name of the parameter
// that it was, main.work.jobs. What has no such name has that of the place where a goroutine waited
// for it first.
type Objects struct {
	r      *Recording
	p      *Printer
	read   []int             // by index of a layout: one more than leading, 0: not known yet
	locked map[uint32]bool   // by number of a type: it has locks or channels in it
	aligns map[uint32]uint64 // by number of a type
	paths  map[part]string   // "" if there is neither a lock nor a channel
	names  Names
}

// Names are what was learnt of locks and channels, by address.
type Names struct {
	Fields map[uint64]string    // "": different things were at that address
	Params map[uint64]Parameter // of channels: the first that one was in a call that waited for it
	Places map[uint64]uint32    // number of the site where a goroutine waited first
}

// A Parameter is one of a function. The zero value is none.
type Parameter struct {
	Function uint32 // its key
	Index    int
}

// placesMax is how many locks and channels have the names of places, and how many of parameters.
const placesMax = 1 << 20

// A part is where in a value of a type something is.
type part struct {
	of uint32
	at uint64
}

// Pointers are those among the values of a call that lead to structs with locks or channels, or are
// channels. It has no pointers of its own, so it may be kept with a call of [Stacks].
type Pointers struct {
	of    uint32 // key of the function
	first [4]pointer
}

type pointer struct {
	address uint64
	to      uint32 // number of the struct's type, or of the channel's; 0: there are no more
	param   int32
}

const nestMax = 32 // structs and arrays in one another

// Objects returns what learns the names of locks. It is for one goroutine.
func (r *Recording) Objects() *Objects {
	return &Objects{r: r, p: r.Printer(DefaultFormat), locked: map[uint32]bool{}, aligns: map[uint32]uint64{}, paths: map[part]string{}, names: newNames()}
}

func newNames() Names {
	return Names{map[uint64]string{}, map[uint64]Parameter{}, map[uint64]uint32{}}
}

// Names returns what was learnt, SetNames has this instead, and Forget nothing.
func (o *Objects) Names() Names { return o.names }

func (o *Objects) SetNames(names Names) { o.names = names }

func (o *Objects) Forget() { o.names = newNames() }

// Join takes in what was learnt of a later part of the recording.
func (o *Objects) Join(later Names) {
	for object, name := range later.Fields {
		if known, ok := o.names.Fields[object]; ok && known != name {
			name = "" // there was something else at that address before
		}
		o.names.Fields[object] = name
	}
	for object, param := range later.Params {
		if _, known := o.names.Params[object]; !known && len(o.names.Params) < placesMax {
			o.names.Params[object] = param
		}
	}
	for object, site := range later.Places {
		if _, known := o.names.Places[object]; !known && len(o.names.Places) < placesMax {
			o.names.Places[object] = site
		}
	}
}

// Pointers returns those of a call's entry.
func (o *Objects) Pointers(e *Event) (pointers Pointers) {
	l := o.r.layout(e.Layout)
	if l == nil || l.Dynamic {
		return pointers
	}
	leading := o.leading(l)
	if leading == 0 {
		return pointers
	}
	pointers.of = e.Function
	if to := o.leads(l.Types[0]); to != 0 && leading == 1 {
		if len(e.Data) >= 8 {
			pointers.first[0] = pointer{le64(e.Data), to, 0}
		}
		return pointers
	}
	params, found := o.r.Function(e.Function).Params, 0
	o.p.begin(o.p.dst[:0], 0, e)
	o.p.quiet++
	for i, n := range l.Types[:leading] {
		if to := o.leads(n); to != 0 && len(o.p.data) >= 8 && found < len(pointers.first) {
			pointers.first[found] = pointer{le64(o.p.data), to, int32(i)}
			found++
		}
		o.p.top(l, n, o.p.param(l, i, params))
	}
	for i, n := range l.Types[:leading] { // addresses of channels come after all values
		if o.isChan(n) && len(o.p.data) >= 8 && found < len(pointers.first) {
			pointers.first[found] = pointer{o.p.uint64(), n, int32(i)}
			found++
		}
	}
	return pointers
}

// leading returns how many values of a layout are to be read: the last of them leads to locks. If
// some are channels all are to be read.
func (o *Objects) leading(l *Layout) int {
	if l.index >= len(o.read) {
		o.read = append(o.read, make([]int, l.index+1-len(o.read))...)
	}
	if o.read[l.index] == 0 {
		o.read[l.index] = 1
		for i, n := range l.Types {
			switch {
			case o.isChan(n):
				o.read[l.index] = len(l.Types) + 1
			case o.leads(n) != 0:
				o.read[l.index] = max(o.read[l.index], i+2)
			}
		}
	}
	return o.read[l.index] - 1
}

// leads returns the number of the struct with locks to which values of a type point, or 0. A lock
// by itself has no name.
func (o *Objects) leads(n uint32) uint32 {
	t := o.r.typ(n)
	if t == nil || t.Kind != reflect.Pointer || t.Secret {
		return 0
	}
	if elem := o.r.typ(t.Elem); elem == nil || isLock(elem) || elem.Kind == reflect.Chan || !o.hasLocks(t.Elem) {
		return 0
	}
	return t.Elem
}

func (o *Objects) hasLocks(n uint32) bool {
	has, known := o.locked[n]
	if !known {
		o.locked[n] = false // a damaged table may have a struct that is part of itself
		if t := o.r.typ(n); t != nil {
			has = isLock(t) || t.Kind == reflect.Chan || t.Kind == reflect.Array && o.hasLocks(t.Elem)
			for i := 0; i < len(t.Fields) && !has; i++ {
				has = o.hasLocks(t.Fields[i].Type)
			}
		}
		o.locked[n] = has
	}
	return has
}

func (o *Objects) isChan(n uint32) bool {
	t := o.r.typ(n)
	return t != nil && t.Kind == reflect.Chan
}

func isLock(t *Type) bool { return t.Kind == reflect.Struct && strings.HasPrefix(t.Name, "sync.") }

// Learn takes in that a goroutine waited for an object in a call with such pointers. It reports
// whether one of them leads to a field that is the object, or that leads to it.
func (o *Objects) Learn(object uint64, pointers *Pointers) bool {
	for _, p := range pointers.first {
		if o.isChan(p.to) {
			param := Parameter{pointers.of, int(p.param)}
			if _, known := o.names.Params[object]; !known && p.address == object && o.param(param) != "" && len(o.names.Params) < placesMax {
				o.names.Params[object] = param
			}
			continue
		}
		name := o.name(part{p.to, object - p.address})
		for _, word := range o.r.Keepers(object) {
			name = cmp.Or(name, o.name(part{p.to, word - p.address}))
		}
		if name == "" {
			continue
		}
		if known, ok := o.names.Fields[object]; ok && known != name {
			name = "" // there was something else at that address before
		}
		o.names.Fields[object] = name
		return true
	}
	return false
}

// Place takes in that a goroutine waited at a site for an object, by a kind of waits.
func (o *Objects) Place(kind uint32, object uint64, site uint32) {
	if _, known := o.names.Places[object]; known || object == 0 || len(o.names.Places) >= placesMax {
		return
	}
	if strings.HasPrefix(o.r.Function(kind).Name, "synch/") && o.r.Site(site) != nil {
		o.names.Places[object] = site
	}
}

// name returns the name of a lock or channel that is part of a struct, or "".
func (o *Objects) name(p part) string {
	t := o.r.typ(p.of)
	if t == nil || p.at >= t.Size {
		return ""
	}
	name, known := o.paths[p]
	if !known {
		name = o.field(t, p.at)
		o.paths[p] = name
	}
	return name
}

// Name returns the name of an object, or "" if it is not known, or not the only one that was at
// that address. One that is no field, and that package variables lead to, has their name. variable
// returns the name of the variable that is at an address, or "".
func (o *Objects) Name(object uint64, variable func(address uint64) string) string {
	field, known := o.names.Fields[object]
	name := cmp.Or(field, variable(object))
	for _, word := range o.r.Keepers(object) {
		name = cmp.Or(name, variable(word))
	}
	if name != "" || known {
		return name
	}
	if param, ok := o.names.Params[object]; ok {
		return o.param(param)
	}
	if site := o.r.Site(o.names.Places[object]); site != nil {
		name = PlaceName(site.Function, site.File, site.Line)
	}
	return name
}

// param returns the name of a parameter, main.work.jobs, or "" if it has none.
func (o *Objects) param(p Parameter) string {
	f := o.r.Function(p.Function)
	if p.Index >= len(f.Params) || f.Params[p.Index].Name == "" || f.Params[p.Index].Name == "_" {
		return ""
	}
	return funcname.Short(f.FullName()) + "." + f.Params[p.Index].Name
}

// PlaceName returns the name that a place gives to a lock or channel without another one:
// main.run main.go:41.
func PlaceName(function, file string, line int) string {
	return fmt.Sprintf("%s %s:%d", funcname.Short(function), path.Base(file), line)
}

// field returns the name of the lock or channel at an offset in a value of type t, or "". The name
// begins with the innermost named type that contains it. So it has one name, however it is reached.
func (o *Objects) field(t *Type, at uint64) string {
	name := t.Name
	for range nestMax {
		elem := o.r.typ(t.Elem)
		switch {
		case isLock(t), t.Kind == reflect.Chan:
			return name
		case t.Kind == reflect.Array && elem != nil && elem.Size > 0:
			name += "[]"
			t, at = elem, at%elem.Size
		case t.Kind == reflect.Struct:
			in := -1
			for i, begin := range o.offsets(t) {
				if begin <= at && at-begin < o.r.typ(t.Fields[i].Type).Size {
					in, at = i, at-begin
					break
				}
			}
			if in < 0 {
				return ""
			}
			name += "." + t.Fields[in].Name
			t = o.r.typ(t.Fields[in].Type)
		default:
			return ""
		}
		if t.Named && !isLock(t) && t.Kind != reflect.Chan {
			name = t.Name
		}
	}
	return "" // a type of a damaged recording may be part of itself
}

// offsets returns where the fields of a struct are in it, as the compiler of a 64-bit system lays
// them out. It returns nil if that is not known: of hidden fields, and of very many, the sizes are
// not in the tables.
func (o *Objects) offsets(t *Type) []uint64 {
	offsets, end, largest := make([]uint64, len(t.Fields)), uint64(0), uint64(1)
	for i := range t.Fields {
		f := o.r.typ(t.Fields[i].Type)
		if f == nil || f.Secret || f.Size > t.Size || end > t.Size {
			return nil
		}
		align := o.align(t.Fields[i].Type)
		offsets[i] = roundUp(end, align)
		end, largest = offsets[i]+f.Size, max(largest, align)
		if i == len(t.Fields)-1 && f.Size == 0 && end > 0 {
			end++ // so that a pointer to the field points into the struct
		}
	}
	if roundUp(end, largest) != t.Size {
		return nil
	}
	return offsets
}

// align returns to what the address of a value is aligned, given the number of its type.
func (o *Objects) align(n uint32) uint64 {
	if align := o.aligns[n]; align != 0 {
		return align
	}
	o.aligns[n] = 1 // a type of a damaged recording may be part of itself
	align := uint64(1)
	switch t := o.r.typ(n); {
	case t == nil:
	case t.Kind == reflect.Array:
		align = o.align(t.Elem)
	case t.Kind == reflect.Struct:
		for i := range t.Fields {
			align = max(align, o.align(t.Fields[i].Type))
		}
	case t.Kind == reflect.Complex64:
		align = 4
	default:
		align = min(max(t.Size, 1), 8)
	}
	o.aligns[n] = align
	return align
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }
