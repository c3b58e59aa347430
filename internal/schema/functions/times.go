package functions

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
)

// timeFunctions are MySQL's functions that take or return times.
var timeFunctions = map[string]function{
	"now":            {-1, now},
	"sysdate":        {-1, now},
	"utc_timestamp":  {-1, now},
	"curdate":        {0, today},
	"utc_date":       {0, today},
	"curtime":        {-1, clockTime},
	"utc_time":       {-1, clockTime},
	"unix_timestamp": {-1, unixTimestamp},
	"from_unixtime":  between(1, 2, fromUnixtime),
	"date_format":    {2, dateFormat},
	"adddate":        {2, func(a []value) value { return shiftTime([]value{a[0], a[1], "DAY", int64(1)}) }},
	"subdate":        {2, func(a []value) value { return shiftTime([]value{a[0], a[1], "DAY", int64(-1)}) }},
	"timestampadd":   {3, func(a []value) value { return shiftTime([]value{a[2], a[1], a[0], int64(1)}) }},
	"timestampdiff":  {3, timeBetween},
	"sec_to_time": {1, func(a []value) value {
		return clock(time.Duration(math.Round(min(max(AsNumber(a[0]), -1e9), 1e9)*1e6)) * time.Microsecond)
	}},
	"time_to_sec": {1, timeToSeconds},
	"time": {1, func(a []value) value {
		if d, ok := timeOfDay(a[0]); ok {
			return clock(d)
		}
		return nil
	}},
	"time_of": between(1, 2, func(a []value) value {
		d, ok := timeOfDay(a[0])
		if !ok {
			return nil
		}
		whole := d.Truncate(time.Second)
		return clock(whole).(string) + secondPlaces(time.Time{}.Add((d-whole).Abs()), a[1:])
	}),
	"datetime_of": between(1, 2, func(a []value) value {
		t, _, ok := ParseTime(a[0])
		if !ok {
			return nil
		}
		return t.Format(time.DateTime) + secondPlaces(t, a[1:])
	}),
	"timestamp_of": between(1, 2, func(a []value) value {
		t, _, ok := ParseTime(a[0])
		if ok && len(a) == 2 {
			var d time.Duration
			d, ok = timeOfDay(a[1])
			t = t.Add(d)
		}
		if !ok {
			return nil
		}
		return FormatTime(t)
	}),
	"datediff": {2, func(args []value) value {
		a, _, ok1 := ParseTime(args[0])
		b, _, ok2 := ParseTime(args[1])
		if !ok1 || !ok2 {
			return nil
		}
		return (a.Truncate(24*time.Hour).Unix() - b.Truncate(24*time.Hour).Unix()) / 86400
	}},
	"timediff": {2, func(args []value) value {
		if a, _, ok := ParseTime(args[0]); ok {
			if b, _, ok := ParseTime(args[1]); ok {
				return clock(a.Sub(b))
			}
			return nil
		}
		a, ok1 := parseClock(args[0])
		b, ok2 := parseClock(args[1])
		if !ok1 || !ok2 {
			return nil
		}
		return clock(a - b)
	}},
	"instant": {1, Instant},
	"digits_of_time": {1, func(a []value) value {
		n, _ := strconv.ParseInt(strings.NewReplacer("-", "", ":", "", " ", "").Replace(AsText(a[0])), 10, 64)
		return n
	}},
	"from_days": {1, func(a []value) value {
		n := math.Round(AsNumber(a[0]))
		if !(n > 365 && n < 3652425) {
			return "0000-00-00"
		}
		return time.Unix((int64(n)-daysOf1970)*86400, 0).UTC().Format(time.DateOnly)
	}},
	"week":       between(1, 2, func(a []value) value { return weekFunction(a, false) }),
	"yearweek":   between(1, 2, func(a []value) value { return weekFunction(a, true) }),
	"last_day":   {1, ofDate(func(t time.Time) value { return t.AddDate(0, 1, -t.Day()).Format(time.DateOnly) })},
	"dayname":    {1, ofDate(func(t time.Time) value { return t.Weekday().String() })},
	"monthname":  {1, ofDate(func(t time.Time) value { return t.Month().String() })},
	"dayofyear":  {1, ofDate(func(t time.Time) value { return int64(t.YearDay()) })},
	"dayofweek":  {1, ofDate(func(t time.Time) value { return int64(t.Weekday()) + 1 })},
	"weekday":    {1, ofDate(func(t time.Time) value { return int64(t.Weekday()+6) % 7 })},
	"weekofyear": {1, ofDate(func(t time.Time) value { _, week := t.ISOWeek(); return int64(week) })},
	"to_days":    {1, ofDate(func(t time.Time) value { return t.Truncate(24*time.Hour).Unix()/86400 + daysOf1970 })},
	"extract":    {2, func(a []value) value { return partOfTime(strings.ToUpper(AsText(a[0])), a[1]) }},
	"year":       {1, part("YEAR")}, "quarter": {1, part("QUARTER")}, "month": {1, part("MONTH")}, "day": {1, part("DAY")}, "dayofmonth": {1, part("DAY")},
	"hour": {1, part("HOUR")}, "minute": {1, part("MINUTE")}, "second": {1, part("SECOND")}, "microsecond": {1, part("MICROSECOND")},
}

