package functions

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// writtenTimes are MySQL's functions that read times in other forms than its own, or put them
// together.
var writtenTimes = map[string]function{
	"str_to_date": {2, strToDate},
	"time_format": {2, timeFormat},
	"convert_tz":  {3, convertZone},
	"addtime":     {2, func(a []value) value { return addTime(a, 1) }},
	"subtime":     {2, func(a []value) value { return addTime(a, -1) }},
	"makedate": {2, func(a []value) value {
		year, day := math.Round(AsNumber(a[0])), math.Round(AsNumber(a[1]))
		if !(year >= 0 && year <= 9999 && day > 0 && day < 4e6) {
			return nil
		}
		return dateText(time.Date(wholeYear(int(year)), 1, int(day), 0, 0, 0, 0, time.UTC))
	}},
	"maketime": {3, func(a []value) value {
		h, m, s := math.Round(AsNumber(a[0])), math.Round(AsNumber(a[1])), AsNumber(a[2])
		if !(m >= 0 && m < 60 && s >= 0 && s < 60) {
			return nil
		}
		d := time.Duration(math.Min(math.Abs(h), 839))*time.Hour + time.Duration(m)*time.Minute + time.Duration(math.Round(s*1e6))*time.Microsecond
		if h < 0 {
			d = -d
		}
		return clock(d)
	}},
	"to_seconds": {1, ofDate(func(t time.Time) value { return t.Unix() + daysOf1970*86400 })},
}

// dateText returns a date as text, NULL if it is beyond the years that dates can have.
func dateText(t time.Time) value {
	if t.Year() < 1 || t.Year() > 9999 {
		return nil
	}
	return t.Format(time.DateOnly)
}

// wholeYear returns a year that may be given by two digits: 70 is 1970.
func wholeYear(year int) int {
	switch {
	case year < 70:
		return year + 2000
	case year < 100:
		return year + 1900
	}
	return year
}

// addTime is ADDTIME(t, d), or SUBTIME.
func addTime(a []value, sign time.Duration) value {
	d, ok := parseClock(a[1])
	if !ok {
		return nil
	}
	if t, _, ok := ParseTime(a[0]); ok {
		if t = t.Add(sign * d); t.Year() >= 1 && t.Year() <= 9999 {
			return FormatTime(t)
		}
	} else if of, ok := parseClock(a[0]); ok {
		return clock(of + sign*d)
	}
	return nil
}

// timeFormat is TIME_FORMAT(d, format). A length of time may have more than 23 hours, and has no
// date.
func timeFormat(a []value) value {
	d, ok := timeOfDay(a[0])
	if !ok {
		return nil
	}
	sign, hours := map[bool]string{true: "-"}[d < 0], int(d.Abs()/time.Hour)
	var format strings.Builder
	for rest := AsText(a[1]); rest != ""; {
		n := 1
		if rest[0] == '%' && len(rest) > 1 {
			n = 2
			switch c := rest[1]; {
			case c == 'H' || c == 'k':
				fmt.Fprintf(&format, map[bool]string{true: "%s%02d", false: "%s%d"}[c == 'H'], sign, hours)
				rest = rest[n:]
				continue
			case strings.IndexByte("hIlisSfprT%", c) < 0:
				return nil
			}
		}
		format.WriteString(rest[:n])
		rest = rest[n:]
	}
	return dateFormat([]value{FormatTime(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d.Abs() % (24 * time.Hour))), format.String()})
}

// lastStamp is the last second that MySQL converts from one time zone to another.
const lastStamp = 1<<31 - 1

// convertZone is CONVERT_TZ(t, from, to). Zones are offsets such as +02:00, names of the system's
// time zone database, and SYSTEM, which is UTC here. Times that are no TIMESTAMP stay.
func convertZone(a []value) value {
	t, _, ok := ParseTime(a[0])
	from, to := timeZone(AsText(a[1])), timeZone(AsText(a[2]))
	if !ok || from == nil || to == nil {
		return nil
	}
	at := time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), from)
	if at.Unix() <= 0 || at.Unix() > lastStamp {
		return FormatTime(t)
	}
	return FormatTime(at.In(to))
}

