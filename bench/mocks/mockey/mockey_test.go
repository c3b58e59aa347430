// Package mockey measures mockey. It counts calls, and keeps no arguments.
package mockey

import (
	"testing"

	"github.com/bytedance/mockey"

	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/target"
)

func BenchmarkSmall(b *testing.B) { target.CallSmall(b) }
func BenchmarkLarge(b *testing.B) { target.CallLarge(b, 3) }

func BenchmarkEverywhere(b *testing.B) {
	defer mockey.Mock(target.Large).To(target.With).Build().Release()
	b.ResetTimer()
	target.CallLarge(b, 7)
}

func BenchmarkScoped(b *testing.B) {
	defer mockey.Mock(target.Large).IncludeCurrentGoRoutine().To(target.With).Build().Release()
	b.ResetTimer()
	target.CallLarge(b, 7)
}

func BenchmarkRestore(b *testing.B) {
	for range b.N {
		mockey.Mock(target.Large).To(target.With).Build().Release()
	}
}

func BenchmarkDeferred(b *testing.B) {
	defer mockey.Mock(target.Deferred).To(target.With).Build().Release()
	b.ResetTimer()
	target.CallDeferred(b, 7)
}
