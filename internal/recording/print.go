package recording

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	"github.com/ftrace-wrap/ftrace-wrap/internal/decimal"
	"github.com/ftrace-wrap/ftrace-wrap/internal/escape"
)

// take returns the next n bytes of the values, or zeros if the values have ended.
func (p *Printer) take(n int) []byte {
	if len(p.data) < n {
		p.cut, p.data = true, nil
		return zeros[:n]
	}
	b := p.data[:n]
	p.data = p.data[n:]
	return b
}

var zeros [16]byte

func (p *Printer) uint8() uint8   { return p.take(1)[0] }
func (p *Printer) uint32() uint32 { return le32(p.take(4)) }
func (p *Printer) uint64() uint64 { return le64(p.take(8)) }

func (p *Printer) signed(k reflect.Kind) int64 {
	switch k {
	case reflect.Int8:
		return int64(int8(p.uint8()))
	case reflect.Int16:
		return int64(int16(le16(p.take(2))))
	case reflect.Int32:
		return int64(int32(p.uint32()))
	}
	return int64(p.uint64())
}

func (p *Printer) unsigned(k reflect.Kind) uint64 {
	switch k {
	case reflect.Uint8:
		return uint64(p.uint8())
	case reflect.Uint16:
		return uint64(le16(p.take(2)))
	case reflect.Uint32:
		return uint64(p.uint32())
	}
	return p.uint64()
}

// bytes returns what was recorded of a string of n bytes.
func (p *Printer) bytes(n uint32) []byte {
	shown := int(min(uint64(n), uint64(p.r.Env.stringLimit)))
	if shown > len(p.data) {
		p.cut = true
		p.data = nil
		return nil
	}
	s := p.data[:shown]
	p.data = p.data[shown:]
	return s
}

// full reports whether the line has as many bytes as values may have.
func (p *Printer) full() bool { return len(p.dst)-p.line >= p.format.Line }

func (p *Printer) byte(c byte) {
	if p.quiet == 0 {
		p.dst = append(p.dst, c)
	}
}

func (p *Printer) str(s string) {
	if p.quiet == 0 {
		p.dst = append(p.dst, s...)
	}
}

func (p *Printer) int(v int64) {
	if p.quiet == 0 {
		p.dst = strconv.AppendInt(p.dst, v, 10)
	}
}

func (p *Printer) uint(v uint64) {
	if p.quiet == 0 {
		p.dst = strconv.AppendUint(p.dst, v, 10)
	}
}

func (p *Printer) hex(v uint64) {
	if p.quiet == 0 {
		p.dst = appendHex(p.dst, v)
	}
}

func appendHex(b []byte, v uint64) []byte { return strconv.AppendUint(append(b, "0x"...), v, 16) }

// simple appends a value of one of the types that most values have, if nothing about it is special:
// it is complete and shown, and the line has room. If it returns false it has read nothing.
func (p *Printer) simple(t *Type) bool {
	data, dst := p.data, p.dst
	if len(data) < 8 || t.Text || t.Names != nil || p.quiet != 0 || p.parts != nil || len(dst)-p.line >= p.format.Line {
		return false
	}
	switch t.Kind {
	case reflect.Int, reflect.Int64:
		if t.Named {
			return false // it may be a time.Duration
		}
		p.data = data[8:]
		p.dst = strconv.AppendInt(dst, int64(le64(data)), 10)
	case reflect.Uint, reflect.Uint64:
		p.data = data[8:]
		p.dst = strconv.AppendUint(dst, le64(data), 10)
	case reflect.Int32:
		p.data = data[4:]
		p.dst = strconv.AppendInt(dst, int64(int32(le32(data))), 10)
	case reflect.Uint8:
		p.data = data[1:]
		p.dst = strconv.AppendUint(dst, uint64(data[0]), 10)
	case reflect.Pointer, reflect.UnsafePointer:
		v := le64(data)
		if p.deep || v == 0 {
			return false
		}
		p.data = data[8:]
		p.dst = appendHex(dst, v)
	case reflect.String:
		n := int(le32(data))
		if n > min(len(data)-4, p.r.Env.stringLimit, p.format.String) || len(dst)+n-p.line >= p.format.Line {
			return false
		}
		s := data[4 : 4+n]
		for _, c := range s {
			if c < ' ' || c >= 0x7F || c == '"' || c == '\\' {
				return false
			}
		}
		p.data = data[4+n:]
		p.dst = append(append(append(dst, '"'), s...), '"')
	default:
		return false
	}
	return true
}

// float appends a number as the core does with package decimal: in the shortest form that reads
// back as the same number. Large integers of 32 bits may end in other digits than the number
// itself.
func (p *Printer) float(v float64, bits int) {
	if p.quiet != 0 {
		return
	}
	least, most, exact := 1e-4, 1e21, 1e15
	if bits == 32 {
		least, most, exact = float64(float32(least)), float64(float32(most)), 1<<24
	}
	if v == math.Trunc(v) && math.Abs(v) < exact && (v != 0 || !math.Signbit(v)) {
		p.dst = strconv.AppendInt(p.dst, int64(v), 10)
		return
	}
	form := byte('f')
	if a := math.Abs(v); a != 0 && (a < least || a >= most) {
		form = 'e'
	}
	p.dst = strconv.AppendFloat(p.dst, v, form, -1, bits)
}

func (p *Printer) complex(re, im float64, bits int) {
	p.byte('(')
	p.float(re, bits)
	if math.IsNaN(im) || !math.IsInf(im, 1) && !math.Signbit(im) { // else it has a sign
		p.byte('+')
	}
	p.float(im, bits)
	p.str("i)")
}

// text appends the string of n bytes that comes next, quoted.
func (p *Printer) text(n uint32) {
	s := p.bytes(n)
	if s == nil && p.cut {
		p.str("...")
		return
	}
	if p.quiet == 0 {
		p.parts.string(s, uint64(n), p.format.String)
		p.quote(s, uint64(n))
	}
}

// quote appends s in quotes, cut at the limit for strings. s is the beginning of a string of n
// bytes; quote says how much is missing.
func (p *Printer) quote(s []byte, n uint64) {
	shown := min(len(s), p.format.String)
	text := unsafe.String(unsafe.SliceData(s), len(s))
	if uint64(shown) < n {
		shown = escape.Cut(text, shown)
	}
	p.byte('"')
	done := p.escaped(text[:shown])
	p.byte('"')
	if uint64(done) < n {
		p.str("...(")
		p.uint(n - uint64(done))
		p.str(" more)")
	}
}

// escaped appends s, with unprintable characters escaped, until the line is full. It returns how
// much of s it appended.
func (p *Printer) escaped(s string) int {
	limit := p.format.Line - (len(p.dst) - p.line)
	p.dst = slices.Grow(p.dst, max(0, min(4*len(s), limit+4)))
	n, done := escape.Quote(p.dst[len(p.dst):cap(p.dst)], limit, s)
	p.dst = p.dst[:len(p.dst)+n]
	return done
}

// AppendDuration appends a duration in ns in the unit that suits it, with three decimals.
func AppendDuration(b []byte, ns int64) []byte {
	var text decimal.Text
	return append(b, text.Duration(ns)...)
}
