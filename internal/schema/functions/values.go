package functions

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ftrace-wrap/ftrace-wrap/internal/words"
)

// A value is one that a function takes or returns: nil, int64, float64 or string.
type value = driver.Value

// Digits is how many digits a decimal number can have: SQLite's numbers are floating-point ones.
const Digits = 15

// IntegerText returns an integer as clients show it. It is not ok if it is NULL.
func IntegerText(v any) (text string, ok bool) {
	if f, ok := v.(float64); ok && f == math.Trunc(f) {
		return strconv.FormatFloat(f+0, 'f', 0, 64), true
	}
	return Text(v)
}

// DecimalText returns a decimal number with so many places, as clients show it. It is not ok if it
// is NULL.
func DecimalText(v any, places int) (text string, ok bool) {
	switch v := v.(type) {
	case int64:
		text = strconv.FormatInt(v, 10)
		if places > 0 {
			text += "." + strings.Repeat("0", places)
		}
		return text, true
	case float64:
		v = AsNumber(decimals(v, float64(places), true))
		text = strconv.FormatFloat(v+0, 'f', -1, 64) // no digits but those that it has
		whole, fraction, _ := strings.Cut(text, ".")
		if places == 0 || len(fraction) > places {
			return whole, true
		}
		return whole + "." + fraction + strings.Repeat("0", places-len(fraction)), true
	}
	return Text(v)
}

// Text returns a value as clients show it, whatever its column is. It is not ok if it is
// NULL.
func Text(v any) (text string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "", false
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		if a := max(v, -v); a != 0 && (a < 1e-15 || a >= 1e15) {
			return strconv.FormatFloat(v, 'e', -1, 64), true
		}
		return strconv.FormatFloat(v, 'f', -1, 64), true
	case string:
		return v, true
	}
	return fmt.Sprint(v), true
}

// IsNumeral reports whether all of a text is a number.
func IsNumeral(text string) bool { return numeral().MatchString(strings.TrimSpace(text)) }

// wholeNumber matches what of a text is an integer.
var wholeNumber = words.Regexp(`^\s*[-+]?[0-9]+`)

var numeral = words.Regexp(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
