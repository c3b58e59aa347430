package functions

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// Units are the units of intervals, in microseconds. Those of months have no fixed length.
var Units = map[string]float64{
	"MICROSECOND": 1, "SECOND": 1e6, "MINUTE": 60e6, "HOUR": 3600e6, "DAY": 86400e6, "WEEK": 7 * 86400e6, "MONTH": 0, "QUARTER": 0, "YEAR": 0,
}

var months = map[string]int{"MONTH": 1, "QUARTER": 3, "YEAR": 12}

// CompositeUnits are the units of intervals with several numbers, such as '1 2:30' DAY_MINUTE, each
// with the units of these.
var CompositeUnits = map[string][]string{
	"YEAR_MONTH": {"YEAR", "MONTH"}, "DAY_HOUR": {"DAY", "HOUR"}, "DAY_MINUTE": {"DAY", "HOUR", "MINUTE"}, "DAY_SECOND": {"DAY", "HOUR", "MINUTE", "SECOND"},
	"DAY_MICROSECOND": {"DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND"}, "HOUR_MINUTE": {"HOUR", "MINUTE"}, "HOUR_SECOND": {"HOUR", "MINUTE", "SECOND"},
	"HOUR_MICROSECOND": {"HOUR", "MINUTE", "SECOND", "MICROSECOND"}, "MINUTE_SECOND": {"MINUTE", "SECOND"}, "MINUTE_MICROSECOND": {"MINUTE", "SECOND", "MICROSECOND"},
	"SECOND_MICROSECOND": {"SECOND", "MICROSECOND"},
}

// IntervalError returns the error of an interval in a statement, near the rest of the statement.
func IntervalError(rest string) *mysqlerr.Error {
	return mysqlerr.New(mysqlerr.Unsupported, "This version of ftrace doesn't yet support '%s': intervals are added to times, or taken from them, by t + INTERVAL n UNIT, INTERVAL n UNIT + (t) or DATE_ADD(t, INTERVAL n UNIT)",
		rest[:min(len(rest), 40)])
}

// WholeDays reports whether an interval of a unit leaves the time of day as it is.
func WholeDays(unit string) bool {
	return unit == "YEAR_MONTH" || months[unit] != 0 || Units[unit] >= Units["DAY"]
}

// ParseTime reads a time as text, or as a number such as 20260131. day means that it has no time of
// day.
func ParseTime(v any) (t time.Time, day, ok bool) {
	text := strings.Replace(AsText(v), "T", " ", 1)
	for _, layout := range []string{time.DateTime, time.DateOnly, "20060102150405", "20060102"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, len(layout) <= len(time.DateOnly), true
		}
	}
	return time.Time{}, false, false
}

// Instant returns a time as it is compared with others: a day is its midnight. What is no time
// stays.
func Instant(a []value) value {
	t, _, ok := ParseTime(a[0])
	if !ok {
		return AsText(a[0])
	}
	return FormatTime(t)
}

// FormatTime returns a time as text, with six digits of a second if it has a fraction.
func FormatTime(t time.Time) string {
	if t.Nanosecond() != 0 {
		return t.Format("2006-01-02 15:04:05.000000")
	}
	return t.Format(time.DateTime)
}

// intervalNumbers returns the numbers in the value of an interval of several units. If there are
// fewer they are those of the last units. What follows a second is a fraction of it.
func intervalNumbers(v value, units []string) (list []float64, ok bool) {
	text := strings.TrimSpace(AsText(v))
	if len(text) > 1000 {
		return nil, false
	}
	text, negative := strings.CutPrefix(text, "-")
	digits := strings.FieldsFunc(text, func(c rune) bool { return c < '0' || c > '9' })
	if len(digits) > len(units) {
		return nil, false
	}
	list = make([]float64, len(units)-len(digits))
	for i, d := range digits {
		if i == len(digits)-1 && units[len(units)-1] == "MICROSECOND" {
			d = (d + "000000")[:6]
		}
		n, err := strconv.ParseInt(d, 10, 64)
		if err != nil {
			return nil, false
		}
		if negative {
			n = -n
		}
		list = append(list, float64(n))
	}
	return list, true
}

// shiftedTime is shiftTime, with a warning of a text that was cut to make a number of it.
func shiftedTime(s Statement, a []value) value {
	if text, ok := a[1].(string); ok && CompositeUnits[strings.ToUpper(AsText(a[2]))] == nil && !IsNumeral(text) {
		s.Cut("INTEGER", text, false)
	}
	return shiftTime(a)
}

// shiftTime is time_shift(t, n, unit, sign): NULL if t is not a time.
func shiftTime(a []value) value {
	t, day, ok := ParseTime(a[0])
	unit := strings.ToUpper(AsText(a[2]))
	parts, numbers := CompositeUnits[unit], []float64{AsNumber(a[1])}
	if _, text := a[1].(string); parts != nil {
		if n, real := a[1].(float64); real { // MySQL would look at its decimal places
			return mysqlerr.New(mysqlerr.Unsupported, "This version of ftrace doesn't yet support %v as INTERVAL of %s: give it as text", n, unit)
		}
		var valid bool
		numbers, valid = intervalNumbers(a[1], parts)
		ok = ok && valid
	} else {
		parts = []string{unit}
		switch {
		case unit == "SECOND": // which may have a fraction
		case text:
			numbers[0] = math.Trunc(numbers[0])
		default:
			numbers[0] = math.Round(numbers[0])
		}
	}
	var length, month float64 // microseconds, months
	for i, n := range numbers {
		length += n * Units[parts[i]]
		month += n * float64(months[parts[i]])
	}
	if !ok || math.Abs(month) > 12e4 || math.Abs(length) > 1e4*366*86400e6 {
		return nil // not a time, or beyond the years that times can have
	}
	sign := AsNumber(a[3])
	if month != 0 {
		first := time.Date(t.Year(), t.Month()+time.Month(sign*month), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		t = first.AddDate(0, 0, min(t.Day(), first.AddDate(0, 1, -1).Day())-1) // a shorter month ends earlier
	}
	t = time.UnixMicro(t.UnixMicro() + int64(sign*math.Trunc(math.Round(length*1e3)/1e3))).UTC()
	switch {
	case t.Year() < 1 || t.Year() > 9999:
		return nil
	case day && WholeDays(unit):
		return t.Format(time.DateOnly)
	}
	return FormatTime(t)
}

// timeBetween is TIMESTAMPDIFF(unit, a, b): the number of whole units from a to b.
func timeBetween(args []value) value {
	unit := strings.ToUpper(AsText(args[0]))
	a, _, ok1 := ParseTime(args[1])
	b, _, ok2 := ParseTime(args[2])
	length, known := Units[unit]
	switch {
	case !ok1 || !ok2 || !known:
		return nil
	case length != 0:
		return (b.UnixMicro() - a.UnixMicro()) / int64(length)
	case b.Before(a):
		return -timeBetween([]value{unit, args[2], args[1]}).(int64)
	}
	n := (b.Year()-a.Year())*12 + int(b.Month()-a.Month())
	if rest := func(t time.Time) time.Duration {
		return time.Duration(t.Day())*24*time.Hour + t.Sub(t.Truncate(24*time.Hour))
	}; rest(b) < rest(a) {
		n--
	}
	return int64(n / months[unit])
}
