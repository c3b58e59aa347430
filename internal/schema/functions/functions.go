package functions

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A function takes that many arguments, and returns NULL if one of them is NULL; -1: any number. It
// keeps none of them, since texts are SQLite's own. An error that it returns is that of the
// statement.
type function struct {
	args int32
	call func(args []value) value
}

// between returns a function of least to most arguments.
func between(least, most int, call func(args []value) value) function {
	return function{-1, func(args []value) value {
		switch {
		case len(args) < least || len(args) > most:
			return wrongCount(args)
		case slices.Contains(args, nil):
			return nil
		}
		return call(args)
	}}
}

// functions are MySQL's functions that SQLite lacks, or has with another meaning.
var functions = map[string]function{
	"concat":           {-1, concat},
	"concat_ws":        {-1, concatWith},
	"char_length":      {1, func(a []value) value { return int64(utf8.RuneCountInString(AsText(a[0]))) }},
	"character_length": {1, func(a []value) value { return int64(utf8.RuneCountInString(AsText(a[0]))) }},
	"length":           {1, func(a []value) value { return int64(len(AsText(a[0]))) }},
	"octet_length":     {1, func(a []value) value { return int64(len(AsText(a[0]))) }},
	"upper":            {1, text1(strings.ToUpper)},
	"lower":            {1, text1(strings.ToLower)},
	"reverse":          {1, text1(reversed)},
	"repeat":           {2, func(a []value) value { return repeated("repeat", AsText(a[0]), AsNumber(a[1])) }},
	"replace":          {3, replaced},

	"field":             {-1, func(a []value) value { return field(a, strings.ToLower) }},
	"field_exact":       {-1, func(a []value) value { return field(a, asIs) }},
	"find_in_set":       {2, func(a []value) value { return findInSet(a, strings.ToLower) }},
	"find_in_set_exact": {2, func(a []value) value { return findInSet(a, asIs) }},
	"strcmp":            {2, func(a []value) value { return strcmp(a, strings.ToLower) }},
	"strcmp_exact":      {2, func(a []value) value { return strcmp(a, asIs) }},

	"substr":           between(2, 3, substring),
	"substring":        between(2, 3, substring),
	"mid":              {3, substring},
	"format":           {2, grouped},
	"ln":               {1, logarithm},
	"log":              between(1, 2, logarithm),
	"round":            between(1, 2, rounded),
	"round_double":     between(1, 2, roundedDouble),
	"mod":              {2, func(a []value) value { return divided(a, true) }},
	"whole_division":   {2, func(a []value) value { return divided(a, false) }},
	"number_text":      {2, func(a []value) value { return numberText(a[0], int(AsNumber(a[1]))) }},
	"places":           {2, func(a []value) value { return places(a[0], int(AsNumber(a[1]))) }},
	"quotient":         {3, quotientOf},
	"row_key":          {-1, rowKey},
	"bits_of_one":      {2, func(a []value) value { return bitsOf(a[0]) ^ bitsOf(a[1]) }},
	"date_of":          {1, ofDate(func(t time.Time) value { return t.Format(time.DateOnly) })},
	"ucase":            {1, text1(strings.ToUpper)},
	"lcase":            {1, text1(strings.ToLower)},
	"format_pico_time": {1, formatPicoseconds},
	"format_time":      {1, formatPicoseconds}, // of MySQL's schema sys
	"left":             {2, func(a []value) value { return ends(a, true) }},
	"right":            {2, func(a []value) value { return ends(a, false) }},
	"substring_index":  {3, substringIndex},
	"locate":           between(2, 3, func(a []value) value { return locate(a, strings.ToLower) }),
	"locate_exact":     between(2, 3, func(a []value) value { return locate(a, asIs) }),
	"instr":            {2, func(a []value) value { return locate([]value{a[1], a[0]}, strings.ToLower) }},
	"instr_exact":      {2, func(a []value) value { return locate([]value{a[1], a[0]}, asIs) }},
	"lpad":             {3, func(a []value) value { return pad(a, true) }},
	"rpad":             {3, func(a []value) value { return pad(a, false) }},
	"greatest":         {-1, func(a []value) value { return extreme(a, 1) }},
	"least":            {-1, func(a []value) value { return extreme(a, -1) }},
	"is_null": {-1, func(a []value) value {
		if len(a) != 1 {
			return wrongCount(a)
		}
		return Truth(a[0] == nil)
	}},
	"truncate": {2, func(a []value) value { return decimals(a[0], AsNumber(a[1]), false) }},
}

// asIs is how text is folded that is compared byte by byte.
func asIs[T rune | string](v T) T { return v }

func strcmp(a []value, fold func(string) string) value {
	return int64(strings.Compare(fold(AsText(a[0])), fold(AsText(a[1]))))
}

