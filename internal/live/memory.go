//go:build linux || windows || darwin

package live

import (
	"cmp"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// Memory returns what the parts of the memory file are used for, and how much memory they take:
// pages that were touched. The last entry is the whole file.
func (p *Process) Memory() []Memory {
	if p.check() != nil {
		return nil
	}
	h := p.seen.Load()
	var parts []Memory
	for _, part := range []struct {
		name string
		*format.Section
		count uint64
	}{
		{"tables", &h.Tables, 1},
		{"flags", &h.Flags, uint64(h.Functions)},
		{"goroutines", &h.Goroutines, h.Goroutines.Used},
		{"stacks_and_histories", &h.Frames, h.Frames.Used},
		{"processors", &h.Processors, h.Processors.Used},
		{"spans", &h.Spans, min(h.Spans.Used, h.Spans.Max)},
		{"probes", &h.Probes, min(h.Probes.Used, h.Probes.Max)},
	} {
		most := part.Max * cmp.Or(part.Size, 1)
		parts = append(parts, Memory{Name: part.name, Count: part.count, Bytes: p.memory.touched(int64(part.At), int64(part.At+most)), Most: most})
	}
	if taken, size, err := p.memory.taken(); err == nil {
		parts = append(parts, Memory{Name: "file", Count: 1, Bytes: taken, Most: size})
	}
	return parts
}
