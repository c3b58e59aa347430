package main

import (
	"reflect"
	"testing"
)

func TestCounts(t *testing.T) {
	var plainly, hooked counts
	for _, run := range []string{
		"goos: linux\nBenchmarkSame \t 20\t 52.8 ns/op\t 16 B/op\t 1 allocs/op\nBenchmarkRate/n=1-2 20 52 ns/op 9.1 MB/s 16 B/op 3 allocs/op\nBenchmarkGone 20 1 ns/op 0 B/op 0 allocs/op\nPASS\n",
		"BenchmarkRate/n=1-2 20 52 ns/op 9.1 MB/s 16 B/op 5 allocs/op\n",
	} {
		if err := plainly.add([]byte(run), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := hooked.add([]byte("BenchmarkSame 20 60 ns/op 16 B/op 1 allocs/op\nBenchmarkRate/n=1-2 20 52 ns/op 16 B/op 6 allocs/op\n"), nil); err != nil {
		t.Fatal(err)
	}
	if got, want := plainly.differing(hooked), []string{"BenchmarkGone", "BenchmarkRate/n=1-2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q differ, want %q", got, want)
	}
	if got, want := plainly["BenchmarkRate/n=1-2"].String(), "3 to 5"; got != want {
		t.Errorf("allocations %q, want %q", got, want)
	}
	if err := hooked.add([]byte("BenchmarkRate/n=1-2 20 52 ns/op 16 B/op 4 allocs/op\nBenchmarkGone 20 1 ns/op 0 B/op 0 allocs/op\n"), nil); err != nil {
		t.Fatal(err)
	}
	if got := plainly.differing(hooked); got != nil {
		t.Errorf("%q differ after another run", got)
	}
	if got, want := pattern([]string{"BenchmarkB/x-2", "BenchmarkA", "BenchmarkB/y"}), "^(BenchmarkA|BenchmarkB)$"; got != want {
		t.Errorf("pattern %q, want %q", got, want)
	}
}