// AsText returns a value as text, NULL as "".
func AsText(v any) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	text, _ := Text(v)
	return text
}

// AsNumber returns a value as a number: of a text what it begins with, and 0 if that is none.
func AsNumber(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	text := strings.TrimLeft(AsText(v), " \t\r\n")
	var f float64
	fmt.Sscan(text[:min(len(text), 4096)], &f) // no number has more digits
	return f
}

// Truth returns 1 or 0, which are true and false.
func Truth(b bool) any {
	if b {
		return int64(1)
	}
	return int64(0)
}

func text1(f func(string) string) func([]value) value {
	return func(a []value) value { return f(AsText(a[0])) }
}

// concat returns NULL if an argument is NULL. SQLite's own function leaves such arguments out.
func concat(a []value) value {
	texts := make([]string, len(a))
	for i, v := range a {
		var ok bool
		if texts[i], ok = Text(v); !ok {
			return nil
		}
	}
	return joined("concat", texts...)
}

// concatWith is CONCAT_WS(separator, ...), which leaves NULLs out.
func concatWith(a []value) value {
	if len(a) < 2 {
		return wrongCount(a)
	}
	separator, ok := Text(a[0])
	if !ok {
		return nil
	}
	var texts []string
	for _, v := range a[1:] {
		if text, ok := Text(v); ok {
			if texts != nil {
				texts = append(texts, separator)
			}
			texts = append(texts, text)
		}
	}
	return joined("concat_ws", texts...)
}

// extreme returns the largest or the smallest of the values. They are compared as numbers if one is
// a number.
func extreme(a []value, sign float64) value {
	if slices.Contains(a, nil) {
		return nil
	}
	texts := !slices.ContainsFunc(a, func(v value) bool { _, ok := v.(string); return !ok })
	var best value
	for _, v := range a {
		order := AsNumber(v) - AsNumber(best)
		if texts && best != nil {
			order = float64(strings.Compare(strings.ToLower(v.(string)), strings.ToLower(best.(string))))
		}
		if best == nil || sign*order > 0 {
			best = v
		}
	}
	return best
}

// field is FIELD(x, a, b): the position of x among the others, 0 if there is none.
func field(a []value, fold func(string) string) value {
	if len(a) == 0 || a[0] == nil {
		return int64(0)
	}
	for i, v := range a[1:] {
		_, text1 := a[0].(string)
		_, text2 := v.(string)
		if v != nil && (text1 && text2 && fold(AsText(a[0])) == fold(AsText(v)) || !(text1 && text2) && AsNumber(a[0]) == AsNumber(v)) {
			return int64(i + 1)
		}
	}
	return int64(0)
}

func rounded(a []value) value {
	places := 0.0
	if len(a) == 2 {
		places = AsNumber(a[1])
	}
	return decimals(a[0], places, true)
}

// roundedDouble is ROUND of a floating-point number: half of the last place goes to the even one.
func roundedDouble(a []value) value {
	x, unit := AsNumber(a[0]), 1.0
	if len(a) == 2 {
		unit = math.Pow10(int(min(max(AsNumber(a[1]), -400), 400)))
	}
	if f := math.RoundToEven(x*unit) / unit; !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f
	}
	return x
}

// decimals rounds or truncates a number to that many decimal places. It uses the number's text, so
// that 1.005 is not less than 1.005.
func decimals(v value, places float64, round bool) value {
	n, isInteger := v.(int64)
	keep := int(min(max(places, -30), 30))
	if isInteger && keep >= 0 {
		return v
	}
	text := strconv.FormatInt(n, 10)
	if !isInteger {
		text = strconv.FormatFloat(AsNumber(v), 'f', -1, 64)
	}
	_, fraction, _ := strings.Cut(text, ".")
	x, ok := new(big.Rat).SetString(text)
	if !ok || len(fraction) <= keep {
		return AsNumber(v)
	}
	unit, _ := new(big.Rat).SetString(fmt.Sprint("1e", keep))
	x.Mul(x, unit)
	digits := x.FloatString(0)
	if !round {
		digits = new(big.Int).Quo(x.Num(), x.Denom()).String()
	}
	f, _ := strconv.ParseFloat(fmt.Sprint(digits, "e", -keep), 64)
	if f += 0; isInteger && math.Abs(f) < 1<<53 { // without the sign of a zero
		return int64(f)
	}
	return f
}

// places rounds a decimal number to so many places.
func places(v value, n int) value {
	f, ok := v.(float64)
	if !ok {
		return v
	}
	unit := math.Pow10(n)
	if scaled := math.Round(f * unit); math.Abs(scaled) < 1<<53 {
		return scaled / unit
	}
	return f
}

