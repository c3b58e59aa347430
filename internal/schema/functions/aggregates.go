package functions

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/engine"
	"github.com/ftrace-wrap/ftrace-wrap/internal/schema/mysqlerr"
)

// RegisterAggregates gives SQLite the functions that make one value of those of many rows.
var RegisterAggregates = sync.OnceValue(func() error {
	all := map[string]func() sqlite.AggregateFunction{
		"sum":          func() sqlite.AggregateFunction { return new(sum) },
		"concatenated": func() sqlite.AggregateFunction { return new(concatenation) },
	}
	for name, zero := range variances {
		all[name] = func() sqlite.AggregateFunction { v := zero; return &v }
	}
	for name, of := range all {
		if err := sqlite.RegisterFunction(name, &sqlite.FunctionImpl{NArgs: 1, Deterministic: true,
			MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return of(), nil }}); err != nil {
			return err
		}
	}
	return nil
})

// sum is SUM without overflow. Where a sum of integers is too large for SQLite, which fails then,
// this one is a floating-point number. Sums of times that have reached their limit are so large.
type sum struct {
	high    int64  // of the sum of the integers, in 128 bits
	low     uint64 // its other half
	floats  float64
	n       int // values that are not NULL
	inexact int // how many of them are floating-point numbers
}

func (s *sum) add(v value, sign int64) {
	switch v := v.(type) {
	case nil:
		return
	case int64:
		var carry uint64
		if sign > 0 {
			s.low, carry = bits.Add64(s.low, uint64(v), 0)
		} else {
			s.low, carry = bits.Sub64(s.low, uint64(v), 0)
		}
		s.high += sign * (v>>63 + int64(carry))
	default:
		s.floats += AsNumber(v) * float64(sign)
		s.inexact += int(sign)
	}
	s.n += int(sign)
}

func (s *sum) Step(_ *sqlite.FunctionContext, args []value) error {
	s.add(args[0], 1)
	return nil
}

func (s *sum) WindowInverse(_ *sqlite.FunctionContext, args []value) error {
	s.add(args[0], -1)
	return nil
}

func (s *sum) WindowValue(*sqlite.FunctionContext) (value, error) {
	switch {
	case s.n == 0:
		return nil, nil
	case s.inexact == 0 && s.high == int64(s.low)>>63:
		return int64(s.low), nil
	}
	integers := new(big.Int).Lsh(big.NewInt(s.high), 64)
	f, _ := new(big.Float).SetInt(integers.Add(integers, new(big.Int).SetUint64(s.low))).Float64()
	return f + s.floats, nil
}

func (s *sum) Final(*sqlite.FunctionContext) {}

// variance is how far values lie apart: VARIANCE, STDDEV and their kin. It uses Welford's method
// (Technometrics 4, 1962), which keeps its precision where values are large and close together, as
// times are.
type variance struct {
	n       float64
	mean, m float64 // m is the sum of the squared distances from the mean
	less    float64 // what is subtracted from the number before m is divided by it: 1 for samples
	root    bool
}

// variances are the functions, each as it begins.
var variances = map[string]variance{
	"variance": {}, "var_pop": {}, "var_samp": {less: 1}, "std": {root: true}, "stddev": {root: true}, "stddev_pop": {root: true}, "stddev_samp": {less: 1, root: true},
}

func (v *variance) Step(_ *sqlite.FunctionContext, args []value) error {
	if args[0] == nil {
		return nil
	}
	x := AsNumber(args[0])
	v.n++
	from := x - v.mean
	v.mean += from / v.n
	v.m += from * (x - v.mean)
	return nil
}

func (v *variance) WindowInverse(_ *sqlite.FunctionContext, args []value) error {
	if args[0] == nil {
		return nil
	}
	if v.n--; v.n == 0 {
		v.mean, v.m = 0, 0
		return nil
	}
	x := AsNumber(args[0])
	from := x - v.mean
	v.mean -= from / v.n
	v.m -= from * (x - v.mean)
	return nil
}

func (v *variance) WindowValue(*sqlite.FunctionContext) (value, error) {
	if v.n <= v.less {
		return nil, nil
	}
	x := max(v.m, 0) / (v.n - v.less)
	if v.root {
		x = math.Sqrt(x)
	}
	return x, nil
}

func (v *variance) Final(*sqlite.FunctionContext) {}

// concatenation is the aggregate function concatenated, as restorer.groupConcat calls it.
type concatenation struct {
	text strings.Builder
	any  bool
}

func (c *concatenation) Step(_ *sqlite.FunctionContext, args []value) error {
	if args[0] == nil {
		return nil
	}
	length, text, _ := strings.Cut(AsText(args[0]), ":")
	n, err := strconv.Atoi(length)
	if err != nil || n > len(text) {
		return fmt.Errorf("concatenated: %q has no separator", text)
	}
	if c.text.Len()+len(text) > engine.MaxText {
		return tooLong("group_concat")
	}
	if c.any {
		c.text.WriteString(text[:n])
	}
	c.text.WriteString(text[n:])
	c.any = true
	return nil
}

func (c *concatenation) WindowInverse(*sqlite.FunctionContext, []value) error {
	return mysqlerr.New(mysqlerr.Unsupported, "This version of ftrace doesn't yet support 'GROUP_CONCAT() OVER'")
}

func (c *concatenation) WindowValue(*sqlite.FunctionContext) (value, error) {
	if !c.any {
		return nil, nil
	}
	return c.text.String(), nil
}

func (c *concatenation) Final(*sqlite.FunctionContext) {}
