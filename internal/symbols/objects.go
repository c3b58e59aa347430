package symbols

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
)

// An Object is a lock or channel in the memory of a program, and what leads there.
type Object struct {
	Address uint64
	Chan    bool
	Elem    string   // type of a channel's elements, as reflect has it
	Steps   []Step   // from a package variable, or from a stack; empty: nothing leads there
	Calls   []string // functions that wait for it, the innermost first
}

// A Step is a word that has a pointer to something. It is in what the step before points to.
type Step struct {
	Word, Value uint64 // where it is, 0: on a stack; and what it is
	Size        uint64 // of the memory there, for one on a stack; a few bytes more than what is in it
}

// types are what the debugging information of an executable has of types.
type types struct {
	data      *dwarf.Data
	variables map[uint64]dwarf.Offset // by address, that of the type
	named     map[string]dwarf.Offset // types by name
	functions map[string]dwarf.Offset
	packages  map[string]string // the names of packages that have functions, by path
	statics   []static
	end       uint64 // of package variables
}

// A static is a word in the data of a program that points to other data: to what the compiler has
// laid out for a package variable that is a pointer, as in var s = &Store{}. That has no name.
type static struct{ word, value uint64 }

// Ahead begins to read what Object needs, and returns. Objects are then asked for soon.
func (t *Table) Ahead() {
	go func() {
		defer func() { recover() }() // as in Object
		t.readTypes()
	}()
}

func (t *Table) readTypes() {
	l := &t.types
	l.once.Do(func() { l.moved = t.read(func(f *executable) { l.table = readTypes(f) }) })
}

// Object returns the name of a lock or channel: that of the package variable that it is, or the
// innermost type around it that has a name, and the field, main.Store.mu. A channel that only calls
// know has the name of their variable: main.work.jobs. It returns "" if none is known. Types
// that do not fit together have no name: what was read of the program may have changed meanwhile.
func (t *Table) Object(o *Object) string {
	defer func() { recover() }() // debug/dwarf expects what compilers write
	l := &t.types
	t.readTypes()
	if l.table.data == nil { // without debugging information
		if len(o.Steps) == 0 {
			return t.Variable(o.Address)
		}
		return ""
	}
	for range nestMax {
		at := o.Address
		if len(o.Steps) > 0 {
			at = o.Steps[0].Word
		}
		v := l.table.static(at - l.moved)
		if named, _ := t.variable(at); v == nil || at == 0 || named.name != "" {
			break
		}
		whole := *o
		whole.Steps = append([]Step{{Word: v.word + l.moved, Value: v.value + l.moved}}, o.Steps...)
		o = &whole
	}
	switch {
	case len(o.Steps) == 0:
		if name, typ, at := t.typedVariable(o.Address); typ != nil && !o.Chan {
			return leaf(name, typ, at, o, false)
		}
	case o.Steps[0].Word != 0:
		first := &o.Steps[0]
		if name, typ, at := t.typedVariable(first.Word); typ != nil {
			if name = follow(name, typ, at, o, o.Steps, false); name != "" {
				return name
			}
		}
	case len(o.Steps) > 1 || !o.Chan:
		for _, call := range o.Calls {
			if name := l.table.knownTo(call, o); name != "" {
				return name
			}
		}
	}
	if o.Chan {
		for _, call := range o.Calls {
			if name := l.table.local(call, o.Elem); name != "" {
				return funcname.Short(call) + "." + escape.String(name)
			}
			if !strings.HasPrefix(call, "runtime.") {
				break
			}
		}
	}
	return ""
}

// follow returns the name of an object to which the pointer at an offset of a type leads, by those
// steps.
func follow(name string, typ dwarf.Type, at uint64, o *Object, steps []Step, typed bool) string {
	name, typ, at = descend(name, typ, at, false, typed)
	if o.Chan && len(steps) == 1 {
		if d, ok := typ.(*dwarf.TypedefType); ok && at == 0 && isChan(d.Name) {
			return escape.String(name)
		}
		return ""
	}
	if d, ok := typ.(*dwarf.TypedefType); ok && !isChan(d.Name) {
		typ = d.Type
	}
	p, ok := typ.(*dwarf.PtrType)
	if !ok || at != 0 {
		return ""
	}
	return beyond(name, p.Type, o, steps)
}

// beyond is follow for a pointer to typ, which has that name.
func beyond(name string, typ dwarf.Type, o *Object, steps []Step) string {
	to := o.Address
	if len(steps) > 1 {
		to = steps[1].Word
	}
	at := to - steps[0].Value
	if size := uint64(typ.Size()); strings.HasSuffix(name, "[]") && size > 0 { // the array of a slice
		at %= size
	}
	if len(steps) > 1 {
		return follow(name, typ, at, o, steps[1:], true)
	}
	return leaf(name, typ, at, o, true)
}

