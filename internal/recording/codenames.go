package recording

import (
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/funcname"
)

// codeName returns the name of the function whose code begins at an address, as a trace shows it,
// or "" if the recording does not have it.
func (r *Recording) codeName(address uint64) string {
	name, types, generic := strings.Cut(r.codes[address], "[")
	if pkg, function := funcname.Split(name); r.packages[pkg] != nil && function != "" {
		name = r.packages[pkg].label + "." + function
	} else {
		name = funcname.Short(name)
	}
	if generic {
		name += "[..." + types[max(0, strings.LastIndexByte(types, ']')):]
	}
	return name
}

// code appends the name of a function value.
func (p *Printer) code(address uint64) {
	if p.quiet != 0 {
		return
	}
	if address == 0 {
		p.str("nil")
		return
	}
	if name := p.r.codeName(address); name != "" {
		p.str(name)
		return
	}
	p.hex(address)
}
