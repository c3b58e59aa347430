package schema

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strings"
	"time"
)

// What is added to times, or taken from them, is a call of time_shift: t - INTERVAL n MINUTE, and DATE_SUB(t, INTERVAL n MINUTE), become time_shift(t, n, 'MINUTE', -1).

// units are those of intervals, in microseconds; those of months are of no certain length.
var units = map[string]float64{
	"MICROSECOND": 1, "SECOND": 1e6, "MINUTE": 60e6, "HOUR": 3600e6, "DAY": 86400e6, "WEEK": 7 * 86400e6, "MONTH": 0, "QUARTER": 0, "YEAR": 0,
}

var months = map[string]int{"MONTH": 1, "QUARTER": 3, "YEAR": 12}

// shifting are the functions that take an interval, and in which direction they go.
var shifting = map[string]int{"DATE_ADD": 1, "ADDDATE": 1, "DATE_SUB": -1, "SUBDATE": -1}

// intervals rewrites all INTERVALs.
func (r *rewriter) intervals() error {
	begins := map[int]int{} // by the last token of a sum with an interval: its first, which another interval may be added to
	for i := range r.tokens {
		if !r.at(i).is("INTERVAL") || r.at(i-1).is(".") || r.at(i+1).is(".") || r.at(i-1).is("AS") {
			continue
		}
		unit, err := r.unit(i)
		if err != nil {
			return err
		}
		sign, first, end := 1, 0, ")"
		switch before := r.at(i - 1); {
		case before.is("+"), before.is("-"):
			var ok bool
			if first, ok = r.operand(i-2, begins); !ok {
				return intervalError(r.source[r.at(i).start:])
			}
			r.out[first], r.out[i-1] = "time_shift("+r.out[first], ","
			begins[unit] = first
			if before.is("-") {
				sign = -1
			}
		case before.is(","):
			first = r.opening(i - 1)
			if sign = shifting[strings.ToUpper(r.at(first-1).text)]; sign == 0 || !r.at(unit+1).is(")") {
				return intervalError(r.source[r.at(i).start:])
			}
			r.out[first-1], end = "time_shift", ""
		default:
			return intervalError(r.source[r.at(i).start:])
		}
		r.out[i], r.out[unit] = "", fmt.Sprintf(", '%s', %d%s", strings.ToUpper(r.at(unit).text), sign, end)
	}
	return nil
}

func intervalError(rest string) *Error {
	return NewError(erUnsupported, "This version of ftrace doesn't yet support '%s': intervals are added to times, or taken from them, by t + INTERVAL n UNIT or DATE_ADD(t, INTERVAL n UNIT), of units from MICROSECOND to YEAR",
		rest[:min(len(rest), 40)])
}

// unit returns the token of an interval's unit.
func (r *rewriter) unit(interval int) (int, error) {
	depth := 0
	for i := interval + 1; i < len(r.tokens) && depth >= 0; i++ {
		t := r.at(i)
		_, known := units[strings.ToUpper(t.text)]
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth == 0 && i > interval+1 && t.kind == word && known && !r.at(i+1).is("("):
			return i, nil
		}
	}
	return 0, intervalError(r.source[r.at(interval).start:])
}

// opening returns the parenthesis that is open at a token.
func (r *rewriter) opening(at int) int {
	depth := 0
	for ; at >= 0 && depth <= 0; at-- {
		switch {
		case r.at(at).is("("):
			depth++
		case r.at(at).is(")"):
			depth--
		}
	}
	return at + 1
}

// operand returns the first token of the value that ends with one: a name, a literal, a call, something in parentheses, or such with an interval. It is not ok if that is more.
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
	for _, other := range []string{"+", "-", "*", "/", "%", "DIV", "MOD", "INTERVAL"} {
		if before.is(other) {
			return 0, false
		}
	}
	return first, true
}

// beforeParenthesis are the words that may stand before a value in parentheses and are no functions.
var beforeParenthesis = map[string]bool{"SELECT": true, "DISTINCT": true, "WHERE": true, "AND": true, "OR": true, "NOT": true, "ON": true, "IN": true, "BETWEEN": true, "CASE": true, "WHEN": true, "THEN": true,
	"ELSE": true, "HAVING": true, "BY": true, "LIKE": true, "SET": true, "IS": true}

// parseTime reads a time as text. day says that it has no time of day.
func parseTime(v driver.Value) (t time.Time, day, ok bool) {
	text := strings.Replace(asText(v), "T", " ", 1)
	if t, err := time.Parse(time.DateTime, text); err == nil {
		return t, false, true
	}
	t, err := time.Parse(time.DateOnly, text)
	return t, true, err == nil
}

// shiftTime is time_shift(t, n, unit, sign): NULL if t is no time.
func shiftTime(a []driver.Value) driver.Value {
	t, day, ok := parseTime(a[0])
	n, unit := asNumber(a[1])*asNumber(a[3]), strings.ToUpper(asText(a[2]))
	length, known := units[unit]
	if !ok || !known {
		return nil
	}
	if unit != "SECOND" { // of which there are parts
		n = math.Round(n)
	}
	if math.Abs(n) > 1e5*365*86400e6 || length != 0 && math.Abs(n*length) > 1e4*366*86400e6 {
		return nil // beyond all years that there are
	}
	if length != 0 {
		t = time.UnixMicro(t.UnixMicro() + int64(math.Round(n*length))).UTC()
		day = day && length >= units["DAY"]
	} else {
		month := time.Date(t.Year(), t.Month()+time.Month(n*float64(months[unit])), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
		t = month.AddDate(0, 0, min(t.Day(), month.AddDate(0, 1, -1).Day())-1) // a shorter month has an earlier last day
	}
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

// timeBetween is TIMESTAMPDIFF(unit, a, b): how many whole units it is from a to b.
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
