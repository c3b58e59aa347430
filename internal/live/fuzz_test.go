//go:build linux

package live

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// FuzzLook reads memory that a program has written anything to.
func FuzzLook(f *testing.F) {
	h := head{magic: memoryMagic, version: memoryVersion, size: uint32(unsafe.Sizeof(head{})), armed: 1, functions: 2, frameSize: 112, historyMax: 2, longMax: 3, summariesMax: 3,
		ringChunk: chunkSize, ringChunks: 1, crossingsAt: 11264, crossingsMax: 4, halfSize: 512}
	h.tables = section{at: headSize, size: 1, most: 4096, used: 80}
	h.flags = section{at: headSize + 4096, size: 1, most: 3}
	h.goroutines = section{at: headSize + 8192, size: uint64(unsafe.Sizeof(goroutine{})), most: 4, used: 2}
	h.frames = section{at: headSize + 12288, size: 1, most: 4096}
	h.longAt, h.summariesAt, h.ringAt = 4096, 8192, 12288
	h.talliesAt, h.talliesMax = [tallyTables]uint64{4096, 6144, 8192}, 16
	h.processors = section{at: headSize + 16384, size: 12288 + chunkSize, most: 1, used: 1}
	g := goroutine{id: 1, depth: 2, framesAt: headSize + 12288, historyAt: headSize + 13000, calls: 2}
	f.Add(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h)), unsafe.Slice((*byte)(unsafe.Pointer(&g)), unsafe.Sizeof(g)), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, first, goroutines, rest []byte) {
		name := filepath.Join(t.TempDir(), "memory")
		memory := make([]byte, headSize+16384+12288+chunkSize)
		for i := headSize; i < len(memory) && len(rest) > 0; i++ {
			memory[i] = rest[i%len(rest)]
		}
		copy(memory[headSize+8192:], goroutines)
		copy(memory, first)
		if err := os.WriteFile(name, memory, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := newProcess(1, file)
		if err != nil {
			return
		}
		defer p.Close()
		l := &look{p: p}
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
				p.Event(c.Entry, &e)
			}
			for _, c := range g.History {
				p.Event(c.Exit, &e)
			}
		}
		for _, c := range s.Long {
			p.Event(c.Entry, &e)
		}
	})
}
