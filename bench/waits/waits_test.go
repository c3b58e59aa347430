package waits

import (
	"os"
	"runtime"
	"testing"
)

// Each benchmark's operation is 1000 of what it is about, so that the loop does not count.
const times = 1000

var sink int

// BenchmarkStop is 2000 stops, on one processor, so that no thread has to be woken.
func BenchmarkStop(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := NewPair()
	defer p.Close()
	b.ReportAllocs()
	for b.Loop() {
		for i := range times {
			sink = p.Hand(i)
		}
	}
}

// BenchmarkYield lets others run, of which there are none.
func BenchmarkYield(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b.ReportAllocs()
	for b.Loop() {
		for range times {
			runtime.Gosched()
		}
	}
}

// BenchmarkRead reads 100 bytes of a file.
func BenchmarkRead(b *testing.B) {
	f, err := os.Open(os.Args[0])
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	data := make([]byte, 100)
	b.ReportAllocs()
	for b.Loop() {
		for range times {
			if _, err := f.ReadAt(data, 0); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkLock(b *testing.B) {
	var c Counter
	b.ReportAllocs()
	for b.Loop() {
		for range times {
			c.Add()
		}
	}
}

func BenchmarkReadLock(b *testing.B) {
	var t Table
	b.ReportAllocs()
	for b.Loop() {
		for range times {
			sink = t.Get()
		}
	}
}

// BenchmarkNested is two locks, one of which is taken while the other is held.
func BenchmarkNested(b *testing.B) {
	var p Pool
	b.ReportAllocs()
	for b.Loop() {
		for range times {
			p.Add()
		}
	}
}

func BenchmarkPass(b *testing.B) {
	q := make(Queue, 1)
	b.ReportAllocs()
	for b.Loop() {
		for i := range times {
			sink = q.Pass(i)
		}
	}
}