func now([]value) value       { return time.Now().UTC().Format(time.DateTime) }
func clockTime([]value) value { return time.Now().UTC().Format(time.TimeOnly) }
func today([]value) value     { return time.Now().UTC().Format(time.DateOnly) }

// ofDate returns a function of a date, which is NULL if its argument is not a date.
func ofDate(f func(time.Time) value) func([]value) value {
	return func(a []value) value {
		t, _, ok := ParseTime(a[0])
		if !ok {
			return nil
		}
		return f(t)
	}
}

func part(unit string) func([]value) value {
	return func(a []value) value { return partOfTime(unit, a[0]) }
}

// daysOf1970 is TO_DAYS('1970-01-01').
const daysOf1970 = 719528

// weekFunction is WEEK(t, mode), or YEARWEEK(t, mode).
func weekFunction(a []value, withYear bool) value {
	t, _, ok := ParseTime(a[0])
	if !ok {
		return nil
	}
	mode := 0
	if len(a) == 2 {
		mode = int(AsNumber(a[1])) & 7
	}
	if withYear {
		year, week := weekOf(t, mode|2)
		return int64(year*100 + week)
	}
	_, week := weekOf(t, mode)
	return int64(week)
}

// weekOf returns the week of a day and the week's year. Bits of a mode are those of WEEK(). 1:
// weeks begin on Monday. 2: days before the first week are in the last one of the year before, not
// in week 0. The first week has at least four days of the year, or all
// seven if bits 1 and 4 are the same.
func weekOf(t time.Time, mode int) (year, week int) {
	year = t.Year()
	begin := firstOfWeek(year, mode)
	if t.Before(begin) {
		if mode&2 == 0 {
			return year, 0
		}
		year--
		begin = firstOfWeek(year, mode)
	} else if next := firstOfWeek(year+1, mode); mode&2 != 0 && !t.Before(next) {
		return year + 1, 1
	}
	return year, int(t.Sub(begin)/(7*24*time.Hour)) + 1
}

// firstOfWeek returns the first day of the first week of a year.
func firstOfWeek(year, mode int) time.Time {
	t := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	weekday := (int(t.Weekday()) + 6*(mode&1)) % 7
	if whole := mode&1 == mode>>2&1; whole && weekday != 0 || weekday > 3 {
		weekday -= 7
	}
	return t.AddDate(0, 0, -weekday)
}

// partOfTime is EXTRACT(unit FROM t).
func partOfTime(unit string, v value) value {
	if parts := CompositeUnits[unit]; parts != nil {
		number := int64(0)
		for _, part := range parts {
			n, ok := partOfTime(part, v).(int64)
			if !ok {
				return nil
			}
			number = number*cmp.Or(map[string]int64{"MICROSECOND": 1e6}[part], 100) + n
		}
		return number
	}
	if unit == "WEEK" {
		return weekFunction([]value{v}, false)
	}
	t, _, ok := ParseTime(v)
	if !ok {
		d, isClock := parseClock(v)
		if !isClock || unit != "HOUR" && unit != "MINUTE" && unit != "SECOND" && unit != "MICROSECOND" {
			return nil
		}
		if d = d.Abs(); unit == "HOUR" {
			return int64(d / time.Hour)
		}
		t = time.Time{}.Add(d)
	}
	return int64(map[string]int{"YEAR": t.Year(), "QUARTER": (int(t.Month()) + 2) / 3, "MONTH": int(t.Month()), "DAY": t.Day(), "HOUR": t.Hour(), "MINUTE": t.Minute(), "SECOND": t.Second(),
		"MICROSECOND": t.Nanosecond() / 1000}[unit])
}

