//go:build linux

package live

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// FuzzLook reads memory that a program has written anything to.
func FuzzLook(f *testing.F) {
	h := format.Head{Magic: format.MemoryMagic, Version: format.MemoryVersion, Size: uint32(unsafe.Sizeof(format.Head{})), Armed: 1, Functions: 2, FrameSize: 112, HistoryMax: 2, LongMax: 3, SummariesMax: 3,
		RingChunk: format.RingChunk, RingChunks: 1, CrossingsAt: 11264, CrossingsMax: 4, HalfSize: 512}
	h.Tables = format.Section{At: format.HeadSize, Size: 1, Max: 4096, Used: 80}
	h.Flags = format.Section{At: format.HeadSize + 4096, Size: 1, Max: 3}
	h.Goroutines = format.Section{At: format.HeadSize + 8192, Size: uint64(unsafe.Sizeof(format.Goroutine{})), Max: 4, Used: 2}
	h.Frames = format.Section{At: format.HeadSize + 12288, Size: 1, Max: 4096}
	h.LongAt, h.SummariesAt, h.RingAt = 4096, 8192, 12288
	h.TalliesAt, h.TalliesMax = [format.Tallies]uint64{4096, 6144, 8192}, 16
	h.Processors = format.Section{At: format.HeadSize + 16384, Size: 12288 + format.RingChunk, Max: 1, Used: 1}
	g := format.Goroutine{ID: 1, Depth: 2, FramesAt: format.HeadSize + 12288, HistoryAt: format.HeadSize + 13000, Calls: 2}
	f.Add(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h)), unsafe.Slice((*byte)(unsafe.Pointer(&g)), unsafe.Sizeof(g)), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, first, goroutines, rest []byte) {
		name := filepath.Join(t.TempDir(), "memory")
		memory := make([]byte, format.HeadSize+16384+12288+format.RingChunk)
		for i := format.HeadSize; i < len(memory) && len(rest) > 0; i++ {
			memory[i] = rest[i%len(rest)]
		}
		copy(memory[format.HeadSize+8192:], goroutines)
		copy(memory, first)
		if err := os.WriteFile(name, memory, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := newShared(1, file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := newProcess(1, opened)
		if err != nil {
			return
		}
		defer p.Close()
		l := &look{p: p, of: AllContents}
		if l.before() != nil {
			return
		}
		s, err := l.after()
		if err != nil {
			return
		}
		var e recording.Event
		for _, g := range s.Goroutines {
			for _, c := range g.Stack {
				p.Event(c.Entry, c.Function, &e)
			}
			for _, c := range g.History {
				p.Event(c.Exit, c.Function, &e)
			}
		}
		for _, c := range s.Long {
			p.Event(c.Entry, c.Function, &e)
		}
	})
}
