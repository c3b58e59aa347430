//go:build ftrace_core

// Operations on files and sockets. Packages os and net begin each by ftrace_operates and end it by
// ftrace_operated, while some kind of them is observed.
//
// To those who look on an operation is a wait, from its beginning to its end: the system calls, and
// the stops until the descriptor is ready, are part of it and not told apart. So the waits of a
// goroutine do not overlap. What is told apart is how long the goroutine was runnable meanwhile.

package runtime

import (
	"internal/bytealg"
	"internal/runtime/atomic"
	"unsafe"
)

// ftraceOperations is not 0 while operations are observed. Packages os and net read it.
//
//go:linkname ftraceOperations
var ftraceOperations uint32

// What a descriptor is of, by which the kinds of waits for it follow one another.
const (
	ftraceFile = iota
	ftracePipe
	ftraceSocket
)

// The kinds of waits for a descriptor.
const (
	ftraceReads = iota
	ftraceWrites
	ftraceMisc
	ftraceClassesOfIO
)

// ftraceWaitOf returns the kind of waits for what a descriptor is of.
//
//go:nosplit
func ftraceWaitOf(what, class uint8) uint8 {
	return ftraceWaitFileRead + what*ftraceClassesOfIO + class
}

// ftraceIsOfFile reports whether a kind of waits is for descriptors.
func ftraceIsOfFile(f *ftraceFunc) bool {
	return f.key-ftraceWaitKind(ftraceWaitFileRead).key <= ftraceWaitSocketMisc-ftraceWaitFileRead
}

// ftraceWhatIs returns what a descriptor is of. Where the system does not say, it is unknown.
func ftraceWhatIs(fd int32, unknown uint8) uint8 {
	stat, ok := ftraceStatus(fd)
	switch {
	case !ok:
		return unknown
	case stat.Mode&0o170000 == 0o010000:
		return ftracePipe
	case stat.Mode&0o170000 == 0o140000:
		return ftraceSocket
	}
	return ftraceFile
}

// What packages os and net keep of a file for the core is a word: 1 + what it is, whether its name
// is in the tables, and from bit ObjectFile on the number of its name. 0: nothing is known yet.
const (
	ftraceFileWhat    = 0xFF
	ftraceFileDefined = 0x100
)

// ftraceFilesMax is how many files have names.
const ftraceFilesMax = 1 << 16

// ftraceFiles has the names of files: by number, and a hash table of the numbers, at most half
// full. The tables' lock guards all but names that have a number.
var ftraceFiles struct {
	n     uint32
	names [ftraceFilesMax]struct {
		text    uintptr // off the heap
		length  uint16
		defined bool
	}
	slots [2 * ftraceFilesMax]struct {
		hash   uint64 // 0: free
		number uint32
	}
}

// ftraceFileName returns the name of the file with that number, or "".
func ftraceFileName(number uint32) string {
	if number == 0 || number >= ftraceFilesMax {
		return ""
	}
	name := &ftraceFiles.names[number]
	return unsafe.String((*byte)(unsafe.Pointer(name.text)), int(name.length))
}

// ftraceNumberOf returns the number of a name, 0 if it is empty or there are too many, and whether
// it is in the tables. If these have begun, it is then.
func ftraceNumberOf(name string) (number uint32, defined bool) {
	const most = 512
	name = name[:min(len(name), most)]
	if name == "" {
		return 0, true
	}
	hash := uint64(memhash(noescape(unsafe.Pointer(unsafe.StringData(name))), 1, uintptr(len(name))))*ftraceSpread | 1
	files := &ftraceFiles
	lock(&ftraceTables.lock)
	at := uint32(hash>>40) % uint32(len(files.slots))
	for files.slots[at].hash != 0 && files.slots[at].hash != hash {
		at = (at + 1) % uint32(len(files.slots))
	}
	slot := &files.slots[at]
	if slot.hash == 0 && files.n < ftraceFilesMax-1 {
		files.n++
		text := ftraceAlloc(uintptr(len(name)))
		memmove(text, unsafe.Pointer(unsafe.StringData(name)), uintptr(len(name)))
		n := &files.names[files.n]
		n.text, n.length = uintptr(text), uint16(len(name))
		slot.hash, slot.number = hash, files.n
	}
	number = slot.number
	if number != 0 {
		n := &files.names[number]
		if !n.defined {
			if b := ftraceTableBegin(ftrace_format_TableFile); b != nil {
				b.word(uint64(number))
				b.cString(name)
				ftraceTableEnd()
				ftraceFlushTables()
				n.defined = true
			}
		}
		defined = n.defined
	}
	unlock(&ftraceTables.lock)
	return number, defined
}

