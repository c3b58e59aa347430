//go:build ftrace_core

// Floating-point numbers in the shortest decimal form that reads back as the same number.
//
// The exact decimal expansions of the number and of the midpoints to its neighbours are computed, and digits taken until the
// number is told apart from both (Steele and White 1990; the method, not the code, of strconv's slow path). Package runtime has a
// formatter of its own only from Go 1.26 on.

package runtime

import "unsafe"

// ftraceDecimal is a decimal number 0.d1d2d3... times 10 to the power of point.
type ftraceDecimal struct {
	n     int
	point int
	d     [800]byte
}

// set makes a the number v, which is not 0.
func (a *ftraceDecimal) set(v uint64) {
	var digits [20]byte
	s := ftraceItoa(digits[:], v)
	a.n = copy(a.d[:], s)
	a.point = a.n
	a.trim()
}

func (a *ftraceDecimal) trim() {
	for a.n > 0 && a.d[a.n-1] == '0' {
		a.n--
	}
}

// shift multiplies a by 2 to the power of k.
func (a *ftraceDecimal) shift(k int) {
	const most = 27
	for ; k > most; k -= most {
		a.multiply(most)
	}
	for ; k < -most; k += most {
		a.divide(most)
	}
	if k > 0 {
		a.multiply(uint(k))
	} else if k < 0 {
		a.divide(uint(-k))
	}
}

// multiply multiplies by 1<<k, k at most 27.
func (a *ftraceDecimal) multiply(k uint) {
	const extra = 9 // 1<<27 has 9 digits
	var carry uint64
	at := a.n + extra
	for i := a.n - 1; i >= 0; i-- {
		carry += uint64(a.d[i]-'0') << k
		at--
		if at < len(a.d) {
			a.d[at] = byte('0' + carry%10)
		}
		carry /= 10
	}
	for at > 0 {
		at--
		a.d[at] = byte('0' + carry%10)
		carry /= 10
	}
	a.n = min(a.n+extra, len(a.d))
	a.point += extra
	zeros := 0
	for zeros < a.n && a.d[zeros] == '0' {
		zeros++
	}
	copy(a.d[:], a.d[zeros:a.n])
	a.n -= zeros
	a.point -= zeros
	a.trim()
}

// divide divides by 1<<k, k at most 27.
func (a *ftraceDecimal) divide(k uint) {
	var rest uint64
	read, write := 0, 0
	for ; rest>>k == 0; read++ {
		c := uint64(0)
		if read < a.n {
			c = uint64(a.d[read] - '0')
		}
		rest = rest*10 + c
	}
	a.point -= read - 1
	mask := uint64(1)<<k - 1
	for ; read < a.n; read++ {
		digit := byte('0' + rest>>k)
		rest = (rest&mask)*10 + uint64(a.d[read]-'0')
		a.d[write] = digit
		write++
	}
	for rest > 0 && write < len(a.d) {
		a.d[write] = byte('0' + rest>>k)
		write++
		rest = (rest & mask) * 10
	}
	a.n = write
	a.trim()
}

// digit returns digit i of a, aligned to the same power of ten as point.
func (a *ftraceDecimal) digit(i, point int) byte {
	i += a.point - point
	if i < 0 || i >= a.n {
		return '0'
	}
	return a.d[i]
}

// shortest cuts a to the fewest digits that lie between low and high, the bounds included if inclusive.
func (a *ftraceDecimal) shortest(low, high *ftraceDecimal, inclusive bool) {
	point := high.point
	lowDiffers, highDiffers := false, false
	room := false // high is more than the number rounded up at this digit
	digits := a.n + point - a.point
	for i := 0; i < digits; i++ {
		l, m, h := low.digit(i, point), a.digit(i, point), high.digit(i, point)
		// Down: the cut number must be more than low, or equal to it if that is allowed.
		lowDiffers = lowDiffers || l != m
		down := lowDiffers || inclusive && i+1+low.point-point == low.n
		// Up: the number rounded up must be less than high.
		switch {
		case highDiffers:
			room = room || m != '9' || h != '0'
		case m != h:
			highDiffers = true
			room = m+1 < h
		}
		up := highDiffers && (inclusive || room || i+1 < high.n)
		if !down && !up {
			continue
		}
		a.cut(i+1+a.point-point, down, up)
		return
	}
}

