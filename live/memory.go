//go:build linux

package live

import (
	"cmp"
	"sync/atomic"
	"syscall"
)

// Memory returns what the memory file is used for, and how much of it. The last part is the file, of which only what was touched takes memory.
func (p *Process) Memory() []Memory {
	h := p.head
	parts := []Memory{
		{Name: "tables", Count: 1, Bytes: atomic.LoadUint64(&h.tables.used), Most: h.tables.most},
		{Name: "flags", Count: uint64(h.functions), Bytes: uint64(h.functions), Most: h.flags.most},
	}
	for _, part := range []struct {
		name string
		*section
	}{{"goroutines", &h.goroutines}, {"stacks_and_histories", &h.frames}, {"processors", &h.processors}} {
		size := cmp.Or(part.size, 1)
		n := atomic.LoadUint64(&part.used)
		parts = append(parts, Memory{Name: part.name, Count: n, Bytes: n * size, Most: part.most * size})
	}
	var stat syscall.Stat_t
	if syscall.Fstat(int(p.file.Fd()), &stat) == nil {
		parts = append(parts, Memory{Name: "file", Count: 1, Bytes: uint64(stat.Blocks) * 512, Most: uint64(stat.Size)})
	}
	return parts
}
