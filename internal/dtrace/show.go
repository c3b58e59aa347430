package dtrace

import (
	"bytes"
	"fmt"
	"strings"
)

// Maps are shown as dtrace shows them: sorted by value, keys to the left.

const (
	keyWidth   = 50
	valueWidth = 16
	barWidth   = 40
)

// showAll appends all maps that have values and that printa did not print. If there are several,
// the name of each comes before it.
func (m *Machine) showAll(b []byte) []byte {
	several := 0
	for _, a := range m.program.aggregations {
		if len(a.cells) > 0 && !a.printed {
			several++
		}
	}
	for _, a := range m.program.aggregations {
		if len(a.cells) == 0 || a.printed {
			continue
		}
		b = append(b, '\n')
		if several > 1 {
			b = append(append(b, "  "...), a.name...)
			b = append(b, '\n')
		}
		b = a.show(b)
	}
	return b
}

// show appends a map.
func (a *aggregation) show(b []byte) []byte {
	for _, c := range a.sorted() {
		for _, k := range c.keys {
			b = showKey(b, k)
		}
		if a.histogram() {
			if len(c.keys) > 0 {
				b = append(trimmed(b), '\n')
			}
			b = a.bars(b, c)
			b = append(b, '\n')
			continue
		}
		v := a.result(c)
		if v.kind == text {
			b = append(append(b, "  "...), v.s...)
		} else {
			b = fmt.Appendf(b, " %*s", valueWidth, v)
		}
		b = append(b, '\n')
	}
	return b
}

// showKey appends a key in its column. A stack has one line for each function.
func showKey(b []byte, k value) []byte {
	if k.kind != text {
		return fmt.Appendf(b, " %*s", valueWidth, k)
	}
	if !strings.Contains(k.s, "\n") {
		return fmt.Appendf(b, "  %-*s", keyWidth, k.s)
	}
	b = append(trimmed(b), '\n')
	for line := range strings.SplitSeq(strings.TrimSuffix(k.s, "\n"), "\n") {
		b = fmt.Appendf(b, "%14s%s\n", "", line)
	}
	return b
}

func trimmed(b []byte) []byte { return bytes.TrimRight(b, " ") }

// bars appends a distribution.
func (a *aggregation) bars(b []byte, c *cell) []byte {
	b = fmt.Appendf(b, "%*s  ------------- Distribution ------------- count\n", valueWidth, "value")
	first, last, total := a.span(c)
	for i := first; i <= last; i++ {
		n := c.some[i]
		full := 0
		if total > 0 && n > 0 {
			full = int(float64(n)/float64(total)*barWidth + 0.5)
		}
		shown := n
		if a.scale > 1 {
			shown /= a.scale
		}
		b = fmt.Appendf(b, "%*s |%s%s %d\n", valueWidth, a.label(i), strings.Repeat("@", full), strings.Repeat(" ", barWidth-full), shown)
	}
	return b
}

// span returns the buckets from the one before the first with values to the one after the last, and
// the number of values.
func (a *aggregation) span(c *cell) (first, last int, total int64) {
	first, last = len(c.some), -1
	for i, n := range c.some {
		if n != 0 {
			first, last = min(first, i), i
		}
		total += max(n, 0)
	}
	return max(0, first-1), min(last+1, len(c.some)-1), total
}

// label returns the text before a bucket.
func (a *aggregation) label(bucket int) string {
	if a.function == aggLquantize {
		switch bucket {
		case 0:
			return fmt.Sprintf("< %d", a.low)
		case a.steps + 1:
			return fmt.Sprintf(">= %d", a.least(bucket))
		}
	}
	return fmt.Sprint(a.least(bucket))
}

// A Map is one of a program's maps at its end, for JSON.
type Map struct {
	Map     string  `json:"map"`
	Entries []Entry `json:"entries"`
}

// Entry is the value of a map for a key.
type Entry struct {
	Key     []any    `json:"key"`
	Value   any      `json:"value,omitempty"`
	Buckets []Bucket `json:"buckets,omitempty"`
}

// Bucket is a bucket of a distribution. Its values begin at Least and end below the next bucket's
// Least. Buckets of quantize for negative values go down from Least.
type Bucket struct {
	Least *int64 `json:"least,omitempty"`
	Count int64  `json:"count"`
}

// Maps returns the maps that have values.
func (m *Machine) Maps() []Map {
	var list []Map
	for _, a := range m.program.aggregations {
		if len(a.cells) == 0 {
			continue
		}
		to := Map{Map: a.name}
		for _, c := range a.sorted() {
			e := Entry{Key: []any{}}
			for _, k := range c.keys {
				e.Key = append(e.Key, k.json())
			}
			if a.histogram() {
				first, last, _ := a.span(c)
				for i := first; i <= last; i++ {
					bucket := Bucket{Count: c.some[i]}
					if least := a.least(i); a.function == aggQuantize || i > 0 {
						bucket.Least = &least
					}
					e.Buckets = append(e.Buckets, bucket)
				}
			} else {
				e.Value = a.result(c).json()
			}
			to.Entries = append(to.Entries, e)
		}
		list = append(list, to)
	}
	return list
}
