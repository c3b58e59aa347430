//go:build ftrace_core

// What a recording says once: functions, types, layouts, the process, and how ticks and time
// relate. These are the records of the file "tables", another stream of the trace. Each comes
// before the first record that needs it. docs/format.md has every byte.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// ftraceTables is the file. Its lock is one of the runtime's, because a goroutine that is held on
// its processor may not wait for a semaphore. No other lock is held when it is taken. It has the
// rank of itabs': names of types are looked up under it, which takes the lock of package reflect's
// types.
var ftraceTables ftraceTablesState

type ftraceTablesState struct {
	lock    mutex
	text    *ftraceText
	record  int // where the record under construction begins in text
	number  uint64
	layouts uint32           // numbers in use, from 1 on
	lost    uint32           // calls whose values were not recorded because there were too many layouts; atomic
	types   *ftraceTypeTable // nil until there is a recording
	begun   uint32           // the process, and the functions so far, are defined; atomic
	started int64            // when the clocks were first read for the timer in use, ns
	due     int64            // when they are to be read again, ns; 0: never; atomic
}

const (
	ftraceTypesMax     = 1 << 15
	ftraceLayoutsMax   = 1 << 18
	ftraceLayoutsOfOne = 16 // a function that takes an any may be called with many types
)

// ftraceTypeTable has the types' numbers, which are their places in byNumber.
type ftraceTypeTable struct {
	_        sys.NotInHeap
	slots    [2 * ftraceTypesMax]uint32 // a hash table of numbers, 0: free; atomic
	byNumber [ftraceTypesMax]*_type
	errors   [ftraceTypesMax]bool // its values are errors
	hides    [ftraceTypesMax]bool // something in its values may be secret
	// By which secrets are hidden. A type has a number for each redaction by which values of it
	// were recorded.
	redactions [ftraceTypesMax]uint8
	n          uint32 // numbers in use, from 1 on
	defined    uint32 // how many of them are in the file
	lost       uint32 // values whose types there was no room for; atomic
}

// number returns the number of t, with what a redaction hides, in the table, or 0 if it has none.
func (types *ftraceTypeTable) number(t *_type, redaction uint32) uint32 {
	for i := types.slot(t); ; i = (i + 1) % uint32(len(types.slots)) {
		n := atomic.Load(&types.slots[i])
		if n == 0 || types.byNumber[n] == t && uint32(types.redactions[n]) == redaction {
			return n
		}
	}
}

func (types *ftraceTypeTable) slot(t *_type) uint32 {
	return uint32((uint64(uintptr(unsafe.Pointer(t))) >> 3 * 0x9E3779B97F4A7C15) >> 48 % uint64(len(types.slots)))
}

// add gives t a number, or returns 0 if there is none left. The tables are locked.
func (types *ftraceTypeTable) add(t *_type, redaction uint32) uint32 {
	if t == nil {
		return 0
	}
	if n := types.number(t, redaction); n != 0 {
		return n
	}
	if types.n == ftraceTypesMax-1 {
		atomic.Xadd(&types.lost, 1)
		return 0
	}
	types.n++
	n := types.n
	types.byNumber[n] = t
	types.errors[n] = ftraceImplementsError(t)
	types.redactions[n] = uint8(redaction)
	types.hides[n] = ftraceHides(t, redaction, ftraceHidesNest)
	i := types.slot(t)
	for types.slots[i] != 0 {
		i = (i + 1) % uint32(len(types.slots))
	}
	atomic.Store(&types.slots[i], n)
	return n
}

// ftraceTypeNumber returns the number of a value's type. It defines the type if it is new.
func ftraceTypeNumber(t *_type, redaction uint32) uint32 {
	if n := ftraceTables.types.number(t, redaction); n != 0 {
		return n
	}
	return ftraceDefineType(t, redaction)
}

// ftraceImplementsError reports whether values of type t are errors.
func ftraceImplementsError(t *_type) bool {
	if t.TFlag&abi.TFlagUncommon == 0 {
		return false // it has no methods
	}
	// What v.(error) would check. That takes a lock and keeps the answer.
	var failure any = (*error)(nil)
	m := itab{Inter: (*interfacetype)(unsafe.Pointer((*ptrtype)(unsafe.Pointer(efaceOf(&failure)._type)).Elem)), Type: t}
	return itabInit(&m, false) == ""
}

