package recording

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/symbols"
)

// A Function is a function that had a hook in the recorded program, or a static probe.
type Function struct {
	Key        uint32
	Probe      bool // it is a probe: Package is its provider, File and Line are where it was declared
	Wait       bool // it is a kind of waits: Name is what follows wait/
	Span       bool // it is a kind of spans: Package is statement or stage, Name what follows
	Line       int
	ImportPath string
	Package    string // what precedes the name in stack traces: the import path, or main
	Clause     string // the name in the package clause, "" if it is not known
	Name       string
	File       string
	Params     []Param
	Results    []Param
	Type       string // as far as the source shows it: func(*T,net/http.Header)(int,error); "" if it is not known
	pkg        *shownPackage
}

// A shownPackage is a package with the name by which traces show it.
type shownPackage struct {
	path, clause, label string
}

// showPackage returns the package of a function. Packages whose clauses have the same name are
// shown by as much of their paths as tells them apart.
func (r *Recording) showPackage(f *Function) *shownPackage {
	if p := r.packages[f.Package]; p != nil {
		return p
	}
	p := &shownPackage{path: f.ImportPath, clause: f.Clause, label: f.Clause}
	if f.Clause == "" || f.Package == "main" {
		p.clause, p.label = "", f.Package[strings.LastIndexByte(f.Package, '/')+1:]
	}
	for _, other := range r.packages {
		if p.clause != "" && other.clause == p.clause {
			p.lengthen(other)
			other.lengthen(p)
		}
	}
	if r.packages == nil {
		r.packages = map[string]*shownPackage{}
	}
	r.packages[f.Package] = p
	return p
}

// lengthen has p shown by an end of its path that other's does not have.
func (p *shownPackage) lengthen(other *shownPackage) {
	end := p.path
	for from := len(p.path); from > 0; {
		from = strings.LastIndexByte(p.path[:from], '/')
		if end = p.path[from+1:]; !strings.HasSuffix("/"+other.path, "/"+end) {
			break
		}
	}
	if p.label == p.clause || len(end) > len(p.label) {
		p.label = end
	}
}

// FullName returns the name as stack traces have it. That of a probe is provider:::name, that of a
// kind of waits wait/NAME, that of a kind of spans statement/NAME or stage/NAME.
func (f *Function) FullName() string {
	switch {
	case f.Probe:
		return f.Package + ":::" + f.Name
	case f.Wait, f.Span:
		return f.Package + "/" + f.Name
	}
	return f.Package + "." + f.Name
}

// ShortName returns the name as traces have it: with the package's name in place of its path.
func (f *Function) ShortName() string {
	if f.Probe || f.Wait || f.Span {
		return f.FullName()
	}
	return f.PackageName() + "." + f.Name
}

// PackageName returns the package's name as traces have it.
func (f *Function) PackageName() string {
	if f.pkg != nil {
		return f.pkg.label
	}
	return f.Package[strings.LastIndexByte(f.Package, '/')+1:]
}

// A Site is a place in the program where goroutines stop.
type Site struct {
	Line     int
	Function string // full name
	File     string
}

// Site returns the site with this number, or nil.
func (r *Recording) Site(number uint32) *Site {
	if int(number) < len(r.sites) {
		return r.sites[number]
	}
	return nil
}

// File returns the name of the file that is the object of a wait, a path or what the ends of a
// socket are, or "".
func (r *Recording) File(object uint64) string {
	if number := object >> format.ObjectFile; number < uint64(len(r.files)) && r.files[number] != nil {
		return *r.files[number]
	}
	return ""
}

// Keepers returns the addresses of words that led to a channel for which goroutines waited.
func (r *Recording) Keepers(channel uint64) []uint64 { return r.channels[channel] }

// A Param is a parameter or result.
type Param struct {
	Name      string // "" if it has none
	Interface bool   // its static type is an interface
	Unless    string // its static type is an interface, unless this is the name of the value's type
}

// dynamic reports whether the type of a value is worth showing.
func (p *Param) dynamic(t *Type) bool {
	return p.Interface || p.Unless != "" && t != nil && t.short != p.Unless
}

