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
)

// TestLies: what looks at a process whose memory lies ends with an error, within 5 s, whatever is
// in it.
func TestLies(t *testing.T) {
	armed := func(h *head) { h.armed = 1 }
	for _, c := range []struct {
		name   string
		lie    func(h *head)
		answer func(h *head) // in place of the process, again and again
		size   int64
	}{
		{"a request that is never answered", armed, func(*head) {}, 1 << 20},
		{"requests that are answered without a cut", armed, func(h *head) { atomic.StoreUint32(&h.reply, atomic.LoadUint32(&h.request)) }, 1 << 20},
		{"cuts that never stop", armed, func(h *head) {
			atomic.AddUint32(&h.cuts, 1)
			atomic.StoreUint32(&h.reply, atomic.LoadUint32(&h.request))
		}, 1 << 20},
		{"numbers of requests that change by themselves", armed, func(h *head) { atomic.AddUint32(&h.request, 1) }, 1 << 20},
		{"as many functions as there are numbers", func(h *head) { h.armed, h.flags = 1, section{headSize, 1, math.MaxUint64, 0} }, func(*head) {}, 1 << 20},
		{"goroutines of two terabytes", func(h *head) {
			h.armed, h.goroutines = 1, section{headSize, 1 << 16, entriesMax, entriesMax}
		}, func(*head) {}, 1 << 43},
		{"a processor with gigabytes of calls", func(h *head) {
			h.armed, h.processors = 1, section{headSize, 1 << 33, 512, 512}
			h.longMax, h.halfSize = entriesMax, 1
		}, func(*head) {}, 1 << 43},
		{"sizes that change while they are used", armed, func(h *head) {
			h.goroutines = section{headSize, 1 << 10, 64, 64}
			h.goroutines = section{headSize, uint64(unsafe.Sizeof(goroutine{})), 4, 4}
			atomic.StoreUint32(&h.reply, atomic.LoadUint32(&h.request))
		}, 1 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "memory")
			h := head{magic: memoryMagic, version: memoryVersion, size: uint32(unsafe.Sizeof(head{})), functions: 2, frameSize: uint64(unsafe.Sizeof(frame{}))}
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
			p, err := newProcess(os.Getpid(), file)
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
			_, err = p.Snapshot()
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
