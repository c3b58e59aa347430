package waits

import (
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

func BenchmarkLock(b *testing.B) {
	var c Counter
	b.ReportAllocs()
	for b.Loop() {
		for range times {
			c.Add()
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
