package report

import (
	"io"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// BenchmarkReport makes the table of functions.
func BenchmarkReport(b *testing.B) {
	r, events := viewtest.BenchRecording(b)
	for b.Loop() {
		s, err := Summarize([]walk.Source{{Recording: r}}, Options{By: "function", Sort: "total"})
		if err != nil {
			b.Fatal(err)
		}
		s.Write(io.Discard, Options{})
	}
	viewtest.PerSecond(b, events)
}
