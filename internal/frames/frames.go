// Package frames compares the stack frames of functions that were compiled in two ways.
//
// It reads the assembly that the compiler lists (-gcflags=-S), which names each function with the
// size of its frame, whether or not the function is linked into a program. The names are those of
// the linker's symbols, so an instance of a generic function, or a literal, is compared with
// itself.
package frames

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A Frame is one function's stack frame.
type Frame struct {
	Size  int            // in bytes, with the return address and the saved frame pointer
	slots map[string]int // how many places of the frame each variable has
}

var (
	header = words.Regexp(`^(\S.*) STEXT .*?size=\d+ args=0x[0-9a-f]+ locals=0x([0-9a-f]+)`)
	slot   = words.Regexp(`([^\s,()]+?)([+-]\d+)\(SP\)`)
)

// Read reads listings of assembly, of amd64 or arm64, and returns the frames by package and
// function.
func Read(r io.Reader) (map[string]Frame, error) {
	found := map[string]Frame{}
	pkg, name, seen := "", "", map[string]bool{}
	in := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := in.ReadString('\n')
		switch {
		case strings.HasPrefix(line, "# "):
			pkg = strings.TrimSpace(line[2:])
		case strings.Contains(line, " STEXT "):
			m := header().FindStringSubmatch(line)
			if m == nil {
				return nil, fmt.Errorf("reading the compiler's assembly: no frame size in %q; is it another release's?", line)
			}
			locals, err := strconv.ParseInt(m[2], 16, 64)
			if err != nil {
				return nil, fmt.Errorf("reading the compiler's assembly: frame size in %q: %v", line, err)
			}
			size := 8
			if locals > 0 {
				size = int(locals) + 16
			}
			name = pkg + " " + m[1]
			found[name] = Frame{size, map[string]int{}}
			clear(seen)
		case name != "" && strings.Contains(line, "(SP)"):
			for _, m := range slot().FindAllStringSubmatch(line, -1) {
				if !seen[m[0]] {
					seen[m[0]] = true
					variable := m[1][strings.LastIndexByte(m[1][:max(0, strings.Index(m[1]+"(", "("))], '/')+1:]
					if _, after, ok := strings.Cut(variable, "."); ok {
						variable = after
					}
					if strings.HasPrefix(variable, "autotmp") || strings.HasPrefix(variable, ".autotmp") {
						variable = "temporaries"
					}
					variable, _, _ = strings.Cut(variable, ".")
					found[name].slots[variable]++
				}
			}
		}
		if err == io.EOF {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// A Growth is a function with its frame compiled in the first way and in the second.
type Growth struct {
	Name          string
	Before, After Frame
}

// Bytes returns by how much the frame grew.
func (g Growth) Bytes() int { return g.After.Size - g.Before.Size }

// Ratio returns by what factor the frame grew.
func (g Growth) Ratio() float64 { return float64(g.After.Size) / float64(g.Before.Size) }

// Reason names the variables that have the most places more than before.
func (g Growth) Reason() string {
	type more struct {
		name string
		n    int
	}
	var all []more
	for name, n := range g.After.slots {
		if n -= g.Before.slots[name]; n > 0 {
			all = append(all, more{name, n})
		}
	}
	slices.SortFunc(all, func(a, b more) int { return cmp.Or(b.n-a.n, strings.Compare(a.name, b.name)) })
	var b strings.Builder
	for i, m := range all[:min(3, len(all))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d of %s", m.n, m.name)
	}
	return b.String()
}

// Compare returns the functions that both have, without those whose frame before was smaller than
// least.
func Compare(before, after map[string]Frame, least int) []Growth {
	var all []Growth
	for name, b := range before {
		if a, ok := after[name]; ok && b.Size >= least {
			all = append(all, Growth{name, b, a})
		}
	}
	slices.SortFunc(all, func(a, b Growth) int {
		return cmp.Or(cmp.Compare(b.Bytes(), a.Bytes()), strings.Compare(a.Name, b.Name))
	})
	return all
}

// Percentile returns the value of f that so many in a hundred of the functions do not exceed.
func Percentile[T cmp.Ordered](all []Growth, percent int, f func(Growth) T) T {
	var values []T
	for _, g := range all {
		values = append(values, f(g))
	}
	slices.Sort(values)
	var none T
	if len(values) == 0 {
		return none
	}
	return values[min(len(values)-1, len(values)*percent/100)]
}
