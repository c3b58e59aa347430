// Package ftrace measures package mock.
package ftrace

import (
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/bench/mocks/target"
	"github.com/ftrace-wrap/ftrace-wrap/mock"
)

func BenchmarkSmall(b *testing.B) { target.CallSmall(b) }
func BenchmarkLarge(b *testing.B) { target.CallLarge(b, 3) }

func swap(b *testing.B, opts ...mock.Option) {
	restore, err := mock.Swap(target.Large, target.With, opts...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(restore)
}

func BenchmarkEverywhere(b *testing.B) {
	swap(b)
	b.ResetTimer()
	target.CallLarge(b, 7)
}

func BenchmarkScoped(b *testing.B) {
	swap(b, mock.ThisGoroutine())
	b.ResetTimer()
	target.CallLarge(b, 7)
}

func BenchmarkRecorded(b *testing.B) {
	mock.Replace(b, target.Large, target.With)
	b.ResetTimer()
	target.CallLarge(b, 7)
}

func BenchmarkRestore(b *testing.B) {
	for range b.N {
		restore, err := mock.Swap(target.Large, target.With)
		if err != nil {
			b.Fatal(err)
		}
		restore()
	}
}

func BenchmarkDeferred(b *testing.B) {
	restore, err := mock.Swap(target.Deferred, target.With)
	if err != nil {
		b.Fatal(err)
	}
	defer restore()
	b.ResetTimer()
	target.CallDeferred(b, 7)
}

func BenchmarkPointed(b *testing.B) {
	restore, err := mock.Swap(target.Pointed, target.WithPointed)
	if err != nil {
		b.Fatal(err)
	}
	defer restore()
	b.ResetTimer()
	target.CallPointed(b, 7)
}

func BenchmarkCounted(b *testing.B) {
	mock.Replace(b, target.Large, target.With, mock.Unrecorded())
	b.ResetTimer()
	target.CallLarge(b, 7)
}