// ftraceKnow returns the word for a file, and completes it.
func ftraceKnow(file *uint64, fd int32, socket bool, name string) uint64 {
	if ftrace_named(file) {
		return atomic.Load64(file)
	}
	what := uint8(ftraceSocket)
	if !socket {
		what = ftraceFile
		if fd >= 0 {
			what = ftraceWhatIs(fd, what)
		}
	}
	number, defined := ftraceNumberOf(name)
	known := uint64(1+what) | uint64(number)<<ftrace_format_ObjectFile
	if defined || number == 0 {
		known |= ftraceFileDefined
	}
	atomic.Store64(file, known)
	return known
}

// ftrace_named reports whether the name of a file need not be told, since it is known as far as it
// can be now.
//
//go:linkname ftrace_named
func ftrace_named(file *uint64) bool {
	known := atomic.Load64(file)
	return known&ftraceFileDefined != 0 || known != 0 && atomic.Loadp(unsafe.Pointer(&ftraceTables.text)) == nil
}

// ftraceOfSocket is added to the operations of package net.
const ftraceOfSocket = 0x80

// ftrace_operates is called before an operation. descriptor is where the file's is, nil: there is
// none yet; it may be closed meanwhile, so it is read here, where the race detector does not look.
// It reports whether ftrace_operated is to be called after it.
//
//go:linkname ftrace_operates
func ftrace_operates(file *uint64, descriptor unsafe.Pointer, operation uint8, name string) bool {
	gp := getg()
	w, t := &gp.ftraceWait, gp.ftrace
	if w.begin != 0 || !ftraceMayTrace(gp) || t != nil && (t.busy != 0 || t.muted) {
		return false
	}
	fd := ftraceDescriptor(descriptor)
	known := ftraceKnow(file, fd, operation&ftraceOfSocket != 0, name)
	operation &^= ftraceOfSocket
	class := uint8(ftraceMisc)
	switch operation {
	case ftrace_format_OperationRead, ftrace_format_OperationReceive:
		class = ftraceReads
	case ftrace_format_OperationWrite, ftrace_format_OperationSend:
		class = ftraceWrites
	}
	kind := ftraceWaitOf(uint8(known&ftraceFileWhat)-1, class)
	f := ftraceWaitKind(kind)
	if f.hook._type == nil {
		return false
	}
	w.object, w.runnable = ftraceObjectOf(known, fd), 0
	w.starts(kind, ftraceParked)
	w.operation, w.operating = uint64(operation), true
	if t != nil && t.depth < t.size && f.wantedBy(-1) {
		w.push(t, f, w.begin)
	}
	return true
}

// ftraceDescriptor reads a descriptor, -1 if there is none: the file is not open.
func ftraceDescriptor(at unsafe.Pointer) int32 {
	if at == nil {
		return -1
	}
	return int32(*(*int)(at))
}

// ftraceObjectOf returns the object of waits for a file, which may have no descriptor.
func ftraceObjectOf(known uint64, fd int32) uint64 {
	return known&^ftrace_format_ObjectDescriptor | uint64(uint32(fd))
}

// ftrace_opened is called when a file is open that the operation under way has opened.
//
//go:linkname ftrace_opened
func ftrace_opened(file *uint64, descriptor unsafe.Pointer, name string) {
	w := &getg().ftraceWait
	if !w.operating {
		return
	}
	fd := ftraceDescriptor(descriptor)
	known := ftraceKnow(file, fd, false, name)
	w.kind, w.object = ftraceWaitOf(uint8(known&ftraceFileWhat)-1, ftraceMisc), ftraceObjectOf(known, fd)
}

// ftrace_operated is called after an operation on so many bytes.
//
//go:linkname ftrace_operated
func ftrace_operated(bytes int64) {
	gp := getg()
	w := &gp.ftraceWait
	if !w.operating {
		return
	}
	w.operation |= uint64(max(bytes, 0)) << ftrace_format_OperationBytes
	w.ready = 0
	if w.runnable != 0 {
		now := ftraceTicks()
		w.ready = max(w.begin, now-min(w.runnable, now))
	}
	w.operating = false
	ftraceGoesOn()
}

// ftraceOperationName returns the name of an operation, that of waiting if it is 0.
func ftraceOperationName(operation uint8) string {
	names := ftrace_format_OperationNames + " "
	for {
		end := bytealg.IndexByteString(names, ' ')
		if operation == 0 {
			return names[:end]
		}
		names, operation = names[end+1:], operation-1
	}
}