// A Type is the type of recorded values.
type Type struct {
	Kind   reflect.Kind
	Named  bool
	Error  bool // its values are errors
	Wraps  bool // it has the method Unwrap
	Secret bool // its values are hidden: nothing was recorded of them
	Text   bool // its values were recorded as text, after the address if they are pointers
	Size   uint64
	Len    uint64 // of an array
	Elem   uint32 // number of the type of elements, or of the struct that it points to; 0: there is none
	Name   string
	Fields []Field
	Names  map[int64]string // of an integer type: the names of constants
	short  string           // the name without package and type arguments
}

// A Field is a field of a struct.
type Field struct {
	Type uint32
	Name string
}

// A Layout has the types of the values in a record.
type Layout struct {
	Deep    bool // what pointers to structs point to is recorded too
	Nested  bool // and what is nested in that, and what other pointers point to
	Panic   bool // the value is that of a panic
	Dynamic bool // each value has its type in front
	Types   []uint32

	index    int      // among all layouts
	Captured []string // paths that capture= named; the last values are what they lead to
}

// Function returns the function with this key, never nil. For one that the tables do not have it
// returns a stand-in called #KEY.
func (r *Recording) Function(key uint32) *Function {
	if uint64(key) < uint64(len(r.funcs)) && r.funcs[key] != nil {
		return r.funcs[key]
	}
	return &Function{Key: key, Package: "?", ImportPath: "?", Name: fmt.Sprintf("#%d", key)}
}

// Functions returns all functions in the tables, in the order of their keys.
func (r *Recording) Functions() []*Function {
	list := make([]*Function, 0, len(r.funcs))
	for _, f := range r.funcs {
		if f != nil {
			list = append(list, f)
		}
	}
	return list
}

// Keys returns a number that is larger than the keys of all functions.
func (r *Recording) Keys() int { return len(r.funcs) }

func (r *Recording) typ(n uint32) *Type {
	if uint64(n) < uint64(len(r.types)) {
		return r.types[n]
	}
	return nil
}

// layout returns a layout, or nil. In a recording that is still being written it may be new.
func (r *Recording) layout(n uint32) *Layout {
	list := r.layouts
	if n&format.LayoutImplied != 0 {
		list, n = r.implied[n&1], n&^format.LayoutImplied>>1
	}
	if uint64(n) < uint64(len(list)) {
		return list[n]
	}
	return nil
}

const (
	functionsMax = 1 << 22
	typesMax     = 1 << 16
	layoutsMax   = 1 << 20

	processorsMax = 1 << 16
	codesMax      = 1 << 16
	channelsMax   = 1 << 16
	sitesMax      = 1 << 16
	filesMax      = 1 << 16
)

// tableReader reads the tables, and later what was added to them.
type tableReader struct {
	r    *Recording
	done int64 // offset after the last whole packet
}

const tablePacketMax = 64 << 20

// read reads packets from where it stopped. It reads only whole ones.
func (t *tableReader) read(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	var head [packetHead]byte
	for t.done+packetHead <= size {
		if _, err := f.ReadAt(head[:], t.done); err != nil {
			return fmt.Errorf("%s: %v", f.Name(), err)
		}
		p, what := parsePacket(head[:], format.TablesStream, t.r.Env.UUID)
		switch {
		case what != "":
		case p.size > tablePacketMax:
			what = fmt.Sprintf("a packet of %d bytes", p.size)
		case t.done+int64(p.size) > size:
			return nil // being written, or cut off: see checkTables
		}
		if what != "" {
			from := t.done
			t.done = nextPacket(f, format.TablesStream, t.r.Env.UUID, from+1, size)
			t.r.damaged(Damage{"tables", from, t.done - from, what})
			continue
		}
		data := make([]byte, p.size)
		if _, err := f.ReadAt(data, t.done); err != nil && err != io.EOF {
			return fmt.Errorf("%s: %v", f.Name(), err)
		}
		if at, what := t.r.parseTables(data[packetHead:p.content]); what != "" {
			t.r.damaged(Damage{"tables", t.done + packetHead + int64(at), int64(p.content) - packetHead - int64(at), what})
		}
		t.done += int64(p.size)
	}
	return nil
}

// nextPacket returns the first offset, from at on, where something looks like the beginning of a
// packet of the stream, or the file's size.
func nextPacket(f *os.File, stream uint32, uuid [16]byte, at, size int64) int64 {
	magic := append(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, format.PacketMagic), stream), uuid[:]...)
	buf := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(buf, at)
		if i := bytes.Index(buf[:n], magic); i >= 0 {
			return at + int64(i)
		}
		if err != nil || n < len(magic) {
			return size
		}
		at += int64(n - len(magic) + 1)
	}
}