// leaf returns the name of the lock at an offset of a type.
func leaf(name string, typ dwarf.Type, at uint64, o *Object, typed bool) string {
	name, typ, _ = descend(name, typ, at, true, typed)
	if !o.Chan && isLock(typ) {
		return escape.String(name)
	}
	return ""
}

const nestMax = 32 // structs and arrays in one another

// descend returns what is at an offset of a type that is no struct or array, or is a lock, and
// where in that. If typed is set its name begins with the innermost type that has one.
func descend(name string, typ dwarf.Type, at uint64, locks, typed bool) (string, dwarf.Type, uint64) {
	for range nestMax {
		if size := typ.Size(); size < 0 || at >= uint64(size) {
			return "", &dwarf.VoidType{}, 0
		}
		switch t := typ.(type) {
		case *dwarf.TypedefType:
			if isChan(t.Name) {
				return name, t, at
			}
			typ = t.Type
		case *dwarf.ArrayType:
			if t.Type.Size() <= 0 {
				return "", &dwarf.VoidType{}, 0
			}
			name += "[]"
			typ, at = t.Type, at%uint64(t.Type.Size())
		case *dwarf.StructType:
			if locks && isLock(t) {
				return name, t, at
			}
			if typed && isNamed(t.StructName) {
				name = Plain(t.StructName)
			}
			var field *dwarf.StructField
			for _, f := range t.Field {
				if uint64(f.ByteOffset) <= at && at-uint64(f.ByteOffset) < uint64(max(f.Type.Size(), 0)) {
					field = f
				}
			}
			if field == nil {
				return "", &dwarf.VoidType{}, 0
			}
			if strings.HasPrefix(t.StructName, "[]") {
				name += "[]"
			} else {
				name += "." + field.Name
			}
			typ, at = field.Type, at-uint64(field.ByteOffset)
		default:
			return name, typ, at
		}
	}
	return "", &dwarf.VoidType{}, 0
}

// isNamed reports whether a struct's name is not what the compiler makes of its fields.
func isNamed(name string) bool {
	return strings.Contains(name, ".") && !strings.HasPrefix(name, "[") && !strings.HasPrefix(name, "map.") && !strings.HasPrefix(name, "noalg.") && !strings.Contains(name, "{")
}

func isChan(name string) bool {
	return strings.HasPrefix(name, "chan ") || strings.HasPrefix(name, "<-chan ") || strings.HasPrefix(name, "chan<- ")
}

func isLock(typ dwarf.Type) bool {
	s, ok := typ.(*dwarf.StructType)
	return ok && strings.HasPrefix(s.StructName, "sync.")
}

// receiver returns the type of a method's receiver, which is a pointer, "" for other functions:
// main.Store for main.(*Store).flush.
func receiver(function string) string {
	pkg, rest, ok := strings.Cut(function, ".(*")
	name, _, method := strings.Cut(rest, ").")
	if !ok || !method || strings.HasPrefix(pkg, "sync") || strings.Contains(name, "[") {
		return ""
	}
	return pkg + "." + name
}

func (t *types) typ(at dwarf.Offset) dwarf.Type {
	typ, err := t.data.Type(at)
	if err != nil {
		return nil
	}
	return typ
}

func (t *types) byName(name string) dwarf.Type {
	if at, ok := t.named[name]; ok && name != "" {
		return t.typ(at)
	}
	return nil
}

// typedVariable returns the package variable that an address is in, its type, and where in it; nil
// if there is none.
func (t *Table) typedVariable(address uint64) (name string, typ dwarf.Type, at uint64) {
	v, at := t.variable(address)
	if offset, ok := t.types.table.variables[v.at]; ok && v.name != "" {
		return v.name, t.types.table.typ(offset), at
	}
	return "", nil, 0
}

// knownTo returns the name of an object that a stack leads to, if a function's receiver, or else
// one of its other variables, points to a type whose values have the size of the memory there, and
// such an object where this one is. If variables of several types do, there is no name.
func (t *types) knownTo(function string, o *Object) (name string) {
	in := func(typ dwarf.Type) string {
		if size := o.Steps[0].Size; typ == nil || size < uint64(typ.Size()) || size > uint64(typ.Size())*5/4+16 {
			return ""
		}
		return beyond("", typ, o, o.Steps)
	}
	if name = in(t.byName(receiver(function))); name != "" || strings.HasPrefix(function, "sync.") || strings.HasPrefix(function, "internal/sync.") || strings.HasPrefix(function, "runtime.") {
		return name
	}
	for _, typ := range t.locals(function) {
		p, ok := typ.(*dwarf.PtrType)
		if !ok {
			continue
		}
		switch found := in(p.Type); {
		case name == "":
			name = found
		case found != "" && found != name:
			return ""
		}
	}
	return name
}