// ftraceDefineType gives t a number and defines it, with the types that it is made of.
func ftraceDefineType(t *_type, redaction uint32) uint32 {
	lock(&ftraceTables.lock)
	n := ftraceTables.types.add(t, redaction)
	ftraceDefineTypes()
	ftraceFlushTables()
	unlock(&ftraceTables.lock)
	return n
}

// ftraceDefineTypes writes the types that have numbers but are not in the file. That gives numbers
// to the types they are made of, which follow.
func ftraceDefineTypes() {
	types := ftraceTables.types
	for types.defined < types.n {
		types.defined++
		ftraceTypeRecord(types.defined, types.byNumber[types.defined])
	}
}

func ftraceTypeRecord(n uint32, t *_type) {
	types := ftraceTables.types
	flags := uint64(0)
	if t.TFlag&abi.TFlagNamed != 0 {
		flags |= ftrace_format_TypeNamed
	}
	if types.errors[n] {
		flags |= ftrace_format_TypeError
		if ftraceUnwraps(t) {
			flags |= ftrace_format_TypeWraps
		}
	}
	redaction := uint32(types.redactions[n])
	kind, size, name := t.Kind(), uint64(t.Size_), toRType(t).string()
	whole, hidden := false, uint64(0)
	if redaction != 0 {
		whole, hidden = ftraceHidingOf(t, redaction)
	}
	if whole { // a reader that does not know secrets takes it for a struct without fields
		kind, size, name = abi.Struct, 0, ftraceStars
		flags = ftrace_format_TypeNamed | ftrace_format_TypeSecret
	}
	form, constants := ftraceFormOf(t)
	if form != ftraceNoForm && !whole {
		flags |= ftrace_format_TypeText
	}
	length, elem := uint64(0), uint32(0)
	var fields []abi.StructField
	switch t.Kind() {
	case abi.Array:
		a := (*arraytype)(unsafe.Pointer(t))
		length, elem = uint64(a.Len), types.add(a.Elem, redaction)
	case abi.Slice:
		elem = types.add((*slicetype)(unsafe.Pointer(t)).Elem, redaction)
	case abi.Pointer:
		if e := (*ptrtype)(unsafe.Pointer(t)).Elem; e.Kind() == abi.Struct {
			elem = types.add(e, redaction)
		}
	case abi.Struct:
		fields = (*structtype)(unsafe.Pointer(t)).Fields
		fields = fields[:min(len(fields), ftraceCaptureFields)]
	}
	if whole {
		length, elem, fields = 0, 0, nil
	}
	b := ftraceTableBegin(ftrace_format_TableType)
	if b == nil {
		for i := range fields {
			types.add(fields[i].Typ, redaction)
		}
		return
	}
	count := len(fields)
	for rest := constants; rest != ""; count++ {
		_, _, rest = ftraceNextConstant(rest)
	}
	for _, v := range [...]uint64{uint64(n), uint64(kind), flags, size, length, uint64(elem), uint64(count)} {
		b.word(v)
	}
	b.cString(name)
	for i := range fields {
		typ := fields[i].Typ
		if ftraceHidesField((*structtype)(unsafe.Pointer(t)), hidden, i, redaction) {
			typ = efaceOf(&ftraceASecret)._type
		}
		b.word(uint64(types.add(typ, redaction)))
		b.cString(fields[i].Name.Name())
	}
	for constants != "" {
		var v int64
		if v, name, constants = ftraceNextConstant(constants); name != "" {
			b.word(uint64(v))
			b.cString(name)
		}
	}
	ftraceTableEnd()
}

