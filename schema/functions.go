package schema

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"modernc.org/sqlite"
)

// serverVersion is what VERSION() says: the MySQL whose Performance Schema these tables are like.
const serverVersion = "5.7.44-ftrace"

// functions are those of MySQL that SQLite does not have, with the number of their arguments, -1: any.
var functions = map[string]struct {
	args int32
	call func(args []driver.Value) driver.Value
}{
	"version":          {0, func([]driver.Value) driver.Value { return serverVersion }},
	"now":              {-1, func([]driver.Value) driver.Value { return time.Now().UTC().Format(time.DateTime) }},
	"sysdate":          {-1, func([]driver.Value) driver.Value { return time.Now().UTC().Format(time.DateTime) }},
	"utc_timestamp":    {-1, func([]driver.Value) driver.Value { return time.Now().UTC().Format(time.DateTime) }},
	"curdate":          {0, func([]driver.Value) driver.Value { return time.Now().UTC().Format(time.DateOnly) }},
	"unix_timestamp":   {-1, unixTimestamp},
	"time_shift":       {4, shiftTime},
	"shift_of_time":    {4, func(a []driver.Value) driver.Value { return shiftTime([]driver.Value{a[3], a[0], a[1], a[2]}) }},
	"adddate":          {2, func(a []driver.Value) driver.Value { return shiftTime([]driver.Value{a[0], a[1], "DAY", int64(1)}) }},
	"subdate":          {2, func(a []driver.Value) driver.Value { return shiftTime([]driver.Value{a[0], a[1], "DAY", int64(-1)}) }},
	"timestampadd":     {3, func(a []driver.Value) driver.Value { return shiftTime([]driver.Value{a[2], a[1], a[0], int64(1)}) }},
	"timestampdiff":    {3, timeBetween},
	"found_rows":       {0, func([]driver.Value) driver.Value { return int64(0) }},
	"concat":           {-1, concat},
	"char_length":      {1, func(a []driver.Value) driver.Value { return int64(utf8.RuneCountInString(asText(a[0]))) }},
	"ucase":            {1, text1(strings.ToUpper)},
	"lcase":            {1, text1(strings.ToLower)},
	"format_pico_time": {1, formatPicoseconds},
	"format_time":      {1, formatPicoseconds}, // of MySQL's schema sys
	"left":             {2, func(a []driver.Value) driver.Value { return cut(a, func(r []rune, n int) []rune { return r[:n] }) }},
	"right": {2, func(a []driver.Value) driver.Value {
		return cut(a, func(r []rune, n int) []rune { return r[len(r)-n:] })
	}},
	"substring_index": {3, substringIndex},
	"locate":          {2, func(a []driver.Value) driver.Value { return int64(strings.Index(asText(a[1]), asText(a[0])) + 1) }},
	"lpad":            {3, func(a []driver.Value) driver.Value { return pad(a, true) }},
	"rpad":            {3, func(a []driver.Value) driver.Value { return pad(a, false) }},
	"greatest":        {-1, func(a []driver.Value) driver.Value { return extreme(a, 1) }},
	"least":           {-1, func(a []driver.Value) driver.Value { return extreme(a, -1) }},
	"enum_index": {1, func(a []driver.Value) driver.Value {
		for _, values := range [][]string{{"YES", "NO"}, TimerNames} {
			if i := slices.Index(values, asText(a[0])); i >= 0 {
				return int64(i + 1)
			}
		}
		return int64(0)
	}},
	"sleep": {1, func(a []driver.Value) driver.Value {
		time.Sleep(time.Duration(min(max(asNumber(a[0]), 0), 60) * float64(time.Second)))
		return int64(0)
	}},
	"is_null": {1, func(a []driver.Value) driver.Value { return truth(a[0] == nil) }},
	"truncate": {2, func(a []driver.Value) driver.Value {
		x, n := asNumber(a[0]), math.Pow(10, asNumber(a[1]))
		return math.Trunc(x*n) / n
	}},
	"regexp": {2, func(a []driver.Value) driver.Value {
		re, err := regexp.Compile("(?i)" + asText(a[0]))
		return truth(err == nil && re.MatchString(asText(a[1])))
	}},
}

var registerFunctions = sync.OnceValue(func() error {
	if err := cmp.Or(registerSum(), registerConcatenated()); err != nil {
		return err
	}
	for name, f := range functions {
		err := sqlite.RegisterScalarFunction(name, f.args, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			if f.args > 0 && name != "is_null" {
				for _, a := range args {
					if a == nil {
						return nil, nil
					}
				}
			}
			v := f.call(args)
			if err, failed := v.(error); failed {
				return nil, err
			}
			return v, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
})

func asText(v driver.Value) string {
	if b, ok := v.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(v)
}

func asNumber(v driver.Value) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	var f float64
	fmt.Sscan(asText(v), &f)
	return f
}

func truth(b bool) driver.Value {
	if b {
		return int64(1)
	}
	return int64(0)
}

func text1(f func(string) string) func([]driver.Value) driver.Value {
	return func(a []driver.Value) driver.Value { return f(asText(a[0])) }
}

func cut(a []driver.Value, part func([]rune, int) []rune) driver.Value {
	r := []rune(asText(a[0]))
	return string(part(r, min(max(int(asNumber(a[1])), 0), len(r))))
}

// concat is NULL if an argument is: SQLite's own leaves such out.
func concat(a []driver.Value) driver.Value {
	var b strings.Builder
	for _, v := range a {
		text, ok := Format(v)
		if !ok {
			return nil
		}
		b.WriteString(text)
	}
	return b.String()
}

func substringIndex(a []driver.Value) driver.Value {
	s, by, n := asText(a[0]), asText(a[1]), int(asNumber(a[2]))
	parts := strings.Split(s, by)
	switch {
	case by == "" || n == 0:
		return ""
	case n > 0:
		return strings.Join(parts[:min(n, len(parts))], by)
	}
	return strings.Join(parts[max(len(parts)+n, 0):], by)
}

func pad(a []driver.Value, left bool) driver.Value {
	s, n, with := []rune(asText(a[0])), min(int(asNumber(a[1])), 1<<16), []rune(asText(a[2]))
	if n < 0 || len(with) == 0 && n > len(s) {
		return nil
	}
	if n <= len(s) {
		return string(s[:n])
	}
	var fill []rune
	for len(fill) < n-len(s) {
		fill = append(fill, with...)
	}
	fill = fill[:n-len(s)]
	if left {
		return string(fill) + string(s)
	}
	return string(s) + string(fill)
}

// extreme returns the largest or the smallest of the values.
func extreme(a []driver.Value, sign float64) driver.Value {
	var best driver.Value
	for _, v := range a {
		if v == nil {
			return nil
		}
		if best == nil || sign*(asNumber(v)-asNumber(best)) > 0 {
			best = v
		}
	}
	return best
}

// formatPicoseconds is MySQL's FORMAT_PICO_TIME.
func formatPicoseconds(a []driver.Value) driver.Value {
	ps := asNumber(a[0])
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

// unixTimestamp returns the seconds since 1970 of a time as text, or of now; NULL if it is none.
func unixTimestamp(args []driver.Value) driver.Value {
	if len(args) == 0 {
		return time.Now().Unix()
	}
	if t, _, ok := parseTime(args[0]); ok {
		return t.Unix()
	}
	return nil
}
