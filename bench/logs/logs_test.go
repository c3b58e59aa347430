package logs

import (
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// file returns a new file that is removed at the end.
func file(b *testing.B) *os.File {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

// BenchmarkPrintln writes to stderr, which bench makes a file.
func BenchmarkPrintln(b *testing.B) {
	stdout := os.Stdout // stays for the results
	defer func() { os.Stdout = stdout }()
	os.Stdout = os.NewFile(2, "stderr")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Print(i)
	}
}

func BenchmarkLog(b *testing.B) {
	l := log.New(file(b), "", log.LstdFlags)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Log(l, i)
	}
}

func BenchmarkSlogText(b *testing.B) { benchmarkSlog(b, slog.NewTextHandler(file(b), nil)) }

func BenchmarkSlogJSON(b *testing.B) { benchmarkSlog(b, slog.NewJSONHandler(file(b), nil)) }

// BenchmarkSlogDiscard writes nowhere: what is left is the work of logging alone.
func BenchmarkSlogDiscard(b *testing.B) { benchmarkSlog(b, slog.NewTextHandler(io.Discard, nil)) }

func benchmarkSlog(b *testing.B, h slog.Handler) {
	l := slog.New(h)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Slog(l, i)
	}
}

// BenchmarkWrite writes a line that is made already: what a write system call costs.
func BenchmarkWrite(b *testing.B) {
	f := file(b)
	line := []byte("G19    - info request served i=123456 status=200\n")
	b.ReportAllocs()
	for b.Loop() {
		f.Write(line)
	}
}
