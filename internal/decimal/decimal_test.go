package decimal

import (
	"bytes"
	"flag"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

var (
	values = flag.Int("values", 100_000, "compare so many `numbers` with package strconv's")
	seed   = flag.Uint64("seed", 1, "of the numbers")
)

// want appends what package strconv makes of v.
func want(dst []byte, v float64, bits int) []byte {
	from := len(dst)
	dst = strconv.AppendFloat(dst, v, 'e', -1, bits)
	e := bytes.IndexByte(dst[from:], 'e')
	if e < 0 {
		return dst // an infinity, or no number
	}
	exp, _ := strconv.Atoi(string(dst[from+e+1:]))
	if exp >= -4 && exp < 21 {
		return strconv.AppendFloat(dst[:from], v, 'f', -1, bits)
	}
	return dst
}

// A generator makes numbers of which many are hard.
type generator struct {
	rng  *rand.Rand
	i    int
	text []byte
}

// next64 returns the representation of a number of 64 bits.
func (g *generator) next64() uint64 {
	g.i++
	const mantissas = 1<<52 - 1
	r := g.rng.Uint64()
	switch g.i % 8 {
	case 0:
		return r // any
	case 1: // each exponent in turn
		return r&(1<<63|mantissas) | uint64(g.i/8%2048)<<52
	case 2: // the neighbours of powers of two
		return r&(1<<63) | uint64(g.i/8%2048)<<52 + r&7 - 3
	case 3: // subnormal numbers
		return r & mantissas >> (r >> 58)
	case 4: // the neighbours of powers of ten
		return g.parsed(1, int(r%650)-340, 64) + r>>32&3 - 1
	case 5: // the neighbours of short decimal numbers
		return g.parsed(g.rng.Uint64()>>(r>>58), int(r%660)-340, 64) + r>>32&3 - 1
	case 6: // integers that lie two or more apart, halfway between short ones
		return math.Float64bits(float64(r>>11) * float64(uint64(1)<<(r&15)))
	}
	// Numbers that programs have.
	return math.Float64bits(float64(int64(r>>20)) / float64([]int{1, 3, 10, 100, 1000, 1e6, 1e9}[r%7]))
}

// next32 returns the representation of a number of 32 bits.
func (g *generator) next32() uint32 {
	g.i++
	const mantissas = 1<<23 - 1
	r := g.rng.Uint64()
	switch g.i % 6 {
	case 0:
		return uint32(r)
	case 1:
		return uint32(r)&(1<<31|mantissas) | uint32(g.i/6%256)<<23
	case 2:
		return uint32(r)&(1<<31) | uint32(g.i/6%256)<<23 + uint32(r&7) - 3
	case 3:
		return uint32(r) & mantissas >> (r >> 59)
	case 4:
		return uint32(g.parsed(1, int(r%90)-48, 32)) + uint32(r>>32&3) - 1
	}
	return uint32(g.parsed(g.rng.Uint64()>>(32+r>>59), int(r%90)-50, 32)) + uint32(r>>32&3) - 1
}

// parsed returns the representation of digits times 10 to the power of exp.
func (g *generator) parsed(digits uint64, exp, bits int) uint64 {
	g.text = strconv.AppendUint(g.text[:0], digits, 10)
	g.text = append(g.text, 'e')
	g.text = strconv.AppendInt(g.text, int64(exp), 10)
	v, _ := strconv.ParseFloat(string(g.text), bits)
	if bits == 32 {
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}

func TestAgainstStrconv(t *testing.T) {
	g := &generator{rng: rand.New(rand.NewPCG(*seed, 0))}
	var text Text
	var wanted []byte
	failed := 0
	shown := time.Now()
	for n := range *values {
		var got []byte
		if n%4 == 0 {
			bits := g.next32()
			got = text.Float32(bits)
			wanted = want(wanted[:0], float64(math.Float32frombits(bits)), 32)
		} else {
			bits := g.next64()
			got = text.Float64(bits)
			wanted = want(wanted[:0], math.Float64frombits(bits), 64)
		}
		if !bytes.Equal(got, wanted) {
			if failed++; failed <= 10 {
				t.Errorf("number %d: %s, want %s", n, got, wanted)
			}
		}
		if n%1000 == 0 && testing.Verbose() && time.Since(shown) > time.Minute {
			t.Logf("%d numbers, %d are wrong", n, failed)
			shown = time.Now()
		}
	}
	t.Logf("%d numbers, %d are wrong", *values, failed)
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "-0"}, {1, "1"}, {-1.5, "-1.5"}, {0.1, "0.1"}, {100, "100"},
		{1e-4, "0.0001"}, {9.999e-5, "9.999e-05"}, {1e20, "100000000000000000000"}, {1e21, "1e+21"},
		{5e-324, "5e-324"}, {-math.MaxFloat64, "-1.7976931348623157e+308"},
		{math.NaN(), "NaN"}, {math.Copysign(math.NaN(), -1), "NaN"}, {math.Inf(1), "+Inf"}, {math.Inf(-1), "-Inf"},
	} {
		var text Text
		if got := text.Float64(math.Float64bits(test.v)); string(got) != test.want {
			t.Errorf("%v: %s, want %s", test.v, got, test.want)
		}
	}
	// Fewer digits tell numbers of 32 bits apart.
	for _, test := range []struct {
		v    float32
		want string
	}{
		{0.1, "0.1"}, {1e-4, "0.0001"}, {1e21, "1e+21"}, {123456789, "123456790"}, {16777216, "16777216"},
		{math.MaxFloat32, "3.4028235e+38"}, {math.SmallestNonzeroFloat32, "1e-45"},
		{float32(math.NaN()), "NaN"}, {float32(math.Inf(1)), "+Inf"}, {float32(math.Inf(-1)), "-Inf"},
	} {
		var text Text
		if got := text.Float32(math.Float32bits(test.v)); string(got) != test.want {
			t.Errorf("%v: %s, want %s", test.v, got, test.want)
		}
	}
}

func FuzzFloat(f *testing.F) {
	g := &generator{rng: rand.New(rand.NewPCG(2, 0))}
	for range 24 {
		f.Add(g.next64())
		f.Add(uint64(g.next32()))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		var text Text
		if got, want := text.Float64(bits), want(nil, math.Float64frombits(bits), 64); !bytes.Equal(got, want) {
			t.Errorf("%#x: %s, want %s", bits, got, want)
		}
		if got, want := text.Float32(uint32(bits)), want(nil, float64(math.Float32frombits(uint32(bits))), 32); !bytes.Equal(got, want) {
			t.Errorf("%#x with 32 bits: %s, want %s", uint32(bits), got, want)
		}
	})
}

func BenchmarkFloat(b *testing.B) {
	for _, test := range []struct {
		name string
		v    float64
	}{{"integer", 42}, {"short", 3.14}, {"long", 1.0 / 3}, {"large", 1.7e300}, {"small", 1.7e-300}} {
		b.Run(test.name, func(b *testing.B) {
			var text Text
			bits := math.Float64bits(test.v)
			for b.Loop() {
				text.Float64(bits)
			}
		})
	}
}
