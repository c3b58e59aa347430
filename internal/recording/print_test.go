package recording

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ftrace-wrap/ftrace-wrap/internal/decimal"
)

// Numbers of a recording read as the core writes them in a trace.
func TestFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	some := []float64{0, math.Copysign(0, -1), 1, -1, 1e-4, 9.99e-5, 1e14, 1e15, 1e16, 1e20, 1e21, 1 << 24, 1<<24 + 2, 123456789,
		math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, math.MaxFloat64}
	for range 20_000 {
		some = append(some, math.Float64frombits(rng.Uint64()), float64(math.Float32frombits(rng.Uint32())), float64(int32(rng.Uint32())), math.Ldexp(rng.Float64(), rng.IntN(100)-20))
	}
	for _, v := range some {
		var text decimal.Text
		var p Printer
		p.float(v, 64)
		if want := text.Float64(math.Float64bits(v)); string(p.dst) != string(want) {
			t.Errorf("%v: %s, want %s", v, p.dst, want)
		}
		p = Printer{}
		p.float(float64(float32(v)), 32)
		if want := text.Float32(math.Float32bits(float32(v))); string(p.dst) != string(want) {
			t.Errorf("%v with 32 bits: %s, want %s", v, p.dst, want)
		}
		if t.Failed() {
			break
		}
	}
}

// A complex number has one sign between its parts.
func TestComplex(t *testing.T) {
	for _, im := range []float64{0, math.Copysign(0, -1), 1, -1, 2.5, math.Inf(1), math.Inf(-1), math.NaN()} {
		var p Printer
		p.complex(1, im, 64)
		if want := strings.ReplaceAll(fmt.Sprint(complex(1, im)), " ", ""); string(p.dst) != want {
			t.Errorf("complex(1, %v): %s, want %s", im, p.dst, want)
		}
	}
}
