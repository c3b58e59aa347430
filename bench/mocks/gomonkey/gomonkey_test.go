// Package gomonkey measures gomonkey.
package gomonkey

import (
	"testing"

	"github.com/agiledragon/gomonkey/v2"

	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/target"
)

func BenchmarkSmall(b *testing.B) { target.CallSmall(b) }
func BenchmarkLarge(b *testing.B) { target.CallLarge(b, 3) }

func BenchmarkEverywhere(b *testing.B) {
	defer gomonkey.ApplyFunc(target.Large, target.With).Reset()
	b.ResetTimer()
	target.CallLarge(b, 7)
}

func BenchmarkRestore(b *testing.B) {
	for range b.N {
		gomonkey.ApplyFunc(target.Large, target.With).Reset()
	}
}

func BenchmarkDeferred(b *testing.B) {
	defer gomonkey.ApplyFunc(target.Deferred, target.With).Reset()
	b.ResetTimer()
	target.CallDeferred(b, 7)
}