// checkTables notes that the tables are missing or empty, or that their last packet is not whole.
// While the program runs that is no damage.
func (r *Recording) checkTables() {
	const without = ": functions have numbers in place of names, values and the time of day are not known"
	info, err := os.Stat(r.Dir + "/tables")
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.Dir != "":
		r.damaged(Damage{"tables", 0, 0, "there is no such file" + without})
	case err != nil:
	case info.Size() == 0:
		r.damaged(Damage{"tables", 0, 0, "the file is empty" + without})
	case info.Size() > r.tables.done:
		r.damaged(Damage{"tables", r.tables.done, info.Size() - r.tables.done, "the file ends within a packet"})
	}
}

// parseTables reads the records of a packet. It returns where it had to stop, and why.
func (r *Recording) parseTables(data []byte) (stopped int, what string) {
	for at := 0; at < len(data); {
		if len(data)-at < tableHead {
			return at, "the packet ends within a record"
		}
		kind, size := le32(data[at+tableKindAt:]), int(le32(data[at+tableSizeAt:]))
		if size < tableHead || size > len(data)-at {
			return at, fmt.Sprintf("a record of %d bytes", size)
		}
		d := decoder{data: data[at+tableHead : at+size]}
		r.tableRecord(kind, &d)
		if d.failed {
			return at, fmt.Sprintf("a record of kind %d that does not hold what it should", kind)
		}
		at += size
	}
	return len(data), ""
}

// tableRecord reads a record. Unknown kinds belong to later versions.
func (r *Recording) tableRecord(kind uint32, d *decoder) {
	switch kind {
	case format.TableProcess:
		p := Process{PID: int(d.word()), Start: time.Unix(0, int64(d.word()))}
		n := d.word()
		p.Release, p.GOOS, p.GOARCH, p.Executable = d.text(), d.text(), d.text(), d.text()
		for ; n > 0 && !d.failed; n-- {
			p.Args = append(p.Args, d.text())
		}
		if !d.failed {
			r.Process = p
		}
	case format.TableClock, format.TableRunning:
		c := Clock{Ticks: d.word(), Monotonic: int64(d.word()), Wall: int64(d.word())}
		switch {
		case d.failed:
		case kind == format.TableRunning:
			r.running = c
		default:
			r.addClock(c)
		}
	case format.TableFunc, format.TableProbe, format.TableWait, format.TableSpan:
		key := d.word()
		f := &Function{Key: uint32(key), Probe: kind == format.TableProbe, Wait: kind == format.TableWait, Span: kind == format.TableSpan, Line: int(uint32(d.word())), ImportPath: d.text(), Package: d.text(), Name: d.text(), File: d.text()}
		f.Params, f.Results, f.Type = parseNames(d.text())
		if len(d.data) > 0 { // those of earlier versions do not have it
			f.Clause = d.text()
		}
		if kind == format.TableFunc && !d.failed {
			f.pkg = r.showPackage(f)
		}
		put(&r.funcs, key, functionsMax, f, d)
	case format.TableType:
		n, kind, flags := d.word(), d.word(), d.word()
		t := &Type{Kind: reflect.Kind(min(kind, 31)), Named: flags&format.TypeNamed != 0, Error: flags&format.TypeError != 0, Wraps: flags&format.TypeWraps != 0, Secret: flags&format.TypeSecret != 0, Text: flags&format.TypeText != 0, Size: d.word(), Len: d.word(), Elem: uint32(d.word())}
		fields := d.word()
		t.Name = d.text()
		for ; fields > 0 && !d.failed; fields-- {
			value, name := d.word(), d.text()
			if t.Kind >= reflect.Int && t.Kind <= reflect.Uintptr {
				if t.Names == nil {
					t.Names = map[int64]string{}
				}
				t.Names[int64(value)] = name
			} else {
				t.Fields = append(t.Fields, Field{uint32(value), name})
			}
		}
		if t.Secret { // its values have no bytes, whatever else the record says
			t.Kind, t.Len, t.Elem, t.Fields = reflect.Struct, 0, 0, nil
		}
		t.short = shortTypeName(t.Name)
		put(&r.types, n, typesMax, t, d)
	case format.TableLayout:
		n, flags, values := d.word(), d.word(), d.word()
		l := &Layout{Deep: flags&format.LayoutDeep != 0, Nested: flags&format.LayoutNested != 0, Panic: flags&format.LayoutPanic != 0, Dynamic: flags&format.LayoutDynamic != 0}
		for ; values > 0 && !d.failed; values-- {
			l.Types = append(l.Types, uint32(d.word()))
		}
		if n&format.LayoutImplied != 0 {
			put(&r.implied[n&1], n&^format.LayoutImplied>>1, functionsMax, l, d)
		} else {
			put(&r.layouts, n, layoutsMax, l, d)
		}
		l.index = r.defined
		r.defined++
	case format.TableCaptured:
		l := r.layout(uint32(d.word()))
		var paths []string
		for n := d.word(); n > 0 && !d.failed; n-- {
			paths = append(paths, d.text())
		}
		if d.failed = d.failed || l == nil || len(paths) > len(l.Types); !d.failed {
			l.Captured = paths
		}
	case format.TableLost:
		processor, records := d.word(), d.word()
		if !d.failed && processor < processorsMax {
			r.lost[int(processor)] = records
		}
	case format.TableTimer:
		if n := d.word(); !d.failed {
			r.Timer = int(n & 0xFFFF)
			r.clocks, r.running = r.clocks[:0], Clock{}
		}
	case format.TableSite:
		n := d.word()
		put(&r.sites, n, sitesMax, &Site{Line: int(uint32(d.word())), Function: d.symbol(), File: d.text()}, d)
	case format.TableFile:
		n, name := d.word(), d.text()
		put(&r.files, n, filesMax, &name, d)
	case format.TableChannel:
		channel, word := d.word(), d.word()
		if !d.failed && len(r.channels) < channelsMax && !slices.Contains(r.channels[channel], word) {
			r.channels[channel] = append(r.channels[channel], word)
		}
	case format.TableCode:
		address, name := d.word(), d.symbol()
		if !d.failed && len(r.codes) < codesMax {
			r.codes[address] = name
		}
	}
}

