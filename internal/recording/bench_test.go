package recording

import (
	"os"
	"testing"
)

// BenchmarkNext reads the recording in $FTRACE_BENCH.
func BenchmarkNext(b *testing.B) {
	dir := os.Getenv("FTRACE_BENCH")
	if dir == "" {
		b.Skip("FTRACE_BENCH names no recording")
	}
	r, err := Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		s := r.Events(Window{})
		var e Event
		n = 0
		for s.Next(&e) {
			n++
		}
		s.Close()
	}
	b.ReportMetric(float64(n), "events")
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
	for _, d := range r.Damage() {
		b.Error(d)
	}
}