// parseClock reads a time of day, or a length of time: [-][days ]hours:minutes[:seconds].
func parseClock(v value) (d time.Duration, ok bool) {
	text, negative := strings.CutPrefix(AsText(v), "-")
	days, clock, hasDays := strings.Cut(text, " ")
	if !hasDays {
		days, clock = "0", text
	}
	hours, rest, _ := strings.Cut(clock, ":")
	minutes, seconds, hasSeconds := strings.Cut(rest, ":")
	if !hasSeconds {
		seconds = "0"
	}
	n, err := strconv.ParseUint(days, 10, 5)
	h, err1 := strconv.ParseUint(hours, 10, 16)
	m, err2 := strconv.ParseUint(minutes, 10, 16)
	s, err3 := strconv.ParseFloat(seconds, 64)
	if cmp.Or(err, err1, err2, err3) != nil || m > 59 || !(s >= 0 && s < 60) {
		return 0, false
	}
	d = time.Duration(24*n+h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(math.Round(s*1e6))*time.Microsecond
	if negative {
		d = -d
	}
	return d, true
}

// clock returns a length of time as MySQL's TIME, which has a limit.
func clock(d time.Duration) value {
	sign := ""
	if d < 0 {
		sign = "-"
	}
	d = min(d.Abs(), 839*time.Hour-time.Second)
	text := fmt.Sprintf("%s%02d:%02d:%02d", sign, d/time.Hour, d/time.Minute%60, d/time.Second%60)
	if micro := d / time.Microsecond % 1e6; micro != 0 {
		text += fmt.Sprintf(".%06d", micro)
	}
	return text
}

func timeToSeconds(a []value) value {
	d, ok := timeOfDay(a[0])
	if !ok {
		return nil
	}
	return int64(d / time.Second)
}

// timeOfDay returns the time of day of a time, or a length of time.
func timeOfDay(v value) (time.Duration, bool) {
	if t, _, ok := ParseTime(v); ok {
		return t.Sub(t.Truncate(24 * time.Hour)), true
	}
	return parseClock(v)
}

// secondPlaces returns the fraction of a time's second with so many digits; none are none.
func secondPlaces(t time.Time, digits []value) string {
	if len(digits) == 0 {
		return ""
	}
	n := int(min(max(AsNumber(digits[0]), 0), 6))
	return fmt.Sprintf(".%06d", t.Nanosecond()/1000)[:n+min(n, 1)]
}

// fromUnixtime is FROM_UNIXTIME(seconds[, format]).
func fromUnixtime(a []value) value {
	seconds := AsNumber(a[0])
	if !(seconds >= 0 && seconds < 1<<32) {
		return nil
	}
	text := FormatTime(time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC())
	if len(a) == 2 {
		return dateFormat([]value{text, a[1]})
	}
	return text
}

// unixTimestamp returns the seconds since 1970 of a time as text, or of now; NULL if it is not a
// time, or before.
func unixTimestamp(args []value) value {
	if len(args) == 0 {
		return time.Now().Unix()
	}
	if t, _, ok := ParseTime(args[0]); ok && t.Unix() >= 0 {
		return t.Unix()
	}
	return nil
}

// timeLayouts are Go's layouts for the letters of DATE_FORMAT.
var timeLayouts = map[byte]string{'Y': "2006", 'y': "06", 'm': "01", 'c': "1", 'M': "January", 'b': "Jan", 'd': "02", 'e': "2", 'H': "15", 'h': "03", 'I': "03", 'l': "3", 'i': "04", 's': "05", 'S': "05", 'p': "PM",
	'W': "Monday", 'a': "Mon", 'T': "15:04:05", 'r': "03:04:05 PM", 'j': "002"}

func dateFormat(a []value) value {
	t, _, ok := ParseTime(a[0])
	if !ok {
		return nil
	}
	var b strings.Builder
	format := AsText(a[1])
	for i := 0; i < len(format); i++ {
		if b.Len() > engine.MaxText {
			return tooLong("date_format")
		}
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch c := format[i]; {
		case timeLayouts[c] != "":
			b.WriteString(t.Format(timeLayouts[c]))
		case c == 'k':
			b.WriteString(strconv.Itoa(t.Hour()))
		case c == 'f':
			fmt.Fprintf(&b, "%06d", t.Nanosecond()/1000)
		case c == 'w':
			b.WriteString(strconv.Itoa(int(t.Weekday())))
		case c == 'D':
			ending := "th"
			if tens := t.Day() / 10; tens != 1 && t.Day()%10 <= 3 {
				ending = []string{"th", "st", "nd", "rd"}[t.Day()%10]
			}
			fmt.Fprint(&b, t.Day(), ending)
		case strings.IndexByte("UuVv", c) >= 0:
			_, week := weekOf(t, strings.IndexByte("UuVv", c))
			fmt.Fprintf(&b, "%02d", week)
		case strings.IndexByte("Xx", c) >= 0:
			year, _ := weekOf(t, 2+strings.IndexByte("Xx", c))
			fmt.Fprintf(&b, "%04d", year)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
