package text

import (
	"io"
	"os"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/viewtest"
	"github.com/ftrace-wrap/ftrace-wrap/internal/view/walk"
)

// BenchmarkReplay makes text of a recording.
func BenchmarkReplay(b *testing.B) {
	r, events := viewtest.BenchRecording(b)
	f, _ := ParseFormat("")
	for b.Loop() {
		if err := Replay(walk.Source{Recording: r}, Options{Format: f}, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
	viewtest.PerSecond(b, events)
}

// BenchmarkFirstScreen shows the first 50 lines.
func BenchmarkFirstScreen(b *testing.B) {
	viewtest.BenchRecording(b)
	f, _ := ParseFormat("")
	for b.Loop() {
		r, err := recording.Open(os.Getenv("FTRACE_BENCH"))
		if err != nil {
			b.Fatal(err)
		}
		if err := Replay(walk.Source{Recording: r}, Options{Format: f}, &page{left: 4000}); err != io.ErrShortWrite {
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
