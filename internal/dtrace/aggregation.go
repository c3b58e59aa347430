package dtrace

import (
	"bytes"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// aggregator is an aggregating function.
type aggregator uint8

const (
	noAggregator aggregator = iota
	aggCount
	aggSum
	aggAvg
	aggMin
	aggMax
	aggStddev
	aggQuantize
	aggLquantize
	aggValue // not an aggregation, but a variable of bpftrace's
)

// aggregators are the aggregating functions by name, with bpftrace's names.
var aggregators = map[string]aggregator{
	"count": aggCount, "sum": aggSum, "avg": aggAvg, "min": aggMin, "max": aggMax, "stddev": aggStddev, "quantize": aggQuantize, "hist": aggQuantize, "lquantize": aggLquantize, "lhist": aggLquantize,
}

// aggregation is one of a program's aggregations, or one of bpftrace's variables that begin with @.
type aggregation struct {
	name     string // with the @
	at       int    // where it is first named
	function aggregator
	keys     int   // number of keys; -1: not known yet
	low      int64 // of lquantize: the least value, and the number and size of the steps
	step     int64
	steps    int

	cells   map[string]*cell
	last    *cell  // the cell that was last looked up
	lastKey []byte // its key
	scale   int64  // divides values when they are shown; 0: 1
	printed bool   // printa has printed it
}

// cell has the values of an aggregation for a key.
type cell struct {
	keys   []value
	count  int64
	sum    int64
	min    value
	max    value
	floats float64 // sum of those values that are floats
	mean   float64 // of stddev
	square float64 // sum of squares of the distances from the mean
	value  value   // of a variable
	some   []int64 // of quantize and lquantize: number of values by bucket
}

// find returns the cell of a key, and makes it if need be. keys are the values from which the key
// was made.
func (a *aggregation) find(key []byte, keys []value) *cell {
	if a.last != nil && bytes.Equal(key, a.lastKey) {
		return a.last
	}
	c := a.cells[string(key)]
	if c == nil {
		c = &cell{}
		for _, k := range keys {
			c.keys = append(c.keys, k.kept())
		}
		if a.cells == nil {
			a.cells = map[string]*cell{}
		}
		a.cells[string(key)] = c
	}
	a.last, a.lastKey = c, append(a.lastKey[:0], key...)
	return c
}

// remove removes a key's cell.
func (a *aggregation) remove(key []byte) {
	delete(a.cells, string(key))
	a.last = nil
}

// clear sets all cells to zero; their keys stay.
func (a *aggregation) clear() {
	for _, c := range a.cells {
		*c = cell{keys: c.keys}
	}
}

// add adds a value, with a weight.
func (a *aggregation) add(c *cell, v value, weight int64) {
	if a.function == aggCount {
		c.count++
		return
	}
	if !v.isNumber() {
		return // what is absent counts for nothing
	}
	switch a.function {
	case aggSum, aggAvg:
		if v.kind == float {
			c.floats += v.float()
		} else {
			c.sum += v.n
		}
	case aggMin:
		if c.count == 0 || compare(v, c.min) < 0 {
			c.min = v
		}
	case aggMax:
		if c.count == 0 || compare(v, c.max) > 0 {
			c.max = v
		}
	case aggStddev:
		f := v.float()
		away := f - c.mean
		c.mean += away / float64(c.count+1)
		c.square += away * (f - c.mean)
	case aggQuantize, aggLquantize:
		if c.some == nil {
			c.some = make([]int64, a.buckets())
		}
		c.some[a.bucket(v)] += weight
	}
	c.count++
}

// zeroBucket is the bucket of 0 in a quantize. Those of powers of two are above it, those of
// negative values below.
const zeroBucket = 64

// buckets returns the number of the aggregation's buckets. An lquantize has one for what is below
// its range, and one for what is above.
func (a *aggregation) buckets() int {
	if a.function == aggLquantize {
		return a.steps + 2
	}
	return 2*zeroBucket + 1
}

// bucket returns the bucket of a value.
func (a *aggregation) bucket(v value) int {
	n := v.int()
	if v.kind == unsigned || v.kind == float && v.float() >= math.MaxInt64 {
		n = math.MaxInt64
	}
	if a.function == aggQuantize {
		if n < 0 {
			return zeroBucket - bits.Len64(uint64(-n))
		}
		return zeroBucket + bits.Len64(uint64(n))
	}
	if n < a.low {
		return 0
	}
	if i := uint64(n-a.low) / uint64(a.step); i < uint64(a.steps) {
		return int(i) + 1
	}
	return a.steps + 1
}

// least returns the value at which a bucket begins. A quantize's bucket for negative values ends
// there.
func (a *aggregation) least(bucket int) int64 {
	switch {
	case a.function == aggLquantize:
		return a.low + int64(bucket-1)*a.step
	case bucket > zeroBucket:
		return 1 << (bucket - zeroBucket - 1)
	case bucket < zeroBucket:
		return -1 << (zeroBucket - bucket - 1)
	}
	return 0
}

// result returns the result of a cell, for aggregations other than quantize and lquantize.
func (a *aggregation) result(c *cell) value {
	v := number(0)
	switch a.function {
	case aggCount:
		v = number(c.count)
	case aggSum:
		v = number(c.sum)
		if c.floats != 0 {
			v = floatNumber(float64(c.sum) + c.floats)
		}
	case aggAvg:
		switch {
		case c.count == 0:
		case c.floats != 0:
			v = floatNumber((float64(c.sum) + c.floats) / float64(c.count))
		default:
			v = number(c.sum / c.count)
		}
	case aggMin, aggMax:
		if c.count > 0 {
			v = c.min
			if a.function == aggMax {
				v = c.max
			}
		}
	case aggStddev:
		if c.count > 0 {
			v = number(int64(math.Sqrt(c.square / float64(c.count))))
		}
	case aggValue:
		return c.value
	case aggQuantize, aggLquantize:
		var n int64
		for _, some := range c.some {
			n += some
		}
		v = number(n) // by which they are sorted
	}
	if a.scale > 1 && v.isNumber() {
		return arithmetic("/", v, number(a.scale))
	}
	return v
}

// histogram reports whether the values are distributions.
func (a *aggregation) histogram() bool {
	return a.function == aggQuantize || a.function == aggLquantize
}

// sorted returns the cells ordered by their results, the least first, and then by their keys.
func (a *aggregation) sorted() []*cell {
	list := make([]*cell, 0, len(a.cells))
	for _, c := range a.cells {
		list = append(list, c)
	}
	slices.SortFunc(list, func(x, y *cell) int {
		if d := compare(a.result(x), a.result(y)); d != 0 {
			return d
		}
		for i := range min(len(x.keys), len(y.keys)) {
			if d := compare(x.keys[i], y.keys[i]); d != 0 {
				return d
			}
		}
		return 0
	})
	return list
}

// truncate keeps the n cells with the largest results, the least if n is negative, and none if n is
// 0.
func (a *aggregation) truncate(n int64) {
	list := a.sorted()
	gone := list
	switch size := int64(len(list)); {
	case n > 0:
		gone = list[:max(0, size-n)]
	case n < 0 && n > math.MinInt64:
		gone = list[min(size, -n):]
	}
	goes := map[*cell]bool{}
	for _, c := range gone {
		goes[c] = true
	}
	maps.DeleteFunc(a.cells, func(_ string, c *cell) bool { return goes[c] })
	a.last = nil
}
