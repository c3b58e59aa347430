package mock

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// Seed makes the functions of packages math/rand and math/rand/v2, such as rand.IntN, return the
// same numbers in each run, until the test ends. It concerns the test's goroutine and those that it
// starts. If several of these draw numbers, who gets which depends on who is first.
//
// A source that the program makes with a seed of its own, the order of maps and what packages os
// and crypto/rand draw stay as they are.
func Seed(t testing.TB, seed uint64) {
	t.Helper()
	if !Hooked() {
		t.Fatal(errPlain)
	}
	defer coreQuiet(coreQuiet(true))
	var mu sync.Mutex
	source := rand.NewPCG(seed, seed)
	draw := func() uint64 {
		defer coreQuiet(coreQuiet(true))
		mu.Lock()
		defer mu.Unlock()
		return source.Uint64()
	}
	whole := Generic(func([]any) []any { return []any{draw()} })
	half := Generic(func([]any) []any { return []any{int64(draw() >> 1)} })
	for name, with := range map[string]Generic{
		"math/rand/v2.runtimeSource.Uint64": whole,
		"math/rand.(*runtimeSource).Uint64": whole,
		"math/rand.(*runtimeSource).Int63":  half,
	} {
		d, err := substitute(name, with, false)
		switch {
		case err == nil:
			d.cleanup(t)
			d.start()
		case coreCode(name) != 0: // it is in the program
			t.Fatal(err)
		}
	}
}
