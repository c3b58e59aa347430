package rewrite

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// TableVersion is the version of the layout that register writes and runtime/core reads. Both must change together; the core
// refuses a table of another version.
const TableVersion = 3

// registerText is the file that gives a package its table of functions. It is the first that the compiler sees, and the
// variable at its end the first whose initialiser runs, so that calls made by the package's own initialisers are traced.
// The layouts of func and pkg are those of ftraceFunc and ftracePkg in runtime/core/src/ftrace.go.
const registerText = `package %[2]s

import "unsafe"

type %[1]sfunc struct {
	hook   *interface{}
	line   uint32
	file   uint32
	name   string
	params string
	count  uintptr
	mocks  unsafe.Pointer
	core   [5]uint64
}

type %[1]spkg struct {
	version uintptr
	path    string
	symbol  string
	files   []string
	funcs   unsafe.Pointer
	nfuncs  uintptr
	next    unsafe.Pointer
}

//go:linkname %[1]sregister runtime.ftrace_register
func %[1]sregister(p *%[1]spkg) uintptr

//go:linkname %[1]senter runtime.ftrace_enter
//go:noescape
func %[1]senter(hook interface{}, params ...interface{}) int

//go:linkname %[1]sexit runtime.ftrace_exit
//go:noescape
func %[1]sexit(token int, results ...interface{})

var %[1]snever bool

`

// register returns the source of the registering file.
func (p *pkg) register() []byte {
	var b strings.Builder
	x := p.prefix
	fmt.Fprintf(&b, registerText, x, p.files[0].tree.Name.Name)
	for _, n := range slices.Sorted(maps.Keys(p.arities)) {
		fmt.Fprintf(&b, "var %sx%d map[[%d]interface{}]struct{}\n\n", x, n, n)
	}
	var table strings.Builder
	b.WriteString("// The hooks: nil, or what the core is to be called with.\nvar (\n")
	for _, fn := range p.funcs {
		if fn.How != Skipped {
			hook := p.hookName(fn.index)
			fmt.Fprintf(&b, "\t%s interface{}\n", hook)
			fmt.Fprintf(&table, "\t%d: {hook: &%s, line: %d, file: %d, name: %s, params: %s},\n",
				fn.index, hook, fn.Line, fn.file, strconv.Quote(fn.Name), strconv.Quote(fn.params))
		}
	}
	fmt.Fprintf(&b, ")\n\nvar %st = [...]%sfunc{\n%s}\n\nvar %sfiles = [...]string{\n", x, x, table.String(), x)
	for _, name := range p.fileNames {
		fmt.Fprintf(&b, "\t%s,\n", strconv.Quote(name))
	}
	fmt.Fprintf(&b, "}\n\nvar %spackage = %spkg{version: %d, path: %s, symbol: %s, files: %sfiles[:], funcs: unsafe.Pointer(&%st), nfuncs: %d}\n\nvar _ = %sregister(&%spackage)\n",
		x, x, TableVersion, strconv.Quote(p.opt.ImportPath), strconv.Quote(p.opt.Symbol), x, x, p.hooked, x, x)
	return []byte(b.String())
}
