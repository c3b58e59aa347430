//go:build linux

package live

import (
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/format"
)

// TestLies: what looks at a process whose memory lies ends with an error, within 5 s, whatever is
// in it.
func TestLies(t *testing.T) {
	armed := func(h *format.Head) { h.Armed = 1 }
	for _, c := range []struct {
		name   string
		lie    func(h *format.Head)
		answer func(h *format.Head) // in place of the process, again and again
		size   int64
	}{
		{"a request that is never answered", armed, func(*format.Head) {}, 1 << 20},
		{"requests that are answered without a cut", armed, func(h *format.Head) { atomic.StoreUint32(&h.Reply, atomic.LoadUint32(&h.Request)) }, 1 << 20},
		{"cuts that never stop", armed, func(h *format.Head) {
			atomic.AddUint32(&h.Cuts, 1)
			atomic.StoreUint32(&h.Reply, atomic.LoadUint32(&h.Request))
		}, 1 << 20},
		{"numbers of requests that change by themselves", armed, func(h *format.Head) { atomic.AddUint32(&h.Request, 1) }, 1 << 20},
		{"as many functions as there are numbers", func(h *format.Head) {
			h.Armed, h.Flags = 1, format.Section{At: format.HeadSize, Size: 1, Max: math.MaxUint64, Used: 0}
		}, func(*format.Head) {}, 1 << 20},
		{"goroutines of two terabytes", func(h *format.Head) {
			h.Armed, h.Goroutines = 1, format.Section{At: format.HeadSize, Size: 1 << 16, Max: entriesMax, Used: entriesMax}
		}, func(*format.Head) {}, 1 << 43},
		{"a processor with gigabytes of calls", func(h *format.Head) {
			h.Armed, h.Processors = 1, format.Section{At: format.HeadSize, Size: 1 << 33, Max: 512, Used: 512}
			h.LongMax, h.HalfSize = entriesMax, 1
		}, func(*format.Head) {}, 1 << 43},
		{"sizes that change while they are used", armed, func(h *format.Head) {
			h.Goroutines = format.Section{At: format.HeadSize, Size: 1 << 10, Max: 64, Used: 64}
			h.Goroutines = format.Section{At: format.HeadSize, Size: uint64(unsafe.Sizeof(format.Goroutine{})), Max: 4, Used: 4}
			atomic.StoreUint32(&h.Reply, atomic.LoadUint32(&h.Request))
		}, 1 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "memory")
			h := format.Head{Magic: format.MemoryMagic, Version: format.MemoryVersion, Size: uint32(unsafe.Sizeof(format.Head{})), Functions: 2, FrameSize: uint64(unsafe.Sizeof(format.Frame{}))}
			c.lie(&h)
			if err := os.WriteFile(name, unsafe.Slice((*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h)), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(name, c.size); err != nil {
				t.Skip(err) // the file system has no files as large
			}
			file, err := os.OpenFile(name, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			memory, err := newShared(os.Getpid(), file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := newProcess(os.Getpid(), memory)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			stop, stopped := make(chan bool), make(chan bool)
			go func() {
				defer close(stopped)
				for {
					select {
					case <-stop:
						return
					default:
						c.answer(p.head)
						time.Sleep(time.Microsecond)
					}
				}
			}()
			defer func() { close(stop); <-stopped }()
			begun := time.Now()
			_, err = p.Snapshot(AllContents)
			took := time.Since(begun)
			if err == nil {
				t.Error("there is a snapshot")
			}
			if took > 5*time.Second {
				t.Errorf("it took %v: %v", took, err)
			}
			p.found()
			p.Memory()
			t.Log(took, err)
		})
	}
}
