package logs

import (
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
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

// stderr is os.Stderr, which bench makes a file.
var stderr = os.NewFile(2, "stderr")

func BenchmarkPrintln(b *testing.B) {
	stdout := os.Stdout // stays for the results
	defer func() { os.Stdout = stdout }()
	os.Stdout = stderr
	b.ReportAllocs()
	Run(b.Loop, Print)
}

func BenchmarkLog(b *testing.B) {
	l := log.New(stderr, "", log.LstdFlags)
	b.ReportAllocs()
	Run(b.Loop, func(i int) { Log(l, i) })
}

func BenchmarkSlogText(b *testing.B) { benchmarkSlog(b, slog.NewTextHandler(stderr, nil)) }

func BenchmarkSlogJSON(b *testing.B) { benchmarkSlog(b, slog.NewJSONHandler(stderr, nil)) }

// BenchmarkSlogFile writes to a file of its own.
func BenchmarkSlogFile(b *testing.B) { benchmarkSlog(b, slog.NewTextHandler(file(b), nil)) }

// BenchmarkSlogDiscard writes nowhere: what is left is the work of logging alone.
func BenchmarkSlogDiscard(b *testing.B) { benchmarkSlog(b, slog.NewTextHandler(io.Discard, nil)) }

func benchmarkSlog(b *testing.B, h slog.Handler) {
	l := slog.New(h)
	b.ReportAllocs()
	Run(b.Loop, func(i int) { Slog(l, i) })
}

func BenchmarkZap(b *testing.B) {
	l := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.Lock(stderr), zap.InfoLevel))
	b.ReportAllocs()
	Run(b.Loop, func(i int) { Zap(l, i) })
}

func BenchmarkZerolog(b *testing.B) {
	l := zerolog.New(stderr).With().Timestamp().Logger()
	b.ReportAllocs()
	Run(b.Loop, func(i int) { Zerolog(&l, i) })
}

// BenchmarkWrite writes a line that is made already: what a write system call costs.
func BenchmarkWrite(b *testing.B) {
	f := file(b)
	line := []byte("G19    - info request served i=123456 status=200\n")
	b.ReportAllocs()
	Run(b.Loop, func(int) { f.Write(line) })
}

// BenchmarkSpaced logs some lines, and sleeps for the rest of 10 ms. Its time is that of a line.
func BenchmarkSpaced(b *testing.B) {
	for _, lines := range []int{1, 4, 16, 64} {
		b.Run(strconv.Itoa(lines), func(b *testing.B) {
			l := log.New(stderr, "", log.LstdFlags)
			took := time.Duration(0)
			b.ReportAllocs()
			Run(b.Loop, func(i int) {
				began := time.Now()
				for range lines {
					Log(l, i)
				}
				spent := time.Since(began)
				took += spent
				time.Sleep(10*time.Millisecond - spent)
			})
			b.ReportMetric(float64(took)/float64(b.N*lines), "ns/op")
		})
	}
}
