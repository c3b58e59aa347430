package rewrite

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// TableVersion is the version of the layout that register writes and internal/guest reads. Both
// must change together; the core refuses a table of another version.
const TableVersion = 6

// tableEntry is the core's ftraceFunc: a pointer, and words that Go's garbage collector does not
// see as pointers.
const tableEntry = "struct{mocks unsafe.Pointer; core [17]uint64}"

// registerText is the file that gives a package its table of functions. The compiler sees it first.
// Its last variable is the first whose initialiser runs, so that calls made by the package's own
// initialisers are traced.
//
// The layout of pkg is that of ftracePkg in internal/guest/state/function.go. The table itself
// belongs to the core. It is filled in, from the text, only once something is armed: until then it
// takes no memory.
const registerText = `//line ftrace-wrap/register.go:1
package %[2]s

import "unsafe"

//go:linkname %[1]sregister runtime.ftrace_register
func %[1]sregister(p *%[1]spkg) uintptr

//go:linkname %[1]senter runtime.ftrace_enter
//go:noescape
func %[1]senter(hook interface{}, params ...interface{}) int

//go:linkname %[1]sexit runtime.ftrace_exit
//go:noescape
func %[1]sexit(token int, results ...interface{})

//go:linkname %[1]she runtime.ftrace_he
//go:noescape
func %[1]she(hook *interface{}, result interface{}, values ...interface{}) bool

//go:linkname %[1]shx runtime.ftrace_hx
//go:noescape
func %[1]shx(hook *interface{}, values ...interface{})

//go:linkname %[1]shenter runtime.ftrace_henter
//go:noescape
func %[1]shenter(hook interface{}, params ...interface{}) int

type %[1]spkg struct {
	version uintptr
	path    string
	symbol  string
	files   []string
	funcs   string
	nfuncs  uintptr
	hooks   unsafe.Pointer
	table   unsafe.Pointer
	next    unsafe.Pointer
	before  uint32
	defined bool
}

var %[1]snever bool

`

// register returns the source of the registering file.
func (p *pkg) register() []byte {
	var b strings.Builder
	x := p.prefix
	fmt.Fprintf(&b, registerText, x, p.files[0].tree.Name.Name)
	for _, call := range slices.Sorted(maps.Keys(p.calls)) {
		params, result := "hook *interface{}", ""
		if call[0] == 'e' {
			params, result = params+", result interface{}", " bool"
		}
		if arity := call[1:]; arity == "n" {
			params += ", values ...interface{}"
		} else {
			for i := range arity[0] - '0' {
				params += fmt.Sprintf(", v%d interface{}", i)
			}
		}
		fmt.Fprintf(&b, "//go:linkname %[1]s%[2]s runtime.ftrace_%[2]s\n//go:noescape\nfunc %[1]s%[2]s(%[3]s)%[4]s\n\n", x, call, params, result)
	}
	fmt.Fprintf(&b, "// The hooks: nil, or what the core is to be called with.\nvar %sf struct {\n", x)
	for i := range p.hooked {
		fmt.Fprintf(&b, "\th%d interface{}\n", i)
	}
	b.WriteString("}\n\n")
	fmt.Fprintf(&b, "// The functions: line, file, name, parameters and results.\nconst %sfuncs = `", x)
	for _, fn := range p.funcs {
		if fn.How != Skipped {
			fmt.Fprintf(&b, "%d %d %s %s\n", fn.Line, fn.file, fn.Name, fn.params)
		}
	}
	fmt.Fprintf(&b, "`\n\nvar %st [%d]%s\n\nvar %sfiles = [...]string{\n", x, p.hooked, tableEntry, x)
	for _, name := range p.fileNames {
		fmt.Fprintf(&b, "\t%s,\n", strconv.Quote(name))
	}
	fmt.Fprintf(&b, `}

var %[1]spackage = %[1]spkg{version: %[2]d, path: %[3]q, symbol: %[4]q, files: %[1]sfiles[:], funcs: %[1]sfuncs, nfuncs: %[5]d, hooks: unsafe.Pointer(&%[1]sf), table: unsafe.Pointer(&%[1]st)}

var _ = %[1]sregister(&%[1]spackage)
`, x, TableVersion, p.opt.ImportPath, p.opt.Symbol, p.hooked)
	return []byte(b.String())
}
