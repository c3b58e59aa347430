// Package decimal writes numbers, and durations. Floating-point numbers are in the shortest decimal
// form that reads back as the same number. There is an exponent below 1e-4 and from 1e21 on.
//
// The exact decimal expansions of the number and of the midpoints to its neighbours are computed,
// and digits taken until the number is told apart from both (Steele and White 1990; the method, not
// the code, of strconv's slow path). Package runtime, which this becomes part of, has a formatter
// of its own only from Go 1.26 on.
package decimal

// A Text has room for every number.
type Text [24]byte

// Float64 writes the number with the IEEE 754 representation bits to t, and returns what it wrote.
func (t *Text) Float64(bits uint64) []byte {
	return t.float(bits>>63 != 0, bits&(1<<52-1), int(bits>>52&(1<<11-1)), 52, 1<<11-1)
}

// Float32 is Float64 for 32 bits.
func (t *Text) Float32(bits uint32) []byte {
	return t.float(bits>>31 != 0, uint64(bits&(1<<23-1)), int(bits>>23&(1<<8-1)), 23, 1<<8-1)
}

// Fixed writes v/10^decimals with that many decimals, of which there are at most 18.
func (t *Text) Fixed(v int64, decimals int) []byte {
	return t[t.fixed(len(t), v, magnitude(v), decimals):]
}

// Duration writes a duration in ns in the unit that suits it, with three decimals. From a minute on
// it is as package time writes it, without what is shorter than a millisecond: 1h0m0s.
func (t *Text) Duration(ns int64) []byte {
	v, unit, decimals := magnitude(ns), "s", 3
	switch {
	case v < 1e3:
		unit, decimals = "ns", 0
	case v < 1e6:
		unit = "us"
	case v < 1e9:
		v, unit = v/1e3, "ms"
	case v < 60e9:
		v /= 1e6
	default:
		return t.clock(ns, v/1e6)
	}
	end := len(t) - len(unit)
	copy(t[end:], unit)
	return t[t.fixed(end, ns, v, decimals):]
}

// clock writes hours, minutes and seconds with the sign of a duration in ns.
func (t *Text) clock(ns int64, ms uint64) []byte {
	minutes, v, decimals := ms/60e3, ms%60e3, 3
	if v%1e3 == 0 {
		v, decimals = v/1e3, 0
	}
	sign := func(v uint64) int64 { // that of the duration belongs to the first number
		if v > 0 {
			return 0
		}
		return ns
	}
	end := len(t) - 1
	t[end] = 's'
	end = t.fixed(end, 0, v, decimals) - 1
	t[end] = 'm'
	hours := minutes / 60
	end = t.fixed(end, sign(hours), minutes%60, 0)
	if hours > 0 {
		end--
		t[end] = 'h'
		end = t.fixed(end, ns, hours, 0)
	}
	return t[end:]
}

// magnitude returns v without its sign.
func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// fixed writes v/10^decimals, with the sign of another number, before end. It returns where that
// begins.
func (t *Text) fixed(end int, sign int64, v uint64, decimals int) int {
	for n := 0; v != 0 || n <= decimals; n++ {
		if n == decimals && n > 0 {
			end--
			t[end] = '.'
		}
		end--
		t[end] = byte('0' + v%10)
		v /= 10
	}
	if sign < 0 {
		end--
		t[end] = '-'
	}
	return end
}

// float writes a number whose mantissa has the given width, and whose exponent is at most most.
func (t *Text) float(negative bool, mantissa uint64, exp int, width uint, most int) []byte {
	n := 0
	switch {
	case exp == most && mantissa != 0:
		return t[:copy(t[:], "NaN")]
	case exp == most && negative:
		return t[:copy(t[:], "-Inf")]
	case exp == most:
		return t[:copy(t[:], "+Inf")]
	case negative:
		t[0] = '-'
		n = 1
	}
	if exp == 0 && mantissa == 0 {
		t[n] = '0'
		return t[:n+1]
	}
	narrow := mantissa == 0 && exp > 1
	if exp == 0 {
		exp = 1
	} else {
		mantissa |= 1 << width
	}
	exp -= most>>1 + int(width)

	var a number
	if exp <= 0 && exp >= -int(width) && mantissa&(1<<uint(-exp)-1) == 0 {
		a.set(mantissa >> uint(-exp)) // of an integer all digits count: its neighbours are at most 1 away
	} else {
		a.find(mantissa, exp, narrow)
	}
	if a.point < -3 || a.point > 21 {
		return t.scientific(n, &a)
	}
	return t.plain(n, &a)
}

// plain adds a to the n bytes that t has.
func (t *Text) plain(n int, a *number) []byte {
	if a.point <= 0 {
		n += copy(t[n:], "0.")
		for i := a.point; i < 0; i++ {
			t[n] = '0'
			n++
		}
	}
	for i := 0; i < a.n || i < a.point; i++ {
		if i == a.point && i > 0 {
			t[n] = '.'
			n++
		}
		t[n] = '0'
		if i < a.n {
			t[n] = a.d[i]
		}
		n++
	}
	return t[:n]
}

// scientific adds a with an exponent to the n bytes that t has.
func (t *Text) scientific(n int, a *number) []byte {
	t[n] = a.d[0]
	n++
	if a.n > 1 {
		t[n] = '.'
		n++
		n += copy(t[n:], a.d[1:a.n])
	}
	exp := a.point - 1
	t[n] = 'e'
	t[n+1] = '+'
	if exp < 0 {
		t[n+1] = '-'
		exp = -exp
	}
	n += 2
	if exp >= 100 {
		t[n] = byte('0' + exp/100)
		n++
	}
	t[n] = byte('0' + exp/10%10)
	t[n+1] = byte('0' + exp%10)
	return t[:n+2]
}

// A number is 0.d1d2d3... times 10 to the power of point.
type number struct {
	n     int
	point int
	d     [800]byte
}

// set makes a the number v, which is not 0.
func (a *number) set(v uint64) {
	for rest := v; rest > 0; rest /= 10 {
		a.n++
	}
	for i := a.n - 1; i >= 0; i-- {
		a.d[i] = byte('0' + v%10)
		v /= 10
	}
	a.point = a.n
	a.trim()
}

func (a *number) trim() {
	for a.n > 0 && a.d[a.n-1] == '0' {
		a.n--
	}
}

// shift multiplies a by 2 to the power of k.
func (a *number) shift(k int) {
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
func (a *number) multiply(k uint) {
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
func (a *number) divide(k uint) {
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
func (a *number) digit(i, point int) byte {
	i += a.point - point
	if i < 0 || i >= a.n {
		return '0'
	}
	return a.d[i]
}

// find makes a the shortest number that is told apart from the neighbours of mantissa times 2 to
// the power of exp. If narrow is set, the next lower one is only half as far as the next higher
// one.
func (a *number) find(mantissa uint64, exp int, narrow bool) {
	var low, high number
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
}

// shortest cuts a to the fewest digits that lie between low and high, the bounds included if
// inclusive.
func (a *number) shortest(low, high *number, inclusive bool) {
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
func (a *number) cut(n int, down, up bool) {
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