// add gives the layout of values a number and adds it to those of a function, unless that has
// already been done. It returns nil if there are no more numbers.
func (known *ftraceKnownLayouts) add(values []any, flags uint32, paths *ftracePaths, own int) *ftraceLayout {
	tables := &ftraceTables
	lock(&tables.lock)
	l, n := known.lookup(values, flags, paths.at())
	if l == nil && n >= ftraceLayoutsOfOne && flags&ftrace_format_LayoutDynamic == 0 {
		flags |= ftrace_format_LayoutDynamic
		l, _ = known.lookup(values, flags, paths.at())
	}
	if l == nil && tables.layouts < ftraceLayoutsMax {
		l = (*ftraceLayout)(ftraceAlloc(unsafe.Sizeof(ftraceLayout{}) + uintptr(len(values))*unsafe.Sizeof(uintptr(0))))
		tables.layouts++
		l.id, l.n, l.flags = tables.layouts, uint32(len(values)), flags
		l.own, l.paths = uint32(own), paths.at()
		if flags&ftrace_format_LayoutDynamic == 0 {
			for i := range values {
				*l.typ(uint32(i)) = efaceOf(&values[i])._type
				l.hides = l.hides || ftraceHides(l.value(uint32(i)), l.redaction(), ftraceHidesNest)
				l.waits = l.waits || l.channel(uint32(i))
			}
			l.sort()
		}
		l.define(paths)
		l.next = (*ftraceLayout)(known.first)
		atomic.StorepNoWB(unsafe.Pointer(&known.first), unsafe.Pointer(l))
	}
	unlock(&tables.lock)
	return l
}

// sort sets boxed, words and head. The tables are locked.
func (l *ftraceLayout) sort() {
	l.words = ^uint32(0)
	words := l.n <= 32 && l.flags&ftraceLayoutRecorded == 0 && l.paths == 0 && goarch.PtrSize == 8
	for i := range l.n {
		t := l.value(i)
		if t == nil {
			return
		}
		switch t.Kind() {
		case abi.Int, abi.Int64, abi.Uint, abi.Uint64, abi.Uintptr, abi.Float64, abi.UnsafePointer:
		case abi.Pointer:
			// What an error points to is recorded after it.
			words = words && !ftraceTables.types.errors[ftraceTables.types.add(t, l.redaction())]
			if form, _ := ftraceFormOf(t); form != ftraceNoForm {
				words = false
			}
		default:
			words = false
		}
		if l.flags&ftraceLayoutPointers != 0 || !t.IsDirectIface() {
			l.boxed |= 1 << i
		}
	}
	if words {
		l.words, l.head = l.n, uint64(l.id)|uint64(l.n)*8<<32
	}
}

// tryImplied has records leave out the layout, whose values are words, unless they leave out
// another one of the parameters or of the results of f.
//
//go:noinline
func (l *ftraceLayout) tryImplied(f *ftraceFunc, results bool) {
	lock(&ftraceTables.lock)
	if l.implied == ftraceImpliedUnknown {
		implied := uint32(ftraceImpliedNo)
		if ftraceImpliedOf(f, results) == nil {
			number := ftrace_format_LayoutImplied | f.key<<1
			if results {
				number++
			}
			l.tell(number)
			ftraceFlushTables()
			implied = ftraceImpliedYes
		}
		atomic.Store(&l.implied, implied)
	}
	unlock(&ftraceTables.lock)
}

// ftraceImpliedOf returns the layout that records leave out of the parameters or the results of f,
// which may be nil. It returns nil if there is none.
func ftraceImpliedOf(f *ftraceFunc, results bool) *ftraceLayout {
	if f == nil {
		return nil
	}
	l := f.entryLayouts.usual()
	if results {
		l = f.exitLayouts.usual()
	}
	for l != nil && !l.isImplied() {
		l = l.next
	}
	return l
}

// define defines the layout and the types in it. The tables are locked.
func (l *ftraceLayout) define(paths *ftracePaths) {
	types := ftraceTables.types
	for i := range l.n {
		types.add(l.value(i), l.redaction())
	}
	ftraceDefineTypes()
	l.tell(l.id)
	if paths != nil && l.own < l.n {
		paths.define(l, int(l.own))
	}
	ftraceFlushTables()
}

// tell writes what the layout is, under this number. The tables are locked.
func (l *ftraceLayout) tell(number uint32) {
	if b := ftraceTableBegin(ftrace_format_TableLayout); b != nil {
		b.word(uint64(number))
		b.word(uint64(l.flags & ftraceLayoutRecorded))
		b.word(uint64(l.n))
		for i := range l.n {
			b.word(uint64(ftraceTables.types.number(l.value(i), l.redaction())))
		}
		ftraceTableEnd()
	}
}