// quotientOf is a / b with so many places, NULL if b is 0. Further ones are dropped, as MySQL does.
func quotientOf(a []value) value {
	x, y, n := AsNumber(a[0]), AsNumber(a[1]), AsNumber(a[2])
	if y == 0 {
		return nil
	}
	f := x / y
	unit := math.Pow10(int(n))
	scaled := f * unit
	if math.Abs(scaled) >= 1<<50 { // so many digits it does not have
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', Digits, 64), 64)
		return f
	}
	whole := math.Round(scaled)
	if math.Abs(scaled-whole) > 1e-3 {
		whole = math.Trunc(scaled)
	}
	return whole / unit
}

// numberText returns a number as text, with so many places; -1: with those that it has.
func numberText(v value, places int) value {
	text, ok := IntegerText(v)
	if places >= 0 {
		text, ok = DecimalText(v, places)
	}
	if !ok {
		return nil
	}
	return text
}

// grouped is FORMAT(x, places): 1,234.50.
func grouped(a []value) value {
	places, text := min(max(AsNumber(a[1]), 0), 30), ""
	if n, ok := a[0].(int64); ok {
		text = strconv.FormatInt(n, 10) + "." + strings.Repeat("0", int(places))
	} else {
		text = strconv.FormatFloat(AsNumber(decimals(AsNumber(a[0]), places, true)), 'f', int(places), 64)
	}
	text, negative := strings.CutPrefix(text, "-")
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if negative {
		whole = "-" + whole
	}
	if places == 0 {
		return whole
	}
	return whole + "." + fraction
}

// logarithm is LOG([base, ]x).
func logarithm(a []value) value {
	x := AsNumber(a[len(a)-1])
	base := AsNumber(a[0])
	if x <= 0 || len(a) == 2 && (base <= 0 || base == 1) {
		return nil
	}
	if len(a) == 2 {
		return math.Log(x) / math.Log(base)
	}
	return math.Log(x)
}

// divided is a % b, or a DIV b: NULL if b is 0.
func divided(a []value, rest bool) value {
	x, ok1 := a[0].(int64)
	y, ok2 := a[1].(int64)
	f, g := AsNumber(a[0]), AsNumber(a[1])
	switch {
	case g == 0:
		return nil
	case ok1 && ok2 && rest:
		return x % y
	case ok1 && ok2 && (y != -1 || x != math.MinInt64):
		return x / y
	}
	var dividend, divisor, n big.Rat // as they are written: 1 % 0.1 is 0, and 0.3 DIV 0.1 is 3
	_, ok1 = dividend.SetString(strconv.FormatFloat(f, 'g', -1, 64))
	_, ok2 = divisor.SetString(strconv.FormatFloat(g, 'g', -1, 64))
	if !ok1 || !ok2 {
		return nil // not finite numbers
	}
	n.Quo(&dividend, &divisor)
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	switch {
	case rest:
		f, _ = dividend.Sub(&dividend, divisor.Mul(&divisor, new(big.Rat).SetInt(whole))).Float64()
	case whole.IsInt64():
		return whole.Int64()
	default:
		f, _ = new(big.Float).SetInt(whole).Float64()
	}
	return f
}

// rowKey returns a text that is the same for the same values, as COUNT(DISTINCT a, b) counts them;
// NULL if one is NULL.
func rowKey(a []value) value {
	texts := make([]string, 0, 2*len(a))
	for _, v := range a {
		text, ok := Text(v)
		if !ok {
			return nil
		}
		texts = append(texts, fmt.Sprint(len(text), ":"), strings.ToLower(text))
	}
	return joined("count", texts...)
}

// bitsOf returns a number as an operand of ^.
func bitsOf(v value) int64 {
	n, _ := signed([]value{v}).(int64)
	return n
}

// signed is CAST(x AS SIGNED). It rounds numbers and cuts text.
func signed(a []value) value {
	n, ok := a[0].(int64)
	if ok {
		return n
	}
	f := AsNumber(a[0])
	if _, text := a[0].(string); text {
		f = math.Trunc(f)
	}
	if f = math.Round(f); math.Abs(f) < 1<<63 {
		return int64(f)
	}
	return f
}

// formatPicoseconds is MySQL's FORMAT_PICO_TIME.
func formatPicoseconds(a []value) value {
	ps := AsNumber(a[0])
	units := []struct {
		name string
		size float64
	}{{"d", 86400e12}, {"h", 3600e12}, {"min", 60e12}, {"s", 1e12}, {"ms", 1e9}, {"us", 1e6}, {"ns", 1e3}}
	for _, u := range units {
		if math.Abs(ps) >= u.size {
			return fmt.Sprintf("%.2f %s", ps/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d ps", int64(ps))
}
