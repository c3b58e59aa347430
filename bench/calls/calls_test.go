package calls

import "testing"

// Each benchmark's operation is 1000 calls, so that the loop does not count.
const calls = 1000

var sink int

func BenchmarkNothing(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for range calls {
			Nothing()
		}
	}
}

func BenchmarkScalar(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		for i := range calls {
			sink = Scalar(i)
		}
	}
}

func BenchmarkStrings(b *testing.B) {
	b.ReportAllocs()
	t := new(T)
	for b.Loop() {
		for range calls {
			Strings("one", "two", t)
		}
	}
}

func BenchmarkStructs(b *testing.B) {
	b.ReportAllocs()
	p := Point{1, 2, "one", []string{"two", "three"}}
	var v any = p
	for b.Loop() {
		for range calls {
			Structs(p, v)
		}
	}
}

func BenchmarkGetter(b *testing.B) {
	b.ReportAllocs()
	t := new(T)
	for b.Loop() {
		for range calls {
			sink += t.Get()
		}
	}
}

func BenchmarkSetter(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		var t T
		for i := range calls {
			t.Set(i)
		}
		sink = t.x
	}
}

func BenchmarkDeferring(b *testing.B) {
	b.ReportAllocs()
	t := new(T)
	for b.Loop() {
		for range calls {
			Deferring(t)
		}
	}
}

// BenchmarkFib makes 1973 calls an operation.
func BenchmarkFib(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		sink = Fib(15)
	}
}