// put puts v at its number.
func put[T any](list *[]*T, number uint64, most int, v *T, d *decoder) {
	if number == 0 || number >= uint64(most) {
		d.failed = true
	}
	if d.failed {
		return
	}
	for uint64(len(*list)) <= number {
		*list = append(*list, nil)
	}
	(*list)[number] = v
}

// shortTypeName returns the name without package and type arguments.
func shortTypeName(s string) string {
	if i := strings.IndexByte(s, '['); i > 0 {
		s = s[:i]
	}
	return s[strings.LastIndexByte(s, '.')+1:]
}

// parseNames reads the names of parameters and results: "p1,p2;r1,r2;TYPE". The type of a generic
// function may begin with what package mock needs to know of it: "+" or "++".
func parseNames(s string) (params, results []Param, typ string) {
	p, rest, _ := strings.Cut(s, ";")
	q, typ, _ := strings.Cut(rest, ";")
	return parseParams(p), parseParams(q), strings.TrimLeft(typ, "+")
}

func parseParams(s string) []Param {
	if s == "" {
		return nil
	}
	var list []Param
	for name := range strings.SplitSeq(s, ",") {
		p := Param{Name: name}
		if i := strings.IndexAny(name, "!:"); i >= 0 {
			p = Param{Name: name[:i], Interface: name[i] == '!'}
			if !p.Interface {
				p.Unless = name[i+1:]
			}
		}
		list = append(list, p)
	}
	return list
}

// decoder reads numbers and texts from data.
type decoder struct {
	data   []byte
	failed bool // the data ended
}

func (d *decoder) word() uint64 {
	if len(d.data) < 8 {
		d.failed = true
		return 0
	}
	v := le64(d.data)
	d.data = d.data[8:]
	return v
}

// text returns the next text. All texts are names and the like, which the program chose. What can't
// be shown as it is, line ends included, is escaped here, so that nothing made from a recording has
// it.
func (d *decoder) text() string { return escape.String(d.cString()) }

// symbol is text for a name that the compiler has escaped.
func (d *decoder) symbol() string { return escape.String(symbols.Plain(d.cString())) }

func (d *decoder) cString() string {
	i := bytes.IndexByte(d.data, 0)
	if i < 0 {
		d.failed = true
		return ""
	}
	s := string(d.data[:i])
	d.data = d.data[i+1:]
	return s
}