// cut rounds a to n digits: down, up, or to the nearer if both are allowed.
func (a *ftraceDecimal) cut(n int, down, up bool) {
	if n >= a.n {
		return
	}
	if down && up {
		rest := n >= 0 && a.d[n] > '5' || n >= 0 && a.d[n] == '5' && (a.n > n+1 || n > 0 && (a.d[n-1]-'0')%2 == 1)
		up = rest
	}
	if n < 0 {
		n = 0
	}
	a.n = n
	if !up {
		a.trim()
		return
	}
	for i := n - 1; i >= 0; i-- {
		if a.d[i] < '9' {
			a.d[i]++
			a.n = i + 1
			return
		}
	}
	a.d[0] = '1'
	a.n = 1
	a.point++
}

// float appends v, which has 32 or 64 bits.
func (b *ftraceText) float(v float64, bits int) {
	switch {
	case v != v:
		b.str("NaN")
		return
	case v > 1.7976931348623157e308:
		b.str("+Inf")
		return
	case v < -1.7976931348623157e308:
		b.str("-Inf")
		return
	}
	if float64bits(v)>>63 != 0 {
		b.byte('-')
		v = -v
	}
	if v == 0 {
		b.byte('0')
		return
	}
	var mantissa uint64
	var exp, least int
	if bits == 32 {
		narrowed := float32(v)
		x := *(*uint32)(unsafe.Pointer(&narrowed))
		mantissa, exp, least = uint64(x&(1<<23-1)), int(x>>23), 1<<23
	} else {
		x := float64bits(v)
		mantissa, exp, least = x&(1<<52-1), int(x>>52), 1<<52
	}
	narrow := mantissa == 0 && exp > 1 // the next lower number is only half as far
	if exp == 0 {
		exp = 1
	} else {
		mantissa |= uint64(least)
	}
	if bits == 32 {
		exp -= 127 + 23
	} else {
		exp -= 1023 + 52
	}
	b.shortest(mantissa, exp, narrow)
}

// shortest appends mantissa times 2 to the power of exp.
func (b *ftraceText) shortest(mantissa uint64, exp int, narrow bool) {
	var a, low, high ftraceDecimal
	a.set(mantissa)
	a.shift(exp)
	high.set(mantissa*2 + 1)
	high.shift(exp - 1)
	if narrow {
		low.set(mantissa*4 - 1)
		low.shift(exp - 2)
	} else {
		low.set(mantissa*2 - 1)
		low.shift(exp - 1)
	}
	a.shortest(&low, &high, mantissa%2 == 0)
	if a.point < -3 || a.point > 21 {
		b.scientific(&a)
		return
	}
	if a.point <= 0 {
		b.str("0.")
		for i := a.point; i < 0; i++ {
			b.byte('0')
		}
	}
	for i := 0; i < a.n || i < a.point; i++ {
		if i == a.point && i > 0 {
			b.byte('.')
		}
		if i < a.n {
			b.byte(a.d[i])
		} else {
			b.byte('0')
		}
	}
}

func (b *ftraceText) scientific(a *ftraceDecimal) {
	b.byte(a.d[0])
	if a.n > 1 {
		b.byte('.')
		for _, d := range a.d[1:a.n] {
			b.byte(d)
		}
	}
	exp := a.point - 1
	b.byte('e')
	if exp < 0 {
		b.byte('-')
		exp = -exp
	} else {
		b.byte('+')
	}
	if exp < 10 {
		b.byte('0')
	}
	b.uint(uint64(exp))
}
