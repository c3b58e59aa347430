// Package logs has what bench measures log lines with: each function writes one line.
package logs

import (
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/rs/zerolog"
	"go.uber.org/zap"
)

// Run calls one for each iteration of a benchmark.
func Run(next func() bool, one func(i int)) {
	for i := 0; next(); i++ {
		one(i)
	}
}

// Print writes to os.Stdout.
func Print(i int) { fmt.Fprintln(os.Stdout, "request served", i, "status=200") }

// Log writes by package log.
func Log(l *log.Logger, i int) { l.Print("request served ", i, " status=200") }

// Slog writes by log/slog.
func Slog(l *slog.Logger, i int) { l.Info("request served", "i", i, "status", 200) }

// Zap writes by go.uber.org/zap.
func Zap(l *zap.Logger, i int) {
	l.Info("request served", zap.Int("i", i), zap.Int("status", 200))
}

// Zerolog writes by github.com/rs/zerolog.
func Zerolog(l *zerolog.Logger, i int) {
	l.Info().Int("i", i).Int("status", 200).Msg("request served")
}