// ftraceStartTables begins the tables, with what is known so far, when something is recorded or
// requested.
func ftraceStartTables() {
	semacquire(&ftraceRegistry.lock)
	if ftraceTables.text == nil {
		ftraceTables.types = (*ftraceTypeTable)(ftraceAlloc(unsafe.Sizeof(ftraceTypeTable{})))
		ftraceTables.text = ftraceNewText()
		ftraceDefineProcess()
		ftraceDefineTimer()
		for p := ftraceRegistry.first; p != nil; p = p.next() {
			p.define()
		}
		atomic.Store(&ftraceTables.begun, 1)
	}
	semrelease(&ftraceRegistry.lock)
}

// fileTables has the tables go to a file, from their beginning.
func (s *ftraceStream) fileTables(fd int32) {
	lock(&ftraceTables.lock)
	s.tables, s.broken = fd, 0
	for p := ftraceTablesKept.first; p != nil; p = p.next {
		s.writeTables(p.bytes(), p.n)
	}
	if h := ftraceArmed(); h != nil {
		s.writeTables(ftraceMemory.tables, int(h.Tables.Used))
	}
	unlock(&ftraceTables.lock)
}

// define defines the functions of a package, unless it has been done or the tables have not begun.
func (p *ftracePkg) define() {
	if !p.defined && ftraceTables.text != nil {
		p.defined = true
		p.read()
		ftraceDefineFuncs(p)
	}
}

// ftraceDefineFuncs defines all functions of a package.
func ftraceDefineFuncs(p *ftracePkg) {
	lock(&ftraceTables.lock)
	kind := uint32(ftrace_format_TableFunc)
	if p.probes() {
		kind = ftrace_format_TableProbe
	} else if p.waits() {
		kind = ftrace_format_TableWait
	} else if p.spans() {
		kind = ftrace_format_TableSpan
	}
	for i := range p.Nfuncs {
		b := ftraceTableBegin(kind)
		if b == nil {
			break
		}
		f := p.fn(i)
		b.word(uint64(f.key))
		b.word(uint64(f.line))
		b.cString(p.Path)
		b.cString(p.Symbol)
		b.cString(f.name)
		b.cString(p.Files[f.file])
		b.cString(f.params)
		b.cString(p.Clause)
		ftraceTableEnd()
	}
	ftraceFlushTables()
	unlock(&ftraceTables.lock)
}

// ftraceDefineProcess says which program this is.
func ftraceDefineProcess() {
	args := ftraceArguments()
	lock(&ftraceTables.lock)
	if b := ftraceTableBegin(ftrace_format_TableProcess); b != nil {
		sec, nsec, now := time_now()
		b.word(uint64(ftracePid()))
		since := int64(0)
		if runtimeInitTime != 0 { // it may have started long ago
			since = now - runtimeInitTime
		}
		b.word(uint64(sec*1e9 + int64(nsec) - since))
		b.word(uint64(len(args)))
		b.cString(buildVersion)
		b.cString(GOOS)
		b.cString(GOARCH)
		b.cString(ftraceBinary)
		for _, arg := range args {
			b.cString(arg)
		}
		ftraceTableEnd()
	}
	ftraceFlushTables()
	unlock(&ftraceTables.lock)
}

// ftraceDefineTimer says which timer times are by from here on, and what the time is.
func ftraceDefineTimer() {
	lock(&ftraceTables.lock)
	if b := ftraceTableBegin(ftrace_format_TableTimer); b != nil {
		b.word(uint64(ftraceTimer))
		ftraceTableEnd()
		ftraceTables.started = nanotime()
	}
	unlock(&ftraceTables.lock)
	ftraceDefineClock()
}

// ftraceDefineClock says what the time is at the start or at an end.
func ftraceDefineClock() { ftraceTables.clock(ftrace_format_TableClock) }

// clock says what the time is.
func (tables *ftraceTablesState) clock(kind uint32) {
	lock(&tables.lock)
	if b := ftraceTableBegin(kind); b != nil {
		c := ftraceReadClock()
		atomic.Storeint64(&tables.due, c.Monotonic+max(c.Monotonic-tables.started, ftraceClockFirst))
		b.word(c.Ticks)
		b.word(uint64(c.Monotonic))
		b.word(uint64(c.Wall))
		ftraceTableEnd()
	}
	ftraceFlushTables()
	unlock(&tables.lock)
}

