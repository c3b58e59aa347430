package main

import (
	"io"
	"os"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// benchRecording opens the recording in $FTRACE_BENCH, and says how many events it has.
func benchRecording(b *testing.B) (r *recording.Recording, events float64) {
	dir := os.Getenv("FTRACE_BENCH")
	if dir == "" {
		b.Skip("FTRACE_BENCH names no recording")
	}
	r, err := recording.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	s := r.Events(recording.Window{})
	defer s.Close()
	var e recording.Event
	for s.Next(&e) {
		events++
	}
	return r, events
}

func report(b *testing.B, events float64) {
	b.ReportMetric(events*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
}

// BenchmarkReplay makes text of a recording.
func BenchmarkReplay(b *testing.B) {
	r, events := benchRecording(b)
	f, _ := parseFormat("")
	for b.Loop() {
		if err := replay(&walker{r: r}, recording.Window{}, f, false, false, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	report(b, events)
}

// BenchmarkReport makes the table of functions.
func BenchmarkReport(b *testing.B) {
	r, events := benchRecording(b)
	for b.Loop() {
		s, err := summarize(&walker{r: r}, recording.Window{}, "function")
		if err != nil {
			b.Fatal(err)
		}
		writeReport(io.Discard, s, 0)
	}
	report(b, events)
}

// BenchmarkFirstScreen shows the first 50 lines.
func BenchmarkFirstScreen(b *testing.B) {
	benchRecording(b)
	f, _ := parseFormat("")
	for b.Loop() {
		r, err := recording.Open(os.Getenv("FTRACE_BENCH"))
		if err != nil {
			b.Fatal(err)
		}
		if err := replay(&walker{r: r}, recording.Window{}, f, false, false, &page{left: 4000}); err != io.ErrShortWrite {
			b.Fatal(err)
		}
	}
}

// page takes so many bytes.
type page struct{ left int }

func (s *page) Write(b []byte) (int, error) {
	if s.left -= len(b); s.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}
