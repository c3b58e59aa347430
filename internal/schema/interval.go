package schema

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Adding to times, and taking from them, becomes a call. t - INTERVAL n MINUTE and DATE_SUB(t,
// INTERVAL n MINUTE) become time_shift(t, n, 'MINUTE', -1). INTERVAL n MINUTE + t becomes
// shift_of_time(n, 'MINUTE', 1, t).

// units are the units of intervals, in microseconds. Those of months have no fixed length.
var units = map[string]float64{
	"MICROSECOND": 1, "SECOND": 1e6, "MINUTE": 60e6, "HOUR": 3600e6, "DAY": 86400e6, "WEEK": 7 * 86400e6, "MONTH": 0, "QUARTER": 0, "YEAR": 0,
}

var months = map[string]int{"MONTH": 1, "QUARTER": 3, "YEAR": 12}

// shifting are the functions that take an interval, and the direction in which they shift.
var shifting = map[string]int{"DATE_ADD": 1, "ADDDATE": 1, "DATE_SUB": -1, "SUBDATE": -1}

// composites are the units of intervals with several numbers, such as '1 2:30' DAY_MINUTE, each
// with the units of these.
var composites = map[string][]string{
	"YEAR_MONTH": {"YEAR", "MONTH"}, "DAY_HOUR": {"DAY", "HOUR"}, "DAY_MINUTE": {"DAY", "HOUR", "MINUTE"}, "DAY_SECOND": {"DAY", "HOUR", "MINUTE", "SECOND"},
	"DAY_MICROSECOND": {"DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND"}, "HOUR_MINUTE": {"HOUR", "MINUTE"}, "HOUR_SECOND": {"HOUR", "MINUTE", "SECOND"},
	"HOUR_MICROSECOND": {"HOUR", "MINUTE", "SECOND", "MICROSECOND"}, "MINUTE_SECOND": {"MINUTE", "SECOND"}, "MINUTE_MICROSECOND": {"MINUTE", "SECOND", "MICROSECOND"},
	"SECOND_MICROSECOND": {"SECOND", "MICROSECOND"},
}

// intervals rewrites all INTERVALs.
func (r *rewriter) intervals() error {
	begins := map[int]int{} // by the last token of a sum with an interval: its first token, to which another interval may be added
	for i := range r.tokens {
		if !r.at(i).is("INTERVAL") || r.at(i-1).is(".") || r.at(i+1).is(".") || r.at(i-1).is("AS") {
			continue
		}
		refused := intervalError(r.source[r.at(i).start:])
		unit := r.unit(i)
		if unit == 0 {
			return refused
		}
		sign := 1
		switch before := r.at(i - 1); {
		case before.is("+"), before.is("-"):
			first, ok := r.operand(i-2, begins)
			if !ok {
				return refused
			}
			r.enclose(first, unit, "time_shift(", ")")
			r.out[i-1] = ","
			begins[unit] = first
			if before.is("-") {
				sign = -1
			}
		case r.at(unit+1).is("+") && (i == 0 || r.around(i-1) || beforeInterval[strings.ToUpper(before.text)]):
			// More than one operand means different things in MySQL and MariaDB.
			last := r.operandEnd(unit + 2)
			if last < 0 || !r.ends(last+1) && !(r.at(last+1).identifier() && r.ends(last+2)) {
				return refused
			}
			r.enclose(i, last, "shift_of_time(", ")")
			r.out[unit+1] = ","
		case before.is(","):
			first := r.opening(i - 1)
			if sign = shifting[strings.ToUpper(r.at(first-1).text)]; sign == 0 || !r.at(unit+1).is(")") {
				return refused
			}
			r.out[first-1] = "time_shift"
		default:
			return refused
		}
		name := strings.ToUpper(r.at(unit).text)
		r.out[i], r.out[unit] = "", fmt.Sprintf(", '%s', %d", name, sign)
		if n := r.at(unit - 1); composites[name] != nil && n.kind == num && strings.Trim(n.text, "0123456789.") == "" {
			switch { // 1.30 MINUTE_SECOND has 30 seconds
			case unit == i+2:
				r.out[unit-1] = quoteString(n.text)
			case unit == i+3 && r.at(i+1).is("-"):
				r.out[i+1], r.out[unit-1] = "", quoteString("-"+n.text)
			}
		}
	}
	return nil
}

// beforeInterval are tokens that may come before an interval to which something is added.
var beforeInterval = map[string]bool{"(": true, "=": true, "<=>": true, "<": true, ">": true, "<=": true, ">=": true, "<>": true, "!=": true, "AND": true, "BETWEEN": true}

func intervalError(rest string) *Error {
	return NewError(erUnsupported, "This version of ftrace doesn't yet support '%s': intervals are added to times, or taken from them, by t + INTERVAL n UNIT, INTERVAL n UNIT + (t) or DATE_ADD(t, INTERVAL n UNIT)",
		rest[:min(len(rest), 40)])
}

// unit returns the index of an interval's unit, 0 if there is none.
func (r *rewriter) unit(interval int) int {
	depth := 0
	for i := interval + 1; i < len(r.tokens) && depth >= 0; i++ {
		t := r.at(i)
		name := strings.ToUpper(t.text)
		_, known := units[name]
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && i > interval+1 && t.kind == word && (known || composites[name] != nil) && !r.at(i+1).is("("):
			return i
		}
	}
	return 0
}

