//go:build ftrace_core

// This file is added to package internal/runtime/maps. It lets the tracer read a map that another
// goroutine may be writing: without the iterator, which would stop the program, and without
// trusting what it finds.

package maps

import (
	"internal/abi"
	"unsafe"
)

// FtraceMapSize is the size of a map's header.
const FtraceMapSize = unsafe.Sizeof(Map{})

// FtraceGroup returns the only group of slots of a small map, or nil for a large one.
func FtraceGroup(m *Map) unsafe.Pointer {
	if m.dirLen != 0 {
		return nil
	}
	return m.dirPtr
}

// FtraceGroupType returns the type of the groups of maps of type t.
func FtraceGroupType(t *abi.Type) *abi.Type { return (*ftraceMapType)(unsafe.Pointer(t)).Group }

// FtraceSlot is one entry found.
type FtraceSlot struct {
	Key, Elem unsafe.Pointer
}

// FtraceWalked is what a walk found.
type FtraceWalked struct {
	Key, Elem *abi.Type
	Used      uint64
	Count     int  // slots found
	Still     bool // nobody was writing

	clearSeq uint64
	dirPtr   unsafe.Pointer
	dirLen   int
}

// FtraceWalk finds entries of the map at v, of type t, until slots is full. While the map is being
// written, what says where its memory is may be half written: readable reports whether n bytes at p
// can be read. So may be the entries: see FtraceUnchanged.
func FtraceWalk(t *abi.Type, v unsafe.Pointer, slots []FtraceSlot, readable func(p unsafe.Pointer, n uintptr) bool) FtraceWalked {
	typ := (*ftraceMapType)(unsafe.Pointer(t))
	m := (*Map)(v)
	w := FtraceWalked{Key: typ.Key, Elem: typ.Elem}
	if m.writing != 0 {
		return w
	}
	w.Used, w.clearSeq, w.dirPtr, w.dirLen = m.used, m.clearSeq, m.dirPtr, m.dirLen
	w.Still = true
	if w.dirPtr == nil || w.Used == 0 {
		return w
	}
	if w.dirLen == 0 {
		w.group(typ, groupReference{data: w.dirPtr}, slots, readable)
		return w
	}
	if w.dirLen < 0 || !readable(w.dirPtr, uintptr(w.dirLen)*unsafe.Sizeof(w.dirPtr)) {
		return w
	}
	for i := 0; i < w.dirLen && w.Count < len(slots); i++ {
		tab := *(**table)(unsafe.Pointer(uintptr(w.dirPtr) + uintptr(i)*unsafe.Sizeof(w.dirPtr)))
		if tab == nil || !readable(unsafe.Pointer(tab), unsafe.Sizeof(*tab)) || tab.index != i { // the same table appears under several indices
			continue
		}
		groups := tab.groups
		for g := uint64(0); g <= groups.lengthMask && w.Count < len(slots); g++ {
			w.group(typ, groups.group(typ, g), slots, readable)
		}
	}
	return w
}

// group appends the entries of one group.
func (w *FtraceWalked) group(typ *ftraceMapType, g groupReference, slots []FtraceSlot, readable func(unsafe.Pointer, uintptr) bool) {
	if !readable(g.data, typ.Group.Size_) {
		return
	}
	for i := uintptr(0); i < ftraceGroupSlots && w.Count < len(slots); i++ {
		if g.ctrls().get(i)&ctrlEmpty == ctrlEmpty { // empty or deleted
			continue
		}
		key, elem := g.key(typ, i), g.elem(typ, i)
		if typ.IndirectKey() {
			key = *(*unsafe.Pointer)(key)
		}
		if typ.IndirectElem() {
			elem = *(*unsafe.Pointer)(elem)
		}
		if readable(key, typ.Key.Size_) && readable(elem, typ.Elem.Size_) {
			slots[w.Count] = FtraceSlot{key, elem}
			w.Count++
		}
	}
}

// FtraceUnchanged reports whether the map at v is still as it was when w was found, as far as its
// header shows.
func FtraceUnchanged(v unsafe.Pointer, w *FtraceWalked) bool {
	m := (*Map)(v)
	return m.writing == 0 && m.used == w.Used && m.clearSeq == w.clearSeq && m.dirPtr == w.dirPtr && m.dirLen == w.dirLen
}
