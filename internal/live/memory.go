//go:build linux

package live

import (
	"cmp"
	"syscall"
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
		*section
		count uint64
	}{
		{"tables", &h.tables, 1},
		{"flags", &h.flags, uint64(h.functions)},
		{"goroutines", &h.goroutines, h.goroutines.used},
		{"stacks_and_histories", &h.frames, h.frames.used},
		{"processors", &h.processors, h.processors.used},
	} {
		most := part.most * cmp.Or(part.size, 1)
		parts = append(parts, Memory{Name: part.name, Count: part.count, Bytes: p.touched(int64(part.at), int64(part.at+most)), Most: most})
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
