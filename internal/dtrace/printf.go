package dtrace

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// verb is a part of a format: text, and a conversion after it.
type verb struct {
	before string
	flags  string // some of - 0 + # and space
	width  int    // -1: none; -2: the next argument
	digits int    // after the point, likewise
	verb   byte   // 0: there is none
	agg    bool   // %@: of printa, the aggregation's value
}

// conversions are the letters of conversions.
const conversions = "diuxXocsSfgeaAYpkT"

// parseFormat splits a format of printf or printa.
func (s *scanner) parseFormat(at int, format string, printa bool) (verbs []verb) {
	v := verb{width: -1, digits: -1}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			v.before += format[i : i+1]
			continue
		}
		i++
		if i < len(format) && format[i] == '%' {
			v.before += "%"
			continue
		}
		from := i
		for i < len(format) && strings.IndexByte("-0+# '", format[i]) >= 0 {
			i++
		}
		v.flags = strings.ReplaceAll(format[from:i], "'", "")
		v.width, i = formatNumber(format, i)
		if i < len(format) && format[i] == '.' {
			if v.digits, i = formatNumber(format, i+1); v.digits == -1 {
				v.digits = 0
			}
		}
		if i < len(format) && format[i] == '@' {
			if v.agg = true; !printa {
				s.fault(at, "%%@ is for printa: it stands for an aggregation's value")
			}
			i++
		}
		for i < len(format) && (format[i] == 'l' || format[i] == 'h') {
			i++
		}
		if i >= len(format) {
			s.fault(at, "the format ends within a conversion")
		}
		if strings.IndexByte(conversions, format[i]) < 0 {
			s.fault(at, "%%%c is not a conversion: these are %%d %%i %%u %%x %%X %%o %%c %%s %%S %%f %%g %%e %%a %%p %%Y %%T %%%%", format[i])
		}
		v.verb = format[i]
		verbs = append(verbs, v)
		v = verb{width: -1, digits: -1}
	}
	if v.before != "" {
		verbs = append(verbs, v)
	}
	return verbs
}

// formatNumber reads a width.
func formatNumber(format string, i int) (n, next int) {
	if i < len(format) && format[i] == '*' {
		return -2, i + 1
	}
	n = -1
	for i < len(format) && isDigit(format[i]) {
		n = min(max(n, 0)*10+int(format[i]-'0'), 1000)
		i++
	}
	return n, i
}

// arguments returns the number of arguments that a format takes. %@ takes none.
func arguments(verbs []verb) (n int) {
	for _, v := range verbs {
		if v.verb != 0 && !v.agg {
			n++
		}
		if v.width == -2 {
			n++
		}
		if v.digits == -2 {
			n++
		}
	}
	return n
}

// appendFormat appends values by a format.
func appendFormat(b []byte, verbs []verb, args []value, aggregated func(b []byte, v verb) []byte) []byte {
	next := func() value {
		if len(args) == 0 {
			return value{}
		}
		v := args[0]
		args = args[1:]
		return v
	}
	for _, v := range verbs {
		b = append(b, v.before...)
		if v.verb == 0 {
			continue
		}
		if v.width == -2 {
			if v.width = int(min(max(next().int(), -1000), 1000)); v.width < 0 {
				v.flags, v.width = v.flags+"-", -v.width
			}
		}
		if v.digits == -2 {
			v.digits = int(min(max(next().int(), -1), 1000))
		}
		if v.agg {
			b = aggregated(b, v)
			continue
		}
		b = v.append(b, next())
	}
	return b
}

// append appends a value by a conversion.
func (v verb) append(b []byte, x value) []byte {
	spec := "%" + v.flags
	if v.width >= 0 {
		spec += fmt.Sprint(v.width)
	}
	textual := func(s string) []byte {
		spec := strings.NewReplacer("0", "", "+", "", "#", "").Replace("%" + v.flags)
		if v.width >= 0 {
			spec += fmt.Sprint(v.width)
		}
		if v.digits >= 0 && x.kind == text {
			spec += fmt.Sprintf(".%d", v.digits)
		}
		return fmt.Appendf(b, spec+"s", s)
	}
	if !x.isNumber() && v.verb != 'S' {
		return textual(x.String())
	}
	switch v.verb {
	case 'x', 'X', 'o':
		return fmt.Appendf(b, spec+string(v.verb), uint64(x.int()))
	case 'p', 'a', 'A':
		return textual(fmt.Sprintf("0x%x", uint64(x.int())))
	case 'c':
		return fmt.Appendf(b, spec+"c", rune(min(max(x.int(), 0), math.MaxInt32)))
	case 'f', 'g', 'e':
		if v.digits >= 0 {
			spec += fmt.Sprintf(".%d", v.digits)
		}
		return fmt.Appendf(b, spec+string(v.verb), x.float())
	case 's', 'k':
		return textual(x.String())
	case 'S':
		return textual(strings.Trim(fmt.Sprintf("%q", x.String()), `"`))
	case 'Y':
		return textual(time.Unix(0, x.int()).UTC().Format("2006 Jan _2 15:04:05"))
	case 'T':
		return textual(time.Unix(0, x.int()).UTC().Format("15:04:05"))
	case 'u':
		return fmt.Appendf(b, spec+"d", uint64(x.int()))
	}
	if x.kind == unsigned {
		return fmt.Appendf(b, spec+"d", uint64(x.n))
	}
	return fmt.Appendf(b, spec+"d", x.int())
}