const ftraceClockFirst = 1e6 // ns from the first reading of the clocks to the second

// ftraceClockTick is called by sysmon each time it looks after the processors. It says what the
// time is whenever twice as much of it has passed: of a program that is killed readers learn from
// that how fast the timer goes.
//
//go:nowritebarrierrec
func ftraceClockTick(now int64) {
	if due := atomic.Loadint64(&ftraceTables.due); due != 0 && now >= due {
		ftraceTables.clock(ftrace_format_TableRunning)
	}
}

// ftraceDefineLost says at the end how many records were lost on a processor, since no packet
// follows that would.
func ftraceDefineLost(processor, records uint64) {
	lock(&ftraceTables.lock)
	if b := ftraceTableBegin(ftrace_format_TableLost); b != nil {
		b.word(processor)
		b.word(records)
		ftraceTableEnd()
	}
	ftraceFlushTables()
	unlock(&ftraceTables.lock)
}

// ftraceTableBegin begins a record of this kind. It returns nil if there is no file.
func ftraceTableBegin(kind uint32) *ftraceText {
	tables := &ftraceTables
	if tables.text == nil {
		return nil
	}
	b := tables.text
	if b.n > len(b.data)/4 { // a record is shorter than what is left
		ftraceFlushTables()
	}
	if b.n == 0 {
		b.n = int(unsafe.Sizeof(ftraceChunk{}))
	}
	tables.record = b.n
	b.word(ftraceTicks())
	b.word(uint64(kind)) // the size goes into the upper half
	return b
}

func ftraceTableEnd() {
	tables := &ftraceTables
	b := tables.text
	*(*uint32)(unsafe.Pointer(&b.data[tables.record+12])) = uint32(b.n - tables.record)
}

// ftraceFlushTables writes the finished records as a packet.
func ftraceFlushTables() {
	tables := &ftraceTables
	b := tables.text
	if b == nil || b.n == 0 {
		return
	}
	head := (*ftraceChunk)(unsafe.Pointer(&b.data))
	first := (*uint64)(add(unsafe.Pointer(head), unsafe.Sizeof(ftraceChunk{})))
	head.Magic, head.Stream, head.UUID, head.Begin = ftrace_format_PacketMagic, ftrace_format_TablesStream, ftraceRecording.uuid, *first
	head.Content, head.Size, head.Lost, head.Number, head.Processor = uint64(b.n)*8, uint64(b.n)*8, 0, tables.number, 0
	tables.number++
	ftraceKeepTables(unsafe.Pointer(&b.data), b.n)
	ftraceRecording.writeTables(unsafe.Pointer(&b.data), b.n)
	ftraceCopied.writeTables(unsafe.Pointer(&b.data), b.n)
	for i := range ftraceSessions {
		ftraceSessions[i].writeTables(unsafe.Pointer(&b.data), b.n)
	}
	b.n = 0
}

// writeTables writes packets to the recording's file, if there is one. The tables are locked.
func (s *ftraceStream) writeTables(p unsafe.Pointer, n int) {
	if s.tables == 0 || s.broken != 0 {
		return
	}
	if errno := ftraceWriteAt(s.tables, p, n, -1); errno != 0 {
		s.broken = errno
		s.fail(errno)
	}
}

// word appends a number.
//
//go:noinline
func (b *ftraceText) word(v uint64) {
	if b.n+8 <= len(b.data) {
		*(*uint64)(unsafe.Pointer(&b.data[b.n])) = v
		b.n += 8
	}
}

// cString appends text that ends in a zero byte. Only the beginning of very long text is kept.
//
//go:noinline
func (b *ftraceText) cString(s string) {
	const most = 512
	for i := range min(len(s), most) {
		b.byte(max(s[i], 1))
	}
	b.byte(0)
}

// define defines which values of a layout the paths lead to. The tables are locked.
func (paths *ftracePaths) define(l *ftraceLayout, own int) {
	b := ftraceTableBegin(ftrace_format_TableCaptured)
	if b == nil {
		return
	}
	b.word(uint64(l.id))
	b.word(uint64(int(l.n) - own))
	rest := paths.text
	for range int(l.n) - own {
		var path string
		_, path, _, rest = paths.next(rest, own)
		b.cString(path)
	}
	ftraceTableEnd()
}
