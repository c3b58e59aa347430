//go:build ftrace_core

// Points in time as text.

package runtime

// instant appends a time in the form of RFC 3339, UTC: sec seconds after the year 1970 began, and
// nanoseconds, of which zeros at the end are left out if trim is set.
func (b *ftraceText) instant(sec int64, nsec uint32, trim bool) {
	// Days since March 1st of the year 0, in eras of 400 years.
	days := ftraceFloor(sec, 86400) + 719468
	era := ftraceFloor(days, 146097)
	day := days - era*146097
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= year*365 + year/4 - year/100
	month := (5*day + 2) / 153
	date := day - (153*month+2)/5 + 1
	year += era * 400
	if month += 3; month > 12 {
		month -= 12
		year++
	}
	if year < 0 || year > 9999 { // RFC 3339 has no form for it
		b.int(sec)
		b.byte('s')
		return
	}
	text := b.form("0000-00-00T00:00:00.000000000Z")
	if text == nil {
		return
	}
	ftraceDigits(text[:4], uint32(year))
	ftraceDigits(text[5:7], uint32(month))
	ftraceDigits(text[8:10], uint32(date))
	ftraceClock(text[11:], sec, nsec, 9)
	if trim {
		b.n--
		for b.data[b.n-1] == '0' {
			b.n--
		}
		if b.data[b.n-1] == '.' {
			b.n--
		}
		b.byte('Z')
	}
}

// ftraceFloor returns the largest integer that is at most a/b.
func ftraceFloor(a, b int64) int64 {
	if q := a / b; q*b <= a {
		return q
	}
	return a/b - 1
}

// form appends a text that is to be filled in, and returns it, or nil if there is no room.
func (b *ftraceText) form(s string) []byte {
	at := b.n
	b.str(s)
	if b.n-at < len(s) {
		return nil
	}
	return b.data[at:b.n]
}

// ftraceClock writes the time of day, and a fraction with so many digits, into a form.
func ftraceClock(text []byte, sec int64, fraction uint32, digits int) {
	second := uint32(sec - ftraceFloor(sec, 86400)*86400)
	ftraceDigits(text[:2], second/3600)
	ftraceDigits(text[3:5], second/60%60)
	ftraceDigits(text[6:8], second%60)
	ftraceDigits(text[9:9+digits], fraction)
}

// ftraceDigits writes v with as many digits as p has room for.
func ftraceDigits(p []byte, v uint32) {
	for i := len(p) - 1; i >= 0; i-- {
		p[i] = byte('0' + v%10)
		v /= 10
	}
}