// timeZone returns a time zone by its name, nil if there is none.
func timeZone(name string) *time.Location {
	if offset := strings.TrimLeft(name, "+-"); len(offset) == len(name)-1 {
		hours, minutes, _ := strings.Cut(offset, ":")
		h, err1 := strconv.Atoi(hours)
		m, err2 := strconv.Atoi(minutes)
		seconds := (h*60 + m) * 60
		if err1 != nil || err2 != nil || len(minutes) != 2 || m > 59 || seconds > 14*3600 {
			return nil
		}
		if name[0] == '-' {
			seconds = -seconds
		}
		return time.FixedZone("", seconds)
	}
	if strings.EqualFold(name, "SYSTEM") {
		return time.UTC
	}
	if name == "" || name == "Local" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}

// A timeReader reads a text by a format of STR_TO_DATE.
type timeReader struct {
	text                     string
	parts                    map[byte]int // by the format's letters: Y year, m month, d, H, i, s, f, j day of the year, W weekday, U week
	weekMode                 int
	afternoon                int // 0: it is not said, 1: AM, 2: PM
	hasDate, hasTime, failed bool
}

// strToDate is STR_TO_DATE(text, format): a date, a time of day, or both, as the format has them.
func strToDate(a []value) value {
	r := &timeReader{text: AsText(a[0]), parts: map[byte]int{}}
	r.read(AsText(a[1]))
	p := r.parts
	if r.failed || p['H'] > 23 || p['i'] > 59 || p['s'] > 59 {
		return nil
	}
	if r.afternoon != 0 {
		if p['H'] < 1 || p['H'] > 12 {
			return nil
		}
		p['H'] = p['H']%12 + 12*(r.afternoon-1)
	}
	day := time.Duration(p['H'])*time.Hour + time.Duration(p['i'])*time.Minute + time.Duration(p['s'])*time.Second + time.Duration(p['f'])*time.Microsecond
	switch {
	case !r.hasDate && !r.hasTime:
		return nil // MySQL has 0000-00-00
	case !r.hasDate:
		return clock(day)
	}
	date := time.Date(p['Y'], time.Month(p['m']), p['d'], 0, 0, 0, 0, time.UTC)
	_, hasWeek := p['U']
	weekday, hasWeekday := p['W']
	switch n, hasDay := p['j']; {
	case hasDay:
		date = time.Date(p['Y'], 1, n, 0, 0, 0, 0, time.UTC)
	case hasWeek && hasWeekday:
		date = firstOfWeek(p['Y'], r.weekMode).AddDate(0, 0, 7*(p['U']-1)+(weekday+6*(r.weekMode&1))%7)
	case p['m'] < 1 || p['m'] > 12 || date.Day() != p['d']:
		return nil // MySQL may have such dates, also without month or day
	}
	if !r.hasTime {
		return dateText(date)
	}
	return FormatTime(date.Add(day))
}

// A numberPart is what a letter of a format of STR_TO_DATE stands for if it is a number.
type numberPart struct {
	part   byte
	digits int
}

// timeNumbers are the letters that stand for numbers.
var timeNumbers = map[byte]numberPart{'Y': {'Y', 4}, 'X': {'Y', 4}, 'x': {'Y', 4}, 'y': {'Y', 2}, 'm': {'m', 2}, 'c': {'m', 2}, 'd': {'d', 2}, 'e': {'d', 2}, 'D': {'d', 2}, 'j': {'j', 3},
	'U': {'U', 2}, 'u': {'U', 2}, 'V': {'U', 2}, 'v': {'U', 2}, 'w': {'W', 1}, 'H': {'H', 2}, 'k': {'H', 2}, 'h': {'H', 2}, 'I': {'H', 2}, 'l': {'H', 2}, 'i': {'i', 2}, 's': {'s', 2}, 'S': {'s', 2}, 'f': {'f', 6}}

