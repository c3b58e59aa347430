package schema

import (
	"database/sql/driver"
	"math/big"

	"modernc.org/sqlite"
)

// sum is SUM without overflow. Where a sum of integers is too large for SQLite, which fails then,
// this one is a floating-point number. Sums of times that have reached their limit are so large.
type sum struct {
	integers big.Int
	floats   float64
	n        int // values that are not NULL
	inexact  int // how many of them are floating-point numbers
}

func registerSum() error {
	return sqlite.RegisterFunction("sum", &sqlite.FunctionImpl{NArgs: 1, Deterministic: true,
		MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return new(sum), nil }})
}

func (s *sum) add(v driver.Value, sign int64) {
	switch v := v.(type) {
	case nil:
		return
	case int64:
		var x big.Int
		s.integers.Add(&s.integers, x.Mul(big.NewInt(v), big.NewInt(sign)))
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
	case s.inexact == 0 && s.integers.IsInt64():
		return s.integers.Int64(), nil
	}
	f, _ := new(big.Float).SetInt(&s.integers).Float64()
	return f + s.floats, nil
}

func (s *sum) Final(*sqlite.FunctionContext) {}