// operand returns the first token of the value that ends with token last: a name, a literal, a
// call, something in parentheses, or one of these with an interval. It is not ok if the value is
// more than that.
func (r *rewriter) operand(last int, begins map[int]int) (first int, ok bool) {
	first, chained := begins[last]
	switch t := r.at(last); {
	case chained:
		return first, true
	case t.is(")"):
		first = r.opening(last - 1)
		if before := r.at(first - 1); before.kind == name || before.kind == word && !beforeParenthesis[strings.ToUpper(before.text)] {
			first--
		}
	case t.is("END"), t.kind == op:
		return 0, false
	default:
		for first = last; r.at(first - 1).is("."); first -= 2 {
		}
	}
	before := r.at(first - 1)
	for _, other := range []string{"+", "-", "*", "/", "%", "DIV", "MOD", "INTERVAL", "!"} {
		if before.is(other) {
			return 0, false
		}
	}
	return first, true
}

// beforeParenthesis are the words that may come before a value in parentheses and are not
// functions.
var beforeParenthesis = map[string]bool{"SELECT": true, "DISTINCT": true, "WHERE": true, "AND": true, "OR": true, "NOT": true, "ON": true, "IN": true, "BETWEEN": true, "CASE": true, "WHEN": true, "THEN": true,
	"ELSE": true, "HAVING": true, "BY": true, "LIKE": true, "SET": true, "IS": true}

// parseTime reads a time as text. day means that it has no time of day.
func parseTime(v driver.Value) (t time.Time, day, ok bool) {
	text := strings.Replace(asText(v), "T", " ", 1)
	if t, err := time.Parse(time.DateTime, text); err == nil {
		return t, false, true
	}
	t, err := time.Parse(time.DateOnly, text)
	return t, true, err == nil
}

// intervalNumbers returns the numbers in the value of an interval of several units. If there are
// fewer they are those of the last units. What follows a second is a fraction of it.
func intervalNumbers(v driver.Value, units []string) (list []float64, ok bool) {
	text := strings.TrimSpace(asText(v))
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

// shiftTime is time_shift(t, n, unit, sign): NULL if t is not a time.
func shiftTime(a []driver.Value) driver.Value {
	t, day, ok := parseTime(a[0])
	unit := strings.ToUpper(asText(a[2]))
	parts, numbers := composites[unit], []float64{asNumber(a[1])}
	if _, text := a[1].(string); parts != nil {
		if n, real := a[1].(float64); real { // MySQL would look at its decimal places
			return fmt.Errorf("this version of ftrace doesn't yet support %v as INTERVAL of %s: give it as text", n, unit)
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
		length += n * units[parts[i]]
		month += n * float64(months[parts[i]])
		day = day && (units[parts[i]] == 0 || units[parts[i]] >= units["DAY"])
	}
	if !ok || math.Abs(month) > 12e4 || math.Abs(length) > 1e4*366*86400e6 {
		return nil // not a time, or beyond the years that times can have
	}
	sign := asNumber(a[3])
	if month != 0 {
		first := time.Date(t.Year(), t.Month()+time.Month(sign*month), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		t = first.AddDate(0, 0, min(t.Day(), first.AddDate(0, 1, -1).Day())-1) // a shorter month ends earlier
	}
	t = time.UnixMicro(t.UnixMicro() + int64(sign*math.Trunc(math.Round(length*1e3)/1e3))).UTC()
	switch {
	case t.Year() < 1 || t.Year() > 9999:
		return nil
	case day:
		return t.Format(time.DateOnly)
	case t.Nanosecond() != 0:
		return t.Format("2006-01-02 15:04:05.000000")
	}
	return t.Format(time.DateTime)
}

// timeBetween is TIMESTAMPDIFF(unit, a, b): the number of whole units from a to b.
func timeBetween(args []driver.Value) driver.Value {
	unit := strings.ToUpper(asText(args[0]))
	a, _, ok1 := parseTime(args[1])
	b, _, ok2 := parseTime(args[2])
	length, known := units[unit]
	switch {
	case !ok1 || !ok2 || !known:
		return nil
	case length != 0:
		return (b.UnixMicro() - a.UnixMicro()) / int64(length)
	case b.Before(a):
		return -timeBetween([]driver.Value{unit, args[2], args[1]}).(int64)
	}
	n := (b.Year()-a.Year())*12 + int(b.Month()-a.Month())
	if rest := func(t time.Time) time.Duration {
		return time.Duration(t.Day())*24*time.Hour + t.Sub(t.Truncate(24*time.Hour))
	}; rest(b) < rest(a) {
		n--
	}
	return int64(n / months[unit])
}
