package decimal

import (
	"math"
	"math/big"
	"testing"
	"time"
)

// wantFixed returns v/10^decimals as package big makes it.
func wantFixed(v int64, decimals int) string {
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	text := new(big.Rat).SetFrac(big.NewInt(v), scale).FloatString(decimals)
	return text
}

func TestDuration(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0ns", 999: "999ns", -1: "-1ns", 1000: "1.000us", 999_999: "999.999us", 1_000_000: "1.000ms",
		1_234_567: "1.234ms", 999_999_999: "999.999ms", 1e9: "1.000s", -1_500_000_000: "-1.500s", 3_600_000_000_000: "1h0m0s",
		59_999_999_999: "59.999s", 60e9: "1m0s", -62_331_000_000: "-1m2.331s", 7_201_000_000_000: "2h0m1s",
		math.MaxInt64: "2562047h47m16.854s", math.MinInt64: "-2562047h47m16.854s",
	} {
		var text Text
		if got := string(text.Duration(ns)); got != want {
			t.Errorf("%d: got %s, want %s", ns, got, want)
		}
	}
}

// FuzzFixed compares with package big.
func FuzzFixed(f *testing.F) {
	for _, v := range []int64{0, 1, -1, 10, 123456789, math.MaxInt64, math.MinInt64} {
		f.Add(v, uint8(0))
		f.Add(v, uint8(6))
		f.Add(v, uint8(18))
	}
	f.Fuzz(func(t *testing.T, v int64, decimals uint8) {
		var text Text
		n := int(decimals % 19)
		if got, want := string(text.Fixed(v, n)), wantFixed(v, n); got != want {
			t.Errorf("%d with %d decimals: got %s, want %s", v, n, got, want)
		}
		ns := v
		if ns < 0 {
			ns++ // its magnitude is a number of 64 bits
			ns = -ns
		}
		if ns >= 1e9 {
			got, err := time.ParseDuration(string(text.Duration(ns)))
			if want := time.Duration(ns).Truncate(time.Millisecond); got != want || err != nil {
				t.Errorf("%d: got %s, want %s: %v", ns, got, want, err)
			}
		}
	})
}
