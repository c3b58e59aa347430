package loglevel

import (
	"context"
	"io"
	"log/slog"
	"testing"
)

// discard takes what it is given without looking at it.
type discard struct{}

func (discard) Enabled(context.Context, slog.Level) bool  { return true }
func (discard) Handle(context.Context, slog.Record) error { return nil }
func (d discard) WithAttrs([]slog.Attr) slog.Handler      { return d }
func (d discard) WithGroup(string) slog.Handler           { return d }

func BenchmarkFilter(b *testing.B) {
	for _, bench := range []struct{ name, levels string }{
		{"disabled", "warn"},               // Enabled says so
		{"dropped", "warn,nothing=trace"},  // Handle does
		{"passed", "warn,bench_test.go=i"}, // to a handler that does nothing
	} {
		b.Run(bench.name, func(b *testing.B) {
			v := new(LevelsVar)
			v.Set(bench.levels)
			log := slog.New(NewFilter(discard{}, v))
			b.ReportAllocs()
			for b.Loop() {
				log.Info("message", "key", "value", "number", 7)
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		v := new(LevelsVar)
		v.Set("warn,nothing=trace")
		log := slog.New(NewFilter(discard{}, v))
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				log.Info("message", "key", "value", "number", 7)
			}
		})
	})
	b.Run("unfiltered", func(b *testing.B) {
		log := slog.New(discard{})
		b.ReportAllocs()
		for b.Loop() {
			log.Info("message", "key", "value", "number", 7)
		}
	})
}

// BenchmarkHandler compares the handlers with those of package slog.
func BenchmarkHandler(b *testing.B) {
	for _, bench := range []struct {
		name    string
		handler slog.Handler
	}{
		{"text", NewTextHandler(io.Discard, nil)},
		{"text/slog", slog.NewTextHandler(io.Discard, nil)},
		{"json", NewJSONHandler(io.Discard, nil)},
		{"json/slog", slog.NewJSONHandler(io.Discard, nil)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			log := slog.New(bench.handler)
			b.ReportAllocs()
			for b.Loop() {
				log.Info("message", "key", "value", "number", 7)
			}
		})
	}
}

func BenchmarkWriter(b *testing.B) {
	w := NewTextWriter(io.Discard)
	line := []byte("2024/02/29 12:00:00 listening\n")
	b.ReportAllocs()
	for b.Loop() {
		w.Write(line)
	}
}