// Letters of a format that stand for a part of a date, or of a time of day.
const (
	dateLetters  = "YyXxmcdeDjUuVvwMbWa"
	clockLetters = "HkhIlisSfpTr"
)

// FormatHas reports whether a format of STR_TO_DATE has a day, and a time of day.
func FormatHas(format string) (day, clock bool) {
	for i := 0; i+1 < len(format); i++ {
		if format[i] == '%' {
			i++
			clock = clock || strings.IndexByte(clockLetters, format[i]) >= 0
			day = day || strings.IndexByte(dateLetters, format[i]) >= 0
		}
	}
	return day, clock
}

// read reads what the format goes on with.
func (r *timeReader) read(format string) {
	for i := 0; i < len(format) && !r.failed && r.text != ""; i++ {
		if c := format[i]; c != '%' || i+1 == len(format) {
			if r.text = strings.TrimLeft(r.text, " "); c != ' ' {
				r.failed = r.text == "" || r.text[0] != c
				r.text = strings.TrimPrefix(r.text, string(c))
			}
			continue
		}
		i++
		r.part(format[i])
	}
}

// part reads what a letter of the format stands for.
func (r *timeReader) part(c byte) {
	r.text = strings.TrimLeft(r.text, " ")
	r.hasDate = r.hasDate || strings.IndexByte(dateLetters, c) >= 0
	before, number := len(r.text), timeNumbers[c]
	if number.digits > 0 {
		r.hasTime = r.hasTime || strings.IndexByte(clockLetters, c) >= 0
		r.number(number.part, number.digits)
	}
	read := before - len(r.text)
	switch c {
	case 'Y', 'X', 'x', 'y':
		if read <= 2 {
			r.parts['Y'] = wholeYear(r.parts['Y'])
		}
	case 'D': // 1st
		r.text = r.text[min(2, len(r.text)):]
	case 'U', 'u', 'V', 'v':
		r.weekMode = strings.IndexByte("UuVv", c)
	case 'h', 'I', 'l':
		r.afternoon = cmp.Or(r.afternoon, 1)
	case 'f':
		for ; read < 6; read++ {
			r.parts['f'] *= 10
		}
	case 'M', 'b':
		r.word('m', 1, 12, func(n int) string { return time.Month(n).String() })
	case 'W', 'a':
		r.word('W', 0, 6, func(n int) string { return time.Weekday(n).String() })
	case 'p':
		half := strings.ToUpper(r.text[:min(2, len(r.text))])
		r.failed = r.failed || half != "AM" && half != "PM"
		r.afternoon = map[string]int{"AM": 1, "PM": 2}[half]
		r.text = r.text[len(half):]
	case 'T':
		r.read("%H:%i:%S")
	case 'r':
		r.read("%h:%i:%S %p")
	case '%':
		r.failed = r.failed || r.text[0] != '%'
		r.text = r.text[1:]
	default:
		r.failed = r.failed || number.digits == 0
	}
}

// number reads a number of at most so many digits.
func (r *timeReader) number(part byte, digits int) {
	n := 0
	for n < digits && n < len(r.text) && r.text[n] >= '0' && r.text[n] <= '9' {
		n++
	}
	number, err := strconv.Atoi(r.text[:n])
	r.failed = r.failed || err != nil
	r.parts[part], r.text = number, r.text[n:]
}

// word reads one of some names, or the three letters that it begins with.
func (r *timeReader) word(part byte, from, to int, name func(int) string) {
	for n := from; n <= to; n++ {
		for _, s := range []string{name(n), name(n)[:3]} {
			if len(r.text) >= len(s) && strings.EqualFold(r.text[:len(s)], s) {
				r.parts[part], r.text = n, r.text[len(s):]
				return
			}
		}
	}
	r.failed = true
}
