package dtrace

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/recording"
)

// kind is that of a value.
type kind uint8

const (
	absent   kind = iota // not known: shown as -, false, equal only to nil
	null                 // nil
	integer              // n
	boolean              // n is 0 or 1
	unsigned             // n has the bits of a number above the largest integer
	address              // n
	float                // n has the bits
	text                 // s
)

// value is the result of an expression. Its string may be in an event's memory: what is kept longer
// is cloned.
type value struct {
	kind kind
	n    int64
	s    string
}

func number(n int64) value { return value{kind: integer, n: n} }

func truth(b bool) value {
	if b {
		return number(1)
	}
	return number(0)
}

func unsignedNumber(n uint64) value {
	if n > math.MaxInt64 {
		return value{kind: unsigned, n: int64(n)}
	}
	return number(int64(n))
}

func floatNumber(f float64) value { return value{kind: float, n: int64(math.Float64bits(f))} }

func str(s string) value { return value{kind: text, s: s} }

// kept returns the value with memory of its own.
func (v value) kept() value {
	if v.kind == text {
		v.s = strings.Clone(v.s)
	}
	return v
}

// valueOf makes a value from what was found in a record. It copies all kinds but text.
func valueOf(f *recording.Found) value {
	switch f.Kind {
	case recording.Nil:
		return value{kind: null}
	case recording.Int:
		return number(int64(f.Number))
	case recording.Uint:
		return unsignedNumber(f.Number)
	case recording.Bool:
		return value{kind: boolean, n: int64(f.Number)}
	case recording.Float:
		return value{kind: float, n: int64(f.Number)}
	case recording.Address:
		return value{kind: address, n: int64(f.Number)}
	case recording.Text:
		return str(unsafe.String(unsafe.SliceData(f.Text), len(f.Text)))
	case recording.Other:
		return str(string(f.Text))
	}
	return value{}
}

// isNumber reports whether the value can be used in arithmetic.
func (v value) isNumber() bool { return v.kind >= integer && v.kind <= float }

// true reports whether the value, as a predicate, holds.
func (v value) true() bool {
	switch v.kind {
	case absent, null:
		return false
	case text:
		return v.s != ""
	case float:
		return v.float() != 0
	}
	return v.n != 0
}

// float returns a number as a float.
func (v value) float() float64 {
	switch v.kind {
	case float:
		return math.Float64frombits(uint64(v.n))
	case unsigned:
		return float64(uint64(v.n))
	}
	return float64(v.n)
}

// int returns a number without its fraction.
func (v value) int() int64 {
	if v.kind == float {
		return int64(v.float())
	}
	return v.n
}

// append appends the value as trace and printf("%s") show it.
func (v value) append(b []byte) []byte {
	switch v.kind {
	case absent:
		return append(b, '-')
	case null:
		return append(b, "nil"...)
	case integer:
		return strconv.AppendInt(b, v.n, 10)
	case boolean:
		return strconv.AppendBool(b, v.n != 0)
	case unsigned:
		return strconv.AppendUint(b, uint64(v.n), 10)
	case address:
		return strconv.AppendUint(append(b, "0x"...), uint64(v.n), 16)
	case float:
		return strconv.AppendFloat(b, v.float(), 'g', -1, 64)
	}
	return append(b, v.s...)
}

func (v value) String() string { return string(v.append(nil)) }

// json returns the value for encoding/json.
func (v value) json() any {
	switch v.kind {
	case absent, null:
		return nil
	case integer:
		return v.n
	case boolean:
		return v.n != 0
	case unsigned:
		return uint64(v.n)
	case float:
		if f := v.float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	}
	return strings.ToValidUTF8(v.String(), "\uFFFD")
}

// appendKey appends the value to a key. Values of different sizes do not run into each other there.
func (v value) appendKey(b []byte) []byte {
	switch v.kind {
	case absent, null:
		return append(b, byte(v.kind))
	case text:
		b = binary.LittleEndian.AppendUint32(append(b, byte(text)), uint32(len(v.s)))
		return append(b, v.s...)
	case float:
		if f := v.float(); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			v = number(int64(f)) // 1.0 is 1
		} else {
			return binary.LittleEndian.AppendUint64(append(b, byte(float)), uint64(v.n))
		}
	}
	return binary.LittleEndian.AppendUint64(append(b, byte(integer)), uint64(v.n))
}

// compare orders two values: numbers before texts, what is absent before everything.
func compare(a, b value) int {
	an, bn := a.isNumber(), b.isNumber()
	switch {
	case an && bn:
		switch {
		case a.kind == float || b.kind == float:
			return order(a.float(), b.float())
		case a.kind == unsigned && b.kind == unsigned:
			return order(uint64(a.n), uint64(b.n))
		case a.kind == unsigned:
			return 1
		case b.kind == unsigned:
			return -1
		}
		return order(a.n, b.n)
	case a.kind == text && b.kind == text:
		return strings.Compare(a.s, b.s)
	}
	return order(rank(a), rank(b))
}

func rank(v value) int {
	switch {
	case v.kind <= null:
		return 0
	case v.kind == text:
		return 2
	}
	return 1
}

func order[T int | int64 | uint64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// comparable reports whether < and == are defined for two values: both numbers or both texts.
func comparable(a, b value) bool {
	return a.isNumber() && b.isNumber() || a.kind == text && b.kind == text
}

// equal reports whether two values are equal. Nil is equal to nil, to what is absent, and to the
// address 0.
func equal(a, b value) bool {
	switch {
	case a.kind <= null || b.kind <= null:
		return a.kind <= null && b.kind <= null || (a.kind == null && b.isNumber() && b.n == 0) || (b.kind == null && a.isNumber() && a.n == 0)
	case comparable(a, b):
		return compare(a, b) == 0
	}
	return false
}

// arithmetic applies + - * / % & | ^ << >> to two values. The result is absent if one is not a
// number, or for a division by
// 0. Texts can be added.
func arithmetic(op string, a, b value) value {
	if a.kind == text && b.kind == text && op == "+" {
		return str(a.s + b.s)
	}
	if !a.isNumber() || !b.isNumber() {
		return value{}
	}
	if a.kind == float || b.kind == float {
		x, y := a.float(), b.float()
		switch op {
		case "+":
			return floatNumber(x + y)
		case "-":
			return floatNumber(x - y)
		case "*":
			return floatNumber(x * y)
		case "/":
			if y == 0 {
				return value{}
			}
			return floatNumber(x / y)
		}
	}
	x, y := a.int(), b.int()
	if a.kind == unsigned || b.kind == unsigned {
		if y == 0 && (op == "/" || op == "%") {
			return value{}
		}
		return unsignedNumber(integers(op, uint64(x), uint64(y)))
	}
	if op == "/" || op == "%" {
		if y == 0 {
			return value{}
		}
		if y == -1 { // the one quotient that overflows
			if op == "%" {
				return number(0)
			}
			return number(-x)
		}
	}
	return number(integers(op, x, y))
}

func integers[T int64 | uint64](op string, x, y T) T {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "%":
		return x % y
	case "&":
		return x & y
	case "|":
		return x | y
	case "^":
		return x ^ y
	case "<<":
		return x << (uint64(y) & 63)
	}
	return x >> (uint64(y) & 63)
}
