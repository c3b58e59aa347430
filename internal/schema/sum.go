package schema

import (
	"database/sql/driver"
	"math/big"
	"math/bits"
	"sync"

	"modernc.org/sqlite"
)

// sum is SUM without overflow. Where a sum of integers is too large for SQLite, which fails then,
// this one is a floating-point number. Sums of times that have reached their limit are so large.
type sum struct {
	high    int64  // of the sum of the integers, in 128 bits
	low     uint64 // its other half
	floats  float64
	n       int // values that are not NULL
	inexact int // how many of them are floating-point numbers
}

// registerAggregates gives SQLite the functions that make one value of those of many rows.
var registerAggregates = sync.OnceValue(func() error {
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

func (s *sum) add(v driver.Value, sign int64) {
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
		s.floats += asNumber(v) * float64(sign)
		s.inexact += int(sign)
	}
	s.n += int(sign)
}

func (s *sum) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	s.add(args[0], 1)
	return nil
}

func (s *sum) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	s.add(args[0], -1)
	return nil
}

func (s *sum) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
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
