//go:build linux

package live

import (
	"cmp"
	"syscall"

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
		parts = append(parts, Memory{Name: part.name, Count: part.count, Bytes: p.touched(int64(part.At), int64(part.At+most)), Most: most})
	}
	var stat syscall.Stat_t
	if syscall.Fstat(int(p.file.Fd()), &stat) == nil {
		parts = append(parts, Memory{Name: "file", Count: 1, Bytes: uint64(stat.Blocks) * 512, Most: uint64(stat.Size)})
	}
	return parts
}

// touched returns how many bytes the file has from one place to another, without holes.
func (p *Process) touched(from, to int64) (n uint64) {
	const seekData, seekHole = 3, 4
	for from < to {
		data, err := p.file.Seek(from, seekData)
		if err != nil || data >= to { // there are only holes
			break
		}
		if from, err = p.file.Seek(data, seekHole); err != nil {
			break
		}
		n += uint64(min(from, to) - data)
	}
	return n
}