// local returns the name of the only variable of a function that is a channel of such elements, or
// "".
func (t *types) local(function, elem string) (name string) {
	if elem == "" {
		return ""
	}
	for found, typ := range t.locals(function) {
		d, ok := typ.(*dwarf.TypedefType)
		if !ok || !isChan(d.Name) || !t.sameType(d.Name[strings.Index(d.Name, "chan")+4:], elem) {
			continue
		}
		if name != "" && name != found {
			return ""
		}
		name = found
	}
	return name
}

// locals yields the parameters, results and other variables of a function, and their types.
func (t *types) locals(function string) iter.Seq2[string, dwarf.Type] {
	return func(yield func(string, dwarf.Type) bool) { t.eachLocal(function, yield) }
}

func (t *types) eachLocal(function string, yield func(string, dwarf.Type) bool) {
	at, ok := t.functions[function]
	if !ok {
		return
	}
	r := t.data.Reader()
	r.Seek(at)
	if e, err := r.Next(); err != nil || e == nil || !e.Children {
		return
	}
	for depth := 0; ; {
		e, err := r.Next()
		switch {
		case err != nil || e == nil:
			return
		case e.Tag == 0:
			if depth--; depth < 0 {
				return
			}
			continue
		case e.Tag == dwarf.TagInlinedSubroutine:
			r.SkipChildren()
			continue
		case e.Children:
			depth++
		}
		if e.Tag != dwarf.TagFormalParameter && e.Tag != dwarf.TagVariable {
			continue
		}
		if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
			at := t.data.Reader()
			at.Seek(origin)
			if e, err = at.Next(); err != nil || e == nil {
				continue
			}
		}
		offset, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		if !ok {
			continue
		}
		if name, _ := e.Val(dwarf.AttrName).(string); !yield(name, t.typ(offset)) {
			return
		}
	}
}

// sameType reports whether a type's name in debugging information, after "chan", is one that
// reflect shortens to that.
func (t *types) sameType(full, short string) bool {
	full = strings.TrimSpace(strings.TrimPrefix(full, "<-"))
	if strings.ContainsAny(full, "[{( ") {
		return full == short
	}
	name := strings.TrimLeft(full, "*")
	pkg, local := funcname.Split(name)
	if local == "" {
		return full == short
	}
	clause := t.packages[strings.ReplaceAll(pkg, "%2e", ".")]
	if clause == "" { // that of a package without functions is not known
		clause, _ = funcname.Split(strings.TrimLeft(short, "*"))
	}
	return full[:len(full)-len(name)]+clause+"."+local == short
}

// attrPackageName is DW_AT_go_package_name: cmd/internal/dwarf has it.
const attrPackageName dwarf.Attr = 0x2905

// readTypes reads which types variables have, and where types and functions are.
func readTypes(f *executable) types {
	data, err := f.dwarf()
	if err != nil {
		return types{}
	}
	t := types{data, map[uint64]dwarf.Offset{}, map[string]dwarf.Offset{}, map[string]dwarf.Offset{}, map[string]string{}, nil, 0}
	t.readStatics(f)
	for r := data.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			return t
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		switch e.Tag {
		case dwarf.TagCompileUnit:
			t.packages[name], _ = e.Val(attrPackageName).(string)
			continue
		case dwarf.TagStructType, dwarf.TagTypedef:
			t.named[Plain(name)] = e.Offset
		case dwarf.TagSubprogram:
			if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
				at := data.Reader()
				at.Seek(origin)
				if of, err := at.Next(); err == nil && of != nil {
					name, _ = of.Val(dwarf.AttrName).(string)
				}
			}
			if name != "" {
				t.functions[Plain(name)] = e.Offset
			}
		case dwarf.TagVariable:
			location, _ := e.Val(dwarf.AttrLocation).([]byte)
			typ, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
			if ok && len(location) == 9 && location[0] == 3 { // DW_OP_addr
				t.variables[binary.LittleEndian.Uint64(location[1:])] = typ
			}
		}
		if e.Children {
			r.SkipChildren()
		}
	}
}

// static returns the static that points to an address, or most closely before it, or nil.
func (t *types) static(address uint64) *static {
	i, found := slices.BinarySearchFunc(t.statics, address, func(s static, at uint64) int { return cmp.Compare(s.value, at) })
	if !found {
		i--
	}
	if i < 0 || address >= t.end {
		return nil
	}
	return &t.statics[i]
}

// readStatics reads those of an executable, by what they point to.
func (t *types) readStatics(f *executable) {
	var list []static
	first := uint64(0)
	for _, s := range f.written {
		if first == 0 {
			first = s.at
		}
		t.end = max(t.end, s.at+s.size)
	}
	at, content := f.data()
	for ; len(content) >= 8; at, content = at+8, content[8:] {
		if value := binary.LittleEndian.Uint64(content); first <= value && value < t.end {
			list = append(list, static{at, value})
		}
	}
	slices.SortStableFunc(list, func(a, b static) int { return cmp.Compare(a.value, b.value) })
	t.statics = slices.CompactFunc(list, func(a, b static) bool { return a.value == b.value })
}
