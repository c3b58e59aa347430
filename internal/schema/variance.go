package schema

import (
	"database/sql/driver"
	"math"

	"modernc.org/sqlite"
)

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

func (v *variance) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	if args[0] == nil {
		return nil
	}
	x := asNumber(args[0])
	v.n++
	from := x - v.mean
	v.mean += from / v.n
	v.m += from * (x - v.mean)
	return nil
}

func (v *variance) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	if args[0] == nil {
		return nil
	}
	if v.n--; v.n == 0 {
		v.mean, v.m = 0, 0
		return nil
	}
	x := asNumber(args[0])
	from := x - v.mean
	v.mean -= from / v.n
	v.m -= from * (x - v.mean)
	return nil
}

func (v *variance) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
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
